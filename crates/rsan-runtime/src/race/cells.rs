//! The cells of a granule: what they hold, whether an access is in them already, and how it gets there.

use super::Kind;
use super::lanes::Pairs;
use crate::shadow::{CELLS, Cells, Granule, HAS_CELLS, keep, stamp};
use crate::stack::{Function, Node, Site};
use rsan_clocks::write_log::{Epoch, Slot, Stamp};
use std::sync::atomic::Ordering;

const STAMP: u64 = !0xffff;

/// One bit for each cell.
pub(super) const ALL: u32 = (1 << CELLS) - 1;
/// The cell is empty.
const EMPTY: u32 = 1;
/// The access stands for that of the cell.
const REPLACED: u32 = 1 << CELLS;
/// It races with that of the cell.
const RACING: u32 = 1 << (2 * CELLS);

/// An access that a cell remembers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered {
    slot: Slot,
    epoch: Epoch,
    mask: u64,
    pub(super) kind: Kind,
}

impl Remembered {
    #[inline]
    pub(super) fn from_cell(cell: u64) -> Self {
        Self {
            slot: Slot((cell >> 48) as u16),
            epoch: Epoch::new((cell >> 16) as u32),
            mask: cell >> 8 & 0xff,
            kind: Kind(cell & 0xff),
        }
    }

    /// Who, when.
    pub(super) fn stamp(self) -> Stamp {
        Stamp {
            slot: self.slot,
            epoch: self.epoch,
        }
    }
}

/// The bytes of a granule from an offset on.
#[inline(always)]
pub(super) fn mask(offset: usize, bytes: usize) -> u64 {
    ((1 << bytes) - 1) << offset
}

/// `leaf:24 low epoch:8`; the epoch tells whether site and cell belong together.
#[inline]
pub(super) fn pack_site(leaf: Node, own: u64) -> u32 {
    leaf.0 << 8 | (own >> 16) as u32 & 0xff
}

/// Whether a site is that of the cell, as far as the epoch tells.
fn fits(word: u32, cell: u64) -> bool {
    u64::from(word & 0xff) == cell >> 16 & 0xff
}

pub(super) fn unpack_site(word: u32, cell: u64) -> (Site, Function) {
    if !fits(word, cell) {
        return (Site::default(), Function::NONE);
    }
    Node(word >> 8).as_call()
}

/// What happens before the thread's next event: an epoch for each slot, and the first one for those beyond the end.
pub(super) type Past<'a> = &'a [Epoch];

/// A cell that an access races with, and its site.
pub(super) type Race = (u64, u32);

/// The same for an atomic access, which has no cell.
#[cold]
pub(super) fn atomic(kind: Kind, Stamp { slot, epoch }: Stamp, leaf: Node) -> Race {
    let own = stamp(slot, epoch);
    let mask = 0xff;
    (Access { own, mask, kind }.cell(), pack_site(leaf, own))
}

/// The same for the use of a lock or the like.
#[cold]
pub(super) fn used(Stamp { slot, epoch }: Stamp, site: Site) -> Race {
    let (own, kind, mask) = (stamp(slot, epoch), Kind::USE, 0xff);
    (
        Access { own, mask, kind }.cell(),
        pack_site(Node::of(&[site.pc]), own),
    )
}

/// An access to a granule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Who, and when: a cell without mask and kind.
    pub(super) own: u64,
    /// The bytes.
    pub(super) mask: u64,
    pub(super) kind: Kind,
}

impl Access {
    #[inline(always)]
    pub(super) fn cell(self) -> u64 {
        self.own | self.mask << 8 | self.kind.0
    }

    /// The bits in which a cell has to be like that of this access to stand for it, with the same stamp: whatever races with
    /// it races with that one, too.
    #[inline(always)]
    fn telling(self) -> u64 {
        STAMP | self.mask << 8 | self.kind.telling_bits()
    }

