//! The program's operations that wait, when they are scheduled: a thread is not chosen before it need not wait, as far
//! as the scheduler knows. What it does not know is tried, and whoever would have to wait is blocked.

use super::state::{For, Hold, Need};
use super::{active, block, done, gave, op, point, point_when, took, wake, with_queues};
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

/// Something to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Its address.
    pub(crate) object: usize,
    /// What taking it is called.
    pub(crate) kind: Kind,
    /// When that need not wait.
    pub(crate) need: Need,
    /// How it is held afterwards, if it is a lock.
    pub(crate) hold: Option<Hold>,
    /// What an attempt says that would have to wait.
    pub(crate) busy: c_int,
}

/// Tries until there is something else to say than `busy`; `None` if the time is over.
pub(crate) fn acquire(
    target: Target,
    patience: Patience,
    mut attempt: impl FnMut() -> c_int,
) -> Option<c_int> {
    let limited = patience == Patience::Limited;
    let first = op(target.kind, target.object, 0);
    let mut in_time = point_when(first, target.need, limited);
    loop {
        let result = attempt();
        done(|step| step.writes = result != target.busy);
        if result != target.busy {
            note(&target, result);
            return Some(result);
        }
        if !in_time {
            return None;
        }
        in_time = block(For::Object(target.object), limited);
    }
}

/// One attempt to take something, whatever comes of it.
pub(crate) fn attempt(target: Target, attempt: impl FnOnce() -> c_int) -> c_int {
    point(Kind::Sync, target.object, 0);
    let result = attempt();
    note(&target, result);
    result
}

/// Remembers who holds a lock.
fn note(target: &Target, result: c_int) {
    if let Some(hold) = target.hold
        && (result == 0 || result == libc::EOWNERDEAD)
    {
        took(target.object, hold);
    }
}

/// Gives a lock back.
pub(crate) fn release(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    point(Kind::Unlock, object, 0);
    let result = act();
    if result == 0 {
        gave(object);
    }
    result
}

/// Adds to a semaphore.
pub(crate) fn post(object: usize, act: impl FnOnce() -> c_int) -> c_int {
    point(Kind::Sync, object, 0);
    let result = act();
    wake(For::Object(object));
    result
}

/// Waits for a signal of a condition; the mutex is given back by `unlock`. False: the time is over.
pub(crate) fn condition(
    (cond, mutex): (usize, usize),
    patience: Patience,
    unlock: impl FnOnce() -> c_int,
) -> bool {
    enter(cond);
    release(mutex, unlock);
    signalled(cond, patience == Patience::Limited)
}

/// Waits at a futex, unless something else than expected is found in its word (`None`). False: the time is over.
pub(crate) fn futex(
    (queue, word): (usize, usize),
    limited: bool,
    expected: u32,
    found: impl FnOnce() -> u32,
) -> Option<bool> {
    enter(queue);
    point(Kind::Load, word, size_of::<u32>());
    let found = found();
    done(|step| step.read = found.into());
    if found == expected {
        return Some(signalled(queue, limited));
    }
    with_queues(|queues, me| queues.leave(queue, me, false));
    None
}

/// The calling thread is one of those who wait, for whoever signals from now on.
fn enter(queue: usize) {
    point(Kind::Sync, queue, 0);
    with_queues(|queues, me| queues.enter(queue, me));
}

/// Waits for a signal. False: the time is over.
fn signalled(queue: usize, limited: bool) -> bool {
    point_when(op(Kind::Sync, queue, 0), Need::Signal(queue), limited)
}

/// Signals to at most so many of those who wait for a condition or at a futex; returns to how many.
pub(crate) fn signal(queue: usize, at_most: usize) -> usize {
    if !active() {
        return 0;
    }
    point(Kind::Sync, queue, 0);
    with_queues(|queues, _| queues.signal(queue, at_most)).unwrap_or(0)
}

/// Threads that have come to a barrier, by its address.
static ARRIVED: Lock<BTreeMap<usize, usize>> = Lock::new(BTreeMap::new());

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    ARRIVED.raw()
}

/// Waits until so many threads have come to a barrier. True for the last of them; `None` if it is for no thread.
pub(crate) fn barrier(barrier: usize, count: impl FnOnce() -> usize) -> Option<bool> {
    point(Kind::Sync, barrier, 0);
    let count = count();
    if count == 0 {
        return None;
    }
    let last = {
        let mut all = ARRIVED.lock();
        let arrived = all.entry(barrier).or_default();
        *arrived += 1;
        *arrived >= count
    };
    if last {
        ARRIVED.lock().remove(&barrier);
        wake(For::Object(barrier));
    } else {
        block(For::Object(barrier), false);
    }
    Some(last)
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
    let need = match patience {
        Patience::None => Need::Nothing,
        Patience::Endless | Patience::Limited => Need::End(thread),
    };
    let limited = patience == Patience::Limited;
    let in_time = point_when(op(Kind::Join, thread.index(), 0), need, limited);
    done(|step| step.child = thread);
    if in_time && patience != Patience::None {
        super::joined();
    }
    in_time
}
