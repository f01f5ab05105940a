//! Rules that tests break on purpose, to see that the tests would notice: `tests/mutants.rs` breaks every one. See
//! [`rsan_model::mutants`].
//!
//! Left out, because no verdict depends on them:
//! - an acquire view takes in what its thread knows already: an acquire fence joins it to just that;
//! - a message knows the last write of its own location: every reader records that itself;
//! - an SC fence takes what seq_cst accesses before it carry: each of them was taken as eco-before, too;
//! - what a plain store publishes: whoever takes it in without knowing the store races with it;
//! - two writes of one location conflict: a write counts as a read, too, when steps are compared;
//! - what a step does besides its visible access counts when steps are compared: a conflict there is a race, in
//!   either order;
//! - threads with different initial registers are not swapped: swapping takes the registers along;
//! - sleeping threads are renamed with their state: a step reorders its own thread, whose equals have the same rank
//!   and are awake, and threads at one instruction, of which all sleep or none;
//! - SC fences of C20 count as touching the reserved location when steps are compared: they need not, and it only
//!   costs transitions.

rsan_model::mutants! {
    switches {
        /// Whether commuting steps are explored in every order.
        without_commutation,
        /// Whether interchangeable threads are told apart.
        without_symmetry,
        /// Whether all locations are looked at in one search, however large it is.
        all_at_once,
        /// Whether each location is looked at in a search of its own from the start.
        one_by_one,
        /// Whether everything is known about threads that wait for a counter to go back.
        without_counters,
        /// Whether the readings of a clock are numbers, and budgets of loops are kept.
        without_clocks,
        /// Whether numbers are kept that are only moved and compared with each other.
        without_distances,
        /// Whether values are kept that decide nothing, and told apart where there are many.
        without_slices,
        /// Whether a state is kept although another one stands for it.
        without_covering,
        /// Whether threads rest although nobody can notice, because of a lock.
        without_locks,
    }

    // Monitor: views.
    /// A read does not record the write it saw.
    ReadNotRecorded,
    /// A relaxed read acquires.
    RelaxedReadAcquires,
    /// An acquire read does not.
    AcquireReadIgnored,
    /// A relaxed read leaves nothing for a later acquire fence.
    RelaxedReadForgotten,
    /// A store does not record itself.
    WriteNotRecorded,
    /// A store continues the release sequence.
    StoreKeepsMessage,
    /// An RMW drops the message that it read.
    RmwDropsMessage,
    /// A relaxed write publishes everything known.
    RelaxedWriteReleases,
    /// A release write publishes the view of the last release fence.
    ReleaseWritePublishesFenceView,
    /// Acquire fences do nothing.
    AcquireFenceIgnored,
    /// Release fences do nothing.
    ReleaseFenceIgnored,
    /// An SC fence takes its release view before it meets the other fences.
    ScFenceReleasesFirst,
    /// RC20's SC fences do not synchronise with each other.
    ScFenceWithoutHb,
    /// RC20's SC fences have no order that SC must respect.
    ScFenceWithoutOrder,

    // Monitor: hbSC.
    /// Reads are not ordered after the write they see.
    ReadNotOrdered,
    /// Reads do not order later writes after them.
    ReadDoesNotOrder,
    /// Reads are ordered after other reads.
    ReadsAfterReads,
    /// Writes are not ordered after earlier accesses.
    WriteNotOrdered,
    /// A write does not know itself.
    OwnWriteNotOrdered,
    /// A new write leaves others as up to date as they were.
    WriteNotNews,

    // Monitor: what only C20 has.
    /// Reads take nothing that is eco-before.
    ReadsTakeNoEco,
    /// Writes take nothing that is eco-before.
    WritesTakeNoEco,
    /// A seq_cst access takes what it acquires before it publishes.
    ScTakenAfterAcquiring,
    /// A seq_cst read never takes the message's seq_cst events.
    ScReadWithoutMessage,
    /// A seq_cst RMW never takes the message's seq_cst events.
    ScRmwWithoutMessage,
    /// A seq_cst read takes nothing from the last write.
    ScReadTakesNothing,
    /// A seq_cst read does not carry its own observation.
    ScReadCarriesNotItself,
    /// seq_cst reads are not carried by the location.
    ScReadsNotCarried,
    /// A seq_cst read changes what the last write carries.
    LastWriteNotFrozen,
    /// A seq_cst write takes nothing from earlier accesses.
    ScWriteTakesNothing,
    /// A seq_cst write does not carry itself.
    ScWriteCarriesNotItself,
    /// The last write carries what the one before carried.
    LastWriteNotRenewed,
    /// The message of a seq_cst write has the write's own seq_cst events.
    MessageHasOwnSc,
    /// Reads do not carry the fences before them.
    ReadsCarryNoFences,
    /// Writes do not carry the fences before them.
    WritesCarryNoFences,
    /// An SC fence does not take what is eco-before.
    ScFenceWithoutEco,
    /// An SC fence does not take what happens before.
    ScFenceWithoutPast,
    /// An SC fence does not bind later seq_cst accesses.
    ScFenceBindsNoSc,

    // Monitor: checks.
    /// What is known through seq_cst accesses binds all accesses.
    ScBindsAll,
    /// What is known through seq_cst accesses binds nobody.
    ScBindsNobody,
    /// What is known through SC fences binds nobody.
    FencesBindNobody,
    /// The last write need not be hbSC-before the access.
    CheckWithoutOrder,
    /// Stale values that an RMW follows directly count as open.
    RmwLeavesOpen,
    /// Stale values that a store follows directly count as closed.
    StoreCloses,
    /// The check of a load demands a write that an RMW could follow.
    LoadAsRmw,
    /// The check of a store ignores RMW adjacency.
    StoreIgnoresBlocks,
    /// The check of an RMW ignores RMW adjacency.
    RmwIgnoresBlocks,
    /// The check of a wait ignores values.
    WaitAsLoad,
    /// The check of a blocking compare-and-swap ignores RMW adjacency.
    BcasIgnoresBlocks,
    /// The check of a blocking compare-and-swap ignores values.
    BcasAsRmw,
    /// The check of a weak compare-and-swap is that of a strong one.
    WeakCasAsStrong,
    /// The check of a strong compare-and-swap is that of a weak one.
    StrongCasAsWeak,
    /// The check of a strong compare-and-swap ignores that it can fail.
    StrongCasNeverFails,
    /// The check of a compare-and-swap ignores that it can succeed.
    CasNeverSucceeds,
    /// The failure of a compare-and-swap is checked with the success order.
    CasFailureUsesSuccessOrder,
    /// The success of a compare-and-swap is checked with the failure order.
    CasSuccessUsesFailureOrder,
    /// Values that no check names are not kept as stale.
    OtherValuesDropped,

    // Monitor: threads.
    /// A new thread does not inherit a view.
    SpawnWithoutView,
    /// A new thread starts with everything pending for an acquire fence.
    SpawnWithoutAcquireView,
    /// A new thread inherits the view of its parent's last release fence as everything known.
    SpawnReleases,
    /// A new thread does not inherit hbSC.
    SpawnWithoutOrder,
    /// A join does not take the view of the thread.
    JoinWithoutView,
    /// A join does not take hbSC.
    JoinWithoutOrder,

    // Monitor: races.
    /// Plain reads are not recorded.
    PlainReadNotRecorded,
    /// Plain writes are not recorded.
    PlainWriteNotRecorded,
    /// Atomic reads are not recorded.
    AtomicReadNotRecorded,
    /// Atomic writes are not recorded.
    AtomicWriteNotRecorded,
    /// A thread does not know its own accesses.
    OwnAccessUnknown,
    /// Plain reads supersede earlier accesses.
    PlainReadSupersedes,
    /// Atomic writes supersede earlier accesses.
    AtomicWriteSupersedes,
    /// Two reads race.
    ReadsRace,

    // Machine.
    /// Blocking accesses are checked only when they can proceed.
    BlockedNotChecked,
    /// Weak compare-and-swaps never fail spuriously.
    NeverSpurious,
    /// The views learn from a load that may have seen an older write.
    StaleLoadLearns,
    /// hbSC does not learn from a load that may have seen an older write.
    StaleLoadNotOrdered,
    /// Tainted registers may be used.
    TaintUsable,
    /// An overwritten register stays tainted.
    TaintStays,

    // Facts.
    /// Registers that a branch reads are dead.
    BranchReadsNothing,
    /// Registers that an access reads are dead.
    AccessReadsNothing,
    /// A load of what other threads write is invisible.
    ForeignLoadInvisible,
    /// A seq_cst load of what only its own thread writes is invisible.
    OwnScLoadInvisible,
    /// The SC fences of RA and RC20 are invisible.
    ScFenceInvisible,
    /// Acquire fences need no messages.
    MessagesIgnoreFences,
    /// RMWs need no messages.
    MessagesIgnoreRmws,

    // Codec.
    /// A thread's view for an acquire fence is dropped although one follows.
    AcquireViewDropped,
    /// A thread's view of the last release fence is dropped although a relaxed write follows.
    ReleaseViewDropped,
    /// What an ended thread knew is dropped although another one joins it.
    EndedThreadDropped,
    /// The release view of a thread that is not born is dropped.
    UnbornThreadDropped,
    /// Taints are dropped.
    TaintDropped,

    // Distances.
    /// Values that are only moved may begin again from above.
    DriftIgnored,
    /// They may begin again from below.
    DecreaseIgnored,
    /// A location that nothing is to be far below may decrease.
    AnchorSinks,
    /// A branch that compares one of them with something else goes as the distances say.
    ClosedComparison,
    /// So does an assumption.
    AssumedDistance,
    /// The one value of all that are less than a counter is compared as it is.
    LateIsNear,

    // Commutation.
    /// Steps may sleep for steps of any thread.
    RankIgnored,
    /// Writes commute with reads.
    WritesCommuteWithReads,
    /// The SC fences of RA and RC20 commute.
    ScFencesCommute,

    // Symmetry.
    /// Race bits keep their thread when threads are swapped.
    RaceBitsNotSwapped,
    /// Threads that differ in their stores are swapped.
    StoresIgnored,
}
