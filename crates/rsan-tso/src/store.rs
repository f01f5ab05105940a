//! The states seen so far, each with the step that led to it.
//!
//! A state is a list of numbers, kept as variable-length bytes in one arena; a table of indices finds it by its hash.

use rsan_model::Value;
use std::hash::Hasher;

/// How a state was reached: from which one, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The state before; [`Origin::NONE`] for the first ones.
    pub(crate) parent: u32,
    pub(crate) thread: u16,
    /// The transition.
    pub(crate) transition: u32,
}

impl Origin {
    pub(crate) const NONE: u32 = u32::MAX;

    pub(crate) fn new(parent: u32, thread: usize, transition: u32) -> Self {
        Self {
            parent,
            thread: thread as u16,
            transition,
        }
    }

    /// Of a state that nothing led to.
    pub(crate) const ROOT: Self = Self {
        parent: Self::NONE,
        thread: 0,
        transition: 0,
    };
}

/// States by number.
pub(crate) struct Store {
    bytes: Vec<u8>,
    /// Where each state ends in `bytes`.
    ends: Vec<usize>,
    origins: Vec<Origin>,
    /// Open addressing; 0 is free, else the number of a state plus one.
    table: Vec<u32>,
    scratch: Vec<u8>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            origins: Vec::new(),
            table: vec![0; 1 << 10],
            scratch: Vec::new(),
        }
    }
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let words = self.ends.capacity() * 8 + self.origins.capacity() * 12;
        (self.bytes.capacity() + words + self.table.len() * 4) as u64
    }

    pub(crate) fn origin(&self, state: u32) -> Origin {
        self.origins[state as usize]
    }

    /// The numbers of a state.
    pub(crate) fn read(&self, state: u32, numbers: &mut Vec<Value>) {
        numbers.clear();
        let mut bytes = self.slice(state).iter();
        while let Some(&first) = bytes.next() {
            let mut raw = u32::from(first & 0x7f);
            let (mut last, mut shift) = (first, 7);
            while last & 0x80 != 0 {
                last = *bytes.next().expect("a number is complete");
                raw |= u32::from(last & 0x7f) << shift;
                shift += 7;
            }
            numbers.push((raw >> 1) as i32 ^ -((raw & 1) as i32));
        }
    }

    fn slice(&self, state: u32) -> &[u8] {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.bytes[start..self.ends[state]]
    }

    /// Adds a state unless it is there; returns its number, and whether it is new.
    pub(crate) fn insert(&mut self, numbers: &[Value], origin: Origin) -> (u32, bool) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        for &number in numbers {
            let mut raw = (number << 1 ^ number >> 31) as u32;
            while raw >= 0x80 {
                scratch.push(raw as u8 | 0x80);
                raw >>= 7;
            }
            scratch.push(raw as u8);
        }
        let new = self.insert_bytes(&scratch, origin);
        self.scratch = scratch;
        new
    }

    fn insert_bytes(&mut self, state: &[u8], origin: Origin) -> (u32, bool) {
        if (self.ends.len() + 1) * 3 > self.table.len() * 2 {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = hash(state) as usize & mask;
        while self.table[at] != 0 {
            let other = self.table[at] - 1;
            if self.slice(other) == state {
                return (other, false);
            }
            at = (at + 1) & mask;
        }
        let number = self.ends.len() as u32;
        self.table[at] = number + 1;
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
        self.origins.push(origin);
        (number, true)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![0; size];
        for number in 0..self.ends.len() as u32 {
            let mut at = hash(self.slice(number)) as usize & (size - 1);
            while table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = number + 1;
        }
        self.table = table;
    }
}

/// FNV-like, eight bytes at a time, with a final mix.
fn hash(bytes: &[u8]) -> u64 {
    #[derive(Default)]
    struct Mix(u64);
    impl Hasher for Mix {
        fn finish(&self) -> u64 {
            let h = self.0 ^ self.0 >> 32;
            h.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
        }
        fn write(&mut self, bytes: &[u8]) {
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                let mixed = self.0.rotate_left(23) ^ u64::from_le_bytes(word);
                self.0 = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
            }
        }
    }
    let mut mix = Mix(bytes.len() as u64);
    mix.write(bytes);
    mix.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_as_they_were_put_in() {
        let mut store = Store::default();
        let states: Vec<Vec<i32>> = (0..3000)
            .map(|n| vec![n, -n, i32::MIN + n, i32::MAX - n, n % 7])
            .collect();
        for (i, state) in states.iter().enumerate() {
            assert_eq!(store.insert(state, Origin::ROOT), (i as u32, true));
        }
        let mut numbers = Vec::new();
        for (i, state) in states.iter().enumerate() {
            assert_eq!(store.insert(state, Origin::ROOT), (i as u32, false));
            store.read(i as u32, &mut numbers);
            assert_eq!(&numbers, state);
        }
        assert_eq!(store.len(), states.len());
    }
}
