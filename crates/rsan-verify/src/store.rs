//! The set of states found so far: packed, exact, and divided so that several threads can add to it at once.
//!
//! A state belongs to one of [`PARTITIONS`] by its hash. A partition keeps its states one after the other, in the
//! order in which they were found, and an index of open-addressed 32-bit entries: 24 bits say which state, and 8 bits
//! of the hash spare most comparisons with others. No hash ever stands for a state. A state costs its packed words, 4
//! bytes for its parent, 5 to 10 for the index, and 4 more where states differ in length.

use std::cmp::Ordering;

/// Number of partitions; a power of two.
pub(crate) const PARTITIONS: usize = 32;
const PARTITION_BITS: u32 = PARTITIONS.trailing_zeros();
/// States that a partition can hold: an index entry has 24 bits, and none of them is a state.
pub(crate) const PARTITION_LIMIT: usize = (1 << 24) - 1;
const EMPTY: u32 = u32::MAX;

/// A state: which partition, and where in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StateId(u32);

impl StateId {
    /// The first state of all; it is its own parent.
    pub(crate) fn new(partition: usize, index: usize) -> Self {
        Self((index as u32) << PARTITION_BITS | partition as u32)
    }

    pub(crate) fn partition(self) -> usize {
        self.0 as usize % PARTITIONS
    }

    pub(crate) fn index(self) -> usize {
        (self.0 >> PARTITION_BITS) as usize
    }
}

/// Which bits of packed states must agree for one to stand for another: all of them, or the first ones; then the
/// others must be a superset (docs/theory/finite.md, F17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    /// Words that must agree.
    words: usize,
    /// Bits of the next word that must agree.
    mask: u64,
}

impl Key {
    /// All bits.
    pub(crate) const ALL: Self = Self {
        words: usize::MAX,
        mask: 0,
    };

    /// The first bits.
    pub(crate) fn first(bits: usize) -> Self {
        Self {
            words: bits / 64,
            mask: (1 << (bits % 64)) - 1,
        }
    }

    /// Hashes what must agree.
    #[inline]
    pub(crate) fn hash(self, words: &[u64]) -> u64 {
        if self.words >= words.len() {
            return hash_words(words, 0);
        }
        hash_words(&words[..self.words], words[self.words] & self.mask)
    }

    /// Whether the state that is there stands for the new one, and whether it is the same.
    #[inline]
    fn covers(self, there: &[u64], new: &[u64]) -> Option<bool> {
        // States are a few words: a call of `memcmp` would take longer than this.
        let (mut same, mut superset) = (there.len() == new.len(), true);
        if self.words >= new.len() {
            same &= there.iter().zip(new).all(|(a, b)| a == b);
            return same.then_some(true);
        }
        for (i, (a, b)) in there.iter().zip(new).enumerate() {
            let differ = a ^ b;
            let key = match i.cmp(&self.words) {
                Ordering::Less => u64::MAX,
                Ordering::Equal => self.mask,
                Ordering::Greater => 0,
            };
            if differ & key != 0 {
                return None;
            }
            same &= differ == 0;
            superset &= b & !a == 0;
        }
        superset.then_some(same)
    }
}

/// Hashes packed words and one more; quality matters, secrecy does not.
#[inline]
fn hash_words(words: &[u64], last: u64) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15_u64;
    for &w in words.iter().chain([&last]) {
        let product = u128::from(h ^ w) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        h = (product as u64) ^ (product >> 64) as u64 ^ w.rotate_left(29);
    }
    let product = u128::from(h) * u128::from(0xa076_1d64_78bd_642f_u64);
    (product as u64) ^ (product >> 64) as u64
}

/// The partition of a hash.
#[inline]
pub(crate) fn partition_of(hash: u64) -> usize {
    (hash >> (64 - PARTITION_BITS)) as usize
}

/// Whether a state was there, and its index in the partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    New,
    Known(usize),
    /// Another state is there that stands for it.
    Covered,
}

/// The states of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    words: Vec<u64>,
    layout: Lengths,
    key: Key,
    parents: Vec<StateId>,
    index: Vec<u32>,
}

/// Where states begin in `words`.
#[derive(Clone, Debug)]
enum Lengths {
    /// All have this many words.
    Fixed(usize),
    /// The end of each.
    Ends(Vec<u32>),
}

impl Partition {
    /// A partition for states of this many words, or of different lengths.
    pub(crate) fn new(length: Option<usize>, key: Key) -> Self {
        Self {
            words: Vec::new(),
            key,
            layout: length.map_or(Lengths::Ends(Vec::new()), Lengths::Fixed),
            parents: Vec::new(),
            index: Vec::new(),
        }
    }

