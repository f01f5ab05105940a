//! Memory orders. There is one type per kind of operation, so an illegal order (a release load, say)
//! cannot be written down.

use std::fmt;

/// The order of an atomic load, of a failed compare-and-swap, or of a blocking read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReadOrd {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire` (and `consume`, which every compiler promotes to it)
    Acquire,
    /// `memory_order_seq_cst`
    SeqCst,
}

/// The order of an atomic store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WriteOrd {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_release`
    Release,
    /// `memory_order_seq_cst`
    SeqCst,
}

/// The order of an atomic read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RmwOrd {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

/// The order of a thread fence; a relaxed fence does nothing and is not represented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FenceOrd {
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

impl ReadOrd {
    /// All orders, weakest first.
    pub const ALL: [Self; 3] = [Self::Relaxed, Self::Acquire, Self::SeqCst];

    /// Whether a read of this order synchronises with a release.
    pub fn acquires(self) -> bool {
        self != Self::Relaxed
    }

    /// Whether it is sequentially consistent.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }
}

impl WriteOrd {
    /// All orders, weakest first.
    pub const ALL: [Self; 3] = [Self::Relaxed, Self::Release, Self::SeqCst];

    /// Whether a write of this order heads a release sequence.
    pub fn releases(self) -> bool {
        self != Self::Relaxed
    }

    /// Whether it is sequentially consistent.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }
}

/// The order of an access that only reads, where orders of all accesses are of one type.
impl From<ReadOrd> for RmwOrd {
    #[inline]
    fn from(ord: ReadOrd) -> Self {
        match ord {
            ReadOrd::Relaxed => Self::Relaxed,
            ReadOrd::Acquire => Self::Acquire,
            ReadOrd::SeqCst => Self::SeqCst,
        }
    }
}

/// The order of an access that only writes, where orders of all accesses are of one type.
impl From<WriteOrd> for RmwOrd {
    #[inline]
    fn from(ord: WriteOrd) -> Self {
        match ord {
            WriteOrd::Relaxed => Self::Relaxed,
            WriteOrd::Release => Self::Release,
            WriteOrd::SeqCst => Self::SeqCst,
        }
    }
}

impl RmwOrd {
    /// All orders, weakest first (acquire and release are incomparable).
    pub const ALL: [Self; 5] = [
        Self::Relaxed,
        Self::Acquire,
        Self::Release,
        Self::AcqRel,
        Self::SeqCst,
    ];

    /// The order whose halves are given; seq_cst only when both are.
    pub fn from_halves(read: ReadOrd, write: WriteOrd) -> Self {
        match (read, write) {
            (ReadOrd::SeqCst, WriteOrd::SeqCst) => Self::SeqCst,
            (r, w) => match (r.acquires(), w.releases()) {
                (false, false) => Self::Relaxed,
                (true, false) => Self::Acquire,
                (false, true) => Self::Release,
                (true, true) => Self::AcqRel,
            },
        }
    }

    /// The order of the read half.
    pub fn read(self) -> ReadOrd {
        match self {
            Self::Relaxed | Self::Release => ReadOrd::Relaxed,
            Self::Acquire | Self::AcqRel => ReadOrd::Acquire,
            Self::SeqCst => ReadOrd::SeqCst,
        }
    }

    /// The order of the write half.
    pub fn write(self) -> WriteOrd {
        match self {
            Self::Relaxed | Self::Acquire => WriteOrd::Relaxed,
            Self::Release | Self::AcqRel => WriteOrd::Release,
            Self::SeqCst => WriteOrd::SeqCst,
        }
    }

    /// Whether the read half acquires.
    pub fn acquires(self) -> bool {
        self.read().acquires()
    }

    /// Whether the write half releases.
    pub fn releases(self) -> bool {
        self.write().releases()
    }

    /// Whether it is sequentially consistent.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }
}

impl FenceOrd {
    /// All orders, weakest first (acquire and release are incomparable).
    pub const ALL: [Self; 4] = [Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    /// Whether earlier reads of the thread synchronise through this fence.
    pub fn acquires(self) -> bool {
        self != Self::Release
    }

    /// Whether later writes of the thread synchronise through this fence.
    pub fn releases(self) -> bool {
        self != Self::Acquire
    }

    /// Whether it is sequentially consistent.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }
}

macro_rules! display {
    ($type:ty, $($variant:ident => $text:literal),+) => {
        impl $type {
            /// The C name without the `memory_order_` prefix.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $type {
            /// As [`name`](Self::name).
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

display!(ReadOrd, Relaxed => "relaxed", Acquire => "acquire", SeqCst => "seq_cst");
display!(WriteOrd, Relaxed => "relaxed", Release => "release", SeqCst => "seq_cst");
display!(RmwOrd, Relaxed => "relaxed", Acquire => "acquire", Release => "release", AcqRel => "acq_rel", SeqCst => "seq_cst");
display!(FenceOrd, Acquire => "acquire", Release => "release", AcqRel => "acq_rel", SeqCst => "seq_cst");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_an_rmw_order_make_it_again() {
        for ord in RmwOrd::ALL {
            assert_eq!(RmwOrd::from_halves(ord.read(), ord.write()), ord);
        }
    }
}
