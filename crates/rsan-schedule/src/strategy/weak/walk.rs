//! Who runs next in [`super::WeakGuided`]: a random walk in which threads publish late.
//!
//! A data race needs two accesses without an order between them, and a bug in a lock or in a queue needs a thread that comes while
//! another is in the middle of something. Both end when the other thread releases what it has written. So a thread that has made plain writes
//! and is about to release them waits while others can go on. In a correct program that only means contention.
//!
//! Otherwise the same thread goes on two times of three, and else every one is as likely as the others: a thread makes a few steps in a row, as
//! it takes to write to one location and to read another one. A thread that yields waits until others have made a step or two. Now and
//! then all that is put aside, so that a loop that nobody recognises as one that waits ends.

use crate::strategy::Arrival;
use crate::{Candidate, Kind, Random, Step};
use rsan_model::{RmwOrd, ThreadId};

/// The walk.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    random: Random,
    /// By thread.
    threads: Vec<Thread>,
    /// Those of the threads that are ready, as indices, of which one is taken.
    best: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// It has written what it has not released.
    wrote: bool,
    /// Its next operation is an atomic write that releases.
    releases: bool,
    /// It has yielded, and lets others go on.
    yields: bool,
}

/// Of 100 steps, those of the same thread as the step before, besides those by chance.
const STAYS: usize = 65;
/// Of 100 steps of others, those after which a thread that yielded is as good as they are.
const RESTED: usize = 50;
/// Of 100 steps, those for which every thread is as good as the others.
const FREE: usize = 1;

impl Walk {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            threads: Vec::new(),
            best: Vec::new(),
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.index();
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Thread::default());
        }
        &mut self.threads[index]
    }

    /// How long a thread should wait, compared with others.
    fn rank(&mut self, candidate: &Candidate) -> u8 {
        let thread = *self.thread(candidate.thread);
        let releases = thread.releases || candidate.op.kind == Kind::Unlock;
        match thread {
            Thread { yields: true, .. } => 2,
            Thread { wrote: true, .. } if releases => 1,
            _ => 0,
        }
    }

    pub(super) fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> usize {
        let chosen = match ready.len() {
            1 => 0,
            n if self.random.chance(FREE) => self.random.below(n),
            _ => self.choose_best(ready, last),
        };
        let thread = ready[chosen].thread;
        for index in 0..self.threads.len() {
            if self.threads[index].yields && self.random.chance(RESTED) {
                self.threads[index].yields = false;
            }
        }
        let releases = ready[chosen].op.kind == Kind::Unlock;
        let state = self.thread(thread);
        state.yields = false;
        state.wrote &= !(state.releases || releases);
        chosen
    }

    fn choose_best(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> usize {
        let (mut best, mut lowest) = (std::mem::take(&mut self.best), u8::MAX);
        for (index, candidate) in ready.iter().enumerate() {
            let rank = self.rank(candidate);
            if rank < lowest {
                best.clear();
                lowest = rank;
            }
            if rank == lowest {
                best.push(index);
            }
        }
        let same = best.iter().find(|i| Some(ready[**i].thread) == last);
        let chosen = match same {
            Some(same) if self.random.chance(STAYS) => *same,
            _ => self.random.pick(&best),
        };
        self.best = best;
        chosen
    }

    pub(super) fn yielded(&mut self, thread: ThreadId) {
        self.thread(thread).yields = true;
    }

    pub(super) fn arrived(&mut self, arrival: Arrival) {
        let thread = self.thread(arrival.thread);
        thread.wrote |= arrival.wrote;
        thread.releases = arrival.releases;
    }

    /// A fence releases, too, and nobody is asked before it.
    pub(super) fn stepped(&mut self, step: &Step) {
        let releases = matches!(
            step.order,
            Some(RmwOrd::Release | RmwOrd::AcqRel | RmwOrd::SeqCst)
        );
        if step.op.kind == Kind::Fence && releases {
            self.thread(step.thread).wrote = false;
        }
    }
}
