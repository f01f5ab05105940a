//! The runtime's own memory, apart from the program's.
//!
//! Records of the runtime between the blocks of the program's heap would spread these over more pages, and each page of
//! the heap costs many of shadow. So the runtime has mappings of its own: a block of up to [`LARGEST`] bytes has the size
//! of its *class* and comes from the class's free list, or from its *slab*, which is taken into use from its start on. A
//! larger one is of a class, too, whose sizes are powers of two: its pages go back to the system when it is freed, but its addresses stay, for
//! the next one, so that the size of the process does not move (see `mapping`). A block of more than [`HUGEST`] is a mapping, which goes back as a whole.
//!
//! A process that lives for a few steps only pays for each page that it writes. From `economise` on, blocks of all
//! classes lie side by side, those from before stay what they were, and all larger blocks are mappings.
//!
//! **Cost**: a lock per class, held for a few instructions. A block is at most a quarter larger than asked for, beyond
//! 128 bytes. Memory of a class stays its own: the peak of each class is kept.
//!
//! **Invariants**: under a lock of a class only the lock of the reserve is taken, and under that none. A thread
//! that holds one is busy, so that no signal handler of it comes back here. System calls are made directly, for `mmap`
//! and `syscall` are intercepted.

use crate::lock::{Lock, RawLock};
use crate::mapping;
use crate::system::system_call;
use crate::thread;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What `Vec`, `Box` and friends use in this library.
#[derive(Debug)]
pub struct Own;

const PAGE: usize = 4096;
/// What every block is aligned to, and the distance of the sizes of small classes.
const STEP: usize = 16;
/// log2 of the size up to which classes are [`STEP`] apart; beyond it there are four for each power of two.
const SMALL_BITS: usize = 7;
const SMALL: usize = (1 << SMALL_BITS) / STEP;
const LARGEST_BITS: usize = 16;
/// The size of the largest blocks that are kept when they are freed.
pub const LARGEST: usize = 1 << LARGEST_BITS;
const COUNT: usize = SMALL + 4 * (LARGEST_BITS - SMALL_BITS);
const HUGEST_BITS: usize = 25;
/// The size of the largest blocks whose addresses stay ours.
pub const HUGEST: usize = 1 << HUGEST_BITS;
/// Bytes that a class gets at a time, and their alignment. Pages that are not used yet cost nothing.
const SLAB: usize = 4 * LARGEST;
/// Slabs that are mapped at a time.
const SLABS: usize = 16;

/// The class of a block of this size, which is at most [`LARGEST`].
fn class_of(size: usize) -> usize {
    let last = size.max(1) - 1;
    if last < SMALL * STEP {
        return last / STEP;
    }
    let bits = last.ilog2() as usize;
    SMALL + 4 * (bits - SMALL_BITS) + (last >> (bits - 2) & 3)
}

/// How large the blocks of a class are.
fn size_of_class(class: usize) -> usize {
    match class.checked_sub(SMALL) {
        None => (class + 1) * STEP,
        Some(further) => (further % 4 + 5) << (further / 4 + SMALL_BITS - 2),
    }
}

/// What blocks of this space are aligned to, at least, where they lie side by side: whoever frees one leaves it to anybody whose block has the same space.
fn aligned(space: usize) -> usize {
    const LINES: usize = 128;
    (1 << space.trailing_zeros()).clamp(STEP, LINES)
}

/// What a block of the layout takes: the size of a class, or a number of pages. Sizes that are powers of two are
/// aligned to themselves.
fn space(layout: Layout) -> usize {
    let size = match layout.align() {
        ..=STEP => layout.size(),
        align => layout.size().max(align).next_power_of_two(),
    };
    if size <= LARGEST {
        size_of_class(class_of(size))
    } else if size <= HUGEST && !economises() {
        size.next_power_of_two()
    } else {
        size.next_multiple_of(PAGE)
    }
}

/// Whether a block of this space is a mapping.
fn is_mapping(space: usize) -> bool {
    space > HUGEST || space > LARGEST && economises()
}

/// The class of a larger block that is none.
fn large(space: usize) -> &'static Lock<Class> {
    &LARGE[space.ilog2() as usize - LARGEST_BITS - 1]
}

/// A free block holds the next one.
type Free = *mut Block;

struct Block {
    next: Free,
}

/// Blocks of one size.
#[repr(align(64))]
struct Class {
    free: Free,
    /// The rest of the slab, which was never used.
    slab: (usize, usize),
}

