//! Deadlocks of a run whose schedule is the system's: threads that wait for each other, or for nobody.
//!
//! **Decides** when a thread begins to wait without a time limit, or ends. A *cycle* of threads that wait for locks of each other, or for
//! each other's end, is a deadlock whatever other threads do. If *every* thread of the process waits, none of them can be woken, and
//! there is no other thread, that is one, too.
//!
//! Sound: a thread is in the table from before it blocks until it goes on, so what it holds stays held. Whether it could go on
//! is told by the words of libc's objects and by what was signalled since. Locks that processes share, and, except for cycles, programs
//! with signal handlers are not judged, for somebody else may wake them. Not complete: a thread that waits in something that is not
//! intercepted counts as one that runs, and so does one that holds no lock and waits for a mutex once more after many times.
//!
//! **Cost**: nothing for a lock that is free; one entry of a table for a wait. The system is asked for its threads only
//! when the table says that there is a deadlock.

mod objects;
mod tasks;

pub(crate) use objects::semaphore_value;

use crate::finding::{Operation, Waiting};
use crate::handler;
use crate::held::{Held, Mode};
use crate::lock::{Lock, RawLock};
use crate::report;
use crate::sched;
use crate::stack::Site;
use crate::thread::{self, enter};
use crate::{sync, system};
use rsan_model::ThreadId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// A mutex.
    Mutex(usize),
    /// A reader-writer lock.
    Rwlock(usize, Mode),
    /// A spin lock.
    Spin(usize),
    /// The end of a thread.
    Join(ThreadId),
    /// A signal of a condition variable; the mutex is given back meanwhile.
    Condition(usize, usize),
    /// A semaphore.
    Semaphore(usize),
    /// So many threads to have come to a barrier in all.
    Barrier(usize, usize),
}

impl Wait {
    fn object(self) -> Option<usize> {
        match self {
            Self::Join(_) => None,
            Self::Mutex(object)
            | Self::Rwlock(object, _)
            | Self::Spin(object)
            | Self::Condition(object, _)
            | Self::Semaphore(object)
            | Self::Barrier(object, _) => Some(object),
        }
    }

    /// How the lock is to be held, if it is one.
    fn mode(self) -> Option<Mode> {
        match self {
            Self::Mutex(_) | Self::Spin(_) => Some(Mode::Write),
            Self::Rwlock(_, mode) => Some(mode),
            Self::Join(_) | Self::Condition(..) | Self::Semaphore(_) | Self::Barrier(..) => None,
        }
    }

    fn operation(self) -> Operation {
        match self {
            Self::Mutex(_) | Self::Rwlock(_, Mode::Write) | Self::Spin(_) => Operation::Lock,
            Self::Rwlock(_, Mode::Read) => Operation::ReadLock,
            Self::Join(_) => Operation::Join,
            Self::Condition(..) => Operation::ConditionWait,
            Self::Semaphore(_) => Operation::SemaphoreWait,
            Self::Barrier(..) => Operation::BarrierWait,
        }
    }
}

/// A thread that waits.
#[derive(Debug)]
struct Blocked {
    wait: Wait,
    held: Vec<Held>,
    /// What the system and libc call it.
    number: u32,
    site: Site,
    /// Its condition was signalled since it waits.
    signalled: bool,
}

type Table = BTreeMap<ThreadId, Blocked>;

static TABLE: Lock<Table> = Lock::new(BTreeMap::new());
/// How many threads wait for condition variables; without any nobody need be told of signals.
static CONDITIONS: AtomicUsize = AtomicUsize::new(0);

/// The lock of this module, for fork. Locks of locations, contexts and the allocator are taken under it.
pub(crate) fn lock() -> &'static RawLock {
    TABLE.raw()
}

/// In the child of a fork: the other threads are not there.
pub(crate) fn reset() {
    TABLE.lock().clear();
    // ORDERING: relaxed; there is one thread.
    CONDITIONS.store(0, Ordering::Relaxed);
    if let Some(mut me) = enter() {
        me.number = 0;
    }
}

/// Runs `act`, which waits without a time limit.
pub(crate) fn waiting<R>(wait: Wait, act: impl FnOnce() -> R) -> R {
    let is_known = begin(wait);
    let result = act();
    if is_known {
        end();
    }
    result
}

