//! A thread that goes on alone from where it is, while nobody else makes a step, and may read any write in its reach.
//!
//! **Decides** which writes each of its next reads may take under C++20, given those that it took before. What it may read is
//! bounded from below only: by what happens before the read, by what seq_cst fences and accesses put before it, and by
//! what the thread has read itself (coherence). Reading a write teaches the thread that write's message if it acquires, now or at
//! the next acquire fence.
//!
//! **Exact** as long as no step of the thread is seq_cst. A seq_cst read of an old write, or a seq_cst fence after one, puts
//! more out of reach than is known here (the sets of seq_cst events that old writes carried are not kept): then the reach is
//! too large, and [`Ahead::is_exact`] says so. It is never too small.
//!
//! The thread makes reads and fences only. What it would write is not modelled.

use super::epoch::VectorClock;
use super::location::LocationState;
use super::rules::Rules;
use super::thread::ThreadState;
use crate::Timestamp;
use rsan_model::{FenceOrd, ReadOrd};

/// The thread, from where it was; a location is whatever number the caller gives it.
#[derive(Clone, Debug)]
pub struct Ahead {
    thread: ThreadState,
    /// By location: the newest write that it has read since.
    read: Vec<(usize, Timestamp)>,
    exact: bool,
}

impl Ahead {
    /// The thread is about to go on.
    pub fn new(thread: &ThreadState) -> Self {
        Self {
            thread: thread.clone(),
            read: Vec::with_capacity(16),
            exact: true,
        }
    }

    /// Whether the reach is exactly what C++20 allows, not more.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The oldest write of a location that a read may take.
    pub fn reach(
        &self,
        at: usize,
        location: &LocationState,
        ord: ReadOrd,
        rules: Rules,
    ) -> Timestamp {
        let known = location.lower_bound(&self.thread, ord.is_sc(), rules);
        let read = self.read.iter().find(|(other, _)| *other == at);
        read.map_or(known, |&(_, write)| write.max(known))
    }

    /// It reads a write, which has a message if it is not the initial one.
    pub fn read(
        &mut self,
        at: usize,
        write: Timestamp,
        message: Option<&VectorClock>,
        ord: ReadOrd,
    ) {
        self.exact &= !ord.is_sc();
        match self.read.iter_mut().find(|(other, _)| *other == at) {
            Some((_, newest)) => *newest = write.max(*newest),
            None => self.read.push((at, write)),
        }
        let Some(message) = message else { return };
        if ord.acquires() {
            self.thread.learn_hb(message);
        } else {
            self.thread.has_pending = true;
            self.thread.pending.hb.join(message);
        }
    }

    /// It comes to a fence.
    pub fn fence(&mut self, ord: FenceOrd, rules: Rules) {
        self.exact &= !ord.is_sc();
        self.thread.fence_c20(ord, rules);
    }
}

impl LocationState {
    /// What the last write lets its acquirers know.
    pub fn last_message(&mut self, rules: Rules) -> &VectorClock {
        self.catch_up(rules);
        &self.message
    }

    /// Whether a read-modify-write follows a write directly, so that nobody else can.
    pub fn is_followed_by_rmw(&self, write: Timestamp) -> bool {
        let index = write.0.checked_sub(self.records.base());
        let next = index.and_then(|index| self.records.get(index as usize + 1));
        next.is_some_and(|record| record.is_rmw())
    }
}
