//! Data races: two accesses of one location by different threads, one of them a write and one of them
//! non-atomic, that happens-before does not order.
//!
//! **Decides** at each access whether it races with an earlier one of the same run: exact. Where the atomics of
//! a program are robust it suffices to look at its SC runs (docs/theory/races.md, D2).
//!
//! **Source**: docs/theory/races.md, D3 to D5: vector-clock race detection (FastTrack) over the happens-before of RC20 and C++20: a relaxed read
//! contributes nothing until an acquire fence, a relaxed write publishes what the last release fence saw.
//!
//! There are two: [`RaceClocks`] has clocks of its own, over all thread ids ever used, and is the reference;
//! [`RaceShadow`] adds race detection to the clocks of [`crate::write_log`].
//!
//! **Deviations**: RC20's SC fences synchronise with each other, those of C++20 only as acquire and release
//! fences: [`ScFences`].
//!
//! **Cost**: O(threads) per access; O(threads) per location.

#[cfg(test)]
mod tests;

use crate::clock::{Clock, entry};
use crate::write_log::{Epoch, Rules, Slot, ThreadState};
use crate::{AccessKind, Effect, Observer, Race, RaceMonitor, RaceSide};
use rsan_model::{FenceOrd, LocId, ThreadId, Value};

/// Whether SC fences synchronise with each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScFences {
    /// They do: RC20.
    Synchronise,
    /// They are acquire and release fences: C++20.
    Local,
}

type Past = Clock<ThreadId, u64>;

/// The reference race detector.
#[derive(Clone, Debug)]
pub struct RaceClocks {
    sc_fences: ScFences,
    threads: Vec<Option<Thread>>,
    messages: Vec<Past>,
    fences: Past,
    accesses: Vec<Vec<Recorded<ThreadId, u64>>>,
}

#[derive(Clone, Debug)]
struct Thread {
    id: ThreadId,
    /// Happens before its next event (`Cc`).
    current: Past,
    /// The same at its last release fence (`Cr`).
    released: Past,
    /// The same after an acquire fence (`Ca`).
    acquirable: Past,
    /// Its epoch when it made its last atomic access.
    access: u64,
}

/// The last access of a kind by a thread.
#[derive(Clone, Copy, Debug)]
struct Recorded<I, E> {
    place: I,
    epoch: E,
    by: RaceSide,
}

impl Thread {
    fn new(id: ThreadId, mut past: Past) -> Self {
        past.set(id, 1);
        Self {
            id,
            acquirable: past.clone(),
            current: past,
            released: Past::default(),
            access: 1,
        }
    }

    fn epoch(&self) -> u64 {
        self.current.get(self.id)
    }

    /// What happens from now on is not in what was published.
    fn advance(&mut self) {
        self.current.set(self.id, self.epoch() + 1);
        self.acquirable.join(&self.current);
    }

    fn receive(&mut self, message: &Past, acquires: bool) {
        self.acquirable.join(message);
        if acquires {
            self.current.join(message);
        }
    }
}

impl RaceClocks {
    /// A detector at the start of a run.
    pub fn new(sc_fences: ScFences) -> Self {
        Self {
            sc_fences,
            threads: Vec::new(),
            messages: Vec::new(),
            fences: Past::default(),
            accesses: Vec::new(),
        }
    }

    fn thread_mut(&mut self, id: ThreadId) -> &mut Thread {
        let thread = entry(&mut self.threads, id.index());
        thread.get_or_insert_with(|| Thread::new(id, Past::default()))
    }
}

