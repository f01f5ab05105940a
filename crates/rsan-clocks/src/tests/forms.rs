//! All forms of the monitor behind one interface, and how two of them are compared.

use super::declared::Declared;
use crate::location_clocks::{self, LocationClocks};
use crate::mutation::{Mutant, Mutation};
use crate::write_log::{self, Epoch, LogModel, Options, Rules, StaleWrite, ThreadState, WriteLog};
use crate::{
    Access, AccessKind, Bounds, Monitor, Race, RaceMonitor, ReleaseAcquire, Timestamp, Violation,
};
use rsan_model::{CasStrength, FenceOrd, LocId, Model, ReadOrd, RmwOrd, ThreadId, WriteOrd};

/// A monitor that tests can copy, prune and look into.
pub(super) trait Form: Monitor + Bounds {
    fn copy(&self) -> Box<dyn Form>;

    /// Drops what no live thread can use.
    fn prune(&mut self, _: LocId) {}

    /// Reports an access to the form's race detector, if it has one.
    fn observe_race(&mut self, _: ThreadId, _: LocId, _: AccessKind) -> Option<Option<Race>> {
        None
    }

    fn assert_invariants(&self) {}

    /// All stale writes for an access, if the form lists them.
    fn all_stale(&self, _: ThreadId, _: LocId, _: &Access<'_>) -> Option<Vec<StaleWrite>> {
        None
    }

    /// Number of exact and of forced slot reuses.
    fn reuses(&self) -> (u64, u64) {
        (0, 0)
    }
}

impl<M: location_clocks::Reach + Clone + 'static> Form for LocationClocks<M> {
    fn copy(&self) -> Box<dyn Form> {
        Box::new(self.clone())
    }
}

impl<M: LogModel + Clone + 'static> Form for WriteLog<M> {
    fn copy(&self) -> Box<dyn Form> {
        Box::new(self.clone())
    }

    fn prune(&mut self, loc: LocId) {
        self.prune(loc);
    }

    fn observe_race(
        &mut self,
        thread: ThreadId,
        loc: LocId,
        kind: AccessKind,
    ) -> Option<Option<Race>> {
        Some(self.race(thread, loc, kind))
    }

    fn assert_invariants(&self) {
        self.assert_invariants();
    }

    fn all_stale(
        &self,
        thread: ThreadId,
        loc: LocId,
        access: &Access<'_>,
    ) -> Option<Vec<StaleWrite>> {
        Some(self.stale(thread, loc, access))
    }

    fn reuses(&self) -> (u64, u64) {
        let counts = self.slot_counts();
        (counts.exact, counts.forced)
    }
}

impl<F: Form + Clone + 'static> Form for ReleaseAcquire<F> {
    fn copy(&self) -> Box<dyn Form> {
        Box::new(self.clone())
    }
}

/// How a form is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) model: Model,
    pub(super) kind: Kind,
    pub(super) mutant: Option<Mutant>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Read off the execution graph.
    Declared,
    Clocks,
    Log {
        options: Options,
        first_epoch: u32,
        /// Threads go on in other slots after this epoch.
        last_epoch: Option<u32>,
    },
    /// A log with C20's rules for accesses, and RC20's fences: exact for RC20 where no access is seq_cst.
    LogByC20,
}

/// See [`Kind::LogByC20`].
#[derive(Clone, Default)]
struct Rc20ByC20(write_log::Rc20);

impl LogModel for Rc20ByC20 {
    const SC_ACCESSES: bool = true;

    fn fence(&mut self, thread: &mut ThreadState, ord: FenceOrd, rules: Rules) {
        self.0.fence(thread, ord, rules);
    }
}

pub(super) const UNPRUNED: Options = Options {
    fast_paths: true,
    saturation: true,
    prune: false,
    cap: None,
    slots: None,
};

impl Variant {
    pub(super) fn clocks(model: Model) -> Self {
        Self {
            model,
            kind: Kind::Clocks,
            mutant: None,
        }
    }

    pub(super) fn declared(model: Model) -> Self {
        Self {
            kind: Kind::Declared,
            ..Self::clocks(model)
        }
    }

    pub(super) fn log(model: Model, options: Options) -> Self {
        Self {
            model,
            kind: Kind::Log {
                options,
                first_epoch: 0,
                last_epoch: None,
            },
            mutant: None,
        }
    }

    /// The forms of the log that must agree with the reference in everything.
    pub(super) fn exact_logs(model: Model) -> Vec<Self> {
        let slow = Options {
            fast_paths: false,
            saturation: false,
            ..UNPRUNED
        };
        let unsaturated = Options {
            saturation: false,
            ..UNPRUNED
        };
        let saturated = Options {
            saturation: true,
            ..slow
        };
        let pruned = Options {
            prune: true,
            ..UNPRUNED
        };
        [UNPRUNED, slow, unsaturated, saturated, pruned]
            .into_iter()
            .map(|options| Self::log(model, options))
            .collect()
    }

    pub(super) fn build(self) -> Box<dyn Form> {
        match self.model {
            Model::C20 => self.build_c20(),
            Model::Rc20 => self.build_rc20(),
            Model::Ra => self.build_ra(),
            Model::Sc | Model::Tso | Model::Rc11 => panic!("no monitor for {}", self.model),
        }
    }

    fn build_ra(self) -> Box<dyn Form> {
        match self.kind {
            Kind::Clocks => {
                let clocks = LocationClocks::<location_clocks::Rc20>::new([]);
                Box::new(ReleaseAcquire(clocks))
            }
            Kind::Log { .. } | Kind::LogByC20 => {
                Box::new(ReleaseAcquire(self.build_log::<write_log::Rc20>()))
            }
            Kind::Declared => Box::new(Declared::new(self.model)),
        }
    }

