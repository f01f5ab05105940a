//! Sets of events.

/// A set of numbers below a bound that all sets of one graph share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    /// Adds a number. Whether it is new.
    pub(super) fn insert(&mut self, n: u32) -> bool {
        let word = &mut self.0[n as usize / 64];
        let before = *word;
        *word |= 1 << (n % 64);
        *word != before
    }

    pub(super) fn contains(&self, n: u32) -> bool {
        self.0[n as usize / 64] & 1 << (n % 64) != 0
    }

    /// Adds all of another set.
    pub(super) fn join(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Whether the two have something in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(i as u32 * 64 + bit)
            })
        })
    }
}