impl Observer for RaceClocks {
    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        let mut message = std::mem::take(entry(&mut self.messages, loc.index()));
        let thread = self.thread_mut(thread);
        if effect.reads() {
            thread.receive(&message, effect.acquires());
        }
        thread.access = thread.epoch();
        if effect.value_written().is_some() {
            if !effect.is_rmw() {
                message.clear();
            }
            if effect.releases() {
                message.join(&thread.current);
                thread.advance();
            } else {
                message.join(&thread.released);
            }
        }
        self.messages[loc.index()] = message;
    }

    fn plain_write(&mut self, _: ThreadId, loc: LocId, _: Value) {
        entry(&mut self.messages, loc.index()).clear();
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        let global = ord.is_sc() && self.sc_fences == ScFences::Synchronise;
        let mut fences = std::mem::take(&mut self.fences);
        let thread = self.thread_mut(thread);
        if ord.acquires() {
            let acquirable = thread.acquirable.clone();
            thread.current.join(&acquirable);
        }
        if global {
            thread.receive(&fences, true);
            fences.assign(&thread.current);
            thread.advance();
        }
        if ord.releases() {
            thread.released.assign(&thread.current);
            thread.advance();
        }
        self.fences = fences;
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let parent = self.thread_mut(parent);
        let past = parent.current.clone();
        parent.advance();
        *entry(&mut self.threads, child.index()) = Some(Thread::new(child, past));
    }

    fn exit(&mut self, _: ThreadId) {}

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let past = self.thread_mut(child).current.clone();
        self.thread_mut(parent).receive(&past, true);
    }

    fn forget(&mut self, loc: LocId, _: Value) {
        entry(&mut self.messages, loc.index()).clear();
        entry(&mut self.accesses, loc.index()).clear();
    }
}

impl RaceMonitor for RaceClocks {
    fn race(&mut self, thread: ThreadId, loc: LocId, kind: AccessKind) -> Option<Race> {
        let state = self.thread_mut(thread);
        let epoch = if kind.is_plain() {
            state.epoch()
        } else {
            state.access
        };
        let past = state.current.clone();
        let by = RaceSide { thread, kind };
        let accesses = entry(&mut self.accesses, loc.index());
        let earlier = conflict(accesses, kind, thread, |id, at| past.get(id) >= at);
        record(accesses, thread, epoch, by);
        earlier.map(|earlier| Race {
            loc,
            earlier,
            later: by,
        })
    }
}

/// The accesses of one location, for race detection on the clocks of the write log.
#[derive(Clone, Debug, Default)]
pub struct RaceShadow {
    accesses: Vec<Recorded<Slot, Epoch>>,
}

impl RaceShadow {
    /// Checks an access against the recorded ones and records it. An atomic access is applied to its
    /// [`crate::write_log::LocationState`] first.
    pub fn access(
        &mut self,
        thread: &mut ThreadState,
        loc: LocId,
        kind: AccessKind,
        rules: Rules,
    ) -> Option<Race> {
        let epoch = match kind {
            // The write has an epoch of its own already, and publishing it does not publish more.
            AccessKind::AtomicWrite => thread.stamp().epoch,
            AccessKind::AtomicRead | AccessKind::PlainRead | AccessKind::PlainWrite => {
                thread.private_epoch(rules)
            }
        };
        let by = RaceSide {
            thread: thread.id(),
            kind,
        };
        let hb = thread.hb();
        let known = |slot, at| hb.get(slot) >= at;
        let earlier = conflict(&self.accesses, kind, thread.slot(), known);
        record(&mut self.accesses, thread.slot(), epoch, by);
        earlier.map(|earlier| Race {
            loc,
            earlier,
            later: by,
        })
    }
}

/// The least recorded access of another thread that conflicts and is not known.
fn conflict<I: PartialEq + Copy, E: Copy>(
    accesses: &[Recorded<I, E>],
    kind: AccessKind,
    me: I,
    known: impl Fn(I, E) -> bool,
) -> Option<RaceSide> {
    let racing = accesses.iter().filter(|old| {
        old.place != me && kind.conflicts_with(old.by.kind) && !known(old.place, old.epoch)
    });
    racing.map(|old| old.by).min()
}

fn record<I: PartialEq, E>(accesses: &mut Vec<Recorded<I, E>>, place: I, epoch: E, by: RaceSide) {
    let last = accesses
        .iter_mut()
        .find(|old| old.place == place && old.by.kind == by.kind);
    match last {
        Some(last) => (last.epoch, last.by) = (epoch, by),
        None => accesses.push(Recorded { place, epoch, by }),
    }
}
