//! What of an execution is drawn: which events in which row and column, and which edges between them.
//!
//! Every event that is drawn has a row of its own, so that the picture reads from top to bottom as the run went. Edges that
//! follow from others are left out: program order but between neighbours, what stays inside a thread and agrees with
//! its program order, and modification order from initial values. The edges of the cycle are always there.

use crate::document::{Edge, Event, Execution, StepKind, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// Rows beyond which only the events that matter are drawn.
const MANY_ROWS: usize = 40;

/// What is drawn.
pub(super) struct Graph<'a> {
    pub(super) execution: &'a Execution,
    /// The columns.
    pub(super) threads: Vec<&'a Thread>,
    /// Initial values that are drawn, above the rows.
    pub(super) initial: Vec<u32>,
    /// From top to bottom.
    pub(super) rows: Vec<Row>,
    /// Sorted, those of the cycle last: they are drawn above the others.
    pub(super) lines: Vec<Line>,
    /// Names of the events on the cycle, in the order of the run.
    pub(super) letters: BTreeMap<u32, String>,
}

/// A row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// An event, and the number of its step, from 1.
    Event(u32, Option<usize>),
    /// A delayed store reaches memory, in this step.
    Flush(u32, usize),
    /// So many rows that are left out.
    Gap(usize),
}

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Line {
    pub(super) on_cycle: bool,
    pub(super) edge: Edge,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl<'a> Graph<'a> {
    /// What is drawn of an execution; nothing if no thread does anything. Events that do not exist are ignored: a document
    /// may come from anywhere.
    pub(super) fn new(execution: &'a Execution) -> Option<Self> {
        let all = all_rows(execution);
        let rows = if all.len() > MANY_ROWS {
            without_what_does_not_matter(execution, all)
        } else {
            all
        };
        let drawn: Vec<u32> = rows.iter().filter_map(Row::event).collect();
        if drawn.is_empty() {
            return None;
        }
        let threads: BTreeSet<&Thread> = drawn
            .iter()
            .filter_map(|&event| execution.events.get(event as usize)?.thread.as_ref())
            .collect();
        let mut graph = Self {
            execution,
            threads: threads.into_iter().collect(),
            initial: Vec::new(),
            rows,
            lines: Vec::new(),
            letters: letters(execution),
        };
        graph.initial = graph.initial_values();
        graph.lines = graph.edges(&drawn);
        Some(graph)
    }

    /// An event.
    pub(super) fn event(&self, number: u32) -> Option<&'a Event> {
        self.execution.events.get(number as usize)
    }

    /// The column of an event.
    pub(super) fn column(&self, number: u32) -> Option<usize> {
        let thread = self.event(number)?.thread.as_ref()?;
        self.threads.iter().position(|&other| other == thread)
    }

    /// Initial values that the cycle or the weak access reads; others are clutter.
    fn initial_values(&self) -> Vec<u32> {
        let is_initial = |e: u32| self.event(e).is_some_and(|event| event.thread.is_none());
        let read = self.execution.rf.iter();
        let mut values: Vec<u32> = read
            .filter(|(_, read)| self.letters.contains_key(read))
            .map(|&(write, _)| write)
            .chain(self.execution.stale.and_then(|stale| stale.write))
            .chain(self.letters.keys().copied())
            .filter(|&e| is_initial(e))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn edges(&self, drawn: &[u32]) -> Vec<Line> {
        let shown: BTreeSet<u32> = drawn.iter().chain(&self.initial).copied().collect();
        let mut lines: BTreeSet<Line> = BTreeSet::new();
        let mut add = |(from, to, edge): (u32, u32, Edge), on_cycle| {
            if shown.contains(&from) && shown.contains(&to) && from != to {
                lines.insert(Line {
                    on_cycle,
                    edge,
                    from,
                    to,
                });
            }
        };
        let cycle: BTreeSet<(u32, u32, Edge)> = self.execution.cycle_edges().collect();
        let mut others = self.program_order(drawn);
        others.extend(self.communication());
        for other in others {
            if !cycle.contains(&other) {
                add(other, false);
            }
        }
        for edge in cycle {
            add(edge, true);
        }
        lines.into_iter().collect()
    }

    fn program_order(&self, drawn: &[u32]) -> Vec<(u32, u32, Edge)> {
        let mut last: BTreeMap<&Thread, u32> = BTreeMap::new();
        let mut edges = Vec::new();
        for &event in drawn {
            let thread = self.event(event).and_then(|event| event.thread.as_ref());
            if let Some(before) = thread.and_then(|thread| last.insert(thread, event)) {
                edges.push((before, event, Edge::Po));
            }
        }
        edges
    }

    /// `rf`, `mo` and `fr` between threads. A read that leaves the cycle by `fr` has one such edge already.
    fn communication(&self) -> Vec<(u32, u32, Edge)> {
        let thread = |e: u32| self.event(e).and_then(|event| event.thread.as_ref());
        let leaves: BTreeSet<u32> = self
            .execution
            .cycle_edges()
            .filter(|&(_, _, edge)| edge == Edge::Fr)
            .map(|(from, _, _)| from)
            .collect();
        let mut edges = self.execution.immediate_edges();
        edges.retain(|&(from, to, edge)| {
            let legible = match edge {
                Edge::Po => false,
                Edge::Fr => !leaves.contains(&from),
                Edge::Mo => thread(from).is_some(),
                Edge::Asw | Edge::Sw | Edge::Rf | Edge::Sc => true,
            };
            legible && thread(from) != thread(to)
        });
        edges
    }
}

impl Row {
    /// The event of a row, unless it is a flush.
    fn event(&self) -> Option<u32> {
        match *self {
            Self::Event(event, _) => Some(event),
            Self::Flush(..) | Self::Gap(_) => None,
        }
    }
}

/// The rows of the schedule, and of the events after it.
fn all_rows(execution: &Execution) -> Vec<Row> {
    let belongs = |e: u32| {
        let event = execution.events.get(e as usize);
        event.is_some_and(|event| event.thread.is_some())
    };
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, step) in execution.schedule.iter().enumerate() {
        let Some(event) = step.event.filter(|&event| belongs(event)) else {
            continue;
        };
        match step.kind {
            StepKind::Access if seen.insert(event) => rows.push(Row::Event(event, Some(i + 1))),
            StepKind::Access => {}
            StepKind::Flush => rows.push(Row::Flush(event, i + 1)),
        }
    }
    let rest = (0..execution.events.len() as u32).filter(|&e| belongs(e) && !seen.contains(&e));
    rows.extend(rest.map(|e| Row::Event(e, None)));
    rows
}

