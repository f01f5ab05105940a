//! Signals that interrupt the runtime wait until the thread leaves it.
//!
//! A handler may leave by `siglongjmp`. If it interrupted the runtime, a lock would stay locked, and a record half written. So
//! the signal is sent to the thread again, blocked: with the mask that the interrupted code comes back to, every signal waits
//! that can. When the thread leaves the runtime it restores the mask ([`crate::thread::Entered`]), and the system delivers the
//! signal there, with the handler's own mask and stack. The program never blocks inside the runtime, so no call of it that
//! a signal should interrupt goes on because of this.
//!
//! A signal that stands for a fault of the interrupted instruction cannot wait; its handler runs at once, and is not seen. If it
//! leaves the runtime by a jump, the thread is outside from then on, and the location that it was about to access stays locked.
//!
//! Under controlled scheduling a thread is inside while it waits for its turn; handlers run at once there.
//!
//! **Cost**: a flag beside the one that is written anyway when a thread leaves the runtime.

use crate::sched;
use crate::system::system_call;
use crate::thread::{Context, current};
use libc::{c_int, c_void, siginfo_t, ucontext_t};

/// Signals of faults, and those that end the process.
const AT_ONCE: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
];

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// The signals that may wait, as the kernel's set.
fn those_that_wait() -> u64 {
    let unlike = AT_ONCE.iter().fold(0, |set, signal| set | bit(*signal));
    // libc's own: cancellation, and `setuid` in all threads.
    !unlike & !bit(32) & !bit(33)
}

/// Whether a signal may wait.
pub(super) fn may_wait(signal: c_int) -> bool {
    !AT_ONCE.contains(&signal)
}

/// A handler was called: true if it is to be called later.
///
/// # Safety
/// What the system passes to a handler.
pub(super) unsafe fn defers(signal: c_int, info: *mut siginfo_t, interrupted: *mut c_void) -> bool {
    let Some(context) = current().filter(|context| context.is_busy()) else {
        return false;
    };
    // SAFETY: the caller's promise.
    let Some(interrupted) = (unsafe { interrupted.cast::<ucontext_t>().as_mut() }) else {
        return false;
    };
    if sched::active() || !may_wait(signal) {
        let pointer = interrupted.uc_mcontext.gregs[libc::REG_RSP as usize];
        context.set_interrupted(pointer as usize);
        return false;
    }
    if !send_again(signal, info) {
        return false;
    }
    // The kernel's set is the first word of libc's.
    let mask = (&raw mut interrupted.uc_sigmask).cast::<u64>();
    // SAFETY: what the interrupted code goes on with.
    unsafe {
        context.defer(*mask);
        *mask |= those_that_wait();
    }
    true
}

/// Sends a signal to the calling thread, which has it blocked while it handles it, or has it handled twice.
fn send_again(signal: c_int, info: *mut siginfo_t) -> bool {
    // SAFETY: plain questions, and what the system itself said of the signal.
    unsafe {
        let process = system_call(libc::SYS_getpid, [0; 6]) as usize;
        let thread = system_call(libc::SYS_gettid, [0; 6]) as usize;
        // With SA_NODEFER it would be delivered here.
        let mut old = 0u64;
        let set = bit(signal);
        let block = [
            libc::SIG_BLOCK as usize,
            &raw const set as usize,
            &raw mut old as usize,
            crate::system::SIGNAL_SET,
            0,
            0,
        ];
        system_call(libc::SYS_rt_sigprocmask, block);
        let arguments = [process, thread, signal as usize, info as usize, 0, 0];
        system_call(libc::SYS_rt_tgsigqueueinfo, arguments) == 0
    }
}

/// A jump goes to where the stack pointer was `target`: if that leaves the runtime, the thread is outside.
pub(super) fn jumps(context: &'static Context, target: usize) {
    let Some(interrupted) = context.interrupted() else {
        return;
    };
    let mut stack = libc::stack_t {
        ss_sp: std::ptr::null_mut(),
        ss_flags: 0,
        ss_size: 0,
    };
    // SAFETY: asks for the stack that handlers use.
    unsafe { libc::sigaltstack(std::ptr::null(), &raw mut stack) };
    let bottom = stack.ss_sp as usize;
    let within_handler = (bottom..bottom + stack.ss_size).contains(&target);
    if target > interrupted && !within_handler {
        context.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::enter;
    use std::sync::atomic::{AtomicU32, Ordering};

    static CALLS: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C-unwind" fn count(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: what the system passes.
        let value = unsafe { (*info).si_value().sival_ptr as usize };
        // ORDERING: relaxed; one thread.
        CALLS.fetch_add(1 + value as u32, Ordering::Relaxed);
    }

    fn calls() -> u32 {
        // ORDERING: relaxed; one thread.
        CALLS.load(Ordering::Relaxed)
    }

    #[test]
    fn a_signal_waits_until_the_thread_leaves_the_runtime() {
        let signal = libc::SIGRTMIN() + 3;
        // SAFETY: a handler of the right type; all other bytes zero are valid.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            action.sa_sigaction = count as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            let set = super::super::signals::set_action;
            assert_eq!(set(signal, &raw const action, std::ptr::null_mut()), 0);
        }
        let raise = |value: usize| {
            let value = libc::sigval {
                sival_ptr: value as *mut c_void,
            };
            // SAFETY: a signal to the calling thread.
            let sent = unsafe { libc::pthread_sigqueue(libc::pthread_self(), signal, value) };
            assert_eq!(sent, 0);
        };
        raise(0);
        assert_eq!(calls(), 1);
        let me = enter().expect("the thread is outside");
        raise(10);
        raise(100);
        assert_eq!(calls(), 1);
        drop(me);
        assert_eq!(calls(), 1 + 11 + 101);
        raise(0);
        assert_eq!(calls(), 1 + 11 + 101 + 1);
    }
}
