//! Whether a run did what was planned, and the graph of what it did.

use super::graph::{Event, Graph, INIT, NONE};
use super::item::Item;
use super::meetings::Meetings;
use super::run::{Builder, Pending, Seen, Trace, write_time};
use super::{Outcome, Unready};
use crate::objects::Objects;
use crate::strategy::{Divergence, Found};
use crate::{End, Kind, Step};
use rsan_model::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// The graph of a run.
pub(super) struct Replayed {
    pub(super) graph: Graph,
    /// By event: what was seen of its step.
    pub(super) seen: Vec<Seen>,
    /// Events of the plan whose write part is new, in the order in which they are added.
    pub(super) open: Vec<u32>,
    /// Events that are new.
    pub(super) new: std::ops::Range<u32>,
    /// Operations that wait since the end of the run.
    pub(super) waiting: Vec<u32>,
}

/// Follows a run through the item's plan and behind it.
struct Follower<'i> {
    item: &'i Item,
    builder: Builder<'i>,
    /// By thread: its events of the plan that are left, last first.
    left: BTreeMap<u32, Vec<usize>>,
    /// By event of the item: the event of the graph.
    places: Vec<u32>,
    /// By event of the item: when its write part was added, and whether that is new.
    write_times: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<u32>,
    /// By thread: the attempt that it made last, if it waits since then; and the event of the item that this is.
    attempts: BTreeMap<u32, (Pending, Option<usize>)>,
    ended: BTreeSet<u32>,
    /// By thread that spins: its last read there, and whether that is of a write that was chosen for it.
    vain: BTreeMap<u32, (Kind, bool)>,
    now: u32,
    first: u32,
}

impl Item {
    /// The graph of a run of this item's plan; an error when the run does not show the item's graph.
    ///
    /// What the `exhausted` threads would have done is not known.
    pub(super) fn replay(
        &self,
        objects: &Objects,
        trace: &Trace,
        exhausted: &BTreeSet<u32>,
        meetings: Meetings,
    ) -> Result<Replayed, Outcome> {
        let mut left: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, event) in self.events.iter().enumerate().rev() {
            left.entry(event.thread).or_default().push(i);
        }
        let mut now = self.now;
        let mut follower = Follower {
            item: self,
            builder: Builder::new(objects, meetings, trace.steps.len() + trace.pending.len()),
            left,
            places: vec![NONE; self.events.len()],
            write_times: self.write_times(&mut now),
            is_open: self.is_open(),
            open: Vec::new(),
            attempts: BTreeMap::new(),
            ended: BTreeSet::new(),
            vain: BTreeMap::new(),
            now,
            first: 0,
        };
        for step in &trace.steps {
            follower.step(step).map_err(|o| follower.first(o))?;
        }
        follower.end(trace, exhausted)
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

    /// By event: whether its write part has to be added next.
    fn is_open(&self) -> Vec<bool> {
        let mut is_open = vec![false; self.events.len()];
        for &i in &self.open {
            is_open[i as usize] = true;
        }
        is_open
    }

    fn diverged(&self, i: usize, found: Found) -> Outcome {
        Outcome::Diverged(Divergence {
            step: i,
            thread: ThreadId(self.events[i].thread),
            expected: self.events[i].kind,
            found,
        })
    }
}

