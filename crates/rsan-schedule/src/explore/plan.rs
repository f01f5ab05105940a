//! What a run of the exploration has to do first, and the strategy that sees to it.

use crate::mixed::Mixed;
use crate::schedule::Origin;
use crate::strategy::{Divergence, Found, Readable, Reading, Strategy, stay};
use crate::{Candidate, Kind, Step};
use rsan_model::ThreadId;
use std::collections::{HashMap, HashSet};

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
    /// The thread waits there, ready or not: the step is not made. It is left alone for the rest of the run.
    Frozen,
}

impl Unready {
    /// The one with this number (`unready as u8`).
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Diverges),
            1 => Some(Self::Refused),
            2 => Some(Self::Waits),
            3 => Some(Self::Frozen),
            _ => None,
        }
    }
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
    /// Weak executions: the write that it reads, if it matters.
    pub from: Option<Origin>,
    /// A compare-and-swap that fails although it finds what it expects.
    pub fails: bool,
}

impl PlanStep {
    /// A step that reads the last write, if it reads.
    pub fn new(thread: ThreadId, kind: Kind, unready: Unready) -> Self {
        Self {
            thread,
            kind,
            unready,
            from: None,
            fails: false,
        }
    }

    /// As words: who does what, and which write it reads, if it matters.
    fn to_words(self) -> impl Iterator<Item = u64> {
        let (source, from) = match self.from {
            None => (0, 0),
            Some(Origin::Initial) => (1, 0),
            Some(Origin::Step { thread, number }) => {
                (2, u64::from(thread.0) | u64::from(number) << 32)
            }
        };
        let first = u64::from(self.thread.0)
            | (self.kind as u64) << 32
            | (self.unready as u64) << 40
            | source << 48
            | u64::from(self.fails) << 56;
        let second = self.from.map(|_| from);
        [first].into_iter().chain(second)
    }

    /// The step at the beginning of these words, which are taken away.
    fn from_words(words: &mut &[u64]) -> Option<Self> {
        let (&first, rest) = words.split_first()?;
        let (from, rest) = match (first >> 48) as u8 {
            0 => (0, rest),
            _ => rest.split_first().map(|(from, rest)| (*from, rest))?,
        };
        *words = rest;
        Some(Self {
            thread: ThreadId(first as u32),
            kind: Kind::from_number((first >> 32) as u8)?,
            unready: Unready::from_number((first >> 40) as u8)?,
            from: match ((first >> 48) as u8, from) {
                (0, 0) => None,
                (1, 0) => Some(Origin::Initial),
                (2, from) => Some(Origin::Step {
                    thread: ThreadId(from as u32),
                    number: (from >> 32) as u32,
                }),
                _ => return None,
            },
            fails: match first >> 56 {
                0 => false,
                1 => true,
                _ => return None,
            },
        })
    }
}

/// Where a thread's round of a loop comes to nothing: it makes no further step, and others go on (`rounds.rs`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stop {
    /// The thread.
    pub thread: ThreadId,
    /// The step that ends the round: so many steps of the thread have been made then, without attempts and those that others do
    /// not notice ([`crate::Op::is_local`]).
    pub step: u32,
    /// What it has to read, and not to write.
    pub value: u64,
}

impl Stop {
    fn to_words(self) -> [u64; 2] {
        [
            u64::from(self.thread.0) | u64::from(self.step) << 32,
            self.value,
        ]
    }

    fn from_words(&[first, value]: &[u64; 2]) -> Self {
        Self {
            thread: ThreadId(first as u32),
            step: (first >> 32) as u32,
            value,
        }
    }
}

/// The first steps of a run; then it goes on by the default.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// Most steps of one thread: it makes no further one, and others go on.
    pub most: Option<u32>,
    /// Threads that make no further step from some point on.
    pub stops: Vec<Stop>,
    /// States of threads, and values: a thread that reads the value there, writes nothing, and has no step of the plan left makes no
    /// further step, as with a stop (`ends.rs`).
    pub ends: Vec<(u64, u64)>,
    /// States of threads, and values: a thread that would read the value there waits for others, as long as these can go on. So do those that would stop.
    pub rests: Vec<(u64, u64)>,
}

impl Plan {
    /// The plan as words: the number of steps, the most steps of a thread (all ones: no bound), the numbers of stops and ends, then the
    /// steps, and two words for each stop, end and rest.
    pub fn to_words(&self) -> Vec<u64> {
        let count = self.steps.len() as u64;
        let most = self.most.map_or(u64::MAX, u64::from);
        let steps = self.steps.iter().flat_map(|step| step.to_words());
        let stops = self.stops.iter().flat_map(|stop| stop.to_words());
        let reads = self.ends.iter().chain(&self.rests);
        let reads = reads.flat_map(|&(state, value)| [state, value]);
        let (stopping, ending) = (self.stops.len() as u64, self.ends.len() as u64);
        let pairs = self.stops.len() + self.ends.len() + self.rests.len();
        let mut words = Vec::with_capacity(4 + 2 * (self.steps.len() + pairs));
        words.extend([count, most, stopping, ending]);
        words.extend(steps);
        words.extend(stops);
        words.extend(reads);
        words
    }

