//! Signal handlers: setting one comes before its running, in whatever thread.
//!
//! What a handler does is seen as what the interrupted thread does, unless it interrupts the runtime: then it is only
//! executed. The place of the interrupted call into the runtime is kept.

use crate::{entries, real, sync, tls};
use libc::{c_int, c_void, sighandler_t};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Signals are numbered from 1.
const SIGNALS: usize = 65;

/// The program's handler of a signal; its address is also that of a clock.
struct Handler {
    function: AtomicUsize,
    flags: AtomicUsize,
}

static HANDLERS: [Handler; SIGNALS] = [const {
    Handler {
        function: AtomicUsize::new(0),
        flags: AtomicUsize::new(0),
    }
}; SIGNALS];

impl Handler {
    fn clock(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    fn get(&self) -> (usize, c_int) {
        // ORDERING: acquire, with the release in `set`.
        let function = self.function.load(Ordering::Acquire);
        // ORDERING: relaxed; set before the function.
        (function, self.flags.load(Ordering::Relaxed) as c_int)
    }

    fn set(&self, function: usize, flags: c_int) {
        // ORDERING: relaxed; published by the function.
        self.flags.store(flags as usize, Ordering::Relaxed);
        // ORDERING: release, with the acquire in `get`.
        self.function.store(function, Ordering::Release);
    }
}

type Function = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// In the place of every handler of the program.
unsafe extern "C-unwind" fn handle(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    let Some(handler) = HANDLERS.get(signal as usize) else {
        return;
    };
    let (function, _) = handler.get();
    // SAFETY: this thread's own word.
    let errno = unsafe { *libc::__errno_location() };
    let caller = tls::caller();
    sync::acquire(handler.clock());
    // SAFETY: this thread's own word.
    unsafe { *libc::__errno_location() = errno };
    // SAFETY: the program's handler; one that takes only the signal's number ignores the rest.
    unsafe { std::mem::transmute::<usize, Function>(function)(signal, info, context) };
    tls::set_caller(caller);
}

/// Whether the program has set a handler: it may run in any thread, at any time.
pub(crate) fn has_handlers() -> bool {
    HANDLERS.iter().any(|handler| handler.get().0 != 0)
}

fn is_function(handler: sighandler_t) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN && handler != libc::SIG_ERR
}

unsafe extern "C-unwind" fn set_action(
    signal: c_int,
    action: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let Some(handler) = HANDLERS.get(signal as usize) else {
        // SAFETY: the program's call.
        return unsafe { real::sigaction(signal, action, old) };
    };
    let before = handler.get();
    let mut ours;
    let mut passed = action;
    // SAFETY: the program's action, if there is one.
    if let Some(action) = unsafe { action.as_ref() }
        && is_function(action.sa_sigaction)
    {
        sync::release(handler.clock());
        handler.set(action.sa_sigaction, action.sa_flags);
        ours = *action;
        ours.sa_sigaction = handle as *const () as sighandler_t;
        ours.sa_flags |= libc::SA_SIGINFO;
        passed = &raw const ours;
    }
    // SAFETY: the program's call.
    let result = unsafe { real::sigaction(signal, passed, old) };
    if result != 0 {
        handler.set(before.0, before.1);
    }
    // SAFETY: the program's place for the old action, filled in.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == handle as *const () as sighandler_t
    {
        old.sa_sigaction = before.0;
        old.sa_flags = old.sa_flags & !libc::SA_SIGINFO | before.1 & libc::SA_SIGINFO;
    }
    result
}

/// As glibc does it: interrupted calls go on, and the signal is blocked meanwhile.
unsafe extern "C-unwind" fn set_handler(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: all bytes zero is a valid value.
    let (mut action, mut old) = unsafe { std::mem::zeroed::<(libc::sigaction, libc::sigaction)>() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the program's call; the structures are ours.
    unsafe {
        libc::sigaddset(&raw mut action.sa_mask, signal);
        match set_action(signal, &raw const action, &raw mut old) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

entries! {
    sigaction => set_action;
    signal => set_handler;
}
