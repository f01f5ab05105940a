//! The trace of a computation, and the cycle that no SC computation has.

use crate::machine::{Event, Machine};
use rsan_model::{Edge, Value};
use std::collections::{BTreeMap, VecDeque};

/// Events and the order in which writes reached memory.
pub(crate) struct Trace<'a> {
    pub(crate) events: &'a [Event],
    order: &'a BTreeMap<Value, Vec<usize>>,
}

impl<'a> Trace<'a> {
    pub(crate) fn of(machine: &'a Machine<'_>) -> Self {
        Self {
            events: &machine.events,
            order: &machine.order,
        }
    }

    /// The edges from one event: program order to the next one of its thread, reads-from, from-read and the order of
    /// writes. Two accesses of one locked section are one step for everybody else, so they lead to each other.
    pub(crate) fn edges(&self, from: usize) -> Vec<(usize, Edge)> {
        let event = &self.events[from];
        let mut edges = Vec::new();
        let later = self.events.iter().enumerate().skip(from + 1);
        edges.extend(
            later
                .filter(|(_, e)| e.thread == event.thread)
                .take(1)
                .map(|(i, _)| (i, Edge::Po)),
        );
        if let Some(section) = event.section {
            let same = |e: &Event| e.section == Some(section);
            let earlier = self.events[..from].iter().enumerate();
            edges.extend(earlier.filter(|(_, e)| same(e)).map(|(i, _)| (i, Edge::Po)));
        }
        let writes = self
            .order
            .get(&event.address)
            .map_or(&[][..], Vec::as_slice);
        let position = |event: usize| writes.iter().position(|w| *w == event);
        if event.written.is_some() {
            let readers = self.events.iter().enumerate();
            let mine = readers.filter(|(_, e)| e.from == Some(from));
            edges.extend(mine.map(|(i, _)| (i, Edge::Rf)));
            let next = position(from).and_then(|at| writes.get(at + 1));
            edges.extend(next.map(|w| (*w, Edge::Mo)));
        }
        if event.read.is_some() {
            let next = match event.from {
                None => writes.first(),
                Some(write) => position(write).and_then(|at| writes.get(at + 1)),
            };
            edges.extend(next.filter(|w| **w != from).map(|w| (*w, Edge::Fr)));
        }
        edges
    }

    /// The shortest way from one event to another that leaves no event of thread `avoid` by program order.
    pub(crate) fn way(
        &self,
        from: usize,
        to: usize,
        avoid: Option<usize>,
    ) -> Option<Vec<(usize, Edge)>> {
        let mut came: Vec<Option<(usize, Edge)>> = vec![None; self.events.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (next, edge) in self.edges(at) {
                let avoided = edge == Edge::Po && Some(self.events[at].thread) == avoid;
                if avoided || next == from || came[next].is_some() {
                    continue;
                }
                came[next] = Some((at, edge));
                if next == to {
                    return Some(unwind(&came, from, to));
                }
                queue.push_back(next);
            }
        }
        None
    }
}

fn unwind(came: &[Option<(usize, Edge)>], from: usize, to: usize) -> Vec<(usize, Edge)> {
    let mut way = Vec::new();
    let mut at = to;
    while at != from {
        let (before, edge) = came[at].expect("the search came this way");
        way.push((before, edge));
        at = before;
    }
    way.reverse();
    way
}
