//! Functions of a language's library whose synchronisation is private: they promise no order to anyone.
//!
//! The standard library of Rust notes the stack of every thread in a table, under a lock. Whoever starts a thread after another
//! has ended takes that lock after it, which orders the two, though no program may rely on it: it would hide what can go wrong between them, and
//! make each order of the two a different execution. Such functions are marked when they are
//! instrumented. What they do is executed, and neither seen nor scheduled: the thread counts as inside the runtime.
//!
//! One that starts a thread, or has to wait where threads are scheduled, is not private from there on ([`Context::reveal`]).
//!
//! **Assumes** that what such a function leaves behind decides nothing about what its caller does to memory that is seen.

use super::{BUSY, Context, Entered, IDLE};
use crate::tls;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, compiler_fence};

/// Whether the thread is in such functions. Only the thread itself and its signal handlers use it.
#[derive(Debug)]
pub(super) struct Hidden {
    /// How many of them.
    depth: AtomicU32,
    /// What it was before the first.
    was: AtomicU8,
}

impl Hidden {
    pub(super) const fn new() -> Self {
        Self {
            depth: AtomicU32::new(0),
            was: AtomicU8::new(IDLE),
        }
    }

    /// They are left by a jump.
    pub(super) fn abandon(&self) {
        // ORDERING: relaxed; see the type.
        self.depth.store(0, Ordering::Relaxed);
    }
}

impl Context {
    /// The thread enters such a function. Inside the runtime, as in a handler of a fault there, nothing is to be done.
    pub(crate) fn hide(&'static self) {
        // ORDERING: relaxed; see `Hidden`, here and below.
        let depth = self.hidden.depth.load(Ordering::Relaxed);
        let was = self.busy.load(Ordering::Relaxed);
        if depth == 0 {
            if was == BUSY {
                return;
            }
            tls::set_stamp(None);
            self.hidden.was.store(was, Ordering::Relaxed);
            self.busy.store(BUSY, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        }
        self.hidden.depth.store(depth + 1, Ordering::Relaxed);
    }

    /// It leaves one.
    pub(crate) fn show(&'static self) {
        // ORDERING: relaxed; see `Hidden`, here and below.
        let depth = self.hidden.depth.load(Ordering::Relaxed);
        self.hidden
            .depth
            .store(depth.saturating_sub(1), Ordering::Relaxed);
        if depth == 1 {
            let was = self.hidden.was.load(Ordering::Relaxed);
            drop(Entered { context: self, was });
        }
    }

    /// Whether the thread is in such a function.
    pub(crate) fn is_hidden(&self) -> bool {
        // ORDERING: relaxed; see `Hidden`.
        self.hidden.depth.load(Ordering::Relaxed) != 0
    }

    /// The functions that the thread is in are private no more. Whether it was in any.
    pub(crate) fn reveal(&'static self) -> bool {
        let is_hidden = self.is_hidden();
        if is_hidden {
            // ORDERING: relaxed; see `Hidden`.
            self.hidden.depth.store(1, Ordering::Relaxed);
            self.show();
        }
        is_hidden
    }
}
