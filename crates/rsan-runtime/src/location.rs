//! What is known of the atomic locations and locks in one granule, under one lock.

mod pieces;
mod writes;

pub use writes::{LoggedWrite, Operation, WriteSite};

use crate::horizon;
use crate::lock::{Lock, RawLock};
use crate::options::Options;
use crate::race::Kind;
use crate::shadow::{Granule, HAS_BLOCKS, map_huge, map_zeroed};
use crate::stack::Node;
use crate::sync::SyncState;
use crate::thread;
use crate::trail::{Accessors, Act, Place, Step, Trail};
use rsan_clocks::write_log::{LocationState, Rules, StaleWrite, Stamp, ThreadState, Weakness};
use rsan_clocks::{Access, Effect, Timestamp};
use rsan_model::{ReadOrd, RmwOrd, Value};
use std::arch::asm;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use writes::{Writes, number};

/// The locations of a granule. Created when the first is. It is found without a lock, so its memory is always that of a
/// block; when all its locations are forgotten, it may become the block of another granule.
///
/// What an access looks at stands together, the first location included.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Block {
    lock: RawLock,
    /// Counts the writes to its locations, before they take effect; see [`crate::atomic::load`].
    version: AtomicU64,
    /// The locations of several granules are here, or were: see [`pieces`].
    united: AtomicBool,
    /// The block that has taken over the locations, if there is one.
    forward: AtomicPtr<Block>,
    items: UnsafeCell<Items>,
}

// SAFETY: `items` is only reached through a `Locked`, which holds the lock.
unsafe impl Sync for Block {}

/// Most granules have one or two atomic locations or one lock, which are found without a search.
#[derive(Debug, Default)]
#[repr(C)]
struct Items {
    atomic: Option<Location>,
    second: Option<Box<Location>>,
    sync: Option<Box<(usize, SyncState)>>,
    more: Option<Box<More>>,
}

#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "they move to and from `Items`")]
struct More {
    atomics: Vec<Box<Location>>,
    syncs: Vec<Box<(usize, SyncState)>>,
}

impl Items {
    /// One of the first two locations.
    #[inline]
    fn find(&mut self, address: usize, bytes: usize) -> Option<&mut Location> {
        let is_it = |l: &Location| l.address == address && l.bytes as usize == bytes;
        if self.atomic.as_ref().is_some_and(is_it) {
            self.atomic.as_mut()
        } else if self.second.as_deref().is_some_and(is_it) {
            self.second.as_deref_mut()
        } else {
            None
        }
    }

    fn is_empty(&self) -> bool {
        let Self {
            atomic,
            second,
            sync,
            more,
        } = self;
        atomic.is_none() && second.is_none() && sync.is_none() && more.is_none()
    }

    fn retain_atomics(&mut self, keep: impl Fn(usize) -> bool) {
        self.atomic.take_if(|location| !keep(location.address));
        self.second.take_if(|location| !keep(location.address));
        if let Some(more) = &mut self.more {
            more.atomics.retain(|location| keep(location.address));
        }
    }

    fn retain_syncs(&mut self, keep: impl Fn(usize) -> bool) {
        self.sync.take_if(|sync| !keep(sync.0));
        if let Some(more) = &mut self.more {
            more.syncs.retain(|sync| keep(sync.0));
        }
    }
}

#[cold]
fn further_location(
    items: &mut Items,
    address: usize,
    bytes: usize,
    make: impl FnOnce() -> Location,
) -> &mut Location {
    let is_it = |l: &Location| l.address == address && l.bytes as usize == bytes;
    let more = items.more.as_ref();
    match more.and_then(|more| more.atomics.iter().position(|l| is_it(l))) {
        Some(index) => &mut items.more.as_mut().expect("just looked at").atomics[index],
        None => pieces::cut(items, address, bytes, make),
    }
}