    fn mutation(self) -> Mutation {
        self.mutant.map(Mutation::new).unwrap_or_default()
    }

    fn build_c20(self) -> Box<dyn Form> {
        match self.kind {
            Kind::Clocks => Box::new(LocationClocks::<location_clocks::C20>::mutated(
                [],
                self.mutation(),
            )),
            Kind::Log { .. } | Kind::LogByC20 => Box::new(self.build_log::<write_log::C20>()),
            Kind::Declared => Box::new(Declared::new(self.model)),
        }
    }

    fn build_rc20(self) -> Box<dyn Form> {
        match self.kind {
            Kind::Clocks => Box::new(LocationClocks::<location_clocks::Rc20>::mutated(
                [],
                self.mutation(),
            )),
            Kind::Log { .. } => Box::new(self.build_log::<write_log::Rc20>()),
            Kind::LogByC20 => Box::new(WriteLog::<Rc20ByC20>::new([], UNPRUNED)),
            Kind::Declared => Box::new(Declared::new(self.model)),
        }
    }

    fn build_log<M: LogModel>(self) -> WriteLog<M> {
        let Kind::Log {
            options,
            first_epoch,
            last_epoch,
        } = self.kind
        else {
            panic!("not a log form");
        };
        let mut log = WriteLog::new([], options);
        log.start_epochs_at(Epoch::new(first_epoch));
        if let Some(last) = last_epoch {
            log.renew_slots_after(Epoch::new(last));
        }
        if let Some(mutant) = self.mutant {
            log.break_rule(mutant);
        }
        log
    }
}

/// The accesses that are asked about in every state.
pub(super) fn queries() -> Vec<Access<'static>> {
    let mut all = Vec::new();
    for sc in [false, true] {
        let read = if sc {
            ReadOrd::SeqCst
        } else {
            ReadOrd::Relaxed
        };
        let write = if sc {
            WriteOrd::SeqCst
        } else {
            WriteOrd::Release
        };
        let ord = if sc { RmwOrd::SeqCst } else { RmwOrd::Relaxed };
        all.extend([Access::Load(read), Access::Store(write), Access::Rmw(ord)]);
        for expected in 0..3 {
            let values = super::program::single(expected);
            all.push(Access::Wait { values, ord: read });
            all.push(Access::Bcas { expected, ord });
            for fail in [ReadOrd::Acquire, ReadOrd::SeqCst] {
                for strength in [CasStrength::Strong, CasStrength::Weak] {
                    all.push(Access::Cas {
                        expected,
                        ord,
                        fail,
                        strength,
                    });
                }
            }
        }
        all.push(Access::Wait {
            values: &[0, 2],
            ord: read,
        });
    }
    all
}

/// Those of them that a model without seq_cst accesses has.
pub(super) fn queries_without_sc() -> Vec<Access<'static>> {
    let is_sc = |access: &Access<'_>| match *access {
        Access::Load(ord) | Access::Wait { ord, .. } => ord.is_sc(),
        Access::Store(ord) => ord.is_sc(),
        Access::Rmw(ord) | Access::Bcas { ord, .. } => ord.is_sc(),
        Access::Cas { ord, fail, .. } => ord.is_sc() || fail.is_sc(),
    };
    let mut all = queries();
    all.retain(|access| !is_sc(access));
    all
}

/// What is demanded of a form, compared with the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    /// The same answers and the same numbers.
    Equal,
    /// Violations only where the reference has them, and those of loads that miss the last write.
    CappedAt2OrMore,
    /// Violations only where the reference has them.
    NoFalseAlarm,
}

/// Compares two answers about one access. `last` is the last write of the location.
pub(super) fn agree(
    demand: Demand,
    access: &Access<'_>,
    reference: Option<Violation>,
    subject: Option<Violation>,
    last: Timestamp,
) -> bool {
    match demand {
        Demand::Equal => reference == subject,
        Demand::NoFalseAlarm => reference.is_some() || subject.is_none(),
        Demand::CappedAt2OrMore => {
            let standard = matches!(access, Access::Load(_))
                && reference.is_some_and(|violation| violation.missed.timestamp == last);
            (reference.is_some() || subject.is_none()) && (!standard || subject.is_some())
        }
    }
}

/// Compares all answers about one thread and one location.
pub(super) fn compare_at(
    demand: Demand,
    (reference, subject): (&dyn Form, &dyn Form),
    thread: ThreadId,
    loc: LocId,
    last: Timestamp,
    queries: &[Access<'static>],
) -> Result<(), String> {
    if demand == Demand::Equal {
        for sc in [false, true] {
            let bounds = [reference, subject].map(|form| form.lower_bound(thread, loc, sc));
            if bounds[0] != bounds[1] {
                return Err(format!(
                    "lower bound of {thread} at {loc}, sc {sc}: {bounds:?}"
                ));
            }
        }
        let bounds = [reference, subject].map(|form| form.sc_bound(thread, loc));
        if bounds[0] != bounds[1] {
            return Err(format!("SC bound of {thread} at {loc}: {bounds:?}"));
        }
    }
    for access in queries {
        let answers = [reference, subject].map(|form| form.check(thread, loc, access));
        if !agree(demand, access, answers[0], answers[1], last) {
            return Err(format!("{access:?} of {thread} at {loc}: {answers:?}"));
        }
        if let Some(found) = subject.all_stale(thread, loc, access) {
            let first = found.first().map(|stale| stale.write);
            let expected = reference.all_stale(thread, loc, access);
            let fine = answers[1].map(|violation| violation.stale.timestamp) == first
                && (demand != Demand::Equal || expected.is_none_or(|all| all == found));
            if !fine {
                return Err(format!("{access:?} of {thread} at {loc}: stale {found:?}"));
            }
        }
    }
    Ok(())
}
