//! Clocks: maps from an index (a thread, a location) to a number, where absent means "nothing yet".
//!
//! All clocks are used through one type, so that joins, laziness and "did it grow?" are written once. A clock
//! that was never raised owns no memory: an empty clock *is* the zero clock, everywhere.

use crate::Timestamp;
use rsan_model::{LocId, ThreadId};
use std::marker::PhantomData;

/// What a clock is indexed by.
pub trait ClockIndex: Copy {
    /// The position in a dense array.
    fn position(self) -> usize;
}

impl ClockIndex for ThreadId {
    fn position(self) -> usize {
        self.index()
    }
}

impl ClockIndex for LocId {
    fn position(self) -> usize {
        self.index()
    }
}

/// A map from `I` to `T`, pointwise ordered; entries that were never raised are `T::default()`, the least.
#[derive(Clone, Debug)]
pub struct Clock<I, T> {
    entries: Vec<T>,
    index: PhantomData<fn(I)>,
}

/// Which write of each location is the newest in some set.
pub type LocationClock = Clock<LocId, Timestamp>;

impl<I, T> Default for Clock<I, T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            index: PhantomData,
        }
    }
}

impl<I: ClockIndex, T: Copy + Ord + Default> Clock<I, T> {
    /// The entry of `i`.
    #[inline]
    pub fn get(&self, i: I) -> T {
        self.entries.get(i.position()).copied().unwrap_or_default()
    }

    /// Sets the entry of `i`.
    #[inline]
    pub fn set(&mut self, i: I, value: T) {
        let position = i.position();
        if position < self.entries.len() {
            self.entries[position] = value;
        } else if value != T::default() {
            self.entries.resize(position + 1, T::default());
            self.entries[position] = value;
        }
    }

    /// Raises the entry of `i` to at least `value`.
    #[inline]
    pub fn raise(&mut self, i: I, value: T) {
        if self.get(i) < value {
            self.set(i, value);
        }
    }

    /// Pointwise maximum; says whether anything grew.
    #[inline]
    pub fn join(&mut self, other: &Self) -> bool {
        if self.entries.len() < other.entries.len() {
            self.entries.resize(other.entries.len(), T::default());
        }
        let mut grew = false;
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            grew |= *mine < *theirs;
            *mine = (*mine).max(*theirs);
        }
        grew
    }

    /// Becomes a copy of `other`, reusing its own memory.
    #[inline]
    pub fn assign(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
    }

    /// Becomes zero again.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether nothing was ever put into it since it was last cleared; such a clock is zero.
    #[inline]
    pub fn is_absent(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether every entry is the least one.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.entries.iter().all(|e| *e == T::default())
    }

    /// Whether every entry is at least that of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        let mine = |i: usize| self.entries.get(i).copied().unwrap_or_default();
        (0..other.entries.len()).all(|i| mine(i) >= other.entries[i])
    }
}

/// The element of a growing table; it is created, with the default value, when it is first asked for.
pub(crate) fn entry<T: Default>(table: &mut Vec<T>, position: usize) -> &mut T {
    if table.len() <= position {
        table.resize_with(position + 1, T::default);
    }
    &mut table[position]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(entries: &[u64]) -> LocationClock {
        let mut clock = LocationClock::default();
        for (i, &e) in entries.iter().enumerate() {
            clock.set(LocId::new(i), Timestamp(e));
        }
        clock
    }

    fn all() -> Vec<LocationClock> {
        let mut clocks = Vec::new();
        for n in 0..27 {
            clocks.push(clock(&[n % 3, n / 3 % 3, n / 9]));
        }
        clocks.push(clock(&[]));
        clocks
    }

    #[test]
    fn clocks_form_a_lattice() {
        for a in &all() {
            for b in &all() {
                let mut ab = a.clone();
                assert_eq!(ab.join(b), !a.covers(b), "join says whether it grew");
                let mut ba = b.clone();
                ba.join(a);
                assert!(ab.covers(&ba) && ba.covers(&ab), "join commutes");
                assert!(ab.covers(a) && ab.covers(b), "join is an upper bound");
                for c in &all() {
                    assert!(
                        !(c.covers(a) && c.covers(b)) || c.covers(&ab),
                        "join is the least upper bound"
                    );
                }
            }
        }
    }

    #[test]
    fn a_zero_clock_owns_no_memory() {
        let mut zero = LocationClock::default();
        zero.raise(LocId(7), Timestamp(0));
        zero.set(LocId(9), Timestamp(0));
        zero.join(&LocationClock::default());
        assert!(zero.is_zero());
        assert_eq!(zero.entries.capacity(), 0);
    }
}
