//! Which code is instrumented: only its calls of memory functions are accesses of the program.
//!
//! A library that was not compiled for rsan may order its own accesses by means that are not seen, so what it copies
//! or frees is not looked at. Each instrumented file of a program or library calls `__tsan_init` when it is loaded;
//! then [`imports`] tells which modules have such files. The C++ standard library counts as instrumented: it copies for its caller.

use super::imports;
use crate::modules;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const RANGES: usize = 256;

/// Addresses of code, from and up to.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
}

static CODE: [Range; RANGES] = [const {
    Range {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; RANGES];

/// How many ranges there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Modules whose callers are taken for the program.
const LIKE_THE_PROGRAM: &[&str] = &["libstdc++.so", "libc++.so"];

/// Whether a return address lies in instrumented code.
#[inline]
pub(crate) fn is_instrumented(pc: usize) -> bool {
    // ORDERING: acquire, with the release in `add`.
    let count = COUNT.load(Ordering::Acquire).min(RANGES);
    CODE[..count].iter().any(|range| {
        // ORDERING: relaxed; published by the count, or by the loader that ran in between.
        let (start, end) = (
            range.start.load(Ordering::Relaxed),
            range.end.load(Ordering::Relaxed),
        );
        start <= pc && pc < end
    })
}

fn add(start: usize, end: usize) {
    // ORDERING: release, for what is in the places before, which the count lets others look at. This one is empty until it is filled in.
    let place = COUNT.fetch_add(1, Ordering::Release);
    if let Some(range) = CODE.get(place) {
        // ORDERING: relaxed; see `is_instrumented`.
        range.start.store(start, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        range.end.store(end, Ordering::Relaxed);
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
                add(start, end);
            }
        }
    }
}

/// The code at these addresses is no more.
pub(crate) fn forget(start: usize, end: usize) {
    for range in &CODE {
        // ORDERING: relaxed; see `is_instrumented`.
        let at = range.start.load(Ordering::Relaxed);
        if start <= at && at < end {
            // ORDERING: relaxed; an empty range holds nothing.
            range.end.store(0, Ordering::Relaxed);
        }
    }
}
