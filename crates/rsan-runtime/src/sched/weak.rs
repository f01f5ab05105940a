//! Weak runs: loads return what the memory model allows ([`rsan_weak`]), and the strategy says which.
//!
//! The program's memory holds what was written last; what loads return comes from the engine. A plain write of the same bytes, which is
//! ordered with all accesses unless there is a race, begins a new life of the location, and so does freeing it.
//!
//! A spin loop may not read the same stale value for ever: a thread whose spin iteration failed with a stale value reads the last write
//! from then on, until it leaves the loop ([`super::spin`]), and so does one that has read the same stale value very often.
//!
//! **Not executed**: accesses of one word with different sizes. From the second size on, its bytes are read from memory, and every access
//! follows everything that was released there before: no race is reported that is none. The log says so.

use super::run::Weak;
use super::state::State;
use super::{Inside, places, scheduled};
use crate::finding::{Side, StaleRead};
use crate::lock::Guard;
use crate::stack::{Node, frames};
use crate::{horizon, journal, modules, report};
use rsan_clocks::write_log::{ThreadState, VectorClock};
use rsan_log::{Event, Operation};
use rsan_model::{CasStrength, FenceOrd, ReadOrd, RmwOrd, ThreadId, WriteOrd};
use rsan_schedule::strategy::Arrival;
use rsan_schedule::{Origin, Readable, Reading, ReadsFrom};
use rsan_weak::{Engine, LocationId, WriteId};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

/// The memory of a weak run.
#[derive(Debug, Default)]
pub(super) struct Memory {
    engine: Engine,
    /// By their addresses.
    locations: BTreeMap<usize, Known>,
    /// Bytes that were accessed with different sizes.
    mixed: Vec<Mixed>,
    /// How often a thread has read the same stale value of a location, one after the other.
    repeated: HashMap<(ThreadId, LocationId), (u128, u32)>,
    /// Stale reads are logged.
    explains: bool,
    /// Accesses whose places were logged.
    said: u32,
    /// Accesses since it was last asked what all threads know.
    accesses: u32,
    /// The writes of the present read.
    readable: Vec<Readable>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    bytes: usize,
    location: LocationId,
}

/// Bytes that were accessed with different sizes, and what was released there.
#[derive(Debug)]
struct Mixed {
    start: usize,
    end: usize,
    released: VectorClock,
}

/// Where an access goes.
enum Target {
    Location(LocationId),
    /// One of [`Memory::mixed`].
    Mixed(usize),
}

/// Of how many of the last writes of a location a load reads one, in runs that are drawn.
const RECENT: usize = 64;

/// Accesses after which it is asked again what all threads know.
const ASKING: u32 = 256;

/// Accesses whose places are logged, at most.
const SAID: u32 = 4096;

/// Reads of the same stale value, one after the other, before the last one is read.
const PATIENCE: u32 = 16;

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether this run is a weak one.
#[inline]
pub(crate) fn is_active() -> bool {
    // ORDERING: relaxed; set while there is one thread.
    ACTIVE.load(Ordering::Relaxed)
}

/// From here on loads return what the memory model allows.
pub(super) fn start(first: &ThreadState, how: Weak) -> Box<Memory> {
    horizon::follow(first);
    // ORDERING: relaxed; there is one thread.
    ACTIVE.store(true, Ordering::Relaxed);
    let mut memory = Box::<Memory>::default();
    memory.explains = how.explains;
    memory.engine.set_window(how.window);
    memory.engine.set_recent(how.samples.then_some(RECENT));
    memory
}

/// The operation to which the calling thread comes next releases.
static RELEASES: AtomicBool = AtomicBool::new(false);

/// The calling thread is about to come to an atomic write, which releases or not.
pub(crate) fn announce(releases: bool) {
    // ORDERING: relaxed; one thread runs at a time.
    RELEASES.store(releases, Ordering::Relaxed);
}

/// The calling thread has come to an operation: tells the strategy.
pub(super) fn arrive(inside: &mut Inside, state: Option<&mut State>) {
    let Some(state) = state.filter(|state| state.weak.is_some()) else {
        return;
    };
    let arrival = Arrival {
        thread: ThreadId::new(inside.number()),
        wrote: std::mem::take(&mut inside.entered.wrote),
        // ORDERING: relaxed; one thread runs at a time.
        releases: RELEASES.swap(false, Ordering::Relaxed),
    };
    state.strategy.arrived(arrival);
}

