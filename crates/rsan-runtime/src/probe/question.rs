//! What a child is to find out.

/// Old values that are remembered for compare-and-swaps.
const REPLACEABLE: usize = 16;

/// Numbers that a question is.
const WORDS: usize = 5 + 2 * 3 + 3 * REPLACEABLE;

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

/// Which further accesses to the location get the old value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Again {
    /// None.
    Never,
    /// The same instruction.
    Here,
    /// All: compilers copy loops.
    Everywhere,
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
    /// Which further accesses get the old value, as long as the program knows no other.
    pub(super) again: Again,
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
        again: Again::Never,
        replaceable: [None; REPLACEABLE],
    };

    /// All of it but the state in which a compare-and-swap failed, as numbers.
    pub(super) fn words(&self) -> [u64; WORDS] {
        let halves = |value: u128| [value as u64, (value >> 64) as u64];
        let (kind, expected) = match self.kind {
            Kind::Load => (0, 0),
            Kind::Cas { expected } => (1, expected),
            Kind::Rmw => (2, 0),
        };
        let flags = [self.acquires, self.is_reference];
        let flags = flags
            .iter()
            .fold(self.again as u64, |all, &flag| all << 1 | u64::from(flag));
        let head = [
            self.pc as u64,
            self.address as u64,
            self.bytes as u64,
            kind,
            flags,
        ];
        let values = [expected, self.handed, self.current].into_iter();
        let replaceable = self.replaceable.iter().flat_map(|old| {
            let [low, high] = halves(old.map_or(0, |old| old.value));
            [low, high, old.map_or(0, |old| 1 + u64::from(old.by_sc))]
        });
        let mut words = [0; WORDS];
        let all = head
            .into_iter()
            .chain(values.flat_map(halves))
            .chain(replaceable);
        words
            .iter_mut()
            .zip(all)
            .for_each(|(place, word)| *place = word);
        words
    }

    /// Whether a compare-and-swap that expects this value could replace an old write. If there are too many to tell,
    /// it could.
    pub(super) fn can_replace(&self, value: u128, sc: bool) -> bool {
        let is_full = self.replaceable.iter().all(Option::is_some);
        let mut known = self.replaceable.iter().flatten();
        is_full || known.any(|old| old.value == value && (old.by_sc || !sc))
    }
}