#[cold]
fn further_sync<'a>(
    first: &'a mut Option<Box<(usize, SyncState)>>,
    more: &'a mut Option<Box<More>>,
    address: usize,
) -> &'a mut SyncState {
    let make = || Box::new((address, SyncState::default()));
    if first.is_none() && more.is_none() {
        return &mut first.insert(make()).1;
    }
    let syncs = &mut more.get_or_insert_default().syncs;
    let index = syncs.iter().position(|sync| sync.0 == address);
    let index = index.unwrap_or_else(|| {
        syncs.push(make());
        syncs.len() - 1
    });
    &mut syncs[index].1
}

/// The lines of a block that a typical access looks at, beside the first.
const PREFETCHED: [usize; 3] = [1, 5, 7];

/// Blocks that are mapped at a time, as long as there are few.
const SLAB: usize = 256;
/// So many slabs are few.
const FEW_SLABS: usize = 8;

/// Uninitialised from [`Slabs::used`] on, in the last one.
type Slab = [MaybeUninit<Block>];

/// Where blocks come from: memory of their own, for they stay, and would lie between what the program frees.
#[derive(Debug)]
struct Slabs {
    all: Vec<&'static Slab>,
    /// How many blocks of the last one were ever in use.
    used: usize,
    /// Blocks without a granule.
    free: Vec<&'static Block>,
}

static SLABS: Lock<Slabs> = Lock::new(Slabs {
    all: Vec::new(),
    used: 0,
    free: Vec::new(),
});

impl Slabs {
    /// How many blocks of the last slab were never in use.
    fn unused(&self) -> usize {
        self.all.last().map_or(0, |slab| slab.len() - self.used)
    }

    fn fill(&mut self) {
        if self.unused() > 0 {
            return;
        }
        let slab = if self.all.len() < FEW_SLABS {
            std::ptr::slice_from_raw_parts(map_zeroed(SLAB), SLAB)
        } else {
            map_huge()
        };
        // SAFETY: the mapping is never freed, and the elements need not be initialised.
        self.all.push(unsafe { &*slab });
        self.used = 0;
    }
}

/// Has a block for a location that comes later.
pub(crate) fn prepare() {
    SLABS.lock().fill();
}

fn new_block() -> *mut Block {
    let mut slabs = SLABS.lock();
    if let Some(free) = slabs.free.pop() {
        return std::ptr::from_ref(free).cast_mut();
    }
    slabs.fill();
    let index = slabs.used;
    let slab = slabs.all.last().expect("there is one");
    let block = std::ptr::from_ref(&slab[index]).cast::<Block>().cast_mut();
    // SAFETY: within the mapping, and nobody else was given the place.
    unsafe { block.write(Block::default()) };
    slabs.used += 1;
    block
}

/// Takes the locks of all blocks, and the one that new blocks need. For the time of a fork.
pub(crate) fn lock_all() {
    SLABS.raw().lock();
    for block in all_blocks() {
        block.lock.lock();
    }
}

/// Undoes [`lock_all`].
pub(crate) fn unlock_all() {
    for block in all_blocks() {
        block.lock.unlock();
    }
    SLABS.raw().unlock();
}

/// Those in use, between [`lock_all`] and [`unlock_all`].
fn all_blocks() -> Vec<&'static Block> {
    // SAFETY: the lock is held since `lock_all`; the guard does not give it back.
    let slabs = std::mem::ManuallyDrop::new(unsafe { SLABS.assume_locked() });
    let count = slabs.all.iter().map(|slab| slab.len()).sum::<usize>() - slabs.unused();
    let all = slabs.all.iter().flat_map(|slab| slab.iter());
    // SAFETY: those before `used` were initialised, and all of the earlier slabs.
    all.take(count)
        .map(|block| unsafe { block.assume_init_ref() })
        .collect()
}

/// A block whose lock is held.
#[derive(Debug)]
pub struct Locked {
    block: &'static Block,
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
    pub fn at(address: usize) -> Option<Self> {
        let granule = Granule::of(address)?;
        prefetch(granule.cells(), 0);
        loop {
            // ORDERING: acquire, with the exchange in `create`.
            let block = granule.block().load(Ordering::Acquire);
            for line in PREFETCHED {
                prefetch(block, line);
            }
            let block = if block.is_null() {
                create(granule)
            } else {
                // SAFETY: the memory of a block is always that of one.
                unsafe { &*block }
            };
            if let Some(locked) = block.locked(granule.block()) {
                return Some(locked);
            }
        }
    }

