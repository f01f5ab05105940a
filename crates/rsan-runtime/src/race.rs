//! Data races: two accesses of a byte by different threads, one a write and one plain, that happens-before does
//! not order.
//!
//! **Decides** at each access whether it races with one of the last [`CELLS`] accesses that are remembered of its
//! granule. Sound (every report is a race of the run); not complete: more concurrent readers than cells push each
//! other out, and cells are written without a lock, so that one of two simultaneous updates may be lost.
//!
//! **Source**: the happens-before of the write-log monitor, with the algorithm of FastTrack; the compact cells are
//! those of TSan's shadow, with the place of the access beside.
//!
//! **Notation**: a cell is `slot:16 epoch:32 mask:8 kind:8`; 0 is empty, since a mask is never 0.
//!
//! **Invariant**: the epoch in a cell was private to its thread when it was written, so a thread whose clock has
//! reached it has synchronised with it after the access.

mod free;

pub use free::free;

use crate::location::{Locked, Operation, WriteSite};
use crate::report::{Finding, Side};
use crate::sched;
use crate::shadow::{CELLS, Granule, HAS_BLOCKS, HAS_CELLS};
use crate::stack::{Node, Site};
use crate::thread::{self, Body, Entered};
use rsan_clocks::write_log::{Epoch, Slot};
use std::sync::atomic::{AtomicU64, Ordering};

/// How an access looks in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(u64);

impl Kind {
    /// Plain read.
    pub const READ: Self = Self(0);
    /// Plain write.
    pub const WRITE: Self = Self(1);
    /// Atomic read.
    pub const ATOMIC_READ: Self = Self(2);
    /// Atomic write or read-modify-write.
    pub const ATOMIC_WRITE: Self = Self(3);
    /// The memory was freed.
    pub const FREE: Self = Self(5);

    fn writes(self) -> bool {
        self.0 & 1 != 0
    }

    fn is_atomic(self) -> bool {
        self.0 & 2 != 0
    }

    fn conflicts_with(self, other: Self) -> bool {
        (self.writes() || other.writes()) && !(self.is_atomic() && other.is_atomic())
    }

    /// Whether everything that races with `old` and not with what comes after it races with this.
    fn stands_for(self, old: Self) -> bool {
        (self.writes() || !old.writes()) && (!self.is_atomic() || old.is_atomic())
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::READ => "read",
            Self::WRITE => "write",
            Self::ATOMIC_READ => "atomic read",
            Self::ATOMIC_WRITE => "atomic write",
            _ => "free",
        }
    }
}

/// An access that a cell remembers.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    slot: Slot,
    epoch: Epoch,
    mask: u64,
    kind: Kind,
}

impl Remembered {
    #[inline]
    fn from_cell(cell: u64) -> Self {
        Self {
            slot: Slot((cell >> 48) as u16),
            epoch: Epoch::new((cell >> 16) as u32),
            mask: cell >> 8 & 0xff,
            kind: Kind(cell & 0xff),
        }
    }
}

/// `leaf:24 low epoch:8`; the epoch tells whether site and cell belong together.
fn pack_site(leaf: Node, own: u64) -> u32 {
    leaf.0 << 8 | (own >> 16) as u32 & 0xff
}

fn unpack_site(word: u32, cell: u64) -> Site {
    if u64::from(word & 0xff) != cell >> 16 & 0xff {
        return Site::default();
    }
    Node(word >> 8).as_site()
}

/// A plain access of up to 16 bytes, about to be made.
#[inline(always)]
pub fn plain(address: usize, bytes: usize, kind: Kind) {
    let offset = address & 7;
    if let Some(context) = thread::current()
        && let Some(own) = context.private_stamp()
        && offset + bytes <= 8
        && let Some(granule) = Granule::of(address)
    {
        let cell = own | mask(offset, bytes) << 8 | kind.0;
        if has_cell(granule, cell) {
            return;
        }
    }
    range(address, bytes, kind);
}

#[inline]
fn mask(offset: usize, bytes: usize) -> u64 {
    ((1 << bytes) - 1) << offset
}