    /// The plan of these words; `None` when they are none.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (&[count, most, stops, ends], mut words) = words.split_first_chunk()?;
        if count > words.len() as u64 {
            return None;
        }
        let steps = (0..count).map(|_| PlanStep::from_words(&mut words));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        let (pairs, rest) = words.as_chunks();
        let (stops, pairs) = pairs.split_at_checked(usize::try_from(stops).ok()?)?;
        let (ends, rests) = pairs.split_at_checked(usize::try_from(ends).ok()?)?;
        let reads = |all: &[[u64; 2]]| all.iter().map(|&[state, value]| (state, value)).collect();
        let stops = stops.iter().map(Stop::from_words).collect();
        let most = match most {
            u64::MAX => None,
            most => Some(u32::try_from(most).ok()?),
        };
        let plan = Self {
            steps,
            most,
            stops,
            ends: reads(ends),
            rests: reads(rests),
        };
        rest.is_empty().then_some(plan)
    }

    /// Switches from a thread that has not come to its last step, nor to one that may have to wait.
    pub(crate) fn preemptions(&self) -> usize {
        // By thread: whether its next step can always be made.
        let mut goes_on: HashMap<ThreadId, bool> = HashMap::new();
        let mut preemptions = 0;
        let mut next = None;
        for step in self.steps.iter().rev() {
            let switch = next.is_some_and(|thread| thread != step.thread);
            let goes_on = goes_on.entry(step.thread).or_insert(false);
            preemptions += usize::from(switch && *goes_on);
            *goes_on = !step.kind.may_block();
            next = Some(step.thread);
        }
        preemptions
    }
}

/// Follows a [`Plan`], then the default: stay with the last thread while it is ready, else take the lowest; threads that rest come last. Threads that the
/// plan left waiting make no further step.
///
/// A thread that is not ready at its turn is passed over until it is, as long as others can go on with the plan.
#[derive(Clone, Debug)]
pub struct Guided {
    /// What is left of the plan.
    left: Vec<PlanStep>,
    /// Steps of the plan that were made.
    made: usize,
    /// The step of the plan that is being made.
    current: Option<PlanStep>,
    frozen: Vec<ThreadId>,
    /// Most steps of a thread, and by thread those that it has made.
    most: Option<u32>,
    steps: Vec<u32>,
    /// Where threads stop, and by thread the steps that it has made without attempts.
    stops: Vec<Stop>,
    passed: Vec<u32>,
    /// In which states threads stop that read which values.
    ends: HashSet<(u64, u64), Mixed>,
    /// In which states threads let others go on before they read which values; those that do so now.
    rests: HashMap<u64, Vec<u64>, Mixed>,
    resting: Vec<ThreadId>,
    divergence: Option<Divergence>,
    /// Those who are ready and not frozen.
    free: Vec<Candidate>,
}

impl Guided {
    /// Follows this plan.
    pub fn new(plan: Plan) -> Self {
        let mut rests: HashMap<u64, Vec<u64>, Mixed> = HashMap::default();
        for &(state, value) in plan.ends.iter().chain(&plan.rests) {
            rests.entry(state).or_default().push(value);
        }
        let mut left = plan.steps;
        left.reverse();
        Self {
            left,
            made: 0,
            current: None,
            frozen: Vec::new(),
            most: plan.most,
            steps: Vec::new(),
            stops: plan.stops,
            passed: Vec::new(),
            ends: plan.ends.into_iter().collect(),
            rests,
            resting: Vec::new(),
            divergence: None,
            free: Vec::new(),
        }
    }

    /// Who makes the next step.
    fn next(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        self.current = None;
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
        if op.is_local() {
            return;
        }
        if !self.stops.is_empty() {
            *of_thread(&mut self.passed, thread) += 1;
        }
        let Some(most) = self.most else {
            return;
        };
        let made = of_thread(&mut self.steps, thread);
        *made += 1;
        if *made == most {
            self.frozen.push(thread);
        }
    }

    /// The thread stops if its step is the one after which it is to.
    fn stop_behind(&mut self, step: &Step) {
        let passed = of_thread(&mut self.passed, step.thread);
        if step.waits() {
            *passed -= 1;
            return;
        }
        let here = Stop {
            thread: step.thread,
            step: *passed,
            value: step.read,
        };
        if !step.writes && self.stops.contains(&here) {
            self.frozen.push(step.thread);
        }
    }

    /// The thread stops if its step is known to end a round that comes to nothing, and the plan has no more of it.
    fn end_round(&mut self, step: &Step) {
        let read = (step.local.state, step.read);
        let is_planned = || self.left.iter().any(|left| left.thread == step.thread);
        if ends_round(step) && self.ends.contains(&read) && !is_planned() {
            self.frozen.push(step.thread);
        }
    }

