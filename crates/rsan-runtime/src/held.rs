//! The locks that a thread holds: a list of its own, which [`crate::sync`] keeps.

pub use rsan_log::Mode;

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
pub struct HeldLocks(pub(crate) Vec<(Held, u32)>);

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

    /// Where one of them is in the list.
    pub(crate) fn entry(&mut self, lock: usize) -> Option<usize> {
        self.0.iter().rposition(|(held, _)| held.lock == lock)
    }
}

/// A lock that a thread held, and where it took it.
pub type Then = (usize, Mode, usize);
