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
    /// `po|loc ∪ rf ∪ mo ∪ fr` is acyclic: SC per location (TSO).
    Uniproc,
    /// `ghb` is acyclic (TSO).
    GlobalHappensBefore,
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
