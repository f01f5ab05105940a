//! Several monitors, told the same: both forms, and the write log with each of its shortcuts switched off.

use rsan_clocks::location_clocks::{LocationClocks, Reach};
use rsan_clocks::races::{RaceClocks, ScFences};
use rsan_clocks::write_log::{LogModel, Options, WriteLog};
use rsan_clocks::{Access, AccessKind, Effect, Monitor, Observer, Race, RaceMonitor, Violation};
use rsan_model::{FenceOrd, LocId, Program, Start, ThreadId, Value};

/// Number of ways in which the write log is run.
const LOGS: usize = 4;

/// The names of the monitors of a [`Panel`], in the order of its answers.
pub const MONITORS: [&str; 1 + LOGS] = [
    "location clocks",
    "write log",
    "write log without fast paths",
    "write log without saturation",
    "write log without pruning",
];

/// One answer per monitor, in the order of [`MONITORS`].
pub(crate) type PerMonitor<T> = [T; 1 + LOGS];

/// The monitors; `L` and `W` are the model as the location clocks and as the write log know it.
#[derive(Clone, Debug)]
pub struct Panel<L, W> {
    clocks: LocationClocks<L>,
    races: RaceClocks,
    logs: [WriteLog<W>; LOGS],
}

impl<L: Reach, W: LogModel> Panel<L, W> {
    /// The monitors at the start of a program's run.
    pub fn new(program: &Program, sc_fences: ScFences) -> Self {
        let inits = || program.locations.iter().map(|l| l.init);
        let exact = Options::default();
        let options = [
            exact,
            Options {
                fast_paths: false,
                ..exact
            },
            Options {
                saturation: false,
                ..exact
            },
            Options {
                prune: false,
                ..exact
            },
        ];
        let mut panel = Self {
            clocks: LocationClocks::new(inits()),
            races: RaceClocks::new(sc_fences),
            logs: options.map(|options| WriteLog::new(inits(), options)),
        };
        for (t, thread) in program.threads.iter().enumerate() {
            if thread.start == Start::Initial {
                panel.start(ThreadId::new(t));
            }
        }
        panel
    }

    fn tell(&mut self, tell: impl Fn(&mut dyn Observer)) {
        tell(&mut self.clocks);
        tell(&mut self.races);
        self.logs.iter_mut().for_each(|log| tell(log));
    }

    /// What each monitor says about an access that is about to be made.
    pub(crate) fn check(
        &self,
        thread: ThreadId,
        loc: LocId,
        access: &Access<'_>,
    ) -> PerMonitor<Option<Violation>> {
        std::array::from_fn(|m| match m.checked_sub(1) {
            None => self.clocks.check(thread, loc, access),
            Some(log) => self.logs[log].check(thread, loc, access),
        })
    }

    /// What each monitor says about races of an access that was just made; the location clocks have none of their
    /// own and are paired with the reference race detector.
    pub(crate) fn race(
        &mut self,
        thread: ThreadId,
        loc: LocId,
        kind: AccessKind,
    ) -> PerMonitor<Option<Race>> {
        std::array::from_fn(|m| match m.checked_sub(1) {
            None => self.races.race(thread, loc, kind),
            Some(log) => self.logs[log].race(thread, loc, kind),
        })
    }
}

impl<L: Reach, W: LogModel> Observer for Panel<L, W> {
    fn start(&mut self, thread: ThreadId) {
        self.tell(|m| m.start(thread));
    }

    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        self.tell(|m| m.apply(thread, loc, effect));
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        self.tell(|m| m.plain_write(thread, loc, value));
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.tell(|m| m.fence(thread, ord));
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.tell(|m| m.spawn(parent, child));
    }

    fn exit(&mut self, thread: ThreadId) {
        self.tell(|m| m.exit(thread));
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.tell(|m| m.join(parent, child));
    }

    fn forget(&mut self, loc: LocId, value: Value) {
        self.tell(|m| m.forget(loc, value));
    }
}
