//! How many different executions a campaign has seen, and how many it may not have seen yet.
//!
//! Runs are the same execution when they have the same `po`, `rf` and `mo` (see [`crate::explore`]). A [`Fingerprint`] stands
//! for that: 128 bits, in which neither addresses nor the numbers of threads count, only what does not depend on the schedule.
//! Different executions have the same one with a probability of about `n^2 / 2^129` for n executions.

use crate::by_thread::ByThread;
use crate::mixed::Mixed;
use crate::{Kind, Objects, Step};
use rsan_random::mix;
use std::collections::HashMap;

/// Stands for an execution.
///
/// ```
/// use rsan_model::ThreadId;
/// use rsan_schedule::{Fingerprint, Kind, Op, Step};
/// let store = |thread, address| Step::new(ThreadId(thread), Op::new(Kind::Store, address, 4));
/// let run = |steps: &[Step]| Fingerprint::of(steps);
/// // Stores to different objects commute, stores to one object do not.
/// assert_eq!(run(&[store(0, 64), store(1, 80)]), run(&[store(1, 96), store(0, 32)]));
/// assert_ne!(run(&[store(0, 64), store(1, 64)]), run(&[store(1, 64), store(0, 64)]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub u128);

/// A thread's name: which root it is, or which child of whom.
type Name = u64;

/// The name of an event: its thread, and its number there.
type EventName = (Name, u64);

/// No event.
const NO_EVENT: EventName = (0, u64::MAX);

impl Fingerprint {
    /// Of a run. Attempts ([`Step::waits`]) do not count, nor failed spin iterations ([`Step::vain`]).
    pub fn of(trace: &[Step]) -> Self {
        let trace = made(trace);
        let objects = Objects::of(trace.iter().map(|s| &s.op));
        let names = event_names(&trace);
        // The name of an object is its smallest access, which all runs of the execution have in common.
        let mut smallest = vec![(u64::MAX, u64::MAX); objects.len()];
        for (step, &name) in trace.iter().zip(&names) {
            if let Some(object) = objects.number(&step.op) {
                smallest[object] = smallest[object].min(name);
            }
        }
        let mut last = vec![NO_EVENT; objects.len()];
        let mut sum = 0u128;
        for (step, &name) in trace.iter().zip(&names) {
            let kind = step.op.kind;
            let mut words = [name.0, name.1, kind as u64, 0, 0, 0, 0];
            if let Some(object) = objects.number(&step.op) {
                let writes = step.writes && kind.may_write();
                words[2] |= u64::from(writes) << 8;
                (words[3], words[4]) = smallest[object];
                (words[5], words[6]) = last[object];
                if writes {
                    last[object] = name;
                }
            }
            // A sum does not depend on the order of the steps.
            sum = sum.wrapping_add(digest(&words));
        }
        Self(sum)
    }
}

/// The steps that are no attempts.
fn made(trace: &[Step]) -> Vec<Step> {
    let mut ended = Vec::new();
    let mut made = trace.to_vec();
    made.retain(|step| {
        if step.op.kind == Kind::End {
            ended.push(step.thread.0);
        }
        let early = step.op.kind == Kind::Join && !ended.contains(&step.peer());
        !early && !step.waits() && !step.vain
    });
    made
}

fn event_names(trace: &[Step]) -> Vec<EventName> {
    struct Thread {
        name: Name,
        events: u64,
        children: u64,
    }
    let mut threads: ByThread<Thread> = ByThread::default();
    let new = |name| Thread {
        name,
        events: 0,
        children: 0,
    };
    let mut names = Vec::with_capacity(trace.len());
    for step in trace {
        let root = mix(u64::from(step.thread.0) + 1);
        let thread = threads.or_insert(step.thread.0, new(root));
        names.push((thread.name, thread.events));
        thread.events += 1;
        if step.op.kind == Kind::Spawn {
            thread.children += 1;
            let name = mix(thread.name.rotate_left(17) ^ mix(thread.children));
            threads.insert(step.peer(), new(name));
        }
    }
    names
}

/// Stands for words.
pub(crate) fn digest(words: &[u64]) -> u128 {
    let (mut a, mut b) = (0x6a09_e667_f3bc_c908_u64, 0xbb67_ae85_84ca_a73b_u64);
    for &word in words {
        a = mix(a ^ word);
        b = mix(b.rotate_left(23) ^ word);
    }
    u128::from(a) << 64 | u128::from(b)
}

/// The executions that were seen.
///
/// ```
/// use rsan_schedule::{Coverage, Fingerprint};
/// let mut coverage = Coverage::default();
/// for execution in [7, 7, 8, 7, 8, 7] {
///     coverage.record(Fingerprint(execution));
/// }
/// assert_eq!((coverage.runs(), coverage.distinct(), coverage.last_new()), (6, 2, 3));
/// assert_eq!(coverage.unseen(), 0.0);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    seen: HashMap<Fingerprint, u64, Mixed>,
    runs: u64,
    last_new: u64,
    /// Number of executions that were seen once, and twice.
    once: u64,
    twice: u64,
}

