//! The locations of a granule under one lock, and how they are found.

use super::pieces;
use super::slabs;
use super::sync::SyncState;
use super::{Location, prefetch, prefetch_read};
use crate::lock::RawLock;
use crate::shadow::{self, Granule, HAS_BLOCKS, HAS_CELLS, HAS_MEETINGS};
use crate::upcall::answers;
use rsan_clocks::Effect;
use rsan_clocks::write_log::{LocationState, Rules, ThreadState};
use rsan_model::ReadOrd;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Ordering};

/// The locations of a granule. Created when the first is. It is found without a lock, so its memory is always that of a
/// block; when all its locations are forgotten, it may become the block of another granule.
///
/// What an access of the first location looks at stands together: in two lines of memory what most accesses need, then
/// in two the log of its writes, then what accesses of several threads need. Processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Block {
    lock: RawLock,
    /// The locations of two granules are here: see [`pieces`].
    united: AtomicBool,
    /// The higher bits of `version`.
    age: AtomicU16,
    /// Counts the writes to its locations, before they take effect; see [`crate::atomic::load`].
    version: AtomicU32,
    items: UnsafeCell<Items>,
}

// Every program with many locations pays for what is more.
const _: () = assert!(size_of::<Block>() == 384);

/// What is about to be done with a block, and so which of its lines are looked at beside the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intent {
    /// An atomic load, which seldom needs the log.
    Load,
    /// Any other access.
    Access,
}

/// The lines of the log, and the first of those that accesses of several threads need; not all of them need the other.
const LOG: [usize; 2] = [2, 3];
const SHARED: usize = 4;

// SAFETY: `items` is only reached through a `Locked`, which holds the lock.
unsafe impl Sync for Block {}

/// Most granules have one or two atomic locations or one lock, which are found without a search.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Items {
    pub(super) atomic: Option<Location>,
    pub(super) rest: Option<Box<Rest>>,
}

#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "they move to and from `Items`")]
pub(super) struct Rest {
    pub(super) second: Option<Box<Location>>,
    pub(super) further: Vec<Box<Location>>,
    /// A lock or the like, and its address.
    pub(super) sync: Option<(usize, SyncState)>,
    pub(super) further_syncs: Vec<(usize, Box<SyncState>)>,
}

impl Items {
    /// One of the first two locations.
    #[inline]
    fn find(&mut self, address: usize, bytes: usize) -> Option<&mut Location> {
        let is_it = |location: &Location| location.extent.is(address, bytes);
        if self.atomic.as_ref().is_some_and(is_it) {
            return self.atomic.as_mut();
        }
        let second = self.rest.as_mut()?.second.as_deref_mut()?;
        is_it(second).then_some(second)
    }

    /// Drops what begins at addresses that are not to be kept; says whether nothing is left.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) -> bool {
        let goes = |location: &Location| !keep(location.extent.address());
        self.atomic.take_if(|location| goes(location));
        if let Some(rest) = &mut self.rest {
            rest.second.take_if(|location| goes(location));
            rest.further.retain(|location| !goes(location));
            rest.retain_syncs(&keep);
        }
        self.rest.take_if(|rest| rest.is_empty());
        self.atomic.is_none() && self.rest.is_none()
    }
}

impl Rest {
    fn is_empty(&self) -> bool {
        let locations = usize::from(self.second.is_some()) + self.further.len();
        let syncs = usize::from(self.sync.is_some()) + self.further_syncs.len();
        locations + syncs == 0
    }

    fn retain_syncs(&mut self, keep: impl Fn(usize) -> bool) {
        self.sync.take_if(|sync| !keep(sync.0));
        self.further_syncs.retain(|sync| keep(sync.0));
    }

    #[cold]
    fn further_sync(&mut self, address: usize) -> &mut SyncState {
        if self.sync.is_none() && self.further_syncs.is_empty() {
            return &mut self.sync.insert((address, SyncState::default())).1;
        }
        let syncs = &mut self.further_syncs;
        let index = syncs.iter().position(|sync| sync.0 == address);
        let index = index.unwrap_or_else(|| {
            syncs.push((address, Box::default()));
            syncs.len() - 1
        });
        &mut syncs[index].1
    }
}