    /// Locks the block of a granule if there is one.
    #[inline]
    pub fn existing(granule: Granule) -> Option<Self> {
        Self::of(granule.block())
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

    fn items(&mut self) -> &mut Items {
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
        self.whole(address, bytes, repeats)
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
        self.whole(address, bytes, known)
    }

    /// One of the first locations, if it is no piece and the monitor says so.
    #[inline]
    fn whole(
        &mut self,
        address: usize,
        bytes: usize,
        suits: impl FnOnce(&LocationState) -> bool,
    ) -> Option<&mut Location> {
        let location = self.items().find(address, bytes)?;
        (!location.mixed && suits(&location.state)).then_some(location)
    }

    /// The atomic locations that overlap a range.
    pub fn overlapping(&mut self, start: usize, end: usize) -> impl Iterator<Item = &mut Location> {
        let items = self.items();
        let more = items.more.iter_mut().flat_map(|more| &mut more.atomics);
        let all = items
            .second
            .iter_mut()
            .chain(more)
            .map(|location| &mut **location)
            .chain(&mut items.atomic);
        all.filter(move |location| {
            let at = location.address;
            at < end && start < at + location.bytes as usize
        })
    }

    /// The lock, semaphore or the like at an address of the block.
    #[inline]
    pub fn sync(&mut self, address: usize) -> &mut SyncState {
        let items = self.items();
        let is_first = items.sync.as_ref().is_some_and(|sync| sync.0 == address);
        if is_first {
            &mut items.sync.as_mut().expect("just looked at").1
        } else {
            further_sync(&mut items.sync, &mut items.more, address)
        }
    }

    /// Forgets the lock or the like at an address.
    pub fn forget_sync(&mut self, address: usize) {
        self.items().retain_syncs(|at| at != address);
    }
}

/// Asks for a line of memory that will be written, so many lines after a place. Taking a lock waits for one line, and
/// what comes after it does not start before; so the others are asked for first.
#[inline]
fn prefetch<T>(at: *const T, line: usize) {
    let at = at.cast::<u8>().wrapping_add(64 * line);
    // SAFETY: asking for memory that is not there does nothing, and so does the instruction on processors without it.
    unsafe { asm!("prefetchw [{0}]", in(reg) at, options(nostack, preserves_flags, readonly)) };
}

#[cold]
fn create(granule: Granule) -> &'static Block {
    let fresh = new_block();
    granule.set(HAS_BLOCKS);
    // ORDERING: acquire-release, with itself and the loads of blocks.
    let result = granule.block().compare_exchange(
        std::ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    );
    match result {
        Ok(_) => {
            // SAFETY: just made, and never freed.
            unsafe { &*fresh }
        }
        Err(other) => {
            // SAFETY: nobody else has seen it.
            SLABS.lock().free.push(unsafe { &*fresh });
            // SAFETY: the memory of a block is always that of one.
            unsafe { &*other }
        }
    }
}

impl Block {
    /// How many writes there were to its locations.
    #[inline]
    pub fn version(&self) -> u64 {
        // ORDERING: seq_cst: a load between two equal versions is not overtaken by the write that changes it.
        self.version.load(Ordering::SeqCst)
    }

    /// Under the lock.
    #[inline]
    pub fn announce_write(&self) {
        // ORDERING: relaxed; only holders of the lock write it.
        let version = self.version.load(Ordering::Relaxed);
        // ORDERING: release; the program's write follows and is seq_cst, so whoever sees it sees this.
        self.version.store(version + 1, Ordering::Release);
    }
}

/// Forgets what begins in a range of memory, of the granule with this word. A block that is empty then is given back.
pub fn forget(word: &AtomicPtr<Block>, start: usize, end: usize) {
    let Some(mut locked) = Locked::of(word) else {
        return;
    };
    locked.announce_write();
    let items = locked.items();
    let outside = |at: usize| at < start || end <= at;
    items.retain_atomics(outside);
    items.retain_syncs(outside);
    items
        .more
        .take_if(|more| more.atomics.is_empty() && more.syncs.is_empty());
    let is_empty = items.is_empty();
    let block = locked.block;
    if is_empty && !block.is_united() {
        // ORDERING: release, with the loads of blocks. Who has seen the block looks again when it has the lock.
        word.store(std::ptr::null_mut(), Ordering::Release);
        drop(locked);
        SLABS.lock().free.push(block);
    }
}

