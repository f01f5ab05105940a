//! `pos`: partial order sampling (Yuan, Yang and Gu, CAV 2018).
//!
//! Every pending operation has a random priority, and the highest that is ready runs; then those that conflict with it draw
//! new priorities. Operations whose order cannot matter do not disturb each other, so that the executions *up to equivalence*
//! are sampled more evenly than by a random walk: an execution whose reversed conflicts are few has a good chance whatever
//! else goes on. It needs no estimate and no parameter.
//!
//! # Deviation
//! The next operation of a thread that yielded has the lowest priority until something conflicts with it, so that spin loops end.

use super::Strategy;
use crate::{Candidate, Kind, Op, Random};
use rsan_model::ThreadId;

/// Partial order sampling.
#[derive(Clone, Debug)]
pub struct Pos {
    random: Random,
    /// By thread: its pending operation.
    pending: Vec<Option<Pending>>,
    /// The priority of the next thread that yields: below all that are drawn, and below those that yielded before it.
    low: u64,
}

/// Priorities that are drawn have this bit, those of threads that yielded have not.
const DRAWN: u64 = 1 << 63;

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// A yield stands for whatever comes after it.
    op: Op,
    priority: u64,
}

impl Pos {
    /// The sampler with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            pending: Vec::new(),
            low: DRAWN - 1,
        }
    }

    fn slot(&mut self, thread: ThreadId) -> &mut Option<Pending> {
        let t = thread.index();
        if t >= self.pending.len() {
            self.pending.resize(t + 1, None);
        }
        &mut self.pending[t]
    }

    /// A priority above that of threads that yielded.
    fn draw(&mut self) -> u64 {
        self.random.bits() | DRAWN
    }

    fn priority(&mut self, candidate: &Candidate) -> u64 {
        let op = candidate.op;
        let priority = match *self.slot(candidate.thread) {
            Some(pending) if pending.op == op => return pending.priority,
            Some(pending) if pending.op.kind == Kind::Yield => pending.priority,
            _ => self.draw(),
        };
        *self.slot(candidate.thread) = Some(Pending { op, priority });
        priority
    }
}

impl Strategy for Pos {
    fn choose(&mut self, ready: &[Candidate], _last: Option<ThreadId>) -> Option<usize> {
        let (mut chosen, mut highest) = (0, 0);
        for (i, candidate) in ready.iter().enumerate() {
            let priority = self.priority(candidate);
            if i == 0 || priority > highest {
                (chosen, highest) = (i, priority);
            }
        }
        let Candidate { thread, op } = ready[chosen];
        *self.slot(thread) = None;
        for t in 0..self.pending.len() {
            if self.pending[t].is_some_and(|p| p.op.conflicts(&op)) {
                let priority = self.draw();
                self.pending[t] = self.pending[t].map(|p| Pending { priority, ..p });
            }
        }
        Some(chosen)
    }

    fn yielded(&mut self, thread: ThreadId) {
        let op = Op::bare(Kind::Yield);
        let priority = self.low;
        self.low -= 1;
        *self.slot(thread) = Some(Pending { op, priority });
    }
}
