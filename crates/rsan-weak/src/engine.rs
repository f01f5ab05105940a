//! One execution, event by event.

use crate::fences::Fences;
use crate::location::{Location, Write, WriteId};
use crate::mutation::{Mutant, Mutation};
use crate::names::Names;
use crate::prune::Horizon;
use rsan_clocks::write_log::{Slot, Stamp, ThreadState, VectorClock};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, ThreadId, WriteOrd};

/// A location of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocationId(usize);

/// What a thread knows besides what happens before it.
#[derive(Clone, Debug)]
struct Thread {
    /// Whose slot this is.
    owner: ThreadId,
    /// What happened before its last release fence.
    released: VectorClock,
    /// What it has read without acquiring.
    pending: VectorClock,
}

impl Thread {
    fn new(owner: ThreadId) -> Self {
        Self {
            owner,
            released: VectorClock::default(),
            pending: VectorClock::default(),
        }
    }
}

/// What a thread knows, by slot: that of an ended thread is forgotten when its slot has another owner.
fn own<'t>(threads: &'t mut Vec<Thread>, thread: &ThreadState) -> &'t mut Thread {
    let (slot, id) = (usize::from(thread.slot().0), thread.id());
    if threads.len() <= slot {
        threads.resize(slot + 1, Thread::new(id));
    }
    if threads[slot].owner != id {
        threads[slot] = Thread::new(id);
    }
    &mut threads[slot]
}

/// A weak execution.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    locations: Vec<Location>,
    /// Those of the locations that are forgotten.
    free: Vec<usize>,
    /// By what the caller calls them.
    by_name: Names<LocationId>,
    /// By slot.
    threads: Vec<Thread>,
    fences: Fences,
    /// Events so far.
    number: u64,
    /// What all live threads know.
    horizon: VectorClock,
    /// Writes that are older than so many events are not read.
    window: Option<u64>,
    /// How many of the last writes of a location a load may read.
    recent: Option<usize>,
    /// Writes that the present access follows; kept for its memory.
    prior: Vec<WriteId>,
    pub(crate) mutation: Mutation,
}

impl Engine {
    /// The location with a name; if it is new, it has this value.
    pub fn location(&mut self, name: u64, initial: impl FnOnce() -> u128) -> LocationId {
        if let Some(id) = self.by_name.get(&name) {
            return *id;
        }
        let new = Location::new(initial());
        let id = match self.free.pop() {
            Some(id) => {
                self.locations[id] = new;
                LocationId(id)
            }
            None => {
                self.locations.push(new);
                LocationId(self.locations.len() - 1)
            }
        };
        self.by_name.insert(name, id);
        id
    }

    /// Forgets a location: it has another meaning from now on, for everybody.
    pub fn forget(&mut self, name: u64) {
        if let Some(id) = self.by_name.remove(&name) {
            self.locations[id.0] = Location::new(0);
            self.free.push(id.0);
        }
    }

    /// A write of a location.
    pub fn write(&self, location: LocationId, write: WriteId) -> &Write {
        &self.locations[location.0].writes[write.index()]
    }

    /// The writes of a location that are not forgotten, in the order in which they were made.
    pub fn writes(&self, location: LocationId) -> impl ExactSizeIterator<Item = WriteId> + use<> {
        (0..self.locations[location.0].writes.len() as u32).map(WriteId)
    }

    /// Whether a write is known to come before another one in modification order, or is it.
    pub fn is_before(&self, location: LocationId, one: WriteId, other: WriteId) -> bool {
        self.locations[location.0].is_before(one, other)
    }

    /// The write that was made last.
    pub fn last(&self, location: LocationId) -> WriteId {
        WriteId(self.locations[location.0].writes.len() as u32 - 1)
    }

    fn thread(&mut self, thread: &ThreadState) -> &mut Thread {
        own(&mut self.threads, thread)
    }

    /// What must come before the next access of a location: [`Engine::prior`].
    fn find_prior(&mut self, thread: &ThreadState, at: LocationId, sc: bool) {
        let mutation = self.mutation;
        let bound = match sc || mutation.breaks(Mutant::ScBindsAll) {
            true => self.fences.for_sc(mutation),
            false => self.fences.for_others(thread.hb(), thread.slot(), mutation),
        };
        let location = &self.locations[at.0];
        location.prior(thread.hb(), &bound, mutation, &mut self.prior);
    }