/// A plain access of any size, about to be made.
pub fn range(address: usize, bytes: usize, kind: Kind) {
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
    let leaf = me.leaf();
    let end = address.saturating_add(bytes);
    let mut at = address;
    let mut found = None;
    while at < end {
        let offset = at & 7;
        let size = (8 - offset).min(end - at);
        let Some(granule) = Granule::of(at) else {
            break;
        };
        if kind.writes() && granule.has(HAS_BLOCKS) {
            write_to_locations(me, granule, at, at + size);
        }
        let race = update(me, granule, mask(offset, size), kind, leaf);
        found = found.or(race.map(|other| (at, size, other)));
        at += size;
    }
    if let Some((at, size, other)) = found {
        report(me, at, size, kind, other);
    }
}

/// A plain write is one in the modification order of the atomic locations that it hits.
fn write_to_locations(me: &mut Entered, granule: Granule, start: usize, end: usize) {
    let leaf = me.leaf();
    let Some(mut locked) = Locked::existing(granule) else {
        return;
    };
    let write = WriteSite {
        leaf,
        operation: Operation::PlainWrite,
        order: None,
    };
    locked.announce_write();
    let body: &mut Body = me;
    for location in locked.overlapping(start, end) {
        let known = body.state.past_version();
        location.plain_write(&mut body.state, write, body.options);
        let learnt = body.state.past_version() != known;
        location.accessed(&body.state, &mut body.trail, write, learnt);
    }
}

/// An atomic access, after the monitor was told of it.
#[inline]
pub fn atomic(me: &mut Entered, address: usize, bytes: usize, kind: Kind, leaf: Node) {
    if !kind.writes() {
        me.make_private();
    }
    let offset = address & 7;
    if offset + bytes <= 8
        && let Some(granule) = Granule::of(address)
        && renews_cell(granule, me.own | mask(offset, bytes) << 8 | kind.0, leaf)
    {
        return;
    }
    atomic_in_full(me, address, bytes, kind, leaf);
}

#[inline(never)]
fn atomic_in_full(me: &mut Entered, address: usize, bytes: usize, kind: Kind, leaf: Node) {
    let mut at = address;
    let end = address + bytes;
    while at < end {
        let offset = at & 7;
        let size = (8 - offset).min(end - at);
        let Some(granule) = Granule::of(at) else {
            return;
        };
        if let Some(other) = update(me, granule, mask(offset, size), kind, leaf) {
            report(me, at, size, kind, other);
        }
        at += size;
    }
}

/// Whether there was nothing to do about an atomic access but to note when it was last made, which is done: its thread
/// has a cell for such accesses, and all cells are of atomic accesses, which never race with each other.
///
/// As [`update`] does, it looks again when the cell is there; what is new there goes to [`update`], which is then told
/// of an access with another site but the same cell, so the cell is taken back first.
#[inline]
fn renews_cell(granule: Granule, cell: u64, leaf: Node) -> bool {
    // ORDERING: relaxed, here and below; a cell is one word and stands for itself.
    let load = |known: &AtomicU64| known.load(Ordering::Relaxed);
    let cells = granule.cells();
    let of_atomics = || {
        let mut all = true;
        for known in cells {
            let old = load(known);
            all &= old == 0 || Remembered::from_cell(old).kind.is_atomic();
        }
        all
    };
    // Slot, mask and kind.
    let same = |old: u64| (old ^ cell) & 0xffff_0000_0000_ffff == 0;
    let Some(place) = cells.iter().position(|known| same(load(known))) else {
        return false;
    };
    let old = load(&cells[place]);
    if old == cell {
        return true;
    }
    if !of_atomics() {
        return false;
    }
    // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
    granule.sites()[place].store(pack_site(leaf, cell), Ordering::Relaxed);
    // ORDERING: relaxed, as above.
    cells[place].store(cell, Ordering::Relaxed);
    if of_atomics() {
        return true;
    }
    // ORDERING: relaxed, as above.
    cells[place].store(0, Ordering::Relaxed);
    false
}

#[inline]
fn has_cell(granule: Granule, cell: u64) -> bool {
    let known = granule.cells().iter();
    // ORDERING: relaxed; a cell is one word and stands for itself.
    known
        .into_iter()
        .any(|known| known.load(Ordering::Relaxed) == cell)
}

