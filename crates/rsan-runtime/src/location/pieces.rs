//! Atomic accesses of several sizes to the same memory.
//!
//! Accesses that overlap without being the same cut each other's locations into disjoint *pieces*, each with what was
//! known of the whole; from then on an access is one of every piece in it. So the order that such accesses carry is
//! exact, byte for byte: a half that was read follows the writes to that half. Whether a piece could be stale is not
//! asked any more ([`Location::mixed`]), for its values are not those of the accesses.
//!
//! Two granules that an access of 16 bytes spans get one [`Block`], so that one lock is enough: the second block is
//! emptied into the first and says where to look ([`Block::forward`]).

use super::{Block, Items, Location, Locked, WriteSite};
use crate::options::Options;
use crate::shadow::{Granule, HAS_BLOCKS};
use rsan_clocks::Effect;
use rsan_clocks::write_log::{Rules, ThreadState};
use std::sync::atomic::{AtomicPtr, Ordering};

#[allow(clippy::vec_box, reason = "they move to and from `Items`")]
impl Items {
    fn take_atomics(&mut self) -> Vec<Box<Location>> {
        let more = self.more.iter_mut().flat_map(|more| more.atomics.drain(..));
        let first = self.atomic.take().map(Box::new).into_iter();
        first.chain(self.second.take()).chain(more).collect()
    }

    fn put_atomics(&mut self, atomics: Vec<Box<Location>>) {
        let mut atomics = atomics.into_iter();
        self.atomic = atomics.next().map(|location| *location);
        self.second = atomics.next();
        let rest = atomics.as_slice().len();
        if rest > 0 {
            self.more.get_or_insert_default().atomics.extend(atomics);
        }
    }
}

impl Location {
    fn end(&self) -> usize {
        self.address + self.bytes as usize
    }

    /// Cuts off what begins at an address inside.
    fn cut_at(&mut self, address: usize) -> Box<Self> {
        let tail = Self {
            address,
            state: self.state.clone(),
            writes: self.writes.clone(),
            bytes: (self.end() - address) as u8,
            mixed: true,
            accessors: self.accessors.clone(),
        };
        self.bytes = (address - self.address) as u8;
        self.mixed = true;
        Box::new(tail)
    }

    /// Whether it is a piece, or overlapped by accesses of other sizes.
    #[inline]
    pub fn is_mixed(&self) -> bool {
        self.mixed
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
        self.writes.note(&mut self.state, 0, site);
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
    let overlaps = |l: &Location| l.address < end && address < l.end();
    if all.iter().any(|location| overlaps(location)) {
        for at in [address, end] {
            let inside = |l: &&mut Box<Location>| l.address < at && at < l.end();
            let tail = all
                .iter_mut()
                .find(inside)
                .map(|location| location.cut_at(at));
            all.extend(tail);
        }
        all.sort_by_key(|location| location.address);
        let mut gaps = Vec::new();
        let mut at = address;
        for piece in all.iter_mut().filter(|location| overlaps(location)) {
            if at < piece.address {
                gaps.push((at, piece.address - at));
            }
            piece.mixed = true;
            at = piece.end();
        }
        if at < end {
            gaps.push((at, end - at));
        }
        all.extend(gaps.into_iter().map(|(at, bytes)| {
            let mut piece = Location::new(at, bytes, 0);
            piece.mixed = true;
            Box::new(piece)
        }));
    } else {
        all.push(Box::new(make()));
    }
    // What is wanted now is found first next time.
    let index = all.iter().position(|location| location.address == address);
    all.swap(0, index.expect("the range was filled"));
    items.put_atomics(all);
    items.atomic.as_mut().expect("just put there")
}

impl Locked {
    /// Locks the block for an access of so many bytes.
    #[inline]
    pub fn for_access(address: usize, bytes: usize) -> Option<Self> {
        if bytes > size_of::<u64>() {
            unite(address, address + size_of::<u64>())?;
        }
        Self::at(address)
    }

