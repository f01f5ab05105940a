//! Whose the slots of the clocks are and were, for whoever holds the lock of a location.
//!
//! The present owner of a slot is one word, so that it is found without a lock; those before it are in a list.

use crate::lock::{Lock, RawLock};
use rsan_clocks::write_log::{Epoch, Owners, Slot, Stamp};
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicU64, Ordering};

/// `first epoch:32 thread:32` for each slot.
static PRESENT: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];

static ALL: Lock<Option<Owners>> = Lock::new(None);

/// The lock of this module, for fork. Taken under locks of locations; takes none.
pub(crate) fn lock() -> &'static RawLock {
    ALL.raw()
}

/// A thread gets a slot, and stands there before its first event.
pub(crate) fn add(start: Stamp, thread: ThreadId) {
    ALL.lock().get_or_insert_default().add(start, thread);
    let word = u64::from(start.epoch.number()) << 32 | u64::from(thread.0);
    // ORDERING: release, with the acquire in `owner`.
    PRESENT[usize::from(start.slot.0)].store(word, Ordering::Release);
}

/// Forgets who had a slot first, and has ended.
pub(crate) fn forget_first(slot: Slot) {
    if let Some(owners) = ALL.lock().as_mut() {
        owners.forget_first(slot);
    }
}

/// Who made the event at a stamp; nobody if it was long ago.
#[inline]
pub fn owner(stamp: Stamp) -> Option<ThreadId> {
    // ORDERING: acquire, with the release in `add`.
    let word = PRESENT[usize::from(stamp.slot.0)].load(Ordering::Acquire);
    if Epoch::new((word >> 32) as u32) < stamp.epoch {
        return Some(ThreadId(word as u32));
    }
    former_owner(stamp)
}

#[cold]
fn former_owner(stamp: Stamp) -> Option<ThreadId> {
    ALL.lock().as_ref()?.owner(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_of_a_slot_follow_each_other() {
        let stamp = |epoch| Stamp {
            slot: Slot(60_000),
            epoch: Epoch::new(epoch),
        };
        add(stamp(0), ThreadId(7));
        assert_eq!(owner(stamp(1)), Some(ThreadId(7)));
        add(stamp(5), ThreadId(8));
        let owners = [1, 5, 6].map(|epoch| owner(stamp(epoch)));
        assert_eq!(owners, [7, 7, 8].map(|id| Some(ThreadId(id))));
        forget_first(Slot(60_000));
        let owners = [5, 6].map(|epoch| owner(stamp(epoch)));
        assert_eq!(owners, [None, Some(ThreadId(8))]);
    }
}
