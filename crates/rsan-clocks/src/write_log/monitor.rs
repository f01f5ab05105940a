//! The write-log monitor behind the event interface: a table of threads and one of locations.

use super::fence::ReservedLocation;
use super::{
    Knowledge, LocationState, Owners, Rules, SlotCounts, SlotTable, StaleWrite, ThreadState,
};
use crate::clock::entry;
use crate::mutation::Mutant;
use crate::races::RaceShadow;
use crate::{
    Access, AccessKind, Bounds, Effect, Monitor, Observer, Race, RaceMonitor, Timestamp, Violation,
    WriteRef,
};
use rsan_model::{FenceOrd, LocId, ThreadId, Value};

/// A memory model, as far as it is not the same for all: its SC accesses and its fences.
pub trait LogModel: Default {
    /// Whether seq_cst accesses are more than release/acquire ones.
    const SC_ACCESSES: bool;

    /// A fence happened.
    fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd, rules: Rules);
}

/// C++20.
#[derive(Clone, Copy, Debug, Default)]
pub struct C20;

impl LogModel for C20 {
    const SC_ACCESSES: bool = true;

    fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd, rules: Rules) {
        thread.fence_c20(ord, rules);
    }
}

/// RC20, and RA when every access is raised to release/acquire ([`crate::ReleaseAcquire`]).
#[derive(Clone, Debug, Default)]
pub struct Rc20 {
    reserved: ReservedLocation,
}

impl LogModel for Rc20 {
    const SC_ACCESSES: bool = false;

    fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd, rules: Rules) {
        thread.fence_rc20(ord, &mut self.reserved, rules);
    }
}

/// Settings of a [`WriteLog`]. Only `cap` and `slots` can lose violations; nothing invents any.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Use the shortcuts; see [`Rules::fast_paths`].
    pub fast_paths: bool,
    /// Keep purely seq_cst threads and locations in a cheaper form.
    pub saturation: bool,
    /// Drop writes that no live thread can use, when a log has doubled.
    pub prune: bool,
    /// Keep at most about this many writes per location.
    pub cap: Option<usize>,
    /// Give out at most this many slots, as long as there are ended threads to take one from.
    pub slots: Option<usize>,
}

impl Default for Options {
    /// Exact, with all shortcuts.
    fn default() -> Self {
        Self {
            fast_paths: true,
            saturation: true,
            prune: true,
            cap: None,
            slots: None,
        }
    }
}

#[derive(Clone, Debug)]
struct Thread {
    state: ThreadState,
    live: bool,
}

/// The write-log monitor for the model `M`.
#[derive(Clone, Debug)]
pub struct WriteLog<M> {
    options: Options,
    rules: Rules,
    model: M,
    threads: Vec<Option<Thread>>,
    locations: Vec<Option<LocationState>>,
    slots: SlotTable,
    owners: Owners,
    shadow: Vec<RaceShadow>,
    #[cfg(test)]
    renew_after: Option<super::Epoch>,
}

impl<M: LogModel> WriteLog<M> {
    /// A monitor at the start of a run; location `i` initially holds `values[i]`, all further ones hold 0.
    pub fn new(values: impl IntoIterator<Item = Value>, options: Options) -> Self {
        let rules = Rules {
            fast_paths: options.fast_paths,
            saturation: options.saturation,
            sc_accesses: M::SC_ACCESSES,
            ..Rules::default()
        };
        Self {
            options,
            rules,
            model: M::default(),
            threads: Vec::new(),
            locations: values
                .into_iter()
                .map(|value| Some(LocationState::new(value, rules)))
                .collect(),
            slots: SlotTable::new(options.slots),
            owners: Owners::default(),
            shadow: Vec::new(),
            #[cfg(test)]
            renew_after: None,
        }
    }

    /// Breaks a rule.
    #[cfg(test)]
    pub(crate) fn break_rule(&mut self, mutant: Mutant) {
        self.rules.mutation = crate::mutation::Mutation::new(mutant);
    }

    /// Lets all slots begin at this epoch.
    #[cfg(test)]
    pub(crate) fn start_epochs_at(&mut self, epoch: super::Epoch) {
        self.slots.start_at(epoch);
    }

    /// Lets threads go on in other slots when they have come so far in theirs.
    #[cfg(test)]
    pub(crate) fn renew_slots_after(&mut self, epoch: super::Epoch) {
        self.renew_after = Some(epoch);
    }

    #[cfg(test)]
    fn renew_slot(&mut self, thread: ThreadId) {
        if let Some(after) = self.renew_after
            && let Some(Some(entry)) = self.threads.get_mut(thread.index())
            && entry.state.epoch > after
            && let Some(place) = self.slots.fresh()
        {
            let start = entry.state.go_on_in(place);
            self.owners.add(start, thread);
        }
    }

    /// A location, if it was used.
    pub fn location(&self, loc: LocId) -> Option<&LocationState> {
        self.locations.get(loc.index())?.as_ref()
    }

    /// A thread, if it was used and was not joined.
    pub fn thread(&self, thread: ThreadId) -> Option<&ThreadState> {
        Some(&self.threads.get(thread.index())?.as_ref()?.state)
    }

