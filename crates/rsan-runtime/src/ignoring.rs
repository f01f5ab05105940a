//! Synchronisation that the program says is none (`AnnotateIgnoreSyncBegin`), or is that of a lock whose order it says itself
//! (`__tsan_mutex_pre_lock`): it is executed, and orders nothing.
//!
//! Atomic operations count as relaxed ones meanwhile, of which no violation of robustness is reported. Under controlled scheduling,
//! the annotations have no effect: what threads wait for has to be known there.

use crate::sched;
use crate::thread::{Context, current, enter, enter_if_attached};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a thread ever began.
static USED: AtomicBool = AtomicBool::new(false);

const RELAXED: c_int = 0;

/// What the calling thread does from now on orders nothing, until [`end`].
pub(crate) extern "C" fn begin() {
    if !sched::active()
        && let Some(mut me) = enter()
    {
        me.unsynced += 1;
        // ORDERING: relaxed; only for what this thread does next.
        USED.store(true, Ordering::Relaxed);
    }
}

/// Undoes a [`begin`].
pub(crate) extern "C" fn end() {
    if let Some(mut me) = enter() {
        me.unsynced = me.unsynced.saturating_sub(1);
    }
}

/// A signal handler begins: what it does orders, whatever it interrupts. What [`resume`] takes is returned.
pub(crate) fn suspend() -> u32 {
    // ORDERING: relaxed; see `begin`.
    if !USED.load(Ordering::Relaxed) {
        return 0;
    }
    enter_if_attached().map_or(0, |mut me| std::mem::take(&mut me.unsynced))
}

/// The handler has returned.
pub(crate) fn resume(suspended: u32) {
    if suspended != 0
        && let Some(mut me) = enter_if_attached()
    {
        me.unsynced = suspended;
    }
}

#[inline(always)]
fn is_unsynced() -> bool {
    // ORDERING: relaxed; see `begin`.
    USED.load(Ordering::Relaxed) && is_unsynced_now()
}

#[cold]
fn is_unsynced_now() -> bool {
    let me = current().and_then(Context::idle);
    me.is_some_and(|me| me.unsynced != 0)
}

/// The order that an operation counts with.
#[inline(always)]
pub(crate) fn order(order: c_int) -> c_int {
    if is_unsynced() { RELAXED } else { order }
}

/// Whether a fence counts.
#[inline(always)]
pub(crate) fn fences() -> bool {
    !is_unsynced()
}
