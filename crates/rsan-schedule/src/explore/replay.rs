//! Whether a run did what was planned, and the graph of what it did.

use super::graph::{Event, Graph, INIT, NONE};
use super::item::Item;
use super::run::{Builder, End, Trace, write_time};
use super::{Outcome, Unready};
use crate::objects::Objects;
use crate::strategy::Divergence;
use crate::{Kind, Step};
use rsan_model::ThreadId;

/// The graph of a run.
pub(super) struct Replayed {
    pub(super) graph: Graph,
    /// Events of the plan whose write part is new, in the order in which they are added.
    pub(super) open: Vec<u32>,
    /// Events that are new.
    pub(super) new: std::ops::Range<u32>,
    /// Operations that wait since the end of the run.
    pub(super) waiting: Vec<u32>,
}

impl Item {
    /// The graph of a run of this item's plan; an error when the run does not show the item's graph.
    pub(super) fn replay(&self, objects: &Objects, trace: &Trace) -> Result<Replayed, Outcome> {
        let planned = self.unready.len();
        let mut builder = Builder::new(objects);
        // By event of the item: the event of the graph.
        let mut places = vec![NONE; self.events.len()];
        let mut steps = trace.steps.iter();
        let mut skipped = Vec::new();
        let mut open = Vec::new();
        let mut now = self.now;
        let write_times = self.write_times(&mut now);
        for (i, event) in self.events[..planned].iter().enumerate() {
            let found = steps.as_slice().first();
            let matches = |s: &&Step| s.thread.0 == event.thread;
            let Some(step) = found.filter(matches) else {
                match self.unready[i] {
                    Unready::Waits => skipped.push(i),
                    Unready::Refused if found.is_none() => return Err(Outcome::Excess),
                    _ => return Err(self.diverged(i, None)),
                }
                continue;
            };
            steps.next();
            if step.op.kind != event.kind {
                return Err(self.diverged(i, Some(step.op.kind)));
            }
            let e = builder.step(step, event.added, write_times[i]);
            places[i] = e;
            if self.open.contains(&(i as u32)) {
                open.push(e);
            }
        }
        self.check(&builder.graph, &places)?;
        let first = builder.graph.events.len() as u32;
        for step in steps {
            builder.step(step, now, write_time(step.op.kind, now));
            now += 2;
        }
        let new = first..builder.graph.events.len() as u32;
        for i in skipped.into_iter().chain(planned..self.events.len()) {
            let event = &self.events[i];
            let pending = trace.pending.iter().find(|p| p.thread.0 == event.thread);
            let Some(pending) = pending.filter(|p| p.op.kind == event.kind) else {
                return Err(self.diverged(i, pending.map(|p| p.op.kind)));
            };
            let rf = match event.rf {
                w if w >= INIT => w,
                w => places[w as usize],
            };
            builder.waiting(pending, Some(rf), event.added);
        }
        let mut waiting = Vec::new();
        if trace.end == End::Finished {
            for pending in &trace.pending {
                let kind = pending.op.kind;
                let there = |e: &Event| e.waits && e.thread == pending.thread.0;
                let waits = kind.may_block() && kind.is_access();
                if waits && !builder.graph.events.iter().any(there) {
                    waiting.push(builder.waiting(pending, None, now));
                    now += 2;
                }
            }
        }
        open.sort_unstable_by_key(|&e| builder.graph.events[e as usize].write_added);
        Ok(Replayed {
            graph: builder.graph,
            open,
            new,
            waiting,
        })
    }

    /// When the write part of each event was added; those that are open come next.
    fn write_times(&self, now: &mut u32) -> Vec<u32> {
        let mut times: Vec<u32> = self.events.iter().map(|e| e.write_added).collect();
        for &i in &self.open {
            times[i as usize] = *now;
            *now += 1;
        }
        times
    }

    /// Whether the run's graph is the item's, as far as that is planned.
    fn check(&self, graph: &Graph, places: &[u32]) -> Result<(), Outcome> {
        for (i, event) in self.events[..self.unready.len()].iter().enumerate() {
            if places[i] == NONE {
                continue;
            }
            let found = &graph.events[places[i] as usize];
            let rf = match event.rf {
                w if w >= INIT => w,
                w => places[w as usize],
            };
            let open = self.open.contains(&(i as u32));
            let writes = open || event.writes == found.writes;
            let same_size = found.object == NONE || graph.uniform[found.object as usize];
            if writes && (found.rf == rf || !same_size) {
                continue;
            }
            return Err(match self.guessed == NONE {
                true => self.diverged(i, Some(found.kind)),
                false => Outcome::Excess,
            });
        }
        Ok(())
    }

    fn diverged(&self, i: usize, found: Option<Kind>) -> Outcome {
        Outcome::Diverged(Divergence {
            step: i,
            thread: ThreadId(self.events[i].thread),
            expected: self.events[i].kind,
            found,
        })
    }
}
