//! Atomic loads, and a way around the lock for those that would change nothing.

use super::{Word, approach, operate_locked, read_order};
use crate::location::{CachedLoad, Intent, LoadCache, Locked, Operation, WriteSite};
use crate::model;
use crate::probe;
use crate::race::{self, Kind};
use crate::thread::{self, Body, enter_access};
use rsan_clocks::Access;
use rsan_model::ReadOrd;
use std::ffi::c_int;

/// A load that would change nothing.
///
/// # Safety
/// `at` is valid and aligned.
#[inline]
unsafe fn repeated_load<W: Word>(at: *mut W, order: ReadOrd) -> Option<W> {
    let me = thread::current()?.idle()?;
    let cached = &me.loads.0[LoadCache::index(at as usize)];
    let state = &me.state;
    if cached.address != at as usize
        || cached.own != me.own
        || me.dirty
        || cached.known != state.version()
        || cached.epoch != state.stamp().epoch
    {
        return None;
    }
    let block = cached.is_current(at as usize, size_of::<W>(), order)?;
    // SAFETY: the caller's promise.
    let value = unsafe { W::load(at) };
    let unwritten = block.version() == cached.version;
    debug_assert!(!unwritten || is_unsuspicious(at, order, cached.version));
    unwritten.then_some(value)
}

/// Whether the monitor has nothing to say about a load either, unless there was a write meanwhile.
fn is_unsuspicious<W: Word>(at: *mut W, order: ReadOrd, version: u64) -> bool {
    let (Some(me), Some(mut locked)) = (enter_access(), Locked::at(at as usize, Intent::Load))
    else {
        return true;
    };
    locked.block().version() != version || {
        let load = || {
            // SAFETY: the program is about to access the word itself.
            unsafe { W::load(at) }.bits()
        };
        let location = locked.location(at as usize, size_of::<W>(), load);
        location.check(&me.state, &Access::Load(order)).is_none()
    }
}

/// Atomic load.
///
/// # Safety
/// `at` is valid and aligned.
#[inline]
pub unsafe fn load<W: Word>(at: *mut W, order: c_int) -> W {
    let order = read_order(order);
    // SAFETY: the caller's promise.
    if let Some(value) = unsafe { repeated_load(at, order) } {
        return value;
    }
    let approach = approach(at, Intent::Load);
    // SAFETY: the caller's promise.
    let raw = || unsafe { W::load(at) };
    let Some(mut me) = enter_access() else {
        return probe::load(at, order, raw);
    };
    model::accept(&mut me, order.is_sc(), Operation::Load);
    let access = WriteSite::new(me.leaf(), Operation::Load, order.into());
    let locked = Locked::after(approach, at as usize, size_of::<W>(), Intent::Load);
    let Some(mut locked) = locked else {
        return raw();
    };
    let (address, bytes, block) = (at as usize, size_of::<W>(), locked.block());
    let version = block.version();
    let value = if let Some(location) = locked.known(address, bytes, &me.state, order) {
        me.make_private();
        let value = raw();
        let body: &mut Body = &mut me;
        location.read_known(&mut body.state, &body.trail, order, access.leaf);
        if body.options.exact {
            location.remember(&body.state, access);
        }
        drop(locked);
        race::atomic_access(&mut me, address, bytes, Kind::ATOMIC_READ);
        value
    } else {
        let found = operate_locked(&mut me, at, locked, access, |op, location| {
            op.check(location, &Access::Load(order));
            let value = raw();
            op.read(location, order);
            (value, Kind::ATOMIC_READ)
        });
        found.value
    };
    let body: &mut Body = &mut me;
    let cached = &mut body.loads.0[LoadCache::index(address)];
    if cached.address != address {
        // Only what was loaded twice is likely to be loaded again.
        cached.address = address;
        cached.block = None;
    } else if bytes <= size_of::<u64>() {
        *cached = CachedLoad {
            address,
            bytes,
            strength: order as u8,
            version,
            own: body.own,
            epoch: body.state.stamp().epoch,
            known: body.state.version(),
            block: Some(block),
        };
    }
    value
}
