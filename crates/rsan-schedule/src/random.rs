//! Random numbers from a seed: SplitMix64 (Steele, Lea and Flood 2014), one word of state, the same on every machine.

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
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0. The high bits of a product: no division, and a bias below `n / 2^64`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }
}