    /// Whether nothing need be done about the access: a cell stands for it.
    #[inline(always)]
    pub(super) fn is_known(self, granule: Granule) -> bool {
        self.is_in(Pairs::load(granule.cells()))
    }

    /// The same for cells that were loaded.
    #[inline(always)]
    pub(super) fn is_in(self, cells: Pairs) -> bool {
        let telling = self.telling();
        cells.has(self.cell() & telling, telling)
    }

    /// How many granules from this one on, of so many within a page, know the access.
    #[inline(always)]
    pub(super) fn known_from(self, granule: Granule, count: usize) -> usize {
        let telling = self.telling();
        let value = self.cell() & telling;
        let knows = |cells: &Cells| Pairs::load(cells).has(value, telling);
        let granules = granule.cells_of(count);
        granules
            .iter()
            .position(|cells| !knows(cells))
            .unwrap_or(count)
    }

    /// Whether the access of a cell happens before this one, or is the same thread's.
    #[inline(always)]
    fn is_after(self, past: Past, cell: u64) -> bool {
        is_after(self.own, past, cell)
    }

    #[inline(always)]
    fn conflicts_with(self, old: Remembered) -> bool {
        old.mask & self.mask != 0 && self.kind.conflicts_with(old.kind)
    }

    /// Whether the memory was freed, in whatever order: an access to it is wrong. Freeing it again is looked at elsewhere.
    #[inline(always)]
    fn is_of_freed(self, old: Remembered) -> bool {
        let ends = [Kind::FREE, Kind::UNMAP].contains(&self.kind);
        old.kind == Kind::FREE && !ends && old.mask & self.mask != 0
    }

    /// Whether an earlier cell need not be kept beside the one of this access.
    #[inline(always)]
    fn replaces(self, cell: u64) -> bool {
        let only_read = !self.kind.0 & 1;
        let other = (!self.mask & 0xff) << 8 | only_read;
        let replaces = cell & other == 0;
        debug_assert_eq!(replaces, {
            let old = Remembered::from_cell(cell);
            old.mask & !self.mask == 0 && self.kind.stands_for(old.kind)
        });
        replaces
    }

    /// What a cell is to this access: one of the bits below, or none if it has to stay.
    #[inline(always)]
    fn class(self, past: Past, cell: u64) -> u32 {
        if cell == 0 {
            EMPTY
        } else if self.is_of_freed(Remembered::from_cell(cell)) {
            RACING
        } else if !self.is_after(past, cell) {
            let races = self.conflicts_with(Remembered::from_cell(cell));
            if races { RACING } else { 0 }
        } else if self.replaces(cell) {
            REPLACED
        } else {
            0
        }
    }

