//! Graphs that have to be run: parts of a graph that was run, with a change.

use super::graph::{Event, Graph, INIT, NONE};
use super::index::{Clock, Index};
use super::order::order;
use super::plan::{Plan, PlanStep, Stop, Unready};
use crate::Kind;
use crate::renumber::Numbers;
use rsan_model::ThreadId;

/// A graph that some run has to show, and more behind it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Item {
    /// The events in the order of the plan.
    pub(super) events: Vec<Event>,
    /// What it means when the step of the plan is not possible; as many as there are events.
    pub(super) unready: Vec<Unready>,
    /// The events whose write part, if there is one, has to be added next.
    pub(super) open: Vec<u32>,
    /// The step that may turn out not to do what was guessed, since values of different sizes do not tell; [`NONE`]: no such.
    pub(super) guessed: u32,
    /// The time at which the next event is added.
    pub(super) now: u32,
    /// Its share of the whole exploration, as far as one can tell.
    pub(super) weight: f64,
    /// Where threads stop, as a round of theirs comes to nothing.
    pub(super) stops: Vec<Stop>,
    /// Where they do not, as long as nobody knows better.
    pub(super) passes: Vec<Stop>,
    /// A thread, and the number of a step of it as in [`Stop`], if that was made to read another than the last write, and writes nothing.
    pub(super) stale: Option<(u32, u32)>,
    /// How many of the known ends of rounds the plan was given (`ends.rs`).
    pub(super) given: usize,
    /// How many of the known spin iterations.
    pub(super) rested: usize,
    /// How often it was run before, as threads can rest that have spun.
    pub(super) tries: u8,
    /// No end of a round is to be given.
    pub(super) without_ends: bool,
}

/// How a graph is changed.
pub(super) struct Change {
    /// Only what was added before this time is there, and `event`.
    pub(super) now: u32,
    /// The event that is added.
    pub(super) event: u32,
    /// What it reads.
    pub(super) rf: u32,
    /// Whether it writes, and behind which write.
    pub(super) after: Option<u32>,
    /// The value that it writes, if it is known.
    pub(super) wrote: Option<u64>,
    /// Whether it can be that the event is not possible there.
    pub(super) unready: Unready,
    /// Whether it can be that the event does not do what was guessed.
    pub(super) guessed: bool,
    /// Whether it fails for no reason.
    pub(super) fails: bool,
    /// The read that now reads the event.
    pub(super) revisit: Option<Revisit>,
}

/// A read that is made to read a later write.
pub(super) struct Revisit {
    pub(super) read: u32,
    /// Whether it fails for no reason then.
    pub(super) fails: bool,
    /// The events before the write; they stay although they were added after the read.
    pub(super) prefix: Clock,
}

impl Change {
    /// Whether an event reads another than the last write, and writes nothing: it stays as it is whatever follows (docs/theory/sc-runs.md, S14).
    pub(super) fn is_stale(&self) -> bool {
        self.revisit.is_none() && self.after.is_none() && self.rf != NONE && !self.fails
    }

    /// Whether what was added at `time` as (part of) event `q` stays.
    pub(super) fn stays(&self, graph: &Graph, index: &Index, q: u32, time: u32) -> bool {
        time < self.now
            && self.revisit.as_ref().is_none_or(|revisit| {
                time <= graph.events[revisit.read as usize].added || index.is_in(&revisit.prefix, q)
            })
    }
}

impl Graph {
    /// Whether an event of this kind and `expected` value passes when it reads the write; `None`: one has to try.
    pub(super) fn passes(&self, event: &Event, write: u32, value: Option<u64>) -> Option<bool> {
        match event.kind {
            Kind::Wait | Kind::WaitUpdate => match self.uniform[event.object as usize] {
                true => value.map(|v| v == event.expected),
                false => None,
            },
            Kind::Lock if write < INIT && self.events[write as usize].kind == Kind::Lock => {
                Some(false)
            }
            Kind::Lock | Kind::Sync | Kind::WaitAny => None,
            _ => Some(true),
        }
    }

