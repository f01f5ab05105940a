//! `pctwm`: probabilistic concurrency testing for weak memory (Gao, Chakraborty and Ozkan, ASPLOS 2023).
//!
//! A bug is a set of `d` communications: reads that take a write which the reading thread does not know yet. Threads have random
//! priorities, and the highest that is ready runs. `d` of the reads of a run are drawn: a thread that comes to one of them drops below all others, so
//! that these write what there is to read, and then it takes one of the last `h` writes. Every other read takes the newest write
//! that its thread knows.
//!
//! **Guarantee.** A bug of depth `d`, whose communications reach back at most `h` writes, is found if the right reads are drawn, in the right order, and
//! each takes the right write: that is their theorem. In a program with `k` reads there are at most `k^d` such draws and `h^d` such choices, all
//! equally likely, so one run finds it with probability at least `1 / (k h)^d`, whatever the number of threads and of other events.
//!
//! # Deviations
//! 1. A thread that spins must see newer values in the end: after failed spin iterations the runtime makes it read the last write, and
//!    a thread that yields drops below all others. The guarantee is for runs without.
//! 2. `k` is an estimate, that of the steps with a choice. It holds with the estimate in place of `k` when that is not too low.
//! 3. What a thread knows may be a constraint on the order of writes, and none of those that it may read; then it reads the oldest.
//! 4. Threads get their priorities when they are first seen.

use crate::strategy::{Readable, Reading, Strategy};
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// Probabilistic concurrency testing for weak memory.
#[derive(Clone, Debug)]
pub struct Pctwm {
    random: Random,
    /// By thread.
    threads: Vec<Thread>,
    /// The reads that communicate, by their number in the run, ascending.
    communications: Vec<u64>,
    /// Reads that threads have come to so far.
    reads: u64,
    /// The next priority below all others.
    floor: i64,
    history: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// 0: not seen yet.
    priority: i64,
    /// The read that it is about to make has been counted.
    is_counted: bool,
    /// That read communicates.
    communicates: bool,
}

impl Pctwm {
    /// With `depth` communications that reach back `history` writes, in about `reads` reads.
    pub fn new(seed: u64, depth: u32, history: u32, reads: u64) -> Self {
        let mut random = Random::new(seed);
        let most = usize::try_from(reads.max(1)).unwrap_or(usize::MAX);
        let mut communications: Vec<u64> = (0..depth).map(|_| random.below(most) as u64).collect();
        communications.sort_unstable();
        Self {
            random,
            threads: Vec::new(),
            communications,
            reads: 0,
            floor: 0,
            history: history.max(1) as usize,
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.index();
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Thread::default());
        }
        if self.threads[index].priority == 0 {
            self.threads[index].priority = 1 + (self.random.bits() >> 2) as i64;
        }
        &mut self.threads[index]
    }

    fn drop_below_all(&mut self, thread: ThreadId) {
        self.floor -= 1;
        self.thread(thread).priority = self.floor;
    }

    /// The highest priority of those that are ready; of equal ones, the lowest thread.
    fn highest(&mut self, ready: &[Candidate]) -> usize {
        let mut best = (0, i64::MIN);
        for (i, candidate) in ready.iter().enumerate() {
            let priority = self.thread(candidate.thread).priority;
            if priority > best.1 {
                best = (i, priority);
            }
        }
        best.0
    }

    /// The thread is about to make a step. Whether it is a read that communicates, to which the thread comes just now.
    fn comes_to_communicate(&mut self, candidate: &Candidate) -> bool {
        let reads = candidate.op.kind.may_read() && candidate.op.kind.shows_value();
        if !reads || self.thread(candidate.thread).is_counted {
            return false;
        }
        let communicates = self.communications.binary_search(&self.reads).is_ok();
        self.reads += 1;
        let thread = self.thread(candidate.thread);
        (thread.is_counted, thread.communicates) = (true, communicates);
        communicates
    }
}

impl Strategy for Pctwm {
    fn choose(&mut self, ready: &[Candidate], _last: Option<ThreadId>) -> Option<usize> {
        let mut chosen = self.highest(ready);
        while self.comes_to_communicate(&ready[chosen]) {
            self.drop_below_all(ready[chosen].thread);
            chosen = self.highest(ready);
        }
        self.thread(ready[chosen].thread).is_counted = false;
        Some(chosen)
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        if self.thread(reading.thread).communicates {
            let back = self.random.below(self.history.min(writes.len()));
            return writes.len() - 1 - back;
        }
        writes.iter().rposition(|write| write.known).unwrap_or(0)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.drop_below_all(thread);
    }
}
