//! The set of states found so far, in the order in which they were found.
//!
//! A packed state is a sequence of parts, one per thread and one for what they share. Each part is one of few, so
//! it is kept once and has a number; pairs of numbers are again kept once and numbered, in a binary tree up to
//! the root, which is the state. This is exact (no hash stands for a state), and costs about 20 bytes a state,
//! whatever its size.
//!
//! A successor shares most parts with its parent, and those need not be looked up again.

use hashbrown::HashTable;

/// The number of a state: the order in which it was found.
pub(crate) type StateId = u32;

/// Which parts of a successor differ from its parent; bit `i` for part `i`.
pub(crate) type Changed = u128;

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
struct Parts {
    len: usize,
    words: Vec<u64>,
    index: HashTable<u32>,
}

impl Parts {
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

    #[inline]
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
        let id = u32::try_from(all.len() / *len).expect("fewer parts than states");
        index.insert_unique(hash, id, |&id| hash_words(at(id)));
        all.extend_from_slice(words);
        id
    }

    fn memory(&self) -> u64 {
        (self.words.capacity() * 8 + self.index.allocation_size()) as u64
    }
}

/// Pairs of numbers, each kept once.
#[derive(Debug, Default)]
struct Pairs {
    pairs: Vec<[u32; 2]>,
    index: HashTable<u32>,
}

#[inline]
fn hash_pair(pair: [u32; 2]) -> u64 {
    hash_words(&[u64::from(pair[0]) << 32 | u64::from(pair[1])])
}

impl Pairs {
    /// The number of the pair, and whether it is new.
    #[inline]
    fn intern(&mut self, pair: [u32; 2]) -> (u32, bool) {
        let Self { pairs, index } = self;
        let hash = hash_pair(pair);
        if let Some(&id) = index.find(hash, |&id| pairs[id as usize] == pair) {
            return (id, false);
        }
        let id = u32::try_from(pairs.len()).expect("the search stops before 2^32 states");
        index.insert_unique(hash, id, |&id| hash_pair(pairs[id as usize]));
        pairs.push(pair);
        (id, true)
    }

    fn memory(&self) -> u64 {
        (self.pairs.capacity() * 8 + self.index.allocation_size()) as u64
    }
}

/// The numbers of all parts and pairs of one state, leaves first.
pub(crate) type Nodes = Vec<u32>;

/// Whether a state was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    New,
    Known(StateId),
}

/// All states found.
#[derive(Debug)]
pub(crate) struct Store {
    parts: Vec<Parts>,
    /// Inner nodes, the root last; the children of each, as indices into [`Nodes`].
    inner: Vec<Pairs>,
    children: Vec<[usize; 2]>,
    parents: Vec<StateId>,
    scratch: Nodes,
}

