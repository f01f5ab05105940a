//! Blocks of the allocator: who allocated the memory at an address, where, and who freed it.
//!
//! A record for each place where a block can start, found from its address in two loads: a table over the address
//! space points to *regions* of 4 MiB, mapped when they are first needed. A record stays when its block is freed, until
//! memory there is allocated again; so a block that was freed lately is still known.
//!
//! **Invariant**: no record starts inside a younger block, for allocating clears them. So the nearest record
//! before an address is the only one that can cover it.
//!
//! **Cost**: three words are written per allocation, two per free, without a lock; 24 bytes per 32 bytes of pages in
//! which blocks start. A word counts the changes of a record, so that a reader notices one that is being changed.

use crate::finding::{Operation, Side};
use crate::mapping::{Spare, map_zeroed};
use crate::stack::Node;
use crate::thread::Entered;
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence};

/// log2 of the smallest distance of two blocks of glibc's allocator.
const START_BITS: usize = 5;
const REGION_BITS: usize = 22;
const PAGE_BITS: usize = 12;
const ADDRESS_BITS: usize = 47;

const RECORDS: usize = 1 << (REGION_BITS - START_BITS);
const PAGES: usize = 1 << (REGION_BITS - PAGE_BITS);
const REGIONS: usize = 1 << (ADDRESS_BITS - REGION_BITS);
const RECORDS_PER_PAGE: usize = 1 << (PAGE_BITS - START_BITS);

/// How far before an address the start of its block is looked for.
const FARTHEST: usize = 1 << 36;

/// `version:14 freed:1 offset of the start in its 32 bytes:1 (in units of 16) size + 1:48`; 0 means no block.
#[derive(Debug)]
struct Record {
    state: AtomicU64,
    /// `thread:32 node:32`
    allocated: AtomicU64,
    /// The same.
    freed: AtomicU64,
}

const FREED: u64 = 1 << 49;
const ODD: u64 = 1 << 48;
const SIZE: u64 = ODD - 1;
const VERSION: u64 = 1 << 50;

/// Lives in zeroed memory and is never freed.
#[derive(Debug)]
struct Region {
    /// Whether a block starts in the page.
    pages: [AtomicU8; PAGES],
    records: [Record; RECORDS],
}

type Table = [AtomicPtr<Region>; REGIONS];

static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

/// Regions that were made in vain.
static SPARE: Spare<Region> = Spare::none();

/// Sets up the table. To be called once, before any thread context exists.
pub fn start() {
    // ORDERING: release, with the acquire in `slot`.
    TABLE.store(map_zeroed::<Table>(1), Ordering::Release);
}

fn slot(address: usize) -> Option<&'static AtomicPtr<Region>> {
    // ORDERING: acquire, with the release in `start`.
    let table = TABLE.load(Ordering::Acquire);
    // SAFETY: null, or zeroed memory, which is a table of null pointers, and never freed.
    unsafe { table.as_ref() }?.get(address >> REGION_BITS)
}

fn existing(address: usize) -> Option<&'static Region> {
    // ORDERING: acquire, with the exchange in `region`.
    let region = slot(address)?.load(Ordering::Acquire);
    // SAFETY: null, or a region, which is never freed.
    unsafe { region.as_ref() }
}

fn region(address: usize) -> Option<&'static Region> {
    if let Some(region) = existing(address) {
        return Some(region);
    }
    // Before the start there is no table.
    let slot = slot(address)?;
    let fresh = SPARE.or(|| map_zeroed(1));
    // ORDERING: acquire-release, with itself and the load in `existing`.
    let result = slot.compare_exchange(
        std::ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    );
    let region = match result {
        Ok(_) => fresh,
        Err(other) => {
            SPARE.keep(fresh);
            other
        }
    };
    // SAFETY: never freed.
    Some(unsafe { &*region })
}

#[inline]
fn index(address: usize) -> usize {
    (address & ((1 << REGION_BITS) - 1)) >> START_BITS
}

fn context(me: &mut Entered) -> u64 {
    let node = me.leaf();
    u64::from(me.state.id().0) << 32 | u64::from(node.0)
}

fn unpack(word: u64) -> Option<Context> {
    (word != 0).then_some(Context {
        thread: ThreadId((word >> 32) as u32),
        node: Node(word as u32),
    })
}

/// The program got a block from the allocator.
pub fn allocated(me: &mut Entered, start: usize, size: usize) {
    let context = context(me);
    note(start, size, context);
}

