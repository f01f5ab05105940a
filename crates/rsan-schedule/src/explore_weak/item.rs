//! Graphs that wait to be run.

use super::graph::{Event, INIT, NONE};
use crate::Kind;
use crate::explore::{Plan, PlanStep, Unready};
use crate::renumber::Numbers;
use crate::schedule::Origin;
use rsan_model::ThreadId;
use std::collections::HashMap;

/// A graph that some run has to show, and more behind it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Item {
    /// The events in the order of the plan.
    pub(super) events: Vec<Event>,
    /// What it means when the step of the plan is not possible; as many as there are events.
    pub(super) unready: Vec<Unready>,
    /// The event whose write part, if there is one, has to be added next.
    pub(super) open: Option<u32>,
    /// The time at which the next event is added.
    pub(super) now: u32,
    /// Its share of the whole exploration, as far as one can tell.
    pub(super) weight: f64,
}

impl Item {
    /// The events in their new order, with threads, events and times numbered anew.
    pub(super) fn new(
        events: &[Event],
        order: &[u32],
        unready: Vec<Unready>,
        open: Option<u32>,
        roots: u32,
    ) -> Self {
        let mut numbers = Numbers::new(events.len(), roots);
        for (&q, place) in order.iter().zip(0..) {
            let event = &events[q as usize];
            let times = [event.added, event.write_added];
            let creates = (event.kind == Kind::Spawn).then_some(event.peer);
            numbers.add(q, place, &times[..1 + usize::from(event.writes)], creates);
        }
        let numbers = numbers.finish();
        let renumber = |&q: &u32| {
            let event = events[q as usize];
            let last = if event.writes {
                event.write_added
            } else {
                event.added
            };
            Event {
                thread: numbers.thread(event.thread),
                object: NONE,
                rf: numbers.source(event.rf),
                added: numbers.time(event.added),
                write_added: numbers.time(last),
                peer: numbers.peer(event.peer),
                ..event
            }
        };
        Self {
            events: order.iter().map(renumber).collect(),
            unready,
            open: open.map(|q| numbers.place(q)),
            now: numbers.times(),
            weight: 0.0,
        }
    }

    /// Whether all its numbers are those of events that it has.
    pub(super) fn is_sound(&self) -> bool {
        let there = |e: u32| (e as usize) < self.events.len();
        let sound = |e: &Event| (e.rf >= INIT || there(e.rf)) && e.added < self.now;
        self.events.iter().all(sound)
            && self.open.is_none_or(there)
            && self.unready.len() == self.events.len()
            && self.now < NONE / 2
    }

    /// What a run has to do first, and how many steps a thread can make in it.
    pub(super) fn plan(&self, most: Option<u32>) -> Plan {
        let mut made: HashMap<u32, u32> = HashMap::new();
        let number = |event: &Event| {
            let made = made.entry(event.thread).or_insert(0);
            *made += 1;
            Origin::Step {
                thread: ThreadId(event.thread),
                number: *made - 1,
            }
        };
        let origins: Vec<Origin> = self.events.iter().map(number).collect();
        let from = |event: &Event| match event.rf {
            NONE => None,
            _ if !event.kind.shows_value() => None,
            INIT => Some(Origin::Initial),
            w => Some(origins[w as usize]),
        };
        let step = |(event, &unready): (&Event, &Unready)| PlanStep {
            from: from(event),
            fails: event.spurious,
            ..PlanStep::new(ThreadId(event.thread), event.kind, unready)
        };
        let steps = self.events.iter().zip(&self.unready).map(step).collect();
        Plan {
            steps,
            most,
            ..Plan::default()
        }
    }
}
