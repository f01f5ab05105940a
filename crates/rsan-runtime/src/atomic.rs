//! One atomic operation: lock the location, ask the monitor, do it, tell the monitor, unlock, look for races.
//!
//! The operations themselves are seq_cst whatever the program asked for, so that the run is sequentially consistent
//! across locations too, and for code that is not instrumented. What the program asked for is what the monitor is
//! told. A store that the program does not want seq_cst is a plain one of the processor: the next operation of the
//! thread begins with taking a lock, which on this platform (x86-64, where an exchange is a barrier) waits until the
//! store is seen by all. The one operation that takes no lock, a [`load`] that is repeated, never follows a store
//! directly, for a store changes the thread's epoch.

pub mod blocking;
mod load;
mod order;
mod running;
pub mod scheduled;
mod weak;

pub use crate::word::Word;
pub use load::load;
pub use order::{fence_order, read_order, rmw_order, write_order};

use crate::location::{Approach, Intent, Location, Locked, Operation, WriteSite};
use crate::model;
use crate::probe::{self, Judgement, Suspicion};
use crate::race::{self, Kind};
use crate::report;
use crate::shadow::{Granule, HAS_MEETINGS};
use crate::thread::{self, Body, Entered, enter_access};
use crate::trail::{self, Act, Place, Step};
use rsan_clocks::{Access, Effect};
use rsan_model::{CasStrength, Value};
use running::Running;
use std::ffi::c_int;

/// Judges what was suspected of an access that found a value, after its location was unlocked. In a child that finds
/// something out, returns what the program is to get instead.
#[cold]
fn judge(me: &mut Entered, suspicion: Box<Suspicion>, found: u128) -> Option<u128> {
    match probe::judge(me, &suspicion, found) {
        Judgement::Nothing => None,
        Judgement::Report(finding) => {
            report::report(me, &finding);
            None
        }
        Judgement::Handed(value) => {
            // Another thread may have been in the allocator.
            std::mem::forget(suspicion);
            Some(value)
        }
    }
}

/// What an operation found.
struct Found<W> {
    value: W,
    /// Not there, but handed to a child that finds something out.
    handed: bool,
}

/// The first thing that an access of a location does: what it will look at is asked for. Nothing in a process that only finds
/// something out, which does not have what is known of memory.
#[inline(always)]
fn approach<W: Word>(at: *mut W, intent: Intent) -> Option<Approach> {
    let me = thread::current()?.idle()?;
    let approach = Approach::new(at as usize, intent);
    me.far.expect(at as usize, approach);
    approach
}

/// What became of an attempt to do a write as a repeated one.
enum Repeat<R> {
    /// It was one.
    Done(R),
    /// It was not. The lock of its location, if it has one.
    Not(Option<Locked>),
}

/// Does a write if it is one that its thread repeats: then there is nothing to check and little to note. `act` does it
/// and returns the result and the value written.
#[inline]
fn repeat<W: Word, R>(
    me: &mut Entered,
    (at, approach): (*mut W, Option<Approach>),
    write: WriteSite,
    effect: impl Fn(Value) -> Effect,
    act: impl FnOnce() -> (R, W),
) -> Repeat<R> {
    let (address, bytes) = (at as usize, size_of::<W>());
    let Some(mut locked) = Locked::after(approach, address, bytes, Intent::Access) else {
        return Repeat::Not(None);
    };
    if me.options.exact {
        return Repeat::Not(Some(locked));
    }
    let block = locked.block();
    let Some(location) = locked.repeated(address, bytes, &me.state, effect(0)) else {
        return Repeat::Not(Some(locked));
    };
    block.announce_write();
    let before = race::before_write(address, bytes);
    let (result, value) = act();
    let body: &mut Body = me;
    let (state, trail) = (&mut body.state, &body.trail);
    location.repeat_write(state, trail, value.bits(), &effect, write, body.options);
    body.has_written(effect(0).releases());
    if body.options.exact {
        location.remember(&body.state, write);
    }
    drop(locked);
    race::atomic_write(me, address, bytes, before);
    Repeat::Done(result)
}

