//! Signal handlers: setting one comes before its running, in whatever thread.
//!
//! In a handler of an *asynchronous* signal only few functions may be called (POSIX, 2.4.3), and `errno` has to be left as it was.
//! A signal is synchronous if it is a fault of the thread itself, if the thread sends it to itself by `raise` or `pthread_kill`, if it
//! comes while the thread changes its mask, or if it is let in only for the time of a call, as by `sigsuspend`: then the
//! program knows what is interrupted.
//!
//! What a handler does is seen as what the interrupted thread does. A signal that interrupts the runtime waits
//! (`deferred`), unless it stands for a fault: then its handler is only executed. The place of the interrupted call into the
//! runtime is kept.

use super::deferred;
use crate::entry::interceptors;
use crate::finding::{Misuse, Operation};
use crate::handler::{self, HANDLERS};
use crate::stack::{Node, Site};
use crate::thread;
use crate::{failing, ignoring, real, sync, tls};
use libc::{c_int, c_void, pthread_t, sighandler_t, sigset_t};

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
    let (function, flags) = handler.get();
    // SAFETY: this thread's own word.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: what the system passed.
    if unsafe { deferred::defers(signal, info, context) } {
        return;
    }
    if flags & libc::SA_RESETHAND != 0 && deferred::may_wait(signal) {
        reset(signal);
    }
    let caller = tls::caller();
    // SAFETY: what the kernel passes to a handler.
    let asynchronous = unsafe { is_asynchronous(signal, info, context) };
    sync::acquire(handler.clock());
    let handling = Handling::begin(asynchronous);
    let unsynced = ignoring::suspend();
    // SAFETY: this thread's own word.
    unsafe { *libc::__errno_location() = errno };
    // SAFETY: the program's handler; one that takes only the signal's number ignores the rest.
    unsafe { std::mem::transmute::<usize, Function>(function)(signal, info, context) };
    ignoring::resume(unsynced);
    if let Some(handling) = handling {
        drop(handling);
        check_errno(function, errno);
    }
    tls::set_caller(caller);
}

/// Signals that a thread gets for what it does itself, at once.
const FAULTS: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// The same, whoever is said to have sent them.
const OF_CALLS: [c_int; 3] = [libc::SIGABRT, libc::SIGPIPE, libc::SIGXFSZ];

/// In place of a signal: any.
const ANY: c_int = -1;

/// Whether a signal can come at any time.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn is_asynchronous(
    signal: c_int,
    info: *const libc::siginfo_t,
    context: *const c_void,
) -> bool {
    // SAFETY: the caller's promise.
    let (code, mask) = unsafe {
        let context = context.cast::<libc::ucontext_t>();
        ((*info).si_code, &raw const (*context).uc_sigmask)
    };
    let is_fault = FAULTS.contains(&signal) && code > 0 || OF_CALLS.contains(&signal);
    // SAFETY: the kernel's part of a set of signals.
    let blocked = unsafe { mask.cast::<u64>().read_unaligned() };
    let is_let_in = blocked >> (signal - 1) & 1 != 0;
    let raising = match thread::current() {
        Some(context) => context.idle().map_or(ANY, |me| me.raising),
        None => ANY,
    };
    let is_raised = raising == ANY || raising == signal;
    !is_fault && !is_let_in && !is_raised
}

/// The thread runs a handler of an asynchronous signal.
struct Handling;

impl Handling {
    fn begin(asynchronous: bool) -> Option<Self> {
        let me = asynchronous.then(thread::enter_if_attached)??;
        let mut me = me.options.signals.then_some(me)?;
        me.handling += 1;
        Some(Self)
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        if let Some(mut me) = thread::enter_if_attached() {
            me.handling = me.handling.saturating_sub(1);
        }
    }
}

/// The program leaves its handlers by a jump, or goes on elsewhere.
pub(super) fn leave() {
    if let Some(mut me) = thread::enter_if_attached() {
        me.handling = 0;
    }
}

/// The handler has returned.
fn check_errno(function: usize, before: c_int) {
    // SAFETY: this thread's own word.
    let after = unsafe { *libc::__errno_location() };
    if after == before {
        return;
    }
    if let Some(mut me) = thread::enter_if_attached() {
        let site = Site {
            node: Node::UNKNOWN,
            pc: function + 1,
        };
        handler::report(&mut me, Misuse::SignalErrno, Operation::ErrnoChange, site);
    }
    // SAFETY: this thread's own word.
    unsafe { *libc::__errno_location() = after };
}

/// Signals that come meanwhile are the thread's own doing.
fn raising<R>(signal: c_int, act: impl FnOnce() -> R) -> R {
    let set = |signal| {
        let me = thread::enter_if_attached();
        me.map(|mut me| std::mem::replace(&mut me.raising, signal))
    };
    let before = set(signal);
    let result = act();
    if let Some(before) = before {
        set(before);
    }
    result
}

unsafe extern "C-unwind" fn raise_here(signal: c_int) -> c_int {
    // SAFETY: the program's call.
    raising(signal, || unsafe { real::raise(signal) })
}

unsafe extern "C-unwind" fn send(thread: pthread_t, signal: c_int) -> c_int {
    // SAFETY: no arguments.
    let is_own = unsafe { libc::pthread_self() } == thread;
    // SAFETY: the program's call.
    let act = || unsafe { real::pthread_kill(thread, signal) };
    if is_own { raising(signal, act) } else { act() }
}

/// Signals that were blocked may come now.
unsafe extern "C-unwind" fn set_mask(
    how: c_int,
    set: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    // SAFETY: the program's call.
    raising(ANY, || unsafe { real::pthread_sigmask(how, set, old) })
}

unsafe extern "C-unwind" fn set_mask_of_process(
    how: c_int,
    set: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    // SAFETY: the program's call.
    raising(ANY, || unsafe { real::sigprocmask(how, set, old) })
}

/// What the system does when it calls a handler that is to be called once. It would count a signal that waits as handled.
fn reset(signal: c_int) {
    // SAFETY: all bytes zero is a valid value, and means what the signal does without a handler.
    let action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    // SAFETY: a valid action.
    unsafe { real::sigaction(signal, &raw const action, std::ptr::null_mut()) };
}

fn is_function(handler: sighandler_t) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN && handler != libc::SIG_ERR
}

pub(super) unsafe extern "C-unwind" fn set_action(
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
        if deferred::may_wait(signal) {
            ours.sa_flags &= !libc::SA_RESETHAND;
        }
        passed = &raw const ours;
    }
    // SAFETY: as above.
    if let Some(action) = unsafe { action.as_ref() }
        && action.sa_sigaction == libc::SIG_DFL
        && let Some(watched) = failing::action(signal)
    {
        ours = watched;
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
        const KEPT: c_int = libc::SA_SIGINFO | libc::SA_RESETHAND;
        old.sa_flags = old.sa_flags & !KEPT | before.1 & KEPT;
    }
    // SAFETY: as above.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == failing::handler()
    {
        // SAFETY: all zeroes is what a signal has that the program leaves alone.
        *old = unsafe { std::mem::zeroed() };
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

interceptors! {
    sigaction => set_action;
    signal => set_handler;
    raise => raise_here;
    pthread_kill => send;
    pthread_sigmask => set_mask;
    sigprocmask => set_mask_of_process;
}
