//! From the trace of a run to its execution graph.

use super::graph::{Event, Graph, INIT, Links, NONE};
use super::meetings::Meetings;
use crate::by_thread::ByThread;
use crate::objects::Objects;
use crate::{End, Kind, Local, Op, Step};
use rsan_model::ThreadId;
use std::collections::BTreeSet;

/// A thread that has not ended when the run ends, and what it is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pending {
    /// The thread.
    pub thread: ThreadId,
    /// What it is about to do.
    pub op: Op,
    /// The value that it compares with, as in [`Step::expected`].
    pub expected: u64,
}

/// What a run did.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Trace {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Threads that were left, ascending. Those need not be here whose last step is an attempt ([`Step::waits`]).
    pub pending: Vec<Pending>,
    /// How it ended: [`End::CutOff`] if a bound on steps was reached, or the program ended while threads could go on.
    pub end: End,
    /// A thread has written plainly to an atomic object, or given its memory back, while others could have accessed it before without
    /// its knowing.
    pub overwrites: bool,
}

impl Trace {
    /// Its objects.
    pub(crate) fn objects(&self) -> Objects {
        let steps = self.steps.iter().map(|s| &s.op);
        Objects::of(steps.chain(self.pending.iter().map(|p| &p.op)))
    }

    /// What threads wait for at the end of a run that came to it, but for those that may not make another step.
    pub(crate) fn waiting(&self, exhausted: &BTreeSet<u32>) -> impl Iterator<Item = Pending> {
        let finished = self.end.is_complete();
        let waits = move |pending: &&Pending| {
            let kind = pending.op.kind;
            let may_go_on = !exhausted.contains(&pending.thread.0);
            finished && may_go_on && kind.may_block() && kind.is_access()
        };
        self.pending.iter().filter(waits).copied()
    }

    /// The threads that have not ended and may not make another step: they have made as many as they may, or neither wait nor go
    /// round in vain.
    pub(crate) fn exhausted(&self, most: Option<u32>) -> BTreeSet<u32> {
        let Some(most) = most else {
            return BTreeSet::new();
        };
        let mut made: ByThread<u32> = ByThread::default();
        let mut in_vain = BTreeSet::new();
        for step in &self.steps {
            let made = made.or_insert(step.thread.0, 0);
            *made += u32::from(!step.op.is_local());
            if step.vain {
                in_vain.insert(step.thread.0);
            }
        }
        let is_exhausted = |pending: &&Pending| {
            let thread = pending.thread.0;
            let waits = pending.op.kind.may_block() || in_vain.contains(&thread);
            !waits || made.get(thread).is_some_and(|&made| made >= most)
        };
        let left = self.pending.iter().filter(is_exhausted);
        left.map(|pending| pending.thread.0).collect()
    }
}

/// What was seen of an event's step, beside what is in the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    /// The value that it read.
    pub(super) read: u64,
    pub(super) local: Local,
}

/// Builds the graph of a trace, event by event; the caller says when each was added.
pub(super) struct Builder<'t> {
    pub(super) graph: Graph,
    /// By event.
    pub(super) seen: Vec<Seen>,
    objects: &'t Objects,
    links: Links,
    meetings: Meetings,
}

impl<'t> Builder<'t> {
    /// For a graph of about so many events.
    pub(super) fn new(objects: &'t Objects, meetings: Meetings, events: usize) -> Self {
        let n = objects.len();
        let graph = Graph {
            events: Vec::with_capacity(events),
            before: Vec::with_capacity(events),
            mo: vec![Vec::new(); n],
            initial: vec![None; n],
            uniform: (0..n).map(|o| objects.is_uniform(o)).collect(),
        };
        Self {
            graph,
            seen: Vec::with_capacity(events),
            objects,
            links: Links::default(),
            meetings,
        }
    }

    fn number(&self, op: &Op) -> u32 {
        match (op.kind, self.meetings) {
            (Kind::Arrive, Meetings::Commute) => NONE,
            _ => self.objects.number(op).map_or(NONE, |n| n as u32),
        }
    }

    /// What the step reads: the last write, as every run is sequentially consistent.
    fn source(&self, kind: Kind, object: u32) -> u32 {
        match kind.may_read() && object != NONE {
            true => self.graph.mo[object as usize]
                .last()
                .copied()
                .unwrap_or(INIT),
            false => NONE,
        }
    }

    /// Adds a step of the trace.
    pub(super) fn step(&mut self, step: &Step, added: u32, write_added: u32) -> u32 {
        let object = self.number(&step.op);
        let kind = step.op.kind;
        let rf = self.source(kind, object);
        let writes = step.writes && kind.may_write() && object != NONE;
        let seen = Seen {
            read: step.read,
            local: step.local,
        };
        let event = Event {
            thread: step.thread.0,
            kind,
            object,
            rf,
            writes,
            waits: false,
            wrote: writes.then_some(step.wrote),
            expected: step.expected,
            may_fail: step.may_fail && kind == Kind::Compare,
            spurious: step.spurious && kind == Kind::Compare,
            added,
            write_added,
            peer: match kind {
                Kind::Spawn | Kind::Join | Kind::Leave => step.peer(),
                _ => NONE,
            },
        };
        let e = self.push(event, seen);
        let shows_value = kind.may_read() || kind == Kind::Store;
        if shows_value && object != NONE && self.graph.mo[object as usize].is_empty() {
            self.graph.initial[object as usize] = Some(step.read);
        }
        if writes {
            self.graph.mo[object as usize].push(e);
        }
        e
    }

    /// Adds an operation that waits; it reads `rf`, or the last write.
    pub(super) fn waiting(&mut self, pending: &Pending, rf: Option<u32>, added: u32) -> u32 {
        let object = self.number(&pending.op);
        let kind = pending.op.kind;
        let event = Event {
            thread: pending.thread.0,
            kind,
            object,
            rf: rf.unwrap_or_else(|| self.source(kind, object)),
            writes: false,
            waits: true,
            wrote: None,
            expected: pending.expected,
            may_fail: false,
            spurious: false,
            added,
            write_added: write_time(kind, added),
            peer: NONE,
        };
        self.push(event, Seen::default())
    }

    fn push(&mut self, event: Event, seen: Seen) -> u32 {
        let e = self.graph.events.len() as u32;
        self.graph.before.push(self.links.before(e, &event));
        self.graph.events.push(event);
        self.seen.push(seen);
        e
    }
}

/// When the write part of an event that was added at this time was.
pub(super) fn write_time(kind: Kind, added: u32) -> u32 {
    added + u32::from(kind.may_read() && kind.may_write())
}
