//! What a location knows of seq_cst events: its part of steps 4 to 7 of an access (docs/theory/write-log.md, W6).

use super::access::Mode;
use super::epoch::{Epoch, Slot, Stamp, VectorClock, Version};
use super::rules::Rules;
use super::thread::ThreadState;
use super::view::{Observation, ScSet, ScView, View};
use crate::mutation::Mutant;
use std::mem::offset_of;

/// What is known of seq_cst events at a location. Where there are only fences, accesses change the beginning of it, which
/// fills two lines of memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct ScPart {
    /// The fence set that was put into `any` last (`fpub`).
    pub(super) published: Version,
    /// The thread that knows everything in `any` (`qown`).
    pub(super) owner: Option<Stamp>,
    /// The last SC fence before a read by the last writer since its write, if that is not in `any` yet.
    pub(super) kept_fence: Epoch,
    /// `last_write` is equal to `any` and not stored (`weq`).
    pub(super) same: bool,
    /// The last write was seq_cst (`wq`).
    pub(super) last_write_is_sc: bool,
    /// `fence` of the message is equal to its `access` and not stored.
    pub(super) message_alike: bool,
    /// What any access carries (`M`).
    pub(super) any: ScSet,
    /// What the last write lets an acquirer know (`mq`, `mf`, `me`).
    pub(super) message: ScView,
    /// What the last write carries (`W`), unless it is the same.
    pub(super) last_write: ScSet,
}

impl Default for ScPart {
    fn default() -> Self {
        Self {
            published: Version::NONE,
            owner: None,
            kept_fence: Epoch::START,
            same: true,
            last_write_is_sc: false,
            message_alike: false,
            any: ScSet::default(),
            message: ScView::default(),
            last_write: ScSet::default(),
        }
    }
}

impl ScPart {
    /// The beginning, which a read changes if only fences are seq_cst.
    pub(super) const READ: usize = offset_of!(Self, any) + size_of::<VectorClock>();
    /// The same for a write.
    pub(super) const WRITTEN: usize = offset_of!(Self, message) + size_of::<VectorClock>();

    /// What binds all accesses of an acquirer of the last write.
    #[inline]
    pub(super) fn message_fence(&self) -> &ScSet {
        if self.message_alike {
            &self.message.access
        } else {
            &self.message.fence
        }
    }

    /// To be called before the message changes in parts.
    #[inline]
    fn split_message(&mut self) {
        if self.message_alike {
            self.message.fence.assign(&self.message.access);
            self.message_alike = false;
        }
    }

    /// Nothing is there to be acquired.
    pub(super) fn clear_message(&mut self) {
        self.message.clear();
        self.message_alike = false;
    }

    /// What the last write carries.
    pub(super) fn last_write(&self) -> &ScSet {
        if self.same {
            &self.any
        } else {
            &self.last_write
        }
    }

    /// To be called before a read adds to `any`.
    #[inline(always)]
    fn freeze_last_write(&mut self) {
        if self.same {
            self.last_write.assign(&self.any);
            self.same = false;
        }
    }

    /// The last write carries everything that is known now.
    #[inline(always)]
    fn renew_last_write(&mut self, rules: Rules) {
        self.same = rules.fast_paths;
        if self.same {
            self.last_write.clear();
        } else {
            self.last_write.assign(&self.any);
        }
    }

    /// Steps 4 to 6 of a read of the write observed as `last`. Says whether anything changed here.
    pub(super) fn read(
        &mut self,
        thread: &mut ThreadState,
        last: Observation,
        sc: bool,
        rules: Rules,
    ) -> bool {
        // 4
        if !rules.covered(&thread.view.hb, Some(last.stamp))
            && !rules.breaks(Mutant::ReadsDoNotFeedEco)
        {
            thread.learn_eco(self.last_write(), rules);
        }
        if !sc {
            return self.publish_fences(thread, true, rules);
        }
        // 5
        let known = rules.covered(&thread.view.sc.access.accesses, Some(last.stamp));
        if !(known && (self.last_write_is_sc || rules.breaks(Mutant::ScSkipForPlainWrite))) {
            let before = thread.sc_grew;
            thread.learn_access(self.last_write());
            if rules.breaks(Mutant::ScGrowthUnnoticed) {
                thread.sc_grew = before;
            }
        }
        // 6
        if thread.grew || thread.sc_grew {
            thread.bump();
        }
        thread
            .view
            .sc
            .access
            .accesses
            .set(thread.slot, thread.epoch);
        let shown = thread.is_shown_by(&self.any.accesses);
        let keeps = rules.fast_paths && shown || rules.breaks(Mutant::ScReadsDoNotPublish);
        if !keeps {
            if !rules.breaks(Mutant::LastWriteNotFrozen) {
                self.freeze_last_write();
            }
            self.any.join(&thread.view.sc.access);
            self.yield_to(thread, rules);
        }
        self.note_version(thread);
        !keeps
    }