/// An atomic location. What most accesses look at comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Location {
    address: usize,
    bytes: u8,
    /// Accessed with several sizes: values no longer mean what the monitor thinks. See [`pieces`].
    mixed: bool,
    state: LocationState,
    /// Who accessed it last.
    accessors: Accessors,
    writes: Writes,
}

impl Location {
    fn new(address: usize, bytes: usize, bits: u128) -> Self {
        let mut state = LocationState::new(number(bits), Rules::c20());
        let mut writes = Writes::default();
        writes.initial(&mut state, bits);
        Self {
            address,
            state,
            writes,
            bytes: bytes as u8,
            mixed: false,
            accessors: Accessors::default(),
        }
    }

    /// Asks the monitor, before the access takes effect. A compare-and-swap is asked about by
    /// [`Location::check_compare`].
    #[inline]
    pub fn check(&self, thread: &ThreadState, access: &Access<'_>) -> Option<Weakness> {
        if self.mixed {
            return None;
        }
        self.state.check(thread, access, Rules::c20())
    }

    /// Asks the monitor about a compare-and-swap, given the access that it is for the number of what it expects.
    #[inline]
    pub fn check_compare(
        &self,
        thread: &ThreadState,
        expected: u128,
        access: impl FnOnce(Value) -> Access<'static>,
    ) -> Option<Weakness> {
        let access = access(number(expected));
        let weakness = self.check(thread, &access)?;
        let stale = self.logged(weakness.stale).value;
        // Another value may have the same number; then the answer is for the wrong value.
        let right = stale.is_some_and(|stale| {
            let same = number(stale) == number(expected);
            same == (stale == expected)
        });
        (right && !self.has_unknown_value()).then_some(weakness)
    }

    /// Asks for what lies elsewhere, and will be looked at if there is some.
    #[inline]
    pub fn expect_access(&self) {
        if let Some((at, bytes)) = self.state.sc_part() {
            for line in 0..bytes.div_ceil(64) {
                prefetch(at, line);
            }
        }
    }

    /// The monitor's number for a value that is compared.
    pub fn compared(bits: u128) -> Value {
        number(bits)
    }

    /// Everything that makes such an access weak, newest first.
    pub fn stale(&self, thread: &ThreadState, access: &Access<'_>) -> Vec<StaleWrite> {
        self.state.stale(thread, access, Rules::c20())
    }

    /// The writes of the log, oldest first.
    fn logged_writes(&self) -> impl DoubleEndedIterator<Item = Timestamp> {
        (self.state.oldest_write().0..=self.state.last_write().0).map(Timestamp)
    }

    fn has_unknown_value(&self) -> bool {
        self.logged_writes()
            .any(|write| self.logged(write).value.is_none())
    }

    /// Tells the monitor of a read.
    #[inline]
    pub fn read(&mut self, thread: &mut ThreadState, effect: Effect) {
        self.state.apply(thread, effect, Rules::c20());
    }

    /// Tells the monitor of a write, given what it is for the number of the value written.
    #[inline]
    pub fn write(
        &mut self,
        thread: &mut ThreadState,
        bits: u128,
        effect: impl FnOnce(Value) -> Effect,
        site: WriteSite,
        options: &Options,
    ) {
        self.make_room(thread, options);
        self.state.apply(thread, effect(number(bits)), Rules::c20());
        self.writes.note(&mut self.state, bits, site);
    }

    /// Tells the monitor of a repeated write.
    #[inline]
    pub fn repeat_write(
        &mut self,
        thread: &mut ThreadState,
        trail: &Trail,
        bits: u128,
        effect: impl FnOnce(Value) -> Effect,
        site: WriteSite,
        options: &Options,
    ) {
        self.make_room(thread, options);
        self.state
            .repeat(thread, effect(number(bits)), Rules::c20());
        self.writes.note(&mut self.state, bits, site);
        self.accessors.repeated(trail);
    }

