//! Fibers, as a program's scheduler announces them.

use crate::entry::entries;
use crate::sched;
use crate::sync;
use crate::thread::{enter, fiber};
use std::ffi::{c_char, c_uint};

/// Flag of a switch: it orders nothing.
const NO_SYNC: c_uint = 1;

extern "C" fn create(_: c_uint) -> usize {
    let Some(mut me) = enter() else {
        return 0;
    };
    sched::stacks::give_up();
    fiber::create(&mut me)
}

extern "C" fn destroy(fiber: usize) {
    if let Some(_me) = enter() {
        fiber::destroy(fiber);
    }
}

extern "C" fn current() -> usize {
    fiber::current()
}

extern "C" fn switch_to(fiber: usize, flags: c_uint) {
    let clock = match enter() {
        // Inside the runtime, or about to end: not the time to become somebody else.
        None => return,
        Some(_) if flags & NO_SYNC != 0 => None,
        Some(mut me) => Some(sync::snapshot(&mut me)),
    };
    fiber::switch(fiber, clock.as_ref());
}

/// Fibers are numbered in reports, like threads.
extern "C" fn set_name(_: usize, _: *const c_char) {}

entries! {
    __tsan_create_fiber => create;
    __tsan_destroy_fiber => destroy;
    __tsan_get_current_fiber => current;
    __tsan_switch_to_fiber => switch_to;
    __tsan_set_fiber_name => set_name;
}
