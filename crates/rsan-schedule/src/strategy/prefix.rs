//! `prefix`: given threads first, then the default.

use super::{Strategy, after, stay};
use crate::Candidate;
use rsan_model::ThreadId;

/// Follows a list of threads; then stays with the last thread while it is ready and does not yield, else takes the next
/// one.
///
/// A thread of the list that is not ready is left out: the strategy goes on with the next one.
#[derive(Clone, Debug)]
pub struct Prefix {
    threads: Vec<ThreadId>,
    next: usize,
    /// The last thread that yielded.
    tired: Option<ThreadId>,
}

impl Prefix {
    /// The list.
    pub fn new(threads: Vec<ThreadId>) -> Self {
        Self {
            threads,
            next: 0,
            tired: None,
        }
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
        match self.tired.take() {
            Some(tired) => Some(after(ready, tired)),
            None => Some(stay(ready, last)),
        }
    }

    /// What is left of the list was done before the end.
    fn ends_last(&self) -> bool {
        self.next < self.threads.len()
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.tired = Some(thread);
    }
}