/// Sets up a [`Running`] operation with its location, and runs `act`, which returns what it finds, on both under the
/// lock.
#[inline]
fn operate<W: Word>(
    me: &mut Entered,
    at: *mut W,
    locked: Option<Locked>,
    write: WriteSite,
    act: impl FnOnce(&mut Running<'_>, &mut Location) -> (W, Kind),
) -> Option<Found<W>> {
    let mut locked = locked?;
    locked.announce_write();
    Some(operate_locked(me, at, locked, write, act))
}

/// The same with the lock held; not for writes.
#[inline]
fn operate_locked<W: Word>(
    me: &mut Entered,
    at: *mut W,
    mut locked: Locked,
    write: WriteSite,
    act: impl FnOnce(&mut Running<'_>, &mut Location) -> (W, Kind),
) -> Found<W> {
    let (address, bytes) = (at as usize, size_of::<W>());
    let mut running = Running {
        me: &mut *me,
        address,
        bytes,
        write,
        suspicion: None,
        repeat: None,
        learnt: false,
    };
    // SAFETY: the program is about to access the word itself.
    let location = locked.location(address, bytes, || unsafe { W::load(at) }.bits());
    let before = race::before_write(address, bytes);
    let (found, kind) = act(&mut running, location);
    running.me.far.note(address, location);
    if let Some(effect) = running.repeat {
        running.repeat(&mut locked, effect);
    }
    drop(locked);
    let suspicion = running.suspicion;
    if running.learnt
        && let Some(granule) = Granule::existing(address)
    {
        granule.set(HAS_MEETINGS);
    }
    me.learnt();
    if let Some(suspicion) = suspicion
        && let Some(value) = judge(me, suspicion, found.bits())
    {
        let value = W::from_bits(value);
        let handed = true;
        return Found { value, handed };
    }
    match kind {
        Kind::ATOMIC_WRITE => race::atomic_write(me, address, bytes, before),
        _ => race::atomic_access(me, address, bytes, kind),
    }
    Found {
        value: found,
        handed: false,
    }
}

/// Atomic store.
///
/// # Safety
/// `at` is valid and aligned.
#[inline]
pub unsafe fn store<W: Word>(at: *mut W, value: W, order: c_int) {
    let approach = approach(at, Intent::Access);
    let ord = write_order(order);
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::store(at, value) };
    let Some(mut me) = enter_access() else {
        return probe::store(at, value, ord, raw);
    };
    let raw_locked = || {
        if ord.is_sc() {
            raw();
        } else {
            // SAFETY: the caller's promise.
            unsafe { W::store_locked(at, value) };
        }
    };
    let write = WriteSite::new(me.leaf(), Operation::Store, ord.into());
    let effect = |value| Effect::Write { value, ord };
    let locked = match repeat(&mut me, (at, approach), write, effect, || {
        raw_locked();
        ((), value)
    }) {
        Repeat::Done(()) => return,
        Repeat::Not(locked) => locked,
    };
    model::accept(&mut me, ord.is_sc(), write.operation);
    let result = operate(&mut me, at, locked, write, |op, location| {
        op.check(location, &Access::Store(ord));
        raw_locked();
        op.write(location, value.bits(), ord.releases(), effect);
        (value, Kind::ATOMIC_WRITE)
    });
    if result.is_none() {
        raw();
    }
}

/// Atomic read-modify-write; returns the old value.
///
/// # Safety
/// `at` is valid and aligned.
#[inline]
pub unsafe fn rmw<W: Word>(at: *mut W, order: c_int, name: Operation, next: impl Fn(W) -> W) -> W {
    let approach = approach(at, Intent::Access);
    let ord = rmw_order(order);
    let raw = || {
        // SAFETY: the caller's promise.
        let mut old = unsafe { W::load(at) };
        loop {
            // SAFETY: the caller's promise.
            let had = unsafe { W::compare_exchange(at, old, next(old)) };
            if had == old {
                return old;
            }
            old = had;
        }
    };
    let Some(mut me) = enter_access() else {
        return probe::rmw(at, ord, &next, raw);
    };
    let write = WriteSite::new(me.leaf(), name, ord);
    let effect = |value| Effect::Rmw { value, ord };
    let locked = match repeat(&mut me, (at, approach), write, effect, || {
        let old = raw();
        (old, next(old))
    }) {
        Repeat::Done(old) => return old,
        Repeat::Not(locked) => locked,
    };
    model::accept(&mut me, ord.is_sc(), name);
    let result = operate(&mut me, at, locked, write, |op, location| {
        op.check(location, &Access::Rmw(ord));
        if let Some(suspicion) = &mut op.suspicion {
            suspicion.spare(|bits| next(W::from_bits(bits)).bits() == bits);
            suspicion.operands = crate::word::operands_of(|bits| next(W::from_bits(bits)).bits());
        }
        let old = raw();
        if let Some(suspicion) = &mut op.suspicion {
            suspicion.wrote = next(old) != old;
        }
        op.write(location, next(old).bits(), ord.releases(), effect);
        (old, Kind::ATOMIC_WRITE)
    });
    result.map_or_else(raw, |found| found.value)
}

/// The orders of a compare-and-swap.
#[derive(Clone, Copy, Debug)]
pub struct CasOrders {
    /// When it succeeds.
    pub success: c_int,
    /// When it fails.
    pub failure: c_int,
}

/// Atomic compare-and-swap; returns the old value, and whether it succeeded. A weak one does not fail for no reason here.
///
/// # Safety
/// `at` is valid and aligned.
#[inline]
pub unsafe fn compare_exchange<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> (W, bool) {
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::compare_exchange(at, expected, new) };
    compare(at, (expected, new), (orders, strength), true, raw)
}