    /// The default, without the frozen threads; those that rest come last.
    fn go_on(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        if self.frozen.is_empty() && self.resting.is_empty() {
            return Some(stay(ready, last));
        }
        self.free.clear();
        let free = ready.iter().filter(|c| !self.frozen.contains(&c.thread));
        self.free.extend(free);
        let rests = |c: &Candidate| self.resting.contains(&c.thread);
        if !self.free.iter().all(rests) {
            self.free.retain(|c| !rests(c));
        }
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
            if step.unready == Unready::Frozen {
                self.left.remove(at);
                self.frozen.push(step.thread);
                continue;
            }
            let place = ready.binary_search_by_key(&step.thread, |c| c.thread).ok();
            let found = place.map(|i| ready[i].op.kind);
            if found == Some(step.kind) {
                self.left.remove(at);
                self.made += 1;
                self.current = Some(step);
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

/// Whether the step may end a round: a read that writes nothing, of a thread whose state is known.
pub(super) fn ends_round(step: &Step) -> bool {
    let reads = matches!(step.op.kind, Kind::Load | Kind::Compare);
    reads && !step.writes && !step.waits() && step.local.state != 0
}

/// The number of a thread.
fn of_thread(all: &mut Vec<u32>, thread: ThreadId) -> &mut u32 {
    let t = thread.index();
    if all.len() <= t {
        all.resize(t + 1, 0);
    }
    &mut all[t]
}

impl Strategy for Guided {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        let chosen = self.next(ready, last)?;
        self.count(&ready[chosen]);
        Some(chosen)
    }

    fn stepped(&mut self, step: &Step) {
        let current = self.current.filter(|planned| planned.thread == step.thread);
        if step.waits() && current.is_some_and(|planned| planned.unready == Unready::Waits) {
            self.frozen.push(step.thread);
        }
        if !self.stops.is_empty() && !step.op.is_local() {
            self.stop_behind(step);
        }
        if !self.ends.is_empty() {
            self.end_round(step);
        }
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        let last = writes.len() - 1;
        let current = self.current.filter(|step| step.thread == reading.thread);
        let Some((step, from)) = current.and_then(|step| Some((step, step.from?))) else {
            return last;
        };
        let found = writes.iter().position(|write| write.origin == from);
        if found.is_none() {
            self.divergence.get_or_insert(Divergence {
                step: self.made - 1,
                thread: step.thread,
                expected: step.kind,
                found: Found::NoSuchWrite,
            });
        }
        found.unwrap_or(last)
    }

    fn fails(&mut self, reading: &Reading) -> bool {
        let current = self.current.filter(|step| step.thread == reading.thread);
        current.is_some_and(|step| step.fails)
    }

    fn looks_at(&self, state: u64) -> bool {
        self.rests.contains_key(&state)
    }

    fn would_read(&mut self, reads: &[(ThreadId, u64, u64)]) {
        let rests = |(_, state, value): &&(ThreadId, u64, u64)| {
            let values = self.rests.get(state);
            values.is_some_and(|values| values.contains(value))
        };
        self.resting.clear();
        let resting = reads.iter().filter(rests).map(|&(thread, ..)| thread);
        self.resting.extend(resting);
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
        let step = |thread, kind, unready| PlanStep::new(ThreadId(thread), kind, unready);
        let thread = ThreadId(u32::MAX);
        let number = u32::MAX;
        let read = PlanStep {
            from: Some(Origin::Step { thread, number }),
            ..step(1, Kind::Load, Unready::Diverges)
        };
        let failed = PlanStep {
            from: Some(Origin::Initial),
            fails: true,
            ..step(1, Kind::Compare, Unready::Refused)
        };
        let plan = Plan {
            steps: vec![
                step(0, Kind::Begin, Unready::Diverges),
                step(u32::MAX, Kind::Lock, Unready::Refused),
                step(3, Kind::Yield, Unready::Waits),
                step(3, Kind::Lock, Unready::Frozen),
                read,
                failed,
            ],
            most: Some(7),
            stops: vec![Stop {
                thread,
                step: 12,
                value: u64::MAX,
            }],
            ends: vec![(1, u64::MAX), (u64::MAX, 0)],
            rests: vec![(2, 0)],
        };
        assert_eq!(Plan::from_words(&plan.to_words()), Some(plan));
        let none = u64::MAX;
        assert_eq!(Plan::from_words(&[0, none, 0, 0]), Some(Plan::default()));
        assert_eq!(Plan::from_words(&[]), None);
        assert_eq!(Plan::from_words(&[0, none, 0]), None);
        for unsound in [
            &[3, none, 0, 0, 0, 0][..],
            &[u64::MAX, none, 0, 0, 0, 0],
            &[1, none, 0, 0],
            &[1, none, 0, 0, 2 << 48],
            &[1, none, 0, 0, 0, 0],
            &[0, none, 0, 0, 0],
            &[0, none, 1, 0],
            &[0, none, 0, 1],
            &[0, none - 1, 0, 0],
            &[1, none, 0, 0, 99 << 32, 0],
            &[1, none, 0, 0, 4 << 40, 0],
            &[1, none, 0, 0, 3 << 48, 0],
            &[1, none, 0, 0, 1 << 48, 7],
            &[1, none, 0, 0, 2 << 56, 0],
        ] {
            assert_eq!(Plan::from_words(unsound), None);
        }
    }
}
