//! One execution, event by event.

use crate::fences::{Bound, Fences};
use crate::location::{Location, Write, WriteId};
use rsan_clocks::write_log::{ThreadState, VectorClock};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};
use std::collections::HashMap;

/// A location of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocationId(usize);

/// What a thread knows besides what happens before it.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// What happened before its last release fence.
    released: VectorClock,
    /// What it has read without acquiring.
    pending: VectorClock,
    /// What is before its next event in the order of execution, as far as accesses carry it.
    past: VectorClock,
}

/// A weak execution.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    locations: Vec<Location>,
    /// By what the caller calls them.
    by_name: HashMap<u64, LocationId>,
    threads: Vec<Thread>,
    fences: Fences,
    /// Events so far.
    number: u64,
}

impl Engine {
    /// The location with a name; if it is new, it has this value.
    pub fn location(&mut self, name: u64, initial: impl FnOnce() -> u128) -> LocationId {
        *self.by_name.entry(name).or_insert_with(|| {
            self.locations.push(Location::new(initial()));
            LocationId(self.locations.len() - 1)
        })
    }

    /// A write of a location.
    pub fn write(&self, location: LocationId, write: WriteId) -> &Write {
        &self.locations[location.0].writes[write.index()]
    }

    /// The write that was made last.
    pub fn last(&self, location: LocationId) -> WriteId {
        WriteId(self.locations[location.0].writes.len() as u32 - 1)
    }

