//! Rounds that are known to come to nothing, in runs that nobody has planned that far.
//!
//! # What it decides
//!
//! In which state a thread ends such a round by reading which value is learnt from earlier runs ([`super::rounds`]). Runs are told
//! ([`super::Plan::ends`]), and a thread that does so behind the plan makes no further step: the run need not be made again for it. Whether the round comes to nothing in
//! this run, too, depends on more than that state, and is looked at when the run was made. If not, it is made again, without being told.
//!
//! # Cost
//! That of looking for the round, for each thread that has stopped.

use super::item::Item;
use super::plan::{Stop, ends_round};
use super::run::Trace;
use crate::Step;
use rsan_model::ThreadId;
use std::collections::{BTreeMap, HashSet};

/// Most ends that a run is told.
const MOST: usize = 1000;

/// The ends of rounds that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// In the order in which they were learnt.
    all: Vec<(u64, u64)>,
    known: HashSet<(u64, u64)>,
}

impl Ends {
    /// A round has come to nothing that a thread ended in this state, by reading this value.
    pub(super) fn learn(&mut self, state: u64, value: u64) {
        if self.all.len() < MOST && self.known.insert((state, value)) {
            self.all.push((state, value));
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[(u64, u64)] {
        &self.all
    }

    /// The threads that have stopped in a run that was given the first of them.
    pub(super) fn stops(&self, given: usize, trace: &Trace) -> Vec<Stop> {
        if given == 0 {
            return Vec::new();
        }
        let given = &self.all[..given.min(self.all.len())];
        let mut threads: BTreeMap<ThreadId, (u32, &Step)> = BTreeMap::new();
        let counts = |step: &&Step| !step.op.is_local() && !step.waits();
        for step in trace.steps.iter().filter(counts) {
            let last = threads.entry(step.thread).or_insert((0, step));
            *last = (last.0 + 1, step);
        }
        let stop = |(thread, (step, last)): (ThreadId, (u32, &Step))| {
            let end = (last.local.state, last.read);
            let stops = ends_round(last) && !last.vain && given.contains(&end);
            stops.then_some(Stop {
                thread,
                step,
                value: last.read,
            })
        };
        threads.into_iter().filter_map(stop).collect()
    }
}

impl Item {
    /// The item with these stops, too.
    pub(super) fn stopping(&self, stops: &[Stop]) -> Self {
        let mut item = self.clone();
        item.stops.extend(stops);
        item
    }
}
