//! The real stack of the calling thread, by the tables that exceptions are thrown with.
//!
//! Too slow for accesses, but it shows functions that are not instrumented and where they were called: a thread may be created by
//! the standard library for the program.
//!
//! A process that makes many runs meets the same stacks in all of them, and remembers where their return addresses are (`remember`): if all of
//! them are still there, and the stack is as deep, it is the same stack.

use crate::stack::{Node, Site};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Frames that are looked at, our own included.
const FRAMES: usize = 64;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        frames: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

struct Frames {
    pcs: [usize; FRAMES],
    /// Where they are on the stack, as the tables have it.
    slots: [usize; FRAMES],
    count: usize,
}

extern "C" fn step(context: *mut c_void, frames: *mut c_void) -> c_int {
    // SAFETY: the pointer that was given to `_Unwind_Backtrace`.
    let frames = unsafe { &mut *frames.cast::<Frames>() };
    if frames.count == FRAMES {
        return END_OF_STACK;
    }
    // SAFETY: the context is valid during this call.
    frames.pcs[frames.count] = unsafe { _Unwind_GetIP(context) };
    // SAFETY: as above.
    let end = unsafe { _Unwind_GetCFA(context) };
    frames.slots[frames.count] = end.wrapping_sub(size_of::<usize>());
    frames.count += 1;
    NO_REASON
}

impl Frames {
    /// Those of the calling thread, innermost first.
    fn own() -> Self {
        let mut frames = Self {
            pcs: [0; FRAMES],
            slots: [0; FRAMES],
            count: 0,
        };
        // SAFETY: the callback gets back the pointer given here, during the call only.
        unsafe { _Unwind_Backtrace(step, (&raw mut frames).cast()) };
        frames
    }
}

/// Where a signal interrupted the calling thread, whose handler it is in, if that can be found.
pub(crate) fn interrupted(pc: usize) -> Option<Site> {
    let frames = Frames::own();
    let pcs = &frames.pcs[..frames.count];
    let place = pcs.iter().position(|known| *known == pc)?;
    Some(Site {
        node: Node::of(&pcs[place + 1..]),
        pc: pc + 1,
    })
}

/// The same place with the real stack, if it can be found.
#[inline(never)]
pub fn complete(site: Site) -> Site {
    let mark = 0_u8;
    let depth = &raw const mark as usize;
    let known = Known::at(depth, site.pc);
    if let Some(node) = known.and_then(|known| known.recall(depth, site.pc)) {
        return Site { node, ..site };
    }
    let frames = Frames::own();
    let pcs = &frames.pcs[..frames.count];
    match pcs.iter().position(|pc| *pc == site.pc) {
        Some(start) => {
            if let Some(known) = known {
                known.learn(depth, &frames, start);
            }
            let node = Node::of(&pcs[start + 1..]);
            Site { node, ..site }
        }
        None => site,
    }
}

/// Stacks that are remembered; a power of two.
const STACKS: usize = 16;

/// A stack from the frame of some place on. All zeroes: none.
#[repr(C)]
struct Known {
    depth: AtomicUsize,
    count: AtomicUsize,
    /// Where return addresses are, and which; the first is the place. 0 is no place on the stack.
    frames: [[AtomicUsize; 2]; FRAMES],
}

static KNOWN: AtomicPtr<Known> = AtomicPtr::new(null_mut());

/// Stacks are remembered from now on, in memory that this process does not put back. Its stacks stay where they are. There is one thread at a time.
pub(crate) fn remember() {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let size = STACKS * size_of::<Known>();
    // SAFETY: a new mapping.
    let place = unsafe { libc::mmap(null_mut(), size, protection, flags, -1, 0) };
    if place != libc::MAP_FAILED {
        // ORDERING: relaxed; there is one thread.
        KNOWN.store(place.cast(), Ordering::Relaxed);
    }
}

