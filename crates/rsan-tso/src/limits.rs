//! What may end a search without an answer, and what it cost.

use rsan_model::Reason;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What may end a search without an answer, and how many cores it uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Give up when the states take this much memory, in bytes.
    pub memory: Option<u64>,
    /// Give up after this time.
    pub time: Option<Duration>,
    /// Worker threads; 0 is one per core.
    pub workers: usize,
    /// Give up when this becomes true.
    pub stop: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    pub(crate) fn workers(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// SC configurations.
    pub states: u64,
    /// Configurations of attacks.
    pub attack_states: u64,
    /// Bytes used by them.
    pub memory: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// Watches the limits.
pub(crate) struct Watch<'a> {
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) began: Instant,
    /// Memory of everybody.
    memory: AtomicU64,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(limits: &'a Limits<'a>) -> Self {
        Self {
            limits,
            began: Instant::now(),
            memory: AtomicU64::new(0),
        }
    }

    /// Somebody uses this much memory; `told` is what it said last.
    pub(crate) fn tell(&self, now: u64, told: &mut u64) {
        // ORDERING: relaxed; a sum, nothing is published by it. It may wrap on the way to a smaller one.
        self.memory
            .fetch_add(now.wrapping_sub(*told), Ordering::Relaxed);
        *told = now;
    }

    /// # Errors
    /// When a limit is reached.
    pub(crate) fn check(&self) -> Result<(), Reason> {
        // ORDERING: relaxed; hints only.
        if self.limits.stop.is_some_and(|s| s.load(Ordering::Relaxed)) {
            return Err(Reason::Interrupted);
        }
        if self.limits.time.is_some_and(|t| self.began.elapsed() > t) {
            return Err(Reason::TimeLimit);
        }
        let used = self.memory.load(Ordering::Relaxed);
        if self.limits.memory.is_some_and(|m| used > m) {
            return Err(Reason::MemoryLimit);
        }
        Ok(())
    }
}
