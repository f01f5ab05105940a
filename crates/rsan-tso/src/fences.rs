//! Where fences stand that the program does not have by itself.

use rsan_model::automata::StateId;
use std::collections::BTreeSet;

/// A place for a fence: a thread's control state. Whoever comes there waits until its store buffer is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencePlace {
    /// The thread, in the order of the program.
    pub thread: usize,
    /// Its control state.
    pub state: StateId,
}

/// A set of places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FenceSet(BTreeSet<FencePlace>);

impl FenceSet {
    /// Whether there is a fence at a control state.
    pub fn contains(&self, thread: usize, state: StateId) -> bool {
        self.0.contains(&FencePlace { thread, state })
    }

    /// The places, in order.
    pub fn iter(&self) -> impl Iterator<Item = FencePlace> {
        self.0.iter().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same without one place.
    #[must_use]
    pub fn without(&self, place: FencePlace) -> Self {
        let others = self.0.iter().copied().filter(|p| *p != place);
        Self(others.collect())
    }
}

impl FromIterator<FencePlace> for FenceSet {
    fn from_iter<I: IntoIterator<Item = FencePlace>>(places: I) -> Self {
        Self(places.into_iter().collect())
    }
}
