//! An operation on its way: what it asks the monitor, and what it tells it.

use crate::chain::{Along, Search};
use crate::finding::{Holding, Side};
use crate::location::{Location, Locked, LoggedWrite, Operation, WriteSite};
use crate::probe::{self, Candidate, Suspect, Suspicion};
use crate::report;
use crate::stack::Function;
use crate::thread::{Body, Entered};
use crate::trail::{Act, Place, Step};
use rsan_clocks::write_log::Weakness;
use rsan_clocks::{Access, Effect};
use rsan_model::{ReadOrd, RmwOrd, Value, WriteOrd};

/// An operation on its way.
pub(super) struct Running<'a> {
    pub(super) me: &'a mut Entered,
    pub(super) address: usize,
    pub(super) bytes: usize,
    pub(super) write: WriteSite,
    pub(super) suspicion: Option<Box<Suspicion>>,
    /// What was done to the first of several pieces, to be repeated for the others.
    pub(super) repeat: Option<Effect>,
    /// The thread's SC past grew.
    pub(super) learnt: bool,
}

impl Running<'_> {
    /// Asks the monitor.
    #[inline]
    pub(super) fn check(&mut self, location: &Location, access: &Access<'_>) {
        if let Some(weakness) = location.check(&self.me.state, access) {
            self.suspect(location, access, weakness);
        }
    }

    /// Says so if the monitor may be wrong about an access that compares, for it compares numbers. The lock of the
    /// location is held; where proofs are claimed, one thread runs at a time.
    #[inline]
    pub(super) fn doubt(&self, location: &Location, compared: &[u128]) {
        if self.me.options.exact && !location.tells(&self.me.state, compared) {
            let why = "an old value that may be read here is not known";
            report::undecided(self.me, self.write.site(), why);
        }
    }

    #[cold]
    pub(super) fn suspect(&mut self, location: &Location, access: &Access<'_>, weakness: Weakness) {
        let leaf = self.write.leaf;
        let places = (leaf, location.place_of(weakness.missed));
        let is_load = matches!(access, Access::Load(_));
        if self.me.known.contains(places)
            || is_load && self.me.trusted.passes(leaf)
            || !self.me.options.robustness
            || self.me.unsynced != 0
        {
            return;
        }
        let sort = match *access {
            Access::Load(ord) => Suspect::Load {
                acquires: ord.acquires(),
            },
            Access::Cas { fail, .. } => Suspect::Cas {
                expected: 0,
                new: 0,
                acquires: fail.acquires(),
            },
            Access::Rmw(_) => Suspect::Rmw,
            Access::Store(_) | Access::Wait { .. } | Access::Bcas { .. } => Suspect::Writes,
        };
        let missed = location.logged(weakness.missed);
        let search = self.search(&missed);
        let thread = &self.me.state;
        let stale = location.stale(thread, access).into_iter();
        let candidates = stale.map(|stale| Candidate {
            side: side(location.logged(stale.write)),
            follows: stale.follows,
            write: (stale.write, location.writer(stale.write)),
        });
        let by_sc = location.stale(thread, &Access::Store(WriteOrd::SeqCst));
        let replaceable = location.stale(thread, &Access::Store(WriteOrd::Relaxed));
        let replaceable = replaceable.into_iter().filter_map(|stale| {
            let value = location.logged(stale.write).value?;
            Some((value, by_sc.contains(&stale)))
        });
        self.suspicion = Some(Box::new(Suspicion {
            address: self.address,
            bytes: self.bytes,
            access: Side {
                thread: Some(thread.id()),
                operation: self.write.operation.logged(),
                order: self.write.order,
                value: None,
                site: self.write.site(),
                holding: Holding::Unknown,
                slept: None,
                function: Function::NONE,
            },
            places,
            sort,
            missed: side(missed),
            candidates: candidates.collect(),
            replaceable: replaceable.collect(),
            search,
            before: self.me.options.exact.then(|| Box::new(thread.clone())),
            order: match *access {
                Access::Load(ord) | Access::Wait { ord, .. } => ord,
                Access::Cas { fail, .. } => fail,
                Access::Rmw(ord) | Access::Bcas { ord, .. } => ord.read(),
                Access::Store(_) => ReadOrd::Relaxed,
            },
            operands: [0; 2],
            wrote: false,
            is_free_of_sc: location.is_free_of_sc(),
        }));
    }

    /// What the chain of accesses is looked for with.
    pub(super) fn search(&self, missed: &LoggedWrite) -> Option<Search> {
        let step = |access: &WriteSite| {
            let order = access.order.unwrap_or(RmwOrd::Relaxed);
            let act = Act::from(access.operation);
            let place = Place::leaf(access.leaf);
            Step::new(&self.me.state, &self.me.trail, act, order, place)
        };
        Some(Search {
            access: step(&self.write),
            missed: Step {
                thread: missed.thread?,
                epoch: missed.epoch,
                ..step(&missed.write?)
            },
            address: self.address,
            along: Along::ScOrder,
        })
    }

    /// Remembers the access for reports.
    #[inline]
    pub(super) fn accessed(&mut self, location: &mut Location, access: WriteSite, known: u64) {
        let body: &mut Body = self.me;
        let learnt = body.state.past_version() != known;
        location.accessed(&body.state, &mut body.trail, access, learnt);
        if body.options.exact {
            location.remember(&body.state, access);
        }
        self.learnt = learnt;
    }

    /// Tells the monitor of a read.
    #[inline]
    pub(super) fn read(&mut self, location: &mut Location, order: ReadOrd) {
        self.me.make_private();
        let known = self.me.state.past_version();
        location.read(&mut self.me.state, Effect::Read(order));
        let access = WriteSite {
            operation: Operation::Load,
            order: Some(order.into()),
            ..self.write
        };
        self.accessed(location, access, known);
        if location.is_mixed() {
            self.repeat = Some(Effect::Read(order));
        }
    }

    /// Tells the monitor of a write.
    #[inline]
    pub(super) fn write(
        &mut self,
        location: &mut Location,
        bits: u128,
        releases: bool,
        effect: impl Fn(Value) -> Effect,
    ) {
        let body: &mut Body = self.me;
        let known = body.state.past_version();
        location.write(&mut body.state, bits, &effect, self.write, body.options);
        body.has_written(releases);
        self.accessed(location, self.write, known);
        if location.is_mixed() {
            self.repeat = Some(effect(0));
        }
        if self.me.options.exact {
            probe::exact::written(self.me, self.address, self.bytes);
        }
    }

    /// Repeats what was done for the other pieces of a location.
    #[cold]
    pub(super) fn repeat(&mut self, locked: &mut Locked, effect: Effect) {
        let body: &mut Body = self.me;
        let mut access = self.write;
        if effect.value_written().is_none() {
            access.operation = Operation::Load;
        }
        for piece in locked.further_pieces(self.address, self.bytes) {
            piece.repeat(&mut body.state, effect, access, body.options);
            if effect.value_written().is_some() {
                body.has_written(effect.releases());
            }
            piece.accessed(&body.state, &mut body.trail, access, false);
            if body.options.exact {
                piece.remember(&body.state, access);
            }
        }
    }
}

fn side(logged: LoggedWrite) -> Side {
    Side {
        thread: logged.thread,
        operation: logged
            .write
            .map_or(Operation::Initial, |write| write.operation)
            .logged(),
        order: logged.write.and_then(|write| write.order),
        value: logged.value,
        site: logged.write.map(WriteSite::site).unwrap_or_default(),
        holding: Holding::Unknown,
        slept: None,
        function: Function::NONE,
    }
}
