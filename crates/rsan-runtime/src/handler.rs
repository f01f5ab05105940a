//! The program's signal handlers, and what they must not do.

use crate::callers;
use crate::finding::{Finding, Misuse, Operation, Side};
use crate::report;
use crate::stack::Site;
use crate::thread::{self, Entered};
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Signals are numbered from 1.
pub(crate) const SIGNALS: usize = 65;

/// The program's handler of a signal; its address is also that of a clock.
pub(crate) struct Handler {
    function: AtomicUsize,
    flags: AtomicUsize,
}

/// That of each signal.
pub(crate) static HANDLERS: [Handler; SIGNALS] = [const {
    Handler {
        function: AtomicUsize::new(0),
        flags: AtomicUsize::new(0),
    }
}; SIGNALS];

impl Handler {
    /// The address of its clock.
    pub(crate) fn clock(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The function, or 0, and the flags.
    pub(crate) fn get(&self) -> (usize, c_int) {
        // ORDERING: acquire, with the release in `set`.
        let function = self.function.load(Ordering::Acquire);
        // ORDERING: relaxed; set before the function.
        (function, self.flags.load(Ordering::Relaxed) as c_int)
    }

    /// Sets both.
    pub(crate) fn set(&self, function: usize, flags: c_int) {
        // ORDERING: relaxed; published by the function.
        self.flags.store(flags as usize, Ordering::Relaxed);
        // ORDERING: release, with the acquire in `get`.
        self.function.store(function, Ordering::Release);
    }
}

/// Whether the program has set a handler: it may run in any thread, at any time.
pub(crate) fn has_handlers() -> bool {
    HANDLERS.iter().any(|handler| handler.get().0 != 0)
}

/// The program calls, in a handler, what is not safe there.
#[cold]
pub(crate) fn called(operation: Operation) {
    if let Some(mut me) = thread::enter_if_attached() {
        called_by(&mut me, operation);
    }
}

/// The same.
#[cold]
pub(crate) fn called_by(me: &mut Entered, operation: Operation) {
    if callers::is_instrumented(me.caller) {
        let site = me.site();
        report(me, Misuse::SignalUnsafeCall, operation, site);
    }
}

/// A handler does what it must not.
pub(crate) fn report(me: &mut Entered, what: Misuse, operation: Operation, site: Site) {
    let finding = Finding::Misuse {
        what,
        address: 0,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), operation, site),
        earlier: None,
    };
    report::report(me, &finding);
}
