//! Slots, epochs and stamps: how an event of a thread is named in constant space (docs/theory/write-log.md, W2).

use crate::clock::{Clock, ClockIndex};

/// A place in the vector clocks. A thread has one; a later thread may get the slot of an ended one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Slot(pub u16);

impl ClockIndex for Slot {
    #[inline]
    fn position(self) -> usize {
        usize::from(self.0)
    }
}

/// A moment in the life of a slot; 0 is the start of the run, which everybody knows.
///
/// The high bits are a generation: a slot that is taken away from a thread whose past is not known to the
/// new one starts the next generation. Epochs of a slot only grow, generations included. A counter that
/// overflows carries into the generation, which loses precision and nothing else. The last generation is
/// never left: its epochs are alike, so nothing is concluded from them ([`Epoch::same_generation`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(u32);

impl Epoch {
    /// The start of the run.
    pub const START: Self = Self(0);
    const COUNTER_BITS: u32 = 22;
    const LAST_GENERATION: u32 = u32::MAX >> Self::COUNTER_BITS;

    /// The epoch with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The next epoch.
    #[inline]
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    #[inline]
    fn generation(self) -> u32 {
        self.0 >> Self::COUNTER_BITS
    }

    /// The first epoch of the next generation, if there is one that can be told from others.
    pub fn next_generation(self) -> Option<Self> {
        let next = self.generation() + 1;
        (next < Self::LAST_GENERATION).then_some(Self(next << Self::COUNTER_BITS))
    }

    /// Whether both are known to be epochs of one thread (or of threads that follow each other in hb).
    #[inline]
    pub fn same_generation(self, other: Self) -> bool {
        self.generation() == other.generation() && !self.is_exhausted()
    }

    /// Whether few are left: it is time for another slot ([`super::ThreadState::go_on_in`]).
    #[inline]
    pub fn is_ending(self) -> bool {
        self.generation() >= Self::LAST_GENERATION - 1
    }

    /// Whether epochs of this thread can no longer be told from each other.
    #[inline]
    pub fn is_exhausted(self) -> bool {
        self.generation() == Self::LAST_GENERATION
    }
}

/// A clock over slots. Absent and zero are the same.
pub type VectorClock = Clock<Slot, Epoch>;

/// A moment in the life of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Stamp {
    /// Whose.
    pub slot: Slot,
    /// When.
    pub epoch: Epoch,
}

/// A thread, and what it knows of others: changes whenever it learns something, and never comes back.
///
/// As long as it stays the same, the thread's clocks change in the thread's own entries only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Version(u64);

impl Version {
    /// No thread's.
    pub const NONE: Self = Self(u64::MAX);
    const SLOT_SHIFT: u32 = 48;

    /// The first of a slot.
    pub fn first(slot: Slot) -> Self {
        Self(u64::from(slot.0) << Self::SLOT_SHIFT)
    }

    /// Whether it is an earlier one of the same slot.
    pub fn is_older(self, other: Self) -> bool {
        self.0 >> Self::SLOT_SHIFT == other.0 >> Self::SLOT_SHIFT && self.0 < other.0
    }

    /// The next of the same slot. 2^48 of them are enough for months.
    #[inline]
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_slots_differ() {
        let [one, two] = [1, 2].map(|slot| Version::first(Slot(slot)));
        assert!(one != two && one.next() != two && one != one.next());
        assert_ne!(Version::first(Slot(u16::MAX)), Version::NONE);
    }

    #[test]
    fn epochs_grow_across_generations_and_stop_at_the_end() {
        let last_of_first = Epoch::new((1 << Epoch::COUNTER_BITS) - 1);
        assert!(last_of_first.same_generation(Epoch::START));
        assert!(!last_of_first.next().same_generation(last_of_first));
        assert_eq!(last_of_first.next_generation(), Some(last_of_first.next()));
        let end = Epoch::new(u32::MAX);
        assert_eq!(end.next(), end);
        assert!(end.is_exhausted() && !end.same_generation(end));
        let before = Epoch::new(u32::MAX - (1 << Epoch::COUNTER_BITS));
        assert!(before.is_ending() && !before.is_exhausted() && !last_of_first.is_ending());
        assert_eq!(end.next_generation(), None);
    }
}