/// In a child that the program made: it is no weak run.
pub(super) fn end() {
    // ORDERING: relaxed; there is one thread.
    ACTIVE.store(false, Ordering::Relaxed);
}

/// What is known of a write: `step:32 thread:32 number:32 leaf:32`.
#[derive(Clone, Copy, Debug)]
struct Tag {
    step: u32,
    thread: u32,
    number: u32,
    leaf: u32,
}

impl Tag {
    fn pack(self) -> u128 {
        let words = [self.step, self.thread, self.number, self.leaf];
        words
            .iter()
            .fold(0, |all, word| all << 32 | u128::from(*word))
    }

    fn unpack(tag: u128) -> Self {
        let word = |index: u32| (tag >> (32 * index)) as u32;
        Self {
            step: word(3),
            thread: word(2),
            number: word(1),
            leaf: word(0),
        }
    }
}

/// An access of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
}

/// The calling thread at an access of a weak run.
struct Accessor {
    inside: Inside,
    guard: Guard<'static, Option<State>>,
}

impl Accessor {
    fn new() -> Option<Self> {
        let (inside, guard) = scheduled()?;
        guard.as_ref()?.weak.as_ref()?;
        Some(Self { inside, guard })
    }

    /// The scheduler, its memory, and what the thread knows.
    fn parts(&mut self) -> Option<(&mut State, Box<Memory>, &mut ThreadState)> {
        let state = self.guard.as_mut()?;
        let memory = state.weak.take()?;
        Some((state, memory, &mut self.inside.entered.state))
    }

    /// Runs something with the memory, and gives it back.
    fn with<R>(&mut self, act: impl FnOnce(&mut Access<'_>) -> R) -> Option<R> {
        let leaf = self.inside.entered.leaf();
        let (number, caller) = (self.inside.number(), self.inside.caller);
        let (state, mut memory, thread) = self.parts()?;
        memory.prune(thread);
        let mut access = Access {
            state,
            memory: &mut memory,
            thread,
            number,
            leaf,
            caller,
        };
        let result = act(&mut access);
        self.guard.as_mut()?.weak = Some(memory);
        // What it has released is known to others from now on.
        self.inside.entered.dirty = true;
        Some(result)
    }
}

/// An access on its way.
struct Access<'a> {
    state: &'a mut State,
    memory: &'a mut Memory,
    thread: &'a mut ThreadState,
    number: usize,
    leaf: Node,
    caller: usize,
}