// SAFETY: the free blocks belong to the class.
unsafe impl Send for Class {}

static CLASSES: [Lock<Class>; COUNT] = [const { Lock::new(Class::EMPTY) }; COUNT];

/// Blocks of more than [`LARGEST`].
static LARGE: [Lock<Class>; HUGEST_BITS - LARGEST_BITS] =
    [const { Lock::new(Class::EMPTY) }; HUGEST_BITS - LARGEST_BITS];

/// Set by `economise`.
static ECONOMISES: AtomicBool = AtomicBool::new(false);

fn economises() -> bool {
    // ORDERING: relaxed; set while there is one thread.
    ECONOMISES.load(Ordering::Relaxed)
}

/// Slabs that no class has yet.
struct Reserve {
    next: usize,
    end: usize,
    /// Single blocks are taken instead of slabs.
    economise: bool,
}

static RESERVE: Lock<Reserve> = Lock::new(Reserve {
    next: 0,
    end: 0,
    economise: false,
});

/// Blocks of these addresses stay what they are when they are freed.
static KEPT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// From now on blocks of all sizes lie side by side. The calling thread is the only one.
pub(crate) fn economise() {
    // ORDERING: relaxed; there is one thread.
    ECONOMISES.store(true, Ordering::Relaxed);
    for class in &CLASSES {
        *class.lock() = Class::EMPTY;
    }
    let mut reserve = RESERVE.lock();
    reserve.economise = true;
    // ORDERING: relaxed; there is one thread.
    KEPT[0].store(
        reserve.end.saturating_sub((SLABS - 1) * SLAB),
        Ordering::Relaxed,
    );
    // ORDERING: relaxed, as above.
    KEPT[1].store(reserve.next, Ordering::Relaxed);
}

/// Where blocks are since then: no pointer of the program's leads there.
pub(crate) fn private() -> std::ops::Range<usize> {
    // ORDERING: relaxed; set while there was one thread.
    let start = KEPT[0].load(Ordering::Relaxed);
    start..start + (SLABS - 1) * SLAB
}

fn is_kept(block: *mut u8) -> bool {
    // ORDERING: relaxed; set while there is one thread.
    let [start, end] = [0, 1].map(|i: usize| KEPT[i].load(Ordering::Relaxed));
    (start..end).contains(&(block as usize))
}

/// Fresh zeroed memory, for good. Ends the process if there is none: the runtime cannot do without.
fn map(bytes: usize) -> usize {
    there(mapping::map_bytes(bytes))
}

fn there(place: isize) -> usize {
    match usize::try_from(place) {
        Ok(place) => place,
        Err(_) => crate::fatal::not_mapped(place, "the runtime's own records"),
    }
}

impl Reserve {
    /// More of it.
    fn fill(&mut self) {
        let bytes = SLABS * SLAB;
        let start = map(bytes).next_multiple_of(SLAB);
        // The first slab is lost if the mapping is not aligned.
        (self.next, self.end) = (start, start + bytes - SLAB);
        mapping::note(start, bytes - SLAB);
    }

    fn slab(&mut self) -> usize {
        if self.next == self.end {
            self.fill();
        }
        let slab = self.next;
        self.next += SLAB;
        slab
    }

    fn block(&mut self, size: usize, align: usize) -> usize {
        let mut block = self.next.next_multiple_of(align);
        if block + size > self.end {
            self.fill();
            block = self.next;
        }
        self.next = block + size;
        block
    }
}

impl Class {
    const EMPTY: Self = Self {
        free: std::ptr::null_mut(),
        slab: (0, 0),
    };

    fn take(&mut self, size: usize, align: usize) -> *mut u8 {
        let is_aligned = align <= aligned(size) || !economises();
        if !self.free.is_null() && is_aligned {
            let block = self.free;
            // SAFETY: a free block, which is large enough for this and belongs to the class.
            self.free = unsafe { (*block).next };
            return block.cast();
        }
        let (next, end) = &mut self.slab;
        if *end - *next < size {
            let mut reserve = RESERVE.lock();
            if reserve.economise {
                return reserve.block(size, align.max(aligned(size))) as *mut u8;
            }
            *next = reserve.slab();
            *end = *next + SLAB;
        }
        let block = *next;
        *next += size;
        block as *mut u8
    }

