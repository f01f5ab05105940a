//! What an access changes (docs/theory/write-log.md, W6).
//!
//! The complete rules, `+=` being a join; thread state on the left of a dot-less name, location state as in
//! [`LocationState`]:
//!
//! ```text
//! 1  reads, acquiring       hb, fence, eco, access += message          (access of a seq_cst read: step 8)
//!    reads, not acquiring   pending += message
//! 2  read                   sc_past += write_past          write, RMW  sc_past += access_past
//! 3  read                   a reader entry, unless the thread knows the write without it; a seq_cst read
//!                           of a write that is not seq_cst always leaves one, for it alone makes the write
//!                           known to seq_cst accesses
//! 4  read                   eco += last_write              write, RMW  eco += any
//! 5  seq_cst                the message's access := access (RMW: +=), before the access adds its own
//!    seq_cst read           access += last_write           write, RMW  access += any
//! 6  write, RMW             a new epoch and a record
//!    seq_cst                own epoch into access; any += access       others  any += fence
//! 7  write, RMW             last_write := any; message := what the thread knows, or knew at its last release
//!                           fence if it does not release (RMW: +=)
//! 8  seq_cst read, RMW      access += the message's access
//! 9  read                   access_past += sc_past         write, RMW  write_past := access_past := sc_past
//! ```
//!
//! That a seq_cst access takes part in step 5 before step 8, and leaves its own events out of its message, is
//! all that remains of C++20's distinction between happens-before and strongly-happens-before.
//!
//! A join is left out when its result is known (docs/theory/shortcuts.md, Q3 to Q7); the test stands in front of it:
//!
//! * `message_is = (p, e)` says that the message is what slot p knew at epoch e, so whoever knows e knows it all.
//!   An RMW that adds something to a message it does not cover makes it nobody's.
//! * `write_past` is the past of the last writer at its record, so whoever has the record in its past has it all.
//! * `past_owner`, `owner`: the thread that wrote last knows everything, until another thread adds something.
//! * A location that shows the thread's present epoch has all of it, unless the thread learnt something since
//!   (`grew`, `sc_grew`); a new epoch makes that visible.
//! * A write that its thread repeats changes only that thread's entries: `repeat.rs`.
//! * What the last write carries is known to everybody who hb-knows that write, as `hb` and `eco` together.

use super::epoch::{Epoch, Version};
use super::location::{LocationState, Published};
use super::log::{Reader, Record};
use super::rules::Rules;
use super::thread::ThreadState;
use super::view::Observation;
use crate::Effect;
use crate::mutation::Mutant;
use rsan_model::{ReadOrd, Value};

/// An access, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    /// The value written.
    pub(super) value: Option<Value>,
    pub(super) reads: bool,
    pub(super) acquires: bool,
    pub(super) releases: bool,
    pub(super) sc: bool,
    /// Non-atomic: publishes nothing.
    pub(super) plain: bool,
}

impl Mode {
    #[inline]
    pub(super) fn atomic(effect: Effect, rules: Rules) -> Self {
        Self {
            value: effect.value_written(),
            reads: effect.reads(),
            acquires: effect.acquires(),
            releases: effect.releases(),
            sc: effect.is_sc() && rules.sc_accesses,
            plain: false,
        }
    }

    fn plain(value: Value) -> Self {
        Self {
            value: Some(value),
            reads: false,
            acquires: false,
            releases: false,
            sc: false,
            plain: true,
        }
    }

    /// What it publishes, as far as it does not only add to a message.
    #[inline]
    pub(super) fn published(self) -> Published {
        match (self.releases, self.sc) {
            (false, _) => Published::Fence,
            (true, false) => Published::Present,
            (true, true) => Published::Before,
        }
    }

    pub(super) fn is_rmw(self) -> bool {
        self.reads && self.value.is_some()
    }
}

impl LocationState {
    /// The thread accessed the location atomically.
    #[inline]
    pub fn apply(&mut self, thread: &mut ThreadState, effect: Effect, rules: Rules) {
        self.access(thread, Mode::atomic(effect, rules), rules);
    }

    /// The thread wrote the location non-atomically.
    pub fn plain_write(&mut self, thread: &mut ThreadState, value: Value, rules: Rules) {
        self.access(thread, Mode::plain(value), rules);
    }

    #[inline]
    fn access(&mut self, thread: &mut ThreadState, mode: Mode, rules: Rules) {
        match mode.value {
            Some(value) if self.is_repeated(thread, mode, rules) => {
                self.repeat_write(thread, mode, value, rules);
            }
            Some(value) => self.write_in_full(thread, mode, value, rules),
            None if self.is_known(thread, mode, rules) => self.read_known(thread, mode.sc, rules),
            None => self.read_in_full(thread, mode, rules),
        }
    }

