//! RA as RC20 with raised orders.

use crate::{Access, Bounds, Effect, Monitor, Observer, Timestamp, Violation};
use rsan_model::{FenceOrd, LocId, ReadOrd, RmwOrd, ThreadId, Value, WriteOrd};

/// A monitor that raises every access to release/acquire: with an RC20 monitor inside, it is the RA monitor.
///
/// Callers that run a `Program` can raise its orders instead (`Program::for_model`), once and for all.
#[derive(Clone, Debug, Default)]
pub struct ReleaseAcquire<M>(pub M);

fn raise_read(ord: ReadOrd) -> ReadOrd {
    ord.max(ReadOrd::Acquire)
}

fn raise_rmw(ord: RmwOrd) -> RmwOrd {
    if ord.is_sc() { ord } else { RmwOrd::AcqRel }
}

impl<M: Observer> Observer for ReleaseAcquire<M> {
    fn start(&mut self, thread: ThreadId) {
        self.0.start(thread);
    }

    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        let raised = match effect {
            Effect::Read(ord) => Effect::Read(raise_read(ord)),
            Effect::Write { value, ord } => Effect::Write {
                value,
                ord: ord.max(WriteOrd::Release),
            },
            Effect::Rmw { value, ord } => Effect::Rmw {
                value,
                ord: raise_rmw(ord),
            },
        };
        self.0.apply(thread, loc, raised);
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        self.0.plain_write(thread, loc, value);
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.0.fence(thread, ord);
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.0.spawn(parent, child);
    }

    fn exit(&mut self, thread: ThreadId) {
        self.0.exit(thread);
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.0.join(parent, child);
    }

    fn forget(&mut self, loc: LocId, value: Value) {
        self.0.forget(loc, value);
    }
}

impl<M: Bounds> Bounds for ReleaseAcquire<M> {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp {
        self.0.lower_bound(thread, loc, sc)
    }

    fn sc_bound(&self, thread: ThreadId, loc: LocId) -> Timestamp {
        self.0.sc_bound(thread, loc)
    }
}

impl<M: Monitor> Monitor for ReleaseAcquire<M> {
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation> {
        let raised = match *access {
            Access::Load(ord) => Access::Load(raise_read(ord)),
            Access::Store(ord) => Access::Store(ord.max(WriteOrd::Release)),
            Access::Rmw(ord) => Access::Rmw(raise_rmw(ord)),
            Access::Cas {
                expected,
                ord,
                fail,
                strength,
            } => Access::Cas {
                expected,
                ord: raise_rmw(ord),
                fail: raise_read(fail),
                strength,
            },
            Access::Wait { values, ord } => Access::Wait {
                values,
                ord: raise_read(ord),
            },
            Access::Bcas { expected, ord } => Access::Bcas {
                expected,
                ord: raise_rmw(ord),
            },
        };
        self.0.check(thread, loc, &raised)
    }
}
