//! Random numbers from a seed: SplitMix64 (Steele, Lea and Flood 2014), one word of state, the same on every machine.
//!
//! Schedules, random programs and walks all draw from here, so a printed seed reproduces what was drawn. A change of a
//! number is a change of what every seed means.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// What a seed grows by with every number drawn: the generator of `seed + STEP` gives what that of `seed` gives
    /// after its first number.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator for this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let drawn = mix(self.0);
        self.0 = self.0.wrapping_add(Self::STEP);
        drawn
    }

    /// A number below `n`, which is not 0. The high bits of a product: no division, and a bias below `n / 2^64`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
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
}

/// The first number of a seed: a bijection in which every bit of the seed decides about every bit of the number.
#[inline]
pub const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(Random::STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the published generator.
    #[test]
    fn seeds_mean_what_they_mean_elsewhere() {
        let mut random = Random::new(0);
        let drawn = [(); 3].map(|()| random.bits());
        assert_eq!(
            drawn,
            [
                0xe220_a839_7b1d_cdaf,
                0x6e78_9e6a_a1b9_65f4,
                0x06c4_5d18_8009_454f
            ]
        );
        assert_eq!(Random::new(Random::STEP).bits(), drawn[1]);
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[random.between(2, 5)] += 1;
        }
        assert_eq!(seen[..2], [0, 0]);
        assert!(seen[2..].iter().all(|&count| count > 100), "{seen:?}");
        assert!(!random.chance(0) && random.chance(100));
    }
}