    /// Tells the monitor of a load that tells the thread nothing.
    #[inline]
    pub fn read_known(
        &mut self,
        thread: &mut ThreadState,
        trail: &Trail,
        order: ReadOrd,
        leaf: Node,
    ) {
        self.state.note_read(thread, order, Rules::c20());
        let step = Step::new(thread, trail, Act::Load, order.into(), Place::leaf(leaf));
        self.accessors.read_by(&step, thread.slot());
    }

    /// A plain write hit the location; its value is not known.
    pub fn plain_write(&mut self, thread: &mut ThreadState, site: WriteSite, options: &Options) {
        self.make_room(thread, options);
        self.state.plain_write(thread, 0, Rules::c20());
        self.writes.note(&mut self.state, 0, site);
    }

    #[inline]
    fn make_room(&mut self, thread: &ThreadState, options: &Options) {
        if options.log_cap != 0 {
            self.state.make_room(options.log_cap);
        } else if self.state.wants_pruning(None) {
            horizon::prune(&mut self.state, thread);
        }
    }

    /// Remembers an access that the monitor was told of, and whether the thread's SC past grew by it.
    #[inline]
    pub fn accessed(
        &mut self,
        thread: &ThreadState,
        trail: &mut Trail,
        access: WriteSite,
        learnt: bool,
    ) {
        let act = Act::from(access.operation);
        let order = access.order.unwrap_or(RmwOrd::Relaxed);
        let step = Step::new(thread, trail, act, order, Place::leaf(access.leaf));
        let last = self.state.last_write().0;
        let before = Timestamp(if act.writes() { last - 1 } else { last });
        let state = &self.state;
        let writer = || {
            let stamp = state.writer(before)?;
            let write = Writes::site(state, before)?;
            Some(Step {
                thread: thread::owner(stamp)?,
                epoch: stamp.epoch.number(),
                act: Act::from(write.operation),
                order: write.order.unwrap_or(RmwOrd::Relaxed),
                place: Place::leaf(write.leaf),
                ..step
            })
        };
        let by = (step, thread.slot());
        self.accessors
            .accessed(trail, by, self.address, learnt, writer);
    }

    /// An atomic access that the thread does not know to happen before its next event: a write, or a read if those are
    /// wanted. Of several the newest write comes first.
    pub fn unordered(&self, thread: &ThreadState, reads: bool) -> Option<(Kind, Stamp, Node)> {
        let is_unordered =
            |at: Stamp| at.slot != thread.slot() && thread.hb().get(at.slot) < at.epoch;
        let writes = self.logged_writes().rev().filter_map(|write| {
            let stamp = self.state.writer(write)?;
            let site = Writes::site(&self.state, write)?;
            let atomic = site.operation != Operation::PlainWrite;
            (atomic && is_unordered(stamp)).then_some((Kind::ATOMIC_WRITE, stamp, site.leaf))
        });
        let reads = self.accessors.reads().filter(|_| reads);
        let reads = reads.filter(|(stamp, _)| is_unordered(*stamp));
        let reads = reads.map(|(stamp, leaf)| (Kind::ATOMIC_READ, stamp, leaf));
        writes.chain(reads).next()
    }

    /// Where a write was made.
    pub fn place_of(&self, write: Timestamp) -> Node {
        let site = Writes::site(&self.state, write);
        site.map_or(Node::UNKNOWN, |site| site.leaf)
    }

    /// What a report says about a write.
    pub fn logged(&self, write: Timestamp) -> LoggedWrite {
        let site = Writes::site(&self.state, write);
        let is_plain = site.is_some_and(|site| site.operation == Operation::PlainWrite);
        let is_known = !is_plain && !self.mixed;
        let writer = self.state.writer(write);
        LoggedWrite {
            thread: writer.and_then(thread::owner),
            value: is_known
                .then(|| self.writes.value(&self.state, write))
                .flatten(),
            write: site,
            epoch: writer.map_or(0, |stamp| stamp.epoch.number()),
        }
    }
}
