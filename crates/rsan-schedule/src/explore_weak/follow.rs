//! Whether a run did what was planned, and the graph of what it did.

use super::consistent::{Check, Part};
use super::graph::{Event, Graph, INIT, Links, NONE, Syncs};
use super::item::Item;
use crate::explore::{Outcome, Pending, Trace, Unready};
use crate::objects::Objects;
use crate::strategy::{Divergence, Found};
use crate::{End, Kind, Op, ReadsFrom, Step};
use rsan_model::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// The graph of a run.
pub(super) struct Followed {
    pub(super) graph: Graph,
    /// The event of the plan whose write part is new.
    pub(super) open: Option<u32>,
    /// Events that are new, those that wait included.
    pub(super) new: Vec<u32>,
}

/// Why the graph of a run is not the one that was planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// The run is this.
    Is(Outcome),
    /// A read was not possible, because of an order that was not known before.
    Unforeseen,
}

impl Refused {
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Is(outcome) => outcome,
            Self::Unforeseen => Outcome::Excess,
        }
    }
}

/// Follows a run through the item's plan and behind it.
struct Follower<'i> {
    item: &'i Item,
    objects: &'i Objects,
    graph: Graph,
    links: Links,
    /// By object: the write that was executed last.
    last: Vec<u32>,
    /// By step of the trace: its event.
    events: Vec<u32>,
    /// By thread: its events of the plan that are left, last first.
    left: BTreeMap<u32, Vec<usize>>,
    /// By event of the item: the event of the graph.
    places: Vec<u32>,
    /// By thread: the attempt that it made last, if it waits since then; and the event of the item that this is.
    attempts: BTreeMap<u32, (Pending, Option<usize>)>,
    ended: BTreeSet<u32>,
    /// By thread that spins: what it last did there.
    vain: BTreeMap<u32, Kind>,
    now: u32,
    first: u32,
}

impl Item {
    /// The graph of a run of this item's plan; an error when the run does not show the item's graph.
    ///
    /// What the `exhausted` threads would have done is not known.
    pub(super) fn follow(
        &self,
        objects: &Objects,
        trace: &Trace,
        exhausted: &BTreeSet<u32>,
    ) -> Result<Followed, Refused> {
        let mut left: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, event) in self.events.iter().enumerate().rev() {
            left.entry(event.thread).or_default().push(i);
        }
        let mut follower = Follower {
            item: self,
            objects,
            graph: Graph {
                initial: vec![None; objects.len()],
                ..Graph::default()
            },
            links: Links::default(),
            last: vec![INIT; objects.len()],
            events: Vec::new(),
            left,
            places: vec![NONE; self.events.len()],
            attempts: BTreeMap::new(),
            ended: BTreeSet::new(),
            vain: BTreeMap::new(),
            now: self.now + u32::from(self.open.is_some()),
            first: 0,
        };
        for step in &trace.steps {
            follower.step(step)?;
        }
        follower.end(trace, exhausted)
    }

    fn diverged(&self, i: usize, found: Found) -> Refused {
        Refused::Is(Outcome::Diverged(Divergence {
            step: i,
            thread: ThreadId(self.events[i].thread),
            expected: self.events[i].kind,
            found,
        }))
    }
}

