//! The program's operations, as the engine executes them.

use super::access::{Accessor, Place};
use rsan_model::{CasStrength, FenceOrd, ReadOrd, RmwOrd, WriteOrd};
use rsan_weak::{LocationId, WriteId};

/// A load. What the program gets.
pub(crate) fn load(place: Place, ord: ReadOrd, memory: impl FnOnce() -> u128) -> Option<u128> {
    let mut accessor = Accessor::new()?;
    accessor.with(|access| {
        let at = access.location(place, false, memory)?;
        access.note_order(ord.into(), None);
        let writes = access.memory.engine.readable(access.thread, at, ord);
        let chosen = access.choose(place, at, &writes);
        let value = access.memory.engine.write(at, chosen).value;
        access.memory.engine.read(access.thread, at, chosen, ord);
        Some(value)
    })?
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

/// What a read-modify-write reads.
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
        let engine = &mut access.memory.engine;
        engine.acquire(access.thread, at, write, ord.read());
        let value = engine.write(at, write).value;
        Some(Found { value, at, write })
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
    /// It has failed, with this value.
    Fails(u128),
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
        let value = access.memory.engine.write(at, write).value;
        let reading = access.reading();
        if let Some(thread) = access.state.thread(access.number) {
            thread.step.1.may_fail = may_fail;
        }
        if value == expected {
            if !succeeding.contains(&write) {
                access.fail_for_no_reason(at, write, failure);
                return Some(Compared::Fails(value));
            }
            let is_patient = !access.is_impatient(at);
            if may_fail && is_patient && access.state.strategy.fails(&reading) {
                access.fail_for_no_reason(at, write, failure);
                return Some(Compared::Fails(value));
            }
            let engine = &mut access.memory.engine;
            engine.acquire(access.thread, at, write, success.read());
            return Some(Compared::Succeeds(Found { value, at, write }));
        }
        access.memory.engine.read(access.thread, at, write, failure);
        Some(Compared::Fails(value))
    })?
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
