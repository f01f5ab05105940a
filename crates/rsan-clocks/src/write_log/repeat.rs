//! Writes that a thread repeats (docs/theory/shortcuts.md, Q9).
//!
//! A thread's [`super::Version`] changes when its clocks change in other entries than its own. A write of a thread
//! leaves copies of these clocks. So when the thread writes again, with the same version, and nobody changed the
//! location in between (`settled`), the rules of `access.rs` would copy what is there already, except for the
//! thread's own entries; and they would join into the thread what it has. The same holds for the message alone
//! (`message_version`), and for the past that a read leaves (`shown`).
//!
//! The own entries themselves can be found in the last record, so most repeated writes leave them as they are
//! (`is_behind`) until somebody else comes. Reads in between change one own entry, that of `access_past`; it is kept aside
//! (`own_read`).
//!
//! What is not covered by the version: whether the thread has acquired the message of a write that it updates
//! (`settled_known`), and that the message of a seq_cst write is taken before the write itself learns, which makes
//! it differ from that of another write (`settled_sc`, `published`) and, if it did learn, from that of the next.

use super::access::Mode;
use super::epoch::{Epoch, Stamp, Version};
use super::location::LocationState;
use super::rules::Rules;
use super::thread::ThreadState;
use crate::Effect;
use crate::mutation::Mutant;
use rsan_model::Value;

impl LocationState {
    /// Whether such a write by the thread is a repeated one. It cannot be weak, and it teaches the thread nothing.
    #[inline]
    pub fn repeats(&self, thread: &ThreadState, effect: Effect, rules: Rules) -> bool {
        let mode = Mode::atomic(effect, rules);
        mode.value.is_some() && self.is_repeated(thread, mode, rules)
    }

    /// What [`LocationState::apply`] comes to for a write that [`LocationState::repeats`] another.
    #[inline]
    pub fn repeat(&mut self, thread: &mut ThreadState, effect: Effect, rules: Rules) {
        let mode = Mode::atomic(effect, rules);
        debug_assert!(self.is_repeated(thread, mode, rules));
        if let Some(value) = mode.value {
            self.repeat_write(thread, mode, value, rules);
        }
    }

    /// Whether the thread wrote last, in the same way, and nobody, itself included, has learnt or added anything
    /// since that the write would have to note. Then only the thread's own entries change.
    #[inline]
    pub(super) fn is_repeated(&self, thread: &ThreadState, mode: Mode, rules: Rules) -> bool {
        let same_way = self.settled_sc == mode.sc || rules.breaks(Mutant::RepeatAcrossOrders);
        let known =
            !mode.acquires || self.settled_known || rules.breaks(Mutant::RepeatWithoutAcquiring);
        // Its own seq_cst accesses elsewhere are the one thing that it may know more of.
        let has_place = !mode.releases || self.sc.is_some() || thread.own_sc_access().is_none();
        rules.is_at(thread, self.settled, Mutant::RepeatDespiteLearning)
            && !thread.epoch.is_exhausted()
            && same_way
            && known
            && has_place
            && !mode.plain
    }

    /// Whether a read by the thread, which knows all there is to know here, changes nothing but its own entry.
    #[inline]
    pub(super) fn is_settled_by(&self, thread: &ThreadState, rules: Rules) -> bool {
        rules.is_at(thread, self.settled, Mutant::ReadDespiteLearning)
            && !thread.epoch.is_exhausted()
    }

    /// What [`LocationState::write_in_full`] comes to for a repeated write.
    #[inline]
    pub(super) fn repeat_write(
        &mut self,
        thread: &mut ThreadState,
        mode: Mode,
        value: Value,
        rules: Rules,
    ) {
        if self.sc.is_some() || !self.keeps_message(thread, mode, rules) {
            if let Some(part) = &mut self.sc {
                part.take_kept_fence();
            }
            self.catch_up(rules);
            self.repeat_write_at_once(thread, mode, value, rules);
            return;
        }
        thread.bump();
        self.push(thread, mode, value);
        if mode.releases {
            self.set_message_is(Some(thread.stamp()));
            thread.dirty = true;
        }
        self.is_behind = true;
    }

    /// Keeps aside the SC fence that a read by the thread carries, if the thread is the one that is `settled`: all else that it
    /// carries is there. Says whether it is.
    #[inline]
    pub(super) fn keep_fence_aside(&mut self, thread: &ThreadState, rules: Rules) -> bool {
        let is_settled = self.is_settled_by(thread, rules);
        let part = self.sc.as_mut().filter(|_| is_settled);
        part.is_some_and(|part| part.keep_fence(thread, rules))
    }

    /// Whether the write changes nothing in the message but its thread's own entry.
    #[inline]
    fn keeps_message(&self, thread: &ThreadState, mode: Mode, rules: Rules) -> bool {
        let slot = thread.slot;
        if mode.releases {
            self.saturated || self.renews_message(thread, mode, rules)
        } else if mode.reads {
            thread.released_at == Epoch::START
        } else {
            let epoch = thread.released_at;
            self.is_message_of(Stamp { slot, epoch }) && !epoch.is_exhausted()
        }
    }

    /// Brings the own entries of a thread up to date that has repeated writes: they are at its last record.
    #[inline]
    pub(super) fn catch_up(&mut self, rules: Rules) {
        if self.is_behind {
            self.catch_up_now(rules);
        }
    }

    fn catch_up_now(&mut self, rules: Rules) {
        self.is_behind = false;
        let last = self.last_record().stamp();
        self.write_past.set(last.slot, last.epoch);
        let read = if rules.breaks(Mutant::OwnReadsNotShown) {
            last.epoch
        } else {
            self.own_read.max(last.epoch)
        };
        self.access_past.set(last.slot, read);
        self.is_past_owned = true;
        if let Some(part) = &mut self.sc
            && part.publish_kept_fence(last.slot, rules)
        {
            self.settled = Version::NONE;
        }
        if let Some(is) = self.message_is()
            && is.slot == last.slot
            && self.message_version != Version::NONE
        {
            self.message.set(is.slot, is.epoch);
        }
        if self.saturated {
            // The message of a seq_cst write has what its thread knew before it.
            let before = Epoch::new(last.epoch.number() - 1);
            self.saturated_message.set(last.slot, before);
        }
    }

    fn repeat_write_at_once(
        &mut self,
        thread: &mut ThreadState,
        mode: Mode,
        value: Value,
        rules: Rules,
    ) {
        let slot = thread.slot;
        if self.saturated {
            self.saturated_message.set(slot, thread.epoch);
        } else if mode.sc
            && let Some(part) = &mut self.sc
        {
            part.renew_sc_message(thread);
        }
        thread.bump();
        self.push(thread, mode, value);
        if self.saturated {
            self.message.set(slot, thread.epoch);
            self.set_message_is(Some(thread.stamp()));
        } else {
            if let Some(part) = &mut self.sc {
                part.repeat_after_write(thread, mode.sc, rules);
            }
            self.leave_message(thread, mode, rules);
        }
        self.write_past.set(slot, thread.epoch);
        self.access_past.set(slot, thread.epoch);
        self.is_past_owned = true;
        thread.dirty |= mode.releases;
    }
}
