//! What is known of memory, found from its address in two loads.
//!
//! A table over the whole address space points to *chunks*, one per 4 MiB of the program's memory, mapped when they
//! are first needed. Per *granule* of 8 bytes a chunk has the last plain accesses ([`Cells`], see [`crate::race`]), where
//! they came from, and a pointer to the granule's atomic locations and locks ([`crate::location`]). Everything starts as zero,
//! pages that were never touched cost nothing, and a byte per 4 KiB page of the program says whether there is
//! anything to forget.
//!
//! **Cost**: 48 bytes per granule that was accessed (16 of them are not looked at on the fast path), 8 more in
//! pages with atomic locations.

mod kept;
mod kind;
pub mod plain;

#[cfg(test)]
pub(crate) use kept::forget as forget_kept;
pub(crate) use kept::{keep, lock as kept_lock, with_kept};
pub use kind::Kind;
pub(crate) use kind::{FREED, stamp};

use crate::mapping::{Spare, map_described, map_zeroed};
use crate::system::own_call;
use crate::upcall::upcalls;
use std::arch::asm;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// log2 of the bytes of a granule.
const GRANULE_BITS: usize = 3;
/// log2 of the bytes that a chunk describes.
pub(crate) const CHUNK_BITS: usize = 22;
/// log2 of the bytes that one byte of flags describes.
const PAGE_BITS: usize = 12;
/// The same as a number of bytes.
pub(crate) const PAGE: usize = 1 << PAGE_BITS;
/// Addresses of user space.
const ADDRESS_BITS: usize = 47;
/// Accesses remembered per granule.
pub const CELLS: usize = 4;
/// From this many pages on, forgetting gives the memory back instead of clearing it.
const MANY_PAGES: usize = 16;

const GRANULES: usize = 1 << (CHUNK_BITS - GRANULE_BITS);
const PAGES: usize = 1 << (CHUNK_BITS - PAGE_BITS);
pub(crate) const CHUNKS: usize = 1 << (ADDRESS_BITS - CHUNK_BITS);
const GRANULES_PER_PAGE: usize = 1 << (PAGE_BITS - GRANULE_BITS);

/// Page flag: some cell is in use.
pub const HAS_CELLS: u8 = 1;
/// Page flag: some block is in use.
pub const HAS_BLOCKS: u8 = 2;
/// Page flag: some thread has learnt something from another by an atomic access. A hint.
pub const HAS_MEETINGS: u8 = 4;

/// The last accesses of a granule.
pub type Cells = [AtomicU64; CELLS];
/// Where they came from.
pub type Sites = [AtomicU32; CELLS];

/// What [`crate::location`] knows of a granule. Only it knows what is behind the pointer.
#[derive(Debug)]
pub struct Block {
    _unknown: [u8; 0],
}

upcalls! {
    /// Forgets what begins in a range of memory, of the granule with this word.
    "rsan_up_forget_block" fn forget_block(word: &AtomicPtr<Block>, start: usize, end: usize);
}

/// What is known of 4 MiB of the program's memory. Lives in zeroed memory and is never freed.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Chunk {
    pages: [AtomicU8; PAGES],
    /// The chunk that was made before.
    before: AtomicPtr<Chunk>,
    /// So that what follows begins at a page, and can be given back.
    gap: [u8; 4096 - PAGES - size_of::<usize>()],
    cells: [Cells; GRANULES],
    sites: [Sites; GRANULES],
    blocks: [AtomicPtr<Block>; GRANULES],
}

// Only whole pages can be given back to the system: anything else is an error, and nothing would be forgotten.
const _: () = {
    assert!(std::mem::offset_of!(Chunk, cells).is_multiple_of(4096));
    assert!(std::mem::offset_of!(Chunk, sites).is_multiple_of(4096));
    assert!((GRANULES_PER_PAGE * size_of::<Cells>()).is_multiple_of(4096));
    assert!((GRANULES_PER_PAGE * size_of::<Sites>()).is_multiple_of(4096));
};

/// The bits of an address that say which granule of its chunk it is in.
pub(crate) const GRANULE_IN_CHUNK: usize = (1 << CHUNK_BITS) - (1 << GRANULE_BITS);
/// Where the cells begin in a chunk.
#[cfg(test)]
pub(crate) const CELLS_IN_CHUNK: usize = std::mem::offset_of!(Chunk, cells);