/// The calling thread is about to wait. Ends the process if that is a deadlock.
pub(crate) fn begin(wait: Wait) -> bool {
    if sched::active() {
        return false;
    }
    let live = thread::live();
    let me = {
        let Some(mut me) = enter().filter(|me| me.options.deadlocks) else {
            return false;
        };
        let id = me.state.id();
        let blocked = Blocked {
            wait,
            held: me.held.iter().copied().collect(),
            number: me.own_number(),
            site: me.site(),
            signalled: false,
        };
        if matches!(wait, Wait::Condition(..)) {
            // ORDERING: relaxed; whoever wakes this thread has seen it wait, which comes later.
            CONDITIONS.fetch_add(1, Ordering::Relaxed);
        }
        let mut table = TABLE.lock();
        table.insert(id, blocked);
        if let Some(cycle) = cycle(&table, id) {
            finish(&table, Some(&cycle));
        }
        if table.len() < live {
            return true;
        }
        id
    };
    look(Some(me));
    true
}

/// The calling thread goes on.
pub(crate) fn end() {
    let Some(me) = enter() else {
        return;
    };
    let ended = TABLE.lock().remove(&me.state.id());
    if ended.is_some_and(|blocked| matches!(blocked.wait, Wait::Condition(..))) {
        // ORDERING: relaxed; a number that is only compared with 0.
        CONDITIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The calling thread has ended: perhaps nobody is left who can go on.
pub(crate) fn thread_ended() {
    if !sched::active() && TABLE.lock().len() >= thread::live().max(1) {
        look(None);
    }
}

/// A condition variable was signalled: those who wait for it may go on. Told afterwards, by a thread that is not in the table,
/// so that nobody takes them for blocked meanwhile.
pub(crate) fn signalled(condition: usize) {
    // ORDERING: relaxed; see `begin`.
    if CONDITIONS.load(Ordering::Relaxed) == 0 {
        return;
    }
    let _me = enter();
    for blocked in TABLE.lock().values_mut() {
        if matches!(blocked.wait, Wait::Condition(at, _) if at == condition) {
            blocked.signalled = true;
        }
    }
}

/// A thread that waits for a condition variable that was not signalled since, and where.
pub(crate) fn who_waits_for(condition: usize) -> Option<(ThreadId, Site)> {
    let _me = enter();
    let table = TABLE.lock();
    let mut waiting = table.iter().filter(|(_, blocked)| !blocked.signalled);
    let waits = waiting
        .find(|(_, blocked)| matches!(blocked.wait, Wait::Condition(at, _) if at == condition));
    waits.map(|(id, blocked)| (*id, blocked.site))
}

/// Who has what a thread waits for, and waits as well.
fn who_blocks<'a>(
    table: &'a Table,
    (id, blocked): (ThreadId, &Blocked),
) -> impl Iterator<Item = ThreadId> + 'a {
    let (wait, number) = (blocked.wait, blocked.number);
    table
        .iter()
        .filter(move |(other, blocker)| match wait {
            Wait::Join(thread) => **other == thread,
            Wait::Mutex(lock) => {
                objects::owner(lock) == blocker.number && !blocker.gives_back(lock) && **other != id
            }
            Wait::Rwlock(lock, mode) => {
                let is_held = blocker.has(lock, mode);
                is_held && **other != id && objects::is_rwlock_taken(lock, mode, number)
            }
            Wait::Spin(lock) => **other != id && blocker.has(lock, Mode::Write),
            Wait::Condition(..) | Wait::Semaphore(_) | Wait::Barrier(..) => false,
        })
        .map(|(other, _)| *other)
}

impl Blocked {
    /// Whether the thread has a lock that another one wants.
    fn has(&self, lock: usize, wanted: Mode) -> bool {
        let excludes = |held: &&Held| held.lock == lock && held.mode.excludes(wanted);
        self.held.iter().any(|held| excludes(&held))
    }

    /// Whether its wait is about to give a mutex back.
    fn gives_back(&self, mutex: usize) -> bool {
        matches!(self.wait, Wait::Condition(_, own) if own == mutex)
    }

