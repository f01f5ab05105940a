//! How many threads are at work: searches that run side by side share them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The worker threads of a verification; some have nothing to do.
#[derive(Debug)]
pub(crate) struct Workers {
    count: usize,
    idle: AtomicUsize,
}

impl Workers {
    /// This many, or one per core; the caller is one of them.
    pub(crate) fn new(wanted: usize) -> Self {
        let count = match wanted {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        Self {
            count,
            idle: AtomicUsize::new(count - 1),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes up to `wanted` idle ones; the caller gives them [back](Self::give_back).
    pub(crate) fn take(&self, wanted: usize) -> usize {
        let taken = |idle: usize| Some(idle - idle.min(wanted));
        // Nothing but the number is shared.
        let idle = self
            .idle
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .expect("always an answer");
        idle.min(wanted)
    }

    /// These have nothing to do any more.
    pub(crate) fn give_back(&self, workers: usize) {
        self.idle.fetch_add(workers, Ordering::Relaxed);
    }
}
