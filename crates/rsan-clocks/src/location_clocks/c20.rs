//! C++20: RC20's happens-before, and seq_cst accesses and fences as in \[atomics.order\]p4.
//!
//! A total order S of the seq_cst events exists iff this relation is acyclic (`A` SC accesses, `F` SC fences):
//!
//! ```text
//! shb   = (po ∪ [SC];sw;[SC] ∪ po;hb;po)+
//! psc20 = [SC];shb;[SC] ∪ ([A] ∪ [F];hb) ; eco ; ([A] ∪ hb;[F])
//! ```
//!
//! A write is out of reach when happens-before says so, or when an SC event that *carries* it (its own SC
//! access, an SC read of it, an SC fence that knows it) comes psc20-before an SC fence that happens-before the
//! access, or, for SC accesses, psc20-before an SC event that is before the access. No S is ever chosen: there is no
//! reserved location, and fences are thread-local.
//!
//! | paper | here | newest writes known ... |
//! | --- | --- | --- |
//! | c | `View::hb` | through happens-before |
//! | q | `View::sc` | through SC events before |
//! | d | `View::direct` | through SC release-side events that synchronise with whoever acquires this message |
//! | f | `View::fence` | through SC fences that happen before |
//! | e | `View::eco` | through SC events eco-before something that happens before |
//! | MS, MF | `Location::any` | through SC accesses of the location; through fences before any access of it |
//! | WS, WF | `Location::last_write` | the same as of the last write |
//!
//! The rules are those of docs/theory/location-clocks.md, L7 to L10, step by step, without any simplification.

use super::{Reach, ScOrder, Step, StepKind};
use crate::clock::{LocationClock, entry};
use crate::mutation::Mutant;
use crate::{Effect, Timestamp};
use rsan_model::{FenceOrd, LocId, ThreadId};

/// The clocks of C++20.
#[derive(Clone, Debug, Default)]
pub struct C20 {
    threads: Vec<Thread>,
    locations: Vec<Location>,
}

#[derive(Clone, Debug, Default)]
struct View {
    hb: LocationClock,
    sc: LocationClock,
    direct: LocationClock,
    fence: LocationClock,
    eco: LocationClock,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    current: View,
    acquirable: View,
    released: View,
}

/// What SC accesses and SC fences carry.
#[derive(Clone, Debug, Default)]
struct Carried {
    by_accesses: LocationClock,
    by_fences: LocationClock,
}

#[derive(Clone, Debug, Default)]
struct Location {
    message: View,
    any: Carried,
    last_write: Carried,
}

impl View {
    fn join_without_direct(&mut self, other: &Self) {
        self.hb.join(&other.hb);
        self.sc.join(&other.sc);
        self.fence.join(&other.fence);
        self.eco.join(&other.eco);
    }

    fn join(&mut self, other: &Self) {
        self.join_without_direct(other);
        self.direct.join(&other.direct);
    }

    fn clocks_mut(&mut self) -> [&mut LocationClock; 5] {
        [
            &mut self.hb,
            &mut self.sc,
            &mut self.direct,
            &mut self.fence,
            &mut self.eco,
        ]
    }
}

impl Carried {
    fn join_into(&self, clock: &mut LocationClock) {
        clock.join(&self.by_accesses);
        clock.join(&self.by_fences);
    }
}

impl Location {
    /// What is eco-before an access: everything before a write, the last write before a read.
    fn eco_before(&self, writes: bool) -> &Carried {
        if writes { &self.any } else { &self.last_write }
    }

    /// Step 4: what an SC access carries (`Q`). `before` is what the thread knew before it took the message.
    fn carried_by(
        &self,
        step: &Step,
        effect: Effect,
        thread: &Thread,
        before: LocationClock,
    ) -> LocationClock {
        let mutation = step.mutation;
        let mut carried = before;
        if mutation.breaks(Mutant::C20CarriesAcquired) {
            carried.assign(&thread.current.sc);
        }
        if effect.reads() {
            carried.join(&self.message.direct);
        }
        if !mutation.breaks(Mutant::C20CarriesNoEco) {
            self.eco_before(step.kind.writes()).join_into(&mut carried);
        }
        if !mutation.breaks(Mutant::C20CarriesNotItself) {
            carried.raise(step.loc, step.timestamp);
        }
        carried
    }

    /// Step 6. `effect` is `None` for a plain write, which publishes nothing.
    fn leave_message(
        &mut self,
        step: &Step,
        effect: Option<Effect>,
        thread: &Thread,
        carried: Option<&LocationClock>,
    ) {
        if !step.mutation.breaks(Mutant::C20LastWriteNotRenewed) {
            self.last_write = self.any.clone();
        }
        let mut message = match effect {
            None => View::default(),
            Some(effect) if effect.releases() => {
                let mut message = thread.current.clone();
                message.direct.assign(&thread.released.direct);
                if let Some(carried) = carried {
                    message.direct.join(carried);
                    if step.mutation.breaks(Mutant::C20MessageHasOwnSc) {
                        message.sc.join(carried);
                    }
                }
                message
            }
            Some(_) => thread.released.clone(),
        };
        message.hb.raise(step.loc, step.timestamp);
        if effect.is_some_and(Effect::is_rmw) {
            message.join(&self.message);
        }
        self.message = message;
    }
}

