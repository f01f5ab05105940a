//! What is known of the atomic locations and locks in one granule, under one lock.

use crate::lock::{Lock, RawLock};
use crate::options::Options;
use crate::shadow::{Granule, HAS_BLOCKS};
use crate::stack::Site;
use crate::sync::SyncState;
use crate::value::Values;
use rsan_clocks::write_log::{LocationState, Rules, ThreadState};
use rsan_clocks::{Access, Effect, Timestamp, Violation};
use rsan_model::{LocId, ThreadId, Value};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The locations of a granule. Created when the first is, never freed: it is found without a lock.
#[derive(Debug, Default)]
pub struct Block {
    lock: RawLock,
    /// Counts the writes to its locations, before they take effect; see [`crate::atomic::load`].
    version: AtomicU64,
    items: UnsafeCell<Items>,
}

// SAFETY: `items` is only reached through a `Locked`, which holds the lock.
unsafe impl Sync for Block {}

#[derive(Debug, Default)]
struct Items {
    atomics: Vec<(usize, Box<Location>)>,
    syncs: Vec<(usize, Box<SyncState>)>,
}

/// All blocks, for fork.
static BLOCKS: Lock<Vec<&'static Block>> = Lock::new(Vec::new());

/// Takes the locks of all blocks, and the one that new blocks need. For the time of a fork.
pub(crate) fn lock_all() {
    BLOCKS.raw().lock();
    for block in all_blocks() {
        block.lock.lock();
    }
}

/// Undoes [`lock_all`].
pub(crate) fn unlock_all() {
    for block in all_blocks() {
        block.lock.unlock();
    }
    BLOCKS.raw().unlock();
}

/// The list, between [`lock_all`] and [`unlock_all`].
fn all_blocks() -> Vec<&'static Block> {
    // SAFETY: the lock is held since `lock_all`; the guard does not give it back.
    let guard = std::mem::ManuallyDrop::new(unsafe { BLOCKS.assume_locked() });
    guard.to_vec()
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
        // ORDERING: acquire, with the exchange in `create`.
        let block = granule.block().load(Ordering::Acquire);
        let block = if block.is_null() {
            create(granule)
        } else {
            // SAFETY: blocks are never freed.
            unsafe { &*block }
        };
        block.lock.lock();
        Some(Self { block })
    }

    /// Locks the block of a granule if there is one.
    #[inline]
    pub fn existing(granule: Granule) -> Option<Self> {
        // ORDERING: acquire, with the exchange in `create`.
        let block = granule.block().load(Ordering::Acquire);
        if block.is_null() {
            return None;
        }
        // SAFETY: blocks are never freed.
        let block = unsafe { &*block };
        block.lock.lock();
        Some(Self { block })
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

    /// The atomic location at an address of the block, which holds `bits` if nothing is known of it yet.
    #[inline]
    pub fn location(
        &mut self,
        address: usize,
        bytes: usize,
        bits: impl FnOnce() -> u128,
    ) -> &mut Location {
        let atomics = &mut self.items().atomics;
        let index = match atomics.iter().position(|item| item.0 == address) {
            Some(index) => index,
            None => {
                atomics.push((address, Box::new(Location::new(bytes, bits()))));
                atomics.len() - 1
            }
        };
        let location = &mut *atomics[index].1;
        location.mixed |= location.bytes != bytes;
        location
    }

    /// The atomic locations that overlap a range.
    pub fn overlapping(&mut self, start: usize, end: usize) -> impl Iterator<Item = &mut Location> {
        let atomics = self.items().atomics.iter_mut();
        atomics
            .filter(move |(at, location)| *at < end && start < at + location.bytes)
            .map(|(_, location)| &mut **location)
    }

    /// The lock, semaphore or the like at an address of the block.
    pub fn sync(&mut self, address: usize) -> &mut SyncState {
        let syncs = &mut self.items().syncs;
        let index = match syncs.iter().position(|item| item.0 == address) {
            Some(index) => index,
            None => {
                syncs.push((address, Box::default()));
                syncs.len() - 1
            }
        };
        &mut syncs[index].1
    }

    /// Forgets the lock or the like at an address.
    pub fn forget_sync(&mut self, address: usize) {
        self.items().syncs.retain(|item| item.0 != address);
    }
}

