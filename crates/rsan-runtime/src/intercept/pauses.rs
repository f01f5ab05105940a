//! Sleeping, yielding, and the system's futexes. To the monitors they are nothing; to a schedule they say that others
//! should go on. A process that only finds something out ([`crate::probe`]) has nobody to wait for.

use crate::entry::interceptors;
use crate::probe;
use crate::sched::{self, waits};
use crate::{real, thread, tls};
use libc::{c_int, c_long, c_uint, clockid_t, timespec};
use std::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C-unwind" fn yield_posix() -> c_int {
    if sched::active() {
        sched::yielded();
        return 0;
    }
    if probe::pauses() {
        return 0;
    }
    // SAFETY: the program's call.
    unsafe { real::sched_yield() }
}

unsafe extern "C-unwind" fn yield_c11() {
    if sched::active() {
        return sched::yielded();
    }
    if probe::pauses() {
        return;
    }
    // SAFETY: the program's call.
    unsafe { real::thrd_yield() }
}

/// Functions that sleep: 0 is success for all of them.
macro_rules! sleeps {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)+) => {
        mod sleep {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> $result {
                if sched::active() {
                    crate::intercept::steady::sleep(NAP);
                    sched::slept();
                    sched::test_cancel();
                    return 0;
                }
                if probe::pauses() {
                    return 0;
                }
                let caller = tls::caller();
                // SAFETY: the program's call.
                let result = unsafe { real::$name($($arg),*) };
                tls::set_caller(caller);
                // SAFETY: this thread's own word.
                let errno = unsafe { *libc::__errno_location() };
                thread::slept();
                // SAFETY: this thread's own word.
                unsafe { *libc::__errno_location() = errno };
                result
            })+
        }
        interceptors! { $($name => sleep::$name;)+ }
    };
}

/// Nanoseconds that the clock goes on when somebody sleeps, however long.
const NAP: u64 = 1_000_000;

type Time = *const timespec;
type Left = *mut timespec;

sleeps! {
    nanosleep(time: Time, left: Left) -> c_int;
    clock_nanosleep(clock: clockid_t, flags: c_int, time: Time, left: Left) -> c_int;
    usleep(microseconds: c_uint) -> c_int;
    sleep(seconds: c_uint) -> c_uint;
    thrd_sleep(time: Time, left: Left) -> c_int;
}

/// What the system call says.
fn failed(error: c_int) -> c_long {
    // SAFETY: this thread's own word.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The threads that wait at a word are another object than the word: no address of memory.
fn queue(address: usize) -> usize {
    address | 1 << 63
}

/// A futex when threads are scheduled; `None`: an operation that is left to the system.
unsafe fn futex(address: usize, operation: usize, value: u32, timeout: usize) -> Option<c_long> {
    const COMMAND: c_int = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    match operation as c_int & COMMAND {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            // For somebody who is not private: they meet in code that the compiler has put elsewhere. Waiting in private, nobody else would run.
            thread::current().map(thread::Context::reveal);
            // SAFETY: the program's word. ORDERING: relaxed; one thread runs at a time.
            let word = unsafe { AtomicU32::from_ptr(address as *mut u32) };
            let found = || word.load(Ordering::Relaxed);
            let place = (queue(address), address);
            Some(match waits::futex(place, timeout != 0, value, found) {
                Some(true) => 0,
                Some(false) => failed(libc::ETIMEDOUT),
                None => failed(libc::EAGAIN),
            })
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            Some(waits::signal(queue(address), value as usize) as c_long)
        }
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            Some(waits::signal(queue(address), usize::MAX) as c_long)
        }
        _ => None,
    }
}

unsafe extern "C-unwind" fn system_call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    if sched::active() && number == libc::SYS_futex {
        // SAFETY: the program's call.
        if let Some(result) = unsafe { futex(a, b, c as u32, d) } {
            return result;
        }
    }
    // SAFETY: the program's call.
    unsafe { super::processes::system_call(number, [a, b, c, d, e, f]) }
}

interceptors! {
    sched_yield => yield_posix;
    pthread_yield => yield_posix;
    thrd_yield => yield_c11;
    syscall => system_call;
}
