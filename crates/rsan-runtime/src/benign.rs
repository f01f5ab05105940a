//! Findings that the program itself says are none: by `rsan.h`, and by TSan's annotations of benign races.

use crate::finding::Finding;
use crate::lock::{Lock, RawLock};
use crate::thread::{Body, enter_access};
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory about which nothing is reported, from and up to.
static RANGES: Lock<Vec<(usize, usize)>> = Lock::new(Vec::new());
/// Whether there is any.
static USED: AtomicBool = AtomicBool::new(false);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    RANGES.raw()
}

/// What the calling thread does from now on is no finding, until [`end`].
pub fn begin() {
    if let Some(mut me) = enter_access() {
        me.benign += 1;
        me.ignored += 1;
    }
}

/// Undoes a [`begin`].
pub fn end() {
    if let Some(mut me) = enter_access()
        && me.benign > 0
    {
        me.benign -= 1;
        me.ignored = me.ignored.saturating_sub(1);
    }
}

/// What is about this memory is no finding.
pub fn add(address: usize, bytes: usize) {
    if let Some(_me) = enter_access() {
        RANGES.lock().push((address, address.saturating_add(bytes)));
        // ORDERING: relaxed; the lock orders the rest.
        USED.store(true, Ordering::Relaxed);
    }
}

/// Whether a finding of this thread is none.
pub fn covers(me: &Body, finding: &Finding) -> bool {
    let (start, bytes) = finding.extent();
    let end = start + bytes;
    // ORDERING: relaxed; who was told of the memory in time sees it.
    let used = USED.load(Ordering::Relaxed);
    let hits = |range: &(usize, usize)| range.0 < end && start < range.1;
    me.benign > 0 || used && RANGES.lock().iter().any(hits)
}
