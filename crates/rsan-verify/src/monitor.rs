//! The finite robustness monitor: which stale writes each view may still see, as sets.
//!
//! *Decides*: whether a pending access can go behind the last write of its location although that write is
//! hbSC-before the thread. Exact for RA, RC20 and C20 when every interleaving is explored: a minimal
//! violation restricted to the hbSC-past of its thread is one against the *last* write (FINITE.md; ALGORITHM.md 5,
//! the conjunct `s = cur(x)`).
//!
//! *Source*: ALGORITHM.md 4, 5 and 7.3 in the simplified form of LOGFORM20.md 0 and 2; sets as in Rocker (PLDI
//! 2019, POPL 2021).
//!
//! *Notation*: a view that knows the writes of x up to timestamp t is represented by the values of the writes
//! at `t..cur(x)`; a join (maximum) is an intersection, "x@cur" is "no bit of x", and a new write adds the
//! overwritten value to every view but those that know the new write.
//!
//! *Deviations*: none in verdicts. Bottom views have every bit set, which no join can tell from the real
//! set; a message never says anything about its own location, because every reader records that itself
//! (ALGORITHM.md 10.2).
//!
//! *Cost*: a read touches the slots of one thread and one location, a write ORs one mask into every slot.

use crate::bits::Bits;
use crate::layout::{Layout, SlotKind};
use crate::state::State;
use rsan_clocks::AccessKind;
use rsan_model::{CasStrength, FenceOrd, LocId, ReadOrd, RmwOrd, ThreadId, Value, WriteOrd};

/// What a thread is about to do to a location, as far as checks care.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attempt<'a> {
    Load(ReadOrd),
    Store(WriteOrd),
    Rmw(RmwOrd),
    Wait(ReadOrd, &'a [Value]),
    Bcas(RmwOrd, Value),
    Cas {
        ord: RmwOrd,
        fail: ReadOrd,
        expected: Value,
        strength: CasStrength,
    },
}

/// How an attempt can go behind the last write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weakness {
    /// As what it is; a compare-and-swap as a success.
    Direct,
    /// As a compare-and-swap that fails.
    Failing,
}

/// The write part of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritePart {
    /// The value that is overwritten.
    pub(crate) old: Value,
    pub(crate) releases: bool,
    pub(crate) sc: bool,
    /// A non-atomic store: it carries no message at all.
    pub(crate) plain: bool,
}

impl<const W: usize> Layout<W> {
    /// The slots before anything happened: threads know everything, all else knows nothing.
    pub(crate) fn initial_slots(&self) -> Vec<Bits<W>> {
        let mut slots: Vec<Bits<W>> = (0..self.kinds.len()).map(|i| self.bottom(i)).collect();
        let know = |slots: &mut Vec<Bits<W>>, view: Option<usize>| {
            if let Some(first) = view {
                slots[first] = Bits::EMPTY;
            }
        };
        for thread in &self.threads {
            know(&mut slots, Some(thread.current));
            know(&mut slots, thread.acquire);
            know(&mut slots, thread.order);
        }
        slots
    }

    /// The stale values that an access of `t` may see: `[LB, cur)`.
    #[inline]
    fn visible(&self, s: &State<W>, t: ThreadId, sc: bool) -> Bits<W> {
        let first = self.threads[t.index()].current;
        let mut stale = s.slots[first];
        let c = &self.components;
        if let (true, Some(q)) = (sc, c.accesses) {
            stale.keep(s.slots[first + q]);
        } else if let Some(f) = c.fences {
            stale.keep(s.slots[first + f]);
        }
        stale
    }

