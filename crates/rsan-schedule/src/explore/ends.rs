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

use super::plan::{Stop, ends_round};
use super::run::Trace;
use crate::Step;
use crate::mixed::Mixed;
use rsan_model::ThreadId;
use std::collections::{BTreeMap, HashSet};

/// Most ends that a run is told.
const MOST: usize = 1000;

/// The ends of rounds that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// In the order in which they were learnt.
    all: Vec<(u64, u64)>,
    known: HashSet<(u64, u64), Mixed>,
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

    /// The stops of a run that was given the first of the ends, and had to stop at these stops.
    pub(super) fn stops(&self, given: usize, planned: &[Stop], trace: &Trace) -> Stops {
        let mut stops = Stops::default();
        if given == 0 && planned.is_empty() {
            return stops;
        }
        let given = &self.all[..given.min(self.all.len())];
        // By thread: its last step, and whether it has to stop there.
        let mut threads: BTreeMap<ThreadId, (Stop, &Step, bool)> = BTreeMap::new();
        let counts = |step: &&Step| !step.op.is_local() && !step.waits();
        for step in trace.steps.iter().filter(counts) {
            let before = threads.get(&step.thread);
            let stop = Stop {
                thread: step.thread,
                step: before.map_or(1, |(stop, ..)| stop.step + 1),
                value: step.read,
            };
            let stops_here = !step.writes && planned.contains(&stop);
            if let Some((stop, _, true)) = threads.insert(step.thread, (stop, step, stops_here)) {
                stops.passed.push(stop);
            }
        }
        let stopped = |(stop, last, planned): (Stop, &Step, bool)| {
            let end = (last.local.state, last.read);
            let ends = ends_round(last) && !last.vain && given.contains(&end);
            (planned || ends).then_some(stop)
        };
        stops.here = threads.into_values().filter_map(stopped).collect();
        stops
    }
}

/// What became of the stops of a run. Who came there and read something else, as others went on before it, has not stopped.
#[derive(Default)]
pub(super) struct Stops {
    /// Threads that have stopped.
    pub(super) here: Vec<Stop>,
    /// Those whose plan goes on behind the stop, as that was not known when it was made.
    pub(super) passed: Vec<Stop>,
}

impl Stops {
    /// Whether a thread would make no further step.
    pub(super) fn has(&self, thread: u32) -> bool {
        let mut all = self.here.iter().chain(&self.passed);
        all.any(|stop| stop.thread.0 == thread)
    }

    /// Whether no thread has come to its stop.
    pub(super) fn is_empty(&self) -> bool {
        self.here.is_empty() && self.passed.is_empty()
    }
}
