//! Hash tables of states, values and fingerprints: these are hashes, or mixed like them, and nobody chooses them to do harm.

use rsan_random::mix;
use std::hash::{BuildHasherDefault, Hasher};

/// Mixes words.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mixer(u64);

/// For a table.
pub(crate) type Mixed = BuildHasherDefault<Mixer>;

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