impl Follower<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Refused> {
        self.check_vain(step)?;
        let thread = step.thread.0;
        let planned = self.left.get_mut(&thread).and_then(Vec::pop);
        if let Some(i) = planned
            && step.op.kind != self.item.events[i].kind
        {
            return Err(self.item.diverged(i, Found::Step(step.op.kind)));
        }
        if step.waits() {
            self.events.push(NONE);
            return self.attempt(step, planned);
        }
        let early = step.op.kind == Kind::Join && !self.ended.contains(&step.peer());
        if planned.is_none() && early {
            self.events.push(NONE);
            return Ok(());
        }
        self.attempts.remove(&thread);
        if step.op.kind == Kind::End {
            self.ended.insert(thread);
        }
        if step.vain {
            self.vain.insert(thread, step.op.kind);
        }
        let e = self.graph.events.len() as u32;
        let (added, write_added) = self.times(planned);
        let event = self.event(step, added, write_added)?;
        self.graph.push(e, event, &mut self.links);
        self.events.push(e);
        if let Some(i) = planned {
            self.places[i] = e;
            self.first = e + 1;
        }
        let object = event.object as usize;
        if event.object != NONE && self.graph.initial[object].is_none() {
            self.graph.initial[object] = Some(step.read);
        }
        if event.writes {
            self.last[object] = e;
        }
        Ok(())
    }

    /// A step that is an attempt only.
    fn attempt(&mut self, step: &Step, planned: Option<usize>) -> Result<(), Refused> {
        let pending = Pending {
            thread: step.thread,
            op: step.op,
            expected: step.expected,
        };
        match planned.map(|i| (i, self.item.unready[i])) {
            None | Some((_, Unready::Waits)) => {
                self.attempts.insert(step.thread.0, (pending, planned));
                Ok(())
            }
            Some((_, Unready::Refused)) => Err(Refused::Is(Outcome::Excess)),
            Some((i, Unready::Diverges | Unready::Frozen)) => {
                Err(self.item.diverged(i, Found::Nothing))
            }
        }
    }

    /// When the next event, or this event of the plan, and its write part were added.
    fn times(&mut self, planned: Option<usize>) -> (u32, u32) {
        let Some(i) = planned else {
            self.now += 2;
            return (self.now - 2, self.now - 1);
        };
        let event = &self.item.events[i];
        match self.item.open == Some(i as u32) {
            true => (event.added, self.item.now),
            false => (event.added, event.write_added),
        }
    }

    /// Whether the step does not belie that its thread's spin iteration failed.
    fn check_vain(&self, step: &Step) -> Result<(), Refused> {
        let kind = step.op.kind;
        match self.vain.get(&step.thread.0) {
            Some(&expected) if !step.vain && !matches!(kind, Kind::Fence | Kind::Yield) => {
                Err(self.diverged(step, expected, Found::BehindVain(kind)))
            }
            _ => Ok(()),
        }
    }

    /// The step is not what it should be.
    fn diverged(&self, step: &Step, expected: Kind, found: Found) -> Refused {
        Refused::Is(Outcome::Diverged(Divergence {
            step: self.graph.events.len(),
            thread: step.thread,
            expected,
            found,
        }))
    }

    fn object(&self, op: &Op) -> u32 {
        self.objects.number(op).map_or(NONE, |n| n as u32)
    }

    /// What the step reads: what it says, or the last write.
    fn source(&self, step: &Step, object: u32) -> Result<u32, Refused> {
        match step.from {
            _ if !step.op.kind.may_read() => Ok(NONE),
            ReadsFrom::Unsaid => Ok(self.last[object as usize]),
            ReadsFrom::Initial => Ok(INIT),
            ReadsFrom::Step(number) => {
                let event = self.events.get(number as usize).copied();
                let write = |e: &u32| {
                    let event = self.graph.events.get(*e as usize);
                    event.is_some_and(|event| event.writes && event.object == object)
                };
                let kind = step.op.kind;
                event
                    .filter(write)
                    .ok_or_else(|| self.diverged(step, kind, Found::NoSuchWrite))
            }
        }
    }

    fn event(&self, step: &Step, added: u32, write_added: u32) -> Result<Event, Refused> {
        let kind = step.op.kind;
        let object = self.object(&step.op);
        let writes = step.writes && kind.may_write();
        Ok(Event {
            thread: step.thread.0,
            kind,
            object,
            rf: self.source(step, object)?,
            writes,
            waits: false,
            vain: step.vain,
            spurious: step.spurious,
            may_fail: step.may_fail,
            order: step.order,
            failure: step.failure,
            wrote: writes.then_some(step.wrote),
            expected: step.expected,
            added,
            write_added: match kind.may_read() && kind.may_write() {
                true => write_added,
                false => added,
            },
            peer: match kind {
                Kind::Spawn | Kind::Join => step.peer(),
                _ => NONE,
            },
        })
    }

    fn end(mut self, trace: &Trace, exhausted: &BTreeSet<u32>) -> Result<Followed, Refused> {
        let mut left: Vec<usize> = self.left.values().flatten().copied().collect();
        left.sort_unstable();
        for i in left {
            let event = &self.item.events[i];
            let mut pending = trace.pending.iter();
            let pending = pending.find(|p| p.thread.0 == event.thread);
            match (self.item.unready[i], pending) {
                (Unready::Waits | Unready::Frozen, Some(p)) if p.op.kind == event.kind => {
                    self.attempts.insert(event.thread, (*p, Some(i)));
                }
                (Unready::Refused, Some(p)) if p.op.kind == event.kind => {
                    return Err(Refused::Is(Outcome::Excess));
                }
                _ => {
                    return Err(match trace.end {
                        End::CutOff => Refused::Is(Outcome::Cut),
                        end if !end.is_complete() => Refused::Is(Outcome::Failed),
                        _ => self
                            .item
                            .diverged(i, Found::next(pending.map(|p| p.op.kind))),
                    });
                }
            }
        }
        self.check()?;
        let open = self.item.open.map(|i| self.places[i as usize]);
        let there = |e: &u32| {
            let event = self.graph.events.get(*e as usize);
            event.is_some_and(|event| event.writes)
        };
        let open = open.filter(there);
        let mut new: Vec<u32> = (self.first..self.graph.events.len() as u32).collect();
        new.extend(self.waiting(trace, exhausted));
        Ok(Followed {
            open,
            new,
            graph: self.graph,
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
            if planned.is_none() && !finished {
                continue;
            }
            let object = self.object(&pending.op);
            let (rf, added) = match planned {
                Some(i) => {
                    let event = &self.item.events[i];
                    (self.place(event.rf), event.added)
                }
                None => (self.last[object as usize], self.times(None).0),
            };
            let e = self.graph.events.len() as u32;
            let event = Event {
                thread: pending.thread.0,
                kind: pending.op.kind,
                object,
                rf,
                writes: false,
                waits: true,
                vain: false,
                spurious: false,
                may_fail: false,
                order: None,
                failure: None,
                wrote: None,
                expected: pending.expected,
                added,
                write_added: added + 1,
                peer: NONE,
            };
            self.graph.push(e, event, &mut self.links);
            if planned.is_none() {
                new.push(e);
            }
        }
        new
    }

    /// The event of the graph that is this one of the item.
    fn place(&self, e: u32) -> u32 {
        match e {
            e if e >= INIT => e,
            e => self.places[e as usize],
        }
    }

    /// Whether the run's graph is the item's, as far as that is planned.
    fn check(&self) -> Result<(), Refused> {
        for (i, event) in self.item.events.iter().enumerate() {
            let Some(found) = self.graph.events.get(self.places[i] as usize) else {
                continue;
            };
            if event.waits {
                return Err(self.item.diverged(i, Found::OtherWrite));
            }
            // It had a reason to fail, after all.
            if event.spurious && !found.spurious {
                return Err(Refused::Is(Outcome::Excess));
            }
            let open = self.item.open == Some(i as u32);
            let writes = open || found.vain || event.writes == found.writes;
            if found.vain && self.is_hopeless(self.places[i]) {
                return Err(Refused::Is(Outcome::Excess));
            }
            if writes && found.rf == self.place(event.rf) {
                continue;
            }
            // What conditions and barriers order is not known before.
            let syncs = self.graph.events.iter().any(|e| e.kind == Kind::Sync);
            return Err(match syncs {
                true => Refused::Unforeseen,
                false => self.item.diverged(i, Found::OtherWrite),
            });
        }
        Ok(())
    }

    /// Whether a failed spin iteration has read what is overwritten for good: it is never a first choice, so it stays as it is in all that
    /// would follow, and the thread never passes.
    fn is_hopeless(&self, e: u32) -> bool {
        let read = self.graph.events[e as usize];
        let mut events = self.graph.events.clone();
        let stays: Vec<bool> = events.iter().map(|q| q.added < read.added).collect();
        for event in &mut events {
            event.writes &= event.write_added < read.added;
        }
        let part = Part {
            graph: &self.graph,
            events,
            stays,
        };
        let there = |q: u32| q >= INIT || part.stays[q as usize] && part.events[q as usize].writes;
        let mut kept = part
            .events
            .iter()
            .zip(&part.stays)
            .filter(|(_, stays)| **stays);
        let closed = there(read.rf) && kept.all(|(event, _)| there(event.rf));
        let check = closed.then(|| Check::new(&part, Syncs::Always)).flatten();
        check.is_some_and(|check| check.is_overwritten(read.rf, read.object))
    }
}
