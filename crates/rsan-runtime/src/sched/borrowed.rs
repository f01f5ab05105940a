//! Words of a thread's stack that other threads write.
//!
//! The state of a thread ([`super::spin`]) is what it knows. A word of its stack that others can write is memory: the
//! thread knows what it has read there, which is in its registers or elsewhere on its stack, and what it wrote
//! there last. So the state has, in place of what is in such a word, what was there before another thread wrote it for the first time
//! since. Then what a thread does depends on nothing but what its operations read, whenever others write.
//!
//! Writes are seen before they are made: plain ones that are instrumented, atomic ones, and those to locks and
//! the like. What a thread writes itself need not be seen (registers are saved anywhere), so a word
//! counts only as long as it has the value that the others left. When it has not, the frame it was in is gone, or the thread has
//! written it: nothing is concluded from what was known before.

use super::state::{State, Status};
use std::collections::BTreeMap;

const WORD: usize = size_of::<u64>();

/// The words of one thread's stack that others have written.
#[derive(Debug, Default)]
pub(super) struct Borrowed {
    words: BTreeMap<usize, Word>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// What the thread left there.
    own: u64,
    /// What the others left there; `None`: one is about to write.
    left: Option<u64>,
}

/// The addresses of the words with these bytes.
fn words(address: usize, bytes: usize) -> impl Iterator<Item = usize> {
    let first = address & !(WORD - 1);
    (first..address.saturating_add(bytes)).step_by(WORD)
}

impl Borrowed {
    /// Another thread is about to write these bytes, of which some are on the part of the stack between `lowest` and `end`.
    pub(super) fn about_to_write(
        &mut self,
        (address, bytes): (usize, usize),
        (lowest, end): (usize, usize),
        read: impl Fn(usize) -> u64,
    ) {
        let (first, last) = (address.max(lowest), address.saturating_add(bytes).min(end));
        for at in words(first, last.saturating_sub(first)) {
            let word = self.words.entry(at);
            word.and_modify(|word| word.left = None)
                .or_insert_with(|| Word {
                    own: read(at),
                    left: None,
                });
        }
    }

    /// The others have written what they were about to write.
    pub(super) fn settle(&mut self, read: impl Fn(usize) -> u64) {
        for (at, word) in &mut self.words {
            word.left.get_or_insert_with(|| read(*at));
        }
    }

    /// The thread itself is about to write these bytes. Whether others have written some of them.
    pub(super) fn take_back(&mut self, address: usize, bytes: usize) -> bool {
        let first = address & !(WORD - 1);
        let before = self.words.len();
        self.words
            .retain(|at, _| !(first..address.saturating_add(bytes)).contains(at));
        self.words.len() < before
    }

    /// Forgets frames that are gone, below `stack`, and words that the thread has written. Whether there were such words.
    pub(super) fn refresh(&mut self, stack: usize, read: impl Fn(usize) -> u64) -> bool {
        self.words = self.words.split_off(&stack);
        let before = self.words.len();
        self.words
            .retain(|at, word| word.left.is_none_or(|left| left == read(*at)));
        self.words.len() < before
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What the thread left in a word, if others have written it since.
    pub(super) fn own(&self, at: usize) -> Option<u64> {
        self.words.get(&at).map(|word| word.own)
    }
}

impl State {
    /// A thread is about to write these bytes, which may be on somebody else's stack.
    pub(super) fn about_to_write(&mut self, me: usize, address: usize, bytes: usize) {
        for (number, thread) in self.threads.iter_mut().enumerate() {
            if let Some(thread) = thread
                && number != me
                && thread.status != Status::Finished
            {
                self.lent |= thread.spin.lends(address, bytes);
            }
        }
    }

    /// Who was about to write on somebody else's stack has done it.
    pub(super) fn has_written(&mut self) {
        if std::mem::take(&mut self.lent) {
            for thread in self.threads.iter_mut().flatten() {
                thread.spin.has_lent();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_its_thread_left_there() {
        let mut memory = [7u64; 4];
        let mut others = Borrowed::default();
        let stack = (WORD, 4 * WORD);
        // Bytes of the second and the third word; the first is not on the stack.
        others.about_to_write((4, 13), stack, |at| memory[at / WORD]);
        memory[1] = 8;
        others.settle(|at| memory[at / WORD]);
        assert_eq!(
            [0, 1, 2, 3].map(|at| others.own(at * WORD)),
            [None, Some(7), Some(7), None]
        );
        // Once more: what the thread left there stays.
        others.about_to_write((WORD, 1), stack, |at| memory[at / WORD]);
        memory[1] = 9;
        others.settle(|at| memory[at / WORD]);
        assert!(!others.refresh(WORD, |at| memory[at / WORD]));
        assert_eq!(others.own(WORD), Some(7));
        // The thread writes the third word unseen, and the second one seen.
        memory[2] = 1;
        assert!(others.refresh(WORD, |at| memory[at / WORD]));
        assert_eq!(others.own(2 * WORD), None);
        assert!(others.take_back(WORD, 4));
        assert!(others.is_empty() && !others.take_back(WORD, 4));
    }

    #[test]
    fn frames_that_are_gone_are_forgotten() {
        let mut others = Borrowed::default();
        others.about_to_write((WORD, WORD), (0, 4 * WORD), |_| 1);
        others.settle(|_| 2);
        assert!(!others.refresh(2 * WORD, |_| 3));
        assert!(others.is_empty());
    }
}
