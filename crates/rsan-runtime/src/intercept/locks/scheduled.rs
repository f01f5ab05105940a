//! What takes the place of functions that wait when threads are scheduled: how each of them tries, and what it says
//! when it is busy or the time is over.

use crate::sched::waits::{self, Patience, Target, acquire};
use crate::sched::{Hold, Need};
use libc::c_int;
use rsan_schedule::Kind;

/// C11's `thrd_busy` and `thrd_timedout`.
const C11_BUSY: c_int = 1;
const C11_TIMED_OUT: c_int = 4;

fn exclusive(object: usize, busy: c_int) -> Target {
    let again = super::kind_of(object) != libc::PTHREAD_MUTEX_NORMAL;
    alone(object, again, busy)
}

/// Spin locks and locks for writing: their owner waits for itself.
fn simple(object: usize) -> Target {
    alone(object, false, libc::EBUSY)
}

/// What one thread holds at a time; `again`: its owner need not wait for itself.
fn alone(lock: usize, again: bool, busy: c_int) -> Target {
    Target {
        object: lock,
        kind: Kind::Lock,
        need: Need::Free { lock, again },
        hold: Some(Hold::Alone),
        busy,
    }
}

fn shared(object: usize) -> Target {
    Target {
        object,
        kind: Kind::Lock,
        need: Need::Unwritten(object),
        hold: Some(Hold::Shared),
        busy: libc::EBUSY,
    }
}

fn take(target: Target, patience: Patience, attempt: impl FnMut() -> c_int) -> c_int {
    let timed_out = match target.busy {
        C11_BUSY => C11_TIMED_OUT,
        _ => libc::ETIMEDOUT,
    };
    acquire(target, patience, attempt).unwrap_or(timed_out)
}

/// A mutex may know its owner, who is not to wait for itself.
pub(super) fn mutex(object: usize, mut attempt: impl FnMut() -> c_int) -> c_int {
    let target = exclusive(object, libc::EBUSY);
    take(target, Patience::Endless, || match attempt() {
        // It was chosen because it need not wait.
        libc::EBUSY if super::is_checking(object) => libc::EDEADLK,
        result => result,
    })
}

pub(super) fn timed_mutex(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(exclusive(object, libc::EBUSY), Patience::Limited, attempt)
}

pub(super) fn c11_mutex(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(exclusive(object, C11_BUSY), Patience::Endless, attempt)
}

pub(super) fn c11_timed_mutex(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(exclusive(object, C11_BUSY), Patience::Limited, attempt)
}

pub(super) fn read(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(shared(object), Patience::Endless, attempt)
}

pub(super) fn timed_read(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(shared(object), Patience::Limited, attempt)
}

pub(super) fn write(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(simple(object), Patience::Endless, attempt)
}

pub(super) fn timed_write(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    take(simple(object), Patience::Limited, attempt)
}

pub(super) fn try_mutex(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    waits::attempt(exclusive(object, libc::EBUSY), attempt)
}

pub(super) fn try_read(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    waits::attempt(shared(object), attempt)
}

pub(super) fn try_write(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    waits::attempt(simple(object), attempt)
}

pub(super) fn spin(object: usize, attempt: impl FnMut() -> c_int) -> c_int {
    write(object, attempt)
}

pub(super) fn try_spin(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    try_write(object, attempt)
}

pub(super) fn unlock(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    waits::release(object, act)
}

pub(super) fn post(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    waits::post(object, act)
}

fn count(object: usize) -> Target {
    Target {
        object,
        kind: Kind::Sync,
        need: Need::Count(object),
        hold: None,
        busy: libc::EBUSY,
    }
}

/// Semaphores say -1, and why in `errno`.
fn semaphore(object: usize, patience: Patience, mut attempt: impl FnMut() -> c_int) -> c_int {
    let attempt = || match attempt() {
        0 => 0,
        _ => libc::EBUSY,
    };
    match acquire(count(object), patience, attempt) {
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
    waits::attempt(count(object), attempt)
}

/// Waits for a condition, and then for the mutex.
fn wait(
    (cond, mutex): (usize, usize),
    patience: Patience,
    (busy, timed_out): (c_int, c_int),
    unlock: impl FnOnce() -> c_int,
    relock: impl FnMut() -> c_int,
) -> c_int {
    let signalled = waits::condition((cond, mutex), patience, unlock);
    let locked = acquire(exclusive(mutex, busy), Patience::Endless, relock);
    if signalled {
        locked.unwrap_or(timed_out)
    } else {
        timed_out
    }
}

/// Takes the mutex of a thread that is cancelled while it waits for a condition.
pub(super) fn regain(mutex: usize, attempt: impl Fn() -> c_int) {
    let relock = || match attempt() {
        0 => 0,
        _ => libc::EBUSY,
    };
    acquire(exclusive(mutex, libc::EBUSY), Patience::Endless, relock);
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