impl Access<'_> {
    /// What there is to say of a write that the thread makes now.
    fn tag(&mut self) -> u128 {
        let number = self.number;
        let made = self.state.thread(number).map_or((0, 0), |thread| {
            let step = u32::try_from(thread.step.0).unwrap_or(u32::MAX);
            (step, thread.made.saturating_sub(1))
        });
        Tag {
            step: made.0,
            thread: number as u32,
            number: made.1,
            leaf: self.leaf.0,
        }
        .pack()
    }

    /// Where an access goes; `memory` is what is there.
    fn target(&mut self, place: Place, memory: impl FnOnce() -> u128) -> Target {
        let Place { address, bytes } = place;
        if let Some(known) = self.memory.locations.get(&address)
            && known.bytes == bytes
        {
            return Target::Location(known.location);
        }
        let end = address + bytes;
        let is_mixed = |mixed: &Mixed| mixed.start < end && address < mixed.end;
        if let Some(index) = self.memory.mixed.iter().position(is_mixed) {
            return Target::Mixed(index);
        }
        if self.memory.within(address, bytes).next().is_some() {
            self.say_mixed();
            return Target::Mixed(self.memory.mix(address, bytes));
        }
        let location = self.memory.engine.location(address as u64, memory);
        let known = Known { bytes, location };
        self.memory.locations.insert(address, known);
        Target::Location(location)
    }

    /// The location of an access. Where there is none, memory is read: the access takes over what was released there, and leaves what the
    /// thread knows if it writes.
    fn location(
        &mut self,
        place: Place,
        writes: bool,
        memory: impl FnOnce() -> u128,
    ) -> Option<LocationId> {
        match self.target(place, memory) {
            Target::Location(location) => Some(location),
            Target::Mixed(index) => {
                let mixed = &mut self.memory.mixed[index];
                self.thread.synchronise(&mixed.released);
                if writes {
                    mixed.released.join(self.thread.publish());
                }
                None
            }
        }
    }

    /// Logs where the access is.
    #[cold]
    fn say_access(&mut self) {
        let Some(thread) = self.state.thread(self.number) else {
            return;
        };
        let (step, address) = (thread.step.0 as u64, thread.step.1.op.object as usize);
        self.memory.said += 1;
        report::accessed(step, address, self.leaf.as_site());
    }

    #[cold]
    fn say_mixed(&self) {
        let modules = modules::modules();
        journal::say(Event::Undecided {
            message: "accesses of different sizes, or volatile and atomic ones: no stale value is read here".into(),
            stack: frames(self.leaf.as_site(), &modules),
        });
    }

    /// Notes the order of the access in its step.
    fn note_order(&mut self, order: RmwOrd, failure: Option<ReadOrd>) {
        if let Some(thread) = self.state.thread(self.number) {
            (thread.step.1.order, thread.step.1.failure) = (Some(order), failure);
        }
        if self.memory.explains && self.memory.said < SAID {
            self.say_access();
        }
    }

    /// Asks for one of the writes, the last of which is made if the thread has waited long enough.
    fn choose(&mut self, place: Place, at: LocationId, writes: &[WriteId]) -> WriteId {
        let last = writes[writes.len() - 1];
        let chosen = match writes.len() {
            1 => last,
            _ if self.is_impatient(at) => last,
            _ => self.ask(at, writes),
        };
        let stale = chosen != last;
        self.count(at, chosen, stale);
        if stale && self.memory.explains {
            self.explain(place, at, chosen, last);
        }
        self.note_source(at, chosen, stale);
        chosen
    }

    /// Notes in the step which write it reads.
    fn note_source(&mut self, at: LocationId, chosen: WriteId, stale: bool) {
        let write = self.memory.engine.write(at, chosen);
        let from = match write.stamp {
            None => ReadsFrom::Initial,
            Some(_) => ReadsFrom::Step(Tag::unpack(write.tag).step),
        };
        if let Some(thread) = self.state.thread(self.number) {
            (thread.step.1.from, thread.step.1.stale) = (from, stale);
            thread.spin.reads_stale(stale);
        }
    }

    /// Whether the thread has read stale values often enough.
    fn is_impatient(&mut self, at: LocationId) -> bool {
        if !self.state.strategy.goes_round() {
            return false;
        }
        let reader = ThreadId::new(self.number);
        let often = self.memory.repeated.get(&(reader, at));
        let often = often.is_some_and(|(_, times)| *times >= PATIENCE);
        often
            || self
                .state
                .thread(self.number)
                .is_some_and(|thread| thread.reads_last)
    }

    fn count(&mut self, at: LocationId, chosen: WriteId, stale: bool) {
        let reader = (ThreadId::new(self.number), at);
        if !stale {
            self.memory.repeated.remove(&reader);
            return;
        }
        let tag = self.memory.engine.write(at, chosen).tag;
        let repeated = self.memory.repeated.entry(reader).or_insert((tag, 0));
        *repeated = match repeated.0 == tag {
            true => (tag, repeated.1 + 1),
            false => (tag, 1),
        };
    }

    /// Asks the strategy.
    fn ask(&mut self, at: LocationId, writes: &[WriteId]) -> WriteId {
        let mut readable = std::mem::take(&mut self.memory.readable);
        readable.clear();
        for write in writes {
            let engine = &mut self.memory.engine;
            let known = engine.is_known(self.thread, at, *write);
            let leaves_sc = engine.leaves_sc(self.thread, at, *write);
            let made = engine.write(at, *write);
            let tag = Tag::unpack(made.tag);
            let (origin, place) = match made.stamp {
                None => (Origin::Initial, 0),
                Some(_) => {
                    let thread = ThreadId(tag.thread);
                    let number = tag.number;
                    let pc = Node(tag.leaf).as_site().pc;
                    (Origin::Step { thread, number }, places::of(pc))
                }
            };
            readable.push(Readable {
                origin,
                place,
                known,
                leaves_sc,
            });
        }
        let reading = self.reading();
        let chosen = self.state.strategy.read(&reading, &readable);
        let chosen = chosen.min(writes.len() - 1);
        if readable[chosen].leaves_sc {
            self.state.trace.deviate(reading.place);
        }
        self.memory.readable = readable;
        writes[chosen]
    }

    fn reading(&mut self) -> Reading {
        let thread = ThreadId::new(self.number);
        let op = self.state.thread(self.number).map(|thread| thread.op);
        Reading {
            thread,
            op: op.unwrap_or_else(|| rsan_schedule::Op::bare(rsan_schedule::Kind::Load)),
            place: places::of(self.caller),
        }
    }

    /// Logs a stale read.
    #[cold]
    fn explain(&mut self, place: Place, at: LocationId, chosen: WriteId, last: WriteId) {
        let engine = &self.memory.engine;
        let side = |write: WriteId| {
            let write = engine.write(at, write);
            let tag = Tag::unpack(write.tag);
            let made = write.stamp.is_some();
            let operation = match made {
                true => Operation::Store,
                false => Operation::Initial,
            };
            let thread = made.then_some(ThreadId(tag.thread));
            let site = match made {
                true => Node(tag.leaf).as_site(),
                false => crate::stack::Site::default(),
            };
            Side {
                value: Some(write.value),
                ..Side::plain(thread, operation, site)
            }
        };
        let step = self
            .state
            .threads
            .get(self.number)
            .and_then(Option::as_deref);
        let reader = Some(ThreadId::new(self.number));
        let site = self.leaf.as_site();
        let read = StaleRead {
            step: step.map_or(0, |thread| thread.step.0 as u64),
            address: place.address,
            bytes: place.bytes,
            access: Side {
                order: step.and_then(|thread| thread.step.1.order),
                ..Side::plain(reader, Operation::Load, site)
            },
            read: side(chosen),
            last: side(last),
        };
        report::stale(&read);
    }
}