impl Follower<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Outcome> {
        self.check_vain(step)?;
        let planned = self.left.get_mut(&step.thread.0).and_then(Vec::pop);
        match planned {
            Some(i) => self.planned_step(i, step),
            None => {
                self.new_step(step);
                Ok(())
            }
        }
    }

    /// Whether the step does not belie that its thread's spin iteration failed.
    fn check_vain(&self, step: &Step) -> Result<(), Outcome> {
        let kind = step.op.kind;
        let local = matches!(kind, Kind::Fence | Kind::Yield);
        match self.vain.get(&step.thread.0) {
            Some(&(expected, _)) if !step.vain && !local => Err(Outcome::Diverged(Divergence {
                step: self.builder.graph.events.len(),
                thread: step.thread,
                expected,
                found: Found::BehindVain(kind),
            })),
            _ => Ok(()),
        }
    }

    fn planned_step(&mut self, i: usize, step: &Step) -> Result<(), Outcome> {
        let (event, unready) = (&self.item.events[i], self.item.unready[i]);
        if step.op.kind != event.kind {
            return Err(self.item.diverged(i, Found::Step(step.op.kind)));
        }
        match (step.waits(), unready) {
            (true, Unready::Waits) => {
                self.attempts
                    .insert(step.thread.0, (pending(step), Some(i)));
                return Ok(());
            }
            (true, Unready::Refused) => return Err(Outcome::Excess),
            (true, Unready::Diverges | Unready::Frozen) => {
                return Err(self.item.diverged(i, Found::Nothing));
            }
            (false, _) if event.waits => return Err(self.item.diverged(i, Found::OtherWrite)),
            (false, _) => {}
        }
        if step.op.kind == Kind::End {
            self.ended.insert(step.thread.0);
        }
        if step.vain {
            let chosen = unready == Unready::Refused || event.spurious;
            self.spins(step, chosen);
        }
        let e = self.builder.step(step, event.added, self.write_times[i]);
        self.places[i] = e;
        if self.is_open[i] {
            self.open.push(e);
        }
        self.first = e + 1;
        Ok(())
    }

    fn new_step(&mut self, step: &Step) {
        let thread = step.thread.0;
        let kind = step.op.kind;
        if kind == Kind::Join && !self.ended.contains(&step.peer()) {
            return;
        }
        if step.waits() {
            self.attempts.insert(thread, (pending(step), None));
            return;
        }
        if kind == Kind::End {
            self.ended.insert(thread);
        }
        if step.vain {
            self.spins(step, false);
        }
        self.attempts.remove(&thread);
        self.builder
            .step(step, self.now, write_time(kind, self.now));
        self.now += 2;
    }

    /// The step is one of a spin iteration that failed. Only reads tell another iteration from it.
    fn spins(&mut self, step: &Step, chosen: bool) {
        let (kind, thread) = (step.op.kind, step.thread.0);
        match self.vain.get_mut(&thread) {
            Some(last) if kind == Kind::Store => last.0 = kind,
            _ => {
                self.vain.insert(thread, (kind, chosen));
            }
        }
    }

    fn end(mut self, trace: &Trace, exhausted: &BTreeSet<u32>) -> Result<Replayed, Outcome> {
        let mut left: Vec<usize> = self.left.values().flatten().copied().collect();
        left.sort_unstable();
        for i in left {
            let event = &self.item.events[i];
            let mut pending = trace.pending.iter();
            let pending = pending.find(|p| p.thread.0 == event.thread);
            match (self.item.unready[i], pending) {
                (Unready::Waits, Some(p)) if p.op.kind == event.kind => {
                    self.attempts.insert(event.thread, (*p, Some(i)));
                }
                (Unready::Refused, Some(p)) if p.op.kind == event.kind => {
                    return Err(Outcome::Excess);
                }
                _ => {
                    return Err(match trace.end {
                        End::CutOff => Outcome::Cut,
                        end if !end.is_complete() => Outcome::Failed,
                        _ => {
                            let found = Found::next(pending.map(|p| p.op.kind));
                            self.first(self.item.diverged(i, found))
                        }
                    });
                }
            }
        }
        // Nothing that others do can let such a thread pass any more (deviation 5).
        if self.vain.values().any(|&(_, chosen)| chosen) {
            return Err(Outcome::Excess);
        }
        self.check()?;
        let new = self.first..self.builder.graph.events.len() as u32;
        let waiting = self.waiting(trace, exhausted);
        let mut open = self.open;
        open.sort_unstable_by_key(|&e| self.builder.graph.events[e as usize].write_added);
        Ok(Replayed {
            graph: self.builder.graph,
            seen: self.builder.seen,
            open,
            new,
            waiting,
        })
    }

    /// Adds the operations that wait; those that are new are returned.
    fn waiting(&mut self, trace: &Trace, exhausted: &BTreeSet<u32>) -> Vec<u32> {
        let finished = trace.end.is_complete();
        for pending in trace.waiting(exhausted) {
            let thread = pending.thread.0;
            self.attempts.entry(thread).or_insert((pending, None));
        }
        let mut new = Vec::new();
        for (pending, planned) in std::mem::take(&mut self.attempts).into_values() {
            if let Some(i) = planned {
                let event = &self.item.events[i];
                let rf = self.source(event);
                self.builder.waiting(&pending, Some(rf), event.added);
            } else if finished {
                new.push(self.builder.waiting(&pending, None, self.now));
                self.now += 2;
            }
        }
        new
    }

    /// What an event of the item reads in the graph.
    fn source(&self, event: &Event) -> u32 {
        match event.rf {
            w if w >= INIT => w,
            w => self.places[w as usize],
        }
    }

    /// Whether the run's graph is the item's, as far as that is planned.
    fn check(&self) -> Result<(), Outcome> {
        let graph = &self.builder.graph;
        for (i, event) in self.item.events.iter().enumerate() {
            if self.places[i] == NONE {
                continue;
            }
            let found = &graph.events[self.places[i] as usize];
            let open = self.is_open[i];
            let writes = open || event.writes == found.writes;
            let writes = writes && event.spurious == found.spurious;
            let same_size = found.object == NONE || graph.uniform[found.object as usize];
            if writes && (found.rf == self.source(event) || !same_size) {
                continue;
            }
            return Err(match self.item.guessed == NONE {
                true => self.item.diverged(i, Found::OtherWrite),
                false => Outcome::Excess,
            });
        }
        Ok(())
    }

    /// The first divergence, if there is one: before a thread does something else, it has read something else.
    fn first(&self, outcome: Outcome) -> Outcome {
        let Outcome::Diverged(last) = outcome else {
            return outcome;
        };
        let graph = &self.builder.graph;
        let mut events = self.item.events.iter().enumerate();
        let other = events.find(|(i, event)| {
            let found = graph.events.get(self.places[*i] as usize);
            found.is_some_and(|found| {
                let same_size = found.object == NONE || graph.uniform[found.object as usize];
                same_size && found.rf != self.source(event)
            })
        });
        match other.filter(|(i, _)| *i < last.step) {
            Some((i, _)) => self.item.diverged(i, Found::OtherWrite),
            None => outcome,
        }
    }
}

/// The attempt as an operation that waits.
fn pending(step: &Step) -> Pending {
    Pending {
        thread: step.thread,
        op: step.op,
        expected: step.expected,
    }
}
