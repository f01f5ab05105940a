//! What a Rust program can tell rsan, the sanitizer for code with weak atomics.
//!
//! `cargo rsan` and `rsan check` build with `--cfg rsan`, and then these functions call the sanitizer's library. In any other build
//! the waits are loops that spin, and everything else is empty and inlined. C and C++ have the same in `rsan.h`.
//!
//! - [`wait`], [`wait_any`] and [`bcas`] wait for a value. To rsan each is one step that reads that value; what was there
//!   before is of no account. It recognises most loops that wait without them; these are for the others, and make exhaustive
//!   explorations shorter.
//! - [`benign`], [`Benign`] and [`benign_address`] leave out what is known and meant so.
//! - [`snapshot`] says where the setup of a test ends.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
//!
//! static LOCKED: AtomicBool = AtomicBool::new(false);
//! static HITS: AtomicU32 = AtomicU32::new(0);
//!
//! rsan::bcas(&LOCKED, false, true, Ordering::Acquire);
//! // … what the lock protects …
//! LOCKED.store(false, Ordering::Release);
//!
//! // A statistic, of which nobody asks that it be exact.
//! let hits = rsan::benign(|| HITS.load(Ordering::Relaxed));
//! # assert_eq!(hits, 0);
//! ```
#![cfg_attr(not(test), no_std)]

mod atomic;
mod benign;
#[cfg(rsan)]
mod library;
#[cfg(test)]
mod tests;
mod wait;

pub use atomic::Atomic;
pub use benign::{Benign, benign, benign_address};
pub use wait::{bcas, wait, wait_any};

/// Whether the program is built with the sanitizer. A test may do less then, in code that other builds do not have.
///
/// ```
/// const ROUNDS: usize = if rsan::sanitized() { 100 } else { 100_000 };
/// # assert!(ROUNDS > 0);
/// ```
#[inline]
#[must_use]
pub const fn sanitized() -> bool {
    cfg!(rsan)
}

/// The end of a setup: runs whose schedule is rsan's (`--sched`, `--exhaustive`) begin here, each with what the program has done up to
/// here, which is done once. `RSAN_OPTIONS` must have `at_marker=1`; else they begin at `main`, and this does nothing.
///
/// There must be no other threads yet: this is for `main`, and for tests with `harness = false`. A `#[test]` is run in a thread of
/// its own, while another one waits for it. Only the first call counts.
///
/// ```
/// let table: Vec<u32> = (0..1_000).collect(); // takes long, and is always the same
/// rsan::snapshot();
/// // … threads that use it …
/// # assert_eq!(table.len(), 1_000);
/// ```
#[inline]
pub fn snapshot() {
    #[cfg(rsan)]
    library::snapshot();
}
