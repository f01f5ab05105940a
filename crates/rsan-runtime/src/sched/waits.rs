//! The program's operations that wait, when they are scheduled: they are tried, and whoever would have to wait is
//! blocked by the scheduler instead.

use super::{For, active, block, done, has_ended, number, point, wake};
use crate::lock::Lock;
use libc::c_int;
use rsan_model::ThreadId;
use rsan_schedule::Kind;
use std::collections::BTreeMap;

/// How long a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// Until it gets what it waits for.
    Endless,
    /// Until the time is over: when nobody else can go on.
    Limited,
    /// Not at all.
    None,
}

/// Who took a lock last, by its address.
static OWNERS: Lock<BTreeMap<usize, Option<ThreadId>>> = Lock::new(BTreeMap::new());

/// Whether the calling thread was the last to take a lock.
pub(crate) fn is_owner(lock: usize) -> bool {
    OWNERS.lock().get(&lock).copied().flatten() == number()
}

/// Tries until there is something else to say than `busy`; `None` if the time is over.
pub(crate) fn acquire(
    kind: Kind,
    object: usize,
    busy: c_int,
    patience: Patience,
    mut attempt: impl FnMut() -> c_int,
) -> Option<c_int> {
    point(kind, object, 0);
    loop {
        let result = attempt();
        done(|step| step.writes = result != busy);
        if result != busy {
            if kind == Kind::Lock && result == 0 {
                OWNERS.lock().insert(object, number());
            }
            return Some(result);
        }
        if !block(For::Object(object), patience == Patience::Limited) {
            return None;
        }
    }
}

/// Gives something back that others may wait for.
pub(crate) fn release(kind: Kind, object: usize, act: impl FnOnce() -> c_int) -> c_int {
    point(kind, object, 0);
    let result = act();
    done(|step| step.writes = true);
    wake(For::Object(object), usize::MAX);
    result
}

/// Waits for a signal of a condition; the mutex is given back by `unlock`. False: the time is over.
pub(crate) fn condition(
    cond: usize,
    mutex: usize,
    patience: Patience,
    unlock: impl FnOnce() -> c_int,
) -> bool {
    point(Kind::Sync, cond, 0);
    unlock();
    wake(For::Object(mutex), usize::MAX);
    block(For::Object(cond), patience == Patience::Limited)
}

/// Wakes who waits for a condition or a futex; returns how many.
pub(crate) fn signal(object: usize, at_most: usize) -> usize {
    if !active() {
        return 0;
    }
    point(Kind::Sync, object, 0);
    wake(For::Object(object), at_most)
}

/// One attempt to take something, whatever comes of it.
pub(crate) fn attempt(object: usize, attempt: impl FnOnce() -> c_int) -> c_int {
    point(Kind::Sync, object, 0);
    attempt()
}

/// Threads that have come to a barrier, by its address.
static ARRIVED: Lock<BTreeMap<usize, usize>> = Lock::new(BTreeMap::new());

/// Waits until so many threads have come to a barrier. True for the last of them.
pub(crate) fn barrier(barrier: usize, count: usize) -> bool {
    point(Kind::Sync, barrier, 0);
    let last = {
        let mut all = ARRIVED.lock();
        let arrived = all.entry(barrier).or_default();
        *arrived += 1;
        *arrived >= count
    };
    if last {
        ARRIVED.lock().remove(&barrier);
        wake(For::Object(barrier), usize::MAX);
    } else {
        block(For::Object(barrier), false);
    }
    last
}

/// Waits while somebody else is at something.
pub(crate) fn while_busy(object: usize, is_busy: impl Fn() -> bool) {
    point(Kind::Sync, object, 0);
    while is_busy() {
        block(For::Object(object), false);
    }
}

/// Waits for the end of a thread. False: the time is over.
pub(crate) fn join(thread: ThreadId, patience: Patience) -> bool {
    point(Kind::Join, thread.index(), 0);
    done(|step| step.child = thread);
    while !has_ended(thread) && patience != Patience::None {
        if !block(For::Thread(thread), patience == Patience::Limited) {
            return false;
        }
    }
    true
}

/// The locks of this module, for fork.
pub(crate) fn locks() -> [&'static crate::lock::RawLock; 2] {
    [ARRIVED.raw(), OWNERS.raw()]
}
