//! The process that finds out: how it is made, kept from doing harm, and waited for.
//!
//! It is made by the bare system call, so no handler of `pthread_atfork` runs, and with no signal at its end, so
//! neither a handler of `SIGCHLD` nor a `wait` of the program sees it. Signals are blocked in it. Memory that it
//! shares with others is made read-only, and every system call but its own end is turned into a signal of its own:
//! sleeping and yielding return at once, everything else is an answer.

use super::answer::{Answer, Place};
use super::child;
use crate::finding::{Step, Unknown};
use crate::sched::reuse;
use crate::shadow;
use crate::system::{ALL_SIGNALS, GATE, SIGNAL_SET, gate_address, own_call};
use crate::tls;
use libc::{c_int, c_void, siginfo_t, sock_filter, ucontext_t};
use std::arch::naked_asm;

/// Processor time that a child may use, in seconds.
const PROCESSOR_SECONDS: i64 = 1;
/// Time that a child may take on a busy machine, in seconds.
const SECONDS: i64 = 30;

/// A child was made, or is running this.
pub(super) enum Fork {
    /// This is the child.
    Child,
    /// Its number.
    Parent(i32),
    /// There is none.
    Failed,
}

/// Makes a copy of the process with this thread only, and with the shadow of its memory if that is wanted.
pub(super) fn fork(shadow: bool) -> Fork {
    let blocked = block(ALL_SIGNALS);
    // The program's own fork takes the same lock, and its child gets everything.
    let alone = super::lock();
    alone.lock();
    if !shadow {
        shadow::inherit(false);
    }
    // SAFETY: a copy without shared memory, on a copy of this stack. The child goes on with what is said in `child`.
    let pid = unsafe { own_call(libc::SYS_clone, [0; 6]) };
    match pid {
        0 => {
            crate::shadow::plain::stop();
            Fork::Child
        }
        _ => {
            if !shadow {
                shadow::inherit(true);
            }
            alone.unlock();
            block(blocked);
            if pid > 0 {
                Fork::Parent(pid as i32)
            } else {
                Fork::Failed
            }
        }
    }
}

/// Sets the blocked signals; returns those of before. A process that makes many runs goes on handling those that it needs, and so does
/// its child.
fn block(set: u64) -> u64 {
    let set = set & !reuse::needed();
    let mut old = 0u64;
    let [set, place] = [&raw const set as usize, &raw mut old as usize];
    let arguments = [libc::SIG_SETMASK as usize, set, place, SIGNAL_SET, 0, 0];
    // SAFETY: both sets are valid.
    unsafe { own_call(libc::SYS_rt_sigprocmask, arguments) };
    old
}

/// Waits for a child's end. What it did not say itself is concluded from how it ended.
pub(super) fn wait(pid: i32, place: &Place) -> Answer {
    let mut status: c_int = 0;
    loop {
        let arguments = [
            pid as usize,
            &raw mut status as usize,
            libc::__WALL as usize,
            0,
            0,
            0,
        ];
        // SAFETY: the status is valid.
        let waited = unsafe { own_call(libc::SYS_wait4, arguments) };
        if waited != -(libc::EINTR as isize) {
            break;
        }
    }
    if let Some(answer) = place.get() {
        return answer;
    }
    if !libc::WIFSIGNALED(status) {
        return Answer::Passes(Step::End);
    }
    match libc::WTERMSIG(status) {
        libc::SIGALRM | libc::SIGPROF => Answer::Unknown(Unknown::TimeLimit),
        libc::SIGKILL => Answer::Unknown(Unknown::Killed),
        _ => Answer::Passes(Step::Crash),
    }
}

/// Ends the calling child.
pub(super) fn end() -> ! {
    loop {
        // SAFETY: ends the process without running anything of the program's.
        unsafe { own_call(libc::SYS_exit_group, [0; 6]) };
    }
}

/// Makes a child harmless. To be called in it, first of all. `apart`: handlers have a stack of their own, since the system cannot write to all of
/// the program's.
///
/// # Errors
/// Why the child must not go on.
pub(super) fn confine(apart: bool) -> Result<(), Unknown> {
    let call = |number, arguments: [usize; 4]| {
        let [a, b, c, d] = arguments;
        // SAFETY: settings of this process only; pointers among them are valid where they are made.
        unsafe { own_call(number, [a, b, c, d, 0, 0]) }
    };
    // A crash leaves no core file, and the end of the parent is that of the child.
    call(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 0, 0, 0]);
    let death = libc::PR_SET_PDEATHSIG as usize;
    call(libc::SYS_prctl, [death, libc::SIGKILL as usize, 0, 0]);
    handle_signals(apart);
    for (timer, seconds) in [
        (libc::ITIMER_PROF, PROCESSOR_SECONDS),
        (libc::ITIMER_REAL, SECONDS),
    ] {
        let limit = [0i64, 0, seconds, 0];
        call(
            libc::SYS_setitimer,
            [timer as usize, limit.as_ptr() as usize, 0, 0],
        );
    }
    let no_new = libc::PR_SET_NO_NEW_PRIVS as usize;
    call(libc::SYS_prctl, [no_new, 1, 0, 0]);
    let mut filter = filter();
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    let arguments = [
        libc::PR_SET_SECCOMP as usize,
        libc::SECCOMP_MODE_FILTER as usize,
        &raw const program as usize,
        0,
    ];
    match call(libc::SYS_prctl, arguments) {
        0 => Ok(()),
        _ => Err(Unknown::NoFilter),
    }
}