    /// The message has what the thread knows, but for the thread's own seq_cst accesses and fences. Before a write that
    /// is seq_cst.
    pub(super) fn renew_sc_message(&mut self, thread: &ThreadState) {
        self.split_message();
        let known = &thread.view.sc.access;
        self.message.access.set_entry(thread.slot, known);
    }

    /// The same after a write.
    pub(super) fn renew_message(&mut self, thread: &ThreadState, sc: bool, rules: Rules) {
        if rules.breaks(Mutant::MessageWithoutOwnFences) {
            return;
        }
        if !sc {
            self.renew_sc_message(thread);
        }
        self.split_message();
        let known = &thread.view.sc.fence;
        self.message.fence.set_entry(thread.slot, known);
    }

    /// The same for a message that is what the thread knew at its last release fence.
    pub(super) fn renew_released_message(&mut self, thread: &ThreadState, rules: Rules) {
        if rules.breaks(Mutant::MessageWithoutOwnFences) {
            return;
        }
        let (slot, known) = (thread.slot, &thread.released.sc);
        self.message.access.set_entry(slot, &known.access);
        if !self.message_alike {
            self.message.fence.set_entry(slot, &known.fence);
        }
    }

    /// The last writer reads, and has learnt nothing since its write: its own last fence is all that `any` may lack, and is kept
    /// aside until somebody else comes. Says whether that is so; not if it made seq_cst accesses.
    #[inline]
    pub(super) fn keep_fence(&mut self, thread: &ThreadState, rules: Rules) -> bool {
        let (slot, known) = (thread.slot, &thread.view.sc.fence);
        if self.has_fences(thread) {
            return true;
        }
        if rules.breaks(Mutant::FencesNotPublished) || known.accesses.get(slot) != Epoch::START {
            return false;
        }
        if !rules.breaks(Mutant::OwnReadWithoutFence) {
            self.kept_fence = known.fences.get(slot);
        }
        self.note_version(thread);
        true
    }

    /// The same thread writes again: what it adds to `any` includes the fence.
    #[inline]
    pub(super) fn take_kept_fence(&mut self) {
        self.kept_fence = Epoch::START;
    }

    /// Adds the fence that was kept aside for a slot, which the last write does not carry. Says whether there was one.
    pub(super) fn publish_kept_fence(&mut self, slot: Slot, rules: Rules) -> bool {
        let fence = std::mem::take(&mut self.kept_fence);
        let is_kept = fence != Epoch::START;
        if is_kept {
            if !rules.breaks(Mutant::OwnReadFenceNotFrozen) {
                self.freeze_last_write();
            }
            self.any.fences.raise(slot, fence);
        }
        is_kept
    }

    /// The thread wrote last, in the same way, and does so again.
    pub(super) fn repeat_after_write(&mut self, thread: &mut ThreadState, sc: bool, rules: Rules) {
        let (slot, epoch) = (thread.slot, thread.epoch);
        if sc {
            let known = &mut thread.view.sc.access;
            known.accesses.set(slot, epoch);
            self.any.set_entry(slot, known);
            self.owner = Some(thread.stamp());
        } else if thread.has_fences && !rules.breaks(Mutant::RepeatWithoutOwnFences) {
            // It may have more from seq_cst accesses since the fence.
            let fences = &thread.view.sc.fence;
            if rules.breaks(Mutant::RepeatForgetsAccesses) {
                self.any.set_entry(slot, fences);
            } else {
                self.any.raise_entry(slot, fences);
            }
        }
        self.note_version(thread);
    }

