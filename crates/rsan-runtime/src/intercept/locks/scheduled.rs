//! What takes the place of functions that wait when threads are scheduled: how each of them tries, and what it says
//! when it is busy or the time is over.

use crate::sched::waits::{self, Patience, acquire};
use libc::c_int;
use rsan_schedule::Kind;

/// C11's `thrd_busy` and `thrd_timedout`.
const C11_BUSY: c_int = 1;
const C11_TIMED_OUT: c_int = 4;

pub(super) fn lock(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    acquire(Kind::Lock, object, libc::EBUSY, Patience::Endless, attempt).unwrap_or(libc::ETIMEDOUT)
}

/// A mutex may know its owner, who is not to wait for itself.
pub(super) fn mutex(object: usize, mut attempt: impl FnMut() -> c_int) -> c_int {
    lock(object, || match attempt() {
        libc::EBUSY if super::is_checking(object) && waits::is_owner(object) => libc::EDEADLK,
        result => result,
    })
}

pub(super) fn timed(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    acquire(Kind::Lock, object, libc::EBUSY, Patience::Limited, attempt).unwrap_or(libc::ETIMEDOUT)
}

pub(super) fn c11_lock(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    acquire(Kind::Lock, object, C11_BUSY, Patience::Endless, attempt).unwrap_or(C11_TIMED_OUT)
}

pub(super) fn c11_timed(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    acquire(Kind::Lock, object, C11_BUSY, Patience::Limited, attempt).unwrap_or(C11_TIMED_OUT)
}

/// One attempt, whatever comes of it.
pub(super) fn once(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    waits::attempt(object, attempt)
}

pub(super) fn unlock(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    waits::release(Kind::Unlock, object, act)
}

pub(super) fn post(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    waits::release(Kind::Sync, object, act)
}

/// Semaphores say -1, and why in `errno`.
fn semaphore(object: usize, patience: Patience, mut attempt: impl FnMut() -> c_int) -> c_int {
    let attempt = || match attempt() {
        0 => 0,
        _ => libc::EBUSY,
    };
    match acquire(Kind::Sync, object, libc::EBUSY, patience, attempt) {
        Some(result) => result,
        None => {
            // SAFETY: this thread's own word.
            unsafe { *libc::__errno_location() = libc::ETIMEDOUT };
            -1
        }
    }
}

pub(super) fn sem_wait(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    semaphore(object, Patience::Endless, attempt)
}

pub(super) fn sem_timed(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    semaphore(object, Patience::Limited, attempt)
}

pub(super) fn sem_once(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    waits::attempt(object, attempt)
}

/// Waits for a condition, and then for the mutex.
fn wait(
    (cond, mutex): (usize, usize),
    patience: Patience,
    (busy, timed_out): (c_int, c_int),
    unlock: impl FnOnce() -> c_int,
    relock: impl FnMut() -> c_int,
) -> c_int {
    let signalled = waits::condition(cond, mutex, patience, unlock);
    let locked = acquire(Kind::Lock, mutex, busy, Patience::Endless, relock);
    if signalled {
        locked.unwrap_or(timed_out)
    } else {
        timed_out
    }
}

const POSIX: (c_int, c_int) = (libc::EBUSY, libc::ETIMEDOUT);

pub(super) fn condition(
    objects: (usize, usize),
    unlock: impl FnOnce() -> c_int,
    relock: impl FnMut() -> c_int,
) -> c_int {
    wait(objects, Patience::Endless, POSIX, unlock, relock)
}

pub(super) fn timed_condition(
    objects: (usize, usize),
    unlock: impl FnOnce() -> c_int,
    relock: impl FnMut() -> c_int,
) -> c_int {
    wait(objects, Patience::Limited, POSIX, unlock, relock)
}

pub(super) fn c11_timed_condition(
    objects: (usize, usize),
    unlock: impl FnOnce() -> c_int,
    relock: impl FnMut() -> c_int,
) -> c_int {
    let results = (C11_BUSY, C11_TIMED_OUT);
    wait(objects, Patience::Limited, results, unlock, relock)
}
