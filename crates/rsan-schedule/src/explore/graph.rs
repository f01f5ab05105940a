//! Execution graphs of runs, with the order in which the exploration added their events.

use crate::Kind;

/// No event: nothing is read, or no object is accessed.
pub(super) const NONE: u32 = u32::MAX;
/// The initial write of an object.
pub(super) const INIT: u32 = u32::MAX - 1;

/// An event. Read-modify-writes are one event with two parts, which may be added at different times: the write part of a
/// read that is revisited comes later.
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
    /// The value written.
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

impl Event {
    pub(super) fn reads(&self) -> bool {
        self.rf != NONE
    }
}

/// An execution graph: the events that were executed, in an order in which they can be, then those that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    /// By object: its writes in modification order, without the initial one.
    pub(super) mo: Vec<Vec<u32>>,
    /// By event: the events directly before it by program order, creation and join, at most two.
    pub(super) before: Vec<[u32; 2]>,
    /// By object: the initial value, if it is known.
    pub(super) initial: Vec<Option<u64>>,
    /// By object: whether all accesses are to the same bytes, so that values tell what reads from where.
    pub(super) uniform: Vec<bool>,
}

impl Graph {
    /// The value of a write, if it is known.
    pub(super) fn value(&self, write: u32, object: u32) -> Option<u64> {
        match write {
            INIT => self.initial[object as usize],
            w => self.events[w as usize].wrote,
        }
    }

    /// The place of a write in `mo`, from 1; the initial one has 0.
    pub(super) fn place(&self, write: u32) -> usize {
        if write == INIT {
            return 0;
        }
        let order = &self.mo[self.events[write as usize].object as usize];
        1 + order
            .iter()
            .position(|&w| w == write)
            .expect("a write is in the modification order")
    }

    /// The last write of an object that is there at time `now`.
    pub(super) fn last_write(&self, object: u32, now: u32) -> u32 {
        let writes = self.mo[object as usize].iter().rev();
        let mut present = writes.filter(|&&w| self.events[w as usize].write_added < now);
        present.next().copied().unwrap_or(INIT)
    }

    /// The events before `e`, given what it reads, by program order, creation, join and reads-from; without `e`.
    pub(super) fn prefix(&self, e: u32, rf: u32) -> Vec<bool> {
        let mut inside = vec![false; self.events.len()];
        let mut stack: Vec<u32> = self.before[e as usize].to_vec();
        stack.push(rf);
        while let Some(d) = stack.pop() {
            if d < INIT && !std::mem::replace(&mut inside[d as usize], true) {
                stack.extend(self.before[d as usize]);
                stack.push(self.events[d as usize].rf);
            }
        }
        inside
    }
}
