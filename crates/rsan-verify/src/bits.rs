//! Fixed-width bit sets: the finite form of a clock.

/// A set of up to `64 * W` small numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self([0; W]);

    /// The numbers `start..end`.
    pub(crate) fn range(start: usize, end: usize) -> Self {
        let below = |n: usize| {
            let mut words = [0; W];
            for (i, word) in words.iter_mut().enumerate() {
                let bits = n.saturating_sub(64 * i).min(64);
                *word = if bits == 64 {
                    u64::MAX
                } else {
                    (1 << bits) - 1
                };
            }
            Self(words)
        };
        below(end).difference(below(start))
    }

    /// The set of one number.
    pub(crate) fn single(i: usize) -> Self {
        let mut set = Self::EMPTY;
        set.insert(i);
        set
    }

    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    #[inline]
    pub(crate) fn toggle(&mut self, i: usize) {
        self.0[i / 64] ^= 1 << (i % 64);
    }

    #[inline]
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn union(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    #[inline]
    pub(crate) fn symmetric_difference(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a ^= b;
        }
        self
    }

    #[inline]
    pub(crate) fn intersection(mut self, other: Self) -> Self {
        self.keep(other);
        self
    }

    #[inline]
    pub(crate) fn difference(mut self, other: Self) -> Self {
        self.remove(other);
        self
    }

    /// `self ∪= other`
    #[inline]
    pub(crate) fn add(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }

    /// `self ∩= other`
    #[inline]
    pub(crate) fn keep(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= b;
        }
    }

    /// `self \= other`
    #[inline]
    pub(crate) fn remove(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= !b;
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    #[inline]
    pub(crate) fn intersects(&self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The words, least significant first.
    #[inline]
    pub(crate) fn words(&self) -> &[u64; W] {
        &self.0
    }

    /// The set with these words.
    #[inline]
    pub(crate) fn from_words(words: [u64; W]) -> Self {
        Self(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cross_word_boundaries() {
        let set = Bits::<2>::range(60, 70);
        assert!(!set.contains(59) && set.contains(60) && set.contains(69) && !set.contains(70));
        assert!(set.difference(Bits::range(0, 128)).is_empty());
        assert!(set.intersects(Bits::single(65)));
    }
}