    /// Whether such a read tells the thread nothing. It cannot be weak, and is only noted.
    #[inline]
    pub fn is_read_known(&self, thread: &ThreadState, ord: ReadOrd, rules: Rules) -> bool {
        self.is_known(thread, Mode::atomic(Effect::Read(ord), rules), rules)
    }

    /// What [`LocationState::apply`] comes to for a read that [`LocationState::is_read_known`].
    #[inline]
    pub fn note_read(&mut self, thread: &mut ThreadState, ord: ReadOrd, rules: Rules) {
        let mode = Mode::atomic(Effect::Read(ord), rules);
        debug_assert!(self.is_known(thread, mode, rules));
        self.read_known(thread, mode.sc, rules);
    }

    /// Whether a read tells the thread nothing, because it happens-before-knows the last write and its message, or has
    /// read it before; and is not one of the seq_cst events that are to be carried.
    #[inline]
    fn is_known(&self, thread: &ThreadState, mode: Mode, rules: Rules) -> bool {
        // A thread that is not saturated has seq_cst events to take and to leave.
        let alike = thread.saturated == mode.sc && self.saturated == mode.sc;
        let hb = &thread.view.hb;
        alike
            && if rules.covered(hb, Some(self.last_record().stamp())) {
                rules.covered(hb, self.message_is())
            } else {
                !mode.sc && self.is_read_again(thread, mode.acquires, rules)
            }
    }

    /// Whether the thread has left a reader entry for the last write, and it or one before had the message. Then it has
    /// taken from the write what there is, which does not change (docs/theory/shortcuts.md, Q11).
    #[inline(never)]
    fn is_read_again(&self, thread: &ThreadState, acquires: bool, rules: Rules) -> bool {
        let pends = !acquires || rules.breaks(Mutant::ReadAgainWithoutAcquiring);
        let has_message = rules.covered(&thread.view.hb, self.message_is())
            || pends && rules.covered(&thread.pending.hb, self.message_is());
        let epoch = thread.epoch;
        rules.fast_paths
            && has_message
            && self.readers_of_last(thread).any(|by| {
                by.stamp.epoch.same_generation(epoch)
                    || rules.breaks(Mutant::ReadAgainIgnoresGeneration)
            })
    }

    /// The entries for reads of the last write by the slot of a thread.
    #[inline]
    fn readers_of_last(&self, thread: &ThreadState) -> impl Iterator<Item = Observation> {
        let slot = thread.slot;
        let observations = self.records.reads_of_last().map(Reader::by);
        observations.filter(move |by| by.stamp.slot == slot)
    }

    #[inline]
    fn read_known(&mut self, thread: &mut ThreadState, sc: bool, rules: Rules) {
        thread.has_sc |= sc;
        if thread.has_fences && !self.keep_fence_aside(thread, rules) {
            let part = self.sc.get_or_insert_default();
            let changed = part.publish_fences(thread, true, rules);
            self.unsettle(changed, rules);
        }
        if self.is_settled_by(thread, rules) {
            self.own_read = thread.epoch;
            self.is_behind = true;
        } else {
            self.catch_up(rules);
            self.publish_read(thread, rules);
        }
    }

    #[inline(never)]
    fn read_in_full(&mut self, thread: &mut ThreadState, mode: Mode, rules: Rules) {
        self.catch_up(rules);
        if mode.sc && thread.saturated && self.saturated {
            self.saturated_access(thread, mode, rules);
            return;
        }
        self.desaturate_both(thread, rules);
        if mode.sc || thread.has_fences || !rules.fast_paths {
            self.sc.get_or_insert_default();
        }
        self.read(thread, mode, rules);
    }

    #[inline(never)]
    fn write_in_full(&mut self, thread: &mut ThreadState, mode: Mode, value: Value, rules: Rules) {
        self.catch_up(rules);
        if mode.sc && thread.saturated && self.saturated {
            self.saturated_access(thread, mode, rules);
            return;
        }
        self.desaturate_both(thread, rules);
        if self.sc.is_none() {
            let contributes = match (mode.plain, mode.releases) {
                (true, _) => false,
                (false, true) => !thread.view.sc.is_absent(),
                (false, false) => !thread.released.sc.is_absent(),
            };
            if mode.sc || contributes || thread.has_fences || !rules.fast_paths {
                self.sc = Some(Box::default());
            }
        }
        self.write(thread, mode, value, rules);
    }

    #[inline]
    fn desaturate_both(&mut self, thread: &mut ThreadState, rules: Rules) {
        if !rules.breaks(Mutant::ThreadStaysSaturated) {
            thread.desaturate(rules);
        }
        if !rules.breaks(Mutant::LocationStaysSaturated) {
            self.desaturate(rules);
        }
    }

