//! Fibers: contexts of their own that take turns on a thread.
//!
//! A fiber is a thread to the monitor, with a slot and a stack of calls; it runs when a thread switches to it. Only
//! the thread that runs a fiber uses its context, which is what the program promises by switching.

use super::life::free;
use super::registry::{Handle, REGISTRY};
use super::{Context, Entered, attach, enter, spawn};
use crate::tls;
use rsan_clocks::write_log::{Rules, SyncClock};
use std::sync::atomic::{AtomicBool, Ordering};

/// There was a fiber.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether the program has made fibers: what one of them took another one may give back.
pub(crate) fn are_used() -> bool {
    // ORDERING: relaxed; a flag that is only ever set, before the first fiber runs.
    USED.load(Ordering::Relaxed)
}

/// A new fiber, whose creation by this thread comes before what it does. 0 if there can be none.
pub fn create(me: &mut Entered) -> usize {
    // ORDERING: relaxed; see `are_used`.
    USED.store(true, Ordering::Relaxed);
    spawn(me).map_or(0, |newborn| newborn.word())
}

/// The fiber that runs: the thread itself, if it never switched. 0 if the thread is about to end.
pub fn current() -> usize {
    attach().map_or(0, |context| std::ptr::from_ref(context) as usize)
}

/// The thread goes on as another fiber; what it did so far comes before that, if there is a clock of it.
pub fn switch(fiber: usize, clock: Option<&SyncClock>) {
    if fiber == 0 {
        return;
    }
    tls::set_context_word(fiber);
    if let (Some(mut fiber), Some(clock)) = (enter(), clock) {
        fiber.state.take(clock, Rules::c20());
    }
}

/// The fiber will not run again. Not for one that runs.
pub fn destroy(fiber: usize) {
    if fiber == 0 || fiber == tls::context_word() {
        return;
    }
    let context = Handle(fiber as *mut Context);
    if let Some(registry) = REGISTRY.lock().as_mut() {
        // SAFETY: made by `create`, and the program says that nobody runs it.
        let state = unsafe { &(*(*context.0).body.get()).state };
        registry.retire(state);
    }
    free(context);
}