impl Store {
    /// An empty store for states whose parts have these many words. There are at least two parts.
    pub(crate) fn new(lengths: &[usize]) -> Self {
        let mut children = Vec::new();
        let mut level: Vec<usize> = (0..lengths.len()).collect();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    &[a, b] => {
                        children.push([a, b]);
                        lengths.len() + children.len() - 1
                    }
                    alone => alone[0],
                })
                .collect();
        }
        Self {
            parts: lengths.iter().map(|&len| Parts::new(len)).collect(),
            inner: children.iter().map(|_| Pairs::default()).collect(),
            children,
            parents: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Adds the first state.
    pub(crate) fn insert_first(&mut self, words: &[u64]) {
        let nodes = vec![0; self.parts.len() + self.inner.len()];
        let mut hashes = Vec::new();
        let mut rest = words;
        for part in &self.parts {
            let (own, others) = rest.split_at(part.len);
            hashes.push(hash_words(own));
            rest = others;
        }
        self.insert(&nodes, Changed::MAX, words, &hashes, 0);
    }

    /// Adds a state unless it is there: its parent, and the words and hashes of the parts that differ from it.
    pub(crate) fn insert(
        &mut self,
        parent_nodes: &Nodes,
        mut changed: Changed,
        mut words: &[u64],
        hashes: &[u64],
        parent: StateId,
    ) -> Arrival {
        if changed == 0 {
            return Arrival::Known(parent);
        }
        let mut nodes = std::mem::take(&mut self.scratch);
        nodes.clone_from(parent_nodes);
        let mut hashes = hashes.iter();
        for (i, part) in self.parts.iter_mut().enumerate() {
            if changed >> i & 1 != 0 {
                let (own, rest) = words.split_at(part.len);
                let hash = hashes.next().expect("a hash for each changed part");
                nodes[i] = part.intern(own, *hash);
                words = rest;
            }
        }
        let mut is_new = false;
        for (i, (pairs, &[a, b])) in self.inner.iter_mut().zip(&self.children).enumerate() {
            if (changed >> a | changed >> b) & 1 != 0 {
                let node = self.parts.len() + i;
                (nodes[node], is_new) = pairs.intern([nodes[a], nodes[b]]);
                changed |= 1 << node;
            }
        }
        let id = nodes[nodes.len() - 1];
        self.scratch = nodes;
        if is_new {
            self.parents.push(parent);
            Arrival::New
        } else {
            Arrival::Known(id)
        }
    }

    /// The nodes of a state.
    pub(crate) fn nodes(&self, id: StateId, nodes: &mut Nodes) {
        nodes.clear();
        nodes.resize(self.parts.len() + self.inner.len(), 0);
        nodes[self.parts.len() + self.inner.len() - 1] = id;
        for (i, (pairs, &[a, b])) in self.inner.iter().zip(&self.children).enumerate().rev() {
            [nodes[a], nodes[b]] = pairs.pairs[nodes[self.parts.len() + i] as usize];
        }
    }

    /// Appends the packed words of a state to `out`.
    pub(crate) fn load(&self, nodes: &Nodes, out: &mut Vec<u64>) {
        for (part, &id) in self.parts.iter().zip(nodes) {
            out.extend_from_slice(part.get(id));
        }
    }

    /// The state from which this one was first reached; the first one is its own parent.
    pub(crate) fn parent(&self, id: StateId) -> StateId {
        self.parents[id as usize]
    }

    /// Bytes allocated.
    pub(crate) fn memory(&self) -> u64 {
        self.parents.capacity() as u64 * 4
            + self.parts.iter().map(Parts::memory).sum::<u64>()
            + self.inner.iter().map(Pairs::memory).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_once_and_read_back() {
        let mut store = Store::new(&[1, 1, 2]);
        let words = |i: u64| [i % 7, i % 5, i % 3, 1];
        store.insert_first(&words(0));
        let mut nodes = Nodes::new();
        for i in 1..1000 {
            // The last part never changes.
            store.nodes(0, &mut nodes);
            let w = words(i);
            let hashes = [
                hash_words(&w[..1]),
                hash_words(&w[1..2]),
                hash_words(&w[2..]),
            ];
            store.insert(&nodes, 0b111, &w, &hashes, 0);
            assert_eq!(store.len() as u64, (i + 1).min(105));
        }
        let mut out = Vec::new();
        store.nodes(104, &mut nodes);
        store.load(&nodes, &mut out);
        assert_eq!(out, words(104));
    }

    #[test]
    fn parts_that_did_not_change_are_taken_from_the_parent() {
        let mut store = Store::new(&[1, 1, 1]);
        store.insert_first(&[1, 2, 3]);
        let mut nodes = Nodes::new();
        store.nodes(0, &mut nodes);
        store.insert(&nodes, 0b010, &[7], &[hash_words(&[7])], 0);
        store.insert(&nodes, 0, &[], &[], 0);
        assert_eq!(store.len(), 2);
        let mut out = Vec::new();
        store.nodes(1, &mut nodes);
        store.load(&nodes, &mut out);
        assert_eq!(out, [1, 7, 3]);
        assert_eq!(store.parent(1), 0);
    }
}
