//! `random`: each thread that is ready is as likely as the others, and so is each write that a load may read.

use crate::strategy::{Readable, Reading, Strategy};
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// The uniform random walk through weak executions.
#[derive(Clone, Debug)]
pub struct WeakRandom {
    random: Random,
}

/// How often, of 100, a weak compare-and-swap fails without a reason.
const FAILS: usize = 10;

impl WeakRandom {
    /// The walk with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
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
        match writes.len() {
            1 => 0,
            n => self.random.below(n),
        }
    }

    fn fails(&mut self, _reading: &Reading) -> bool {
        self.random.chance(FAILS)
    }
}
