//! Bit fields in words.

use crate::bits::Bits;

/// Slots of this many bits are mostly empty or full, and then packed as two bits.
pub(super) const SPARSE: usize = 16;

/// Writes bit fields into words, low bits first.
pub(super) struct Writer<'a> {
    words: &'a mut Vec<u64>,
    /// Where the state begins.
    start: usize,
    word: u64,
    used: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(words: &'a mut Vec<u64>) -> Self {
        Self {
            start: words.len(),
            words,
            word: 0,
            used: 0,
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, bits: u32) {
        if bits == 0 {
            return;
        }
        self.word |= value << self.used;
        self.used += bits;
        if self.used >= 64 {
            self.words.push(self.word);
            self.used -= 64;
            self.word = if self.used == 0 {
                0
            } else {
                value >> (bits - self.used)
            };
        }
    }

    /// Zeros up to this bit.
    #[inline]
    pub(super) fn skip_to(&mut self, bit: usize) {
        let mut left = bit - ((self.words.len() - self.start) * 64 + self.used as usize);
        while left > 0 {
            let bits = left.min(64);
            self.put(0, bits as u32);
            left -= bits;
        }
    }

    /// The bits of a slot; whether some slots are [`SPARSE`].
    #[inline(always)]
    pub(super) fn put_bits<const W: usize, const SOME: bool>(
        &mut self,
        set: &Bits<W>,
        width: usize,
    ) {
        if SOME && width >= SPARSE {
            self.put_many(set, width);
        } else {
            self.put(set.words()[0], width as u32);
        }
    }

    /// The same for slots that are mostly empty or full.
    fn put_many<const W: usize>(&mut self, set: &Bits<W>, width: usize) {
        let uniform = if set.is_empty() {
            Some(0)
        } else if *set == Bits::range(0, width) {
            Some(1)
        } else {
            None
        };
        self.put(u64::from(uniform.is_none()), 1);
        if let Some(full) = uniform {
            return self.put(full, 1);
        }
        let mut left = width;
        if left <= 64 {
            return self.put(set.words()[0], left as u32);
        }
        for &word in set.words() {
            let bits = left.min(64);
            self.put(word, bits as u32);
            left -= bits;
        }
    }

    /// Writes what is left, and zeros up to `length`, if all states have one.
    pub(super) fn finish(self, length: Option<usize>) {
        if self.used > 0 || self.words.len() == self.start {
            self.words.push(self.word);
        }
        if let Some(length) = length {
            self.words.resize(self.start + length, 0);
        }
    }
}

/// Reads what [`Writer`] wrote.
pub(super) struct Reader<'a> {
    words: &'a [u64],
    index: usize,
    used: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(words: &'a [u64]) -> Self {
        Self {
            words,
            index: 0,
            used: 0,
        }
    }

    #[inline(always)]
    pub(super) fn get(&mut self, bits: u32) -> u64 {
        if bits == 0 {
            return 0;
        }
        let mut value = self.words[self.index] >> self.used;
        let have = 64 - self.used;
        self.used += bits;
        if self.used >= 64 {
            self.index += 1;
            self.used -= 64;
            if have < bits {
                value |= self.words[self.index] << have;
            }
        }
        if bits == 64 {
            value
        } else {
            value & ((1 << bits) - 1)
        }
    }

    #[inline]
    pub(super) fn skip_to(&mut self, bit: usize) {
        (self.index, self.used) = (bit / 64, (bit % 64) as u32);
    }

    /// The bits of a slot; whether some slots are [`SPARSE`].
    #[inline(always)]
    pub(super) fn get_bits<const W: usize, const SOME: bool>(&mut self, width: usize) -> Bits<W> {
        if SOME && width >= SPARSE {
            return self.get_many(width);
        }
        let mut words = [0; W];
        words[0] = self.get(width as u32);
        Bits::from_words(words)
    }

    fn get_many<const W: usize>(&mut self, width: usize) -> Bits<W> {
        let mut words = [0; W];
        if self.get(1) == 0 {
            let full = self.get(1) != 0;
            return if full {
                Bits::range(0, width)
            } else {
                Bits::EMPTY
            };
        }
        let mut left = width;
        for word in &mut words {
            let bits = left.min(64);
            *word = self.get(bits as u32);
            left -= bits;
        }
        Bits::from_words(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields_of_every_width_are_read_back() {
        let mut words = Vec::new();
        let fields: Vec<(u64, u32)> = (1..=28)
            .map(|w| (0x5555_5555_5555_5555 & ((1 << w) - 1), w))
            .collect();
        let mut out = Writer::new(&mut words);
        fields.iter().for_each(|&(v, w)| out.put(v, w));
        out.put(u64::MAX, 64);
        out.finish(None);
        let mut input = Reader::new(&words);
        for (v, w) in fields {
            assert_eq!(input.get(w), v, "width {w}");
        }
        assert_eq!(input.get(64), u64::MAX);
    }
}
