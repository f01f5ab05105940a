//! Rules that tests break on purpose, to see that the tests would notice: `tests/mutants.rs` breaks every one. See
//! [`rsan_model::mutants`].

rsan_model::mutants! {
    // What binds an access: rules 1 to 3.
    /// Rule 1: what happens before does not bind.
    HbBindsNothing,
    /// Rule 2: seq_cst accesses do not bind seq_cst accesses.
    ScIgnoresAccesses,
    /// Rule 2: what happens before seq_cst fences does not bind seq_cst accesses.
    ScIgnoresFences,
    /// Rule 2 for accesses that are not seq_cst.
    ScBindsAll,
    /// Rule 3: seq_cst accesses before a fence do not bind those after it.
    FenceIgnoresAccesses,
    /// Rule 3: what happens before earlier fences does not bind accesses after a fence.
    FenceIgnoresFences,
    /// Rule 3: accesses after a fence are bound by later seq_cst accesses, too.
    FenceTakesLaterAccesses,
    /// Rule 3: accesses after a fence are bound by what happens before later fences, too.
    FenceTakesLaterFences,
    /// Rule 3: only fences of the thread itself count.
    FenceOnlyOwn,
    /// Rule 3: of the fences that happen before, the first one counts.
    FenceFirst,
    /// A load does not bind later accesses.
    ReadsNotRecorded,
    /// A seq_cst load does not bind later accesses as a seq_cst one.
    ScReadsNotRecorded,
    /// A seq_cst store does not bind later accesses as a seq_cst one.
    ScStoresNotRecorded,
    /// A seq_cst read-modify-write does not bind later accesses as a seq_cst one.
    ScUpdatesNotRecorded,

    // The order of writes.
    /// A load puts nothing before what it reads.
    ReadsOrderNothing,
    /// A read-modify-write puts nothing before what it reads.
    UpdatesOrderNothing,
    /// A store comes after nothing.
    StoresUnordered,
    /// A store does not come after the read-modify-writes of the initial value.
    InitialChainIgnored,
    /// A write is taken for one that follows what its slot wrote before, without what comes before that.
    OwnWritesNotJoined,
    /// What comes before a write is not passed on to later ones.
    NothingRaised,
    /// An edge to a chain goes to the read-modify-write itself.
    EdgeIntoChain,
    /// An edge from a chain starts at the write itself.
    EdgeOutOfChain,
    /// What comes after a write does not come after the read-modify-write that reads it.
    LaterNotMoved,
    /// Two read-modify-writes read one write.
    UpdatedTwice,

    // Happens-before.
    /// A relaxed load acquires.
    RelaxedReadAcquires,
    /// A relaxed read-modify-write acquires.
    RelaxedUpdateAcquires,
    /// A relaxed store releases.
    RelaxedStoreReleases,
    /// A relaxed read-modify-write releases.
    RelaxedUpdateReleases,
    /// An acquiring load acquires nothing.
    AcquireReadIgnored,
    /// A release store releases nothing but what the last release fence did.
    ReleaseStoreIgnored,
    /// A read-modify-write ends the release sequence.
    UpdateEndsReleaseSequence,
    /// Release fences do nothing.
    ReleaseFenceIgnored,
    /// Acquire fences do nothing.
    AcquireFenceIgnored,
    /// Read-modify-writes leave nothing for an acquire fence.
    UpdateLeavesNothingToFences,

    // Pruning.
    /// What somebody knows counts as known by all.
    PruneIgnoresHorizon,
    /// Something that is forgotten is not replaced by the read-modify-write that follows it.
    PruneLosesChain,
    /// The same for the initial value.
    PruneLosesBase,
    /// The window: an old fence is forgotten without a later one in its place.
    WindowLosesFence,
}

#[cfg(test)]
impl Mutant {
    /// Whether it breaks only what is forgotten.
    pub(crate) fn is_of_pruning(self) -> bool {
        self as usize >= Self::PruneIgnoresHorizon as usize
    }
}