    /// A zeroed block, of a class of larger ones.
    fn take_large(&mut self, size: usize) -> *mut u8 {
        if self.free.is_null() {
            return map(size) as *mut u8;
        }
        let block = self.free;
        // SAFETY: a free block of the class; the rest of it is zero since it was freed.
        unsafe {
            self.free = (*block).next;
            (*block).next = std::ptr::null_mut();
        }
        block.cast()
    }

    /// # Safety
    /// The block is one of the class, and nobody uses it any more.
    unsafe fn give(&mut self, block: *mut u8) {
        let block = block.cast::<Block>();
        // SAFETY: blocks have room and alignment for this.
        unsafe { block.write(Block { next: self.free }) };
        self.free = block;
    }
}

/// Makes the thread busy, if it is not: see the invariants.
fn quietly<R>(act: impl FnOnce() -> R) -> R {
    let idle = thread::current().filter(|context| !context.is_busy());
    let _me = idle.and_then(|_| thread::enter_if_attached());
    act()
}

/// Larger alignments can't be had; nothing here asks for one.
fn is_possible(layout: Layout) -> bool {
    layout.align() <= PAGE
}

// SAFETY: blocks are disjoint, for each part of a slab is handed out once, and again only when it was given back; they
// are as large as their class, and as aligned as `space` says. Larger ones and mappings are aligned to pages.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = space(layout);
        if size > LARGEST && !is_possible(layout) {
            return std::ptr::null_mut();
        }
        if is_mapping(size) {
            return there(mapping::map_anywhere(size)) as *mut u8;
        }
        if size > LARGEST {
            return quietly(|| large(size).lock().take_large(size));
        }
        quietly(|| CLASSES[class_of(size)].lock().take(size, layout.align()))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let block = unsafe { self.alloc(layout) };
        // Larger blocks are zeroed.
        if space(layout) <= LARGEST {
            // SAFETY: just allocated with this size.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let size = space(layout);
        if is_mapping(size) {
            // SAFETY: a mapping of this size, which nobody uses any more.
            unsafe { system_call(libc::SYS_munmap, [block as usize, size, 0, 0, 0, 0]) };
            return;
        }
        if size > LARGEST {
            let forget = libc::MADV_DONTNEED as usize;
            // SAFETY: whole pages of a private mapping, which nobody uses any more; they read as zero afterwards.
            unsafe { system_call(libc::SYS_madvise, [block as usize, size, forget, 0, 0, 0]) };
            // SAFETY: the caller's promise.
            return quietly(|| unsafe { large(size).lock().give(block) });
        }
        if is_kept(block) {
            return;
        }
        // SAFETY: the caller's promise; the layout is that of the allocation.
        quietly(|| unsafe { CLASSES[class_of(size)].lock().give(block) });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (before, after) = (space(layout), space(wanted));
        if before == after {
            return block;
        }
        if is_mapping(before) && is_mapping(after) {
            let may_move = libc::MREMAP_MAYMOVE as usize;
            let arguments = [block as usize, before, after, may_move, 0, 0];
            // SAFETY: a mapping of this size, which is the caller's.
            return there(unsafe { system_call(libc::SYS_mremap, arguments) }) as *mut u8;
        }
        // SAFETY: the fresh block is as large as what is copied, and the old one is the caller's.
        unsafe {
            let fresh = self.alloc(wanted);
            std::ptr::copy_nonoverlapping(block, fresh, size.min(layout.size()));
            self.dealloc(block, layout);
            fresh
        }
    }
}

#[global_allocator]
static GLOBAL: Own = Own;

/// In the order in which they are taken.
fn locks() -> impl Iterator<Item = &'static RawLock> {
    let classes = CLASSES.iter().chain(&LARGE).map(Lock::raw);
    classes.chain(std::iter::once(RESERVE.raw()))
}

/// Takes the locks for the time of a fork. Nothing can be allocated until [`unlock_all`].
pub(crate) fn lock_all() {
    locks().for_each(RawLock::lock);
}