impl Coverage {
    /// A run showed this execution. Says whether it was new.
    pub fn record(&mut self, execution: Fingerprint) -> bool {
        self.runs += 1;
        let count = self.seen.entry(execution).or_default();
        *count += 1;
        match *count {
            1 => {
                self.once += 1;
                self.last_new = self.runs;
            }
            2 => {
                self.once -= 1;
                self.twice += 1;
            }
            3 => self.twice -= 1,
            _ => {}
        }
        *count == 1
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Number of different executions.
    pub fn distinct(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The different executions, in no order.
    pub fn executions(&self) -> impl Iterator<Item = Fingerprint> {
        self.seen.keys().copied()
    }

    /// The run, from 1, that showed something new last; 0 before the first.
    pub fn last_new(&self) -> u64 {
        self.last_new
    }

    /// The probability that the next run shows something new, as Good and Turing estimate it: the share of the runs whose
    /// execution was seen once. 1 before the first run.
    ///
    /// It holds for runs that are drawn independently from one distribution, as runs with different seeds of one strategy
    /// are. Executions that the strategy hardly ever shows are not counted by it.
    pub fn unseen(&self) -> f64 {
        match self.runs {
            0 => 1.0,
            runs => self.once as f64 / runs as f64,
        }
    }

    /// A lower bound of the number of executions that the strategy can show, as Chao (1984) estimates it.
    pub fn estimate(&self) -> f64 {
        let (once, twice) = (self.once as f64, self.twice as f64);
        self.distinct() as f64 + once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }

    /// Whether it is time to stop: the next run shows something new with a probability of at most `share`, and the runs are
    /// enough to say so, `3 / share` since the last new one (then the probability is below `share` with confidence 95 %).
    pub fn is_saturated(&self, share: f64) -> bool {
        let quiet = (self.runs - self.last_new) as f64;
        self.runs > 0 && self.unseen() <= share && quiet * share >= 3.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Random};
    use rsan_model::ThreadId;

    fn step(thread: u32, kind: Kind, object: u64) -> Step {
        Step::new(ThreadId(thread), Op::new(kind, object, 4))
    }

    fn spawn(thread: u32, child: u32) -> Step {
        Step {
            child: ThreadId(child),
            ..step(thread, Kind::Spawn, 0)
        }
    }

    #[test]
    fn fingerprints_do_not_depend_on_numbers_of_threads() {
        // T0 creates A, which creates B; then T0 creates C. B and C get their numbers in either order.
        let early = [
            spawn(0, 1),
            spawn(1, 2),
            spawn(0, 3),
            step(2, Kind::Store, 8),
            step(3, Kind::Load, 8),
        ];
        let late = [
            spawn(0, 1),
            spawn(0, 2),
            spawn(1, 3),
            step(3, Kind::Store, 8),
            step(2, Kind::Load, 8),
        ];
        let other = [
            spawn(0, 1),
            spawn(0, 2),
            spawn(1, 3),
            step(2, Kind::Store, 8),
            step(3, Kind::Load, 8),
        ];
        assert_eq!(Fingerprint::of(&early), Fingerprint::of(&late));
        assert_ne!(Fingerprint::of(&early), Fingerprint::of(&other));
    }

    #[test]
    fn what_is_read_and_overwritten_counts() {
        let (store, load) = (|t| step(t, Kind::Store, 8), |t| step(t, Kind::Load, 8));
        let runs = [
            vec![store(0), load(1), store(2)],
            vec![load(1), store(0), store(2)],
            vec![store(2), load(1), store(0)],
            vec![store(2), store(0), load(1)],
            vec![store(0), store(2), load(1)],
        ];
        let distinct: std::collections::BTreeSet<_> =
            runs.iter().map(|run| Fingerprint::of(run)).collect();
        assert_eq!(distinct.len(), runs.len());
    }

    #[test]
    fn estimates_follow_the_runs() {
        // A hundred executions, equally likely.
        let mut random = Random::new(3);
        let mut coverage = Coverage::default();
        assert_eq!(
            (coverage.unseen(), coverage.is_saturated(0.5)),
            (1.0, false)
        );
        for _ in 0..50 {
            coverage.record(Fingerprint(random.below(100) as u128));
        }
        assert!(coverage.unseen() > 0.4 && !coverage.is_saturated(0.01));
        assert!((60.0..200.0).contains(&coverage.estimate()));
        while !coverage.is_saturated(0.01) {
            coverage.record(Fingerprint(random.below(100) as u128));
        }
        assert_eq!(coverage.distinct(), 100);
        assert!(coverage.runs() < 2000);
        assert_eq!(coverage.estimate(), 100.0);
    }
}