    /// How the attempt can go behind the last write of `loc`, which SC forbids; `None` if it cannot.
    #[inline]
    pub(crate) fn weakness(
        &self,
        s: &State<W>,
        t: ThreadId,
        loc: LocId,
        attempt: Attempt<'_>,
    ) -> Option<Weakness> {
        let bits = &self.locations[loc.index()];
        let (Some(order), Some(bit)) = (self.threads[t.index()].order, bits.order) else {
            return None;
        };
        if s.slots[order].contains(bit) {
            return None;
        }
        let visible = |sc: bool| self.visible(s, t, sc);
        let direct = match attempt {
            Attempt::Load(ord) => visible(ord.is_sc()).intersects(bits.stale_mask),
            Attempt::Store(ord) => visible(ord.is_sc()).intersects(bits.unextended_mask),
            Attempt::Rmw(ord) => visible(ord.is_sc()).intersects(bits.unextended_mask),
            Attempt::Wait(ord, values) => {
                let visible = visible(ord.is_sc());
                values
                    .iter()
                    .any(|&v| visible.intersects(bits.stale_value(v)))
            }
            Attempt::Bcas(ord, expected) => {
                visible(ord.is_sc()).intersects(bits.unextended_value(expected))
            }
            Attempt::Cas {
                ord,
                fail,
                expected,
                strength,
            } => {
                // A strong one fails only on another value.
                let failing = match strength {
                    CasStrength::Strong => bits.stale_mask.difference(bits.stale_value(expected)),
                    CasStrength::Weak => bits.stale_mask,
                };
                if visible(fail.is_sc()).intersects(failing) {
                    return Some(Weakness::Failing);
                }
                visible(ord.is_sc()).intersects(bits.unextended_value(expected))
            }
        };
        direct.then_some(Weakness::Direct)
    }

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
            .filter(|&(_, k)| kind.conflicts_with(k))
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
        let bit = Bits::single(bit);
        let superseded = match kind {
            AccessKind::PlainWrite => self.race_masks[loc.index()],
            _ => Bits::EMPTY,
        };
        for (slot, slot_kind) in s.slots.iter_mut().zip(&self.kinds) {
            if *slot_kind == SlotKind::Current {
                slot.remove(superseded);
                slot.add(bit);
            }
        }
        let own = self.threads[t.index()];
        s.slots[own.current].remove(bit);
        if let Some(acquire) = own.acquire {
            s.slots[acquire].remove(bit);
        }
    }

    /// Joins view `from` into view `to`, but for component `except`.
    #[inline]
    fn join(&self, s: &mut State<W>, to: usize, from: usize, except: Option<usize>) {
        for c in 0..self.components.count {
            if Some(c) != except {
                let from = s.slots[from + c];
                s.slots[to + c].keep(from);
            }
        }
    }

    #[inline]
    fn copy(&self, s: &mut State<W>, to: usize, from: usize) {
        s.slots.copy_within(from..from + self.components.count, to);
    }

    /// Takes in the message of `loc`, before the rest of a reading access (step 1).
    #[inline]
    pub(crate) fn receive(&self, s: &mut State<W>, t: ThreadId, loc: LocId, ord: ReadOrd) {
        let Some(message) = self.locs[loc.index()].message else {
            return;
        };
        let own = self.threads[t.index()];
        if let Some(acquire) = own.acquire {
            self.join(s, acquire, message, None);
        }
        if ord.acquires() {
            // An SC access takes what it knows through SC events before it acquires.
            let except = if ord.is_sc() {
                self.components.accesses
            } else {
                None
            };
            self.join(s, own.current, message, except);
        }
    }

    /// The rest of a read of `loc` that is not part of an RMW (steps 2 to 9).
    pub(crate) fn read(&self, s: &mut State<W>, t: ThreadId, loc: LocId, ord: ReadOrd) {
        self.read_order(s, t, loc);
        let own = self.threads[t.index()];
        let bits = &self.locations[loc.index()];
        s.slots[own.current].remove(bits.mask);
        if let Some((all, write)) = self.locs[loc.index()].carried {
            if let Some(e) = self.components.eco {
                let write = s.slots[write];
                s.slots[own.current + e].keep(write);
            }
            match (ord.is_sc(), self.components.accesses) {
                (true, Some(q)) => {
                    let q = own.current + q;
                    let write = s.slots[write];
                    s.slots[q].keep(write);
                    s.slots[q].remove(bits.mask);
                    let known = s.slots[q];
                    s.slots[all].keep(known);
                }
                _ => {
                    if let Some(f) = self.components.fences {
                        let known = s.slots[own.current + f];
                        s.slots[all].keep(known);
                    }
                }
            }
            if let (true, Some(q), Some(message)) = (
                ord.is_sc(),
                self.components.accesses,
                self.locs[loc.index()].message,
            ) {
                let message = s.slots[message + q];
                s.slots[own.current + q].keep(message);
            }
        }
        if let Some(acquire) = own.acquire {
            self.join(s, acquire, own.current, None);
        }
    }

    /// The SC side of a read: what the last write knew comes before it.
    pub(crate) fn read_order(&self, s: &mut State<W>, t: ThreadId, loc: LocId) {
        let slots = self.locs[loc.index()];
        let own = self.threads[t.index()].order;
        if let (Some(own), Some(write), Some(access)) = (own, slots.write_order, slots.access_order)
        {
            let write = s.slots[write];
            s.slots[own].keep(write);
            let known = s.slots[own];
            s.slots[access].keep(known);
        }
    }

    /// The rest of a store of `loc`, or of an RMW when `read` is the order of its read part (steps 2 to 9).
    pub(crate) fn write(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        loc: LocId,
        write: WritePart,
        read: Option<ReadOrd>,
    ) {
        let slots = self.locs[loc.index()];
        let own = self.threads[t.index()];
        let bits = &self.locations[loc.index()];
        let c = self.components;
        if let (Some(order), Some(access)) = (own.order, slots.access_order) {
            let access = s.slots[access];
            s.slots[order].keep(access);
        }
        // Steps 4 and 5, on what was known before the write.
        let mut unsequenced = Bits::EMPTY;
        if let Some((all, _)) = slots.carried {
            let all = s.slots[all];
            if let Some(e) = c.eco {
                s.slots[own.current + e].keep(all);
            }
            if let (true, Some(q)) = (write.sc, c.accesses) {
                unsequenced = s.slots[own.current + q];
                s.slots[own.current + q].keep(all);
            }
        }
        // The write itself: everybody else may still see the old value.
        let forgotten = bits.overwritten(write.old, read.is_some());
        self.forget(s, loc, forgotten);
        unsequenced.add(forgotten);
        s.slots[own.current].remove(bits.mask);
        if let Some(order) = own.order {
            let mut known = s.slots[order];
            if let Some(bit) = bits.order {
                known.remove(Bits::single(bit));
            }
            s.slots[order] = known;
            for slot in [slots.write_order, slots.access_order]
                .into_iter()
                .flatten()
            {
                s.slots[slot] = known;
            }
        }
        // Step 6 and the first half of 7.
        if let Some((all, last)) = slots.carried {
            match (write.sc, c.accesses) {
                (true, Some(q)) => {
                    s.slots[own.current + q].remove(bits.mask);
                    s.slots[all] = s.slots[own.current + q];
                }
                _ => {
                    if let Some(f) = c.fences {
                        let known = s.slots[own.current + f];
                        s.slots[all].keep(known);
                    }
                }
            }
            s.slots[last] = s.slots[all];
        }
        if let Some(message) = slots.message {
            let learnt = self.publish(s, t, message, write, read.is_some(), unsequenced);
            s.slots[message].remove(bits.mask);
            if let (true, Some(q)) = (write.sc && read.is_some(), c.accesses) {
                s.slots[own.current + q].keep(learnt);
            }
        }
        if let Some(acquire) = own.acquire {
            self.join(s, acquire, own.current, None);
        }
    }

    /// Renews a message (step 7): a store replaces it, an RMW continues the release sequence. Returns what the
    /// old message said through SC accesses (step 8).
    fn publish(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        message: usize,
        write: WritePart,
        rmw: bool,
        unsequenced: Bits<W>,
    ) -> Bits<W> {
        let own = self.threads[t.index()];
        let source = if write.releases {
            Some(own.current)
        } else if write.plain {
            None
        } else {
            own.release
        };
        let old_accesses = self
            .components
            .accesses
            .map_or(Bits::EMPTY, |q| s.slots[message + q]);
        for c in 0..self.components.count {
            let sequenced = Some(c) == self.components.accesses && write.sc;
            let contribution = match source {
                Some(_) if sequenced => unsequenced,
                Some(view) => s.slots[view + c],
                None => self.bottom(message + c),
            };
            if rmw {
                s.slots[message + c].keep(contribution);
            } else {
                s.slots[message + c] = contribution;
            }
        }
        old_accesses
    }

    /// A new write of `loc` that nobody knows yet.
    #[inline]
    fn forget(&self, s: &mut State<W>, loc: LocId, views: Bits<W>) {
        let Some(bit) = self.locations[loc.index()].order else {
            return;
        };
        let order = Bits::single(bit);
        for (slot, kind) in s.slots.iter_mut().zip(&self.kinds) {
            slot.add(if *kind == SlotKind::Order {
                order
            } else {
                views
            });
        }
    }

    /// A fence. SC fences are thread-local under C20 and meet at the reserved location otherwise.
    pub(crate) fn fence(&self, s: &mut State<W>, t: ThreadId, ord: FenceOrd) {
        let own = self.threads[t.index()];
        if let (true, Some(acquire)) = (ord.acquires(), own.acquire) {
            self.join(s, own.current, acquire, None);
        }
        if ord.is_sc() {
            match self.fence {
                Some(reserved) => self.reserved_rmw(s, t, reserved),
                None => self.sc_fence(s, own.current),
            }
        }
        if let (true, Some(release)) = (ord.releases(), own.release) {
            self.copy(s, release, own.current);
        }
        if let Some(acquire) = own.acquire {
            self.join(s, acquire, own.current, None);
        }
    }

    /// C20: what happens before the fence, and what SC events eco-before that carry, is known through it.
    fn sc_fence(&self, s: &mut State<W>, current: usize) {
        let c = self.components;
        let (Some(f), Some(e)) = (c.fences, c.eco) else {
            return;
        };
        let locations = Bits::range(0, self.psc_bits);
        let carried = s.slots[current]
            .intersection(locations)
            .intersection(s.slots[current + e]);
        s.slots[current + f].keep(carried);
        if let Some(q) = c.accesses {
            s.slots[current + q].keep(carried);
            s.slots[current + f] = s.slots[current + q];
        }
    }

    /// RA, RC20: an acq_rel RMW on the reserved location.
    fn reserved_rmw(&self, s: &mut State<W>, t: ThreadId, reserved: crate::layout::LocSlots) {
        let own = self.threads[t.index()];
        if let Some(message) = reserved.message {
            self.join(s, own.current, message, None);
            self.copy(s, message, own.current);
        }
        if let (Some(order), Some(access)) = (own.order, reserved.access_order) {
            let access_known = s.slots[access];
            s.slots[order].keep(access_known);
            s.slots[access] = s.slots[order];
        }
    }

    /// Thread creation: the child starts with what the parent knows; its release view stays bottom.
    pub(crate) fn spawn(&self, s: &mut State<W>, parent: ThreadId, child: ThreadId) {
        let (from, to) = (self.threads[parent.index()], self.threads[child.index()]);
        self.copy(s, to.current, from.current);
        if let Some(acquire) = to.acquire {
            self.copy(s, acquire, from.current);
        }
        if let (Some(to), Some(from)) = (to.order, from.order) {
            s.slots[to] = s.slots[from];
        }
    }

    /// Join: the parent learns what the child knew at its end.
    pub(crate) fn thread_join(&self, s: &mut State<W>, parent: ThreadId, child: ThreadId) {
        let (to, from) = (self.threads[parent.index()], self.threads[child.index()]);
        self.join(s, to.current, from.current, None);
        if let Some(acquire) = to.acquire {
            self.join(s, acquire, from.current, None);
        }
        if let (Some(to), Some(from)) = (to.order, from.order) {
            let known = s.slots[from];
            s.slots[to].keep(known);
        }
    }
}
