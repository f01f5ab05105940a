//! Clocks: maps from an index (a thread, a location) to a number, where absent means "nothing yet".
//!
//! All clocks are used through one type, so that joins, laziness and "did it grow?" are written once. A clock
//! with few entries owns no memory, and there is no difference between a zero clock and an absent one.

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

/// Entries that need no allocation: enough for the threads of small programs.
const INLINE: usize = 6;

/// A map from `I` to `T`, pointwise ordered; entries that were never raised are `T::default()`, the least.
#[derive(Clone, Debug)]
pub struct Clock<I, T> {
    entries: Entries<T>,
    index: PhantomData<fn(I)>,
}

/// What is beyond the end is the least. A clock moves to the heap when it needs more, and stays there.
#[derive(Clone, Debug)]
enum Entries<T> {
    Inline([T; INLINE]),
    Heap(Vec<T>),
}

/// Which write of each location is the newest in some set.
pub type LocationClock = Clock<LocId, Timestamp>;

impl<I, T: Copy + Default> Default for Clock<I, T> {
    #[inline]
    fn default() -> Self {
        Self {
            entries: Entries::Inline([T::default(); INLINE]),
            index: PhantomData,
        }
    }
}

impl<I: ClockIndex, T: Copy + Ord + Default> Clock<I, T> {
    #[inline]
    fn slice(&self) -> &[T] {
        match &self.entries {
            Entries::Inline(entries) => entries,
            Entries::Heap(entries) => entries,
        }
    }

    /// The entry of `i`.
    #[inline]
    pub fn get(&self, i: I) -> T {
        self.slice().get(i.position()).copied().unwrap_or_default()
    }

    /// Sets the entry of `i`.
    #[inline]
    pub fn set(&mut self, i: I, value: T) {
        let entries = match &mut self.entries {
            Entries::Inline(entries) => &mut entries[..],
            Entries::Heap(entries) => &mut entries[..],
        };
        match entries.get_mut(i.position()) {
            Some(entry) => *entry = value,
            None if value == T::default() => {}
            None => self.heap(i.position() + 1)[i.position()] = value,
        }
    }

    /// Its entries on the heap, at least `count` of them.
    #[cold]
    fn heap(&mut self, count: usize) -> &mut Vec<T> {
        if let Entries::Inline(few) = &self.entries {
            let mut entries = Vec::with_capacity(count.max(INLINE));
            entries.extend_from_slice(few);
            self.entries = Entries::Heap(entries);
        }
        match &mut self.entries {
            Entries::Heap(entries) => {
                if entries.len() < count {
                    entries.resize(count, T::default());
                }
                entries
            }
            Entries::Inline(_) => unreachable!("they were just moved"),
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
        if let (Entries::Inline(mine), Entries::Inline(theirs)) =
            (&mut self.entries, &other.entries)
        {
            return join(mine, theirs);
        }
        let theirs = other.slice();
        let used = theirs.iter().rposition(|e| *e != T::default());
        let Some(last) = used else { return false };
        let theirs = &theirs[..=last];
        match &mut self.entries {
            Entries::Inline(mine) if last < INLINE => join(&mut mine[..=last], theirs),
            Entries::Heap(mine) if last < mine.len() => join(&mut mine[..=last], theirs),
            Entries::Inline(_) | Entries::Heap(_) => {
                join(&mut self.heap(last + 1)[..=last], theirs)
            }
        }
    }

    /// Becomes a copy of `other`, reusing its own memory.
    #[inline]
    pub fn assign(&mut self, other: &Self) {
        match (&mut self.entries, &other.entries) {
            (Entries::Inline(mine), Entries::Inline(theirs)) => *mine = *theirs,
            (Entries::Heap(mine), Entries::Inline(theirs)) => {
                mine.clear();
                mine.extend_from_slice(theirs);
            }
            (Entries::Heap(mine), Entries::Heap(theirs)) => mine.clone_from(theirs),
            (Entries::Inline(_), Entries::Heap(theirs)) if theirs.is_empty() => self.clear(),
            (Entries::Inline(_), Entries::Heap(theirs)) => {
                self.entries = Entries::Heap(theirs.clone());
            }
        }
    }

    /// Becomes zero again.
    #[inline]
    pub fn clear(&mut self) {
        match &mut self.entries {
            Entries::Inline(entries) => *entries = [T::default(); INLINE],
            Entries::Heap(entries) => entries.clear(),
        }
    }

    /// Whether every entry is the least one.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.slice().iter().all(|e| *e == T::default())
    }

    /// Whether every entry is at least that of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        let mine = |i: usize| self.slice().get(i).copied().unwrap_or_default();
        let theirs = other.slice();
        (0..theirs.len()).all(|i| mine(i) >= theirs[i])
    }
}

/// Pointwise maximum of slices of one length; says whether anything grew.
#[inline]
fn join<T: Copy + Ord>(mine: &mut [T], theirs: &[T]) -> bool {
    let mut grew = false;
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        grew |= *mine < *theirs;
        *mine = (*mine).max(*theirs);
    }
    grew
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

    /// With entries inline, on the heap, and on the heap but not needed there.
    fn all() -> Vec<LocationClock> {
        let mut clocks = Vec::new();
        for n in 0..27 {
            clocks.push(clock(&[n % 3, n / 3 % 3, n / 9]));
        }
        for n in 0..9 {
            clocks.push(clock(&[n % 3, 0, 0, 0, 0, 0, 0, n / 3]));
        }
        clocks.push(clock(&[]));
        let mut cleared = clock(&[0, 0, 0, 0, 0, 0, 0, 1]);
        cleared.clear();
        clocks.push(cleared);
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
                ab.assign(b);
                assert!(ab.covers(b) && b.covers(&ab), "assign copies");
                ab.join(a);
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
        zero.join(&{
            let mut cleared = clock(&[0, 0, 0, 0, 0, 0, 0, 1]);
            cleared.clear();
            cleared
        });
        assert!(zero.is_zero());
        assert!(matches!(zero.entries, Entries::Inline(_)));
    }
}