    /// The changed graph, unless no sequentially consistent run has it. Threads that stop still do so, if they come to the same point,
    /// and one more does.
    pub(super) fn change(
        &self,
        index: &Index,
        change: &Change,
        roots: u32,
        (stops, new_stop): (&[Stop], Option<Stop>),
    ) -> Option<Item> {
        let mut events = self.events.clone();
        let mut stays = vec![false; events.len()];
        let mut open = Vec::new();
        for (q, event) in (0..).zip(&self.events) {
            let stay = |time| change.stays(self, index, q, time);
            stays[q as usize] = stay(event.added);
            if stays[q as usize] && event.writes && !stay(event.write_added) {
                open.push(q);
            }
        }
        let e = change.event as usize;
        stays[e] = true;
        open.retain(|&q| q != change.event);
        events[e].rf = change.rf;
        events[e].writes = change.after.is_some();
        events[e].wrote = change.wrote;
        events[e].waits = false;
        events[e].spurious = change.fails;
        let mut read_may_wait = false;
        if let Some(revisit) = &change.revisit {
            open.retain(|&q| q != revisit.read);
            let read = &mut events[revisit.read as usize];
            let passes = self.passes(read, change.event, change.wrote);
            read.rf = change.event;
            read.writes = false;
            read.wrote = None;
            read.spurious = revisit.fails;
            read.waits = passes == Some(false);
            read_may_wait = passes != Some(false);
            if read.kind.may_write() && !read.waits && !read.spurious {
                open.push(revisit.read);
            }
        }
        let order = order(self, &events, &stays, change)?;
        let unready = |q: u32| match &change.revisit {
            _ if q == change.event => change.unready,
            Some(revisit) if q == revisit.read && read_may_wait => Unready::Waits,
            _ if events[q as usize].waits => Unready::Waits,
            _ => Unready::Diverges,
        };
        open.sort_unstable_by_key(|&q| events[q as usize].added);
        let changed = [
            Some(change.event),
            change.revisit.as_ref().map(|revisit| revisit.read),
        ];
        let made = |thread: u32| {
            let own = |q: &&u32| events[**q as usize].thread == thread;
            let counts = |q: &&u32| !matches!(events[**q as usize].kind, Kind::Begin | Kind::Fence);
            order.iter().filter(own).filter(counts).count() as u32
        };
        let is_same = |stop: &&Stop| {
            let own = |q: &&u32| events[**q as usize].thread == stop.thread.0;
            let mut others = order.iter().filter(own).map(|&q| Some(q));
            made(stop.thread.0) == stop.step && others.all(|q| !changed.contains(&q))
        };
        let mut stops: Vec<Stop> = stops.iter().filter(is_same).copied().collect();
        stops.extend(new_stop);
        let thread = events[e].thread;
        let stale = change.is_stale().then(|| (thread, made(thread)));
        let item = renumbered(&events, &order, &open, (roots, &stops, stale));
        Some(Item {
            unready: order.iter().map(|&q| unready(q)).collect(),
            guessed: match change.guessed {
                true => {
                    let place = order.iter().position(|&q| q == change.event);
                    place.expect("the event is there") as u32
                }
                false => NONE,
            },
            ..item
        })
    }
}

/// The events in their new order, with threads, events and times numbered anew.
fn renumbered(
    events: &[Event],
    order: &[u32],
    open: &[u32],
    (roots, stops, stale): (u32, &[Stop], Option<(u32, u32)>),
) -> Item {
    let mut is_open = vec![false; events.len()];
    for &q in open {
        is_open[q as usize] = true;
    }
    let mut numbers = Numbers::new(events.len(), roots);
    for (&q, place) in order.iter().zip(0..) {
        let event = &events[q as usize];
        let times = [event.added, event.write_added];
        let parts = if is_open[q as usize] { 1 } else { 2 };
        let creates = (event.kind == Kind::Spawn).then_some(event.peer);
        numbers.add(q, place, &times[..parts], creates);
    }
    let numbers = numbers.finish();
    let renumber = |&q: &u32| {
        let event = events[q as usize];
        Event {
            thread: numbers.thread(event.thread),
            object: NONE,
            rf: numbers.source(event.rf),
            added: numbers.time(event.added),
            write_added: match is_open[q as usize] {
                true => NONE,
                false => numbers.time(event.write_added),
            },
            peer: numbers.peer(event.peer),
            ..event
        }
    };
    Item {
        events: order.iter().map(renumber).collect(),
        open: open.iter().map(|&q| numbers.place(q)).collect(),
        now: numbers.times(),
        stops: stops
            .iter()
            .map(|stop| Stop {
                thread: ThreadId(numbers.thread(stop.thread.0)),
                ..*stop
            })
            .collect(),
        stale: stale.map(|(thread, step)| (numbers.thread(thread), step)),
        ..Item::default()
    }
}

impl Item {
    /// The plan of nothing: all there is follows from it.
    pub(super) fn whole() -> Self {
        Self {
            guessed: NONE,
            weight: 1.0,
            ..Self::default()
        }
    }

    /// Whether all its numbers are those of events that it has.
    pub(super) fn is_sound(&self) -> bool {
        let there = |e: u32| (e as usize) < self.events.len();
        let sound = |e: &Event| (e.rf >= INIT || there(e.rf)) && e.added < self.now;
        self.events.iter().all(sound)
            && self.open.iter().all(|&e| there(e))
            && (self.guessed == NONE || there(self.guessed))
            && self.now < NONE / 2
    }

    /// What a run has to do first, and how many steps a thread can make in it.
    pub(super) fn plan(&self, most: Option<u32>) -> Plan {
        let step = |(event, &unready): (&Event, &Unready)| PlanStep {
            fails: event.spurious,
            ..PlanStep::new(ThreadId(event.thread), event.kind, unready)
        };
        let steps = self.events.iter().zip(&self.unready).map(step).collect();
        Plan {
            steps,
            most,
            stops: self.stops.clone(),
            ..Plan::default()
        }
    }
}
