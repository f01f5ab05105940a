//! Blocks that are given back wrongly, and blocks that the allocator gets back later, so that their use is found.

use crate::finding::{Finding, Misuse, Operation, Side};
use crate::heap::{self, HeapBlock};
use crate::lock::{Lock, RawLock};
use crate::memory::Memory;
use crate::modules;
use crate::report;
use crate::sched;
use crate::thread::enter_if_attached;
use libc::c_void;
use std::collections::VecDeque;

/// Whether there is no such block to be freed, which is a finding then.
pub(super) fn is_wrong_free(start: usize) -> bool {
    if heap::starting_at(start).is_some_and(|block| block.freed.is_none()) {
        return false;
    }
    let Some(mut me) = enter_if_attached() else {
        return false;
    };
    let Some((what, block)) = judge(start) else {
        return false;
    };
    let earlier = block.and_then(|block| block.freed);
    let finding = Finding::Misuse {
        what,
        address: start,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), Operation::Free, me.site()),
        earlier: earlier.map(|free| free.side(Operation::Free)),
    };
    report::report(&mut me, &finding);
    true
}

/// What is wrong about a free. A block that is not known may be older than the runtime.
#[cold]
fn judge(start: usize) -> Option<(Misuse, Option<HeapBlock>)> {
    match heap::find(start) {
        Some(block) if block.start != start => Some((Misuse::InvalidFree, Some(block))),
        Some(block) => block.freed.map(|_| (Misuse::DoubleFree, Some(block))),
        None => match Memory::at(start, &modules::modules()) {
            Memory::Global { .. } | Memory::Stack(_) | Memory::ThreadLocal(_) => {
                Some((Misuse::InvalidFree, None))
            }
            Memory::Heap(_) | Memory::Descriptor(_) | Memory::Unknown => None,
        },
    }
}

/// How many freed blocks are kept, and how many bytes.
const BLOCKS: usize = 256;
const BYTES: usize = 1 << 20;

/// Freed blocks that are not to be used again yet, the oldest first.
#[derive(Debug)]
struct Kept {
    blocks: VecDeque<(usize, usize)>,
    bytes: usize,
}

static KEPT: Lock<Kept> = Lock::new(Kept {
    blocks: VecDeque::new(),
    bytes: 0,
});

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    KEPT.raw()
}

/// Under controlled scheduling, a freed block is used again only after many others; so an access to it is likely to be found.
/// Returns what the allocator gets.
pub(super) fn keep_for_a_while(block: *mut c_void) -> Option<*mut c_void> {
    if !sched::active() || block.is_null() {
        return Some(block);
    }
    let Some(_me) = enter_if_attached() else {
        return Some(block);
    };
    // SAFETY: a block of the allocator, which has not got it back.
    let bytes = unsafe { libc::malloc_usable_size(block) };
    if bytes > BYTES / 4 {
        return Some(block);
    }
    let mut kept = KEPT.lock();
    kept.blocks.push_back((block as usize, bytes));
    kept.bytes += bytes;
    if kept.blocks.len() <= BLOCKS && kept.bytes <= BYTES {
        return None;
    }
    let (oldest, bytes) = kept.blocks.pop_front()?;
    kept.bytes -= bytes;
    Some(oldest as *mut c_void)
}
