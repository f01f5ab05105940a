//! The axioms by name.

use std::fmt;

/// An axiom that a graph violates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Axiom {
    /// `po ∪ asw ∪ rf ∪ mo ∪ fr` is acyclic (SC).
    SequentialConsistency,
    /// `po ∪ asw ∪ rf` is acyclic (RC20, C++20, RC11).
    NoThinAir,
    /// `hb ; eco?` is irreflexive (RC20, C++20, RC11).
    Coherence,
    /// `eco` is irreflexive: needed on its own where an RMW is a single event (RC20, C++20, RC11).
    Eco,
    /// `fr ; mo` is irreflexive: nothing comes between the two halves of an RMW (every model).
    Atomicity,
    /// `psc` is acyclic: seq_cst operations have a total order (C++20, RC11).
    Psc,
    /// `po|loc ∪ rf ∪ mo ∪ fr` is acyclic: SC per location (TSO, every machine).
    Uniproc,
    /// `ghb` is acyclic (TSO, x86).
    GlobalHappensBefore,
    /// `rmw ∩ (fre ; coe)` is empty: no write of another thread between the halves of an update (every machine).
    Exclusive,
    /// `ob` is acyclic (ARMv8).
    OrderedBefore,
    /// `ppo ∪ rfe ∪ co ∪ fr` is acyclic (RISC-V).
    GlobalMemoryOrder,
    /// `ppo ∪ fences ∪ rfe` is acyclic (ARMv7, Power).
    MachineThinAir,
    /// `fre ; prop ; hb*` is irreflexive (ARMv7, Power).
    Observation,
    /// `co ∪ prop` is acyclic (ARMv7, Power).
    Propagation,
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SequentialConsistency => {
                "sequential consistency: po ∪ asw ∪ rf ∪ mo ∪ fr is acyclic"
            }
            Self::NoThinAir => "no thin air: po ∪ asw ∪ rf is acyclic",
            Self::Coherence => "coherence: hb ; eco? is irreflexive",
            Self::Eco => "coherence: eco is irreflexive",
            Self::Atomicity => "atomicity: fr ; mo is irreflexive",
            Self::Psc => "seq_cst order: psc is acyclic",
            Self::Uniproc => "SC per location: po|loc ∪ rf ∪ mo ∪ fr is acyclic",
            Self::GlobalHappensBefore => "global happens-before: ghb is acyclic",
            Self::Exclusive => "atomicity: rmw ∩ (fre ; coe) is empty",
            Self::OrderedBefore => "external visibility: ob is acyclic",
            Self::GlobalMemoryOrder => "global memory order: ppo ∪ rfe ∪ co ∪ fr is acyclic",
            Self::MachineThinAir => "no thin air: ppo ∪ fences ∪ rfe is acyclic",
            Self::Observation => "observation: fre ; prop ; hb* is irreflexive",
            Self::Propagation => "propagation: co ∪ prop is acyclic",
        })
    }
}

impl std::error::Error for Axiom {}

impl Axiom {
    /// `Err(self)` unless the axiom `holds`.
    pub(crate) fn unless(self, holds: bool) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(self) }
    }
}