    /// Number of states.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The packed words of a state.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u64] {
        match &self.layout {
            Lengths::Fixed(length) => &self.words[index * length..][..*length],
            Lengths::Ends(ends) => {
                let start = index.checked_sub(1).map_or(0, |i| ends[i] as usize);
                &self.words[start..ends[index] as usize]
            }
        }
    }

    /// The state from which this one was first reached.
    pub(crate) fn parent(&self, index: usize) -> StateId {
        self.parents[index]
    }

    /// The index entry at which the search for a hash begins. Asking for those of several states first lets the
    /// processor fetch them at the same time.
    #[inline]
    pub(crate) fn entry(&self, hash: u64) -> u32 {
        let mask = self.index.len().wrapping_sub(1);
        self.index.get(hash as usize & mask).map_or(EMPTY, |&e| e)
    }

    /// The first word of the state of an index entry, if it may be that of the hash; likewise.
    #[inline]
    pub(crate) fn first_word(&self, entry: u32, hash: u64) -> u64 {
        let index = (entry >> 8) as usize;
        match &self.layout {
            Lengths::Fixed(length) if entry != EMPTY && entry & 0xff == tag(hash) => {
                self.words[index * length]
            }
            _ => 0,
        }
    }

    /// Adds a state unless it is there. The caller stops at [`PARTITION_LIMIT`].
    #[inline]
    pub(crate) fn insert(&mut self, words: &[u64], hash: u64, parent: StateId) -> Arrival {
        if self.len() * 5 >= self.index.len() * 4 {
            self.grow();
        }
        let mask = self.index.len() - 1;
        let tag = tag(hash);
        let mut at = hash as usize & mask;
        loop {
            let entry = self.index[at];
            if entry == EMPTY {
                break;
            }
            let index = (entry >> 8) as usize;
            if entry & 0xff == tag
                && let Some(same) = self.key.covers(self.get(index), words)
            {
                return if same {
                    Arrival::Known(index)
                } else {
                    Arrival::Covered
                };
            }
            at = (at + 1) & mask;
        }
        self.index[at] = (self.len() as u32) << 8 | tag;
        make_room(&mut self.words, words.len());
        make_room(&mut self.parents, 1);
        self.words.extend_from_slice(words);
        if let Lengths::Ends(ends) = &mut self.layout {
            make_room(ends, 1);
            ends.push(self.words.len() as u32);
        }
        self.parents.push(parent);
        Arrival::New
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.index.len() * 2).max(16);
        self.index.clear();
        self.index.resize(size, EMPTY);
        let mask = size - 1;
        for index in 0..self.parents.len() {
            let hash = self.key.hash(self.get(index));
            let mut at = hash as usize & mask;
            while self.index[at] != EMPTY {
                at = (at + 1) & mask;
            }
            self.index[at] = (index as u32) << 8 | tag(hash);
        }
    }

    /// Bytes allocated.
    pub(crate) fn memory(&self) -> u64 {
        let ends = match &self.layout {
            Lengths::Fixed(_) => 0,
            Lengths::Ends(ends) => ends.capacity(),
        };
        let small = ends + self.parents.capacity() + self.index.capacity();
        (self.words.capacity() * 8 + small * 4) as u64
    }
}

/// Grows a vector by an eighth at a time: most of the memory is in these, and it should not be half empty.
#[inline]
fn make_room<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + vec.len() / 8);
    }
}

/// Bits of the hash that neither the partition nor, in practice, the position uses.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 40) as u32 & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_once_and_read_back() {
        let words = |i: u64| vec![i % 105; 1 + i as usize % 5];
        let same = |i: u64| vec![i % 105, 1, 2];
        let parent = StateId::new(3, 17);
        type Words<'a> = &'a dyn Fn(u64) -> Vec<u64>;
        for (length, words) in [(None, &words as Words<'_>), (Some(3), &same)] {
            let mut partition = Partition::new(length, Key::ALL);
            for i in 0..1000 {
                let w = words(i);
                let arrival = partition.insert(&w, Key::ALL.hash(&w), parent);
                let expected = if i < 105 {
                    Arrival::New
                } else {
                    Arrival::Known((i % 105) as usize)
                };
                assert_eq!(arrival, expected);
            }
            assert_eq!(partition.len(), 105);
            assert_eq!(partition.get(104), words(104));
            assert_eq!(partition.parent(104), parent);
        }
        assert_eq!((parent.partition(), parent.index()), (3, 17));
    }
}