    /// The writes that a load may read, in the order in which they were made. There is always one.
    pub fn readable(
        &mut self,
        thread: &mut ThreadState,
        location: LocationId,
        ord: ReadOrd,
    ) -> Vec<WriteId> {
        self.make_room(location);
        self.find_prior(thread, location, ord.is_sc());
        let location = &self.locations[location.0];
        let all = (0..location.writes.len() as u32).map(WriteId);
        let is_readable = |write: &WriteId| location.may_follow(*write, &self.prior);
        let Some(recent) = self.recent else {
            return all.filter(is_readable).collect();
        };
        // Where constraints leave none of the last ones, an older one is the only choice.
        let mut backwards = all.rev();
        let last = backwards.by_ref().take(recent);
        let mut readable: Vec<_> = last.filter(is_readable).collect();
        if readable.is_empty() {
            readable.extend(backwards.find(is_readable));
        }
        readable.reverse();
        readable
    }

    /// The writes that a read-modify-write may read, in the order in which they were made. There is always one.
    pub fn updatable(
        &mut self,
        thread: &mut ThreadState,
        location: LocationId,
        ord: RmwOrd,
    ) -> Vec<WriteId> {
        self.make_room(location);
        self.find_prior(thread, location, ord == RmwOrd::SeqCst);
        if self.mutation.breaks(Mutant::UpdatedTwice) {
            return self.readable(thread, location, ord.read());
        }
        let location = &self.locations[location.0];
        let ends = location.ends.iter().copied();
        ends.filter(|write| location.may_follow(*write, &self.prior))
            .collect()
    }

    /// Whether a thread knows of a write, or of a later one, already.
    pub fn is_known(&self, thread: &ThreadState, location: LocationId, write: WriteId) -> bool {
        self.locations[location.0].is_known(thread.hb(), write)
    }

    /// Whether an execution whose reads have all read the last write so far is not sequentially consistent any more if the thread reads this
    /// write next (docs/theory/weak.md, E8). It may say so although another modification order explains it.
    pub fn leaves_sc(&self, thread: &ThreadState, at: LocationId, write: WriteId) -> bool {
        let next = self.locations[at.0].writes.get(write.index() + 1);
        let Some(stamp) = next.and_then(|next| next.stamp) else {
            return false;
        };
        thread.past().get(stamp.slot) >= stamp.epoch
    }

    /// A new event of a thread.
    fn begin(&mut self, thread: &mut ThreadState) {
        thread.new_epoch();
        self.number += 1;
        own(&mut self.threads, thread);
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
            let pending = &mut own(&mut self.threads, thread).pending;
            pending.join(message);
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
        self.find_prior(thread, at, ord.is_sc());
        let mutation = self.mutation;
        if !mutation.breaks(Mutant::ReadsOrderNothing) {
            self.put_before(at, write);
        }
        let sc = ord.is_sc() && !mutation.breaks(Mutant::ScReadsNotRecorded);
        if !mutation.breaks(Mutant::ReadsNotRecorded) {
            self.accessed(thread.stamp(), at, write, sc);
        }
        let acquires = ord.acquires() || mutation.breaks(Mutant::RelaxedReadAcquires);
        let acquires = acquires && !mutation.breaks(Mutant::AcquireReadIgnored);
        self.take(thread, at, write, acquires);
        let location = &mut self.locations[at.0];
        thread.follow(&location.past_of_writes);
        location.past.join(thread.past());
    }

    /// All that the present access follows comes before the write that it reads.
    fn put_before(&mut self, at: LocationId, read: WriteId) {
        let location = &mut self.locations[at.0];
        for before in &self.prior {
            location.put_before(*before, read, self.mutation);
        }
    }

    fn accessed(&mut self, stamp: Stamp, at: LocationId, write: WriteId, sc: bool) {
        self.locations[at.0].accessed(stamp, write, sc.then_some(self.number));
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
        self.make_room(at);
        self.begin(thread);
        self.find_prior(thread, at, ord.is_sc());
        let mutation = self.mutation;
        let releases = ord.releases() || mutation.breaks(Mutant::RelaxedStoreReleases);
        let releases = releases && !mutation.breaks(Mutant::ReleaseStoreIgnored);
        let message = self.message(thread, releases);
        let write = self.add(thread, at, (value, tag), message);
        self.locations[at.0].place(write, &self.prior, mutation);
        let sc = ord.is_sc() && !mutation.breaks(Mutant::ScStoresNotRecorded);
        self.wrote(thread, at, write, sc);
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
        self.find_prior(thread, at, is_sc);
        let mutation = self.mutation;
        if !mutation.breaks(Mutant::UpdatesOrderNothing) {
            self.put_before(at, read);
        }
        let acquires = ord.read().acquires();
        let acquires = acquires || mutation.breaks(Mutant::RelaxedUpdateAcquires);
        if acquires || !mutation.breaks(Mutant::UpdateLeavesNothingToFences) {
            self.take(thread, at, read, acquires);
        }
        let releases = ord.write().releases();
        let releases = releases || mutation.breaks(Mutant::RelaxedUpdateReleases);
        let mut message = self.message(thread, releases);
        if !mutation.breaks(Mutant::UpdateEndsReleaseSequence) {
            message.join(&self.write(at, read).message);
        }
        let write = self.add(thread, at, (value, tag), message);
        self.locations[at.0].put_directly_after(write, read, mutation);
        let sc = is_sc && !mutation.breaks(Mutant::ScUpdatesNotRecorded);
        self.wrote(thread, at, write, sc);
        write
    }