    fn thread(&mut self, thread: &ThreadState) -> &mut Thread {
        let index = thread.id().index();
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Thread::default());
        }
        &mut self.threads[index]
    }

    /// What must come before the next access of a location.
    fn prior(&self, thread: &ThreadState, location: LocationId, sc: bool) -> Vec<WriteId> {
        let bound = match sc {
            true => self.fences.for_sc(),
            false => self.fences.for_others(thread.hb()),
        };
        self.locations[location.0].prior(thread.hb(), &bound)
    }

    /// The writes that a load may read, in the order in which they were made.
    pub fn readable(
        &mut self,
        thread: &mut ThreadState,
        location: LocationId,
        ord: ReadOrd,
    ) -> Vec<WriteId> {
        let prior = self.prior(thread, location, ord.is_sc());
        let location = &self.locations[location.0];
        let all = (0..location.writes.len() as u32).map(WriteId);
        all.filter(|write| location.may_follow(*write, &prior))
            .collect()
    }

    /// The writes that a read-modify-write may read, in the order in which they were made.
    pub fn updatable(
        &mut self,
        thread: &mut ThreadState,
        location: LocationId,
        ord: RmwOrd,
    ) -> Vec<WriteId> {
        let prior = self.prior(thread, location, ord == RmwOrd::SeqCst);
        let location = &self.locations[location.0];
        let all = (0..location.writes.len() as u32).map(WriteId);
        all.filter(|write| !location.is_updated(*write) && location.may_follow(*write, &prior))
            .collect()
    }

    /// Whether a thread knows of a write, or of a later one, already.
    pub fn is_known(&self, thread: &ThreadState, location: LocationId, write: WriteId) -> bool {
        let none = Bound::default();
        let prior = self.locations[location.0].prior(thread.hb(), &none);
        prior.contains(&write)
    }

    /// Whether an execution that was sequentially consistent so far is not any more if the thread reads this write next. It may say so although
    /// another order of execution explains it.
    pub fn leaves_sc(&mut self, thread: &ThreadState, at: LocationId, write: WriteId) -> bool {
        let next = self.locations[at.0].writes.get(write.index() + 1);
        let Some(stamp) = next.and_then(|next| next.stamp) else {
            return false;
        };
        let past = self.thread(thread).past.get(stamp.slot);
        past.max(thread.hb().get(stamp.slot)) >= stamp.epoch
    }

    /// A new event of a thread.
    fn begin(&mut self, thread: &mut ThreadState) {
        thread.new_epoch();
        self.number += 1;
        let past = &mut self.thread(thread).past;
        past.join(thread.hb());
    }

    /// Takes over what a write carries, ahead of an access that reads it: whoever has to do something between the two.
    pub fn acquire(
        &mut self,
        thread: &mut ThreadState,
        at: LocationId,
        write: WriteId,
        ord: ReadOrd,
    ) {
        self.take(thread, at, write, ord.acquires());
    }

    /// Takes over what a write carries.
    fn take(&mut self, thread: &mut ThreadState, at: LocationId, write: WriteId, acquires: bool) {
        let message = &self.locations[at.0].writes[write.index()].message;
        if acquires {
            thread.synchronise(message);
        } else {
            let message = message.clone();
            self.thread(thread).pending.join(&message);
        }
    }

    /// What a write of a thread carries.
    fn message(&mut self, thread: &mut ThreadState, releases: bool) -> VectorClock {
        match releases {
            true => thread.publish().clone(),
            false => self.thread(thread).released.clone(),
        }
    }

    /// A load reads a write, which must be one of the [`Engine::readable`] ones.
    pub fn read(&mut self, thread: &mut ThreadState, at: LocationId, write: WriteId, ord: ReadOrd) {
        self.begin(thread);
        let prior = self.prior(thread, at, ord.is_sc());
        let location = &mut self.locations[at.0];
        for before in prior {
            location.put_before(before, write);
        }
        let sc = ord.is_sc().then_some(self.number);
        location.accessed(thread.stamp(), write, sc);
        self.take(thread, at, write, ord.acquires());
        let index = thread.id().index();
        let (past, location) = (&mut self.threads[index].past, &mut self.locations[at.0]);
        past.join(&location.past_of_writes);
        location.past.join(past);
    }

    /// A store.
    pub fn store(
        &mut self,
        thread: &mut ThreadState,
        at: LocationId,
        value: u128,
        ord: WriteOrd,
        tag: u128,
    ) -> WriteId {
        self.begin(thread);
        let prior = self.prior(thread, at, ord.is_sc());
        let message = self.message(thread, ord.releases());
        let stamp = Some(thread.stamp());
        let location = &mut self.locations[at.0];
        let write = location.add(Write {
            value,
            tag,
            stamp,
            message,
        });
        for before in prior {
            location.put_before(before, write);
        }
        let sc = ord.is_sc().then_some(self.number);
        location.accessed(thread.stamp(), write, sc);
        self.wrote(thread, at);
        write
    }

    /// A read-modify-write that reads a write, which must be one of the [`Engine::updatable`] ones.
    pub fn update(
        &mut self,
        thread: &mut ThreadState,
        at: LocationId,
        read: WriteId,
        value: u128,
        ord: RmwOrd,
        tag: u128,
    ) -> WriteId {
        self.begin(thread);
        let is_sc = ord == RmwOrd::SeqCst;
        let prior = self.prior(thread, at, is_sc);
        for before in prior {
            self.locations[at.0].put_before(before, read);
        }
        self.take(thread, at, read, ord.read().acquires());
        let mut message = self.message(thread, ord.write().releases());
        let location = &mut self.locations[at.0];
        message.join(&location.writes[read.index()].message);
        let stamp = Some(thread.stamp());
        let write = location.add(Write {
            value,
            tag,
            stamp,
            message,
        });
        location.put_directly_after(write, read);
        let sc = is_sc.then_some(self.number);
        location.accessed(thread.stamp(), write, sc);
        self.wrote(thread, at);
        write
    }

    /// A write was executed.
    fn wrote(&mut self, thread: &ThreadState, at: LocationId) {
        let index = thread.id().index();
        let (past, location) = (&mut self.threads[index].past, &mut self.locations[at.0]);
        past.join(&location.past);
        location.past.assign(past);
        location.past_of_writes.assign(past);
    }

    /// A fence.
    pub fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd) {
        self.begin(thread);
        if ord.acquires() {
            let pending = std::mem::take(&mut self.thread(thread).pending);
            thread.synchronise(&pending);
        }
        if ord.is_sc() {
            let stamp = thread.stamp();
            let slot = usize::from(stamp.slot.0);
            self.fences
                .add(thread.publish(), slot, stamp.epoch, self.number);
        }
        if ord.releases() {
            let released = thread.publish().clone();
            self.thread(thread).released = released;
        }
    }

    /// What acquiring reads of all the writes of a location would take over.
    pub fn released(&self, at: LocationId) -> VectorClock {
        let mut released = VectorClock::default();
        for write in &self.locations[at.0].writes {
            released.join(&write.message);
        }
        released
    }

    /// Forgets a location: it has another meaning from now on, for everybody.
    pub fn forget(&mut self, name: u64) {
        if let Some(id) = self.by_name.remove(&name) {
            self.locations[id.0] = Location::new(0);
        }
    }
}
