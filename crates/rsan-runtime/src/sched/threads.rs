//! What is known of a thread, what it waits for, and the locks that threads have.

use super::spin;
use super::switch::{Carrier, Saved};
use crate::thread;
use rsan_model::ThreadId;
use rsan_schedule::{Local, Op, Step};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;

/// What a thread that does not run waits to be woken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum For {
    /// A barrier, a lock, something that another thread is at, by its address.
    Object(usize),
    /// A change of one of the atomic words that the thread has read, as [`spin`] keeps them.
    Words,
    /// Nothing in this run: its spin iteration failed, and the strategy wants no other one.
    Good,
    /// Nobody else can go on: it ends the process.
    End,
}

/// What has to be so before a thread can do what it is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// It can do it.
    Nothing,
    /// A lock is free; or the thread's own, if it may be taken again.
    Free {
        /// Its address.
        lock: usize,
        /// Whether its owner need not wait.
        again: bool,
    },
    /// A lock is not held by a writer.
    Unwritten(usize),
    /// A semaphore is not 0.
    Count(usize),
    /// A word has one of some values.
    Value {
        /// Its address.
        address: usize,
        /// Its size.
        bytes: usize,
        /// The values.
        values: Values,
    },
    /// A thread has ended.
    End(ThreadId),
    /// There is a signal that the thread can take.
    Signal(usize),
}

/// A few values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Values {
    pub(super) list: [u64; 8],
    count: usize,
}

impl Values {
    /// `None` if they are too many.
    pub(crate) fn new(values: impl Iterator<Item = u64>) -> Option<Self> {
        let (mut list, mut count) = ([0; 8], 0);
        for value in values {
            *list.get_mut(count)? = value;
            count += 1;
        }
        Some(Self { list, count })
    }

    pub(super) fn contains(&self, value: u64) -> bool {
        self.list[..self.count].contains(&value)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It can go on, when it has what it needs.
    Ready,
    /// It waits to be woken.
    Blocked(For),
    /// It is in a call that may wait for something outside the program.
    Outside,
    /// It has ended.
    Finished,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    /// By one thread, perhaps several times.
    Alone,
    /// By readers.
    Shared,
}

/// Who holds which locks, by their addresses.
#[derive(Debug, Default)]
pub(super) struct Locks(pub(super) BTreeMap<usize, Held>);

#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) owner: Option<usize>,
    /// How often the owner, or how many readers.
    pub(super) times: u32,
}

impl Locks {
    pub(super) fn take(&mut self, lock: usize, thread: usize, how: Hold) {
        let held = self.0.entry(lock).or_default();
        held.owner = (how == Hold::Alone).then_some(thread);
        held.times += 1;
    }

    pub(super) fn give(&mut self, lock: usize, thread: usize) {
        if let Some(held) = self.0.get_mut(&lock)
            && held.owner.is_none_or(|owner| owner == thread)
        {
            held.times -= 1;
            if held.times == 0 {
                self.0.remove(&lock);
            }
        }
    }
}

/// A thread of the program.
#[derive(Debug)]
pub(super) struct Thread {
    /// Where it goes on.
    pub(super) saved: Saved,
    /// 1: `saved` is complete. 0 while a kernel thread of its own has not left its stack yet.
    pub(super) settled: AtomicU32,
    /// The kernel thread that libc made for it.
    pub(super) carrier: Box<Carrier>,
    pub(super) status: Status,
    /// What it does next.
    pub(super) op: Op,
    /// What has to be so before.
    pub(super) need: Need,
    /// When it began to wait; who waits longest is woken first.
    pub(super) since: u64,
    /// It gives up waiting when nobody else can go on.
    pub(super) timed: bool,
    /// It has given up.
    pub(super) timed_out: bool,
    /// What it has read in a loop that may only wait.
    pub(super) spin: spin::Loop,
    /// Its last step, and where that is in the trace.
    pub(super) step: (usize, Step),
    /// The kernel thread that carries it while it is outside.
    pub(super) away: *const Carrier,
    /// Its record in the runtime, once it runs.
    pub(super) context: Option<&'static thread::Context>,
    /// Where the program called last.
    pub(super) pc: usize,
    /// Where its memory is, if that must not depend on the schedule ([`super::heap`]).
    pub(super) home: Option<usize>,
    /// Threads that it has created.
    pub(super) children: usize,
    /// Random numbers that it has drawn.
    pub(super) drawn: u64,
    /// Steps that it has made.
    pub(super) made: u32,
    /// Those of them by which it came to a meeting.
    pub(super) arrivals: u64,
    /// The scope of threads that it belongs to, and the one of the thread that it starts next; 0: none.
    pub(super) scope: usize,
    pub(super) opens: usize,
    /// What is known of it when it comes to its next step.
    pub(super) local: Local,
    /// In a weak run: it waits in a loop, and reads the last writes.
    pub(super) reads_last: bool,
}

impl Thread {
    /// Whether it waits in a loop.
    pub(super) fn spins(&self) -> bool {
        matches!(self.status, Status::Blocked(For::Words | For::Good))
    }

    /// Whether it would go round again in a loop, if the strategy wanted that, or need not be there: it has failed for no reason.
    pub(super) fn is_starved(&self) -> bool {
        let spin = &self.spin;
        self.status == Status::Blocked(For::Good)
            && (spin.has_changed() || spin.has_stale() || spin.has_failed())
    }
}
