//! Rounds of loops that come to nothing: a compare-and-swap that failed and is tried again, a load that is repeated.
//!
//! # What it decides
//!
//! Whether what a thread does from some point on need not be explored, because a part of what it has read before can be left out:
//! every behaviour from there on is shown by the execution without that part, with every weak access and every race of it
//! (docs/theory/sc-runs.md, S10: the argument, and the conditions by number).
//!
//! Also whether a read of some value is a failed spin iteration, before it is run.
//!
//! # How
//!
//! A scheduler tells the state in which a thread comes to a step ([`crate::Local`]). All runs together tell where a thread gets from a state
//! when it reads a value there ([`Moves`]). Let a thread have read, at the events `i`, …, `b` of the program order, and be in the state
//! `s` after that. If it would be in the state `s`, too, if it had read at `i` what it has read at `b`, then what it read from `i` up to `b`
//! can be left out.
//!
//! What other runs have not told yet may be told later: the run is *held*, and looked at again when nothing else is left.

use super::graph::{Event, Graph, INIT, NONE};
use super::index::{Clock, Index};
use super::item::Item;
use super::plan::Stop;
use super::run::Seen;
use crate::by_thread::ByThread;
use crate::mixed::Mixed;
use crate::{Kind, Step};
use rsan_model::ThreadId;
use std::collections::{BTreeMap, HashMap};

/// Where threads get from a state, by what they read there.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Moves {
    all: HashMap<(u64, u64), u64, Mixed>,
    /// Those that lead nowhere, in the order in which they were learnt.
    spins: Vec<(u64, u64)>,
}

/// Most spin iterations that a run is told.
const MOST: usize = 1000;

/// In place of a state: runs do not agree about it.
const UNCLEAR: u64 = 0;

impl Moves {
    /// Learns from a run.
    pub(super) fn learn(&mut self, steps: &[Step]) {
        self.learn_spins(steps);
        let mut last: ByThread<&Step> = ByThread::default();
        for step in steps {
            let before = last.insert(step.thread.0, step);
            let Some(before) = before.filter(|before| only_reads(before)) else {
                continue;
            };
            if before.local.state == 0 || step.local.state == 0 || step.local.plain {
                continue;
            }
            self.add(before, step.local.state);
        }
    }

    /// Failed spin iterations of a single read: the thread is where it was.
    fn learn_spins(&mut self, steps: &[Step]) {
        let in_vain = || steps.iter().filter(|step| step.vain);
        for step in in_vain().filter(|step| step.local.state != 0) {
            let own = in_vain().filter(|other| other.thread == step.thread);
            if own.count() == 1 {
                self.add(step, step.local.state);
            }
        }
    }

    fn add(&mut self, step: &Step, state: u64) {
        let way = (step.local.state, step.read);
        if !self.all.contains_key(&way) && way.0 == state && self.spins.len() < MOST {
            self.spins.push(way);
        }
        let next = self.all.entry(way);
        let next = next.or_insert(state);
        if *next != state {
            *next = UNCLEAR;
        }
    }

    /// States of threads, and values with which they are in the same state again.
    pub(super) fn known_spins(&self) -> &[(u64, u64)] {
        &self.spins
    }

    /// Whether a thread that reads this value in this state is in the same state again.
    pub(super) fn spins(&self, state: u64, value: u64) -> bool {
        state != 0 && self.get(state, value) == Some(state)
    }

    fn get(&self, state: u64, value: u64) -> Option<u64> {
        self.all.get(&(state, value)).copied()
    }

    /// Whether a thread gets from a state to another when it reads this value, if that is known.
    pub(super) fn leads(&self, way: &Way) -> Option<bool> {
        let next = self.get(way.from, way.value)?;
        Some(next != UNCLEAR && next == way.to)
    }
}

/// A load, or a compare-and-swap that failed.
fn only_reads(step: &Step) -> bool {
    matches!(step.op.kind, Kind::Load | Kind::Compare) && !step.writes
}

/// From a state of a thread to another, by reading a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    from: u64,
    value: u64,
    to: u64,
}

/// A round that comes to nothing, if the way is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Round {
    pub(super) stop: Stop,
    pub(super) way: Way,
    /// The state in which the thread comes to the last read of the round.
    pub(super) last: u64,
    /// It reads other objects than the one that is read again.
    pub(super) reads_others: bool,
}

impl Round {
    /// Whether it ends with the step of the plan that was made to read another than the last write. Then nothing comes of it (docs/theory/sc-runs.md, S14).
    pub(super) fn is_stale(&self, item: &Item) -> bool {
        item.stale == Some((self.stop.thread.0, self.stop.step))
    }
}

/// How a round ends: what its last event reads, and the state of the thread behind it.
#[derive(Clone, Copy, Debug)]
struct Ending {
    rf: u32,
    value: u64,
    to: u64,
}

/// A graph, in which rounds are looked for.
pub(super) struct Search<'g> {
    pub(super) graph: &'g Graph,
    pub(super) index: &'g Index,
    /// By event: what was seen of its step.
    pub(super) seen: &'g [Seen],
}

