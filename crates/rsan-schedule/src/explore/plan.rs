//! What a run of the exploration has to do first, and the strategy that sees to it.

use crate::strategy::{Divergence, Strategy, stay};
use crate::{Candidate, Kind};
use rsan_model::ThreadId;

/// What it means when a thread of a plan is not ready at its turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Unready {
    /// The program is not the one it was: it did this step before.
    Diverges,
    /// The step is not possible there, which nobody could know before. The run ends.
    Refused,
    /// The thread waits there. It is left alone for the rest of the run.
    Waits,
}

/// A step of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlanStep {
    /// Who makes it.
    pub thread: ThreadId,
    /// What it is.
    pub kind: Kind,
    /// What it means when the thread is not ready.
    pub unready: Unready,
}

/// The first steps of a run; then it goes on by the default, without the frozen threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// The first steps.
    pub steps: Vec<PlanStep>,
    /// Threads that make no step after those, because they wait for something that this run does not show them.
    pub frozen: Vec<ThreadId>,
}

impl Plan {
    /// The plan as words, for shared memory: number of steps, one word for each (thread, kind, unready), frozen threads.
    pub fn to_words(&self) -> Vec<u64> {
        let step =
            |s: &PlanStep| u64::from(s.thread.0) | (s.kind as u64) << 32 | (s.unready as u64) << 40;
        let mut words = vec![self.steps.len() as u64];
        words.extend(self.steps.iter().map(step));
        words.extend(self.frozen.iter().map(|t| u64::from(t.0)));
        words
    }

    /// The plan of these words; `None` when they are none.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (&count, rest) = words.split_first()?;
        let (steps, frozen) = rest.split_at_checked(usize::try_from(count).ok()?)?;
        let step = |&word: &u64| {
            Some(PlanStep {
                thread: ThreadId(word as u32),
                kind: Kind::from_number((word >> 32) as u8)?,
                unready: match word >> 40 {
                    0 => Unready::Diverges,
                    1 => Unready::Refused,
                    2 => Unready::Waits,
                    _ => return None,
                },
            })
        };
        let thread = |&word: &u64| u32::try_from(word).ok().map(ThreadId);
        Some(Self {
            steps: steps.iter().map(step).collect::<Option<_>>()?,
            frozen: frozen.iter().map(thread).collect::<Option<_>>()?,
        })
    }
}

/// Follows a [`Plan`].
#[derive(Clone, Debug)]
pub struct Guided {
    plan: Plan,
    next: usize,
    divergence: Option<Divergence>,
    /// The choice before a step that is not frozen, for [`stay`].
    free: Vec<Candidate>,
}

impl Guided {
    /// Follows this plan.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            next: 0,
            divergence: None,
            free: Vec::new(),
        }
    }

    /// The default, without the frozen threads.
    fn go_on(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        if self.plan.frozen.is_empty() {
            return Some(stay(ready, last));
        }
        self.free.clear();
        let free = ready
            .iter()
            .filter(|c| !self.plan.frozen.contains(&c.thread));
        self.free.extend(free);
        if self.free.is_empty() {
            return None;
        }
        let thread = self.free[stay(&self.free, last)].thread;
        ready.iter().position(|c| c.thread == thread)
    }
}

impl Strategy for Guided {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        while let Some(step) = self.plan.steps.get(self.next) {
            let at = ready.binary_search_by_key(&step.thread, |c| c.thread).ok();
            let found = at.map(|i| ready[i].op.kind);
            if found == Some(step.kind) {
                self.next += 1;
                return at;
            }
            match (found, step.unready) {
                (None, Unready::Refused) => return None,
                (None, Unready::Waits) => {
                    self.next += 1;
                    self.plan.frozen.push(step.thread);
                }
                _ => {
                    self.divergence.get_or_insert(Divergence {
                        step: self.next,
                        thread: step.thread,
                        expected: step.kind,
                        found,
                    });
                    return None;
                }
            }
        }
        self.go_on(ready, last)
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_survive_shared_memory() {
        let step = |thread, kind, unready| PlanStep {
            thread: ThreadId(thread),
            kind,
            unready,
        };
        let plan = Plan {
            steps: vec![
                step(0, Kind::Begin, Unready::Diverges),
                step(u32::MAX, Kind::Lock, Unready::Refused),
                step(3, Kind::Yield, Unready::Waits),
            ],
            frozen: vec![ThreadId(3), ThreadId(9)],
        };
        assert_eq!(Plan::from_words(&plan.to_words()), Some(plan));
        assert_eq!(Plan::from_words(&[]), None);
        assert_eq!(Plan::from_words(&[2, 0]), None);
        assert_eq!(Plan::from_words(&[1, 99 << 32]), None);
        assert_eq!(Plan::from_words(&[1, 3 << 40]), None);
    }
}