impl Memory {
    /// Forgets from time to time what nobody can read any more.
    fn prune(&mut self, thread: &ThreadState) {
        self.accesses += 1;
        if self.accesses == ASKING {
            self.accesses = 0;
            self.engine.prune(&horizon::known_to_all(thread));
        }
    }

    /// The locations that have one of these bytes, by their addresses.
    fn within(&self, address: usize, bytes: usize) -> impl Iterator<Item = (usize, Known)> {
        const LARGEST: usize = 16;
        let from = address.saturating_sub(LARGEST - 1);
        let near = self.locations.range(from..address.saturating_add(bytes));
        near.filter(move |(at, known)| *at + known.bytes > address)
            .map(|(at, known)| (*at, *known))
    }

    /// These bytes are accessed with different sizes from now on: the index of what is known of them.
    fn mix(&mut self, address: usize, bytes: usize) -> usize {
        let (mut start, mut end) = (address, address + bytes);
        let mut released = VectorClock::default();
        let all: Vec<_> = self.within(address, bytes).collect();
        for (at, known) in all {
            (start, end) = (start.min(at), end.max(at + known.bytes));
            released.join(&self.engine.released(known.location));
        }
        self.forget(address, bytes);
        self.mixed.push(Mixed {
            start,
            end,
            released,
        });
        self.mixed.len() - 1
    }

    /// These bytes have another meaning from now on.
    fn forget(&mut self, address: usize, bytes: usize) {
        let gone: Vec<usize> = self.within(address, bytes).map(|(at, _)| at).collect();
        for at in gone {
            if let Some(known) = self.locations.remove(&at) {
                self.engine.forget(at as u64);
                self.repeated
                    .retain(|(_, location), _| *location != known.location);
            }
        }
        let end = address.saturating_add(bytes);
        self.mixed
            .retain(|mixed| mixed.start < address || mixed.end > end);
    }
}

/// A load is about to be made.
pub(crate) fn look(place: Place, ord: ReadOrd, memory: impl FnOnce() -> u128) -> Option<Found> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let at = access.location(place, false, memory)?;
        access.note_order(ord.into(), None);
        let writes = access.memory.engine.readable(access.thread, at, ord);
        let write = access.choose(place, at, &writes);
        Some(access.found(at, write, ord))
    })?
}