/// Undoes [`lock_all`].
pub(crate) fn unlock_all() {
    locks().for_each(RawLock::unlock);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_a_size_is_the_smallest_that_holds_it() {
        for size in 1..=LARGEST {
            let class = class_of(size);
            assert!(size <= size_of_class(class), "{size}");
            assert!(class == 0 || size_of_class(class - 1) < size, "{size}");
        }
        assert_eq!(class_of(LARGEST), COUNT - 1);
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn blocks_are_aligned_and_apart() {
        let sizes = [
            1,
            16,
            17,
            100,
            129,
            1000,
            5000,
            LARGEST,
            LARGEST + 1,
            1 << 20,
        ];
        let aligns = [1, 16, 64, 512, PAGE];
        let mut blocks = Vec::new();
        for (number, layout) in sizes
            .into_iter()
            .flat_map(|size| aligns.map(|align| layout(size, align)))
            .enumerate()
        {
            let fill = number as u8;
            // SAFETY: the size is not 0, and the block is filled up to it.
            let block = unsafe {
                let block = Own.alloc(layout);
                block.write_bytes(fill, layout.size());
                block
            };
            assert_eq!(block.align_offset(layout.align()), 0);
            blocks.push((block, layout, fill));
        }
        for (block, layout, fill) in blocks {
            // SAFETY: allocated and filled above, and given back once.
            unsafe {
                assert_eq!(*block, fill);
                assert_eq!(*block.add(layout.size() - 1), fill);
                Own.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn a_freed_block_is_aligned_for_all_that_may_get_it() {
        for size in [16, 64, 128, 4096, LARGEST] {
            assert_eq!(aligned(space(layout(size, 1))), size.min(128));
        }
        for (size, align) in [(24, 8), (40, 32), (100, 64), (4096, 128), (LARGEST, 64)] {
            assert!(aligned(space(layout(size, align))) >= align);
        }
        // Nobody else's block need fit.
        assert_eq!(aligned(48), 16);
    }

    #[test]
    fn a_block_keeps_its_contents_when_it_grows_and_shrinks() {
        let mut before = layout(1, 8);
        // SAFETY: a block of the allocator, used within its size and given back once.
        unsafe {
            let mut block = Own.alloc_zeroed(before);
            assert_eq!(*block, 0);
            *block = 7;
            for size in [
                20,
                300,
                LARGEST,
                3 * LARGEST,
                HUGEST,
                HUGEST + 1,
                3 * HUGEST,
                9 * LARGEST,
                LARGEST + 1,
                40,
            ] {
                block = Own.realloc(block, before, size);
                before = layout(size, 8);
                assert_eq!(*block, 7);
                *block.add(size - 1) = 7;
            }
            Own.dealloc(block, before);
        }
    }

    #[test]
    fn a_freed_block_is_the_next_one() {
        let mut class = Class::EMPTY;
        let (first, second) = (class.take(48, 16), class.take(48, 16));
        assert_eq!(second as usize - first as usize, 48);
        // SAFETY: a block of the class, given back once.
        unsafe { class.give(first) };
        assert_eq!(class.take(48, 16), first);
        assert_eq!(class.take(48, 16) as usize - second as usize, 48);
    }

    #[test]
    fn a_freed_larger_block_is_the_next_one_and_zeroed() {
        let size = 2 * LARGEST;
        let mut class = Class::EMPTY;
        let block = class.take_large(size);
        // SAFETY: a block of this size that is ours.
        unsafe {
            block.write_bytes(1, size);
            let forget = libc::MADV_DONTNEED as usize;
            system_call(libc::SYS_madvise, [block as usize, size, forget, 0, 0, 0]);
            class.give(block);
            assert_eq!(class.take_large(size), block);
            let bytes = std::slice::from_raw_parts(block, size);
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
        assert_ne!(class.take_large(size), block);
    }

    #[test]
    fn single_blocks_lie_side_by_side() {
        let mut reserve = Reserve {
            next: 0,
            end: 0,
            economise: true,
        };
        let first = reserve.block(48, 16);
        assert_eq!(reserve.block(1024, 16), first + 48);
        assert_eq!(
            reserve.block(64, 64),
            (first + 48 + 1024).next_multiple_of(64)
        );
        let end = reserve.end;
        assert_ne!(reserve.block(LARGEST, 16), 0);
        reserve.next = end - 16;
        assert!(!(first..end).contains(&reserve.block(32, 16)));
    }

    #[test]
    fn threads_have_blocks_of_their_own() {
        std::thread::scope(|scope| {
            for number in 0..4u8 {
                scope.spawn(move || {
                    let vectors: Vec<_> = (1..500).map(|size| vec![number; size]).collect();
                    assert!(vectors.iter().flatten().all(|byte| *byte == number));
                });
            }
        });
    }
}
