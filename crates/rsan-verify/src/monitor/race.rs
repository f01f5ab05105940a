//! Data races: which earlier accesses a view does not know. See docs/theory/races.md, D6.

use crate::bits::Bits;
use crate::layout::{Layout, SlotKind};
use crate::mutation::Mutant;
use crate::state::State;
use rsan_clocks::AccessKind;
use rsan_model::{LocId, ThreadId};

impl<const W: usize> Layout<W> {
    /// The earlier access that an access of kind `kind` by `t` races with: who made it, and of what kind.
    pub(crate) fn race(
        &self,
        s: &State<W>,
        t: ThreadId,
        loc: LocId,
        kind: AccessKind,
    ) -> Option<(ThreadId, AccessKind)> {
        let current = &s.slots[self.threads[t.index()].current];
        let others = (0..self.threads.len())
            .map(ThreadId::new)
            .filter(|&u| u != t);
        others
            .flat_map(|u| AccessKind::ALL.map(|k| (u, k)))
            .filter(|&(_, k)| kind.conflicts_with(k) || self.breaks(Mutant::ReadsRace))
            .find(|&(u, k)| {
                self.race_bit(loc, u, k)
                    .is_some_and(|bit| current.contains(bit))
            })
    }

    /// Records an access for later race checks: nobody else knows it.
    ///
    /// A plain write conflicts with whatever comes later and, as it does not race, follows all earlier accesses in
    /// happens-before: whoever knows it knows those, and whoever does not races with it. So those are forgotten.
    pub(crate) fn record(&self, s: &mut State<W>, t: ThreadId, loc: LocId, kind: AccessKind) {
        let Some(bit) = self.race_bit(loc, t, kind) else {
            return;
        };
        let (ignored, supersedes) = match kind {
            AccessKind::PlainRead => (
                Mutant::PlainReadNotRecorded,
                self.breaks(Mutant::PlainReadSupersedes),
            ),
            AccessKind::PlainWrite => (Mutant::PlainWriteNotRecorded, true),
            AccessKind::AtomicRead => (Mutant::AtomicReadNotRecorded, false),
            AccessKind::AtomicWrite => (
                Mutant::AtomicWriteNotRecorded,
                self.breaks(Mutant::AtomicWriteSupersedes),
            ),
        };
        if self.breaks(ignored) {
            return;
        }
        let bit = Bits::single(bit);
        let superseded = if supersedes {
            self.race_masks[loc.index()]
        } else {
            Bits::EMPTY
        };
        for (slot, slot_kind) in s.slots.iter_mut().zip(&self.kinds) {
            if *slot_kind == SlotKind::Current {
                slot.remove(superseded);
                slot.add(bit);
            }
        }
        if self.breaks(Mutant::OwnAccessUnknown) {
            return;
        }
        let own = self.threads[t.index()];
        s.slots[own.current].remove(bit);
        if let Some(acquire) = own.acquire {
            s.slots[acquire].remove(bit);
        }
    }
}
