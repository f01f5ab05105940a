//! The life of a block: allocating and freeing it count as writes to all of it, and what comes after the free is wrong.

use super::cells::{Access, Race, mask, pack_site};
use super::lanes::Pairs;
use super::{Kind, granules, meet_locations};
use crate::finding::{Finding, Misuse, Operation, Side};
use crate::heap;
use crate::memory;
use crate::report;
use crate::sched;
use crate::shadow::{Granule, HAS_BLOCKS, HAS_CELLS, PAGE};
use crate::stack::Function;
use crate::thread::{self, Entered, accessed};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

/// A block is about to be freed: like a plain write of it, except that its atomic locations need not be told, for they
/// are forgotten anyway. Most blocks were not accessed since their allocation, or only in part, so most granules are
/// empty.
pub fn free(address: usize, bytes: usize) {
    free_by(Function::NONE, address, bytes);
}

/// The same if a function of libc does it for the program.
pub fn free_by(function: Function, address: usize, bytes: usize) {
    let Some(mut me) = thread::enter_access() else {
        return crate::probe::free(address, bytes);
    };
    let me = &mut me;
    if me.options.exact && !sched::heap::owns(address as *mut c_void) {
        accessed::memory_goes(address, bytes);
    }
    if me.ignored != 0 {
        return;
    }
    me.make_private();
    let (leaf, own) = (me.call_leaf(function), me.own);
    let (word, exact) = (pack_site(leaf, own), me.options.exact);
    let mut found = None;
    for (granule, at, size) in granules(address, bytes) {
        let mask = mask(at & 7, size);
        let kind = Kind::FREE;
        let mut race = None;
        if granule.is_empty() || !exact && is_mine_alone(granule, own) {
            granule.set(HAS_CELLS);
            // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
            granule.sites()[0].store(word, Ordering::Relaxed);
            // ORDERING: relaxed; a cell is one word and stands for itself.
            granule.cells()[0].store(own | mask << 8 | kind.0, Ordering::Relaxed);
        } else {
            let access = Access { own, mask, kind };
            let past = me.state.hb().slice();
            let cells = Pairs::load(granule.cells());
            if exact {
                race = access.record(past, granule, word, exact);
            } else if !access.is_in(cells) {
                race = access.record_or_race(past, granule, cells, word);
            }
        }
        race = meet_locations(me, granule, (at, size), kind, leaf).or(race);
        found = found.or(race.map(|other| (at, size, other)));
    }
    if let Some((at, size, other)) = found {
        super::report(me, at, size, Kind::FREE, other, function);
    }
}

/// Whether no access of another thread is remembered of a granule, and at most one of this thread, which its free stands for.
#[inline(always)]
fn is_mine_alone(granule: Granule, own: u64) -> bool {
    let cells = granule.cells();
    // ORDERING: relaxed; a cell is one word and stands for itself.
    let at = |index: usize| cells[index].load(Ordering::Relaxed);
    let is_mine = at(0) == 0 || (at(0) ^ own) >> 48 == 0;
    is_mine && at(1) | at(2) | at(3) == 0
}

/// Memory is about to be unmapped, or something else mapped in its place: like a plain write of it that nobody has to
/// remember, for the memory is forgotten. Only what was accessed is looked at.
pub fn unmap(address: usize, bytes: usize) {
    let Some(mut me) = thread::enter_access() else {
        return;
    };
    let me = &mut me;
    if me.options.exact {
        accessed::memory_goes(address, bytes);
    }
    if me.ignored != 0 {
        return;
    }
    me.make_private();
    let (leaf, own, kind) = (me.leaf(), me.own, Kind::UNMAP);
    let end = address.saturating_add(bytes);
    for page in (address / PAGE * PAGE..end).step_by(PAGE) {
        let is_used = |granule: Granule| granule.flags() & (HAS_CELLS | HAS_BLOCKS) != 0;
        if !Granule::existing(page).is_some_and(is_used) {
            continue;
        }
        let (from, to) = (page.max(address), (page + PAGE).min(end));
        for (granule, at, size) in granules(from, to - from) {
            let mask = mask(at & 7, size);
            let race = (Access { own, mask, kind }).race(me.state.hb().slice(), granule);
            let race = meet_locations(me, granule, (at, size), kind, leaf).or(race);
            if let Some(other) = race {
                return super::report(me, at, size, kind, other, Function::NONE);
            }
        }
    }
}

/// A block was allocated: what was known of its memory is forgotten, but for atomic locations. Who accesses it comes after
/// that, or there is a race.
pub fn allocate(me: &mut Entered, address: usize, bytes: usize) {
    me.make_private();
    let (leaf, own) = (me.leaf(), me.own);
    let word = pack_site(leaf, own);
    for (granule, at, size) in granules(address, bytes) {
        granule.set(HAS_CELLS);
        // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
        granule.sites()[0].store(word, Ordering::Relaxed);
        let cell = own | mask(at & 7, size) << 8 | Kind::ALLOCATE.0;
        for (place, cell) in granule.cells().iter().zip([cell, 0, 0, 0]) {
            // ORDERING: relaxed; a cell is one word and stands for itself.
            place.store(cell, Ordering::Relaxed);
        }
    }
}

/// An access to memory whose free happens before it. The block has to be one that is free still, for memory that the
/// allocator gave back to the system may have become something else.
#[cold]
pub(super) fn used(me: &mut Entered, address: usize, bytes: usize, kind: Kind, function: Function) {
    let Some(free) = heap::find(address).and_then(|block| block.freed) else {
        return;
    };
    let finding = Finding::Misuse {
        what: Misuse::UseAfterFree,
        address,
        bytes,
        access: Side::plain(Some(me.state.id()), kind.operation(), me.site()).by(function),
        earlier: Some(free.side(Operation::Free)),
    };
    if !report::is_known(me, &finding) && memory::is_anonymous(address) {
        report::report(me, &finding);
    }
}

/// A lock or the like is about to be used: its memory has to be there.
pub fn touch(address: usize) {
    // A copy of the process that has no context does not have the shadow either.
    if thread::current().is_none() {
        return;
    }
    if sched::active()
        && let Some(mut me) = thread::enter_access()
    {
        sched::stacks::check(&mut me, address, 1, Kind::USE);
    }
    let has_past = |granule: &Granule| granule.has(HAS_CELLS) && !granule.is_empty();
    let Some(granule) = Granule::existing(address).filter(has_past) else {
        return;
    };
    let Some(mut me) = thread::enter_access() else {
        return;
    };
    let (own, mask) = (me.own, mask(address & 7, 1));
    let access = Access {
        own,
        mask,
        kind: Kind::USE,
    };
    let race = access.race(me.state.hb().slice(), granule);
    let is_end = |race: &Race| [Kind::FREE, Kind::ALLOCATE].contains(&Kind(race.0 & 0xff));
    if let Some(race) = race.filter(is_end) {
        super::report(&mut me, address, 1, Kind::USE, race, Function::NONE);
    }
}
