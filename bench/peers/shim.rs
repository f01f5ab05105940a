//! Threads, atomics and locks: those of the peer that this is built for, or of the standard library.
//!
//! `Arc` is always the standard library's: counting references is no part of the programs, and a peer would explore it.

pub use std::sync::Arc;
pub use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

#[cfg(feature = "loom")]
pub use loom::{
    sync::{Condvar, Mutex, atomic::AtomicI32},
    thread,
};
#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{Condvar, Mutex, atomic::AtomicI32},
    thread,
};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::{
    sync::{Condvar, Mutex, atomic::AtomicI32},
    thread,
};

/// One round of a wait. Both peers want to be told that a thread cannot go on.
pub fn relax() {
    thread::yield_now();
}

/// Runs the body in so many threads, with their numbers; what they return.
pub fn run<S, R>(threads: usize, shared: S, body: fn(&S, usize) -> R) -> (Arc<S>, Vec<R>)
where
    S: Send + Sync + 'static,
    R: Send + 'static,
{
    let shared = Arc::new(shared);
    let spawn = |number| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || body(&shared, number))
    };
    let handles: Vec<_> = (0..threads).map(spawn).collect();
    let results = handles.into_iter().map(|handle| handle.join().unwrap());
    let results = results.collect();
    (shared, results)
}

/// So many atomics, all 0.
pub fn atomics<const N: usize>() -> [AtomicI32; N] {
    std::array::from_fn(|_| AtomicI32::new(0))
}
