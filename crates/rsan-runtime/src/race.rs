//! Data races: two accesses of a byte by different threads, one a write and one plain, that happens-before does
//! not order.
//!
//! **Decides** at each access whether it races with one of the last [`CELLS`](crate::shadow::CELLS) accesses that are remembered of its
//! granule, or with an atomic access that is remembered of its locations. Sound (every report is a race of the run); not
//! complete: more concurrent readers than cells push each other out, and cells are written without a lock, so that one
//! of two simultaneous updates may be lost.
//!
//! Cells are for plain accesses. Atomic ones are remembered by their location, which has to note them anyway: the writes
//! in its log, and its last readers ([`Location::unordered`](crate::location::Location::unordered)). An atomic access
//! looks at the cells when it is noted; a plain one that is not in the cells yet looks at the locations when it has its
//! cell. The location's lock is between the two, so one of two simultaneous accesses sees the other.
//!
//! **Source**: the happens-before of the write-log monitor, with the algorithm of FastTrack; the compact cells are
//! those of TSan's shadow, with the place of the access beside.
//!
//! An access is not recorded if a cell of the same stamp stands for it, as one's own write does for a read of the same
//! bytes: what races with the one races with the other. Accesses to several parts of a granule that are made with one
//! stamp at one place of the program share a cell.
//!
//! **What is given up** when a granule has more accesses to remember than cells. The cells that are left are ordered
//! before the new access and of other bytes or a stronger kind, or not ordered with it. What a cell is worth depends on
//! who can still race with it:
//! 1. A read races with writes only; a write with everything.
//! 2. An access of another thread that is ordered before this one can only race with third threads; such a write is
//!    worth as much as a read that is not ordered. This thread's own can race with all others.
//!
//! Of equals the epoch chooses, so that none is kept or lost forever.
//!
//! **Notation**: a cell is `slot:16 epoch:32 mask:8 kind:8`; 0 is empty, since a mask is never 0.
//!
//! **Invariant**: the epoch in a cell was private to its thread when it was written, so a thread whose clock has
//! reached it has synchronised with it after the access.

mod cells;
mod free;
mod kind;

pub use free::free;
pub use kind::Kind;

pub(crate) use cells::stamp;

use crate::location::{Locked, Operation, WriteSite};
use crate::report::{Finding, Side};
use crate::sched;
use crate::shadow::{Granule, HAS_BLOCKS, HAS_CELLS};
use crate::stack::Node;
use crate::thread::{self, Body, Context, Entered};
use cells::{Access, Race, Remembered, mask, unpack_site};

/// A plain access of up to 16 bytes, about to be made.
#[inline(always)]
pub fn plain(address: usize, bytes: usize, kind: Kind) {
    let offset = address & 7;
    if offset + bytes <= 8
        && let Some(context) = thread::current()
        && let Some(granule) = Granule::existing(address)
    {
        let mask = mask(offset, bytes);
        if let Some(own) = context.private_stamp()
            && (Access { own, mask, kind }).is_known(granule)
        {
            return;
        }
        return if kind.writes() {
            single::<true>(context, granule, address, mask);
        } else {
            single::<false>(context, granule, address, mask);
        };
    }
    range(address, bytes, kind);
}

/// A plain access within a granule. Does not unwind, so that what the compiler calls can jump here.
#[inline(never)]
extern "C" fn single<const WRITES: bool>(
    context: &'static Context,
    granule: Granule,
    address: usize,
    mask: u64,
) {
    let kind = if WRITES { Kind::WRITE } else { Kind::READ };
    let Some(mut me) = context.enter() else {
        return;
    };
    let me = &mut me;
    if WRITES && me.outermost != 0 {
        sched::note_write(me, address);
    }
    if me.ignored != 0 {
        return;
    }
    me.make_private();
    let (leaf, own) = (me.leaf(), me.own);
    let race = (Access { own, mask, kind }).record(me, granule, leaf);
    let bytes = mask.count_ones() as usize;
    let race = meet_locations(me, granule, (address, bytes), kind, leaf).or(race);
    if let Some(other) = race {
        report(me, address, bytes, kind, other);
    }
}

