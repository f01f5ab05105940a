//! Which code is instrumented: only its calls of memory functions are accesses of the program.
//!
//! A library that was not compiled for rsan may order its own accesses by means that are not seen, so what it copies
//! or frees is not looked at. Each instrumented file of a program or library calls `__tsan_init` when it is loaded;
//! then [`crate::imports`] tells which modules have such files. The C++ standard library counts as instrumented: it copies for its caller.

use crate::{imports, modules};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const RANGES: usize = 256;

/// Addresses of code, from and up to.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
    /// It is of the C++ standard library.
    standard: AtomicBool,
}

static CODE: [Range; RANGES] = [const {
    Range {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        standard: AtomicBool::new(false),
    }
}; RANGES];

/// How many places of them are taken.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Modules whose callers are taken for the program.
const LIKE_THE_PROGRAM: &[&str] = &["libstdc++.so", "libc++.so"];

/// The instrumented code that a return address lies in.
#[inline]
fn find(pc: usize) -> Option<&'static Range> {
    // ORDERING: relaxed; a place that is not filled in yet is empty.
    let count = COUNT.load(Ordering::Relaxed).min(RANGES);
    CODE[..count].iter().find(|range| {
        // ORDERING: acquire, with the release in `add`: who sees the end sees the rest.
        let end = range.end.load(Ordering::Acquire);
        // ORDERING: relaxed, as above.
        pc < end && range.start.load(Ordering::Relaxed) <= pc
    })
}

/// Whether a return address lies in instrumented code, or in the C++ standard library.
#[inline]
pub(crate) fn is_instrumented(pc: usize) -> bool {
    find(pc).is_some()
}

/// Whether it lies in instrumented code.
#[inline]
pub(crate) fn is_of_program(pc: usize) -> bool {
    // ORDERING: relaxed; see `find`.
    find(pc).is_some_and(|range| !range.standard.load(Ordering::Relaxed))
}

fn add(start: usize, end: usize, standard: bool) {
    // ORDERING: relaxed; only distinct places matter.
    let place = COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(range) = CODE.get(place) {
        // ORDERING: relaxed; published by the end.
        range.standard.store(standard, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        range.start.store(start, Ordering::Relaxed);
        // ORDERING: release, with the acquire in `find`. The range is empty until now.
        range.end.store(end, Ordering::Release);
    }
}

/// How many modules were loaded when they were looked at last.
static LOADS: AtomicU64 = AtomicU64::new(0);

/// An instrumented file is loaded: looks at the modules that came since the last call.
pub(crate) fn note() {
    let loads = imports::loads();
    // ORDERING: relaxed; the loader calls from one thread at a time.
    let before = LOADS.swap(loads, Ordering::Relaxed);
    if before == loads {
        return;
    }
    for module in &modules::modules() {
        let file = module.path.rsplit('/').next().unwrap_or_default();
        let standard = LIKE_THE_PROGRAM.iter().any(|name| file.starts_with(name));
        if standard || imports::is_instrumented(module) {
            for &(start, end) in module.code.iter().filter(|code| !is_instrumented(code.0)) {
                add(start, end, standard);
            }
        }
    }
}

/// The code at these addresses is no more.
pub(crate) fn forget(start: usize, end: usize) {
    for range in &CODE {
        // ORDERING: relaxed; see `find`.
        let at = range.start.load(Ordering::Relaxed);
        if start <= at && at < end {
            // ORDERING: relaxed; an empty range holds nothing.
            range.end.store(0, Ordering::Relaxed);
        }
    }
}
