//! What a run was: an execution, and which, or none.

use super::consistent::{Check, Part, Verdict};
use super::graph::{Event, Graph, INIT, NONE, Syncs};
use crate::Kind;
use crate::explore::{Outcome, Trace};
use std::hash::{Hash, Hasher};

impl Graph {
    /// Whether a run that came to its end is an execution: nothing that waits could pass, and what spins has seen all there was to see.
    pub(super) fn outcome(&self, trace: &Trace) -> Outcome {
        let mut waiting = self.events.iter().filter(|event| event.waits || event.vain);
        if waiting.any(|event| self.could_go_on(event)) {
            return Outcome::Excess;
        }
        let waits = self.events.iter().any(|event| event.waits);
        let blocked = waits || !trace.pending.is_empty();
        Outcome::Execution { blocked }
    }

    /// Whether an event that waits, or has read in vain, could read something else at the end of the run.
    fn could_go_on(&self, event: &Event) -> bool {
        let is_write = |(_, write): &(u32, &Event)| write.writes && write.object == event.object;
        let writes = (0..).zip(&self.events).filter(is_write);
        let writes: Vec<u32> = writes.map(|(w, _)| w).collect();
        if event.is_ordered() {
            return event.rf != self.last_of(&writes);
        }
        let mut others = writes.into_iter().chain([INIT]).filter(|w| *w != event.rf);
        others.any(|w| {
            let value = self.value(w, event.object);
            let passes = self.passes(event, w, value) != Some(false);
            passes && self.can_read_again(event, w)
        })
    }

    /// Whether the thread of an event could read this write of its object next.
    fn can_read_again(&self, event: &Event, write: u32) -> bool {
        let mut graph = self.clone();
        let mine = |(_, other): &(u32, &Event)| other.thread == event.thread && !other.waits;
        let last = (0..).zip(&self.events).filter(mine).last();
        graph.before.push([last.map_or(NONE, |(e, _)| e), NONE]);
        graph.events.push(Event {
            rf: write,
            writes: event.waits && event.kind == Kind::WaitUpdate,
            waits: false,
            ..*event
        });
        let stays = graph.events.iter().map(|other| !other.waits).collect();
        let part = Part {
            graph: &graph,
            events: graph.events.clone(),
            stays,
        };
        let check = Check::new(&part, Syncs::Never);
        check.is_some_and(|check| matches!(check.verdict(|_| 0), Verdict::Yes(_)))
    }

    /// Whether the run is an execution of this model: it is, unless memory was used for something else meanwhile.
    pub(super) fn is_consistent(&self) -> bool {
        let part = Part {
            graph: self,
            events: self.events.clone(),
            stays: self.events.iter().map(|event| !event.waits).collect(),
        };
        Check::new(&part, Syncs::Never).is_some()
    }

    /// Whether a thread takes a lock that another has taken and not given back.
    pub(super) fn has_hidden_unlock(&self) -> bool {
        let taken = |event: &Event| event.kind == Kind::Lock && event.writes;
        self.events.iter().filter(|e| taken(e)).any(|lock| {
            let from = self.events.get(lock.rf as usize);
            from.is_some_and(|from| taken(from) && from.thread != lock.thread)
        })
    }

    /// A number of the execution: events and `rf`, without what waits at its end.
    pub(super) fn fingerprint(&self) -> u128 {
        let there = (0..).zip(&self.events).filter(|(_, event)| !event.waits);
        let mut all: Vec<_> = there
            .map(|(e, event): (usize, &Event)| {
                let from = self.names.get(event.rf as usize);
                let reads = (event.reads(), from);
                (
                    &self.names[e],
                    event.kind as u8,
                    event.writes,
                    event.spurious,
                    reads,
                )
            })
            .collect();
        all.sort_unstable();
        let mut hash = Hash128::default();
        all.hash(&mut hash);
        hash.value()
    }
}

/// A hash of 128 bits that is the same in every build: it is kept in files.
#[derive(Default)]
struct Hash128([u64; 2]);

impl Hash128 {
    fn value(&self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}

impl Hasher for Hash128 {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let [first, second] = &mut self.0;
            *first = rsan_random::mix(*first ^ u64::from(byte));
            *second = rsan_random::mix(second.rotate_left(9) ^ *first);
        }
    }

    fn finish(&self) -> u64 {
        self.0[1]
    }
}