fn note(start: usize, size: usize, context: u64) {
    let Some(region) = region(start) else { return };
    let first = index(start);
    let record = &region.records[first];
    // ORDERING: relaxed; one thread at a time owns the memory.
    let old = record.state.load(Ordering::Relaxed);
    // ORDERING: relaxed; see `Record::read`, which notices a change by the state.
    record.state.store(0, Ordering::Relaxed);
    fence(Ordering::Release);
    // ORDERING: relaxed, as above.
    record.allocated.store(context, Ordering::Relaxed);
    // ORDERING: relaxed, as above.
    record.freed.store(0, Ordering::Relaxed);
    let odd = if start & 16 == 0 { 0 } else { ODD };
    let state = (old & !(VERSION - 1)).wrapping_add(VERSION) | odd | (size as u64 + 1).min(SIZE);
    // ORDERING: release, with the acquire in `Record::read`.
    record.state.store(state, Ordering::Release);
    let page = &region.pages[first / RECORDS_PER_PAGE];
    // ORDERING: relaxed; read by reports, and by whoever owns the memory next.
    if page.load(Ordering::Relaxed) == 0 {
        // ORDERING: relaxed, as above.
        page.store(1, Ordering::Relaxed);
    }
    if size > 16 {
        clear_after(start, start.saturating_add(size - 1));
    }
}

/// Clears the records of blocks that started inside a new one.
fn clear_after(start: usize, last: usize) {
    let mut at = (start >> START_BITS) + 1;
    let end = last >> START_BITS;
    while at <= end {
        let past_page = (at / RECORDS_PER_PAGE + 1) * RECORDS_PER_PAGE;
        let address = at << START_BITS;
        let used = existing(address).filter(|region| {
            // ORDERING: relaxed; see `note`.
            region.pages[index(address) / RECORDS_PER_PAGE].load(Ordering::Relaxed) != 0
        });
        if let Some(region) = used {
            let count = past_page.min(end + 1) - at;
            let records = &region.records[index(address)..][..count];
            for (record, place) in records.iter().zip(at..) {
                // ORDERING: relaxed, as in `note`.
                let state = record.state.load(Ordering::Relaxed);
                // The last 32 bytes may have the start of the next block, which is not inside.
                if state & SIZE != 0 && start_of(place << START_BITS, state) <= last {
                    // ORDERING: relaxed, as in `note`.
                    record
                        .state
                        .store(state & !(VERSION - 1), Ordering::Relaxed);
                }
            }
        }
        at = past_page;
    }
}

/// A block was allocated by a thread that is not looked at: nothing is known of it, but that it is there.
pub fn allocated_unseen(start: usize, size: usize) {
    note(start, size, 0);
}

/// The program gives a block back.
pub fn freed(me: &mut Entered, start: usize) {
    let context = context(me);
    note_freed(start, context);
}

/// A block was freed by a thread that is not looked at.
pub fn freed_unseen(start: usize) {
    note_freed(start, 0);
}

fn note_freed(start: usize, context: u64) {
    let Some(region) = existing(start) else {
        return;
    };
    let record = &region.records[index(start)];
    // ORDERING: relaxed, as in `note`.
    let state = record.state.load(Ordering::Relaxed);
    if state & SIZE == 0 {
        return;
    }
    // ORDERING: relaxed; published by the state.
    record.freed.store(context, Ordering::Relaxed);
    // ORDERING: release, with the acquire in `Record::read`.
    record
        .state
        .store(state.wrapping_add(VERSION) | FREED, Ordering::Release);
}

/// The block that starts at an address, or started there until it was freed.
pub fn starting_at(start: usize) -> Option<HeapBlock> {
    let place = start >> START_BITS << START_BITS;
    let record = &existing(start)?.records[index(start)];
    record.read(place).filter(|block| block.start == start)
}

/// The size of the block that starts at an address, if it is not freed.
pub fn size_of_live(start: usize) -> Option<usize> {
    let record = &existing(start)?.records[index(start)];
    // ORDERING: relaxed; the program knows whether somebody frees the block at this moment.
    let is_freed = record.state.load(Ordering::Relaxed) & FREED != 0;
    let block = starting_at(start)?;
    (!is_freed).then_some(block.size)
}

/// Who did something, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// Who.
    pub thread: ThreadId,
    /// The stack, with the call itself.
    pub node: Node,
}

impl Context {
    /// What was done, for a report.
    pub fn side(self, operation: Operation) -> Side {
        Side::plain(Some(self.thread), operation, self.node.as_site())
    }
}