    #[inline(always)]
    fn read(&mut self, thread: &mut ThreadState, mode: Mode, rules: Rules) {
        let last = self.last_record().by();
        let covered = self.receive(thread, mode, rules);
        // 2
        if !rules.covered(&thread.sc_past, Some(last.stamp)) {
            thread.learn_past(&self.write_past);
        }
        self.record_reader(thread, mode.sc, rules);
        if let Some(part) = &mut self.sc {
            let changed = part.read(thread, last, mode.sc, rules);
            // 8
            if mode.sc && !covered && !rules.breaks(Mutant::ScTakenAfterAcquiring) {
                thread.learn_access(&part.message.access);
            }
            self.unsettle(changed, rules);
        }
        self.publish_read(thread, rules);
    }

    /// A read has added something to what accesses carry, if `changed`.
    #[inline]
    fn unsettle(&mut self, changed: bool, rules: Rules) {
        if changed && !rules.breaks(Mutant::RepeatDespiteScReads) {
            self.settled = Version::NONE;
        }
    }

    /// Step 9 of a read.
    #[inline]
    pub(super) fn publish_read(&mut self, thread: &mut ThreadState, rules: Rules) {
        if thread.grew {
            thread.bump();
        }
        if rules.fast_paths && thread.is_shown_by(&self.access_past) {
            return;
        }
        if rules.is_at(thread, self.shown, Mutant::ShownDespiteLearning) {
            self.access_past.set(thread.slot, thread.epoch);
            return;
        }
        self.access_past.join(&thread.sc_past);
        self.shown = thread.version;
        if !rules.owns(thread.stamp(), self.past_owner()) {
            if !rules.breaks(Mutant::PastOwnershipSurvivesReaders) {
                self.is_past_owned = false;
            }
            if !rules.breaks(Mutant::RepeatDespiteReaders) {
                self.settled = Version::NONE;
            }
        }
    }

    #[inline(always)]
    fn write(&mut self, thread: &mut ThreadState, mode: Mode, value: Value, rules: Rules) {
        let last = self.last_record().by();
        let known = thread.version;
        let covered = mode.reads && self.receive(thread, mode, rules);
        // 2
        if !rules.owns(thread.stamp(), self.past_owner()) {
            thread.learn_past(&self.access_past);
        }
        if let Some(part) = &mut self.sc {
            part.before_write(thread, last, mode, rules);
        }
        // 6
        thread.bump();
        self.push(thread, mode, value);
        if let Some(part) = &mut self.sc {
            part.after_write(thread, mode.sc, rules);
        }
        // 7
        self.leave_message(thread, mode, rules);
        // 8
        if mode.sc && mode.reads && !covered && !rules.breaks(Mutant::ScTakenAfterAcquiring) {
            let part = self.sc.get_or_insert_default();
            thread.learn_access(&part.message.access);
        }
        self.publish_write(thread, mode, known, rules);
    }

    /// Step 9 of a write by a thread that had the version `known` before.
    #[inline(always)]
    pub(super) fn publish_write(
        &mut self,
        thread: &mut ThreadState,
        mode: Mode,
        known: Version,
        rules: Rules,
    ) {
        self.write_past.assign(&thread.sc_past);
        self.access_past.assign(&thread.sc_past);
        self.is_past_owned = true;
        self.shown = thread.version;
        self.own_read = Epoch::START;
        // The message of a seq_cst write lacks what the write itself taught.
        let complete = !mode.sc
            || known == thread.version
            || rules.breaks(Mutant::RepeatAfterScWriteThatLearnt);
        self.settled = if complete && !mode.plain {
            thread.version
        } else {
            Version::NONE
        };
        self.settled_sc = mode.sc;
        self.settled_known = !mode.reads || mode.acquires;
        thread.dirty |= mode.releases;
    }

    #[inline]
    pub(super) fn push(&mut self, thread: &ThreadState, mode: Mode, value: Value) {
        let by = Observation {
            stamp: thread.stamp(),
            sc: mode.sc,
        };
        self.records.push(Record::new(by, mode.is_rmw(), value));
    }

    /// Step 3: a reader entry, unless the thread knows the write without it (docs/theory/write-log.md, W7).
    fn record_reader(&mut self, thread: &mut ThreadState, sc: bool, rules: Rules) {
        let last = self.last_record().by();
        let (mut any, mut by_sc) = (false, false);
        for by in self.readers_of_last(thread) {
            any = true;
            by_sc |= by.sc;
        }
        let unknown = thread.view.hb.get(last.stamp.slot) < last.stamp.epoch && !any;
        let unknown_sc = sc && !last.sc && !by_sc && !rules.breaks(Mutant::NoScReaderOfPlainWrite);
        if unknown || unknown_sc {
            thread.bump();
            self.records.push_read(Observation {
                stamp: thread.stamp(),
                sc: sc && !rules.breaks(Mutant::ReadersNeverSc),
            });
        }
    }
}