    /// The pieces in a range except the first.
    pub fn further_pieces(
        &mut self,
        address: usize,
        bytes: usize,
    ) -> impl Iterator<Item = &mut Location> {
        self.overlapping(address, address + bytes)
            .filter(move |piece| piece.address != address)
    }
}

/// Makes the blocks of two addresses the same.
fn unite(low: usize, high: usize) -> Option<()> {
    let granule = Granule::of(high)?;
    // ORDERING: acquire, with the exchanges that set them.
    let known = [Granule::of(low)?, granule].map(|granule| granule.block().load(Ordering::Acquire));
    // SAFETY: null, or blocks.
    if let [Some(one), Some(two)] = known.map(|block| unsafe { block.as_ref() })
        && one.is_united()
        && std::ptr::eq(one.last(), two.last())
    {
        return Some(());
    }
    loop {
        let mut target = Locked::at(low)?;
        // From now on it stays where it is.
        // ORDERING: relaxed; under the lock.
        target.block.united.store(true, Ordering::Relaxed);
        // ORDERING: acquire, with the exchanges that set it.
        let other = granule.block().load(Ordering::Acquire);
        if other.is_null() {
            granule.set(HAS_BLOCKS);
            let fresh = std::ptr::from_ref(target.block).cast_mut();
            // ORDERING: acquire-release, with itself and the loads of blocks. Who is too late looks again.
            let _ =
                granule
                    .block()
                    .compare_exchange(other, fresh, Ordering::AcqRel, Ordering::Acquire);
            continue;
        }
        // SAFETY: blocks are never freed.
        let other = unsafe { &*other };
        if std::ptr::eq(other, target.block) || std::ptr::eq(other.last(), target.block) {
            return Some(());
        }
        // Nobody waits for a lock while holding one: a fork takes them all.
        let other = other.last();
        if other.lock.try_lock() {
            let mut emptied = Locked { block: other };
            // ORDERING: acquire, as above. It may have become the block of another granule.
            let found = granule.block().load(Ordering::Acquire);
            // SAFETY: null, or a block.
            let is_it = unsafe { found.as_ref() }.is_some_and(|it| std::ptr::eq(it.last(), other));
            if is_it && other.forward().is_none() {
                // ORDERING: relaxed; under the lock.
                other.united.store(true, Ordering::Relaxed);
                emptied.announce_write();
                target.announce_write();
                let moved = std::mem::take(emptied.items());
                target.items().absorb(moved);
                let place = std::ptr::from_ref(target.block).cast_mut();
                // ORDERING: release, with the acquire in `forward`; under the lock.
                other.forward.store(place, Ordering::Release);
            }
            continue;
        }
        drop(target);
        crate::system::give_way();
    }
}

impl Items {
    fn absorb(&mut self, mut other: Items) {
        let mut atomics = self.take_atomics();
        atomics.extend(other.take_atomics());
        self.put_atomics(atomics);
        let syncs = other.more.into_iter().flat_map(|more| more.syncs);
        for sync in other.sync.into_iter().chain(syncs) {
            if self.sync.is_none() {
                self.sync = Some(sync);
            } else {
                self.more.get_or_insert_default().syncs.push(sync);
            }
        }
    }
}

impl Block {
    /// Where the locations went, if they did.
    #[inline]
    pub(super) fn forward(&self) -> Option<&'static Block> {
        // ORDERING: acquire, with the release in `unite`.
        let block = self.forward.load(Ordering::Acquire);
        // SAFETY: null, or a block; those are never freed.
        unsafe { block.as_ref() }
    }

    /// Where the locations are, as far as is known without the lock.
    fn last(&'static self) -> &'static Block {
        let mut block = self;
        while let Some(next) = block.forward() {
            block = next;
        }
        block
    }

    /// Whether it is there for several granules, and stays so.
    pub(super) fn is_united(&self) -> bool {
        // ORDERING: relaxed; set under the lock, and never taken back. Without the lock it is a hint.
        self.united.load(Ordering::Relaxed)
    }

    /// Locks the block that has the locations of a granule, if this is still the block that its word points to.
    #[inline]
    pub(super) fn locked(&'static self, word: &AtomicPtr<Block>) -> Option<Locked> {
        let mut block = self;
        block.lock.lock();
        // ORDERING: relaxed; the word is changed under the lock, or not once blocks are united.
        if !std::ptr::eq(word.load(Ordering::Relaxed), self) {
            block.lock.unlock();
            return None;
        }
        loop {
            match block.forward() {
                None => return Some(Locked { block }),
                Some(next) => {
                    block.lock.unlock();
                    block = next;
                    block.lock.lock();
                }
            }
        }
    }
}