/// The kernel's form of a signal's handling.
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

const SA_RESTORER: u64 = 0x0400_0000;

fn handle_signals(apart: bool) {
    let stack = if apart { libc::SA_ONSTACK as u64 } else { 0 };
    let set = |signal: c_int, handler: usize| {
        let action = Action {
            handler,
            flags: libc::SA_SIGINFO as u64 | SA_RESTORER | stack,
            restorer: restore as *const () as usize,
            // A page may be touched for the first time there.
            mask: ALL_SIGNALS & !reuse::needed(),
        };
        let arguments = [
            signal as usize,
            &raw const action as usize,
            0,
            SIGNAL_SET,
            0,
            0,
        ];
        // SAFETY: the action is valid, and so are the functions in it.
        unsafe { own_call(libc::SYS_rt_sigaction, arguments) };
    };
    set(libc::SIGSYS, at_system_call as *const () as usize);
    let mut open = 1u64 << (libc::SIGSYS - 1) | reuse::needed();
    for limit in [libc::SIGALRM, libc::SIGPROF] {
        set(limit, libc::SIG_DFL);
        open |= 1 << (limit - 1);
    }
    block(ALL_SIGNALS & !open);
}

/// Where a signal handler returns to.
#[unsafe(naked)]
unsafe extern "C" fn restore() {
    naked_asm!("mov eax, 15", "syscall")
}

/// Where a `siginfo_t` of `SIGSYS` has the number of the system call.
const NUMBER_OFFSET: usize = 24;

/// The child is about to make a system call.
unsafe extern "C" fn at_system_call(_: c_int, info: *const siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own structures; a number is there for this signal.
    let (number, registers) = unsafe {
        let number = info.byte_add(NUMBER_OFFSET).cast::<c_int>().read();
        let context = &mut *context.cast::<ucontext_t>();
        (i64::from(number), &mut context.uc_mcontext.gregs)
    };
    let argument = |register: c_int| registers[register as usize];
    let pauses = match number {
        libc::SYS_sched_yield | libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Some(0),
        libc::SYS_select | libc::SYS_pselect6 if argument(libc::REG_RDI) == 0 => Some(0),
        libc::SYS_poll | libc::SYS_ppoll if argument(libc::REG_RSI) == 0 => Some(0),
        libc::SYS_futex if is_futex_wait(argument(libc::REG_RSI)) => Some(-i64::from(libc::EAGAIN)),
        _ => None,
    };
    match pauses {
        Some(result) => {
            child::pause();
            registers[libc::REG_RAX as usize] = result;
        }
        // The runtime itself asks for memory.
        None if tls::context_word() == tls::ABSENT => {
            child::conclude(Answer::Unknown(Unknown::NoMemory))
        }
        None => child::passes(Step::SystemCall),
    }
}

/// `FUTEX_WAIT` and `FUTEX_WAIT_BITSET`, whatever their flags.
fn is_futex_wait(operation: i64) -> bool {
    matches!(operation & 0x7f, 0 | 9)
}

/// Allows the child's end, the return from its handlers, and what the handler of pages does; traps everything else.
fn filter() -> [sock_filter; 11] {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let at_least = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let code = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    // Where the number of the call is for a filter, and the two halves of its place.
    let [number, low, high] = [0, 8, 12];
    let gate = gate_address();
    [
        code(load, 0, 0, number),
        code(equal, 8, 0, libc::SYS_exit_group as u32),
        code(equal, 7, 0, libc::SYS_rt_sigreturn as u32),
        code(equal, 0, 5, libc::SYS_mprotect as u32),
        code(load, 0, 0, high),
        code(equal, 0, 3, (gate >> 32) as u32),
        code(load, 0, 0, low),
        code(at_least, 0, 1, gate as u32),
        code(at_least, 0, 1, gate as u32 + GATE),
        code(give, 0, 0, libc::SECCOMP_RET_TRAP),
        code(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
