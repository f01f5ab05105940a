//! An access recorded in few instructions, where it races with nothing.
//!
//! **Decides** the same as [`Access::record`], which is the readable form, or leaves it to that. The four cells of a granule
//! are looked at together: the lower halves of all (the mask and the kind are there) in one register, the upper
//! halves (the slot is there) in another. Only the clock has to be asked for one cell after the other, and only for those that
//! matter: cells that conflict with the access, and those that it would replace.

use super::cells::{ALL, Access, Past, Race, is_in_past};
use super::lanes::{Lanes, Pairs};
use crate::shadow::{CELLS, Cells, Granule, HAS_CELLS};
use crate::shadow::{FREED, Kind};
use std::sync::atomic::Ordering;

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recorded {
    /// The access has its cell, and no other appeared meanwhile.
    Alone,
    /// Nothing was changed: somebody has to look at it in full.
    NotYet,
    /// It has its cell, and somebody has to look again for races.
    Disturbed,
}

impl Recorded {
    /// What came of two: what is the most work.
    #[inline(always)]
    pub(super) fn and(self, other: Self) -> Self {
        if self as u8 > other as u8 {
            self
        } else {
            other
        }
    }
}

/// The cells of a granule at one time. Sets of them have one bit for each.
struct Seen {
    cells: [u64; CELLS],
    /// Mask and kind are there.
    lower: Lanes,
    /// The slot is there.
    upper: Lanes,
}

impl Seen {
    #[inline(always)]
    fn new(pairs: Pairs) -> Self {
        Self {
            cells: pairs.cells(),
            lower: pairs.lower(),
            upper: pairs.upper(),
        }
    }

    #[inline(always)]
    fn empty(&self) -> u32 {
        self.lower.zero()
    }

    #[inline(always)]
    fn writes(&self) -> u32 {
        self.lower.odd()
    }

    /// Those that say that the memory was freed.
    #[inline(always)]
    fn freed(&self) -> u32 {
        ALL & !self.lower.only(FREED as u32).zero()
    }

    /// Those of a slot.
    #[inline(always)]
    fn of(&self, slot: u64) -> u32 {
        self.upper.high().equal(slot as u32)
    }
}

/// Which of some cells are not known to happen before. If one has changed since it was seen, it is not: somebody else
/// makes an access at this moment. Only an empty cell may be taken for one that happens before.
#[inline(always)]
fn unordered(past: Past, cells: &Cells, some: u32) -> u32 {
    let is_unordered = |index: usize| {
        // ORDERING: relaxed; a cell is one word and stands for itself.
        some & 1 << index != 0 && !is_in_past(past, cells[index].load(Ordering::Relaxed))
    };
    let mut unordered = 0;
    if some != 0 {
        for index in 0..CELLS {
            unordered |= u32::from(is_unordered(index)) << index;
        }
    }
    unordered
}

#[inline(always)]
fn first_of(set: u32) -> usize {
    set.trailing_zeros() as usize % CELLS
}

impl Access {
    /// Records a read or write that is not in the cells as they were loaded. `whole` says that it is of all bytes of the granule, for
    /// the compiler.
    #[inline(always)]
    pub(super) fn record_quickly(
        self,
        past: Past,
        granule: Granule,
        cells: Pairs,
        site: u32,
        whole: bool,
    ) -> Recorded {
        let seen = Seen::new(cells);
        let (empty, writes) = (seen.empty(), seen.writes());
        let mine = seen.of(self.own >> 48);
        let (overlapping, covered) = if whole {
            let reads = ALL & !writes;
            (ALL & !empty, if self.kind.writes() { ALL } else { reads })
        } else {
            let bytes = (self.mask << 8) as u32;
            let only_read = u32::from(!self.kind.writes());
            let others = bytes ^ 0xff00;
            (
                ALL & !seen.lower.only(bytes).zero(),
                seen.lower.only(others | only_read).zero(),
            )
        };
        let conflicting = if self.kind.writes() {
            overlapping
        } else {
            overlapping & writes
        };
        if self.kind != Kind::FREE && overlapping & seen.freed() != 0 {
            return Recorded::NotYet;
        }
        let matter = (conflicting | covered & !empty) & !mine;
        let unordered = unordered(past, granule.cells(), matter);
        if conflicting & unordered != 0 {
            return Recorded::NotYet;
        }
        let replaced = covered & !empty & !unordered;
        let mut expected = seen.cells;
        let mut cell = self.cell();
        let place = if replaced != 0 {
            let mut others = replaced & (replaced - 1);
            while others != 0 {
                let other = first_of(others);
                // ORDERING: relaxed; a cell is one word and stands for itself.
                granule.cells()[other].store(0, Ordering::Relaxed);
                expected[other] = 0;
                others &= others - 1;
            }
            first_of(replaced)
        } else if let alike = self.alike(granule, &seen, site, whole)
            && alike != 0
        {
            // More of what the same place in the program did before.
            cell |= expected[first_of(alike)];
            first_of(alike)
        } else if empty == ALL {
            return self.record_in_empty(granule, site);
        } else if empty != 0 {
            first_of(empty)
        } else {
            self.least_worth(past, granule.cells(), mine, writes)
        };
        // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
        granule.sites()[place].store(site, Ordering::Relaxed);
        // ORDERING: relaxed; a cell is one word and stands for itself.
        granule.cells()[place].store(cell, Ordering::Relaxed);
        expected[place] = cell;
        if are(granule.cells(), &expected) {
            Recorded::Alone
        } else {
            Recorded::Disturbed
        }
    }