/// Checks an access against the cells of a granule and records it. Returns what it races with.
///
/// Of two threads that do this at the same time each may miss the other's cell at first, or overwrite it; so both
/// look again when theirs is there. What is left is the time that a store needs to be seen by the other processor, and
/// not even that for the first accesses of a granule, which may have to wait for the memory of the cells.
fn update(
    me: &mut Entered,
    granule: Granule,
    mask: u64,
    kind: Kind,
    leaf: Node,
) -> Option<(u64, u32)> {
    let own = me.own;
    let cell = own | mask << 8 | kind.0;
    let cells = granule.cells();
    let mut seen = [0; CELLS];
    let mut race = None;
    let mut place = None;
    for (index, known) in cells.iter().enumerate() {
        // ORDERING: relaxed; a cell is one word and stands for itself.
        let old = known.load(Ordering::Relaxed);
        if old == cell {
            return None;
        }
        seen[index] = old;
        if old == 0 {
            place = place.or(Some(index));
            continue;
        }
        let access = Remembered::from_cell(old);
        let mine = old >> 48 == own >> 48;
        let ordered = mine || me.state.hb().get(access.slot) >= access.epoch;
        if !ordered && access.mask & mask != 0 && kind.conflicts_with(access.kind) {
            // ORDERING: relaxed; the word says itself whether it fits.
            race = race.or(Some((old, granule.sites()[index].load(Ordering::Relaxed))));
        } else if ordered && access.mask & !mask == 0 && kind.stands_for(access.kind) {
            // ORDERING: relaxed, as above.
            known.store(0, Ordering::Relaxed);
            seen[index] = 0;
            place = Some(index);
        }
    }
    let place = place.unwrap_or((own >> 16) as usize % CELLS);
    granule.set(HAS_CELLS);
    // ORDERING: relaxed, as above; a site that does not fit its cell is noticed by the reader.
    granule.sites()[place].store(pack_site(leaf, own), Ordering::Relaxed);
    if seen == [0; CELLS] {
        // ORDERING: seq_cst, so that of two threads that come first the later one sees the other's cell, here or below.
        let before = cells[place].swap(cell, Ordering::SeqCst);
        if before != 0 {
            race = newcomer(me, granule, place, before, mask, kind);
        }
    } else {
        // ORDERING: relaxed, as above.
        cells[place].store(cell, Ordering::Relaxed);
    }
    seen[place] = cell;
    for (index, known) in cells.iter().enumerate() {
        // ORDERING: relaxed, as above.
        let now = known.load(Ordering::Relaxed);
        if now != seen[index] && race.is_none() {
            race = newcomer(me, granule, index, now, mask, kind);
        }
    }
    race
}

/// Whether the access races with one whose cell has just appeared.
#[cold]
fn newcomer(
    me: &Entered,
    granule: Granule,
    index: usize,
    cell: u64,
    mask: u64,
    kind: Kind,
) -> Option<(u64, u32)> {
    let access = Remembered::from_cell(cell);
    let ordered =
        cell == 0 || cell >> 48 == me.own >> 48 || me.state.hb().get(access.slot) >= access.epoch;
    let races = !ordered && access.mask & mask != 0 && kind.conflicts_with(access.kind);
    // ORDERING: relaxed; the word says itself whether it fits.
    races.then(|| (cell, granule.sites()[index].load(Ordering::Relaxed)))
}

#[cold]
fn report(me: &mut Entered, address: usize, bytes: usize, kind: Kind, (cell, word): (u64, u32)) {
    if !me.options.races {
        return;
    }
    let other = Remembered::from_cell(cell);
    let site = unpack_site(word, cell);
    let finding = Finding::Race {
        address,
        bytes,
        access: Side::plain(Some(me.state.id()), kind.name(), me.site()),
        earlier: Side::plain(
            thread::owner(other.slot, other.epoch),
            other.kind.name(),
            site,
        ),
    };
    crate::report::report(me, &finding);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_its_parts() {
        let own = 0x1234 << 48 | 0xdead_beef << 16;
        let cell = own | mask(2, 4) << 8 | Kind::ATOMIC_WRITE.0;
        let access = Remembered::from_cell(cell);
        assert_eq!(access.slot, Slot(0x1234));
        assert_eq!(access.epoch, Epoch::new(0xdead_beef));
        assert_eq!(access.mask, 0b11_1100);
        assert_eq!(access.kind, Kind::ATOMIC_WRITE);
    }

    #[test]
    fn a_stand_in_conflicts_with_whatever_the_old_one_does() {
        let kinds = [
            Kind::READ,
            Kind::WRITE,
            Kind::ATOMIC_READ,
            Kind::ATOMIC_WRITE,
        ];
        for new in kinds {
            for old in kinds.into_iter().filter(|old| new.stands_for(*old)) {
                for later in kinds {
                    assert!(!old.conflicts_with(later) || new.conflicts_with(later));
                }
            }
        }
    }
}
