//! What a monitor is told, and what it answers.
//!
//! The caller executes a program sequentially consistently. Around each atomic access it calls
//! [`Monitor::check`] *before* the access takes effect (also when the access is about to block) and
//! [`Observer::apply`] with what then happened. A blocked access is checked once, on arrival: while a thread
//! is blocked nothing that its check depends on changes (docs/theory/sc-runs.md, S5). Every answer is exact for the state it was asked in,
//! so a caller may go on after a violation.
//!
//! A check has no side effect, and `apply` does not check.

use rsan_model::{CasStrength, FenceOrd, LocId, ReadOrd, RmwOrd, ThreadId, Value, WriteOrd};

/// A position in the modification order of one location; 0 is the initial write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The initial write.
    pub const INITIAL: Self = Self(0);

    /// The next position.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The position as an index into a list of all writes of the location.
    pub fn index(self) -> usize {
        usize::try_from(self.0).expect("a list of writes fits in memory")
    }
}

/// What a thread is about to do to an atomic location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access<'a> {
    /// Load.
    Load(ReadOrd),
    /// Store.
    Store(WriteOrd),
    /// Unconditional read-modify-write: fetch-and-add, exchange and the like.
    Rmw(RmwOrd),
    /// Compare-and-swap: a read-modify-write with order `ord` when it succeeds, a read with order `fail`
    /// when it does not. A weak one may fail on any value.
    Cas {
        /// The value that the location must hold.
        expected: Value,
        /// Order on success.
        ord: RmwOrd,
        /// Order on failure.
        fail: ReadOrd,
        /// Whether it may fail spuriously.
        strength: CasStrength,
    },
    /// Blocks until the location holds one of the values, then reads it.
    Wait {
        /// The values that let it pass.
        values: &'a [Value],
        /// Its order.
        ord: ReadOrd,
    },
    /// Blocks until the location holds `expected`, then updates it in one step.
    Bcas {
        /// The value that the location must hold.
        expected: Value,
        /// Its order.
        ord: RmwOrd,
    },
}

/// What an access did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It read the last write: a load, a failed compare-and-swap, a wait that passed.
    Read(ReadOrd),
    /// It stored.
    Write {
        /// The new value.
        value: Value,
        /// Its order.
        ord: WriteOrd,
    },
    /// It read the last write and wrote in one step: an RMW, a successful compare-and-swap.
    Rmw {
        /// The new value.
        value: Value,
        /// Its order.
        ord: RmwOrd,
    },
}

impl Effect {
    /// Whether it reads.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write { .. })
    }

    /// The value that it writes.
    pub fn value_written(self) -> Option<Value> {
        match self {
            Self::Read(_) => None,
            Self::Write { value, .. } | Self::Rmw { value, .. } => Some(value),
        }
    }

    /// Whether it is a read-modify-write.
    pub fn is_rmw(self) -> bool {
        matches!(self, Self::Rmw { .. })
    }

    /// Whether its read half acquires.
    pub fn acquires(self) -> bool {
        match self {
            Self::Read(ord) => ord.acquires(),
            Self::Write { .. } => false,
            Self::Rmw { ord, .. } => ord.acquires(),
        }
    }

    /// Whether its write half releases.
    pub fn releases(self) -> bool {
        match self {
            Self::Read(_) => false,
            Self::Write { ord, .. } => ord.releases(),
            Self::Rmw { ord, .. } => ord.releases(),
        }
    }

    /// Whether it is sequentially consistent.
    pub fn is_sc(self) -> bool {
        match self {
            Self::Read(ord) => ord.is_sc(),
            Self::Write { ord, .. } => ord.is_sc(),
            Self::Rmw { ord, .. } => ord.is_sc(),
        }
    }

    /// The race-checker's view of it.
    pub fn access_kind(self) -> AccessKind {
        match self {
            Self::Read(_) => AccessKind::AtomicRead,
            Self::Write { .. } | Self::Rmw { .. } => AccessKind::AtomicWrite,
        }
    }
}

/// A write, named so that a caller that records events finds the event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WriteRef {
    /// The location.
    pub loc: LocId,
    /// Its position in the location's modification order.
    pub timestamp: Timestamp,
    /// Who wrote; `None` for the initial write.
    pub thread: Option<ThreadId>,
    /// What it wrote.
    pub value: Value,
}

/// Weak memory allows the access to take effect before a write that every SC order puts before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Violation {
    /// The write that every SC order puts before the access; the newest such write.
    pub missed: WriteRef,
    /// The older write that the access may read from, or write directly after; the newest such write.
    pub stale: WriteRef,
}

