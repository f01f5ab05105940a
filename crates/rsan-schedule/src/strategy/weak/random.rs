//! `random`: each thread that is ready is as likely as the others, and so is each write that a load may read.

use super::stale;
use crate::strategy::{Readable, Reading, Strategy};
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// The random walk through weak executions.
#[derive(Clone, Debug)]
pub struct WeakRandom {
    random: Random,
    /// Of 100 loads that can read a stale value, how many do; `None`: every write is as likely as the others.
    stale: Option<u8>,
}

/// How often, of 100, a weak compare-and-swap fails without a reason.
pub(super) const FAILS: usize = 10;

impl WeakRandom {
    /// The walk with this seed, and so many stale values of 100 that can be read.
    pub fn new(seed: u64, stale: Option<u8>) -> Self {
        Self {
            random: Random::new(seed),
            stale,
        }
    }
}

impl Strategy for WeakRandom {
    fn choose(&mut self, ready: &[Candidate], _last: Option<ThreadId>) -> Option<usize> {
        Some(match ready.len() {
            1 => 0,
            n => self.random.below(n),
        })
    }

    fn read(&mut self, _reading: &Reading, writes: &[Readable]) -> usize {
        match (writes.len(), self.stale) {
            (1, _) => 0,
            (n, None) => self.random.below(n),
            (n, Some(percent)) => stale(&mut self.random, n, percent),
        }
    }

    fn fails(&mut self, _reading: &Reading) -> bool {
        self.random.chance(FAILS)
    }
}
