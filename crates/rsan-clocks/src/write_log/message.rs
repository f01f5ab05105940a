//! What a write lets its acquirers know: steps 1 and 7 of an access (docs/theory/write-log.md, W6; whose message it is:
//! docs/theory/shortcuts.md, Q3).

use super::access::Mode;
use super::epoch::{Stamp, Version};
use super::location::{LocationState, Published};
use super::rules::Rules;
use super::thread::ThreadState;
use crate::mutation::Mutant;

impl LocationState {
    /// Step 1: takes the message. Says whether the thread had it all already.
    #[inline]
    pub(super) fn receive(&self, thread: &mut ThreadState, mode: Mode, rules: Rules) -> bool {
        if rules.covered(&thread.view.hb, self.message_is()) {
            return true;
        }
        if !mode.acquires {
            if rules.covered(&thread.pending.hb, self.message_is()) {
                return true;
            }
            thread.has_pending = true;
            thread.pending.hb.join(&self.message);
            if let Some(part) = &self.sc
                && !rules.breaks(Mutant::PendingWithoutSc)
            {
                thread.pending.sc.access.join(&part.message.access);
                thread.pending.sc.fence.join(part.message_fence());
                thread.pending.sc.eco.join(&part.message.eco);
            }
            return false;
        }
        thread.learn_hb(&self.message);
        if let Some(part) = &self.sc {
            thread.learn_fence(part.message_fence());
            thread.learn_eco(&part.message.eco, rules);
            if !mode.sc || rules.breaks(Mutant::ScTakenAfterAcquiring) {
                thread.learn_access(&part.message.access);
            }
        }
        false
    }

    /// Step 7: the message of a write, and the publication that it is equal to.
    #[inline]
    pub(super) fn leave_message(&mut self, thread: &ThreadState, mode: Mode, rules: Rules) {
        if mode.plain {
            self.message.clear();
            self.set_message_is(Some(Stamp::default()));
            self.message_version = Version::NONE;
            if let Some(part) = &mut self.sc {
                part.clear_message();
            }
            return;
        }
        let releases = mode.releases && !rules.breaks(Mutant::ReleaseWritePublishesFenceView);
        let epoch = if releases {
            thread.epoch
        } else {
            thread.released_at
        };
        let slot = thread.slot;
        let stamp = Stamp { slot, epoch };
        if !releases && !mode.reads && rules.fast_paths && self.is_message_of(stamp) {
            if !epoch.is_exhausted() {
                return;
            }
        } else if releases && self.renews_message(thread, mode, rules) {
            self.message.set(slot, epoch);
            self.set_message_is(Some(stamp));
            if let Some(part) = &mut self.sc {
                part.renew_message(thread, mode.sc, rules);
            }
            return;
        } else if !releases && !mode.reads && self.renews_message(thread, mode, rules) {
            self.message.set(slot, epoch);
            self.set_message_is(Some(stamp));
            if let Some(part) = &mut self.sc {
                part.renew_released_message(thread, rules);
            }
            return;
        }
        self.leave_message_in_full(thread, mode, releases, stamp, rules);
    }

    /// Whether a write of the thread, a releasing one or one that is no read, changes only its own entry of the message.
    #[inline]
    pub(super) fn renews_message(&self, thread: &ThreadState, mode: Mode, rules: Rules) -> bool {
        let mine = self.message_is().is_some_and(|is| is.slot == thread.slot);
        let published = mode.published();
        let differs = match self.published {
            is if is == published => false,
            Published::Fence => !rules.breaks(Mutant::MessageAcrossReleases),
            _ if published == Published::Fence => !rules.breaks(Mutant::MessageAcrossReleases),
            _ => !rules.breaks(Mutant::MessageAcrossOrders),
        };
        mine && !differs
            && rules.is_at(thread, self.message_version, Mutant::MessageDespiteLearning)
    }

    #[inline(always)]
    fn leave_message_in_full(
        &mut self,
        thread: &ThreadState,
        mode: Mode,
        releases: bool,
        stamp: Stamp,
        rules: Rules,
    ) {
        let view = if releases {
            &thread.view
        } else {
            &thread.released
        };
        if mode.is_rmw() {
            let included = !mode.releases && self.message.get(stamp.slot) >= stamp.epoch;
            if rules.fast_paths && included {
                return;
            }
            let covers = mode.releases && mode.acquires && rules.fast_paths
                || rules.covered(&view.hb, self.message_is());
            if !covers {
                self.message.join(&view.hb);
                self.set_message_is(None);
                self.message_version = Version::NONE;
                if let Some(part) = &mut self.sc {
                    part.join_message(view, mode.sc, rules);
                }
                return;
            }
        }
        self.message.assign(&view.hb);
        self.set_message_is(Some(stamp));
        self.published = if releases {
            mode.published()
        } else {
            Published::Fence
        };
        self.message_version = thread.version;
        if let Some(part) = &mut self.sc {
            let alike = !releases && thread.released_alike;
            part.set_message(view, alike, mode.sc, rules);
        }
    }
}
