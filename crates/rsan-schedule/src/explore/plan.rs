//! What a run of the exploration has to do first, and the strategy that sees to it.

use crate::strategy::{Divergence, Found, Strategy, stay};
use crate::{Candidate, Kind, Step};
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

/// The first steps of a run; then it goes on by the default.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// Most steps of one thread: it makes no further one, and others go on.
    pub most: Option<u32>,
}

impl Plan {
    /// The plan as words: the number of steps, the most steps of a thread (all ones: no bound), then one word for each step
    /// (thread, kind, unready).
    pub fn to_words(&self) -> Vec<u64> {
        let word =
            |s: &PlanStep| u64::from(s.thread.0) | (s.kind as u64) << 32 | (s.unready as u64) << 40;
        let count = self.steps.len() as u64;
        let most = self.most.map_or(u64::MAX, u64::from);
        [count, most]
            .into_iter()
            .chain(self.steps.iter().map(word))
            .collect()
    }

    /// The plan of these words; `None` when they are none.
    pub fn from_words(words: &[u64]) -> Option<Self> {
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
        let (&[count, most], words) = words.split_first_chunk()?;
        let steps: Vec<PlanStep> = words.iter().map(step).collect::<Option<_>>()?;
        let most = match most {
            u64::MAX => None,
            most => Some(u32::try_from(most).ok()?),
        };
        (steps.len() as u64 == count).then_some(Self { steps, most })
    }
}

/// Follows a [`Plan`], then the default: stay with the last thread while it is ready, else take the lowest. Threads that the
/// plan left waiting make no further step.
///
/// A thread that is not ready at its turn is passed over until it is, as long as others can go on with the plan.
#[derive(Clone, Debug)]
pub struct Guided {
    /// What is left of the plan.
    left: Vec<PlanStep>,
    /// Steps of the plan that were made.
    made: usize,
    /// A step was chosen that may turn out to wait.
    doubtful: Option<ThreadId>,
    frozen: Vec<ThreadId>,
    /// Most steps of a thread, and by thread those that it has made.
    most: Option<u32>,
    steps: Vec<u32>,
    divergence: Option<Divergence>,
    /// Those who are ready and not frozen.
    free: Vec<Candidate>,
}

impl Guided {
    /// Follows this plan.
    pub fn new(plan: Plan) -> Self {
        let mut left = plan.steps;
        left.reverse();
        Self {
            left,
            made: 0,
            doubtful: None,
            frozen: Vec::new(),
            most: plan.most,
            steps: Vec::new(),
            divergence: None,
            free: Vec::new(),
        }
    }

    /// Who makes the next step.
    fn next(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        self.doubtful = None;
        if !self.left.is_empty() {
            match self.follow(ready) {
                Ok(Some(chosen)) => return Some(chosen),
                Ok(None) if !self.left.is_empty() => return None,
                Ok(None) => {}
                Err(divergence) => {
                    self.divergence.get_or_insert(divergence);
                    return None;
                }
            }
        }
        self.go_on(ready, last)
    }

    /// Counts a step of the thread, which makes no further one if there were enough. A scheduler may or may not ask about steps
    /// that others do not notice.
    fn count(&mut self, &Candidate { thread, op }: &Candidate) {
        let Some(most) = self.most.filter(|_| !op.is_local()) else {
            return;
        };
        let t = thread.index();
        if self.steps.len() <= t {
            self.steps.resize(t + 1, 0);
        }
        self.steps[t] += 1;
        if self.steps[t] == most {
            self.frozen.push(thread);
        }
    }

    /// The default, without the frozen threads.
    fn go_on(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        if self.frozen.is_empty() {
            return Some(stay(ready, last));
        }
        self.free.clear();
        let free = ready.iter().filter(|c| !self.frozen.contains(&c.thread));
        self.free.extend(free);
        if self.free.is_empty() {
            return None;
        }
        let thread = self.free[stay(&self.free, last)].thread;
        ready.iter().position(|c| c.thread == thread)
    }

    /// The place in `ready` of the next step of the plan that can be made.
    fn follow(&mut self, ready: &[Candidate]) -> Result<Option<usize>, Divergence> {
        let mut passed_over: Vec<ThreadId> = Vec::new();
        let mut divergence = None;
        let mut at = self.left.len();
        while at > 0 {
            at -= 1;
            let step = self.left[at];
            if passed_over.contains(&step.thread) {
                continue;
            }
            let place = ready.binary_search_by_key(&step.thread, |c| c.thread).ok();
            let found = place.map(|i| ready[i].op.kind);
            if found == Some(step.kind) {
                self.left.remove(at);
                self.made += 1;
                self.doubtful = (step.unready == Unready::Waits).then_some(step.thread);
                return Ok(place);
            }
            match (found, step.unready) {
                (None, Unready::Refused) => return Ok(None),
                (None, Unready::Waits) => {
                    self.left.remove(at);
                    self.made += 1;
                    self.frozen.push(step.thread);
                }
                _ => {
                    passed_over.push(step.thread);
                    divergence.get_or_insert(Divergence {
                        step: self.made,
                        thread: step.thread,
                        expected: step.kind,
                        found: Found::next(found),
                    });
                }
            }
        }
        divergence.map_or(Ok(None), Err)
    }
}

impl Strategy for Guided {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        let chosen = self.next(ready, last)?;
        self.count(&ready[chosen]);
        Some(chosen)
    }

    fn stepped(&mut self, step: &Step) {
        if step.waits() && self.doubtful == Some(step.thread) {
            self.frozen.push(step.thread);
        }
    }

    fn goes_round(&self) -> bool {
        false
    }

    fn ends_last(&self) -> bool {
        true
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
            most: Some(7),
        };
        assert_eq!(Plan::from_words(&plan.to_words()), Some(plan));
        let none = u64::MAX;
        assert_eq!(Plan::from_words(&[0, none]), Some(Plan::default()));
        assert_eq!(Plan::from_words(&[]), None);
        assert_eq!(Plan::from_words(&[0]), None);
        assert_eq!(Plan::from_words(&[2, none, 0]), None);
        assert_eq!(Plan::from_words(&[0, none, 0]), None);
        assert_eq!(Plan::from_words(&[0, none - 1]), None);
        assert_eq!(Plan::from_words(&[1, none, 99 << 32]), None);
        assert_eq!(Plan::from_words(&[1, none, 3 << 40]), None);
    }
}
