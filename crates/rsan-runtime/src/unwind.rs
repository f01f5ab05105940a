//! The real stack of the calling thread, by the tables that exceptions are thrown with.
//!
//! Too slow for accesses, but it shows functions that are not instrumented and where they were called: a thread may be created by
//! the standard library for the program.

use crate::stack::{Node, Site};
use std::ffi::{c_int, c_void};

/// Frames that are looked at, our own included.
const FRAMES: usize = 64;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        frames: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

struct Frames {
    pcs: [usize; FRAMES],
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
    frames.count += 1;
    NO_REASON
}

impl Frames {
    /// Those of the calling thread, innermost first.
    fn own() -> Self {
        let mut frames = Self {
            pcs: [0; FRAMES],
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
pub fn complete(site: Site) -> Site {
    let frames = Frames::own();
    let pcs = &frames.pcs[..frames.count];
    match pcs.iter().position(|pc| *pc == site.pc) {
        Some(start) => Site {
            node: Node::of(&pcs[start + 1..]),
            pc: site.pc,
        },
        None => site,
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
    fn callers_are_found() {
        let found = inner();
        assert!(found.len() > 2, "{found:?}");
    }
}