// So that cells are found by 4 times those bits.
const _: () = assert!(size_of::<Cells>() == 4 << GRANULE_BITS);

/// A granule, with its chunk.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Granule {
    chunk: &'static Chunk,
    index: usize,
}

/// A chunk for each part of the address space.
pub type Table = [AtomicPtr<Chunk>; CHUNKS];

static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

/// The chunk that was made last.
static LAST: AtomicPtr<Chunk> = AtomicPtr::new(std::ptr::null_mut());

/// Chunks that were made in vain.
static SPARE: Spare<Chunk> = Spare::none();

/// Whether a copy of the process gets what is known of memory; otherwise it is made much faster, and must not look.
pub(crate) fn inherit(inherit: bool) {
    let advice = if inherit {
        libc::MADV_DOFORK
    } else {
        libc::MADV_DONTFORK
    };
    let advise = |start: usize, end: usize| {
        // SAFETY: chunks are mappings that are never freed; the advice does not change what they hold.
        unsafe {
            own_call(
                libc::SYS_madvise,
                [start, end - start, advice as usize, 0, 0, 0],
            )
        };
    };
    // ORDERING: acquire, with the exchange in `remember`.
    let mut chunk = LAST.load(Ordering::Acquire);
    // Mostly each lies beside the one before, and one call is enough for many.
    let (mut start, mut end) = (chunk.addr(), chunk.addr());
    while !chunk.is_null() {
        let (low, high) = (chunk.addr(), chunk.addr() + size_of::<Chunk>());
        if low == end {
            end = high;
        } else if high == start {
            start = low;
        } else {
            advise(start, end);
            (start, end) = (low, high);
        }
        // SAFETY: chunks are never freed.
        // ORDERING: relaxed; set before the chunk could be found.
        chunk = unsafe { &(*chunk).before }.load(Ordering::Relaxed);
    }
    if start != end {
        advise(start, end);
    }
}

/// Notes a new chunk, for [`inherit`].
fn remember(chunk: *mut Chunk) {
    // ORDERING: relaxed; the exchange says whether it was right.
    let mut last = LAST.load(Ordering::Relaxed);
    loop {
        // SAFETY: chunks are never freed.
        let before = unsafe { &(*chunk).before };
        // ORDERING: relaxed; published by the exchange.
        before.store(last, Ordering::Relaxed);
        // ORDERING: release, with the acquire in `inherit`.
        match LAST.compare_exchange_weak(last, chunk, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => last = other,
        }
    }
}

/// Sets up the table. To be called once, before any thread context exists.
pub fn start() {
    let table = map_zeroed::<Table>(1);
    // ORDERING: release, with the acquire in `table`.
    TABLE.store(table, Ordering::Release);
    plain::start(table);
}

#[inline(always)]
fn table() -> &'static Table {
    let table: *const Table;
    // SAFETY: loads the word, in one instruction where the compiler would take its address from memory first.
    // ORDERING: acquire, as all loads of x86-64 are, with the release in `start`.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + {1}]",
            out(reg) table,
            sym TABLE,
            options(nostack, preserves_flags, readonly),
        );
    }
    debug_assert!(!table.is_null(), "contexts exist only after the start");
    // SAFETY: set by `start` to zeroed memory, which is a table of null pointers, and never freed.
    unsafe { &*table }
}

/// The chunk of an address, if it is there.
#[inline(always)]
pub fn chunk_at(address: usize) -> Option<&'static Chunk> {
    let slot = table().get(address >> CHUNK_BITS)?;
    // ORDERING: acquire, with the exchange in `create`.
    let chunk = slot.load(Ordering::Acquire);
    // SAFETY: null, or a chunk, which is zeroed memory, valid as such, and never freed.
    unsafe { chunk.as_ref() }
}

impl Granule {
    /// The granule of an address, if it is one of user space.
    #[inline]
    pub fn of(address: usize) -> Option<Self> {
        Self::existing(address).or_else(|| {
            create(table().get(address >> CHUNK_BITS)?);
            Self::existing(address)
        })
    }

    /// The same, if its chunk is there.
    #[inline(always)]
    pub fn existing(address: usize) -> Option<Self> {
        Self::within(chunk_at(address)?, address)
    }

