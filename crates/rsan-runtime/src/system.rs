//! System calls that nothing intercepts, and that leave the thread's memory alone, `errno` included.

use libc::c_int;
use std::arch::{asm, naked_asm};
use std::sync::atomic::AtomicU32;

/// A system call; negative results are errors.
///
/// # Safety
/// As the system call.
pub(crate) unsafe fn system_call(number: i64, arguments: [usize; 6]) -> isize {
    let result;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the kernel's calling convention; the rest is the caller's promise.
    unsafe {
        asm!("syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    result
}

/// A system call of the runtime's own: no filter of `sched::reuse` stops it, and what it leaves behind is the caller's business. Negative
/// results are errors.
///
/// # Safety
/// As the system call.
pub(crate) unsafe fn own_call(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    // SAFETY: the caller's promise.
    unsafe { gate(number as usize, a, b, c, d, e, f) }
}

/// Where [`own_call`] makes its calls: within [`GATE`] bytes from here.
pub(crate) fn gate_address() -> u64 {
    gate as *const () as u64
}

/// Bytes of the gate's code, and a few more, in which there is no other call.
pub(crate) const GATE: u32 = 32;

/// The one place whose calls pass: filters know its address.
#[unsafe(naked)]
unsafe extern "C" fn gate(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> isize {
    naked_asm!(
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, [rsp + 8]",
        "syscall",
        "ret",
    )
}

/// Lets other kernel threads go on.
pub(crate) fn give_way() {
    // SAFETY: no arguments.
    unsafe { system_call(libc::SYS_sched_yield, [0; 6]) };
}

/// The number by which the system and libc know the calling thread.
pub(crate) fn thread_number() -> u32 {
    // SAFETY: no arguments.
    (unsafe { system_call(libc::SYS_gettid, [0; 6]) }) as u32
}

/// Sleeps for a few milliseconds.
pub(crate) fn nap() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 5_000_000,
    };
    // SAFETY: the time is valid; the rest is not wanted.
    unsafe {
        system_call(
            libc::SYS_nanosleep,
            [&raw const time as usize, 0, 0, 0, 0, 0],
        )
    };
}

/// Whether the calling thread is the process's first one.
pub(crate) fn is_main_thread() -> bool {
    // SAFETY: no arguments.
    let [thread, process] =
        [libc::SYS_gettid, libc::SYS_getpid].map(|call| unsafe { system_call(call, [0; 6]) });
    thread == process
}

/// Sleeps while a word has a value; may return early.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    futex(word, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value);
}

/// Wakes who sleeps at a word.
pub(crate) fn futex_wake(word: &AtomicU32) {
    futex(
        word,
        libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
        i32::MAX as u32,
    );
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let arguments = [
        word.as_ptr() as usize,
        operation as usize,
        value as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the word is valid; there is no timeout.
    unsafe { system_call(libc::SYS_futex, arguments) };
}

/// Runs something that must not change what the program sees in `errno`.
pub(crate) fn keeping_errno<R>(act: impl FnOnce() -> R) -> R {
    // SAFETY: this thread's own word.
    let errno = unsafe { *libc::__errno_location() };
    let result = act();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    result
}

/// Ends the process at once. `libc::_exit` would be our own interceptor.
pub(crate) fn end_process(status: c_int) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// How many bytes the kernel's set of signals has.
pub(crate) const SIGNAL_SET: usize = 8;
/// Every signal.
pub(crate) const ALL_SIGNALS: u64 = u64::MAX;

/// Sets the blocked signals; returns those of before.
pub(crate) fn block_signals(set: u64) -> u64 {
    let mut old = 0u64;
    let arguments = [
        libc::SIG_SETMASK as usize,
        &raw const set as usize,
        &raw mut old as usize,
        SIGNAL_SET,
        0,
        0,
    ];
    // SAFETY: both sets are valid.
    unsafe { system_call(libc::SYS_rt_sigprocmask, arguments) };
    old
}
