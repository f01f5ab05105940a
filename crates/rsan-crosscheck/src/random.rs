//! The numbers that random programs are made of: a seed that a test or a report names keeps its program.

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(rsan_random::Random);

impl Random {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        Self(rsan_random::Random::new(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `n`, which is not 0: the low bits count here, as they always have.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// An index, by weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut n = self.below(weights.iter().sum());
        for (i, &w) in weights.iter().enumerate() {
            if n < w {
                return i;
            }
            n -= w;
        }
        unreachable!("the weights sum to more than any number drawn")
    }
}