/// Leaves out events that neither are on the cycle nor touch it.
fn without_what_does_not_matter(execution: &Execution, rows: Vec<Row>) -> Vec<Row> {
    let mut kept: BTreeSet<u32> = execution.cycle.iter().map(|step| step.event).collect();
    if let Some(stale) = execution.stale {
        kept.extend([stale.access, stale.missed]);
        kept.extend(stale.write);
    }
    if let Some(delay) = execution.delay {
        kept.extend([delay.store, delay.load]);
    }
    let read = execution.rf.iter();
    let sources: Vec<u32> = read
        .filter(|(_, read)| kept.contains(read))
        .map(|&(write, _)| write)
        .collect();
    kept.extend(sources);
    if kept.is_empty() {
        // No cycle: what led to the failure comes last.
        let last = rows.iter().rev().filter_map(Row::event);
        kept.extend(last.take(MANY_ROWS));
    }
    let mut out: Vec<Row> = Vec::new();
    for row in rows {
        let stays = match row {
            Row::Event(event, _) | Row::Flush(event, _) => kept.contains(&event),
            Row::Gap(_) => false,
        };
        match out.last_mut() {
            _ if stays => out.push(row),
            Some(Row::Gap(count)) => *count += 1,
            Some(Row::Event(..) | Row::Flush(..)) | None => out.push(Row::Gap(1)),
        }
    }
    out
}

/// Names for the events on the cycle.
fn letters(execution: &Execution) -> BTreeMap<u32, String> {
    let events = execution.cycle.iter().map(|step| step.event);
    events
        .filter(|&event| (event as usize) < execution.events.len())
        .filter_map(|event| Some((event, execution.letter(event)?)))
        .collect()
}
