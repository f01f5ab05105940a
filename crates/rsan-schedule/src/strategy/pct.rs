//! `pct`: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).
//!
//! Every thread has a random priority, and the highest that is ready runs. At `d - 1` random steps the thread that would
//! run drops to one of `d - 1` priorities below all initial ones. Only steps at which more than one thread is ready count:
//! at the others a priority that drops changes nothing.
//!
//! **Guarantee** (their theorem 9). In a program with at most `n` threads and `k` such steps, a violation that needs `d` ordering
//! constraints (its *depth*) is found by one run with probability at least `1 / (n k^(d-1))`. Most known bugs have depth 1 to 3.
//!
//! # Deviations
//! 1. A thread that yields drops below everything else, as in the paper's section 4 on fairness, so that spin loops end. The
//!    guarantee is for runs without yields. A thread that waits is not ready, so it does not yield.
//! 2. `k` is an estimate: a run that is longer has no change points in its rest, one that is shorter does not reach some. The
//!    guarantee holds with the estimate in place of `k` when it is not too low. A campaign can take it from the first runs.
//! 3. Threads get their priorities when they are first seen.

use super::Strategy;
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// Probabilistic concurrency testing.
#[derive(Clone, Debug)]
pub struct Pct {
    random: Random,
    /// By thread; 0 for those not seen yet.
    priorities: Vec<i64>,
    /// Steps with a choice, ascending, at which a priority drops, and to what.
    changes: Vec<(u64, i64)>,
    /// Those of `changes` that are done.
    changed: usize,
    /// Steps so far at which there was a choice.
    step: u64,
    /// The lowest priority given to a thread that yielded.
    floor: i64,
}

/// Initial priorities are above all that threads drop to.
const INITIAL: i64 = 1 << 32;

impl Pct {
    /// With `depth` ordering constraints, at least 1, in about `steps` steps at which there is a choice, at least 1.
    pub fn new(seed: u64, depth: u32, steps: u64) -> Self {
        let mut random = Random::new(seed);
        let steps = usize::try_from(steps.max(1)).unwrap_or(usize::MAX);
        let mut changes: Vec<(u64, i64)> = (1..i64::from(depth.max(1)))
            .map(|priority| (random.below(steps) as u64, priority))
            .collect();
        changes.sort_unstable();
        Self {
            random,
            priorities: Vec::new(),
            changes,
            changed: 0,
            step: 0,
            floor: 0,
        }
    }

    fn priority(&mut self, thread: ThreadId) -> i64 {
        let t = thread.index();
        if t >= self.priorities.len() {
            self.priorities.resize(t + 1, 0);
        }
        if self.priorities[t] == 0 {
            self.priorities[t] = INITIAL + (self.random.bits() >> 2) as i64;
        }
        self.priorities[t]
    }

    /// The highest priority of those that are ready; of equal ones, the lowest thread.
    fn highest(&mut self, ready: &[Candidate]) -> usize {
        let mut best = (0, i64::MIN);
        for (i, candidate) in ready.iter().enumerate() {
            let priority = self.priority(candidate.thread);
            if priority > best.1 {
                best = (i, priority);
            }
        }
        best.0
    }
}

impl Strategy for Pct {
    fn choose(&mut self, ready: &[Candidate], _last: Option<ThreadId>) -> Option<usize> {
        let mut chosen = self.highest(ready);
        if ready.len() == 1 {
            return Some(chosen);
        }
        while let Some(&(at, priority)) = self.changes.get(self.changed)
            && at <= self.step
        {
            self.priorities[ready[chosen].thread.index()] = priority;
            self.changed += 1;
            chosen = self.highest(ready);
        }
        self.step += 1;
        Some(chosen)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.priority(thread);
        self.floor -= 1;
        self.priorities[thread.index()] = self.floor;
    }
}
