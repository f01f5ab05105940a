//! The set of states found so far, in the order in which they were found.
//!
//! A packed state has two halves, and each half is one of far fewer: it is kept once and the state is a
//! pair of numbers. This is exact (no hash stands for a state), and costs about 20 bytes a state.

use hashbrown::HashTable;

/// The number of a state: the order in which it was found.
pub(crate) type StateId = u32;

/// Hashes packed words; quality matters, secrecy does not.
#[inline]
pub(crate) fn hash_words(words: &[u64]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15_u64;
    for &w in words {
        let product = u128::from(h ^ w) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        h = (product as u64) ^ (product >> 64) as u64 ^ w.rotate_left(29);
    }
    let product = u128::from(h) * u128::from(0xa076_1d64_78bd_642f_u64);
    (product as u64) ^ (product >> 64) as u64
}

/// Word vectors of one length, each kept once.
#[derive(Debug)]
struct Interner {
    len: usize,
    words: Vec<u64>,
    index: HashTable<u32>,
}

impl Interner {
    fn new(len: usize) -> Self {
        Self {
            len,
            words: Vec::new(),
            index: HashTable::new(),
        }
    }

    #[inline]
    fn get(&self, id: u32) -> &[u64] {
        &self.words[id as usize * self.len..][..self.len]
    }

    fn intern(&mut self, words: &[u64], hash: u64) -> u32 {
        let Self {
            len,
            words: all,
            index,
        } = self;
        let at = |id: u32| &all[id as usize * *len..][..*len];
        if let Some(&id) = index.find(hash, |&id| at(id) == words) {
            return id;
        }
        let id = u32::try_from(all.len() / *len).expect("fewer than 2^32 halves: each has a state");
        index.insert_unique(hash, id, |&id| hash_words(at(id)));
        all.extend_from_slice(words);
        id
    }

    fn memory(&self) -> u64 {
        (self.words.capacity() * 8 + self.index.allocation_size()) as u64
    }
}

/// All states found.
#[derive(Debug)]
pub(crate) struct Store {
    halves: [Interner; 2],
    states: Vec<[u32; 2]>,
    parents: Vec<StateId>,
    index: HashTable<StateId>,
}

#[inline]
fn hash_pair(pair: [u32; 2]) -> u64 {
    hash_words(&[u64::from(pair[0]) << 32 | u64::from(pair[1])])
}

impl Store {
    /// An empty store for states whose halves have this many words.
    pub(crate) fn new(words: [usize; 2]) -> Self {
        Self {
            halves: words.map(Interner::new),
            states: Vec::new(),
            parents: Vec::new(),
            index: HashTable::new(),
        }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a state unless it is there. `hashes` are those of its halves.
    pub(crate) fn insert(&mut self, words: &[u64], hashes: [u64; 2], parent: StateId) -> bool {
        let (first, second) = words.split_at(self.halves[0].len);
        let pair = [
            self.halves[0].intern(first, hashes[0]),
            self.halves[1].intern(second, hashes[1]),
        ];
        let states = &self.states;
        let hash = hash_pair(pair);
        if self
            .index
            .find(hash, |&id| states[id as usize] == pair)
            .is_some()
        {
            return false;
        }
        let id = StateId::try_from(states.len()).expect("the search stops before 2^32 states");
        self.index
            .insert_unique(hash, id, |&id| hash_pair(states[id as usize]));
        self.states.push(pair);
        self.parents.push(parent);
        true
    }

    /// Appends the packed words of a state to `out`.
    pub(crate) fn load(&self, id: StateId, out: &mut Vec<u64>) {
        let [first, second] = self.states[id as usize];
        out.extend_from_slice(self.halves[0].get(first));
        out.extend_from_slice(self.halves[1].get(second));
    }

    /// The state from which this one was first reached; an initial state is its own parent.
    pub(crate) fn parent(&self, id: StateId) -> StateId {
        self.parents[id as usize]
    }

    /// Bytes allocated.
    pub(crate) fn memory(&self) -> u64 {
        let own = self.states.capacity() * 8 + self.parents.capacity() * 4;
        own as u64
            + self.index.allocation_size() as u64
            + self.halves.iter().map(Interner::memory).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_once_and_read_back() {
        let mut store = Store::new([1, 2]);
        let words = |i: u64| [i % 7, i % 5, i % 3];
        for i in 0..1000 {
            let w = words(i);
            let hashes = [hash_words(&w[..1]), hash_words(&w[1..])];
            assert_eq!(store.insert(&w, hashes, 0), i < 105);
        }
        assert_eq!(store.len(), 105);
        let mut out = Vec::new();
        store.load(104, &mut out);
        assert_eq!(out, words(104));
    }
}
