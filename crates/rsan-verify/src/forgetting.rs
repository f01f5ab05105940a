//! What a search may forget: with it, an exhausted search is a proof, and a failure need not be real.

use crate::clocks::Clocks;
use crate::counters::Counters;
use crate::facts::Facts;
use crate::state::State;
use rsan_model::{LocId, Pc, Program, ThreadId, Value};

/// Everything that a search forgets.
#[derive(Clone, Debug)]
pub(crate) struct Forgetting {
    counters: Option<Counters>,
    clocks: Option<Clocks>,
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
        (counters.is_some() || clocks.is_some()).then_some(Self { counters, clocks })
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
    }

    /// Whether the computation that `t` is about to make shows it.
    #[inline]
    pub(crate) fn advances_late<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        self.clocks
            .as_ref()
            .is_some_and(|c| c.advances_late(s, t, pc))
    }

    /// Forgets what does not matter in a state.
    pub(crate) fn simplify<const W: usize>(&self, s: &mut State<W>) {
        if let Some(counters) = &self.counters {
            counters.simplify(s);
        }
        if let Some(clocks) = &self.clocks {
            clocks.simplify(s);
        }
    }

    /// The locations that matter for what an instruction does, besides those that it accesses, as bits.
    pub(crate) fn asked_at(&self, t: usize, pc: usize) -> u64 {
        self.counters.as_ref().map_or(0, |c| c.asked_at(t, pc))
            | self.clocks.as_ref().map_or(0, |c| c.asked_at(t, pc))
    }

    /// Whether the branch at which `t` rests may go both ways.
    #[inline]
    pub(crate) fn is_open<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        self.counters.as_ref().is_some_and(|c| c.is_open(s, t, pc))
            || self.clocks.as_ref().is_some_and(|c| c.is_open(t, pc))
    }
}