    /// All stale writes for an access that `thread` is about to make, newest first.
    pub fn stale(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Vec<StaleWrite> {
        match (self.thread(thread), self.location(loc)) {
            (Some(thread), Some(location)) => location.stale(thread, access, self.rules),
            _ => Vec::new(),
        }
    }

    /// How often slots were used again.
    pub fn slot_counts(&self) -> SlotCounts {
        self.slots.counts()
    }

    /// Drops writes of `loc` that no live thread can use. Done by itself when a log has doubled, if
    /// [`Options::prune`] is set.
    pub fn prune(&mut self, loc: LocId) {
        let Some(Some(location)) = self.locations.get_mut(loc.index()) else {
            return;
        };
        let threads = self.threads.iter().flatten().filter(|thread| thread.live);
        let by_sc = self.rules.breaks(Mutant::PruneWithScBound);
        location.prune(threads.map(|thread| {
            let fence = if by_sc {
                &thread.state.view.sc.access
            } else {
                &thread.state.view.sc.fence
            };
            Knowledge {
                fence,
                ..thread.state.knowledge()
            }
        }));
    }

    fn thread_mut(&mut self, thread: ThreadId) -> &mut ThreadState {
        #[cfg(test)]
        self.renew_slot(thread);
        let (slots, rules) = (&mut self.slots, self.rules);
        let thread_entry = entry(&mut self.threads, thread.index());
        let thread = thread_entry.get_or_insert_with(|| {
            let state = ThreadState::initial(thread, slots.assign(None, rules), rules);
            self.owners.add(state.stamp(), thread);
            Thread { state, live: true }
        });
        &mut thread.state
    }

    fn both_mut(
        &mut self,
        thread: ThreadId,
        loc: LocId,
    ) -> (&mut ThreadState, &mut LocationState, Rules) {
        self.thread_mut(thread);
        let rules = self.rules;
        let location = entry(&mut self.locations, loc.index())
            .get_or_insert_with(|| LocationState::new(0, rules));
        let thread = self.threads[thread.index()].as_mut();
        let thread = &mut thread.expect("the thread was just looked up").state;
        (thread, location, rules)
    }

    fn after_write(&mut self, loc: LocId) {
        let Some(Some(location)) = self.locations.get(loc.index()) else {
            return;
        };
        if !location.wants_pruning(self.options.cap) {
            return;
        }
        if self.options.prune {
            self.prune(loc);
        }
        if let (Some(cap), Some(location)) = (self.options.cap, &mut self.locations[loc.index()]) {
            location.cut(cap);
        }
    }

    /// Checks the invariants that the rules keep; for tests.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        for thread in self.threads.iter().flatten() {
            thread.state.assert_invariants();
        }
        for location in self.locations.iter().flatten() {
            location.assert_invariants();
        }
    }
}

impl<M: LogModel> Observer for WriteLog<M> {
    fn start(&mut self, thread: ThreadId) {
        self.thread_mut(thread);
    }

    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        let (state, location, rules) = self.both_mut(thread, loc);
        location.apply(state, effect, rules);
        if effect.value_written().is_some() {
            self.after_write(loc);
        }
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        let (state, location, rules) = self.both_mut(thread, loc);
        location.plain_write(state, value, rules);
        self.after_write(loc);
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.thread_mut(thread);
        let rules = self.rules;
        if let Some(thread) = &mut self.threads[thread.index()] {
            self.model.fence(&mut thread.state, ord, rules);
        }
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let rules = self.rules;
        self.thread_mut(parent);
        let mut threads = std::mem::take(&mut self.threads);
        if let Some(parent) = &mut threads[parent.index()] {
            let place = self.slots.assign(Some(&parent.state), rules);
            let state = parent.state.spawn(child, place, rules);
            self.owners.add(state.stamp(), child);
            *entry(&mut threads, child.index()) = Some(Thread { state, live: true });
        }
        self.threads = threads;
    }

    fn exit(&mut self, thread: ThreadId) {
        self.thread_mut(thread);
        if let Some(thread) = &mut self.threads[thread.index()] {
            thread.live = false;
            self.slots.retire(&thread.state);
        }
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let rules = self.rules;
        if let Some(child) = entry(&mut self.threads, child.index()).take() {
            self.thread_mut(parent).join(&child.state, rules);
        }
    }

    fn forget(&mut self, loc: LocId, value: Value) {
        let fresh = LocationState::new(value, self.rules);
        *entry(&mut self.locations, loc.index()) = Some(fresh);
        *entry(&mut self.shadow, loc.index()) = RaceShadow::default();
    }
}

impl<M: LogModel> Monitor for WriteLog<M> {
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation> {
        let (thread, location) = (self.thread(thread)?, self.location(loc)?);
        let weakness = location.check(thread, access, self.rules)?;
        let write_ref = |timestamp: Timestamp| {
            let writer = location.writer(timestamp);
            Some(WriteRef {
                loc,
                timestamp,
                thread: writer.and_then(|stamp| self.owners.owner(stamp)),
                value: location.note(timestamp)?.1,
            })
        };
        Some(Violation {
            missed: write_ref(weakness.missed)?,
            stale: write_ref(weakness.stale)?,
        })
    }
}

impl<M: LogModel> Bounds for WriteLog<M> {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp {
        match (self.thread(thread), self.location(loc)) {
            (Some(thread), Some(location)) => location.lower_bound(thread, sc, self.rules),
            _ => Timestamp::INITIAL,
        }
    }

    fn sc_bound(&self, thread: ThreadId, loc: LocId) -> Timestamp {
        match (self.thread(thread), self.location(loc)) {
            (Some(thread), Some(location)) => location.sc_bound(thread, self.rules),
            _ => Timestamp::INITIAL,
        }
    }
}

impl<M: LogModel> RaceMonitor for WriteLog<M> {
    fn race(&mut self, thread: ThreadId, loc: LocId, kind: AccessKind) -> Option<Race> {
        self.thread_mut(thread);
        let state = &mut self.threads[thread.index()].as_mut()?.state;
        let shadow = entry(&mut self.shadow, loc.index());
        shadow.access(state, loc, kind, self.rules)
    }
}
