//! Rules that tests break on purpose, to see that the tests would notice.
//!
//! At the line that implements a rule, the code asks `mutation.breaks(Mutant::…)`. In normal builds a
//! [`Mutation`] has no size and the answer is a constant `false`, so nothing is left of the question. In the
//! tests of this crate a monitor can be built with one broken rule; `tests/mutants.rs` does so for every one.

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// A broken rule.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Mutant {
            $($(#[$doc])* $name,)+
        }

        #[cfg(test)]
        impl Mutant {
            /// Every one of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

mutants! {
    // Location clocks: ALGORITHM, section 8. The number there is in brackets.
    /// [1] A relaxed read does not record the write it saw.
    ReadNotRecorded,
    /// [2] A relaxed read acquires.
    RelaxedReadAcquires,
    /// [3] A relaxed store publishes everything known.
    RelaxedStoreReleases,
    /// [5] An RMW drops the message that it read.
    RmwBreaksReleaseSequence,
    /// [6] A store continues the release sequence.
    StoreContinuesReleaseSequence,
    /// [7] The check of a store ignores RMW adjacency.
    StoreIgnoresBlocks,
    /// [8] The check of an RMW ignores RMW adjacency.
    RmwIgnoresBlocks,
    /// [9] The check of a load demands a write that an RMW could follow.
    LoadUsesBlocks,
    /// [10] The check of a weak compare-and-swap is that of an RMW.
    WeakCasAsRmw,
    /// [11] The check of a strong compare-and-swap is that of a load.
    StrongCasAsLoad,
    /// [12] The check of a strong compare-and-swap is that of an RMW.
    StrongCasAsRmw,
    /// [13] The check of a blocking compare-and-swap ignores RMW adjacency.
    BcasIgnoresBlocks,
    /// [28] The check of a blocking compare-and-swap ignores values.
    BcasAsRmw,
    /// [14] The check of a wait is that of a load.
    WaitAsLoad,
    /// [15] Release fences do nothing.
    ReleaseFenceIgnored,
    /// [16] Acquire fences do nothing.
    AcquireFenceIgnored,
    /// [17] RC20's SC fence releases first and acquires last.
    ScFenceReleaseFirst,
    /// [18] RC20's SC fence takes its release view before it acquires the other fences.
    ScFenceReleaseBeforeAcquiring,
    /// [19] RC20's SC fences do not synchronise with each other.
    ScFenceWithoutHb,
    /// [20] RC20's SC fences have no order that SC must respect.
    ScFenceWithoutOrder,
    /// [21] Reads do not order later writes after them.
    ReadsNotOrdered,
    /// [23] Reads are ordered after other reads.
    ReadsAfterReads,
    /// [24] An RMW that does not acquire does.
    RelaxedRmwAcquires,
    /// [26] Blocking accesses are checked only when they can proceed.
    BlockedNotChecked,
    /// [29] A relaxed RMW publishes everything known.
    RelaxedRmwReleases,
}

/// The rule that is broken, if any; nothing at all in normal builds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mutation {
    #[cfg(test)]
    broken: Option<Mutant>,
}

impl Mutation {
    /// Breaks one rule.
    #[cfg(test)]
    pub(crate) fn new(mutant: Mutant) -> Self {
        Self {
            broken: Some(mutant),
        }
    }

    /// Whether this rule is broken.
    #[cfg(test)]
    pub(crate) fn breaks(self, mutant: Mutant) -> bool {
        self.broken == Some(mutant)
    }

    /// Whether this rule is broken.
    #[cfg(not(test))]
    #[inline(always)]
    pub(crate) const fn breaks(self, _: Mutant) -> bool {
        false
    }
}
