//! Graphs that have to be run: parts of a graph that was run, with a change.

use super::consistent::{Check, Part, Verdict};
use super::graph::{Graph, INIT, Syncs};
use super::item::Item;
use crate::explore::Unready;

/// How a graph is changed.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Only what was added before this time is there, and `event`.
    pub(super) now: u32,
    /// The event that is added.
    pub(super) event: u32,
    pub(super) how: How,
    /// The read that now reads the event.
    pub(super) revisit: Option<Revisit>,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct How {
    /// What it reads.
    pub(super) rf: u32,
    /// Whether it writes.
    pub(super) writes: bool,
    /// The value, if it is known.
    pub(super) wrote: Option<u64>,
    /// Whether it fails without a reason.
    pub(super) spurious: bool,
    /// What it means when it is not possible.
    pub(super) unready: Unready,
}

/// A read that is made to read a later write.
#[derive(Clone, Debug)]
pub(super) struct Revisit {
    pub(super) read: u32,
    /// Whether it fails without a reason when it has read it.
    pub(super) fails: bool,
    /// By event: whether it is before the write, so that it stays although it was added after the read.
    pub(super) prefix: Vec<bool>,
}

/// What came of a change.
pub(super) enum Changed {
    /// A graph that has to be run.
    Plan(Item),
    /// No execution has it.
    Impossible,
    /// It takes too long to say whether an execution has it.
    Undecided,
}

impl Change {
    /// Whether what was added at `time` as (part of) event `q` stays.
    pub(super) fn stays(&self, graph: &Graph, q: u32, time: u32) -> bool {
        time < self.now
            && self.revisit.as_ref().is_none_or(|revisit| {
                time <= graph.events[revisit.read as usize].added || revisit.prefix[q as usize]
            })
    }

    /// The event that it adds is before this one.
    pub(super) fn is_in_prefix(&self, q: u32) -> bool {
        let revisit = self.revisit.as_ref();
        revisit.is_some_and(|revisit| revisit.prefix[q as usize])
    }
}

impl Graph {
    /// The changed graph, and the event whose write part, if there is one, is added next.
    fn changed(&self, change: &Change) -> (Part<'_>, Option<u32>) {
        let mut events = self.events.clone();
        let mut stays = vec![false; events.len()];
        for (q, event) in (0..).zip(&mut events) {
            stays[q as usize] = change.stays(self, q, event.added);
            event.writes &= change.stays(self, q, event.write_added);
        }
        let e = change.event as usize;
        stays[e] = true;
        let How {
            rf,
            writes,
            wrote,
            spurious,
            ..
        } = change.how;
        let event = &mut events[e];
        (event.rf, event.writes, event.wrote) = (rf, writes, wrote);
        (event.waits, event.vain, event.spurious) = (false, false, spurious);
        let mut open = None;
        if let Some(revisit) = &change.revisit {
            let read = &mut events[revisit.read as usize];
            read.waits = self.passes(read, change.event, wrote) == Some(false);
            (read.rf, read.writes, read.wrote) = (change.event, false, None);
            (read.vain, read.spurious) = (false, revisit.fails);
            let may_write = read.kind.may_write() && !read.waits && !revisit.fails;
            open = may_write.then_some(revisit.read);
        }
        let part = Part {
            graph: self,
            events,
            stays,
        };
        (part, open)
    }

    /// The changed graph as something to be run.
    pub(super) fn change(&self, change: &Change, roots: u32) -> Changed {
        let (part, open) = self.changed(change);
        let there = |w: u32| w >= INIT || part.stays[w as usize] && part.events[w as usize].writes;
        let mut kept = part
            .events
            .iter()
            .zip(&part.stays)
            .filter(|(_, stays)| **stays);
        if !kept.all(|(event, _)| there(event.rf)) {
            return Changed::Impossible;
        }
        let Some(check) = Check::new(&part, Syncs::Never) else {
            return Changed::Impossible;
        };
        let read = change.revisit.as_ref().map(|revisit| revisit.read);
        // What is changed comes as late as it can: a scheduler that knows spin loops sees then what has changed since the last round.
        let late = |q| u32::from(q == change.event || Some(q) == read);
        let order = match check.verdict(late) {
            Verdict::Yes(order) => order,
            Verdict::No => return Changed::Impossible,
            Verdict::Unknown => return Changed::Undecided,
        };
        let unready = |q: u32| {
            let event = &part.events[q as usize];
            match q {
                _ if q == change.event => change.how.unready,
                _ if event.waits => Unready::Frozen,
                _ if Some(q) == read && event.kind.may_block() => Unready::Waits,
                _ => Unready::Diverges,
            }
        };
        let unready = order.iter().map(|&q| unready(q)).collect();
        Changed::Plan(Item::new(&part.events, &order, unready, open, roots))
    }
}
