//! Sets of events and binary relations on them, as bit matrices of fixed width.

use crate::EventId;

/// The largest number of events of a graph. Whoever builds graphs says so when a program needs more.
pub const MAX_EVENTS: usize = 128;

/// A set of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct EventSet(u128);

impl EventSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The events that satisfy `f`, of `n`.
    pub fn filter(n: usize, f: impl Fn(EventId) -> bool) -> Self {
        (0..n).map(EventId::new).filter(|&e| f(e)).collect()
    }

    /// Whether `e` is in it.
    #[inline]
    pub fn contains(self, e: EventId) -> bool {
        self.0 >> e.0 & 1 != 0
    }

    /// Adds `e`.
    #[inline]
    pub fn insert(&mut self, e: EventId) {
        self.0 |= 1 << e.0;
    }

    /// Union.
    #[inline]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Intersection.
    #[inline]
    pub fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in `self` and not in `other`.
    #[inline]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of events.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The events, in increasing order.
    pub fn iter(self) -> impl Iterator<Item = EventId> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let e = bits.trailing_zeros();
                bits &= bits - 1;
                EventId(e)
            })
        })
    }
}

impl FromIterator<EventId> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventId>>(events: I) -> Self {
        let mut set = Self::EMPTY;
        events.into_iter().for_each(|e| set.insert(e));
        set
    }
}

/// A binary relation on the events `0..n`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Relation {
    rows: Vec<EventSet>,
}

impl Relation {
    /// The empty relation on `n` events.
    ///
    /// # Panics
    /// When `n` is more than [`MAX_EVENTS`].
    pub fn new(n: usize) -> Self {
        assert!(n <= MAX_EVENTS, "graphs have at most {MAX_EVENTS} events");
        Self {
            rows: vec![EventSet::EMPTY; n],
        }
    }

    /// `[set]`: the identity on a set.
    pub fn identity_on(n: usize, set: EventSet) -> Self {
        let mut r = Self::new(n);
        set.iter().for_each(|e| r.add(e, e));
        r
    }

    /// Number of events it is on.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, from: EventId, to: EventId) {
        self.rows[from.index()].insert(to);
    }

    /// Whether a pair is in it.
    #[inline]
    pub fn contains(&self, from: EventId, to: EventId) -> bool {
        self.rows[from.index()].contains(to)
    }

    /// What `from` is related to.
    #[inline]
    pub fn successors(&self, from: EventId) -> EventSet {
        self.rows[from.index()]
    }

    /// The pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (EventId, EventId)> {
        self.rows
            .iter()
            .enumerate()
            .flat_map(|(a, row)| row.iter().map(move |b| (EventId::new(a), b)))
    }

    /// Whether it has no pair.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|r| r.is_empty())
    }

    /// Union.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, EventSet::union)
    }

    /// Intersection.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        self.zip(other, EventSet::intersect)
    }

    /// Difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, EventSet::minus)
    }

    /// `self ; other`
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        let rows = self
            .rows
            .iter()
            .map(|row| {
                row.iter().fold(EventSet::EMPTY, |acc, mid| {
                    acc.union(other.rows[mid.index()])
                })
            })
            .collect();
        Self { rows }
    }

    /// The inverse.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut r = Self::new(self.size());
        self.pairs().for_each(|(a, b)| r.add(b, a));
        r
    }

    /// `self?`: with the identity.
    #[must_use]
    pub fn optional(&self) -> Self {
        let mut r = self.clone();
        (0..self.size()).for_each(|i| r.rows[i].insert(EventId::new(i)));
        r
    }

    /// `self+`: transitive closure.
    #[must_use]
    pub fn plus(&self) -> Self {
        let mut r = self.clone();
        for k in 0..r.size() {
            let via = r.rows[k];
            for row in &mut r.rows {
                if row.contains(EventId::new(k)) {
                    *row = row.union(via);
                }
            }
        }
        r
    }

    /// `self*`: reflexive and transitive closure.
    #[must_use]
    pub fn star(&self) -> Self {
        self.plus().optional()
    }

    /// `[from] ; self ; [to]`
    #[must_use]
    pub fn between(&self, from: EventSet, to: EventSet) -> Self {
        let rows = self
            .rows
            .iter()
            .enumerate()
            .map(|(a, row)| {
                if from.contains(EventId::new(a)) {
                    row.intersect(to)
                } else {
                    EventSet::EMPTY
                }
            })
            .collect();
        Self { rows }
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        self.rows
            .iter()
            .enumerate()
            .all(|(i, row)| !row.contains(EventId::new(i)))
    }

    /// Whether it has no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.plus().is_irreflexive()
    }

    /// A shortest cycle, as the events on it in order; `None` when there is none.
    pub fn shortest_cycle(&self) -> Option<Vec<EventId>> {
        (0..self.size())
            .filter_map(|s| self.shortest_path(EventId::new(s), EventId::new(s)))
            .min_by_key(Vec::len)
    }

    /// The events of a shortest non-empty path from `from` to `to`, without `to` itself.
    pub fn shortest_path(&self, from: EventId, to: EventId) -> Option<Vec<EventId>> {
        let mut parent: Vec<Option<EventId>> = vec![None; self.size()];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(e) = queue.pop_front() {
            for next in self.successors(e).iter() {
                if next == to {
                    let mut path = vec![e];
                    while path[path.len() - 1] != from {
                        path.push(parent[path[path.len() - 1].index()]?);
                    }
                    path.reverse();
                    return Some(path);
                }
                if next != from && parent[next.index()].is_none() {
                    parent[next.index()] = Some(e);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn zip(&self, other: &Self, f: impl Fn(EventSet, EventSet) -> EventSet) -> Self {
        assert_eq!(self.size(), other.size(), "relations on the same events");
        let rows = self
            .rows
            .iter()
            .zip(&other.rows)
            .map(|(&a, &b)| f(a, b))
            .collect();
        Self { rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(n: usize, pairs: &[(u32, u32)]) -> Relation {
        let mut r = Relation::new(n);
        pairs
            .iter()
            .for_each(|&(a, b)| r.add(EventId(a), EventId(b)));
        r
    }

    #[test]
    fn closure_composition_and_inverse() {
        let r = relation(4, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(r.then(&r), relation(4, &[(0, 2), (1, 3)]));
        assert!(r.plus().contains(EventId(0), EventId(3)));
        assert!(r.is_acyclic());
        assert_eq!(r.inverse().inverse(), r);
        assert_eq!(r.star(), r.plus().optional());
    }

    #[test]
    fn the_shortest_cycle_is_found() {
        let r = relation(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (3, 1), (4, 0)]);
        assert_eq!(
            r.shortest_cycle(),
            Some(vec![EventId(1), EventId(2), EventId(3)])
        );
        assert_eq!(relation(2, &[(0, 1)]).shortest_cycle(), None);
        assert_eq!(
            relation(1, &[(0, 0)]).shortest_cycle(),
            Some(vec![EventId(0)])
        );
    }
}