/// It was made.
pub(crate) fn read(found: Found, ord: ReadOrd) {
    let Some(mut accessor) = Accessor::new() else {
        return;
    };
    accessor.with(|access| {
        let Found { at, write, .. } = found;
        access.memory.engine.read(access.thread, at, write, ord);
    });
}

/// The same of one of some values; what is there last, and not read, if there is none of them.
pub(crate) fn load_one_of(
    place: Place,
    ord: ReadOrd,
    memory: impl FnOnce() -> u128,
    is_wanted: impl Fn(u128) -> bool,
) -> Option<u128> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let at = access.location(place, false, memory)?;
        access.note_order(ord.into(), None);
        let engine = &mut access.memory.engine;
        let writes = engine.readable(access.thread, at, ord);
        let last = engine.write(at, *writes.last()?).value;
        let wanted = |write: &WriteId| is_wanted(engine.write(at, *write).value);
        let writes: Vec<WriteId> = writes.into_iter().filter(wanted).collect();
        if writes.is_empty() {
            return Some(last);
        }
        let chosen = access.choose(place, at, &writes);
        let engine = &mut access.memory.engine;
        let value = engine.write(at, chosen).value;
        engine.read(access.thread, at, chosen, ord);
        Some(value)
    })?
}

/// A store, which the program has made in memory; `old` was there before.
pub(crate) fn store(place: Place, value: u128, ord: WriteOrd, old: u128) {
    let Some(mut accessor) = Accessor::new() else {
        return;
    };
    accessor.with(|access| {
        let at = access.location(place, true, || old)?;
        access.note_order(ord.into(), None);
        let tag = access.tag();
        access
            .memory
            .engine
            .store(access.thread, at, value, ord, tag);
        Some(())
    });
}

/// What an access reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) value: u128,
    at: LocationId,
    write: WriteId,
}

/// A read-modify-write is about to be made.
pub(crate) fn find(place: Place, ord: RmwOrd, memory: impl FnOnce() -> u128) -> Option<Found> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let at = access.location(place, true, memory)?;
        access.note_order(ord, None);
        let writes = access.memory.engine.updatable(access.thread, at, ord);
        let write = access.choose(place, at, &writes);
        Some(access.found(at, write, ord.read()))
    })?
}

/// The same where the thread waits for a value; none if it is not there.
pub(crate) fn find_value(
    place: Place,
    ord: RmwOrd,
    memory: impl FnOnce() -> u128,
    expected: u128,
) -> Option<Found> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let at = access.location(place, true, memory)?;
        access.note_order(ord, None);
        let engine = &mut access.memory.engine;
        let mut writes = engine.updatable(access.thread, at, ord);
        writes.retain(|write| engine.write(at, *write).value == expected);
        if writes.is_empty() {
            return None;
        }
        let write = access.choose(place, at, &writes);
        let engine = &mut access.memory.engine;
        engine.acquire(access.thread, at, write, ord.read());
        let value = expected;
        Some(Found { value, at, write })
    })?
}

/// It was made.
pub(crate) fn update(found: Found, value: u128, ord: RmwOrd) {
    let Some(mut accessor) = Accessor::new() else {
        return;
    };
    accessor.with(|access| {
        let tag = access.tag();
        let Found { at, write, .. } = found;
        access
            .memory
            .engine
            .update(access.thread, at, write, value, ord, tag);
    });
}

/// A compare-and-swap of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compare {
    pub(crate) expected: u128,
    pub(crate) success: RmwOrd,
    pub(crate) failure: ReadOrd,
    pub(crate) strength: CasStrength,
}

/// What a compare-and-swap comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compared {
    /// It is about to write.
    Succeeds(Found),
    /// It is about to fail.
    Fails(Found),
}

