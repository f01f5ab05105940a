//! `random`: each thread that is ready is as likely as the others.
//!
//! Simple, and fair to spin loops, which other threads interrupt sooner or later. It promises little: an execution that needs
//! one thread to wait while another makes `k` steps has probability about `2^-k`. See [`crate::strategy::Pct`].

use super::Strategy;
use crate::{Candidate, Random};
use rsan_model::ThreadId;

/// The uniform random walk.
#[derive(Clone, Debug)]
pub struct RandomWalk {
    random: Random,
}

impl RandomWalk {
    /// The walk with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
        }
    }
}

impl Strategy for RandomWalk {
    fn choose(&mut self, ready: &[Candidate], _last: Option<ThreadId>) -> Option<usize> {
        Some(match ready.len() {
            1 => 0,
            n => self.random.below(n),
        })
    }
}
