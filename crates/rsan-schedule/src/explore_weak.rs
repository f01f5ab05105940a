//! All weak executions of a program, each once or nearly so.
//!
//! # What it decides
//!
//! Two runs are the same *execution* when they have the same events in each thread and every read reads the same write (`rf`). Modification orders and the
//! order S of seq_cst events are not part of it: they count as far as some read shows them. What is explored are the executions of C++20 in which `po ∪ rf ∪ S` has
//! no cycle, as `rsan_weak` has them. The explorer hands out plans, each run shows one execution, and when no plan is left, every execution was shown
//! by some run. A run that shows an execution again, or none, is in *excess*.
//!
//! What the scheduler has to show is what [`crate::explore`] says, and the memory orders of steps, which write each has read, and whether a compare-and-swap may
//! fail without a reason. A step behind the plan may read whatever it may.
//!
//! # Source
//!
//! M. Kokologiannakis, I. Marmanis, V. Gladstein, V. Vafeiadis: *Truly stateless, optimal dynamic partial order reduction*, POPL 2022 (TruSt). That modification orders
//! need not be enumerated, but only be possible: P. A. Abdulla, M. F. Atig, B. Jonsson, T. P. Ngo: *Optimal stateless model checking under the release-acquire
//! semantics*, OOPSLA 2018.
//!
//! | paper | here |
//! |---|---|
//! | `G`, `<_G` | `graph.rs`, `Event::added` |
//! | *Visit*: a read's `rf` | `alternatives.rs`, in the order of `branches.rs` |
//! | backward revisit, *IsMaximallyAdded* | `change.rs`, `maximal.rs` |
//! | `next_P(G)` | the run itself |
//! | consistency | `consistent.rs`; the order found is the plan |
//!
//! # Deviations
//!
//! 1. Graphs have no modification order. TruSt uses it for two things. A write has several places in it: here it has none. And a read that is taken away must have
//!    read the last write in it: here it must have made its *first choice*, which is a function of what is there, and always possible. The proof needs no more than
//!    that: what leads to a revisited graph is unique, since everything that goes is determined by what stays, and it is visited, since first choices are consistent.
//! 2. Whether modification orders and S exist is decided by growing both from what is known, and by trying orders of seq_cst events where that does not do. If that takes
//!    too long, the plan is left out and counted ([`Counts::undecided`](crate::explore::Counts::undecided)).
//! 3. Read-modify-writes, operations that wait, spin loops and bounds on steps are as in [`crate::explore`]. A failed spin iteration that has read a write which is
//!    overwritten for good is never a first choice, so nothing that follows from it is an execution.
//! 4. Memory that is used for something else meanwhile (freed, or written by other than atomic accesses) has an initial value again, which the graph does
//!    not know. Such a run is counted as [`Counts::undecided`](crate::explore::Counts::undecided), too.
//! 5. A program that waits for conditions, semaphores or barriers orders more than is known before it is run. A plan that turns out not to be possible is
//!    in excess, and counted as [`Counts::irregular`](crate::explore::Counts::irregular): what it stands for may be lost.
//!
//! # Cost
//!
//! For a run of n steps: O(n²) alternatives, each O(n² k / 64) where k steps access one object, and for a revisit that for each event that it takes away.
//! Memory: a graph for each run of which something is left to try, and 16 bytes for each execution.

mod alternatives;
mod bits;
mod branches;
mod change;
mod consistent;
mod follow;
mod graph;
mod item;
mod judge;
mod maximal;
mod part;
mod save;
#[cfg(test)]
mod tests;

use crate::End;
use crate::explore::{Bounds, Counts, Job, Outcome, Progress, Trace};
use branches::{Branches, Tried};
use item::Item;
use std::collections::{BTreeMap, BTreeSet};

/// The exploration of all weak executions of a program. It is used as [`crate::explore::Explorer`] is.
#[derive(Clone, Debug)]
pub struct Explorer {
    bounds: Bounds,
    waiting: Vec<Waiting>,
    running: BTreeMap<u64, Item>,
    started: u64,
    counts: Counts,
    share: f64,
    /// The executions that were shown.
    shown: BTreeSet<u128>,
}

/// What waits to be done.
#[derive(Clone, PartialEq, Debug)]
enum Waiting {
    Plan(Item),
    Branches(Box<Branches>),
}

impl Explorer {
    /// An exploration that has not begun.
    pub fn new(bounds: Bounds) -> Self {
        let whole = Item {
            weight: 1.0,
            ..Item::default()
        };
        Self {
            bounds,
            waiting: vec![Waiting::Plan(whole)],
            running: BTreeMap::new(),
            started: 0,
            counts: Counts::default(),
            share: 0.0,
            shown: BTreeSet::new(),
        }
    }