impl Search<'_> {
    /// The rounds that may come to nothing: those of one thread in the order in which they end.
    pub(super) fn rounds(&self) -> Vec<Round> {
        let mut threads: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (e, event) in (0..).zip(&self.graph.events) {
            if !event.waits {
                threads.entry(event.thread).or_default().push(e);
            }
        }
        let mut rounds = Vec::new();
        for events in threads.values() {
            for last in 1..events.len().saturating_sub(1) {
                self.rounds_before(events, last, &mut rounds);
            }
        }
        rounds
    }

    /// The rounds of a thread that this event of it ends.
    fn rounds_before(&self, events: &[u32], last: usize, rounds: &mut Vec<Round>) {
        let (end, next) = (events[last], events[last + 1]);
        let (event, seen, then) = (self.event(end), self.seen(end), self.seen(next));
        if !self.only_reads(end) || then.local.state == 0 || then.local.plain {
            return;
        }
        let ending = Ending {
            rf: event.rf,
            value: seen.read,
            to: then.local.state,
        };
        self.rounds_to(events, last, ending, rounds);
    }

    /// The round that a read ends if it reads this write, with this value, and perhaps fails for no reason, if one is known to come to nothing.
    pub(super) fn planned(
        &self,
        (end, fails): (u32, bool),
        rf: u32,
        value: u64,
        moves: &Moves,
    ) -> Option<Round> {
        let event = self.event(end);
        let reads = match event.kind {
            Kind::Load => true,
            Kind::Compare => fails || event.expected != value,
            _ => false,
        };
        let to = moves.get(self.seen(end).local.state, value)?;
        if !reads || event.waits || to == UNCLEAR || self.seen(end).local.state == 0 {
            return None;
        }
        let own = |e: &u32| self.event(*e).thread == event.thread && !self.event(*e).waits;
        let events: Vec<u32> = (0..=end).filter(own).collect();
        let mut rounds = Vec::new();
        let ending = Ending { rf, value, to };
        self.rounds_to(&events, events.len() - 1, ending, &mut rounds);
        let known = |round: &Round| moves.leads(&round.way) == Some(true);
        rounds.into_iter().find(known)
    }

    /// The round that a thread has ended where it stopped, if one is known to come to nothing.
    pub(super) fn ended(&self, stop: &Stop, moves: &Moves) -> Option<Round> {
        let own = |e: &u32| self.event(*e).thread == stop.thread.0 && !self.event(*e).waits;
        let end = (0..self.graph.events.len() as u32).rev().find(own)?;
        let rf = self.event(end).rf;
        let round = self.planned((end, self.event(end).spurious), rf, stop.value, moves);
        round.filter(|round| round.stop == *stop)
    }

    /// The rounds of a thread that end so, at this event of it.
    fn rounds_to(&self, events: &[u32], last: usize, ending: Ending, rounds: &mut Vec<Round>) {
        let end = events[last];
        let (event, seen) = (self.event(end), self.seen(end));
        if !self.graph.uniform[event.object as usize] {
            return;
        }
        for first in (0..last).rev() {
            let start = events[first];
            if self.seen(events[first + 1]).local.plain || !self.is_quiet(start) {
                return;
            }
            let (other, began) = (self.event(start), self.seen(start));
            let would_write = other.kind == Kind::Compare && other.expected == ending.value;
            let suits = self.only_reads(start)
                && other.object == event.object
                && began.local.state != 0
                && began.local.strength <= seen.local.strength
                && !would_write;
            let round = &events[first..last];
            if suits && self.is_known_anyway(round, end, ending.rf) {
                let others =
                    |&e: &u32| self.event(e).reads() && self.event(e).object != event.object;
                rounds.push(Round {
                    stop: self.stop(events, last, ending.value),
                    way: Way {
                        from: began.local.state,
                        value: ending.value,
                        to: ending.to,
                    },
                    last: seen.local.state,
                    reads_others: round.iter().any(others),
                });
            }
        }
    }

    fn event(&self, e: u32) -> &Event {
        &self.graph.events[e as usize]
    }

    fn seen(&self, e: u32) -> &Seen {
        &self.seen[e as usize]
    }

    fn only_reads(&self, e: u32) -> bool {
        let event = self.event(e);
        matches!(event.kind, Kind::Load | Kind::Compare) && !event.writes
    }

    /// Condition 1: whether nobody notices if the event is left out.
    fn is_quiet(&self, e: u32) -> bool {
        let local = matches!(self.event(e).kind, Kind::Fence | Kind::Yield);
        local || self.only_reads(e)
    }

    fn stop(&self, events: &[u32], last: usize, value: u64) -> Stop {
        let counts = |e: &&u32| !matches!(self.event(**e).kind, Kind::Begin | Kind::Fence);
        Stop {
            thread: ThreadId(self.event(events[last]).thread),
            step: events[..=last].iter().filter(counts).count() as u32,
            value,
        }
    }

    /// Condition 5: whether all writes that the round has read come before what the thread does later, also without the round: they are known to the
    /// thread before, or to who has written the object that is read again. Initial values are not among them: nobody might know then that
    /// the object is atomic ([`super::Trace::overwrites`]).
    fn is_known_anyway(&self, round: &[u32], end: u32, rf: u32) -> bool {
        let (graph, index) = (self.graph, self.index);
        let object = self.event(end).object;
        let mut known: Clock = index.before(graph, round[0], NONE);
        index.join(&mut known, rf);
        for event in round.iter().map(|&e| self.event(e)) {
            if event.object == object && event.reads() {
                index.join(&mut known, event.rf);
            }
        }
        round.iter().all(|&e| {
            let event = self.event(e);
            let source = event.rf;
            let again = event.object == object || !event.reads();
            again || source < INIT && index.is_in(&known, source)
        })
    }
}
