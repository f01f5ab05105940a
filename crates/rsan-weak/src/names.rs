//! Locations by name. Names are addresses: a multiplication spreads them well enough.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from names of locations.
pub(crate) type Names<T> = HashMap<u64, T, BuildHasherDefault<Spread>>;

/// Hashes one word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // The map takes high and low bits: both depend on all of the word.
        let factor = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        let product = u128::from(self.0 ^ word).wrapping_mul(factor);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
