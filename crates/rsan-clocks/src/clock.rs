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

/// Entries that need no allocation: enough for the threads of small programs, and a clock of threads has 24 bytes.
const INLINE: usize = 5;

/// A map from `I` to `T`, pointwise ordered; entries that were never raised are `T::default()`, the least.
#[derive(Clone, Debug)]
pub struct Clock<I, T> {
    entries: Entries<T>,
    index: PhantomData<fn(I)>,
}

/// What is beyond the end is the least. A clock moves to the heap when it needs more, and stays there.
#[derive(Clone, Debug)]
enum Entries<T> {
    /// Nothing was ever raised, or the clock was cleared: all joins with it are for free.
    Absent,
    Inline([T; INLINE]),
    Heap(Box<[T]>),
}

/// Which write of each location is the newest in some set.
pub type LocationClock = Clock<LocId, Timestamp>;

impl<I, T> Default for Clock<I, T> {
    #[inline]
    fn default() -> Self {
        Self {
            entries: Entries::Absent,
            index: PhantomData,
        }
    }
}

impl<I: ClockIndex, T: Copy + Ord + Default> Clock<I, T> {
    /// Its entries by position; what is beyond the end is the least.
    #[inline]
    pub fn slice(&self) -> &[T] {
        match &self.entries {
            Entries::Absent => &[],
            Entries::Inline(entries) => entries,
            Entries::Heap(entries) => entries,
        }
    }

    /// The entry of `i`.
    #[inline]
    pub fn get(&self, i: I) -> T {
        let position = i.position();
        match &self.entries {
            Entries::Inline(entries) if position < INLINE => entries[position],
            Entries::Heap(entries) if position < entries.len() => entries[position],
            _ => T::default(),
        }
    }

    /// Sets the entry of `i`.
    #[inline]
    pub fn set(&mut self, i: I, value: T) {
        let position = i.position();
        match &mut self.entries {
            Entries::Inline(entries) if position < INLINE => entries[position] = value,
            Entries::Heap(entries) if position < entries.len() => entries[position] = value,
            _ if value == T::default() => {}
            _ => self.with_room(position + 1)[position] = value,
        }
    }

    /// Its entries, at least `count` of them.
    #[cold]
    fn with_room(&mut self, count: usize) -> &mut [T] {
        if self.slice().len() < count {
            self.entries = if count <= INLINE {
                Entries::Inline([T::default(); INLINE])
            } else {
                // At most a quarter more than needed, and few steps until there are many.
                let step = (count.next_power_of_two() / 8).max(4);
                let mut entries = vec![T::default(); count.next_multiple_of(step)];
                let old = self.slice();
                entries[..old.len()].copy_from_slice(old);
                Entries::Heap(entries.into())
            };
        }
        match &mut self.entries {
            Entries::Absent => &mut [],
            Entries::Inline(entries) => entries,
            Entries::Heap(entries) => entries,
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
        match (&mut self.entries, &other.entries) {
            (_, Entries::Absent) => false,
            (Entries::Inline(mine), Entries::Inline(theirs)) => join(mine, theirs),
            _ => self.join_slices(other),
        }
    }

    #[inline(never)]
    fn join_slices(&mut self, other: &Self) -> bool {
        let theirs = other.slice();
        let used = theirs.iter().rposition(|e| *e != T::default());
        let Some(last) = used else { return false };
        join(&mut self.with_room(last + 1)[..=last], &theirs[..=last])
    }

    /// Becomes a copy of `other`, reusing its own memory.
    #[inline]
    pub fn assign(&mut self, other: &Self) {
        match (&mut self.entries, &other.entries) {
            (Entries::Absent, Entries::Absent) => {}
            (Entries::Inline(mine), Entries::Inline(theirs)) => *mine = *theirs,
            (Entries::Absent, Entries::Inline(theirs)) => self.entries = Entries::Inline(*theirs),
            _ => self.assign_slices(other),
        }
    }

    #[inline(never)]
    fn assign_slices(&mut self, other: &Self) {
        let theirs = other.slice();
        match &mut self.entries {
            Entries::Heap(mine) if mine.len() >= theirs.len() && !theirs.is_empty() => {
                mine[..theirs.len()].copy_from_slice(theirs);
                mine[theirs.len()..].fill(T::default());
            }
            _ => self.entries = other.entries.clone(),
        }
    }

    /// Becomes zero again.
    #[inline]
    pub fn clear(&mut self) {
        match &mut self.entries {
            Entries::Absent => {}
            Entries::Inline(_) => self.entries = Entries::Absent,
            Entries::Heap(entries) => entries.fill(T::default()),
        }
    }

    /// Whether every entry is the least one.
    #[inline]
    pub fn is_zero(&self) -> bool {
        match &self.entries {
            Entries::Absent => true,
            Entries::Inline(entries) => entries.iter().all(|e| *e == T::default()),
            Entries::Heap(entries) => entries.iter().all(|e| *e == T::default()),
        }
    }

    /// Whether every entry is at most the greater one of two others.
    #[inline]
    pub fn is_within_either(&self, one: &Self, two: &Self) -> bool {
        match (&self.entries, &one.entries, &two.entries) {
            (Entries::Absent, _, _) => true,
            (Entries::Inline(mine), Entries::Inline(one), Entries::Inline(two)) => {
                let beyond = |i: usize| mine[i] > one[i] && mine[i] > two[i];
                !(0..INLINE).fold(false, |any, i| any | beyond(i))
            }
            _ => self.is_slice_within_either(one, two),
        }
    }

    #[inline(never)]
    fn is_slice_within_either(&self, one: &Self, two: &Self) -> bool {
        let get = |clock: &Self, i: usize| clock.slice().get(i).copied().unwrap_or_default();
        let mine = self.slice();
        (0..mine.len()).all(|i| mine[i] <= get(one, i).max(get(two, i)))
    }

    /// Whether every entry is at least that of `other`.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.entries, &other.entries) {
            (_, Entries::Absent) => true,
            (Entries::Inline(mine), Entries::Inline(theirs)) => {
                !(0..INLINE).fold(false, |any, i| any | (mine[i] < theirs[i]))
            }
            _ => self.covers_slice(other),
        }
    }

    #[inline(never)]
    fn covers_slice(&self, other: &Self) -> bool {
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
                for c in &all() {
                    let mut either = b.clone();
                    either.join(c);
                    assert_eq!(a.is_within_either(b, c), either.covers(a));
                }
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
        assert!(matches!(zero.entries, Entries::Absent));
    }
}
