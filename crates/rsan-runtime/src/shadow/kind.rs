//! How cells hold accesses: their kinds, and what these have to do with each other.

use rsan_clocks::write_log::{Epoch, Slot};

use rsan_log::Operation;

/// How an access looks in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Kind(pub(crate) u64);

/// The bit that only [`Kind::FREE`] has.
pub(crate) const FREED: u64 = 4;

impl Kind {
    /// Plain read.
    pub const READ: Self = Self(0);
    /// Plain write.
    pub const WRITE: Self = Self(1);
    /// Atomic read.
    pub const ATOMIC_READ: Self = Self(2);
    /// Atomic write or read-modify-write.
    pub const ATOMIC_WRITE: Self = Self(3);
    /// The memory was freed. It stands for no access, so that whatever the thread does next to the memory is looked at.
    pub const FREE: Self = Self(FREED | 3);
    /// The memory was allocated. It stands for no access, so that reports name the access.
    pub const ALLOCATE: Self = Self(8 | 3);

    /// The memory is about to be unmapped. It is in no cell, for then the memory is forgotten.
    pub const UNMAP: Self = Self(32 | 3);

    /// A lock or the like is used. It is in no cell, and only the life of its memory matters.
    pub const USE: Self = Self(16);

    #[inline]
    pub(crate) fn writes(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline]
    pub(crate) fn is_atomic(self) -> bool {
        self.0 & !1 == 2
    }

    /// Whether it has a stamp that tells between which changes of its thread's locks it was made.
    pub(crate) fn is_plain(self) -> bool {
        self.0 & 0xff < 2 || self == Self::FREE || self == Self::ALLOCATE
    }

    /// Whether two accesses of a byte that are not ordered race.
    #[inline]
    pub(crate) fn conflicts_with(self, other: Self) -> bool {
        (self.writes() || other.writes()) && !(self.is_atomic() && other.is_atomic())
    }

    /// Whether everything that races with `old` and not with what comes after it races with this.
    #[inline]
    pub(crate) fn stands_for(self, old: Self) -> bool {
        (self.writes() || !old.writes()) && (!self.is_atomic() || old.is_atomic())
    }

    /// As findings have it.
    pub fn operation(self) -> Operation {
        match self {
            Self::READ => Operation::Read,
            Self::WRITE => Operation::Write,
            Self::ATOMIC_READ => Operation::AtomicRead,
            Self::ATOMIC_WRITE => Operation::AtomicWrite,
            Self::USE => Operation::Use,
            Self::ALLOCATE => Operation::Allocation,
            Self::UNMAP => Operation::Unmapping,
            _ => Operation::Free,
        }
    }

    /// The bits in which the kind of another access has to be like this one to stand for it. Where memory was freed is
    /// worth to be known.
    #[inline]
    pub(crate) const fn telling_bits(self) -> u64 {
        match self {
            Self::READ => 2,
            Self::WRITE => 3,
            Self::ATOMIC_READ => 0,
            Self::ATOMIC_WRITE => 1,
            _ => 0xff,
        }
    }
}

/// A cell without mask and kind.
#[inline]
pub(crate) fn stamp(slot: Slot, epoch: Epoch) -> u64 {
    u64::from(slot.0) << 48 | u64::from(epoch.number()) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 4] = [
        Kind::READ,
        Kind::WRITE,
        Kind::ATOMIC_READ,
        Kind::ATOMIC_WRITE,
    ];

    #[test]
    fn a_stand_in_conflicts_with_whatever_the_old_one_does() {
        for new in KINDS {
            for old in KINDS.into_iter().filter(|old| new.stands_for(*old)) {
                for later in KINDS {
                    assert!(!old.conflicts_with(later) || new.conflicts_with(later));
                }
            }
        }
    }

    #[test]
    fn the_ends_of_a_life_are_plain_writes_that_stand_for_nothing() {
        for end in [Kind::FREE, Kind::ALLOCATE, Kind::UNMAP] {
            for kind in KINDS {
                assert!(end.conflicts_with(kind));
                let alike = (kind.0 ^ end.0) & kind.telling_bits() == 0;
                assert!(!alike || kind.is_atomic(), "{end:?} for {kind:?}");
            }
        }
    }

    #[test]
    fn the_telling_bits_say_what_stands_for_what() {
        for new in KINDS {
            for old in KINDS {
                let alike = (new.0 ^ old.0) & new.telling_bits() == 0;
                assert_eq!(alike, old.stands_for(new), "{old:?} for {new:?}");
            }
        }
    }
}