impl Reach for C20 {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp {
        let Some(thread) = self.threads.get(thread.index()) else {
            return Timestamp::INITIAL;
        };
        let view = &thread.current;
        let bound = view.hb.get(loc).max(view.fence.get(loc));
        if sc {
            bound.max(view.sc.get(loc))
        } else {
            bound
        }
    }

    fn access(&mut self, step: &Step) {
        let thread = entry(&mut self.threads, step.thread.index());
        let location = entry(&mut self.locations, step.loc.index());
        let effect = match step.kind {
            StepKind::Atomic(effect) => Some(effect),
            StepKind::PlainWrite => None,
        };
        let writes = step.kind.writes();
        let before = thread.current.sc.clone();
        // 1. Take the message.
        if effect.is_some_and(Effect::reads) {
            thread.acquirable.join(&location.message);
            if effect.is_some_and(Effect::acquires) {
                thread.current.join_without_direct(&location.message);
            }
        }
        // 2. Observe the write.
        thread.current.hb.raise(step.loc, step.timestamp);
        // 3. What is eco-before this access.
        let no_eco = if writes {
            Mutant::C20WritesTakeNoEco
        } else {
            Mutant::C20ReadsTakeNoEco
        };
        if !step.mutation.breaks(no_eco) {
            location
                .eco_before(writes)
                .join_into(&mut thread.current.eco);
        }
        // 4. What this SC access carries.
        let carried = effect
            .filter(|effect| effect.is_sc())
            .map(|effect| location.carried_by(step, effect, thread, before));
        if let Some(carried) = &carried {
            location.any.by_accesses.join(carried);
        }
        // 5. What fences before this access carry.
        if !step.mutation.breaks(Mutant::C20AccessesCarryNoFences) {
            location.any.by_fences.join(&thread.current.fence);
        }
        // 6. Leave the message.
        if writes {
            location.leave_message(step, effect, thread, carried.as_ref());
        }
        // 7. and 8.
        if let Some(carried) = &carried
            && !step.mutation.breaks(Mutant::C20CarriedForgotten)
        {
            thread.current.sc.join(carried);
        }
        thread.acquirable.join_without_direct(&thread.current);
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd, order: &mut ScOrder) {
        let mutation = order.mutation;
        let t = entry(&mut self.threads, thread.index());
        let mut carried = t.current.sc.clone();
        if ord.acquires() {
            t.current.join_without_direct(&t.acquirable);
        }
        if ord.is_sc() {
            if !mutation.breaks(Mutant::C20FenceCarriesNoHb) {
                carried.join(&t.current.hb);
            }
            if !mutation.breaks(Mutant::C20FenceCarriesNoEco) {
                carried.join(&t.current.eco);
            }
            carried.join(&t.current.fence);
            carried.join(&t.acquirable.direct);
            t.released = t.current.clone();
            t.released.direct.assign(&carried);
            t.current.sc.join(&carried);
            if !mutation.breaks(Mutant::C20FenceUnbound) {
                t.current.fence.join(&carried);
            }
            if !mutation.breaks(Mutant::C20FenceReleasesNothing) {
                t.released.fence.assign(&t.current.fence);
            }
        } else if ord.releases() {
            let direct = std::mem::take(&mut t.released.direct);
            t.released = t.current.clone();
            t.released.direct = direct;
        }
        t.acquirable.join_without_direct(&t.current);
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let mut inherited = View::default();
        inherited.join_without_direct(&entry(&mut self.threads, parent.index()).current);
        *entry(&mut self.threads, child.index()) = Thread {
            current: inherited.clone(),
            acquirable: inherited,
            released: View::default(),
        };
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let last = entry(&mut self.threads, child.index()).current.clone();
        let parent = entry(&mut self.threads, parent.index());
        parent.current.join_without_direct(&last);
        parent.acquirable.join_without_direct(&last);
    }

    fn forget(&mut self, loc: LocId) {
        *entry(&mut self.locations, loc.index()) = Location::default();
        let mut clear = |clock: &mut LocationClock| clock.set(loc, Timestamp::INITIAL);
        for thread in &mut self.threads {
            for view in [
                &mut thread.current,
                &mut thread.acquirable,
                &mut thread.released,
            ] {
                view.clocks_mut().into_iter().for_each(&mut clear);
            }
        }
        for location in &mut self.locations {
            location
                .message
                .clocks_mut()
                .into_iter()
                .for_each(&mut clear);
            for carried in [&mut location.any, &mut location.last_write] {
                clear(&mut carried.by_accesses);
                clear(&mut carried.by_fences);
            }
        }
    }
}
