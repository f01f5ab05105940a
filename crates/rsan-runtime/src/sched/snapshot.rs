//! What a snapshot of the program has to have, so that a copy of it costs little: most of the time of a short run is that
//! of the system, which copies the process and each page that it writes.

use super::lent;
use crate::imports::is_instrumented;
use crate::modules;
use crate::stack::{self, Site};
use crate::{allocator, location, shadow, thread, trail, unwind};

/// Threads that copies are prepared for: they have as many without asking the system for memory.
pub(super) const THREADS: usize = 16;

/// Bytes of a stack that short runs use.
const TOP: usize = 64 << 10;

/// Before the first copy.
pub(super) fn prepare() {
    stack::prepare(THREADS);
    trail::prepare(THREADS);
    let modules = modules::modules();
    let modules = modules.iter().filter(|module| is_instrumented(module));
    for (start, end) in modules.flat_map(|module| &module.data) {
        shadow::prepare(*start, *end);
    }
    let here = 0u8;
    let here = &raw const here as usize;
    shadow::prepare(here, here + 1);
    for [lowest, end] in lent::free_stacks() {
        // Once for all runs: a thread has each of them once.
        shadow::forget(lowest, end - lowest);
        shadow::prepare(end - TOP, end);
    }
    location::prepare();
    // What exceptions are thrown with is set up when it is used first.
    unwind::complete(Site::default());
}

/// In a copy: it writes to as few pages as it can.
pub(super) fn economise() {
    allocator::economise();
    if let Some(me) = thread::current() {
        me.stack().economise();
    }
}