    /// The granule of an address in its chunk.
    #[inline(always)]
    pub fn within(chunk: &'static Chunk, address: usize) -> Option<Self> {
        let index = (address & GRANULE_IN_CHUNK) >> GRANULE_BITS;
        (address >> ADDRESS_BITS == 0).then_some(Self { chunk, index })
    }

    #[inline(always)]
    fn index(self) -> usize {
        // SAFETY: so it was made, in `within` and `after`.
        unsafe { std::hint::assert_unchecked(self.index < GRANULES) };
        self.index
    }

    /// Its last accesses.
    #[inline]
    pub fn cells(self) -> &'static Cells {
        &self.chunk.cells[self.index()]
    }

    /// Whether no access is remembered.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        let cells = self.cells();
        // ORDERING: relaxed; a cell is one word and stands for itself.
        let at = |index: usize| cells[index].load(Ordering::Relaxed);
        at(0) | at(1) | at(2) | at(3) == 0
    }

    /// Where they came from.
    #[inline]
    pub fn sites(self) -> &'static Sites {
        &self.chunk.sites[self.index()]
    }

    /// Its atomic locations and locks.
    #[inline]
    pub fn block(self) -> &'static AtomicPtr<Block> {
        &self.chunk.blocks[self.index()]
    }

    /// Whether its page has this flag.
    #[inline]
    pub fn has(self, flag: u8) -> bool {
        // ORDERING: relaxed; set by the same thread, or it does not matter yet.
        self.page().load(Ordering::Relaxed) & flag != 0
    }

    /// Sets a flag of its page.
    #[inline]
    pub fn set(self, flag: u8) {
        if !self.has(flag) {
            // ORDERING: relaxed; see `has`.
            self.page().fetch_or(flag, Ordering::Relaxed);
        }
    }

    /// The flags of its page.
    #[inline]
    pub fn flags(self) -> u8 {
        // ORDERING: relaxed, as in `has`.
        self.page().load(Ordering::Relaxed)
    }

    /// Whether it may have atomic locations or locks.
    #[inline(always)]
    pub fn has_locations(self) -> bool {
        // ORDERING: relaxed; who wants to use it loads it again.
        self.has(HAS_BLOCKS) && !self.block().load(Ordering::Relaxed).is_null()
    }

    /// The one that comes so many after it, in the same chunk or at its end.
    #[inline(always)]
    #[must_use]
    pub fn after(self, count: usize) -> Self {
        let index = (self.index() + count) % GRANULES;
        Self { index, ..self }
    }

    /// The last accesses of so many granules from this one on, in the same chunk.
    #[inline(always)]
    pub fn cells_of(self, count: usize) -> &'static [Cells] {
        &self.chunk.cells[self.index()..][..count]
    }

    #[inline]
    fn page(self) -> &'static AtomicU8 {
        &self.chunk.pages[self.index() / GRANULES_PER_PAGE]
    }
}

#[cold]
fn create(slot: &AtomicPtr<Chunk>) {
    let fresh = SPARE.or(map_described);
    // ORDERING: acquire-release, with itself and the load in `Granule::existing`.
    match slot.compare_exchange(
        std::ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => remember(fresh),
        Err(_) => SPARE.keep(fresh),
    }
}

/// A part of a range of memory that is within a page.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    /// Its first granule.
    pub granule: Granule,
    /// Its first byte.
    pub start: usize,
    /// What comes after it.
    pub end: usize,
}

/// The parts of a range, as far as it is in user space.
#[inline]
pub fn pages(start: usize, size: usize) -> impl Iterator<Item = Strip> {
    let last = start.saturating_add(size);
    let mut at = start;
    std::iter::from_fn(move || {
        let start = at;
        let granule = (start < last).then(|| Granule::of(start))??;
        at = (((start >> PAGE_BITS) + 1) << PAGE_BITS).min(last);
        Some(Strip {
            granule,
            start,
            end: at,
        })
    })
}

/// Has chunks for a range of memory.
pub(crate) fn prepare(start: usize, end: usize) {
    for at in (start >> CHUNK_BITS)..=((end - 1) >> CHUNK_BITS) {
        Granule::of(at << CHUNK_BITS);
    }
}

/// Forgets everything about a range of memory: it was freed, or begins a new life. Bytes of the first and last
/// granule that are not in the range are forgotten too, except for their atomic locations.
pub fn forget(start: usize, size: usize) {
    in_chunks(start, size, Chunk::forget);
}