/// A block of the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapBlock {
    /// Where it starts.
    pub start: usize,
    /// How many bytes the program asked for.
    pub size: usize,
    /// Who allocated it.
    pub allocated: Option<Context>,
    /// Who freed it, if it was.
    pub freed: Option<Context>,
}

/// Where a block starts whose record has a state, in the 32 bytes from `at` on.
fn start_of(at: usize, state: u64) -> usize {
    at + if state & ODD == 0 { 0 } else { 16 }
}

impl Record {
    /// The block, unless there is none or it is changing right now.
    fn read(&self, at: usize) -> Option<HeapBlock> {
        // ORDERING: acquire, with the releases in `note` and `freed`.
        let state = self.state.load(Ordering::Acquire);
        // ORDERING: relaxed; valid if the state is the same afterwards.
        let words = [&self.allocated, &self.freed].map(|word| word.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        // ORDERING: relaxed, after the fence.
        if self.state.load(Ordering::Relaxed) != state || state & SIZE == 0 {
            return None;
        }
        Some(HeapBlock {
            start: start_of(at, state),
            size: (state & SIZE) as usize - 1,
            allocated: unpack(words[0]),
            freed: unpack(words[1]).filter(|_| state & FREED != 0),
        })
    }
}

/// The block that an address belongs to, or belonged to lately.
pub fn find(address: usize) -> Option<HeapBlock> {
    let mut at = address >> START_BITS;
    let oldest = address.saturating_sub(FARTHEST) >> START_BITS;
    while at > oldest {
        let here = at << START_BITS;
        let first = at / RECORDS_PER_PAGE * RECORDS_PER_PAGE;
        let Some(region) = existing(here) else {
            at = (here >> REGION_BITS << REGION_BITS >> START_BITS).checked_sub(1)?;
            continue;
        };
        // ORDERING: relaxed; see `note`.
        if region.pages[index(here) / RECORDS_PER_PAGE].load(Ordering::Relaxed) != 0 {
            for number in (first..=at).rev() {
                let place = number << START_BITS;
                let Some(block) = region.records[index(place)].read(place) else {
                    continue;
                };
                if block.start > address {
                    continue;
                }
                let inside = address - block.start < block.size.max(1);
                return inside.then_some(block);
            }
        }
        at = first.checked_sub(1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(thread: u32, node: u32) -> u64 {
        u64::from(thread) << 32 | u64::from(node)
    }

    #[test]
    fn blocks_are_found_from_any_of_their_bytes() {
        // The table is per process; these addresses are nobody's.
        if TABLE.load(Ordering::Acquire).is_null() {
            start();
        }
        let base = 0x1234_0000_0000usize;
        note(base + 16, 24, word(1, 7));
        note(base + 64, 3 << 20, word(2, 8));
        let start = |address: usize| starting_at(address).map(|block| block.freed.is_some());
        assert_eq!((start(base), start(base + 16)), (None, Some(false)));
        note_freed(base + 16, word(4, 5));
        assert_eq!((start(base), start(base + 16)), (None, Some(true)));
        let size = |address: usize| find(address).map(|block| (block.start - base, block.size));
        assert_eq!(size(base + 15), None);
        assert_eq!(size(base + 16), Some((16, 24)));
        assert_eq!(size(base + 39), Some((16, 24)));
        assert_eq!(size(base + 40), None);
        assert_eq!(size(base + 64 + (3 << 20) - 1), Some((64, 3 << 20)));
        assert_eq!(size(base + 64 + (3 << 20)), None);
        assert_eq!(size_of_live(base + 64), Some(3 << 20));
        assert_eq!(
            (size_of_live(base + 16), size_of_live(base + 65)),
            (None, None)
        );
        let block = find(base + 5000).expect("inside the second block");
        let by = Context {
            thread: ThreadId(2),
            node: Node(8),
        };
        assert_eq!((block.allocated, block.freed), (Some(by), None));
        // Blocks that follow each other; each ends in the 32 bytes in which the next one starts.
        let near = base + (8 << 20);
        for number in [0, 2, 1, 3] {
            note(near + 16 + 32 * number, 24, word(1, 7));
        }
        let live = (0..4).filter_map(|number| size_of_live(near + 16 + 32 * number));
        assert_eq!(live.collect::<Vec<_>>(), [24; 4]);
        // A block that begins before an old one and covers it.
        note(base, 4096, word(3, 9));
        assert_eq!(size(base + 20), Some((0, 4096)));
        assert_eq!(size(base + 100), Some((0, 4096)));
        assert_eq!(size(base + 4096), None);
    }
}