    /// A write of a value, with a tag.
    fn add(
        &mut self,
        thread: &ThreadState,
        at: LocationId,
        (value, tag): (u128, u128),
        message: VectorClock,
    ) -> WriteId {
        self.locations[at.0].add(Write {
            value,
            tag,
            stamp: Some(thread.stamp()),
            number: self.number,
            message,
        })
    }

    /// A write was executed.
    fn wrote(&mut self, thread: &mut ThreadState, at: LocationId, write: WriteId, sc: bool) {
        self.accessed(thread.stamp(), at, write, sc);
        let location = &mut self.locations[at.0];
        thread.follow(&location.past);
        location.past.assign(thread.past());
        location.past_of_writes.assign(thread.past());
    }

    /// A fence.
    pub fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd) {
        self.begin(thread);
        let mutation = self.mutation;
        let slot = thread.slot();
        let own = &mut self.threads[usize::from(slot.0)];
        if ord.acquires() && !mutation.breaks(Mutant::AcquireFenceIgnored) {
            thread.synchronise(&own.pending);
            own.pending.clear();
        }
        if ord.releases() && !mutation.breaks(Mutant::ReleaseFenceIgnored) {
            own.released.assign(thread.publish());
        }
        if ord.is_sc() {
            let stamp = thread.stamp();
            self.fences.add(thread.publish(), stamp, self.number);
            let count = self.fences.count(slot);
            if count >= Location::FEWEST && count.is_power_of_two() {
                let (oldest, known) = (self.oldest(), &self.horizon);
                self.fences.prune(slot, known, oldest, mutation);
            }
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

    /// All live threads know this much, and so will all that they create: what comes before it in modification order is forgotten, little
    /// by little (docs/theory/weak.md, E5). A thread that waits for the end of another one may count as knowing what that one knows.
    pub fn prune(&mut self, horizon: &VectorClock) {
        self.horizon.assign(horizon);
    }

    /// Forgets everything at once that may be forgotten.
    pub fn prune_all(&mut self) {
        let (oldest, known) = (self.oldest(), &self.horizon);
        for location in &mut self.locations {
            location.prune(&Horizon { known, oldest }, self.mutation);
        }
        self.fences.prune_all(known, oldest, self.mutation);
    }

    /// From now on nothing is read that comes before a write which is older than so many events (docs/theory/weak.md, E6): fewer
    /// executions are shown, and no other ones.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.window = window;
    }

    /// From now on a load reads one of the last so many writes of its location, unless the order of modification leaves none of them. With many
    /// writes a read takes less time then, and fewer executions are shown.
    pub fn set_recent(&mut self, recent: Option<usize>) {
        self.recent = recent;
    }

    /// The number of the first event that is not older than the window.
    fn oldest(&self) -> u64 {
        let window = self.window.unwrap_or(u64::MAX);
        self.number.saturating_sub(window)
    }

    /// Before an access of a location with many writes.
    #[inline]
    fn make_room(&mut self, at: LocationId) {
        if self.locations[at.0].writes.len() >= self.locations[at.0].limit {
            let (oldest, known) = (self.oldest(), &self.horizon);
            self.locations[at.0].prune(&Horizon { known, oldest }, self.mutation);
        }
    }

    /// How much is remembered: writes, accesses, fences, locations and threads.
    pub fn records(&self) -> usize {
        let locations: usize = self.locations.iter().map(Location::records).sum();
        locations + self.locations.len() + self.fences.total() + self.threads.len()
    }
}

/// What all of some threads know: the meet of their clocks.
pub fn horizon<'c>(clocks: impl IntoIterator<Item = &'c VectorClock>) -> VectorClock {
    let mut clocks = clocks.into_iter();
    let mut meet = clocks.next().cloned().unwrap_or_default();
    for clock in clocks {
        for slot in (0..meet.slice().len()).map(|slot| Slot(slot as u16)) {
            meet.set(slot, meet.get(slot).min(clock.get(slot)));
        }
    }
    meet
}
