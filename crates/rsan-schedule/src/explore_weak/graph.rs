//! Execution graphs of weak runs, with the order in which the exploration added their events.

use crate::Kind;
use rsan_model::{ReadOrd, RmwOrd};
use std::collections::HashMap;

pub(super) use crate::renumber::{INIT, NONE};

/// An event. A read-modify-write is one event with two parts, which may be added at different times: the write part of a read that
/// is revisited comes later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    pub(super) kind: Kind,
    /// The object, or [`NONE`].
    pub(super) object: u32,
    /// The write that it reads, [`INIT`], or [`NONE`] when it does not read.
    pub(super) rf: u32,
    /// Whether it writes.
    pub(super) writes: bool,
    /// Whether it is an operation that waits: the thread's last event, which reads a write that does not let it pass.
    pub(super) waits: bool,
    /// Whether it belongs to a failed spin iteration.
    pub(super) vain: bool,
    /// Whether it is a compare-and-swap that fails without a reason.
    pub(super) spurious: bool,
    /// Whether it is a compare-and-swap that may do so.
    pub(super) may_fail: bool,
    /// Its memory order; that of success for a compare-and-swap.
    pub(super) order: Option<RmwOrd>,
    /// The memory order of a failed compare-and-swap.
    pub(super) failure: Option<ReadOrd>,
    /// The value written, if it writes and that is known.
    pub(super) wrote: Option<u64>,
    /// The value that it compares with.
    pub(super) expected: u64,
    /// When it was added; for a read-modify-write, its read part.
    pub(super) added: u32,
    /// When its write part was added; for others the same.
    pub(super) write_added: u32,
    /// The thread that it creates or joins.
    pub(super) peer: u32,
}

/// What [`Kind::Sync`] says of happens-before: nobody tells the exploration which of these operations synchronise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syncs {
    /// None of them.
    Never,
    /// Each with all before it.
    Always,
}

impl Event {
    pub(super) fn reads(&self) -> bool {
        self.rf != NONE
    }

    /// The write that it leaves to others that come later: its own, or the one that it read.
    pub(super) fn seen(&self, own: u32) -> u32 {
        if self.writes { own } else { self.rf }
    }

    /// Its memory order, as it turned out.
    fn effective(&self, syncs: Syncs) -> RmwOrd {
        match self.kind {
            Kind::Lock => RmwOrd::Acquire,
            Kind::Unlock => RmwOrd::Release,
            Kind::Sync if syncs == Syncs::Always => RmwOrd::AcqRel,
            Kind::Compare | Kind::WaitUpdate if !self.writes => match self.failure {
                Some(failure) => failure.into(),
                None => self
                    .order
                    .map_or(RmwOrd::Relaxed, |order| order.read().into()),
            },
            _ => self.order.unwrap_or(RmwOrd::Relaxed),
        }
    }

    pub(super) fn acquires(&self, syncs: Syncs) -> bool {
        self.effective(syncs).acquires()
    }

    pub(super) fn releases(&self, syncs: Syncs) -> bool {
        self.effective(syncs).releases()
    }

    pub(super) fn is_sc(&self) -> bool {
        let counts = self.object != NONE || self.kind == Kind::Fence;
        counts && self.effective(Syncs::Never).is_sc()
    }

    /// Whether the order of all operations on its object is part of the execution.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Lock | Kind::Unlock | Kind::Sync)
    }
}

/// An execution graph: the events that were executed, in the order of execution, then those that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    /// By event: the events directly before it by program order, creation and join, at most two.
    pub(super) before: Vec<[u32; 2]>,
    /// By object: the initial value, if it is known.
    pub(super) initial: Vec<Option<u64>>,
    /// By event: its name in all runs of the same execution, and an order that these share.
    pub(super) names: Vec<Name>,
}

/// Who made an event: how the thread came to be, and how many events it made before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Name {
    /// The number of the thread that nobody created, then of the events by which the others were.
    thread: Vec<u32>,
    number: u32,
}

