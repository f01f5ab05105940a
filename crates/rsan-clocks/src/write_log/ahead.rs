//! A thread that goes on alone from where it is, while nobody else makes a step, and may read any write in its reach
//! (docs/theory/write-log.md, W18).
//!
//! **Decides** which writes each of its next reads may take under C++20, given those that it took before. What it may read is
//! bounded from below only: by what happens before the read, by what seq_cst fences and accesses put before it, and by
//! what the thread has read itself (coherence). Reading a write teaches the thread that write's message if it acquires, now or at
//! the next acquire fence.
//!
//! **Exact** for the first read, and for every read of a last write: such a read has nothing behind it that could forbid it. A
//! further read of an old write is exact where no seq_cst event is about, or where it only repeats the first one before the thread has
//! learnt anything: the sets of seq_cst events that old writes carried
//! are not kept, so the reach may be too large. [`Ahead::is_exact`] says whether that was needed. The reach is never too small.
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
    /// No seq_cst event is known of so far, of the thread or of what it has read.
    is_free_of_sc: bool,
    /// It has learnt nothing since its first read, which may be repeated.
    is_quiet: bool,
    exact: bool,
}

/// A write that is read.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'m> {
    /// The write.
    pub write: Timestamp,
    /// What it lets its acquirers know; nothing if it is the initial one.
    pub message: Option<&'m VectorClock>,
    /// It is not the last.
    pub is_old: bool,
    /// Its location knows of no seq_cst event ([`LocationState::is_free_of_sc`]).
    pub is_free_of_sc: bool,
}

impl Ahead {
    /// The thread is about to go on.
    pub fn new(thread: &ThreadState) -> Self {
        Self {
            thread: thread.clone(),
            read: Vec::with_capacity(16),
            is_free_of_sc: thread.is_free_of_sc(),
            is_quiet: true,
            exact: true,
        }
    }

    /// Whether nothing was read that C++20 might forbid.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether it is known for certain that an access with this order can take, or follow, an old write that is in reach.
    pub fn is_certain(
        &self,
        (at, write): (usize, Timestamp),
        location: &LocationState,
        ord: ReadOrd,
    ) -> bool {
        let first = self.read.first();
        let again = first == Some(&(at, write)) && self.is_quiet;
        let free_of_sc = self.is_free_of_sc && location.is_free_of_sc();
        first.is_none() || !ord.is_sc() && (again || free_of_sc)
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

    /// It reads a write.
    pub fn read(&mut self, at: usize, taken: Taken<'_>, ord: ReadOrd) {
        let free_of_sc = taken.is_free_of_sc && !ord.is_sc();
        let first = self.read.first();
        let again = first.is_none_or(|first| *first == (at, taken.write)) && !ord.is_sc();
        let known = first.is_none() || again && self.is_quiet || self.is_free_of_sc && free_of_sc;
        self.exact &= known || !taken.is_old;
        self.is_quiet &= again || first.is_none() || taken.message.is_none() && !ord.is_sc();
        self.is_free_of_sc &= free_of_sc;
        match self.read.iter_mut().find(|(other, _)| *other == at) {
            Some((_, newest)) => *newest = taken.write.max(*newest),
            None => self.read.push((at, taken.write)),
        }
        let Some(message) = taken.message else { return };
        if ord.acquires() {
            self.thread.learn_hb(message);
        } else {
            self.thread.has_pending = true;
            self.thread.pending.hb.join(message);
        }
    }

    /// It comes to a fence.
    pub fn fence(&mut self, ord: FenceOrd, rules: Rules) {
        self.is_free_of_sc &= !ord.is_sc();
        self.is_quiet &= !ord.is_sc();
        self.thread.fence_c20(ord, rules);
    }
}

impl ThreadState {
    /// Whether it knows of no seq_cst access or fence.
    fn is_free_of_sc(&self) -> bool {
        let views = [&self.view, &self.pending];
        views.iter().all(|view| view.sc.is_absent()) && !self.has_sc
    }
}

impl LocationState {
    /// What the last write lets its acquirers know.
    pub fn last_message(&mut self, rules: Rules) -> &VectorClock {
        self.catch_up(rules);
        &self.message
    }

    /// Whether it knows of no seq_cst access or fence.
    pub fn is_free_of_sc(&self) -> bool {
        self.sc.is_none() && (!self.saturated || self.access_past.is_zero())
    }

    /// Whether a read-modify-write follows a write directly, so that nobody else can.
    pub fn is_followed_by_rmw(&self, write: Timestamp) -> bool {
        let index = write.0.checked_sub(self.records.base());
        let next = index.and_then(|index| self.records.get(index as usize + 1));
        next.is_some_and(|record| record.is_rmw())
    }
}