/// A weak compare-and-swap that finds what it expects, and fails; returns the old value, and that it did not succeed.
///
/// # Safety
/// `at` is valid and aligned.
#[cold]
pub unsafe fn compare_and_fail<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
) -> (W, bool) {
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    compare(at, (expected, new), (orders, CasStrength::Weak), false, raw)
}

/// A compare-and-swap that `raw` makes. Whether it writes if it finds what it expects.
#[inline(always)]
fn compare<W: Word>(
    at: *mut W,
    (expected, new): (W, W),
    (orders, strength): (CasOrders, CasStrength),
    may_write: bool,
    raw: impl Fn() -> W,
) -> (W, bool) {
    let approach = approach(at, Intent::Access);
    let (ord, fail) = (rmw_order(orders.success), read_order(orders.failure));
    let writes = |old: W| may_write && old == expected;
    let Some(mut me) = enter_access() else {
        let made = probe::compare_exchange(at, (expected, new), (ord, fail, strength), raw);
        return (made.0, made.1 && may_write);
    };
    let write = WriteSite::new(me.leaf(), Operation::CompareExchange, ord);
    model::accept(&mut me, ord.is_sc() || fail.is_sc(), write.operation);
    let locked = Locked::after(approach, at as usize, size_of::<W>(), Intent::Access);
    let result = operate(&mut me, at, locked, write, |op, location| {
        location.expect_access(true);
        let access = |expected| Access::Cas {
            expected,
            ord,
            fail,
            strength,
        };
        op.doubt(location, &[expected.bits()]);
        let weakness = location.check_compare(&op.me.state, expected.bits(), access);
        if let Some(weakness) = weakness {
            let access = access(Location::compared(expected.bits()));
            op.suspect(location, &access, weakness);
        }
        if let Some(suspicion) = &mut op.suspicion {
            suspicion.compare(expected.bits(), new.bits(), strength);
            suspicion.operands = [expected, new].map(|word| crate::word::fold(word.bits()));
        }
        let old = raw();
        if let Some(suspicion) = &mut op.suspicion {
            suspicion.wrote = writes(old);
        }
        if writes(old) {
            let effect = |value| Effect::Rmw { value, ord };
            op.write(location, new.bits(), ord.releases(), effect);
            (old, Kind::ATOMIC_WRITE)
        } else {
            op.read(location, fail);
            (old, Kind::ATOMIC_READ)
        }
    });
    match result {
        Some(found) => (found.value, !found.handed && writes(found.value)),
        None => {
            let old = raw();
            (old, writes(old))
        }
    }
}

/// As strong as any fence that the program asked for.
#[inline]
fn barrier() {
    // SAFETY: leaves the word that it touches as it is. Any locked instruction is a full barrier, and the processor does
    // this one faster than `mfence`.
    unsafe { std::arch::asm!("lock or dword ptr [rsp], 0") };
}

/// A fence between threads.
pub fn thread_fence(order: c_int) {
    barrier();
    let Some(ord) = fence_order(order) else {
        return;
    };
    let Some(mut me) = enter_access() else {
        return probe::fence(ord);
    };
    model::fence(&mut me, ord);
    me.dirty |= ord.releases();
    let place = Place::leaf(me.leaf());
    let body: &mut Body = &mut me;
    let order = trail::describe_fence(ord);
    let mut step = Step::new(&body.state, &body.trail, Act::Fence, order, place);
    step.position = step.position.wrapping_add(1);
    body.trail.note(&step, 0, &[]);
}
