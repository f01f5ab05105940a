//! When a thread took and gave back its locks, and which it held when it made an access.
//!
//! Taking a lock begins a new epoch, as giving one back does, so the stamp of a plain access says between which notes it
//! was made.

use super::{RINGS, Ring, Trail, ring_for};
use crate::held::{Mode, Then};
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Notes of locks that a trail keeps.
pub(super) const LOCKS: usize = 512;
const WORDS: usize = 3;

/// A lock was taken or given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockNote {
    /// The first epoch of plain accesses that come after it.
    pub epoch: u32,
    /// How many locks the thread has then.
    pub count: usize,
    /// Taken, not given back.
    pub taken: bool,
    /// Which.
    pub lock: usize,
    /// How it is or was held.
    pub mode: Mode,
    /// Where it was taken.
    pub pc: usize,
}

impl LockNote {
    fn words(self) -> [u64; WORDS] {
        let tags = u64::from(self.taken) | u64::from(self.mode == Mode::Read) << 1;
        let count = (self.count as u64).min(0xffff);
        [
            u64::from(self.epoch) << 32 | count << 8 | tags,
            self.lock as u64,
            self.pc as u64,
        ]
    }

    fn from_words(words: [u64; WORDS]) -> Self {
        Self {
            epoch: (words[0] >> 32) as u32,
            count: (words[0] >> 8 & 0xffff) as usize,
            taken: words[0] & 1 != 0,
            lock: words[1] as usize,
            mode: if words[0] & 2 != 0 {
                Mode::Read
            } else {
                Mode::Write
            },
            pc: words[2] as usize,
        }
    }
}

/// The last notes.
#[repr(C)]
#[derive(Debug)]
pub(super) struct LockNotes {
    pub(super) len: AtomicU64,
    words: [AtomicU64; LOCKS * WORDS],
}

impl Trail {
    /// Adds a note.
    #[inline]
    pub fn note_lock(&mut self, thread: ThreadId, note: LockNote) {
        let new = || (thread, ring_for(thread));
        let notes = &self.ring.get_or_insert_with(new).1.locks;
        // ORDERING: relaxed; only this thread writes it.
        let len = notes.len.load(Ordering::Relaxed);
        let start = len as usize % LOCKS * WORDS;
        // Pairs with the fence in `lock_notes`, as for other notes.
        fence(Ordering::Release);
        for (place, word) in note.words().into_iter().enumerate() {
            // ORDERING: relaxed, after the fence.
            notes.words[start + place].store(word, Ordering::Relaxed);
        }
        // ORDERING: release, with the acquire in `lock_notes`.
        notes.len.store(len + 1, Ordering::Release);
    }
}

/// The last notes of a thread's locks, and whether they are all; `None` if nothing is known of the thread.
pub fn lock_notes(thread: ThreadId) -> Option<(bool, Vec<LockNote>)> {
    let rings = RINGS.lock();
    let ring: &Ring = rings.known.as_ref()?.get(&thread)?;
    let notes = &ring.locks;
    // ORDERING: acquire, with the release in `note_lock`.
    let len = notes.len.load(Ordering::Acquire);
    let first = len.saturating_sub(LOCKS as u64);
    let word = |index: u64, word: usize| {
        let place = index as usize % LOCKS * WORDS + word;
        // ORDERING: relaxed; what may have been overwritten meanwhile is dropped below.
        notes.words[place].load(Ordering::Relaxed)
    };
    let read = |index| LockNote::from_words([word(index, 0), word(index, 1), word(index, 2)]);
    let mut all: Vec<_> = (first..len).map(read).collect();
    fence(Ordering::Acquire);
    // ORDERING: relaxed, after the fence. A note that is being written overwrites one more than the length says.
    let now = notes.len.load(Ordering::Relaxed);
    let lost = (now + 1).saturating_sub(LOCKS as u64).saturating_sub(first);
    let lost = if now == len && now < LOCKS as u64 {
        0
    } else {
        lost
    };
    all.drain(..(lost as usize).min(all.len()));
    Some((first + lost == 0, all))
}

/// The locks that a thread held when it made a plain access in this epoch, the first one first; `None` if that is not known.
pub(crate) fn held_at(thread: ThreadId, epoch: u32) -> Option<Vec<Then>> {
    // Every other thread has a note of its beginning, for as long as its history is kept.
    let main_without_history = (thread == ThreadId(0)).then(|| (true, Vec::new()));
    let (is_all, notes) = lock_notes(thread).or(main_without_history)?;
    replay(is_all, &notes, epoch)
}

/// What is held after the notes up to an epoch. It must be known what was held before them: from the start, or from a note
/// on after which nothing was.
fn replay(is_all: bool, notes: &[LockNote], epoch: u32) -> Option<Vec<Then>> {
    let until = notes.iter().take_while(|note| note.epoch <= epoch).count();
    let notes = &notes[..until];
    let none = notes.iter().rposition(|note| note.count == 0);
    let start = match none {
        Some(index) => index + 1,
        None if is_all => 0,
        None => return None,
    };
    let mut held = Vec::new();
    for note in &notes[start..] {
        if note.taken {
            held.push((note.lock, note.mode, note.pc));
        } else if let Some(index) = held.iter().rposition(|&(lock, ..)| lock == note.lock) {
            held.remove(index);
        }
    }
    Some(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_notes_of_locks_are_kept() {
        let thread = ThreadId(1_000_777);
        let mut trail = Trail::default();
        let note = |number: usize| LockNote {
            epoch: number as u32,
            count: number % 3,
            taken: number.is_multiple_of(2),
            lock: 8 * number,
            mode: if number.is_multiple_of(5) {
                Mode::Read
            } else {
                Mode::Write
            },
            pc: number + 7,
        };
        trail.note_lock(thread, note(1));
        trail.note_lock(thread, note(2));
        let (is_all, notes) = lock_notes(thread).expect("the thread is known");
        assert_eq!((is_all, notes), (true, vec![note(1), note(2)]));
        for number in 3..2 * LOCKS {
            trail.note_lock(thread, note(number));
        }
        let (is_all, notes) = lock_notes(thread).expect("the thread is known");
        assert!(!is_all && notes.len() == LOCKS - 1);
        assert_eq!(notes.last(), Some(&note(2 * LOCKS - 1)));
        assert_eq!(lock_notes(ThreadId(1_000_778)), None);
    }

    fn note(epoch: u32, lock: usize, taken: bool, count: usize) -> LockNote {
        LockNote {
            epoch,
            count,
            taken,
            lock,
            mode: Mode::Write,
            pc: lock + 1,
        }
    }

    #[test]
    fn the_notes_say_what_was_held_in_an_epoch() {
        let notes = [
            note(2, 10, true, 1),
            note(3, 20, true, 2),
            note(5, 10, false, 1),
            note(6, 20, false, 0),
            note(7, 30, true, 1),
        ];
        let locks = |is_all, notes: &[LockNote], epoch| {
            replay(is_all, notes, epoch)
                .map(|held| held.iter().map(|held| held.0).collect::<Vec<_>>())
        };
        let at = |epoch| locks(true, &notes, epoch);
        assert_eq!(at(1), Some(vec![]));
        assert_eq!(at(2), Some(vec![10]));
        assert_eq!(at(4), Some(vec![10, 20]));
        assert_eq!(at(5), Some(vec![20]));
        assert_eq!(at(6), Some(vec![]));
        assert_eq!(at(9), Some(vec![30]));
        let late = |epoch| locks(false, &notes[1..], epoch);
        assert_eq!(late(4), None, "what was held before is not known");
        assert_eq!(late(8), Some(vec![30]));
    }
}
