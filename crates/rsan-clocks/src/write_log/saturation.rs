//! Purely seq_cst threads and locations (docs/theory/shortcuts.md, Q8).
//!
//! As long as everything that SC orders before a thread's next event is a seq_cst access, psc20 and hbSC are the
//! same on it, so the thread's `q` is its `S`, and nothing has to be stored for it. Likewise a location:
//! `M` is `MS`, `W` and the message's `e` are `WS`; only the message's `q` is kept. The first access that is
//! not seq_cst, or that meets something which is not saturated, writes all this out (*desaturates*).

use super::access::Mode;
use super::epoch::Version;
use super::location::{LocationState, Published};
use super::rules::Rules;
use super::sc_part::ScPart;
use super::thread::ThreadState;
use crate::mutation::Mutant;

impl ThreadState {
    /// Writes out what saturation left implicit. `e` needs no copy: it is only used together with `q`.
    pub(super) fn desaturate(&mut self, rules: Rules) {
        if !self.saturated {
            return;
        }
        self.saturated = false;
        self.renew_version();
        if self.has_sc && !rules.breaks(Mutant::DesaturatedThreadWithoutSc) {
            self.view.sc.access.accesses.assign(&self.sc_past);
        }
    }
}

impl LocationState {
    /// Writes out what saturation left implicit.
    pub(super) fn desaturate(&mut self, rules: Rules) {
        if !self.saturated {
            return;
        }
        self.saturated = false;
        self.settled = Version::NONE;
        let message = std::mem::take(&mut self.saturated_message);
        if self.access_past.is_zero() {
            return;
        }
        let mut part = ScPart {
            same: false,
            ..ScPart::default()
        };
        if !rules.breaks(Mutant::DesaturatedLocationWithoutAny) {
            part.any.accesses.assign(&self.access_past);
        }
        if !rules.breaks(Mutant::DesaturatedLocationWithoutLastWrite) {
            part.last_write.accesses.assign(&self.write_past);
        }
        part.message.eco.accesses.assign(&self.write_past);
        if !rules.breaks(Mutant::DesaturatedLocationWithoutMessage) {
            part.message.access.accesses = message;
        }
        self.sc = Some(Box::new(part));
    }

    /// A seq_cst access of a saturated thread to a saturated location; both stay saturated.
    pub(super) fn saturated_access(&mut self, thread: &mut ThreadState, mode: Mode, rules: Rules) {
        let last = self.last_record().stamp();
        let known = thread.version;
        thread.has_sc = true;
        let covered = mode.reads && rules.covered(&thread.view.hb, self.message_is());
        if mode.reads && !covered {
            thread.learn_hb(&self.message);
        }
        let Some(value) = mode.value else {
            if !rules.covered(&thread.sc_past, Some(last)) {
                thread.learn_past(&self.write_past);
            }
            debug_assert!(
                rules.mutation.is_some() || thread.view.hb.get(last.slot) >= last.epoch,
                "a seq_cst read of a seq_cst write acquires it, so it needs no reader entry"
            );
            self.publish_read(thread, rules);
            return;
        };
        if rules.breaks(Mutant::SaturatedMessageNotKept) {
            self.saturated_message.clear();
        } else if mode.reads && !covered {
            self.saturated_message.join(&thread.sc_past);
        } else {
            self.saturated_message.assign(&thread.sc_past);
        }
        if !rules.owns(thread.stamp(), self.past_owner()) {
            thread.learn_past(&self.access_past);
        }
        thread.bump();
        self.push(thread, mode, value);
        self.message.assign(&thread.view.hb);
        self.set_message_is(Some(thread.stamp()));
        self.message_version = thread.version;
        self.published = Published::Before;
        self.publish_write(thread, mode, known, rules);
    }
}
