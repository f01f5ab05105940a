//! When two findings are the same, as far as addresses tell: the same kind, at the same instructions.
//!
//! The runtime leaves out what it has written already, and the command what another run or process has shown. Both ask here;
//! places are addresses for the one and instructions of modules for the other.

use crate::names::Misuse;

/// What makes findings distinct.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key<P> {
    /// The accesses of a race, the smaller place first.
    Race([P; 2]),
    /// The weak access and the write that it misses. Which older write it may take does not count.
    Violation([P; 2]),
    /// Where the threads of a deadlock wait.
    Deadlock(Vec<P>),
    /// The access and what makes it wrong.
    Misuse(Misuse, [P; 2]),
    /// Where the locks are taken, the smallest place first.
    Inversion(Vec<P>),
}

impl<P: Ord> Key<P> {
    /// A race is the same whichever access comes first.
    pub fn race(access: P, earlier: P) -> Self {
        let mut places = [access, earlier];
        places.sort_unstable();
        Self::Race(places)
    }

    /// A weak access.
    pub fn violation(access: P, missed: P) -> Self {
        Self::Violation([access, missed])
    }

    /// A misuse; `earlier` is a place of no instruction if nothing is known.
    pub fn misuse(what: Misuse, access: P, earlier: P) -> Self {
        Self::Misuse(what, [access, earlier])
    }

    /// Threads that wait.
    pub fn deadlock(threads: impl Iterator<Item = P>) -> Self {
        Self::Deadlock(threads.collect())
    }

    /// Locks that are taken in several orders: the same whichever is seen first.
    pub fn inversion(locks: impl Iterator<Item = P>) -> Self {
        let mut places: Vec<P> = locks.collect();
        places.sort_unstable();
        Self::Inversion(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn races_and_inversions_have_no_direction() {
        assert_eq!(Key::race(1, 2), Key::race(2, 1));
        assert_ne!(Key::violation(1, 2), Key::violation(2, 1));
        let inversion = |locks: [u8; 3]| Key::inversion(locks.into_iter());
        assert_eq!(inversion([3, 1, 2]), inversion([1, 2, 3]));
        assert_ne!(inversion([1, 1, 2]), inversion([1, 2, 2]));
    }

    #[test]
    fn misuses_are_told_apart_by_what_they_are() {
        let of = |what| Key::misuse(what, 1, 2);
        assert_ne!(of(Misuse::DoubleFree), of(Misuse::InvalidFree));
        assert_eq!(of(Misuse::Lock), of(Misuse::Lock));
    }
}
