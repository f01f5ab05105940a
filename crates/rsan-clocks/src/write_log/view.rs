//! What a thread, a message or a location knows: happens-before, and sets of seq_cst events
//! (docs/theory/write-log.md, W5).

use super::epoch::{Slot, Stamp, VectorClock};

/// A set of seq_cst events that is closed under psc20-predecessors.
///
/// psc20 contains program order on seq_cst events, so the set meets every thread in a prefix of its seq_cst
/// events; a fence stands for everything that happens before it.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct ScSet {
    /// What happens before the seq_cst fences in the set (`f`).
    pub fences: VectorClock,
    /// Up to which epoch the seq_cst accesses of each slot are in the set (`a`).
    pub accesses: VectorClock,
}

impl ScSet {
    /// Adds the other set; says whether anything was new.
    #[inline]
    pub fn join(&mut self, other: &Self) -> bool {
        let accesses = self.accesses.join(&other.accesses);
        let fences = self.fences.join(&other.fences);
        accesses || fences
    }

    /// Becomes a copy of the other set.
    #[inline]
    pub fn assign(&mut self, other: &Self) {
        self.accesses.assign(&other.accesses);
        self.fences.assign(&other.fences);
    }

    /// Takes over the entries of one slot.
    #[inline]
    pub(super) fn set_entry(&mut self, slot: Slot, from: &Self) {
        self.accesses.set(slot, from.accesses.get(slot));
        self.fences.set(slot, from.fences.get(slot));
    }

    /// Adds the entries of one slot.
    #[inline]
    pub(super) fn raise_entry(&mut self, slot: Slot, from: &Self) {
        self.accesses.raise(slot, from.accesses.get(slot));
        self.fences.raise(slot, from.fences.get(slot));
    }

    /// Becomes empty.
    pub fn clear(&mut self) {
        self.accesses.clear();
        self.fences.clear();
    }

    /// Whether it was never given anything.
    #[inline]
    pub fn is_absent(&self) -> bool {
        self.accesses.is_zero() && self.fences.is_zero()
    }

    /// Whether it includes the other set.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        self.accesses.covers(&other.accesses) && self.fences.covers(&other.fences)
    }

    /// Whether every part of it is in the set of events that `clock` describes.
    pub fn is_within(&self, clock: &VectorClock) -> bool {
        clock.covers(&self.accesses) && clock.covers(&self.fences)
    }

    /// Up to which epoch the seq_cst accesses of `slot` are in the set.
    pub fn last_access(&self, slot: Slot) -> super::Epoch {
        self.accesses.get(slot)
    }
}

/// What is known of seq_cst events, in three strengths.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct ScView {
    /// Events before, for accesses that are seq_cst themselves (`q`). Includes `fence`.
    pub access: ScSet,
    /// Events before a seq_cst fence that happens before (`f`); these bind all accesses.
    pub fence: ScSet,
    /// Events that extended coherence order puts before something that happens before (`e`); a seq_cst fence
    /// makes them binding.
    pub eco: ScSet,
}

impl ScView {
    /// Whether it was never given anything.
    #[inline]
    pub fn is_absent(&self) -> bool {
        self.access.is_absent() && self.fence.is_absent() && self.eco.is_absent()
    }

    /// Becomes empty.
    pub fn clear(&mut self) {
        self.access.clear();
        self.fence.clear();
        self.eco.clear();
    }

    /// Becomes a copy.
    pub fn assign(&mut self, other: &Self) {
        self.access.assign(&other.access);
        self.fence.assign(&other.fence);
        self.eco.assign(&other.eco);
    }
}

/// What a thread knows, or what a message lets its acquirer know.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Happens-before (`C`, `R`, `w`, `pC`).
    pub hb: VectorClock,
    /// seq_cst events.
    pub sc: ScView,
}

impl View {
    /// Becomes empty.
    pub fn clear(&mut self) {
        self.hb.clear();
        self.sc.clear();
    }

    /// Whether it was never given anything.
    #[inline]
    pub fn is_absent(&self) -> bool {
        self.hb.is_zero() && self.sc.is_absent()
    }
}

/// An item of a location's log: who observed the write, when, and whether by a seq_cst access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// Who, when.
    pub stamp: Stamp,
    /// Whether the access was seq_cst.
    pub sc: bool,
}