    /// The next run, if there is one now: more may come when those that are being made are done. `stop` says that there is no time to look for
    /// it: it is asked between two alternatives.
    pub fn next_unless(&mut self, stop: impl Fn() -> bool) -> Option<Job> {
        let made = self.counts.runs() + self.running.len() as u64;
        if self.bounds.runs.is_some_and(|most| made >= most) {
            return None;
        }
        let item = self.plan(stop)?;
        let id = self.started;
        self.started += 1;
        let plan = item.plan(self.bounds.steps);
        self.running.insert(id, item);
        Some(Job { id, plan })
    }

    /// Takes the next plan.
    fn plan(&mut self, stop: impl Fn() -> bool) -> Option<Item> {
        while let Some(waiting) = self.waiting.pop() {
            let mut branches = match waiting {
                Waiting::Plan(item) => return Some(item),
                Waiting::Branches(branches) => branches,
            };
            let tried = if stop() {
                None
            } else {
                branches.next(self.bounds.roots)
            };
            let stopped = tried.is_none();
            if !branches.is_done() {
                self.waiting.push(Waiting::Branches(branches));
            }
            match tried {
                None | Some(Tried::More) => {}
                Some(Tried::Nothing(weight)) => self.share += weight,
                Some(Tried::Undecided(weight)) => {
                    self.counts.undecided += 1;
                    self.share += weight;
                }
                Some(Tried::Plan(item)) if self.is_preempted(&item) => {
                    self.counts.preempted += 1;
                    self.share += item.weight;
                }
                Some(Tried::Plan(item)) => return Some(item),
            }
            if stopped {
                return None;
            }
        }
        None
    }

    fn is_preempted(&self, item: &Item) -> bool {
        let most = self.bounds.preemptions;
        most.is_some_and(|most| item.plan(None).preemptions() > most)
    }

    /// Gives a job back that could not be made, for reasons that have nothing to do with the program.
    ///
    /// # Panics
    /// When the job is not being made.
    pub fn give_back(&mut self, id: u64) {
        let item = self.running.remove(&id);
        self.waiting
            .push(Waiting::Plan(item.expect("the job is being made")));
    }

    /// The run of a job was made, and did this.
    ///
    /// # Panics
    /// When the job is not being made.
    pub fn done(&mut self, id: u64, trace: &Trace) -> Outcome {
        let item = self.running.remove(&id).expect("the job is being made");
        let outcome = self.explore(&item, trace).unwrap_or_else(|outcome| {
            self.share += item.weight;
            outcome
        });
        self.counts.add(outcome);
        outcome
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let plans = |waiting: &Waiting| match waiting {
            Waiting::Plan(_) => 1,
            Waiting::Branches(branches) => branches.left(),
        };
        Progress {
            counts: self.counts,
            waiting: self.waiting.iter().map(plans).sum::<usize>() + self.running.len(),
            share: self.share.min(1.0),
        }
    }

    /// Keeps the alternatives of all that is new in the trace; an error when nothing of it can be used.
    fn explore(&mut self, item: &Item, trace: &Trace) -> Result<Outcome, Outcome> {
        let objects = trace.objects();
        let exhausted = trace.exhausted(self.bounds.steps);
        let followed = item.follow(&objects, trace, &exhausted);
        if let Err(follow::Refused::Unforeseen) = followed {
            self.counts.irregular += 1;
        }
        let followed = followed.map_err(|refused| refused.outcome())?;
        let graph = &followed.graph;
        let mixed = (0..objects.len()).any(|object| !objects.is_uniform(object));
        self.counts.irregular += u64::from(graph.has_hidden_unlock());
        self.counts.limited += u64::from(trace.steps.iter().any(|s| s.limited));
        self.counts.mixed += u64::from(mixed);
        self.counts.undecided += u64::from(!graph.is_consistent());
        let mut outcome = match trace.end {
            End::CutOff => Outcome::Cut,
            end if !end.is_complete() => Outcome::Failed,
            _ if !exhausted.is_empty() => Outcome::Cut,
            _ => graph.outcome(trace),
        };
        if let Outcome::Execution { .. } = outcome
            && !self.shown.insert(graph.fingerprint())
        {
            outcome = Outcome::Excess;
        }
        let (branches, weight) = Branches::of(followed, item.weight);
        if !branches.is_done() {
            self.waiting.push(Waiting::Branches(Box::new(branches)));
        }
        self.share += weight;
        Ok(outcome)
    }
}