/// A compare-and-swap is about to be made.
pub(crate) fn compare(
    place: Place,
    compare: Compare,
    memory: impl FnOnce() -> u128,
) -> Option<Compared> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let Compare {
            expected,
            success,
            failure,
            strength,
        } = compare;
        let at = access.location(place, true, memory)?;
        access.note_order(success, Some(failure));
        let engine = &mut access.memory.engine;
        let mut writes = engine.updatable(access.thread, at, success);
        writes.retain(|write| engine.write(at, *write).value == expected);
        let failing = engine.readable(access.thread, at, failure);
        let succeeding = writes.clone();
        let may_fail = strength == CasStrength::Weak;
        let fits = |write: &WriteId| may_fail || engine.write(at, *write).value != expected;
        writes.extend(failing.into_iter().filter(fits));
        writes.sort_unstable();
        writes.dedup();
        let write = access.choose(place, at, &writes);
        if let Some(thread) = access.state.thread(access.number) {
            thread.step.1.may_fail = may_fail;
        }
        Some(
            match access.memory.engine.write(at, write).value == expected {
                false => Compared::Fails(access.found(at, write, failure)),
                true if !succeeding.contains(&write) || may_fail && access.fails(at) => {
                    Compared::Fails(access.fail_for_no_reason(at, write, failure))
                }
                true => Compared::Succeeds(access.found(at, write, success.read())),
            },
        )
    })?
}

impl Access<'_> {
    /// Whether the strategy wants a weak compare-and-swap to fail although it finds what it expects.
    fn fails(&mut self, at: LocationId) -> bool {
        if self.is_impatient(at) {
            return false;
        }
        let reading = self.reading();
        self.state.strategy.fails(&reading)
    }

    /// It does.
    fn fail_for_no_reason(&mut self, at: LocationId, write: WriteId, failure: ReadOrd) -> Found {
        let readable = self.memory.engine.readable(self.thread, at, failure);
        let write = if readable.contains(&write) {
            write
        } else {
            readable[readable.len() - 1]
        };
        if let Some(thread) = self.state.thread(self.number) {
            thread.step.1.spurious = true;
            thread.spin.reads_stale(true);
        }
        self.found(at, write, failure)
    }

    /// The write that an access reads, and what the thread learns by that. The access itself is made later.
    fn found(&mut self, at: LocationId, write: WriteId, ord: ReadOrd) -> Found {
        let engine = &mut self.memory.engine;
        engine.acquire(self.thread, at, write, ord);
        let value = engine.write(at, write).value;
        Found { value, at, write }
    }
}

/// A fence between threads.
pub(crate) fn fence(ord: FenceOrd) {
    let Some(mut accessor) = Accessor::new() else {
        return;
    };
    accessor.with(|access| {
        access.note_order(
            match ord {
                FenceOrd::Acquire => RmwOrd::Acquire,
                FenceOrd::Release => RmwOrd::Release,
                FenceOrd::AcqRel => RmwOrd::AcqRel,
                FenceOrd::SeqCst => RmwOrd::SeqCst,
            },
            None,
        );
        access.memory.engine.fence(access.thread, ord);
        if let Some(thread) = access.state.thread(access.number) {
            let (index, step) = thread.step;
            access.state.trace.set(index, &step);
        }
    });
}

/// A volatile access of these bytes: if atomic accesses have read or written them, what is there is read from memory from now on.
pub(crate) fn mix(place: Place) {
    let Some(mut accessor) = Accessor::new() else {
        return;
    };
    accessor.with(|access| {
        let known = access.memory.within(place.address, place.bytes).next();
        if known.is_some() {
            access.say_mixed();
            access.memory.mix(place.address, place.bytes);
        }
    });
}

/// A thread that is inside the runtime is about to make a plain access of these bytes, or to free them. A read finds in memory what it may
/// read: the last of these writes.
pub(crate) fn plain(thread: &mut ThreadState, address: usize, bytes: usize, writes: bool) {
    let mut guard = super::STATE.lock();
    let Some(memory) = guard.as_mut().and_then(|state| state.weak.as_mut()) else {
        return;
    };
    if writes {
        memory.forget(address, bytes);
        return;
    }
    let read: Vec<_> = memory.within(address, bytes).collect();
    for (at, known) in read {
        let engine = &mut memory.engine;
        let readable = engine.readable(thread, known.location, ReadOrd::Relaxed);
        let Some(write) = readable.last() else {
            continue;
        };
        let value = engine.write(known.location, *write).value;
        let is_last = *write == engine.last(known.location);
        engine.read(thread, known.location, *write, ReadOrd::Relaxed);
        if !is_last {
            let bytes = value.to_le_bytes();
            // SAFETY: the bytes of an atomic object of the program, which is about to read them; one thread runs at a time.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, known.bytes) };
        }
    }
}