/// A plain access of any size, about to be made.
pub extern "C" fn range(address: usize, bytes: usize, kind: Kind) {
    let Some(mut me) = thread::enter_access() else {
        return crate::probe::plain(address, bytes, kind.writes());
    };
    let me = &mut me;
    if kind.writes() && me.outermost != 0 {
        sched::note_write(me, address);
    }
    if me.ignored != 0 || bytes == 0 {
        return;
    }
    me.make_private();
    let (leaf, own) = (me.leaf(), me.own);
    let mut found = None;
    for (granule, at, size) in granules(address, bytes) {
        let mask = mask(at & 7, size);
        let race = (Access { own, mask, kind }).record_any(me, granule, leaf);
        let race = meet_locations(me, granule, (at, size), kind, leaf).or(race);
        found = found.or(race.map(|other| (at, size, other)));
    }
    if let Some((at, size, other)) = found {
        report(me, at, size, kind, other);
    }
}

/// The granules of a range, each with the address and size of the part in it.
#[inline(always)]
fn granules(address: usize, bytes: usize) -> impl Iterator<Item = (Granule, usize, usize)> {
    let end = address.saturating_add(bytes);
    let mut at = address;
    std::iter::from_fn(move || {
        let (start, size) = (at, (8 - (at & 7)).min(end - at));
        at += size;
        let granule = (size > 0).then(|| Granule::of(start))?;
        Some((granule?, start, size))
    })
}

/// A plain access of bytes in a granule meets the atomic locations there, if there are any, for which a write is one in their modification
/// order. Returns what it races with.
#[inline(always)]
fn meet_locations(
    me: &mut Entered,
    granule: Granule,
    part: (usize, usize),
    kind: Kind,
    leaf: Node,
) -> Option<Race> {
    let may_have_some = granule.has(HAS_BLOCKS);
    may_have_some.then(|| meet_known_locations(me, granule, part, kind, leaf))?
}

#[inline(never)]
fn meet_known_locations(
    me: &mut Entered,
    granule: Granule,
    (start, bytes): (usize, usize),
    kind: Kind,
    leaf: Node,
) -> Option<Race> {
    let mut locked = Locked::existing(granule)?;
    let write = WriteSite {
        leaf,
        operation: Operation::PlainWrite,
        order: None,
    };
    let is_write = kind == Kind::WRITE;
    if is_write {
        locked.announce_write();
    }
    let body: &mut Body = me;
    let mut race = None;
    for location in locked.overlapping(start, start + bytes) {
        let atomic = location.unordered(&body.state, kind.writes());
        race = race.or(atomic.map(|(kind, stamp, leaf)| cells::atomic(kind, stamp, leaf)));
        if is_write {
            let known = body.state.past_version();
            location.plain_write(&mut body.state, write, body.options);
            let learnt = body.state.past_version() != known;
            location.accessed(&body.state, &mut body.trail, write, learnt);
        }
    }
    race
}

/// An atomic access, after its location was told of it.
#[inline]
pub fn atomic(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    let offset = address & 7;
    if offset + bytes <= 8
        && let Some(granule) = Granule::existing(address)
        && (!granule.has(HAS_CELLS) || granule.is_empty())
    {
        return;
    }
    atomic_in_full(me, address, bytes, kind);
}

#[inline(never)]
fn atomic_in_full(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    for (granule, at, size) in granules(address, bytes) {
        let (own, mask) = (me.own, mask(at & 7, size));
        if let Some(other) = (Access { own, mask, kind }).race(me, granule) {
            report(me, at, size, kind, other);
        }
    }
}

#[cold]
fn report(me: &mut Entered, address: usize, bytes: usize, kind: Kind, (cell, word): Race) {
    if !me.options.races {
        return;
    }
    let other = Remembered::from_cell(cell);
    let site = unpack_site(word, cell);
    let finding = Finding::Race {
        address,
        bytes,
        access: Side::plain(Some(me.state.id()), kind.name(), me.site()),
        earlier: Side::plain(thread::owner(other.stamp()), other.kind.name(), site),
    };
    crate::report::report(me, &finding);
}
