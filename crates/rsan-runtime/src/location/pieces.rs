//! Atomic accesses of several sizes to the same memory.
//!
//! Accesses that overlap without being the same cut each other's locations into disjoint *pieces*, each with what was
//! known of the whole; from then on an access is one of every piece in it. So the order that such accesses carry is
//! exact, byte for byte: a half that was read follows the writes to that half. Whether a piece could be stale is not
//! asked any more ([`Location::is_mixed`]), for its values are not those of the accesses.
//!
//! Two granules that an access of 16 bytes spans get one [`Block`](super::Block), so that one lock is enough.

use super::block::{Intent, Items, Locked, Rest, word_of};
use super::{Extent, Location, MIXED, WIDE, WriteSite, slabs};
use crate::options::Options;
use crate::shadow::{Granule, HAS_BLOCKS};
use rsan_clocks::Effect;
use rsan_clocks::write_log::{Rules, ThreadState};
use std::sync::atomic::Ordering;

#[allow(clippy::vec_box, reason = "they move to and from `Items`")]
impl Items {
    fn take_atomics(&mut self) -> Vec<Box<Location>> {
        let first = self.atomic.take().map(Box::new).into_iter();
        let rest = self.rest.iter_mut();
        let rest =
            rest.flat_map(|rest| rest.second.take().into_iter().chain(rest.further.drain(..)));
        first.chain(rest).collect()
    }

    fn put_atomics(&mut self, atomics: Vec<Box<Location>>) {
        let mut atomics = atomics.into_iter();
        self.atomic = atomics.next().map(|location| *location);
        let second = atomics.next();
        if second.is_some() {
            let rest = self.rest.get_or_insert_default();
            rest.second = second;
            rest.further.extend(atomics);
        }
    }

    fn absorb(&mut self, mut other: Items) {
        let mut atomics = self.take_atomics();
        atomics.extend(other.take_atomics());
        self.put_atomics(atomics);
        let Some(rest) = other.rest else { return };
        let Rest {
            sync,
            further_syncs,
            ..
        } = *rest;
        let mine = self.rest.get_or_insert_default();
        let moved = sync.map(|(at, sync)| (at, Box::new(sync)));
        mine.further_syncs.extend(moved);
        mine.further_syncs.extend(further_syncs);
    }
}

impl Location {
    /// Cuts off what begins at an address inside.
    fn cut_at(&mut self, address: usize) -> Box<Self> {
        let (start, end) = (self.extent.address(), self.extent.end());
        let flags = self.extent.0 & WIDE | MIXED;
        let part = |start: usize, end: usize| Extent(Extent::new(start, end - start).0 | flags);
        self.extent = part(start, address);
        Box::new(Self {
            extent: part(address, end),
            accessors: self.accessors.clone(),
            state: self.state.clone(),
            writes: self.writes.clone(),
        })
    }

    /// Tells the monitor that the access that hit another piece has hit this one, too.
    pub fn repeat(
        &mut self,
        thread: &mut ThreadState,
        effect: Effect,
        site: WriteSite,
        options: &Options,
    ) {
        if effect.value_written().is_none() {
            self.read(thread, effect);
            return;
        }
        self.make_room(thread, options);
        self.state.apply(thread, effect, Rules::c20());
        self.note(0, site);
    }
}

/// The piece at the start of a range of one block, after cutting whatever is cut by its ends and filling what is
/// missing. A range that overlaps nothing is a location as usual.
#[cold]
pub(super) fn cut(
    items: &mut Items,
    address: usize,
    bytes: usize,
    make: impl FnOnce() -> Location,
) -> &mut Location {
    let end = address + bytes;
    let mut all = items.take_atomics();
    let overlaps = |location: &Location| location.extent.overlaps(address, end);
    if all.iter().any(|location| overlaps(location)) {
        for at in [address, end] {
            let inside = |l: &&mut Box<Location>| l.extent.address() < at && at < l.extent.end();
            let tail = all
                .iter_mut()
                .find(inside)
                .map(|location| location.cut_at(at));
            all.extend(tail);
        }
        all.sort_by_key(|location| location.extent.address());
        let mut gaps = Vec::new();
        let mut at = address;
        for piece in all.iter_mut().filter(|location| overlaps(location)) {
            let start = piece.extent.address();
            if at < start {
                gaps.push((at, start - at));
            }
            piece.extent.0 |= MIXED;
            at = piece.extent.end();
        }
        if at < end {
            gaps.push((at, end - at));
        }
        all.extend(gaps.into_iter().map(|(at, bytes)| {
            let mut piece = Location::new(at, bytes, 0);
            piece.extent.0 |= MIXED;
            Box::new(piece)
        }));
    } else {
        all.push(Box::new(make()));
    }
    // What is wanted now is found first next time.
    let starts = |location: &Location| location.extent.address() == address;
    let index = all.iter().position(|location| starts(location));
    all.swap(0, index.expect("the range was filled"));
    items.put_atomics(all);
    items.atomic.as_mut().expect("just put there")
}

impl Locked {
    /// Locks the block for an access of so many bytes.
    #[inline(never)]
    pub fn for_access(address: usize, bytes: usize, intent: Intent) -> Option<Self> {
        if bytes > size_of::<u64>() {
            unite(address, address + size_of::<u64>())?;
        }
        Self::at(address, intent)
    }

    /// The pieces in a range except the first.
    pub fn further_pieces(
        &mut self,
        address: usize,
        bytes: usize,
    ) -> impl Iterator<Item = &mut Location> {
        self.overlapping(address, address + bytes)
            .filter(move |piece| piece.extent.address() != address)
    }
}

/// Makes the blocks of an address and the next granule the same, if the address is one that the processor allows.
fn unite(low: usize, high: usize) -> Option<()> {
    if !low.is_multiple_of(2 * size_of::<u64>()) {
        return None;
    }
    let granules = [Granule::of(low)?, Granule::of(high)?];
    // ORDERING: acquire, with the exchanges that set them.
    let blocks = || granules.map(|granule| word_of(granule).load(Ordering::Acquire));
    loop {
        let [first, second] = blocks();
        if !first.is_null() && first == second {
            return Some(());
        }
        let mut target = Locked::at(low, Intent::Access)?;
        // From now on it stays where it is.
        target.block.set_united();
        let place = std::ptr::from_ref(target.block).cast_mut();
        if second.is_null() {
            granules[1].set(HAS_BLOCKS);
            // ORDERING: acquire-release, with itself and the loads of blocks. Who is too late looks again.
            let _ = word_of(granules[1]).compare_exchange(
                second,
                place,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            continue;
        }
        // Nobody waits for a lock while holding one: a fork takes them all.
        match Locked::try_existing(granules[1]) {
            Some(mut emptied) => {
                emptied.announce_write();
                target.announce_write();
                let moved = std::mem::take(emptied.items());
                target.items().absorb(moved);
                // ORDERING: release, with the loads of blocks; under the lock. Who waits for it looks again.
                word_of(granules[1]).store(place, Ordering::Release);
                let emptied_block = emptied.block;
                drop(emptied);
                slabs::give_back(emptied_block);
            }
            None => {
                drop(target);
                crate::system::give_way();
            }
        }
    }
}
