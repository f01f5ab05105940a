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
//!
//! * `access`: an access on its way. `operations`: what the program does.

mod access;
mod operations;

pub(crate) use access::Place;
pub(crate) use operations::{
    Compare, Compared, compare, fence, find, find_value, load, load_one_of, store, update,
};

use super::Inside;
use super::run::Weak;
use super::state::State;
use crate::horizon;
use access::Accessor;
use rsan_clocks::write_log::{ThreadState, VectorClock};
use rsan_model::{ReadOrd, ThreadId};
use rsan_schedule::Readable;
use rsan_schedule::strategy::Arrival;
use rsan_weak::{Engine, LocationId};
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
    /// Some read has left sequential consistency.
    has_deviated: bool,
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
