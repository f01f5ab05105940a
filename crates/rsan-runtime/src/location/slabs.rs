//! Where blocks come from: memory of their own, for they stay, and would lie between what the program frees.

use super::block::Block;
use crate::lock::Lock;
use crate::mapping::{map_huge, map_zeroed};
use std::mem::MaybeUninit;

/// Blocks that are mapped at a time, as long as there are few.
const SLAB: usize = 256;
/// So many slabs are few.
const FEW_SLABS: usize = 8;

/// Uninitialised from [`Slabs::used`] on, in the last one.
type Slab = [MaybeUninit<Block>];

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

/// A block without locations.
pub(super) fn take() -> &'static Block {
    let mut slabs = SLABS.lock();
    if let Some(free) = slabs.free.pop() {
        return free;
    }
    slabs.fill();
    let index = slabs.used;
    let slab = slabs.all.last().expect("there is one");
    let block = std::ptr::from_ref(&slab[index]).cast::<Block>().cast_mut();
    slabs.used += 1;
    // SAFETY: within the mapping, which is never freed, and nobody else was given the place.
    unsafe {
        block.write(Block::default());
        &*block
    }
}

/// A block has no locations any more, and is no granule's.
pub(super) fn give_back(block: &'static Block) {
    SLABS.lock().free.push(block);
}

/// Takes the locks of all blocks, and the one that new blocks need. For the time of a fork.
pub(crate) fn lock_all() {
    SLABS.raw().lock();
    for block in all_blocks() {
        block.lock().lock();
    }
}

/// Undoes [`lock_all`].
pub(crate) fn unlock_all() {
    for block in all_blocks() {
        block.lock().unlock();
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
