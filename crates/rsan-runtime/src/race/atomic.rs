//! Races of atomic accesses, which have no cells of their own: plain accesses meet them in their locations.

use super::cells::{Access, load, mask};
use super::found::report;
use super::{Kind, granules};
use crate::sched;
use crate::shadow::{CELLS, Granule, HAS_CELLS};
use crate::stack::Function;
use crate::thread::Entered;

/// What is remembered of the memory of an atomic write that is about to be made.
#[derive(Clone, Copy)]
pub enum Before {
    /// Nothing.
    Empty,
    /// These cells, of the one granule.
    Cells([u64; CELLS]),
    /// It is not within a granule: somebody has to look afterwards.
    Across,
}

/// What is there before an atomic write, whose location is locked.
#[inline]
pub fn before_write(address: usize, bytes: usize) -> Before {
    if (address & 7) + bytes > 8 {
        return Before::Across;
    }
    let granule = Granule::existing(address);
    let used = granule.filter(|granule| granule.has(HAS_CELLS) && !granule.is_empty());
    used.map_or(Before::Empty, |granule| {
        Before::Cells(load(granule.cells()))
    })
}

/// An atomic write, after its location was told of it. Whatever conflicts with it and is not there `before` meets it in its location.
/// Looking now would be wrong: another thread may have read what was written, and rightly freed the memory since.
#[inline]
pub fn atomic_write(me: &mut Entered, address: usize, bytes: usize, before: Before) {
    let kind = Kind::ATOMIC_WRITE;
    if me.outermost != 0 {
        sched::stacks::check(me, address, bytes, kind);
    }
    match before {
        Before::Empty => {}
        Before::Cells(cells) => look_for_race(me, address, bytes, cells),
        Before::Across => look_for_races(me, address, bytes, kind),
    }
}

#[inline(never)]
fn look_for_race(me: &mut Entered, address: usize, bytes: usize, cells: [u64; CELLS]) {
    let (own, mask, kind) = (me.own, mask(address & 7, bytes), Kind::ATOMIC_WRITE);
    let access = Access { own, mask, kind };
    let granule = Granule::existing(address);
    let past = me.state.hb().slice();
    let race = granule.and_then(|granule| access.race_with_seen(past, granule, cells));
    if let Some(other) = race {
        report(me, address, bytes, kind, other, Function::NONE);
    }
}

/// An atomic access that no other thread can have relied on yet: a read, after its location was told of it.
#[inline]
pub fn atomic_access(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    if me.outermost != 0 {
        sched::stacks::check(me, address, bytes, kind);
    }
    let offset = address & 7;
    if offset + bytes <= 8
        && let Some(granule) = Granule::existing(address)
        && (!granule.has(HAS_CELLS) || granule.is_empty())
    {
        return;
    }
    look_for_races(me, address, bytes, kind);
}

/// Looks for races of an access whose cell does not have to be there.
#[inline(never)]
pub(super) fn look_for_races(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    for (granule, at, size) in granules(address, bytes) {
        let (own, mask) = (me.own, mask(at & 7, size));
        if let Some(other) = (Access { own, mask, kind }).race(me.state.hb().slice(), granule) {
            report(me, at, size, kind, other, Function::NONE);
        }
    }
}
