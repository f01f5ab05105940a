//! Rules that tests break on purpose, to see that the tests would notice: `tests/mutants.rs` breaks every one. See
//! [`rsan_model::mutants`].
//!
//! Left out, because no verdict depends on them:
//! - helpers act only after a load of the attacker: whatever else they do could have come before the attack;
//! - a section that has nothing to do with the attack is not left: it could have come before it, too;
//! - what drains the buffer ends the ways of the prefilter: it would only find too many.

rsan_model::mutants! {
    // The attacker.
    /// It passes fences with stores in its buffer.
    AttackerPassesFences,
    /// It does not see its own delayed stores.
    AttackerForgetsItsStores,
    /// A load that sees a delayed store counts as one from memory.
    EarlyLoadsCount,
    /// Its loads leave no mark.
    LoadsLeaveNoMark,
    /// Of two delayed stores to one address it sees the older one.
    OlderStoreIsSeen,

    // The helpers.
    /// A read comes after a read.
    ReadsAfterReads,
    /// A write does not come after a read.
    WritesNotAfterReads,
    /// A thread that acted after a load is not known to go on doing so.
    ReachedThreadsForgotten,
    /// A locked instruction only reads.
    UpdatesOnlyRead,
    /// What was done under a lock does not count when the section turns out to come after a load.
    SectionsNotPromoted,
    /// The target among it is overlooked.
    PromotedTargetOverlooked,
    /// A section may not begin with something that comes after no load.
    SectionsBeginAfterLoads,
    /// A store to the target's address does not close the cycle.
    WritesDoNotClose,
    /// A load from the target's address does not close the cycle.
    ReadsDoNotClose,
    /// A cycle that is closed under a lock counts before that is given back.
    ClosedBeforeUnlock,

    // Both.
    /// All registers are forgotten between shared steps.
    RegistersForgotten,

    // The text.
    /// Only two writes conflict.
    OnlyWritesConflict,
    /// Accesses of a thread are not followed by later ones.
    NothingFollows,
    /// A locked section has an order inside.
    SectionsAreOrdered,
    /// Computed addresses meet no others.
    ComputedAddressesMeetNothing,
    /// What other threads write is not read.
    ValuesOfOthersForgotten,
    /// A lock is taken without looking whether it is free.
    LocksTakenWithoutLooking,
    /// A load sees a delayed store to any address.
    EveryStoreHides,
}
