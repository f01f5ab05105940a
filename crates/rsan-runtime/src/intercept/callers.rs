//! Which code is instrumented: only its calls of memory functions are accesses of the program.
//!
//! A library that was not compiled for rsan may order its own accesses by means that are not seen, so what it copies
//! or frees is not looked at. Each instrumented file of a program or library calls `__tsan_init` when it is loaded,
//! which tells its module. The C++ standard library counts as instrumented: it copies for its caller.

use crate::modules;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    // ORDERING: relaxed; a place is taken by one caller, which fills it in. Until then it holds nothing.
    let place = COUNT.fetch_add(1, Ordering::Release);
    if let Some(range) = CODE.get(place) {
        // ORDERING: relaxed; see `is_instrumented`.
        range.start.store(start, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        range.end.store(end, Ordering::Relaxed);
    }
}

/// The module of an address is instrumented.
pub(crate) fn note(pc: usize) {
    if is_instrumented(pc) {
        return;
    }
    let modules = modules::modules();
    // ORDERING: relaxed; only whether this is the first call.
    let first = COUNT.load(Ordering::Relaxed) == 0;
    let standard = modules.iter().filter(|module| {
        let file = module.path.rsplit('/').next().unwrap_or_default();
        LIKE_THE_PROGRAM.iter().any(|name| file.starts_with(name))
    });
    let own = modules::find(&modules, pc).map(|found| found.0);
    let modules = own.into_iter().chain(standard.filter(|_| first));
    for (start, end) in modules.flat_map(|module| &module.code) {
        add(*start, *end);
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