    /// Steps 4 and 5 of a write that follows the write observed as `last`.
    #[inline(always)]
    pub(super) fn before_write(
        &mut self,
        thread: &mut ThreadState,
        last: Observation,
        mode: Mode,
        rules: Rules,
    ) {
        let mine = rules.owns(thread.stamp(), self.owner);
        // 4
        let unread = self.same || rules.breaks(Mutant::EcoSkipDespiteReaders);
        let known = unread && rules.covered(&thread.view.hb, Some(last.stamp));
        if !(mine || known || rules.breaks(Mutant::WritesDoNotFeedEco)) {
            thread.learn_eco(&self.any, rules);
        }
        // 5
        if mode.sc {
            self.split_message();
            if mode.reads {
                self.message.access.join(&thread.view.sc.access);
            } else {
                self.message.access.assign(&thread.view.sc.access);
            }
            if !mine && !rules.breaks(Mutant::ScWriteTakesNothing) {
                thread.learn_access(&self.any);
            }
        }
    }

    /// Step 6 of a write, and the first half of step 7.
    #[inline(always)]
    pub(super) fn after_write(&mut self, thread: &mut ThreadState, sc: bool, rules: Rules) {
        let keep = !sc && rules.breaks(Mutant::PlainWriteKeepsLastWrite);
        if keep {
            self.freeze_last_write();
        }
        if sc {
            thread
                .view
                .sc
                .access
                .accesses
                .set(thread.slot, thread.epoch);
            self.any.assign(&thread.view.sc.access);
            self.owner = Some(thread.stamp());
            self.note_version(thread);
            if rules.breaks(Mutant::MessageHasOwnSc) {
                self.message.access.join(&thread.view.sc.access);
            }
        } else {
            self.publish_fences(thread, false, rules);
            if !rules.owns(thread.stamp(), self.owner) {
                self.owner = None;
            }
        }
        if !keep {
            self.renew_last_write(rules);
        }
        self.last_write_is_sc = sc;
    }

    /// Whether the thread has put the seq_cst fences that it knows into `any`.
    #[inline]
    pub(super) fn has_fences(&self, thread: &ThreadState) -> bool {
        self.published == thread.fence_version
    }

    /// Step 6 of an access that is not seq_cst: seq_cst fences before it are carried by it.
    #[inline]
    pub(super) fn publish_fences(
        &mut self,
        thread: &ThreadState,
        read: bool,
        rules: Rules,
    ) -> bool {
        let fences = &thread.view.sc.fence;
        if !thread.has_fences || rules.fast_paths && self.has_fences(thread) {
            return false;
        }
        if rules.breaks(Mutant::FencesNotPublished) {
            return false;
        }
        if rules.fast_paths && self.includes_fences(thread) {
            self.note_version(thread);
            return false;
        }
        if read && !rules.breaks(Mutant::LastWriteNotFrozenByFences) {
            self.freeze_last_write();
        }
        self.any.join(fences);
        self.yield_to(thread, rules);
        self.note_version(thread);
        true
    }

    /// Whether the fences that the thread knows are in `any`, whoever put them there.
    #[inline]
    fn includes_fences(&self, thread: &ThreadState) -> bool {
        let (slot, fences) = (thread.slot, &thread.view.sc.fence);
        // Most often its own last one is not.
        self.any.fences.get(slot) >= fences.fences.get(slot) && self.any.covers(fences)
    }

    #[inline(always)]
    fn note_version(&mut self, thread: &ThreadState) {
        if thread.has_fences {
            self.published = thread.fence_version;
        }
    }

    /// `any` was changed by `thread`: nobody else owns it now.
    #[inline(always)]
    fn yield_to(&mut self, thread: &ThreadState, rules: Rules) {
        if !rules.owns(thread.stamp(), self.owner)
            && !rules.breaks(Mutant::ScOwnershipSurvivesReaders)
        {
            self.owner = None;
        }
    }

    /// The message is a view of a thread; if `alike`, what binds seq_cst accesses and what binds all are the same in it.
    #[inline(always)]
    pub(super) fn set_message(&mut self, view: &View, alike: bool, sc: bool, rules: Rules) {
        if !sc {
            self.message.access.assign(&view.sc.access);
        }
        self.message_alike = alike && !sc && rules.fast_paths;
        if self.message_alike {
            self.message.fence.clear();
        } else {
            self.message.fence.assign(&view.sc.fence);
        }
        if rules.breaks(Mutant::MessageWithoutEco) {
            self.message.eco.clear();
        } else {
            self.message.eco.assign(&view.sc.eco);
        }
    }

    pub(super) fn join_message(&mut self, view: &View, sc: bool, rules: Rules) {
        self.split_message();
        if !sc {
            self.message.access.join(&view.sc.access);
        }
        self.message.fence.join(&view.sc.fence);
        if !rules.breaks(Mutant::MessageWithoutEco) {
            self.message.eco.join(&view.sc.eco);
        }
    }
}