    /// Whether the wait can come to its end while all other threads wait, too.
    fn can_go_on(&self, table: &Table, id: ThreadId) -> bool {
        match self.wait {
            Wait::Mutex(lock) => {
                let owner = objects::owner(lock);
                let gives_back =
                    |blocked: &Blocked| blocked.number == owner && blocked.gives_back(lock);
                owner == self.number
                    || !objects::is_mutex_for_good(lock)
                    || table.values().any(gives_back)
            }
            Wait::Rwlock(..) | Wait::Spin(_) => who_blocks(table, (id, self)).next().is_none(),
            Wait::Join(thread) => !table.contains_key(&thread),
            Wait::Condition(..) => self.signalled,
            Wait::Semaphore(semaphore) => objects::semaphore_value(semaphore) != 0,
            Wait::Barrier(barrier, until) => sync::came(barrier).is_none_or(|came| came >= until),
        }
    }
}

/// The threads that wait for each other, from this one on.
fn cycle(table: &Table, start: ThreadId) -> Option<Vec<ThreadId>> {
    fn go_on(table: &Table, way: &mut Vec<ThreadId>, start: ThreadId) -> bool {
        let Some(at) = way.last().copied() else {
            return false;
        };
        let Some(blocked) = table
            .get(&at)
            .filter(|blocked| objects::is_private(blocked.wait))
        else {
            return false;
        };
        for next in who_blocks(table, (at, blocked)) {
            if next == start {
                return true;
            }
            if !way.contains(&next) {
                way.push(next);
                if go_on(table, way, start) {
                    return true;
                }
                way.pop();
            }
        }
        false
    }
    let mut way = vec![start];
    go_on(table, &mut way, start).then_some(way)
}

/// Whether every thread waits for ever, as far as the table tells.
fn is_stuck(table: &Table, me: Option<ThreadId>) -> bool {
    let is_here = me.is_none_or(|me| table.contains_key(&me));
    let stuck = |(id, blocked): (&ThreadId, &Blocked)| {
        objects::is_private(blocked.wait) && !blocked.can_go_on(table, *id)
    };
    is_here && !table.is_empty() && table.iter().all(stuck)
}

/// Looks whether every thread waits for ever, and ends the process then. Others may be on their way into their waits, or out of
/// them, so it looks again until that is clear.
#[cold]
fn look(me: Option<ThreadId>) {
    if handler::has_handlers() {
        return;
    }
    loop {
        let live = thread::live();
        let Some(_me) = me.map_or(Some(None), |_| enter().map(Some)) else {
            return;
        };
        let table = TABLE.lock();
        if table.len() < live || !is_stuck(&table, me) {
            return;
        }
        let others = table
            .values()
            .filter(|blocked| !matches!(blocked.wait, Wait::Spin(_)));
        let others: Vec<u32> = others.map(|blocked| blocked.number).collect();
        match tasks::look(&others, table.len()) {
            tasks::Seen::AllSleep => finish(&table, None),
            tasks::Seen::Others => return,
            tasks::Seen::SomeRun => {}
        }
        drop(table);
        drop(_me);
        system::nap();
    }
}

/// Reports those who wait for ever, and ends the process; returns if the report is suppressed.
fn finish(table: &Table, cycle: Option<&[ThreadId]>) {
    let waiting = |(id, blocked): (&ThreadId, &Blocked)| Waiting {
        thread: *id,
        operation: blocked.wait.operation(),
        address: blocked.wait.object(),
        joins: match blocked.wait {
            Wait::Join(thread) => Some(thread),
            _ => None,
        },
        held_by: blocked
            .wait
            .mode()
            .and_then(|_| who_blocks(table, (*id, blocked)).next()),
        holds: blocked
            .held
            .iter()
            .map(|held| (held.lock, held.mode, held.pc))
            .collect(),
        site: blocked.site,
    };
    let threads: Vec<Waiting> = match cycle {
        Some(cycle) => cycle
            .iter()
            .filter_map(|id| table.get_key_value(id))
            .map(waiting)
            .collect(),
        None => table.iter().map(waiting).collect(),
    };
    if report::deadlock(&threads, cycle.is_some()) {
        crate::system::end_process(crate::options::deadlock_status());
    }
}

#[cfg(test)]
mod tests;