impl Graph {
    /// The graph of these events; `None` if their numbers do not fit together.
    pub(super) fn from_parts(events: Vec<Event>, initial: Vec<Option<u64>>) -> Option<Self> {
        let mut graph = Self {
            initial,
            ..Self::default()
        };
        let mut links = Links::default();
        let count = events.len() as u32;
        for (e, event) in (0..).zip(events) {
            let known = |w: u32| w >= INIT || w < count;
            let object = event.object == NONE || (event.object as usize) < graph.initial.len();
            let accesses = event.object != NONE || !(event.reads() || event.writes);
            if !object || !accesses || !known(event.rf) || event.added > NONE / 2 {
                return None;
            }
            graph.push(e, event, &mut links);
        }
        let fits = |event: &Event| {
            let write = graph.events.get(event.rf as usize);
            write.is_none_or(|write| write.writes && write.object == event.object)
        };
        graph.events.iter().all(fits).then_some(graph)
    }

    /// Adds an event, which is the next of its thread.
    pub(super) fn push(&mut self, e: u32, event: Event, links: &mut Links) {
        let (before, name) = links.next(e, &event);
        self.before.push(before);
        self.names.push(name);
        self.events.push(event);
    }

    /// The value of a write, if it is known.
    pub(super) fn value(&self, write: u32, object: u32) -> Option<u64> {
        match write {
            INIT => self.initial[object as usize],
            w => self.events[w as usize].wrote,
        }
    }

    /// Whether an event passes when it reads the write; `None`: one has to try.
    pub(super) fn passes(&self, event: &Event, write: u32, value: Option<u64>) -> Option<bool> {
        match event.kind {
            Kind::Wait | Kind::WaitUpdate => value.map(|v| v == event.expected),
            Kind::Lock if write < INIT && self.events[write as usize].kind == Kind::Lock => {
                Some(false)
            }
            Kind::Lock | Kind::Sync | Kind::WaitAny => None,
            _ => Some(true),
        }
    }

    /// Whether an event writes when it reads a write with this value and passes; `None`: one has to try.
    pub(super) fn writes(event: &Event, value: Option<u64>) -> Option<bool> {
        match event.kind {
            Kind::Compare => value.map(|v| v == event.expected),
            kind => Some(kind.may_write()),
        }
    }

    /// The events that are before these, and themselves, by program order, creation, join and `rf`.
    pub(super) fn prefix(&self, of: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut prefix = vec![false; self.events.len()];
        let mut left: Vec<u32> = of.into_iter().filter(|&e| e < INIT).collect();
        while let Some(e) = left.pop() {
            if std::mem::replace(&mut prefix[e as usize], true) {
                continue;
            }
            let before = self.before[e as usize].into_iter();
            let all = before.chain([self.events[e as usize].rf]);
            left.extend(all.filter(|&b| b < INIT));
        }
        prefix
    }
}

/// Who was before whom, as the events of a run come.
#[derive(Default)]
pub(super) struct Links {
    /// By thread: its last event.
    last: HashMap<u32, u32>,
    /// By thread: the event that created it.
    creator: HashMap<u32, u32>,
    /// By thread: its part of names, and how many events it has made.
    names: HashMap<u32, Name>,
}

impl Links {
    /// The events directly before `e`, which comes next, and its name.
    fn next(&mut self, e: u32, event: &Event) -> ([u32; 2], Name) {
        let root = || Name {
            thread: vec![event.thread],
            number: 0,
        };
        let next = self.names.entry(event.thread).or_insert_with(root);
        let name = next.clone();
        next.number += 1;
        let creator = self.creator.get(&event.thread);
        let first = self.last.get(&event.thread).or(creator);
        let second = match event.kind {
            Kind::Join => self.last.get(&event.peer).copied(),
            _ => None,
        };
        let before = [first.copied().unwrap_or(NONE), second.unwrap_or(NONE)];
        if event.kind == Kind::Spawn {
            let mut thread = name.thread.clone();
            thread.push(name.number);
            self.names.insert(event.peer, Name { thread, number: 0 });
            self.creator.insert(event.peer, e);
        }
        self.last.insert(event.thread, e);
        (before, name)
    }
}
