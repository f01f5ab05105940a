//! `pctwm`: probabilistic concurrency testing for weak memory (Gao, Chakraborty and Ozkan, ASPLOS 2023).
//!
//! A bug is a set of `d` communications: reads that take a write of another thread which the reader does not know yet. Threads run by
//! priorities that are drawn at the start. `d` of the reads are drawn among all that a run is estimated to have: a thread that comes to one of
//! them drops below all others, and when it goes on, the read takes one of the last `h` writes that it may read. Every other
//! read takes the newest write that its thread knows.
//!
//! **Guarantee** (their theorem in section 5). In a program with `k` such reads, a bug that needs `d` communications, each within the last `h`
//! writes, is found by one run with probability at least `1 / (k^d h^d)` times that of the order of the `d` threads.
//!
//! # Deviations
//! 1. A thread that spins must see newer values in the end: after failed spin iterations the runtime makes it read the last write, and
//!    a thread that yields drops below all others.
//! 2. `k` is an estimate: that of the steps with a choice of a run.
//! 3. Of the writes that a thread knows, none may be readable when what it knows is a constraint on their order only; then it reads the
//!    oldest.
//! 4. Threads get their priorities when they are first seen.

use crate::strategy::{Pct, Readable, Reading, Strategy};
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// Probabilistic concurrency testing for weak memory.
#[derive(Clone, Debug)]
pub struct Pctwm {
    random: Random,
    /// Who goes on; its change points are the communications, so it has none of its own.
    threads: Pct,
    /// The reads that communicate, by their number in the run, ascending.
    communications: Vec<u64>,
    /// Reads with a choice so far.
    reads: u64,
    history: usize,
}

impl Pctwm {
    /// With `depth` communications that reach back `history` writes, in about `reads` reads.
    pub fn new(seed: u64, depth: u32, history: u32, reads: u64) -> Self {
        let mut random = Random::new(seed);
        let most = usize::try_from(reads.max(1)).unwrap_or(usize::MAX);
        let mut communications: Vec<u64> = (0..depth).map(|_| random.below(most) as u64).collect();
        communications.sort_unstable();
        Self {
            threads: Pct::new(random.bits(), depth, reads),
            random,
            communications,
            reads: 0,
            history: history.max(1) as usize,
        }
    }
}

impl Strategy for Pctwm {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        self.threads.choose(ready, last)
    }

    fn read(&mut self, _reading: &Reading, writes: &[Readable]) -> usize {
        let communicates = self.communications.binary_search(&self.reads).is_ok();
        self.reads += 1;
        if communicates {
            let back = self.random.below(self.history.min(writes.len()));
            return writes.len() - 1 - back;
        }
        writes.iter().rposition(|write| write.known).unwrap_or(0)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.threads.yielded(thread);
    }
}
