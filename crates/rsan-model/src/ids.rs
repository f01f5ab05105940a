//! Newtypes for indices, so that a thread is never mistaken for a location.

use std::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a `usize`, for slices.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The newtype for a slice index.
            ///
            /// # Panics
            /// When `index` does not fit in 32 bits; every reader refuses such sizes first.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("index fits in 32 bits"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index!(
    /// A thread of a program, in source order.
    ThreadId,
    "T"
);
index!(
    /// A shared location; the elements of an array are consecutive locations.
    LocId,
    "loc"
);
index!(
    /// A register (local variable) of one thread.
    RegId,
    "r"
);
index!(
    /// An event of an execution graph.
    EventId,
    "e"
);
index!(
    /// An instruction index in one thread's code.
    Pc,
    "@"
);
