//! The locks that a thread holds, and those that it held when it made an access.
//!
//! The list is the thread's own. What it was at an earlier access is found in the thread's history ([`crate::trail`]), which has
//! a note for each change. Taking a lock begins a new epoch, as giving one back does, so the stamp of a plain access says
//! between which notes it was made.
//!
//! **Cost**: a few words for each lock and unlock. Where a proof is claimed (`exact`), epochs are left alone and nothing is noted.

use crate::order;
use crate::thread::{Body, Entered};
use crate::trail::{self, LockNote};
use rsan_model::ThreadId;

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// With other readers.
    Read,
    /// Alone.
    Write,
}

impl Mode {
    /// Whether one who wants it waits for another who has it.
    pub fn excludes(self, other: Self) -> bool {
        self == Self::Write || other == Self::Write
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The life of a lock from its initialisation, or its first use, to its destruction. No two have the same number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Life(pub u32);

/// A lock that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Its address.
    pub lock: usize,
    /// Which lock at that address.
    pub life: Life,
    /// How.
    pub mode: Mode,
    /// Where it was taken: a return address.
    pub pc: usize,
}

/// The locks that a thread holds, the first one first, and how often it took each.
#[derive(Debug, Default)]
pub struct HeldLocks(Vec<(Held, u32)>);

impl HeldLocks {
    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Held> + Clone {
        self.0.iter().map(|(held, _)| held)
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them.
    pub fn find(&self, lock: usize) -> Option<&Held> {
        self.iter().rev().find(|held| held.lock == lock)
    }

    fn entry(&mut self, lock: usize) -> Option<usize> {
        self.0.iter().rposition(|(held, _)| held.lock == lock)
    }
}

/// The thread took a lock; `waited`: it would have waited for it without end.
#[inline]
pub(crate) fn took(me: &mut Entered, lock: usize, life: Life, mode: Mode, waited: bool) {
    let pc = me.caller;
    let held = Held {
        lock,
        life,
        mode,
        pc,
    };
    if !me.held.is_empty() {
        if let Some(index) = me.held.entry(lock) {
            let (known, times) = &mut me.held.0[index];
            if known.life == life {
                *times += 1;
                return;
            }
            me.held.0.remove(index);
        }
        // An exploration of all executions finds the deadlocks themselves.
        if waited && me.options.lock_order && !me.options.exact {
            order::note(me, held);
        }
    }
    me.held.0.push((held, 1));
    if !me.options.exact {
        me.begin_epoch();
        let epoch = me.state.stamp().epoch.number();
        remember(me, epoch, held, true);
    }
}

/// The thread gave a lock back, or is about to. False if it is not known to have it.
#[inline]
pub(crate) fn gave(me: &mut Body, lock: usize) -> bool {
    let Some(index) = me.held.entry(lock) else {
        return false;
    };
    let (held, times) = &mut me.held.0[index];
    if *times > 1 {
        *times -= 1;
        return true;
    }
    let held = *held;
    me.held.0.remove(index);
    if !me.options.exact {
        let epoch = me.state.stamp().epoch.number().saturating_add(1);
        remember(me, epoch, held, false);
    }
    true
}

#[inline]
fn remember(me: &mut Body, epoch: u32, held: Held, taken: bool) {
    let note = LockNote {
        epoch,
        count: me.held.0.len(),
        taken,
        lock: held.lock,
        mode: held.mode,
        pc: held.pc,
    };
    me.trail.note_lock(me.state.id(), note);
}

/// A lock that a thread held, and where it took it.
pub type Then = (usize, Mode, usize);

/// The locks that a thread held when it made a plain access in this epoch, the first one first; `None` if that is not known.
pub(crate) fn held_at(thread: ThreadId, epoch: u32) -> Option<Vec<Then>> {
    // Every other thread has a note of its beginning, for as long as its history is kept.
    let main_without_history = (thread == ThreadId(0)).then(|| (true, Vec::new()));
    let (is_all, notes) = trail::lock_notes(thread).or(main_without_history)?;
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
