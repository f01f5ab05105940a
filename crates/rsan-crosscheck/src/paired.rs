//! A robustness monitor and the reference race detector, side by side.

use rsan_clocks::races::{RaceClocks, ScFences};
use rsan_clocks::{Access, AccessKind, Effect, Monitor, Observer, Race, RaceMonitor, Violation};
use rsan_model::{FenceOrd, LocId, ThreadId, Value};

/// Both, told the same.
#[derive(Clone, Debug)]
pub struct Paired<M> {
    monitor: M,
    races: RaceClocks,
}

impl<M: Monitor> Paired<M> {
    /// A monitor without race detection of its own, paired with the reference.
    pub fn new(monitor: M, sc_fences: ScFences) -> Self {
        Self {
            monitor,
            races: RaceClocks::new(sc_fences),
        }
    }
}

impl<M: Monitor> Observer for Paired<M> {
    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        self.monitor.apply(thread, loc, effect);
        self.races.apply(thread, loc, effect);
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        self.monitor.plain_write(thread, loc, value);
        self.races.plain_write(thread, loc, value);
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.monitor.fence(thread, ord);
        self.races.fence(thread, ord);
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.monitor.spawn(parent, child);
        self.races.spawn(parent, child);
    }

    fn exit(&mut self, thread: ThreadId) {
        self.monitor.exit(thread);
        self.races.exit(thread);
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.monitor.join(parent, child);
        self.races.join(parent, child);
    }

    fn forget(&mut self, loc: LocId, value: Value) {
        self.monitor.forget(loc, value);
        self.races.forget(loc, value);
    }
}

impl<M: Monitor> Monitor for Paired<M> {
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation> {
        self.monitor.check(thread, loc, access)
    }
}

impl<M: Monitor> RaceMonitor for Paired<M> {
    fn race(&mut self, thread: ThreadId, loc: LocId, kind: AccessKind) -> Option<Race> {
        self.races.race(thread, loc, kind)
    }
}
