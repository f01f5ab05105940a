//! Rules that tests break on purpose, to see that the tests would notice: `tests/mutants.rs` breaks every one. See
//! [`rsan_model::mutants`].

rsan_model::mutants! {
    // Location clocks: RC20, and what all models share.
    /// A relaxed read does not record the write it saw.
    ReadNotRecorded,
    /// A relaxed read acquires.
    RelaxedReadAcquires,
    /// A relaxed store publishes everything known.
    RelaxedStoreReleases,
    /// An RMW drops the message that it read.
    RmwBreaksReleaseSequence,
    /// A store continues the release sequence.
    StoreContinuesReleaseSequence,
    /// The check of a store ignores RMW adjacency.
    StoreIgnoresBlocks,
    /// The check of an RMW ignores RMW adjacency.
    RmwIgnoresBlocks,
    /// The check of a load demands a write that an RMW could follow.
    LoadUsesBlocks,
    /// The check of a weak compare-and-swap is that of an RMW.
    WeakCasAsRmw,
    /// The check of a strong compare-and-swap is that of a load.
    StrongCasAsLoad,
    /// The check of a strong compare-and-swap is that of an RMW.
    StrongCasAsRmw,
    /// The check of a blocking compare-and-swap ignores RMW adjacency.
    BcasIgnoresBlocks,
    /// The check of a blocking compare-and-swap ignores values.
    BcasAsRmw,
    /// The check of a wait is that of a load.
    WaitAsLoad,
    /// Release fences do nothing.
    ReleaseFenceIgnored,
    /// Acquire fences do nothing.
    AcquireFenceIgnored,
    /// RC20's SC fence releases first and acquires last.
    ScFenceReleaseFirst,
    /// RC20's SC fence takes its release view before it acquires the other fences.
    ScFenceReleaseBeforeAcquiring,
    /// RC20's SC fences do not synchronise with each other.
    ScFenceWithoutHb,
    /// RC20's SC fences have no order that SC must respect.
    ScFenceWithoutOrder,
    /// Reads do not order later writes after them.
    ReadsNotOrdered,
    /// Reads are ordered after other reads.
    ReadsAfterReads,
    /// An RMW that does not acquire does.
    RelaxedRmwAcquires,
    /// Blocking accesses are checked only when they can proceed.
    BlockedNotChecked,
    /// A relaxed RMW publishes everything known.
    RelaxedRmwReleases,

    // Location clocks: what only C20 has.
    /// Step 3: reads take nothing that is eco-before.
    C20ReadsTakeNoEco,
    /// Step 3: writes take nothing that is eco-before.
    C20WritesTakeNoEco,
    /// Step 4: a seq_cst access takes what it acquires into what it carries.
    C20CarriesAcquired,
    /// Step 4: a seq_cst access takes nothing that is eco-before it.
    C20CarriesNoEco,
    /// Step 4: a seq_cst access does not carry its own observation.
    C20CarriesNotItself,
    /// Step 5: accesses do not carry the fences before them.
    C20AccessesCarryNoFences,
    /// Step 6: the last write carries what it carried before.
    C20LastWriteNotRenewed,
    /// Step 6: the message of a seq_cst write has what the write carries, for everybody.
    C20MessageHasOwnSc,
    /// Step 7: a seq_cst access does not bind later ones.
    C20CarriedForgotten,
    /// A fence does not carry what happens before it.
    C20FenceCarriesNoHb,
    /// A fence does not carry what is eco-before.
    C20FenceCarriesNoEco,
    /// An SC fence does not bind later accesses.
    C20FenceUnbound,
    /// The release view of an SC fence does not bind its acquirers.
    C20FenceReleasesNothing,

    // Write log. The hand-made programs of the tests name these numbers.
    /// 1: Fence knowledge through fences is not consulted.
    FenceSetWithoutFences,
    /// 2: Fence knowledge through accesses counts for observations that are not seq_cst.
    FenceSetTakesPlain,
    /// 3: Fence knowledge through accesses is not consulted.
    FenceSetWithoutAccesses,
    /// 4: Knowledge of seq_cst accesses is used for others.
    ScSetBindsAll,
    /// 5: seq_cst knowledge through fences is not consulted.
    ScSetWithoutFences,
    /// 6: seq_cst knowledge through accesses counts for observations that are not seq_cst.
    ScSetTakesPlain,
    /// 7: seq_cst knowledge through accesses is not consulted.
    ScSetWithoutAccesses,
    /// 8: The seq_cst shortcut is used for other accesses.
    ScShortcutForAll,
    /// 9: The seq_cst shortcuts are used for a compare-and-swap whose failure order is not seq_cst.
    ScShortcutIgnoresFailure,
    /// 10: Both outcomes of a compare-and-swap get the seq_cst bound if one is seq_cst.
    CasSharesScBound,
    /// 11: The failure of a compare-and-swap is checked with the success order.
    CasFailureUsesSuccessOrder,
    /// 12: Checks by value ignore RMW adjacency.
    ValuesIgnoreBlocks,
    /// 13: Reader entries are not consulted.
    ReadersIgnored,
    /// 14: The check of stores and RMWs ignores RMW adjacency.
    WritesIgnoreBlocks,
    /// 15: SC fences do not bump.
    ScFenceWithoutBump,
    /// 16: The release view of an SC fence lacks what the fence itself adds for seq_cst accesses.
    ScFenceReleasesEarlierSc,
    /// 17: An SC fence does not take what is eco-before.
    ScFenceWithoutEco,
    /// 18: An SC fence does not take what happens before.
    ScFenceWithoutPast,
    /// 19: An SC fence does not bind later accesses.
    ScFenceBindsNothing,
    /// 20: The release view of an SC fence does not bind its acquirers.
    ScFenceReleasesNoFence,
    /// 21: A seq_cst read takes the message's seq_cst events before it publishes its own.
    ScTakenAfterAcquiring,
    /// 22: A relaxed read keeps no seq_cst events for a later fence.
    PendingWithoutSc,
    /// 23: A seq_cst read of a write that is not seq_cst leaves no entry.
    NoScReaderOfPlainWrite,
    /// 24: Reader entries are never seq_cst.
    ReadersNeverSc,
    /// 25: Reads take nothing that is eco-before.
    ReadsDoNotFeedEco,
    /// 26: New seq_cst events from the last write do not count as news.
    ScGrowthUnnoticed,
    /// 27: seq_cst reads are not carried by the location.
    ScReadsDoNotPublish,
    /// 28: A seq_cst read changes what the last write carries.
    LastWriteNotFrozen,
    /// 29: Writes take nothing that is eco-before.
    WritesDoNotFeedEco,
    /// 30: Generations are ignored in shortcuts and in hbSC.
    GenerationIgnored,
    /// 31: The message of a seq_cst write has the write's own seq_cst events.
    MessageHasOwnSc,
    /// 32: A seq_cst write does not take what earlier accesses carry.
    ScWriteTakesNothing,
    /// 33: A write that is not seq_cst leaves what the last write carries as it was.
    PlainWriteKeepsLastWrite,
    /// 34: A seq_cst read skips the last write's events although that write is not seq_cst.
    ScSkipForPlainWrite,
    /// 35: A release write publishes the view of the last release fence.
    ReleaseWritePublishesFenceView,
    /// 36: Messages lack what is eco-before.
    MessageWithoutEco,
    /// 37: Accesses do not carry the fences before them.
    FencesNotPublished,
    /// 38: Pruning uses the bound of seq_cst accesses.
    PruneWithScBound,
    /// 39: A slot is reused although the old thread's end does not happen before.
    SlotReuseWithoutHb,
    /// 40: A slot is reused although the old thread's seq_cst accesses do not bind.
    SlotReuseWithoutSc,
    /// 41: A new thread does not inherit what binds seq_cst accesses.
    ForkWithoutSc,
    /// 42: A new thread does not inherit what binds all accesses.
    ForkWithoutFence,
    /// 43: A new thread does not inherit what is eco-before.
    ForkWithoutEco,
    /// 44: Forced reuse of a slot starts no generation.
    ForcedReuseWithoutGeneration,
    /// 45: A join does not take what is eco-before.
    JoinWithoutEco,
    /// 46: A published epoch is used for recording plain accesses.
    NoLazyRaceBump,
    /// 47: Ownership ignores generations.
    OwnershipIgnoresGeneration,
    /// 48: Ownership of what accesses carry survives other readers.
    ScOwnershipSurvivesReaders,
    /// 49: Ownership of the hbSC past survives other readers.
    PastOwnershipSurvivesReaders,
    /// 50: A write skips what is eco-before although there were readers in between.
    EcoSkipDespiteReaders,
    /// 51: A read after an SC fence changes what the last write carries.
    LastWriteNotFrozenByFences,
    /// 52: An SC fence leaves its thread saturated.
    SaturatedScFence,
    /// 53: A release fence of a saturated thread publishes no seq_cst events.
    SaturatedReleaseFence,
    /// 54: A saturated write keeps no seq_cst events in its message.
    SaturatedMessageNotKept,
    /// 55: A saturated location stays so under any access.
    LocationStaysSaturated,
    /// 56: A thread that loses saturation forgets its seq_cst events.
    DesaturatedThreadWithoutSc,
    /// 57: A saturated thread stays so under any access.
    ThreadStaysSaturated,
    /// 58: A location that loses saturation forgets what its accesses carry.
    DesaturatedLocationWithoutAny,
    /// 59: A location that loses saturation forgets what its last write carries.
    DesaturatedLocationWithoutLastWrite,
    /// 60: A location that loses saturation forgets its message.
    DesaturatedLocationWithoutMessage,
    /// 61: A saturated thread stays so when it joins one that is not.
    SaturatedJoin,
    /// 62: A write counts as repeated although its thread learnt something since.
    RepeatDespiteLearning,
    /// 63: A write counts as repeated although another thread read in between.
    RepeatDespiteReaders,
    /// 64: A write counts as repeated although a seq_cst read or a fence changed what accesses carry.
    RepeatDespiteScReads,
    /// 65: A write counts as repeated although only one of the two is seq_cst.
    RepeatAcrossOrders,
    /// 66: A write counts as repeated although the first, a seq_cst one, taught its thread something.
    RepeatAfterScWriteThatLearnt,
    /// 67: A write counts as repeated although it acquires and the first did not.
    RepeatWithoutAcquiring,
    /// 68: A release write renews the message as if its thread had learnt nothing.
    MessageDespiteLearning,
    /// 69: A release write renews the message of a seq_cst one, or the other way round.
    MessageAcrossOrders,
    /// 70: A read renews what the location shows as if its thread had learnt nothing.
    ShownDespiteLearning,
    /// 71: What is eco-before is left out if its fences are known, whatever accesses there are.
    EcoSkipDespiteAccesses,
    /// 72: What is eco-before is left out if its accesses are known, whatever fences there are.
    EcoSkipDespiteFences,
    /// 73: An SC fence counts as repeated although its thread learnt something since.
    FenceRepeatedDespiteLearning,
    /// 74: An SC fence counts as repeated although its thread read something since.
    FenceRepeatedDespitePending,
    /// 75: A repeated write is not seen to follow its thread's own SC fences since the first one.
    RepeatWithoutOwnFences,
    /// 76: A message that is renewed lacks its thread's own SC fences since it was made.
    MessageWithoutOwnFences,
    /// 77: A repeated fence has an epoch that others may know without it.
    FenceRepeatedInPublishedEpoch,
    /// 78: A repeated fence has the epoch of a seq_cst access before it.
    FenceRepeatedInEpochOfAccess,
    /// 79: A read by the last writer notes only itself although its thread learnt something since.
    ReadDespiteLearning,
    /// 80: What a read by the last writer notes of itself is lost.
    OwnReadsNotShown,
    /// 81: An acquiring read of a write that was read before acquires nothing.
    ReadAgainWithoutAcquiring,
    /// 82: A read takes nothing from a write that an earlier owner of the slot has read.
    ReadAgainIgnoresGeneration,
    /// 83: What a release fence leaves for seq_cst accesses counts as left for all.
    ReleasedTakenForAlike,
    /// 84: A repeated write forgets its thread's seq_cst accesses since the last SC fence.
    RepeatForgetsAccesses,
    /// 85: A read by the last writer does not carry the SC fence before it.
    OwnReadWithoutFence,
    /// 86: The last write carries what a later read by its writer carries.
    OwnReadFenceNotFrozen,
    /// 87: A message is renewed although it is that of a release write, or of a fence, and the next one is not.
    MessageAcrossReleases,
}

/// A part of the crate that has rules.
#[cfg(test)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Location clocks: RC20, and what all models share.
    Rc20Clocks,
    /// Location clocks: what only C20 has.
    C20Clocks,
    /// The write log.
    WriteLog,
}

#[cfg(test)]
impl Mutant {
    /// What it breaks.
    pub(crate) fn part(self) -> Part {
        if (self as usize) < Self::C20ReadsTakeNoEco as usize {
            Part::Rc20Clocks
        } else if (self as usize) < Self::FenceSetWithoutFences as usize {
            Part::C20Clocks
        } else {
            Part::WriteLog
        }
    }
}

impl Mutation {
    /// Whether some rule is broken.
    pub(crate) const fn is_some(self) -> bool {
        #[cfg(test)]
        return self.broken.is_some();
        #[cfg(not(test))]
        return false;
    }
}
