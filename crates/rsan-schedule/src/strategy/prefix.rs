//! `prefix`: given threads first, then the default.

use super::{Strategy, stay};
use crate::Candidate;
use rsan_model::ThreadId;

/// Follows a list of threads; then stays with the last thread while it is ready, else takes the lowest.
///
/// A thread of the list that is not ready is left out: the strategy goes on with the next one.
#[derive(Clone, Debug)]
pub struct Prefix {
    threads: Vec<ThreadId>,
    next: usize,
}

impl Prefix {
    /// The list.
    pub fn new(threads: Vec<ThreadId>) -> Self {
        Self { threads, next: 0 }
    }
}

impl Strategy for Prefix {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        while let Some(&thread) = self.threads.get(self.next) {
            self.next += 1;
            if let Ok(i) = ready.binary_search_by_key(&thread, |c| c.thread) {
                return Some(i);
            }
        }
        Some(stay(ready, last))
    }
}