#[cold]
fn further_location(
    items: &mut Items,
    address: usize,
    bytes: usize,
    make: impl FnOnce() -> Location,
) -> &mut Location {
    let further = |items: &Items| {
        let further = &items.rest.as_ref()?.further;
        further.iter().position(|l| l.extent.is(address, bytes))
    };
    match further(items) {
        Some(index) => &mut items.rest.as_mut().expect("just looked at").further[index],
        None => pieces::cut(items, address, bytes, make),
    }
}

/// The block of a granule, if there was one, whose memory is on its way to this processor. Taking the lock waits for one line of
/// it, and the processor does not look far ahead meanwhile; so an access asks for all lines as its first thing.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    granule: Granule,
    block: *const Block,
}

impl Approach {
    /// An address is about to be accessed.
    #[inline(always)]
    pub fn new(address: usize, intent: Intent) -> Option<Self> {
        let granule = Granule::existing(address)?;
        Some(Self::of(granule, address, intent))
    }

    /// The log will be read.
    #[inline(always)]
    pub(super) fn expect_log(self) {
        for line in LOG {
            prefetch_read(self.block.cast::<u8>().wrapping_add(64 * line));
        }
    }

    #[inline(always)]
    fn of(granule: Granule, address: usize, intent: Intent) -> Self {
        // ORDERING: acquire, with the exchange in `create`.
        let block: *const Block = word_of(granule).load(Ordering::Acquire);
        prefetch(block, 0);
        prefetch(block, 1);
        match intent {
            Intent::Load => prefetch_read(address as *const u8),
            Intent::Access => {
                LOG.into_iter().for_each(|line| prefetch(block, line));
                prefetch(address as *const u8, 0);
            }
        }
        let flags = granule.flags();
        if flags & HAS_MEETINGS != 0 {
            prefetch(block, SHARED);
        }
        if flags & HAS_CELLS != 0 {
            prefetch_read(granule.cells());
        }
        Self { granule, block }
    }
}

/// A block whose lock is held.
#[derive(Debug)]
pub struct Locked {
    pub(super) block: &'static Block,
}

impl Drop for Locked {
    #[inline]
    fn drop(&mut self) {
        self.block.lock.unlock();
    }
}

impl Locked {
    /// Locks the block of an address; none if the address is not one of user space.
    #[inline]
    pub fn at(address: usize, intent: Intent) -> Option<Self> {
        let granule = Granule::of(address)?;
        loop {
            let block = Approach::of(granule, address, intent).block;
            // SAFETY: null, or a block; the memory of a block is always that of one.
            let block = unsafe { block.as_ref() }.unwrap_or_else(|| create(granule));
            if let Some(locked) = block.locked(word_of(granule)) {
                return Some(locked);
            }
        }
    }

    /// The same for an access of so many bytes, given the way that was gone to the block already.
    #[inline(always)]
    pub fn after(
        approach: Option<Approach>,
        address: usize,
        bytes: usize,
        intent: Intent,
    ) -> Option<Self> {
        if let Some(Approach { granule, block }) = approach
            && bytes <= size_of::<u64>()
            // SAFETY: null, or a block; the memory of a block is always that of one.
            && let Some(block) = unsafe { block.as_ref() }
            && let Some(locked) = block.locked(word_of(granule))
        {
            return Some(locked);
        }
        Self::for_access(address, bytes, intent)
    }

    /// Locks the block of a granule if there is one.
    #[inline]
    pub fn existing(granule: Granule) -> Option<Self> {
        Self::of(word_of(granule))
    }

    /// Locks the block that a granule's word points to, if it does.
    #[inline]
    fn of(word: &AtomicPtr<Block>) -> Option<Self> {
        loop {
            // ORDERING: acquire, with the exchange in `create`.
            let block = word.load(Ordering::Acquire);
            // SAFETY: null, or a block; the memory of a block is always that of one.
            if let Some(locked) = unsafe { block.as_ref() }?.locked(word) {
                return Some(locked);
            }
        }
    }

    /// The same, if nobody else has the lock.
    pub(super) fn try_existing(granule: Granule) -> Option<Self> {
        let word = word_of(granule);
        // ORDERING: acquire, with the exchange in `create`.
        let block = word.load(Ordering::Acquire);
        // SAFETY: null, or a block; the memory of a block is always that of one.
        let block = unsafe { block.as_ref() }?;
        block.lock.try_lock().then(|| block.still(word))?
    }