    /// Checks the access against the cells of a granule and records it, if it is not in them. Returns what it races with,
    /// or that the memory was freed. With `exact` nothing is forgotten: what cells give up is kept.
    ///
    /// Of two threads that do this at the same time each may miss the other's cell at first, or overwrite it; so both
    /// look again when theirs is there. What is left is the time that a store needs to be seen by the other processor,
    /// and not even that for the first accesses of a granule, which may have to wait for the memory of the cells.
    #[inline(never)]
    pub(super) fn record(
        self,
        past: Past,
        granule: Granule,
        site: u32,
        exact: bool,
    ) -> Option<Race> {
        let cells = granule.cells();
        let seen = load(cells);
        if self.is_known(granule) {
            return None;
        }
        let (first, second) = (self.class(past, seen[0]), self.class(past, seen[1]));
        let (third, fourth) = (self.class(past, seen[2]), self.class(past, seen[3]));
        let classes = first | second << 1 | third << 2 | fourth << 3;
        if classes == EMPTY * ALL {
            return self.record_first(past, granule, site);
        }
        let mut cell = self.cell();
        let replaced = (classes / REPLACED) & ALL;
        let place = if replaced != 0 {
            self.clear_others(granule, replaced);
            replaced.trailing_zeros() as usize
        } else if let Some(index) = self.same_place(granule, &seen, site) {
            // More of what the same place in the program did before.
            cell |= seen[index];
            index
        } else if classes & (ALL * EMPTY) != 0 {
            classes.trailing_zeros() as usize
        } else {
            let place = self.victim(past, &seen);
            if exact {
                // ORDERING: relaxed; the word says itself whether it fits.
                let site = granule.sites()[place].load(Ordering::Relaxed);
                keep(granule, seen[place], site);
            }
            place
        };
        let mut race = None;
        if exact {
            race = self.take_over_kept(past, granule);
        }
        if classes >= RACING {
            let index = (classes / RACING).trailing_zeros() as usize;
            race = Some(self.settled(past, granule, index, seen[index]));
        }
        // ORDERING: relaxed, as above; a site that does not fit its cell is noticed by the reader.
        granule.sites()[place].store(site, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        cells[place].store(cell, Ordering::Relaxed);
        if race.is_none() && has_changed(&seen, &load(cells), cell) {
            race = self.look_again(past, granule, seen, cell);
        }
        race
    }

    /// Clears the cells of a set, except for the first.
    #[inline(always)]
    fn clear_others(self, granule: Granule, set: u32) {
        let mut others = set & (set - 1);
        while others != 0 {
            // ORDERING: relaxed; a cell is one word and stands for itself.
            granule.cells()[others.trailing_zeros() as usize].store(0, Ordering::Relaxed);
            others &= others - 1;
        }
    }

    /// The cell of an access to other bytes that is like this one, and was made at the same place.
    #[inline(always)]
    fn same_place(self, granule: Granule, seen: &[u64; CELLS], site: u32) -> Option<usize> {
        let cell = self.cell();
        let alike = |index: &usize| (seen[*index] ^ cell) & !0xff00 == 0;
        // ORDERING: relaxed; the word says itself whether it fits.
        let is_here = |index: &usize| granule.sites()[*index].load(Ordering::Relaxed) == site;
        (0..CELLS).find(|index| alike(index) && is_here(index))
    }

    /// The cell to be given up if all are in use: the least worth, and another one of several at each epoch.
    #[cold]
    fn victim(self, past: Past, seen: &[u64; CELLS]) -> usize {
        let first = (self.own >> 16) as usize;
        let places = (0..CELLS).map(|step| (first + step) % CELLS);
        places
            .min_by_key(|&place| self.worth(past, seen[place]))
            .unwrap_or(0)
    }

    /// How likely a cell will still be seen to race; see [`super`].
    fn worth(self, past: Past, cell: u64) -> u32 {
        let is_mine = (cell ^ self.own) >> 48 == 0;
        let is_open = is_mine || !self.is_after(past, cell);
        u32::from(is_open)
            + match Remembered::from_cell(cell).kind {
                Kind::READ => 0,
                _ => 1,
            }
    }

    /// Records the first access of a granule.
    #[inline(never)]
    fn record_first(self, past: Past, granule: Granule, site: u32) -> Option<Race> {
        granule.set(HAS_CELLS);
        // ORDERING: seq_cst, so that of two threads that come first the later one sees the other's cell, here or below.
        let before = granule.cells()[0].swap(self.cell(), Ordering::SeqCst);
        // The site of the other one is read before it is replaced.
        let race = match before {
            0 => None,
            other => self.newcomer(past, granule, 0, other),
        };
        // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
        granule.sites()[0].store(site, Ordering::Relaxed);
        match before {
            0 => self.look_again(past, granule, [0; CELLS], self.cell()),
            _ => race,
        }
    }

    /// Looks for races with cells that appeared since they were seen.
    #[cold]
    fn look_again(
        self,
        past: Past,
        granule: Granule,
        seen: [u64; CELLS],
        cell: u64,
    ) -> Option<Race> {
        for (index, known) in granule.cells().iter().enumerate() {
            // ORDERING: relaxed; a cell is one word and stands for itself.
            let now = known.load(Ordering::Relaxed);
            if is_new(seen[index], now, cell) {
                let race = self.newcomer(past, granule, index, now);
                if race.is_some() {
                    return race;
                }
            }
        }
        None
    }

    /// What an access races with that has no cell itself.
    #[cold]
    pub(super) fn race(self, past: Past, granule: Granule) -> Option<Race> {
        let race = self.look_again(past, granule, [0; CELLS], 0);
        race.or_else(|| self.race_with_kept(past, granule))
    }

    /// What an access races with of the cells as they were seen.
    pub(super) fn race_with_seen(
        self,
        past: Past,
        granule: Granule,
        seen: [u64; CELLS],
    ) -> Option<Race> {
        let race = |index| self.newcomer(past, granule, index, seen[index]);
        let race = (0..CELLS).filter(|index| seen[*index] != 0).find_map(race);
        race.or_else(|| self.race_with_kept(past, granule))
    }

    /// Whether the access races with that of a cell.
    pub(super) fn races_with(self, past: Past, cell: u64) -> bool {
        self.class(past, cell) == RACING
    }

    /// Whether the access of a cell happens before this one, which stands for it.
    pub(super) fn stands_for(self, past: Past, cell: u64) -> bool {
        self.class(past, cell) == REPLACED
    }

    /// Whether the access races with one whose cell has just appeared.
    #[cold]
    fn newcomer(self, past: Past, granule: Granule, index: usize, cell: u64) -> Option<Race> {
        let old = Remembered::from_cell(cell);
        let races = !self.is_after(past, cell) && self.conflicts_with(old) || self.is_of_freed(old);
        races.then(|| self.settled(past, granule, index, cell))
    }

    /// A cell that the access races with, and its site. They are two words, and whoever replaces them does it at this moment: then the
    /// site is not that of the cell. The new cell has one, and is taken if it races, too.
    #[cold]
    fn settled(self, past: Past, granule: Granule, index: usize, cell: u64) -> Race {
        // ORDERING: relaxed; a cell is one word and stands for itself, and a site says itself whether it fits.
        let site = || granule.sites()[index].load(Ordering::Relaxed);
        let first = (cell, site());
        let mut race = first;
        for _ in 0..SETTLED {
            if fits(race.1, race.0) {
                return race;
            }
            std::hint::spin_loop();
            // ORDERING: relaxed, as above.
            let now = granule.cells()[index].load(Ordering::Relaxed);
            race = match self.races_with(past, now) {
                true => (now, site()),
                false => (cell, site()),
            };
        }
        first
    }
}

/// How often a cell is looked at again whose site is another one's.
const SETTLED: usize = 1000;

/// Whether the access of a cell happens before the next one of the thread with this stamp and past, or is its own.
#[inline(always)]
pub(super) fn is_after(own: u64, past: Past, cell: u64) -> bool {
    (cell ^ own) >> 48 == 0 || is_in_past(past, cell)
}

/// Whether the access of a cell happens before. The empty cell's does.
#[inline(always)]
pub(super) fn is_in_past(past: Past, cell: u64) -> bool {
    let old = Remembered::from_cell(cell);
    let known = past.get(usize::from(old.slot.0));
    known.copied().unwrap_or_default() >= old.epoch
}

#[inline(always)]
pub(super) fn load(cells: &Cells) -> [u64; CELLS] {
    // ORDERING: relaxed; a cell is one word and stands for itself.
    let at = |index: usize| cells[index].load(Ordering::Relaxed);
    [at(0), at(1), at(2), at(3)]
}

/// Whether a cell has appeared that this thread did not write.
#[inline(always)]
fn is_new(seen: u64, now: u64, own: u64) -> bool {
    now != seen && now != own && now != 0
}

#[inline(always)]
fn has_changed(seen: &[u64; CELLS], now: &[u64; CELLS], own: u64) -> bool {
    is_new(seen[0], now[0], own)
        || is_new(seen[1], now[1], own)
        || is_new(seen[2], now[2], own)
        || is_new(seen[3], now[3], own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::map_zeroed;
    use crate::shadow::Chunk;

    #[test]
    fn a_cell_keeps_its_parts() {
        let access = Access {
            own: 0x1234 << 48 | 0xdead_beef << 16,
            mask: mask(2, 4),
            kind: Kind::ATOMIC_WRITE,
        };
        let known = Remembered::from_cell(access.cell());
        assert_eq!(known.slot, Slot(0x1234));
        assert_eq!(known.epoch, Epoch::new(0xdead_beef));
        assert_eq!(known.mask, 0b11_1100);
        assert_eq!(known.kind, Kind::ATOMIC_WRITE);
    }

    #[test]
    fn a_write_of_more_bytes_stands_for_a_read() {
        let own = 3 << 48 | 7 << 16;
        let of = |own, mask, kind| Access { own, mask, kind };
        let write = of(own, 0b1111, Kind::WRITE);
        let is_in = |access: Access, cell: u64| (access.cell() ^ cell) & access.telling() == 0;
        assert!(is_in(of(own, 0b0110, Kind::READ), write.cell()));
        assert!(!is_in(of(own, 0b11000, Kind::READ), write.cell()));
        assert!(!is_in(
            of(own + (1 << 16), 0b0110, Kind::READ),
            write.cell()
        ));
        assert!(!is_in(write, of(own, 0b1111, Kind::READ).cell()));
        assert!(!is_in(of(own, 0b1, Kind::FREE), write.cell()));
    }

    #[test]
    fn a_cell_that_was_replaced_gives_way_to_the_one_with_a_site() {
        let own = |slot: u64, epoch: u64| slot << 48 | epoch << 16;
        let write = |own| Access {
            own,
            mask: 0xff,
            kind: Kind::WRITE,
        };
        let (reader, older, newer) = (own(1, 5), own(2, 7), own(3, 8));
        // SAFETY: zeroed memory is a chunk.
        let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
        let granule = Granule::within(chunk, 0x100).expect("an address of user space");
        let site = pack_site(Node(9), newer);
        granule.sites()[0].store(site, Ordering::Relaxed);
        granule.cells()[0].store(write(newer).cell(), Ordering::Relaxed);
        let seen = write(older).cell();
        // The new access races as well: it has a place.
        let race = write(reader).settled(&[], granule, 0, seen);
        assert_eq!(race, (write(newer).cell(), site));
        // It does not, if it is the thread's own: what was seen is all there is.
        let race = write(newer).settled(&[], granule, 0, seen);
        assert_eq!(race, (seen, site));
        assert_eq!(unpack_site(race.1, race.0).0, Site::default());
    }

    #[test]
    fn memory_that_is_freed_after_a_write_was_seen_there_is_no_race() {
        let own = |slot: u64, epoch: u64| slot << 48 | epoch << 16;
        let of = |own, kind| Access {
            own,
            mask: 0xff,
            kind,
        };
        let (write, free) = (of(own(1, 5), Kind::ATOMIC_WRITE), of(own(2, 7), Kind::FREE));
        // SAFETY: zeroed memory is a chunk.
        let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
        let granule = Granule::within(chunk, 0x100).expect("an address of user space");
        let before = load(granule.cells());
        granule.sites()[0].store(pack_site(Node(9), free.own), Ordering::Relaxed);
        granule.cells()[0].store(free.cell(), Ordering::Relaxed);
        assert_eq!(write.race_with_seen(&[], granule, before), None);
        let race = write.race_with_seen(&[], granule, load(granule.cells()));
        assert_eq!(race.map(|(cell, _)| cell), Some(free.cell()));
    }
}
