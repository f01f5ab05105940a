//! Meetings of threads: barriers, and ends of scopes.
//!
//! # What it decides
//!
//! Whether the order in which threads come to a meeting is a part of an execution (docs/theory/sc-runs.md, S11). It is not as long as nobody comes to a round
//! of a barrier without knowing that the round before is over: then who meets whom does not depend on it.
//!
//! # Cost
//! That of an index of the graph, if there are barriers with several rounds or too many threads.

use super::Explorer;
use super::graph::{Event, Graph, NONE};
use super::index::Index;
use crate::{Kind, Step};
use std::collections::BTreeMap;

/// What arrivals are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meetings {
    /// They are accesses of nothing; who leaves is behind them.
    Commute,
    /// They are read-modify-writes of their meeting.
    Ordered,
}

impl Meetings {
    /// As these events, of plans that wait, have them.
    pub(super) fn of<'e>(events: impl Iterator<Item = &'e Event>) -> Self {
        let mut arrivals = events.filter(|event| event.kind == Kind::Arrive);
        match arrivals.any(Event::reads) {
            true => Self::Ordered,
            false => Self::Commute,
        }
    }

    /// Whether arrivals commute, and somebody came to a round of a barrier without knowing of the end of the round before.
    pub(super) fn are_crowded(self, graph: &Graph, steps: &[Step]) -> bool {
        if self == Self::Ordered {
            return false;
        }
        let events = (0..).zip(&graph.events);
        let arrivals = events.filter(|(_, event)| event.kind == Kind::Arrive);
        let steps = steps.iter().filter(|step| step.op.kind == Kind::Arrive);
        let mut barriers: BTreeMap<(u64, u64), Vec<u32>> = BTreeMap::new();
        for ((e, _), step) in arrivals.zip(steps).filter(|(_, step)| step.expected != 0) {
            let barrier = (step.op.object, step.expected);
            barriers.entry(barrier).or_default().push(e);
        }
        barriers.retain(|&(_, threads), all| all.len() as u64 > threads);
        if barriers.is_empty() {
            return false;
        }
        let index = Index::new(graph);
        let mut all = barriers.iter();
        all.any(|(&(_, threads), all)| {
            let rounds: Vec<&[u32]> = all.chunks(threads as usize).collect();
            let mut pairs = rounds.windows(2);
            pairs.any(|pair| !is_behind(graph, &index, pair[0], pair[1]))
        })
    }
}

/// Whether all arrivals of a round know those of the round before.
fn is_behind(graph: &Graph, index: &Index, before: &[u32], round: &[u32]) -> bool {
    round.iter().all(|&arrival| {
        let known = index.before(graph, arrival, NONE);
        before.iter().all(|&earlier| index.is_in(&known, earlier))
    })
}

impl Explorer {
    /// The order in which threads come to a meeting is a part of executions.
    pub fn order_arrivals(&mut self) {
        self.meetings = Meetings::Ordered;
    }
}