/// Forgets the atomic locations and locks in a range of memory.
pub fn forget_locations(start: usize, size: usize) {
    in_chunks(start, size, Chunk::forget_locations);
}

fn in_chunks(start: usize, size: usize, act: fn(&Chunk, usize, usize)) {
    let end = start.saturating_add(size).min(1 << ADDRESS_BITS);
    let mut at = start;
    while at < end {
        let next = ((at >> CHUNK_BITS) + 1) << CHUNK_BITS;
        // ORDERING: acquire, with the exchange in `create`.
        let chunk = table()[at >> CHUNK_BITS].load(Ordering::Acquire);
        if !chunk.is_null() {
            // SAFETY: chunks are never freed.
            act(unsafe { &*chunk }, at, next.min(end));
        }
        at = next;
    }
}

/// The granules of a range that lie in one page of a chunk, both ends included.
struct Part {
    page: usize,
    from: usize,
    to: usize,
}

/// The parts of a range that lies within a chunk.
fn parts(start: usize, end: usize) -> impl DoubleEndedIterator<Item = Part> + Clone {
    let inside = (1 << CHUNK_BITS) - 1;
    let (first, last) = (start & inside, (end - 1) & inside);
    (first >> PAGE_BITS..=last >> PAGE_BITS).map(move |page| Part {
        page,
        from: first.max(page << PAGE_BITS) >> GRANULE_BITS,
        to: last.min((page << PAGE_BITS) + (1 << PAGE_BITS) - 1) >> GRANULE_BITS,
    })
}

impl Chunk {
    /// Forgets a range that lies within the chunk.
    fn forget(&self, start: usize, end: usize) {
        self.forget_locations(start, end);
        let mut whole = 0;
        let pages = parts(start, end);
        let past = pages.clone().next_back().map_or(0, |part| part.page + 1);
        for Part { page, from, to } in pages {
            let is_whole = to + 1 - from == GRANULES_PER_PAGE;
            // ORDERING: relaxed; whoever uses the memory next learns of it through the program's own means.
            let used = self.pages[page].load(Ordering::Relaxed) & HAS_CELLS != 0;
            if used && is_whole {
                // ORDERING: relaxed, as above.
                self.pages[page].fetch_and(!HAS_CELLS, Ordering::Relaxed);
                whole += 1;
                continue;
            }
            self.release_pages(page - whole, whole);
            whole = 0;
            if used {
                self.clear(from, to);
            }
        }
        self.release_pages(past - whole, whole);
    }

    fn forget_locations(&self, start: usize, end: usize) {
        for Part { page, from, to } in parts(start, end) {
            // ORDERING: relaxed, as in `forget`.
            if self.pages[page].load(Ordering::Relaxed) & HAS_BLOCKS == 0 {
                continue;
            }
            for block in &self.blocks[from..=to] {
                // ORDERING: relaxed; who wants to use it loads it again.
                if !block.load(Ordering::Relaxed).is_null() {
                    forget_block(block, start, end);
                }
            }
        }
    }

    fn clear(&self, from: usize, to: usize) {
        kept::forget(&self.cells[from..=to]);
        for cells in &self.cells[from..=to] {
            for cell in cells {
                // ORDERING: relaxed, as in `forget`.
                cell.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Clears the cells of whole pages; if they are many, gives the memory back.
    fn release_pages(&self, page: usize, count: usize) {
        if count == 0 {
            return;
        }
        let from = page * GRANULES_PER_PAGE;
        let to = from + count * GRANULES_PER_PAGE - 1;
        if count < MANY_PAGES {
            self.clear(from, to);
            return;
        }
        let (cells, sites) = (&self.cells[from..=to], &self.sites[from..=to]);
        kept::forget(cells);
        // Sites mean nothing without their cells; they are only given back.
        for (start, bytes) in [
            (cells.as_ptr().cast::<u8>(), size_of_val(cells)),
            (sites.as_ptr().cast::<u8>(), size_of_val(sites)),
        ] {
            // SAFETY: the rows of whole pages are whole pages of this private mapping; they read as zero afterwards,
            // which is a valid state.
            unsafe {
                libc::syscall(libc::SYS_madvise, start, bytes, libc::MADV_DONTNEED);
            }
        }
    }
}