    /// The same, and what it races with.
    #[inline(always)]
    pub(super) fn record_or_race(
        self,
        past: Past,
        granule: Granule,
        cells: Pairs,
        site: u32,
    ) -> Option<Race> {
        match self.record_quickly(past, granule, cells, site, false) {
            Recorded::Alone => None,
            Recorded::Disturbed => self.race(past, granule),
            Recorded::NotYet => self.record(past, granule, site, false),
        }
    }

    /// Records an access to a whole granule, `from`, in those after it, too, as long as their cells are what its were `before`: then the same
    /// cell changes in all of them, since sites do not matter to an access to all bytes. Memory that is copied or cleared as
    /// a whole mostly is like that. Of at most `count` granules, in the same page; returns of how many, and which of them races with what.
    #[inline(always)]
    pub(super) fn repeat(
        self,
        past: Past,
        from: Granule,
        count: usize,
        before: Pairs,
        site: u32,
    ) -> (usize, Option<(usize, Race)>) {
        let is_like = |granule: Granule| Pairs::load(granule.cells()).are(before);
        if count == 0 || !is_like(from.after(1)) {
            return (0, None);
        }
        let after = Pairs::load(from.cells());
        let Some(place) = self.only_change(before, after) else {
            return (0, None);
        };
        let mut done = 0;
        while done < count && is_like(from.after(done + 1)) {
            done += 1;
            let granule = from.after(done);
            // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
            granule.sites()[place].store(site, Ordering::Relaxed);
            // ORDERING: relaxed; a cell is one word and stands for itself.
            granule.cells()[place].store(self.cell(), Ordering::Relaxed);
        }
        // Only now: cells that were just stored cannot be loaded in pairs at once.
        let race = (1..=done).find_map(|index| {
            let granule = from.after(index);
            let is_alone = Pairs::load(granule.cells()).are(after);
            let race = (!is_alone).then(|| self.race(past, granule))?;
            race.map(|other| (index, other))
        });
        (done, race)
    }

    /// The one cell that recording the access has changed. The first access of a granule is another matter.
    #[inline(never)]
    fn only_change(self, before: Pairs, after: Pairs) -> Option<usize> {
        let (before, after) = (before.cells(), after.cells());
        let place = (0..CELLS).find(|&index| before[index] != after[index])?;
        let is_only = before[place + 1..] == after[place + 1..];
        let is_mine = after[place] == self.cell();
        (is_only && is_mine && before != [0; CELLS]).then_some(place)
    }

    /// Accesses to other bytes that are like this one, and were made at the same place.
    #[inline(always)]
    fn alike(self, granule: Granule, seen: &Seen, site: u32, whole: bool) -> u32 {
        if whole {
            return 0;
        }
        let here = Lanes::sites(granule.sites()).equal(site);
        let stamp_and_kind = 0xffff_00ff;
        let own = self.cell() as u32 & stamp_and_kind;
        here & seen.lower.only(stamp_and_kind).equal(own)
            & seen.upper.equal((self.own >> 32) as u32)
    }

    /// The cell to be given up if all are in use; see [`super`].
    #[inline(always)]
    fn least_worth(self, past: Past, cells: &Cells, mine: u32, writes: u32) -> usize {
        let open = mine | unordered(past, cells, ALL & !mine);
        let (least, middle) = (ALL & !(open | writes), open ^ writes);
        let choice = match (least, middle) {
            (0, 0) => ALL,
            (0, _) => middle,
            _ => least,
        };
        let first = (self.own >> 16) as u32 % CELLS as u32;
        let round = (choice | choice << CELLS) >> first;
        (round.trailing_zeros() + first) as usize % CELLS
    }

    /// Records the first access of a granule, if nobody else does at the same time.
    #[inline(always)]
    fn record_in_empty(self, granule: Granule, site: u32) -> Recorded {
        granule.set(HAS_CELLS);
        let (cells, cell) = (granule.cells(), self.cell());
        let (exchange, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        // ORDERING: seq_cst, so that of two threads that come first the later one sees the other's cell, here or below.
        let is_first = cells[0].compare_exchange(0, cell, exchange, failure);
        if is_first.is_err() {
            return Recorded::NotYet;
        }
        // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
        granule.sites()[0].store(site, Ordering::Relaxed);
        if are(cells, &[cell, 0, 0, 0]) {
            Recorded::Alone
        } else {
            Recorded::Disturbed
        }
    }
}

#[inline(always)]
fn are(cells: &Cells, expected: &[u64; CELLS]) -> bool {
    // ORDERING: relaxed; a cell is one word and stands for itself.
    let is = |index: usize| cells[index].load(Ordering::Relaxed) == expected[index];
    is(0) && is(1) && is(2) && is(3)
}

#[cfg(test)]
mod tests;