    /// The block.
    #[inline]
    pub fn block(&self) -> &'static Block {
        self.block
    }

    /// A location of the block is about to be written.
    #[inline]
    pub fn announce_write(&mut self) {
        self.block.announce_write();
    }

    pub(super) fn items(&mut self) -> &mut Items {
        // SAFETY: the lock is held and `self` is borrowed mutably.
        unsafe { &mut *self.block.items.get() }
    }

    /// The atomic location at an address of the block, which holds `bits` if nothing is known of it yet; or the first
    /// of the pieces that it was cut into.
    #[inline]
    pub fn location(
        &mut self,
        address: usize,
        bytes: usize,
        bits: impl FnOnce() -> u128,
    ) -> &mut Location {
        let items = self.items();
        if items.find(address, bytes).is_some() {
            items.find(address, bytes).expect("just found")
        } else {
            let make = || Location::new(address, bytes, bits());
            further_location(items, address, bytes, make)
        }
    }

    /// The atomic location at an address of the block, if such a write by the thread repeats its last one there.
    #[inline]
    pub fn repeated(
        &mut self,
        address: usize,
        bytes: usize,
        thread: &ThreadState,
        effect: Effect,
    ) -> Option<&mut Location> {
        let repeats = |state: &LocationState| state.repeats(thread, effect, Rules::c20());
        self.whole(address, bytes, true, repeats)
    }

    /// The atomic location at an address of the block, if such a load tells the thread nothing.
    #[inline]
    pub fn known(
        &mut self,
        address: usize,
        bytes: usize,
        thread: &ThreadState,
        order: ReadOrd,
    ) -> Option<&mut Location> {
        let known = |state: &LocationState| state.is_read_known(thread, order, Rules::c20());
        self.whole(address, bytes, false, known)
    }

    /// One of the first locations, if it is no piece and the monitor says so.
    #[inline]
    fn whole(
        &mut self,
        address: usize,
        bytes: usize,
        writes: bool,
        suits: impl FnOnce(&LocationState) -> bool,
    ) -> Option<&mut Location> {
        let location = self.items().find(address, bytes)?;
        location.expect_access(writes);
        (!location.is_mixed() && suits(&location.state)).then_some(location)
    }

    /// The atomic locations that overlap a range.
    pub fn overlapping(&mut self, start: usize, end: usize) -> impl Iterator<Item = &mut Location> {
        let items = self.items();
        let rest = items.rest.iter_mut();
        let further = rest.flat_map(|rest| rest.second.iter_mut().chain(&mut rest.further));
        let all = further.map(|location| &mut **location);
        all.chain(&mut items.atomic)
            .filter(move |location| location.extent.overlaps(start, end))
    }

    /// The lock, semaphore or the like at an address of the block.
    #[inline]
    pub fn sync(&mut self, address: usize) -> &mut SyncState {
        let rest = self.items().rest.get_or_insert_default();
        if rest.sync.as_ref().is_some_and(|sync| sync.0 == address) {
            &mut rest.sync.as_mut().expect("just looked at").1
        } else {
            rest.further_sync(address)
        }
    }

    /// The same, if something is known of it.
    pub fn known_sync(&mut self, address: usize) -> Option<&SyncState> {
        let rest = self.items().rest.as_ref()?;
        let further = rest.further_syncs.iter();
        let further = further.map(|(at, sync)| (*at, &**sync));
        let first = rest.sync.iter().map(|(at, sync)| (*at, sync));
        let mut all = first.chain(further);
        all.find(|(at, _)| *at == address).map(|(_, sync)| sync)
    }

    /// The locks and the like in a range.
    pub fn syncs(&mut self, start: usize, end: usize) -> impl Iterator<Item = &mut SyncState> {
        let rest = self.items().rest.iter_mut();
        rest.flat_map(move |rest| {
            let further = rest.further_syncs.iter_mut();
            let further = further.map(|(at, sync)| (*at, &mut **sync));
            let first = rest.sync.iter_mut().map(|(at, sync)| (*at, sync));
            let within = move |at: usize| start <= at && at < end;
            let all = first.chain(further);
            all.filter_map(move |(at, sync)| within(at).then_some(sync))
        })
    }

    /// Forgets the lock or the like at an address.
    pub fn forget_sync(&mut self, address: usize) {
        if let Some(rest) = &mut self.items().rest {
            rest.retain_syncs(|at| at != address);
        }
    }
}

