//! The finite robustness monitor: which stale writes each view may still see, as sets.
//!
//! *Decides*: whether a pending access can go behind the last write of its location although that write is
//! hbSC-before the thread. Exact for RA, RC20 and C20 when every interleaving is explored: a minimal
//! violation restricted to the hbSC-past of its thread is one against the *last* write (docs/theory/finite.md, F1).
//!
//! *Source*: docs/theory/finite.md, F2 and F4 to F7; the steps are numbered as in docs/theory/write-log.md, W6. Sets as in
//! Rocker (PLDI 2019, POPL 2021).
//!
//! *Notation*: a view that knows the writes of x up to timestamp t is represented by the values of the writes
//! at `t..cur(x)`; a join (maximum) is an intersection, "x@cur" is "no bit of x", and a new write adds the
//! overwritten value to every view but those that know the new write.
//!
//! *Deviations*: none in verdicts. Bottom views have every bit set, which no join can tell from the real
//! set; a message never says anything about its own location, because every reader records that itself.
//!
//! *Cost*: a read touches the slots of one thread and one location, a write ORs one mask into every slot.

mod check;
mod race;

pub(crate) use check::{Attempt, Weakness};

use crate::bits::Bits;
use crate::layout::{Layout, SlotKind};
use crate::mutation::Mutant;
use crate::state::State;
use rsan_model::{FenceOrd, LocId, ReadOrd, ThreadId, Value};

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

    /// Whether a test broke this rule.
    #[inline]
    pub(crate) fn breaks(&self, mutant: Mutant) -> bool {
        self.mutation.breaks(mutant)
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
        if let (Some(acquire), false) = (own.acquire, self.breaks(Mutant::RelaxedReadForgotten)) {
            self.join(s, acquire, message, None);
        }
        let acquires = ord.acquires() && !self.breaks(Mutant::AcquireReadIgnored);
        if acquires || self.breaks(Mutant::RelaxedReadAcquires) {
            // An SC access takes what it knows through SC events before it acquires.
            let except = if ord.is_sc() && !self.breaks(Mutant::ScTakenAfterAcquiring) {
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
        if !self.breaks(Mutant::ReadNotRecorded) {
            s.slots[own.current].remove(bits.mask);
        }
        if let Some((all, write)) = self.locs[loc.index()].carried {
            if let (Some(e), false) = (self.components.eco, self.breaks(Mutant::ReadsTakeNoEco)) {
                let write = s.slots[write];
                s.slots[own.current + e].keep(write);
            }
            match (ord.is_sc(), self.components.accesses) {
                (true, Some(q)) => {
                    let q = own.current + q;
                    if !self.breaks(Mutant::ScReadTakesNothing) {
                        let write = s.slots[write];
                        s.slots[q].keep(write);
                    }
                    if !self.breaks(Mutant::ScReadCarriesNotItself) {
                        s.slots[q].remove(bits.mask);
                    }
                    let known = s.slots[q];
                    if !self.breaks(Mutant::ScReadsNotCarried) {
                        s.slots[all].keep(known);
                    }
                    if self.breaks(Mutant::LastWriteNotFrozen) {
                        s.slots[write].keep(known);
                    }
                }
                _ => {
                    let carries = !self.breaks(Mutant::ReadsCarryNoFences);
                    if let (Some(f), true) = (self.components.fences, carries) {
                        let known = s.slots[own.current + f];
                        s.slots[all].keep(known);
                    }
                }
            }
            if let (true, Some(q), Some(message)) = (
                ord.is_sc() && !self.breaks(Mutant::ScReadWithoutMessage),
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
            let before = if self.breaks(Mutant::ReadsAfterReads) {
                s.slots[access]
            } else {
                s.slots[write]
            };
            if !self.breaks(Mutant::ReadNotOrdered) {
                s.slots[own].keep(before);
            }
            if !self.breaks(Mutant::ReadDoesNotOrder) {
                let known = s.slots[own];
                s.slots[access].keep(known);
            }
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
        if let (Some(order), Some(access), false) = (
            own.order,
            slots.access_order,
            self.breaks(Mutant::WriteNotOrdered),
        ) {
            let access = s.slots[access];
            s.slots[order].keep(access);
        }
        // Steps 4 and 5, on what was known before the write.
        let mut unsequenced = Bits::EMPTY;
        if let Some((all, _)) = slots.carried {
            let all = s.slots[all];
            if let (Some(e), false) = (c.eco, self.breaks(Mutant::WritesTakeNoEco)) {
                s.slots[own.current + e].keep(all);
            }
            if let (true, Some(q)) = (write.sc, c.accesses) {
                unsequenced = s.slots[own.current + q];
                if !self.breaks(Mutant::ScWriteTakesNothing) {
                    s.slots[own.current + q].keep(all);
                }
            }
        }
        // The write itself: to everybody else the old value is now a stale one.
        let forgotten = self.overwritten(loc, write.old, read.is_some());
        self.forget(s, loc, forgotten);
        unsequenced.add(forgotten);
        if !self.breaks(Mutant::WriteNotRecorded) {
            s.slots[own.current].remove(bits.mask);
        }
        if let Some(order) = own.order {
            let mut known = s.slots[order];
            if let (Some(bit), false) = (bits.order, self.breaks(Mutant::OwnWriteNotOrdered)) {
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
                    if !self.breaks(Mutant::ScWriteCarriesNotItself) {
                        s.slots[own.current + q].remove(bits.mask);
                    }
                    s.slots[all] = s.slots[own.current + q];
                }
                _ => {
                    let carries = !self.breaks(Mutant::WritesCarryNoFences);
                    if let (Some(f), true) = (c.fences, carries) {
                        let known = s.slots[own.current + f];
                        s.slots[all].keep(known);
                    }
                }
            }
            if !self.breaks(Mutant::LastWriteNotRenewed) {
                s.slots[last] = s.slots[all];
            }
        }
        if let Some(message) = slots.message {
            let learnt = self.publish(s, t, message, write, read.is_some(), unsequenced);
            s.slots[message].remove(bits.mask);
            let learns = read.is_some() && !self.breaks(Mutant::ScRmwWithoutMessage);
            if let (true, Some(q)) = (write.sc && learns, c.accesses) {
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
        let source = if write.plain {
            None
        } else if write.releases && !self.breaks(Mutant::ReleaseWritePublishesFenceView)
            || self.breaks(Mutant::RelaxedWriteReleases)
        {
            Some(own.current)
        } else {
            own.release
        };
        let continues = if rmw {
            !self.breaks(Mutant::RmwDropsMessage)
        } else {
            self.breaks(Mutant::StoreKeepsMessage)
        };
        let old_accesses = self
            .components
            .accesses
            .map_or(Bits::EMPTY, |q| s.slots[message + q]);
        for c in 0..self.components.count {
            let sequenced = Some(c) == self.components.accesses
                && write.sc
                && !self.breaks(Mutant::MessageHasOwnSc);
            let contribution = match source {
                Some(_) if sequenced => unsequenced,
                Some(view) => s.slots[view + c],
                None => self.bottom(message + c),
            };
            if continues {
                s.slots[message + c].keep(contribution);
            } else {
                s.slots[message + c] = contribution;
            }
        }
        old_accesses
    }

    /// The bits that a view gains when `old` is overwritten and the view does not know the new write.
    #[inline]
    fn overwritten(&self, loc: LocId, old: Value, by_rmw: bool) -> Bits<W> {
        let bits = &self.locations[loc.index()];
        if self.breaks(Mutant::OtherValuesDropped) && bits.is_other(old) {
            return Bits::EMPTY;
        }
        let closes = if by_rmw {
            !self.breaks(Mutant::RmwLeavesOpen)
        } else {
            self.breaks(Mutant::StoreCloses)
        };
        bits.overwritten(old, closes)
    }

    /// A new write of `loc` that nobody knows yet.
    #[inline]
    fn forget(&self, s: &mut State<W>, loc: LocId, views: Bits<W>) {
        let Some(bit) = self.locations[loc.index()].order else {
            return;
        };
        let order = if self.breaks(Mutant::WriteNotNews) {
            Bits::EMPTY
        } else {
            Bits::single(bit)
        };
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
        let acquires = ord.acquires() && !self.breaks(Mutant::AcquireFenceIgnored);
        if let (true, Some(acquire)) = (acquires, own.acquire) {
            self.join(s, own.current, acquire, None);
        }
        let releases = ord.releases() && !self.breaks(Mutant::ReleaseFenceIgnored);
        let early = self.breaks(Mutant::ScFenceReleasesFirst);
        if let (true, Some(release)) = (releases && early, own.release) {
            self.copy(s, release, own.current);
        }
        if ord.is_sc() {
            match self.fence {
                Some(reserved) => self.reserved_rmw(s, t, reserved),
                None => self.sc_fence(s, own.current),
            }
        }
        if let (true, Some(release)) = (releases && !early, own.release) {
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
        let mut carried = Bits::range(0, self.psc_bits);
        if !self.breaks(Mutant::ScFenceWithoutPast) {
            carried.keep(s.slots[current]);
        }
        if !self.breaks(Mutant::ScFenceWithoutEco) {
            carried.keep(s.slots[current + e]);
        }
        s.slots[current + f].keep(carried);
        if let Some(q) = c.accesses {
            if !self.breaks(Mutant::ScFenceBindsNoSc) {
                s.slots[current + q].keep(carried);
            }
            s.slots[current + f] = s.slots[current + q];
        }
    }

    /// RA, RC20: an acq_rel RMW on the reserved location.
    fn reserved_rmw(&self, s: &mut State<W>, t: ThreadId, reserved: crate::layout::LocSlots) {
        let own = self.threads[t.index()];
        if let (Some(message), false) = (reserved.message, self.breaks(Mutant::ScFenceWithoutHb)) {
            self.join(s, own.current, message, None);
            self.copy(s, message, own.current);
        }
        let ordered = !self.breaks(Mutant::ScFenceWithoutOrder);
        if let (Some(order), Some(access), true) = (own.order, reserved.access_order, ordered) {
            let access_known = s.slots[access];
            s.slots[order].keep(access_known);
            s.slots[access] = s.slots[order];
        }
    }

    /// Thread creation: the child starts with what the parent knows; its release view stays bottom.
    pub(crate) fn spawn(&self, s: &mut State<W>, parent: ThreadId, child: ThreadId) {
        let (from, to) = (self.threads[parent.index()], self.threads[child.index()]);
        if !self.breaks(Mutant::SpawnWithoutView) {
            self.copy(s, to.current, from.current);
        }
        if let (Some(acquire), false) = (to.acquire, self.breaks(Mutant::SpawnWithoutAcquireView)) {
            self.copy(s, acquire, from.current);
        }
        if let (Some(release), true) = (to.release, self.breaks(Mutant::SpawnReleases)) {
            self.copy(s, release, from.current);
        }
        let ordered = !self.breaks(Mutant::SpawnWithoutOrder);
        if let (Some(to), Some(from), true) = (to.order, from.order, ordered) {
            s.slots[to] = s.slots[from];
        }
    }

    /// Join: the parent learns what the child knew at its end.
    pub(crate) fn thread_join(&self, s: &mut State<W>, parent: ThreadId, child: ThreadId) {
        let (to, from) = (self.threads[parent.index()], self.threads[child.index()]);
        if !self.breaks(Mutant::JoinWithoutView) {
            self.join(s, to.current, from.current, None);
            if let Some(acquire) = to.acquire {
                self.join(s, acquire, from.current, None);
            }
        }
        let ordered = !self.breaks(Mutant::JoinWithoutOrder);
        if let (Some(to), Some(from), true) = (to.order, from.order, ordered) {
            let known = s.slots[from];
            s.slots[to].keep(known);
        }
    }
}
