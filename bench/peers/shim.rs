//! Threads, atomics and locks: those of the peer that this is built for, or of the standard library.
//!
//! `Arc` is always the standard library's: counting references is no part of the programs, and a peer would explore it.

pub use std::sync::Arc;
pub use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

#[cfg(feature = "loom")]
pub use loom::{
    cell::UnsafeCell,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicI32, fence},
    },
    thread,
};
#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicI32, fence},
    },
    thread,
};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicI32, fence},
    },
    thread,
};

/// loom is told of plain accesses; others see them, or do not care.
#[cfg(not(feature = "loom"))]
pub struct UnsafeCell(std::cell::UnsafeCell<i32>);

#[cfg(not(feature = "loom"))]
impl UnsafeCell {
    fn new(value: i32) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    fn with(&self, look: impl FnOnce(*const i32) -> i32) -> i32 {
        look(self.0.get())
    }

    fn with_mut(&self, change: impl FnOnce(*mut i32)) {
        change(self.0.get());
    }
}

#[cfg(feature = "loom")]
type Memory = UnsafeCell<i32>;
#[cfg(not(feature = "loom"))]
type Memory = UnsafeCell;

/// Memory that is not atomic.
pub struct Plain(Memory);

// SAFETY: whether the programs use it in turn is what the tools find out.
unsafe impl Sync for Plain {}

impl Plain {
    pub fn new(value: i32) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub fn get(&self) -> i32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }

    pub fn set(&self, new: i32) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

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
