//! What a child is to find out.

/// Old values that are remembered for compare-and-swaps.
const REPLACEABLE: usize = 16;

/// What sort of access was handed an old value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A load.
    Load,
    /// A compare-and-swap, which failed.
    Cas {
        /// With what it compares.
        expected: u128,
    },
    /// A read-modify-write that wrote what it read.
    Rmw,
}

/// What a child is to find out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// Where the program makes the access.
    pub(super) pc: usize,
    /// The location.
    pub(super) address: usize,
    /// Its size.
    pub(super) bytes: usize,
    /// The sort of access.
    pub(super) kind: Kind,
    /// Whether the access acquires when it reads only.
    pub(super) acquires: bool,
    /// The value that the access returns.
    pub(super) handed: u128,
    /// The value that the access found.
    pub(super) current: u128,
    /// What is handed is the current value: where does the program go with that?
    pub(super) is_reference: bool,
    /// Other accesses to the location get the old value, too, as long as the program knows no other.
    pub(super) everywhere: bool,
    /// Old values that a compare-and-swap could replace.
    pub(super) replaceable: [Option<Replaceable>; REPLACEABLE],
}

/// An old value that a compare-and-swap could replace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Replaceable {
    pub(super) value: u128,
    /// Also by one that is seq_cst.
    pub(super) by_sc: bool,
}

impl Question {
    pub(super) const NONE: Self = Self {
        pc: 0,
        address: 0,
        bytes: 0,
        kind: Kind::Load,
        acquires: false,
        handed: 0,
        current: 0,
        is_reference: false,
        everywhere: false,
        replaceable: [None; REPLACEABLE],
    };

    /// Whether a compare-and-swap that expects this value could replace an old write. If there are too many to tell,
    /// it could.
    pub(super) fn can_replace(&self, value: u128, sc: bool) -> bool {
        let is_full = self.replaceable.iter().all(Option::is_some);
        let mut known = self.replaceable.iter().flatten();
        is_full || known.any(|old| old.value == value && (old.by_sc || !sc))
    }
}