#[cold]
fn create(granule: Granule) -> &'static Block {
    let fresh = slabs::take();
    granule.set(HAS_BLOCKS);
    // ORDERING: acquire-release, with itself and the loads of blocks.
    let result = word_of(granule).compare_exchange(
        std::ptr::null_mut(),
        std::ptr::from_ref(fresh).cast_mut(),
        Ordering::AcqRel,
        Ordering::Acquire,
    );
    match result {
        Ok(_) => fresh,
        Err(other) => {
            slabs::give_back(fresh);
            // SAFETY: the memory of a block is always that of one.
            unsafe { &*other }
        }
    }
}

impl Block {
    /// How many writes there were to its locations, with as many bits as can be counted in months.
    #[inline]
    pub fn version(&self) -> u64 {
        // ORDERING: acquire, with the release in `announce_write`. The program's load before this one acquires at least: if it has
        // read a newer write, this sees the version that was stored before that write.
        let version = self.version.load(Ordering::Acquire);
        // ORDERING: acquire, as above. It is raised before `version` starts again, and read after it: if it is still what it
        // was some time ago, `version` has only grown since.
        let age = self.age.load(Ordering::Acquire);
        u64::from(age) << u32::BITS | u64::from(version)
    }

    /// Under the lock.
    #[inline]
    pub fn announce_write(&self) {
        // ORDERING: relaxed; only holders of the lock write it.
        let version = self.version.load(Ordering::Relaxed).wrapping_add(1);
        if version == 0 {
            // ORDERING: relaxed, as above; release, with the acquire in `version`.
            let age = self.age.load(Ordering::Relaxed).wrapping_add(1);
            self.age.store(age, Ordering::Release);
        }
        // ORDERING: release; the program's write follows and releases at least, so whoever sees it sees this.
        self.version.store(version, Ordering::Release);
    }

    /// The lock alone, for fork.
    pub(super) fn lock(&self) -> &RawLock {
        &self.lock
    }

    /// Whether it is there for two granules, and stays so.
    pub(super) fn is_united(&self) -> bool {
        // ORDERING: relaxed; set under the lock, and never taken back. Without the lock it is a hint.
        self.united.load(Ordering::Relaxed)
    }

    /// From now on it is there for two granules. Under the lock.
    pub(super) fn set_united(&self) {
        // ORDERING: relaxed; under the lock.
        self.united.store(true, Ordering::Relaxed);
    }

    /// Locks the block if it is still the one that a granule's word points to.
    #[inline]
    fn locked(&'static self, word: &AtomicPtr<Block>) -> Option<Locked> {
        self.lock.lock();
        self.still(word)
    }

    /// The block, whose lock was just taken, if it is still the one that a granule's word points to.
    #[inline]
    fn still(&'static self, word: &AtomicPtr<Block>) -> Option<Locked> {
        let locked = Locked { block: self };
        // ORDERING: relaxed; the word is changed under the lock.
        std::ptr::eq(word.load(Ordering::Relaxed), self).then_some(locked)
    }
}

/// The word of a granule that points to its block.
#[inline(always)]
pub(super) fn word_of(granule: Granule) -> &'static AtomicPtr<Block> {
    known(granule.block())
}

/// A granule's word, as what it is here.
#[inline(always)]
fn known(word: &AtomicPtr<shadow::Block>) -> &AtomicPtr<Block> {
    // SAFETY: nothing but pointers to blocks is ever stored there, and only here and in `pieces`.
    unsafe { &*std::ptr::from_ref(word).cast() }
}

answers! {
    "rsan_up_forget_block" shadow::forget_block => forget;
}

/// Forgets what begins in a range of memory, of the granule with this word. A block that is empty then is given back.
fn forget(word: &AtomicPtr<shadow::Block>, start: usize, end: usize) {
    let word = known(word);
    let Some(mut locked) = Locked::of(word) else {
        return;
    };
    locked.announce_write();
    let is_empty = locked.items().retain(|at| at < start || end <= at);
    let block = locked.block;
    if is_empty && !block.is_united() {
        // ORDERING: release, with the loads of blocks. Who has seen the block looks again when it has the lock.
        word.store(std::ptr::null_mut(), Ordering::Release);
        drop(locked);
        slabs::give_back(block);
    }
}