/// Follows one SC run, event by event.
///
/// Threads and locations need not be announced: a thread that was never spawned starts at the beginning of
/// the run, and a location that was never given a value starts with 0. But see [`Observer::start`].
pub trait Observer {
    /// `thread` is there from the beginning of the run. A monitor that drops what no thread can use any more
    /// is exact only if all such threads are announced before it drops anything.
    fn start(&mut self, thread: ThreadId) {
        let _ = thread;
    }

    /// `thread` accessed `loc` atomically.
    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect);

    /// `thread` wrote the atomic location `loc` non-atomically (initialisation). It is a write like others in
    /// the modification order, but it neither releases nor continues a release sequence, and it is not
    /// checked for robustness, only for races.
    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value);

    /// `thread` executed a fence.
    fn fence(&mut self, thread: ThreadId, ord: FenceOrd);

    /// `parent` created `child`, a thread id that was not used before.
    fn spawn(&mut self, parent: ThreadId, child: ThreadId);

    /// `thread` ended; it makes no more accesses. Its end is an event of its own, after its last access.
    fn exit(&mut self, thread: ThreadId);

    /// `parent` waited for the end of `child`, which has exited.
    fn join(&mut self, parent: ThreadId, child: ThreadId);

    /// `loc` was freed, or was never used before: whatever is known of it is forgotten, and its life starts
    /// anew with an initial write of `value`.
    fn forget(&mut self, loc: LocId, value: Value);

    /// `thread` took a mutex. A mutex is a location of its own that only `lock` and `unlock` touch. A failed
    /// try-lock is no event.
    fn lock(&mut self, thread: ThreadId, mutex: LocId) {
        let ord = RmwOrd::Acquire;
        self.apply(thread, mutex, Effect::Rmw { value: 1, ord });
    }

    /// `thread` gave a mutex back.
    fn unlock(&mut self, thread: ThreadId, mutex: LocId) {
        let ord = WriteOrd::Release;
        self.apply(thread, mutex, Effect::Write { value: 0, ord });
    }
}

/// Decides, at each access of an SC run, whether the run can leave SC there.
pub trait Monitor: Observer {
    /// Whether the access that `thread` is about to make can be weak. To be asked before it takes effect.
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation>;
}

/// The two numbers that a check compares, for tests and explanations.
pub trait Bounds {
    /// The oldest write of `loc` that an access of `thread` may read or follow, under the model; `sc` says
    /// whether the access is seq_cst.
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp;

    /// The newest write of `loc` that every SC order puts before what `thread` does next.
    fn sc_bound(&self, thread: ThreadId, loc: LocId) -> Timestamp;
}

/// How an access looks to the race detector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// Non-atomic read.
    PlainRead,
    /// Non-atomic write.
    PlainWrite,
    /// Atomic read.
    AtomicRead,
    /// Atomic write or read-modify-write.
    AtomicWrite,
}

impl AccessKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::PlainRead,
        Self::PlainWrite,
        Self::AtomicRead,
        Self::AtomicWrite,
    ];

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Self::PlainWrite | Self::AtomicWrite)
    }

    /// Whether it is non-atomic.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::PlainRead | Self::PlainWrite)
    }

    /// Whether two accesses of one location by different threads race unless happens-before orders them.
    pub fn conflicts_with(self, other: Self) -> bool {
        (self.writes() || other.writes()) && (self.is_plain() || other.is_plain())
    }
}

/// One side of a race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaceSide {
    /// Who.
    pub thread: ThreadId,
    /// What; the thread's last access of this kind to the location is one that races.
    pub kind: AccessKind,
}

/// Two conflicting accesses, at least one of them non-atomic, that happens-before does not order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Race {
    /// The location.
    pub loc: LocId,
    /// The earlier access in the run.
    pub earlier: RaceSide,
    /// The access that was just made.
    pub later: RaceSide,
}

/// Decides, at each access of a run, whether it races with an earlier one.
pub trait RaceMonitor: Observer {
    /// Reports an access of `thread` to `loc`, checks it against the recorded ones and records it. For an
    /// atomic access, and for a plain write to an atomic location, call it after [`Observer::apply`] or
    /// [`Observer::plain_write`]; accesses to locations that are never accessed atomically need no other call.
    fn race(&mut self, thread: ThreadId, loc: LocId, kind: AccessKind) -> Option<Race>;
}
