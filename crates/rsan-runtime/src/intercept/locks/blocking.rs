//! How functions wait when the schedule is the system's: what is free is taken at once, and whoever has to wait says so
//! ([`deadlock`]), unless there is a time limit.

use super::misuse;
use crate::deadlock::{self, Wait, waiting};
use crate::held::Mode;
use crate::intercept::cleanup;
use crate::thread::{Context, current, enter};
use libc::c_int;

/// C11's `thrd_busy`.
const C11_BUSY: c_int = 1;

/// Waits where the thread may be cancelled.
pub(crate) fn wait_or_leave(wait: Wait, call: impl FnOnce() -> c_int) -> c_int {
    let is_known = deadlock::begin(wait);
    let end = || {
        if is_known {
            deadlock::end();
        }
    };
    let result = cleanup::on_leaving(end, call);
    end();
    result
}

fn take_or_wait(
    (wait, busy): (Wait, c_int),
    attempt: impl Fn() -> c_int,
    again: impl FnOnce(),
    call: impl FnOnce() -> c_int,
) -> c_int {
    match attempt() {
        result if result == busy => {
            again();
            waiting(wait, call)
        }
        result => result,
    }
}

/// Waits for mutexes of which a thread tells others although it holds no other lock. Telling makes contention worse, and who
/// holds nothing is seldom part of a deadlock.
const TOLD: u32 = 100;

pub(super) fn mutex(
    object: usize,
    attempt: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let me = current().and_then(Context::idle);
    if me.is_none_or(|me| me.held.is_empty() && me.waits >= TOLD) {
        if !misuse::is_free(object) {
            misuse::lock_mutex_again(object);
        }
        return call();
    }
    let again = || {
        if let Some(mut me) = enter() {
            me.waits = me.waits.saturating_add(1);
        }
        misuse::lock_mutex_again(object);
    };
    take_or_wait((Wait::Mutex(object), libc::EBUSY), attempt, again, call)
}

pub(super) fn c11_mutex(
    object: usize,
    attempt: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let again = || misuse::lock_mutex_again(object);
    take_or_wait((Wait::Mutex(object), C11_BUSY), attempt, again, call)
}

pub(super) fn read(
    object: usize,
    attempt: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let wait = Wait::Rwlock(object, Mode::Read);
    take_or_wait((wait, libc::EBUSY), attempt, || {}, call)
}

pub(super) fn write(
    object: usize,
    attempt: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let wait = Wait::Rwlock(object, Mode::Write);
    let again = || misuse::lock_rwlock_again(object);
    take_or_wait((wait, libc::EBUSY), attempt, again, call)
}

pub(super) fn spin(
    object: usize,
    attempt: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let again = || misuse::lock_spin_again(object);
    take_or_wait((Wait::Spin(object), libc::EBUSY), attempt, again, call)
}

pub(super) fn sem_wait(
    object: usize,
    _: impl Fn() -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    match deadlock::semaphore_value(object) {
        0 => wait_or_leave(Wait::Semaphore(object), call),
        _ => call(),
    }
}

pub(super) fn condition((cond, mutex): (usize, usize), call: impl FnOnce() -> c_int) -> c_int {
    wait_or_leave(Wait::Condition(cond, mutex), call)
}

/// What does not wait, or not for ever.
macro_rules! at_once {
    ($($name:ident)+) => {
        $(pub(super) fn $name(_: usize, _: impl Fn() -> c_int, call: impl FnOnce() -> c_int) -> c_int {
            call()
        })+
    };
}

at_once! {
    try_mutex timed_mutex c11_timed_mutex
    try_read timed_read try_write timed_write try_spin
    unlock post sem_once sem_timed
}

pub(super) fn timed_condition(_: (usize, usize), call: impl FnOnce() -> c_int) -> c_int {
    call()
}

pub(super) fn c11_timed_condition(_: (usize, usize), call: impl FnOnce() -> c_int) -> c_int {
    call()
}
