//! What a search may forget: with it, an exhausted search is a proof, and a failure need not be real.

use crate::clocks::Clocks;
use crate::counters::Counters;
use crate::distances::Distances;
use crate::facts::Facts;
use crate::state::State;
use rsan_model::{LocId, Pc, Program, ThreadId, Value};

/// Everything that a search forgets.
#[derive(Clone, Debug)]
pub(crate) struct Forgetting {
    counters: Option<Counters>,
    clocks: Option<Clocks>,
    distances: Option<Distances>,
}

impl Forgetting {
    /// What may be forgotten of a program, if anything.
    pub(crate) fn new(program: &Program, facts: &Facts) -> Option<Self> {
        let counters = (!facts.mutation.without_counters())
            .then(|| Counters::new(program, facts))
            .flatten();
        let clocks = (!facts.mutation.without_clocks())
            .then(|| Clocks::new(program, facts))
            .flatten();
        (counters.is_some() || clocks.is_some()).then_some(Self {
            counters,
            clocks,
            distances: None,
        })
    }

    /// The same, with numbers kept as distances where they are only moved and compared; nothing where there are none.
    pub(crate) fn with_distances(program: &Program, facts: &Facts) -> Option<Self> {
        let plain = Self::new(program, facts);
        let clocks = plain.as_ref().is_some_and(|f| f.clocks.is_some());
        // A clock's readings are kept in fewer values.
        if clocks || facts.mutation.without_distances() {
            return None;
        }
        let distances = Distances::new(program, facts)?;
        let locations = distances.locations();
        let counters = plain.and_then(|f| f.counters);
        Some(Self {
            counters: counters.map(|c| c.with_distances(locations)),
            clocks: None,
            distances: Some(distances),
        })
    }

    /// The locations whose values are kept as distances, as bits.
    pub(crate) fn distant(&self) -> u64 {
        self.distances.as_ref().map_or(0, Distances::locations)
    }

    /// The locations whose values are readings of a clock, as bits.
    pub(crate) fn readings(&self) -> u64 {
        self.clocks.as_ref().map_or(0, Clocks::readings)
    }

    /// Whether a write shows that something must not be forgotten.
    #[inline]
    pub(crate) fn refuted(&self, loc: LocId, old: Value, new: Value) -> bool {
        self.counters
            .as_ref()
            .is_some_and(|c| c.refuted(loc, old, new))
            || self
                .clocks
                .as_ref()
                .is_some_and(|c| c.refuted(loc, old, new))
            || self
                .distances
                .as_ref()
                .is_some_and(|d| d.refuted(loc, old, new))
    }

    /// Whether the computation that `t` is about to make shows it.
    #[inline]
    pub(crate) fn miscounts<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        self.clocks
            .as_ref()
            .is_some_and(|c| c.advances_late(s, t, pc))
            || self
                .distances
                .as_ref()
                .is_some_and(|d| d.leaves_range(s, t, pc))
    }

    /// Forgets what does not matter in a state; says whether it still stands for one of the program.
    pub(crate) fn simplify<const W: usize>(&self, s: &mut State<W>) -> bool {
        if let Some(counters) = &self.counters {
            counters.simplify(s);
        }
        if let Some(clocks) = &self.clocks {
            clocks.simplify(s);
        }
        self.distances.as_ref().is_none_or(|d| d.simplify(s))
    }

    /// Whether `t` goes on whatever the assumption says.
    #[inline]
    pub(crate) fn ignores(&self, t: ThreadId, pc: Pc) -> bool {
        self.distances.as_ref().is_some_and(|d| d.ignores(t, pc))
    }

    /// The locations that matter for what an instruction does, besides those that it accesses, as bits.
    pub(crate) fn asked_at(&self, t: usize, pc: usize) -> u64 {
        self.counters.as_ref().map_or(0, |c| c.asked_at(t, pc))
            | self.clocks.as_ref().map_or(0, |c| c.asked_at(t, pc))
            | (self.distances.as_ref()).map_or(0, |d| d.asked_at(t, pc))
    }

    /// Whether the branch at which `t` rests may go both ways.
    #[inline]
    pub(crate) fn is_open<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        self.counters.as_ref().is_some_and(|c| c.is_open(s, t, pc))
            || self.clocks.as_ref().is_some_and(|c| c.is_open(t, pc))
            || self.distances.as_ref().is_some_and(|d| d.is_open(t, pc))
    }
}