#[cold]
fn create(granule: Granule) -> &'static Block {
    let fresh = Box::into_raw(Box::<Block>::default());
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
            // SAFETY: from now on it is never freed.
            let block = unsafe { &*fresh };
            BLOCKS.lock().push(block);
            block
        }
        Err(other) => {
            // SAFETY: just made here, nobody else knows it; the other one is never freed.
            unsafe {
                drop(Box::from_raw(fresh));
                &*other
            }
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
    fn announce_write(&self) {
        // ORDERING: relaxed; only holders of the lock write it.
        let version = self.version.load(Ordering::Relaxed);
        // ORDERING: release; the program's write follows and is seq_cst, so whoever sees it sees this.
        self.version.store(version + 1, Ordering::Release);
    }

    /// Forgets what begins in a range of memory.
    pub fn forget(&'static self, start: usize, end: usize) {
        self.lock.lock();
        let mut locked = Locked { block: self };
        locked.announce_write();
        let items = locked.items();
        let outside = |at: usize| at < start || end <= at;
        items.atomics.retain(|item| outside(item.0));
        items.syncs.retain(|item| outside(item.0));
    }
}

/// A write, as a report shows it.
#[derive(Clone, Copy, Debug)]
pub struct WriteSite {
    /// Where.
    pub site: Site,
    /// What: the operation's name.
    pub operation: &'static str,
    /// Its memory order.
    pub order: &'static str,
}

/// What a report says about a write in the log.
#[derive(Clone, Copy, Debug)]
pub struct LoggedWrite {
    /// Who; `None` for what was there before.
    pub thread: Option<ThreadId>,
    /// The value written, if known.
    pub value: Option<u128>,
    /// Where and how, if known.
    pub write: Option<WriteSite>,
}

/// An atomic location.
#[derive(Debug)]
pub struct Location {
    bytes: usize,
    /// Accessed with several sizes: values and "the last write" no longer mean what the monitor thinks.
    mixed: bool,
    state: LocationState,
    values: Values,
    /// Where the writes of the log came from, newest last; may be longer than the log.
    sites: Vec<Option<WriteSite>>,
    /// The last write whose value is not known.
    unknown: Option<Timestamp>,
}

impl Location {
    fn new(bytes: usize, bits: u128) -> Self {
        let mut values = Values::default();
        let value = values.written(bytes, bits, 1);
        Self {
            bytes,
            mixed: false,
            state: LocationState::new(value, Rules::c20()),
            values,
            sites: vec![None],
            unknown: None,
        }
    }

    /// The monitor's number for a value that is compared.
    #[inline]
    pub fn compared(&self, bits: u128) -> Value {
        self.values.compared(self.bytes, bits)
    }

    /// Asks the monitor, before the access takes effect.
    #[inline]
    pub fn check(&self, thread: &ThreadState, access: &Access<'_>) -> Option<Violation> {
        let by_value = matches!(access, Access::Cas { .. });
        if self.mixed || by_value && self.has_unknown_value() {
            return None;
        }
        self.state.check(thread, LocId(0), access, Rules::c20())
    }

    fn oldest(&self) -> Timestamp {
        Timestamp(self.state.last_write().0 + 1 - self.state.log_len().0 as u64)
    }

    fn has_unknown_value(&self) -> bool {
        self.unknown.is_some_and(|unknown| unknown >= self.oldest())
    }

    /// The monitor's number for a value that is written.
    #[inline]
    pub fn written(&mut self, bits: u128, options: &Options) -> Value {
        let keep = match options.log_cap {
            0 => usize::MAX,
            cap => 2 * cap.max(8) + 2,
        };
        self.values.written(self.bytes, bits, keep)
    }

    /// Tells the monitor what the access did.
    #[inline]
    pub fn apply(
        &mut self,
        thread: &mut ThreadState,
        effect: Effect,
        site: WriteSite,
        options: &Options,
    ) {
        self.state.apply(thread, effect, Rules::c20());
        if effect.value_written().is_some() {
            self.after_write(Some(site), options);
        }
    }

    /// A plain write hit the location; its value is not known.
    pub fn plain_write(&mut self, thread: &mut ThreadState, site: WriteSite, options: &Options) {
        self.state.plain_write(thread, 0, Rules::c20());
        self.unknown = Some(self.state.last_write());
        self.after_write(Some(site), options);
    }

    fn after_write(&mut self, site: Option<WriteSite>, options: &Options) {
        self.sites.push(site);
        let cap = (options.log_cap != 0).then_some(options.log_cap);
        if self.state.wants_pruning(cap) {
            // Without snapshots of the threads nothing is known to be useless; the log is only measured.
            self.state.prune(std::iter::empty());
            if let Some(cap) = cap {
                self.state.cut(cap);
            }
            let extra = self.sites.len().saturating_sub(self.state.log_len().0);
            self.sites.drain(..extra);
        }
    }

    /// What a report says about a write.
    pub fn logged(&self, write: &rsan_clocks::WriteRef) -> LoggedWrite {
        let age = self.state.last_write().0 - write.timestamp.0;
        let index = self.sites.len().checked_sub(1 + age as usize);
        let known = self.unknown != Some(write.timestamp);
        LoggedWrite {
            thread: write.thread,
            value: self.values.bits(write.value).filter(|_| known),
            write: index.and_then(|index| self.sites[index]),
        }
    }
}