impl Known {
    /// The one for a stack that is so deep, at this place.
    fn at(depth: usize, pc: usize) -> Option<&'static Self> {
        // ORDERING: relaxed, here and below; there is one thread at a time.
        let all = KNOWN.load(Ordering::Relaxed);
        let index = (depth >> 4 ^ pc) % STACKS;
        // SAFETY: zeroed memory that stays, if there is any; all fields are atomic.
        (!all.is_null()).then(|| unsafe { &*all.add(index) })
    }

    /// The callers of the place, if it is the same stack.
    fn recall(&self, depth: usize, pc: usize) -> Option<Node> {
        // ORDERING: relaxed, as above.
        let [known, count] = [&self.depth, &self.count].map(|word| word.load(Ordering::Relaxed));
        if known != depth || !(1..=FRAMES).contains(&count) {
            return None;
        }
        let mut pcs = [0; FRAMES];
        for (pc, frame) in pcs.iter_mut().zip(&self.frames[..count]) {
            // ORDERING: relaxed, as above.
            let [slot, expected] = frame.each_ref().map(|word| word.load(Ordering::Relaxed));
            *pc = match expected {
                0 => 0,
                // SAFETY: a place on this stack, which is as deep as it was when the slot was found there.
                _ => unsafe { std::ptr::read_volatile(slot as *const usize) },
            };
            if *pc != expected {
                return None;
            }
        }
        (pcs[0] == pc).then(|| Node::of(&pcs[1..count]))
    }

    /// Remembers the frames from `start` on, if all of them are where the tables say.
    fn learn(&self, depth: usize, frames: &Frames, start: usize) {
        let found = start..frames.count;
        let pairs = || found.clone().map(|at| [frames.slots[at], frames.pcs[at]]);
        let is_there = |[slot, pc]: [usize; 2]| {
            let is_above = slot > depth && slot.is_multiple_of(size_of::<usize>());
            // Behind the outermost frame of a stack the tables may say 0.
            // SAFETY: the end of a frame of this stack.
            pc == 0 || is_above && unsafe { std::ptr::read_volatile(slot as *const usize) } == pc
        };
        if frames.count == FRAMES || !pairs().all(is_there) {
            return;
        }
        // Who is ended meanwhile leaves none.
        // ORDERING: relaxed, here and below; there is one thread at a time.
        self.count.store(0, Ordering::Relaxed);
        for (words, pair) in self.frames.iter().zip(pairs()) {
            for (word, value) in words.iter().zip(pair) {
                // ORDERING: relaxed, as above.
                word.store(value, Ordering::Relaxed);
            }
        }
        // ORDERING: relaxed, as above.
        self.depth.store(depth, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        self.count.store(found.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn inner() -> Vec<usize> {
        let pc = Frames::own().pcs[2];
        let site = Site {
            node: Node::UNKNOWN,
            pc,
        };
        let found = complete(site).stack();
        assert_eq!(found[0], pc);
        assert_eq!(complete(Site { pc: 1, ..site }), Site { pc: 1, ..site });
        found
    }

    #[test]
    fn return_addresses_are_where_the_tables_say() {
        let frames = Frames::own();
        assert!(frames.count > 2 && frames.count < FRAMES);
        let ends = frames.pcs[..frames.count].iter().position(|pc| *pc == 0);
        for at in 1..ends.unwrap_or(frames.count) {
            // SAFETY: a place on this stack, if the tables are right.
            let found = unsafe { std::ptr::read_volatile(frames.slots[at] as *const usize) };
            assert_eq!(found, frames.pcs[at], "{at} of {}", frames.count);
        }
    }

    #[test]
    fn a_stack_is_known_again_and_told_from_others() {
        // SAFETY: zeroes are none.
        let known = unsafe { std::mem::zeroed::<Known>() };
        let mut slots = [7_usize, 8, 9];
        let first = slots.as_mut_ptr();
        let depth = first as usize - 8;
        let mut frames = Frames {
            pcs: [0; FRAMES],
            slots: [0; FRAMES],
            count: 4,
        };
        for at in 0..3 {
            frames.pcs[at + 1] = 7 + at;
            frames.slots[at + 1] = first.wrapping_add(at) as usize;
        }
        assert_eq!(known.recall(depth, 7), None);
        known.learn(depth, &frames, 1);
        assert_eq!(known.recall(depth, 7), Some(Node::of(&[8, 9])));
        assert_eq!(known.recall(depth + 16, 7), None);
        assert_eq!(known.recall(depth, 8), None);
        // SAFETY: the array's own memory.
        unsafe { std::ptr::write_volatile(first.add(2), 10) };
        assert_eq!(known.recall(depth, 7), None);
        frames.pcs[2] = 1;
        known.learn(depth, &frames, 1);
        assert_eq!(known.recall(depth, 7), None);
    }

    #[test]
    fn callers_are_found() {
        let found = inner();
        assert!(found.len() > 2, "{found:?}");
    }
}
