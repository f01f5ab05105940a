//! A monitor without clocks: it keeps the execution graph and reads every bound off the definitions.
//!
//! A write of `x` is out of reach of thread T's next access when a newer write `w` of `x` is known:
//! `w rf?;hb?` an event of T; or, under C20, some SC event that carries `w` (an SC access that is or reads `w`,
//! an SC fence with `w rf?;hb` it) is psc20*-before an SC fence that happens before T's next event, or, for an
//! SC access, before an SC event that is po- or po;hb-before it. The missed write is the newest one that is
//! hbSC-before T's next event (docs/theory/location-clocks.md, L7). Slow and obvious; small programs only.

use super::forms::Form;
use crate::write_log::StaleWrite;
use crate::{
    Access, AccessKind, Bounds, Effect, Monitor, Observer, Race, RaceSide, Timestamp, Violation,
    WriteRef,
};
use rsan_model::{
    CasStrength, Event, EventId, EventSet, FenceOrd, Graph, Label, LocId, Model, Pc, Relation,
    ThreadId, Value,
};

/// Locations that programs may use.
const LOCATIONS: usize = 6;

#[derive(Clone, Debug)]
pub(super) struct Declared {
    model: Model,
    graph: Graph,
    bounds: Vec<[Bound; LOCATIONS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    lower: Timestamp,
    lower_sc: Timestamp,
    missed: Timestamp,
}

/// The relations of a model over a graph.
struct Relations {
    po: Relation,
    rf: Relation,
    hb: Relation,
    /// What every SC order respects.
    hb_sc: Relation,
    /// What every order S of the seq_cst events respects; empty in models without them.
    psc: Relation,
}

impl Relations {
    fn new(graph: &Graph, model: Model) -> Self {
        let n = graph.len();
        let id = |set| Relation::identity_on(n, set);
        let (po, rf, asw, eco) = (graph.po(), graph.rf(), graph.asw(), graph.eco());
        let atomic_write = |label: Label| label.is_write() && !label.is_plain();
        let writes = id(graph.select(atomic_write));
        let reads = id(graph.select(|label| label.is_read() && !label.is_plain()));
        let rmws = id(graph.select(Label::is_rmw));
        let releasing = id(graph.select(|label| label.is_write() && label.releases()));
        let release_fences = id(graph.select(|label| label.is_fence() && label.releases()));
        let acquiring = id(graph.select(|label| label.is_read() && label.acquires()));
        let acquire_fences = id(graph.select(|label| label.is_fence() && label.acquires()));
        let rs = writes.then(&rf.then(&rmws).star());
        let from = releasing.union(&release_fences.then(&po).then(&writes));
        let to = acquiring.union(&reads.then(&po).then(&acquire_fences));
        let sw = from.then(&rs).then(&rf).then(&to);
        let fences = graph.select(Label::is_sc_fence);
        let mut fence_order = Relation::new(n);
        if model != Model::C20 {
            for a in fences.iter() {
                let later = fences.iter().filter(|&b| a < b);
                later.for_each(|b| fence_order.add(a, b));
            }
        }
        let hb = po.union(&sw).union(&asw).union(&fence_order).plus();
        let hb_sc = graph.sc_order().union(&fence_order).plus();
        let psc = if model == Model::C20 {
            let accesses = id(graph.select(Label::is_sc_access));
            let fences = id(fences);
            let sc = accesses.union(&fences);
            let shb = po
                .union(&sc.then(&sw).then(&sc))
                .union(&po.then(&hb).then(&po))
                .plus();
            let eco = accesses
                .union(&fences.then(&hb))
                .then(&eco)
                .then(&accesses.union(&hb.then(&fences)));
            sc.then(&shb).then(&sc).union(&eco)
        } else {
            Relation::new(n)
        };
        Self {
            po,
            rf,
            hb,
            hb_sc,
            psc,
        }
    }
}

/// The events from which `relation` reaches `targets` in any number of steps.
fn ancestors(relation: &Relation, targets: EventSet) -> EventSet {
    let star = relation.star();
    let reaches = |e: EventId| !star.successors(e).intersect(targets).is_empty();
    EventSet::filter(relation.size(), |e| targets.contains(e) || reaches(e))
}

impl Declared {
    pub(super) fn new(model: Model) -> Self {
        Self {
            model,
            graph: Graph::initial([0; LOCATIONS]),
            bounds: Vec::new(),
        }
    }

    fn push(&mut self, thread: ThreadId, label: Label) -> EventId {
        let event = Event {
            thread: Some(thread),
            pc: Pc(0),
            label,
        };
        self.graph.push(event)
    }

    fn last_write(&self, loc: LocId) -> (EventId, Value) {
        let order = self.graph.modification_order(loc);
        let last = order[order.len() - 1];
        let value = self.graph.label(last).value_written();
        (last, value.expect("writes have values"))
    }

    fn append_write(&mut self, event: EventId, loc: LocId) {
        let position = self.graph.modification_order(loc).len();
        self.graph.insert_mo(event, loc, position);
    }

    /// Computes all bounds anew.
    fn update(&mut self) {
        let relations = Relations::new(&self.graph, self.model);
        let threads = self.graph.ids().filter_map(|e| self.graph.event(e).thread);
        let count = threads.map(|thread| thread.index() + 1).max().unwrap_or(0);
        let bounds = (0..count).map(|i| self.bounds_of(ThreadId::new(i), &relations));
        self.bounds = bounds.collect();
    }

    fn bounds_of(&self, thread: ThreadId, relations: &Relations) -> [Bound; LOCATIONS] {
        let graph = &self.graph;
        let n = graph.len();
        let own = EventSet::filter(n, |e| graph.event(e).thread == Some(thread));
        let past = ancestors(&relations.hb, own);
        let sc_past = ancestors(&relations.hb_sc, own);
        let fences = graph.select(Label::is_sc_fence);
        let accesses = graph.select(Label::is_sc_access);
        let binding = ancestors(&relations.psc, fences.intersect(past));
        // SC events that are po- or po;hb-before the thread's next event.
        let before = EventSet::filter(n, |c| {
            let sc = fences.contains(c) || accesses.contains(c);
            let then = relations.po.successors(c).intersect(past);
            sc && (own.contains(c) || !then.is_empty())
        });
        let binding_sc = ancestors(&relations.psc, before);
        let observers = |w: EventId| {
            let mut all = relations.rf.successors(w);
            all.insert(w);
            all
        };
        let carried = |w: EventId, by: EventSet| {
            let seen = observers(w);
            let carries = |b: EventId| {
                accesses.contains(b) && seen.contains(b)
                    || fences.contains(b) && seen.iter().any(|o| relations.hb.contains(o, b))
            };
            by.iter().any(carries)
        };
        std::array::from_fn(|i| {
            let order = graph.modification_order(LocId::new(i));
            let newest = |known: &dyn Fn(EventId) -> bool| {
                let position = order.iter().rposition(|&w| known(w));
                Timestamp(position.unwrap_or(0) as u64)
            };
            let by_hb = |w| !observers(w).intersect(past).is_empty();
            let by_fence = |w| by_hb(w) || carried(w, binding);
            let use_sc = self.model == Model::C20;
            Bound {
                lower: newest(&by_fence),
                lower_sc: newest(&|w| by_fence(w) || use_sc && carried(w, binding_sc)),
                missed: newest(&|w| sc_past.contains(w)),
            }
        })
    }

    fn bound(&self, thread: ThreadId, loc: LocId) -> Bound {
        let bounds = self.bounds.get(thread.index());
        bounds.map_or_else(Bound::default, |bounds| bounds[loc.index()])
    }

    fn write_ref(&self, loc: LocId, timestamp: Timestamp) -> WriteRef {
        let event = self.graph.modification_order(loc)[timestamp.index()];
        WriteRef {
            loc,
            timestamp,
            thread: self.graph.event(event).thread,
            value: self.value(loc, timestamp),
        }
    }

    fn value(&self, loc: LocId, timestamp: Timestamp) -> Value {
        let event = self.graph.modification_order(loc)[timestamp.index()];
        let value = self.graph.label(event).value_written();
        value.expect("writes have values")
    }

    fn extensible(&self, loc: LocId, timestamp: Timestamp) -> bool {
        let next = self
            .graph
            .modification_order(loc)
            .get(timestamp.index() + 1);
        next.is_none_or(|&next| !self.graph.label(next).is_rmw())
    }

    /// What the access may do with the write `p`, if `p` is in reach (given its order).
    fn suits(
        &self,
        loc: LocId,
        p: Timestamp,
        access: &Access<'_>,
        reach: impl Fn(bool) -> bool,
    ) -> Option<StaleWrite> {
        let value = self.value(loc, p);
        let extensible = self.extensible(loc, p);
        let (reads, follows) = match *access {
            Access::Load(ord) => (reach(ord.is_sc()), false),
            Access::Store(ord) => (false, extensible && reach(ord.is_sc())),
            Access::Rmw(ord) => (false, extensible && reach(ord.is_sc())),
            Access::Wait { values, ord } => (values.contains(&value) && reach(ord.is_sc()), false),
            Access::Bcas { expected, ord } => {
                (false, value == expected && extensible && reach(ord.is_sc()))
            }
            Access::Cas {
                expected,
                ord,
                fail,
                strength,
            } => {
                let may_fail = value != expected || strength == CasStrength::Weak;
                let succeeds = value == expected && extensible && reach(ord.is_sc());
                (may_fail && reach(fail.is_sc()), succeeds)
            }
        };
        (reads || follows).then_some(StaleWrite {
            write: p,
            reads,
            follows,
        })
    }

    fn stale(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Vec<StaleWrite> {
        let bound = self.bound(thread, loc);
        let older = (0..bound.missed.0).rev().map(Timestamp);
        let stale = older.filter_map(|p| {
            let reach = |sc| p >= if sc { bound.lower_sc } else { bound.lower };
            self.suits(loc, p, access, reach)
        });
        stale.collect()
    }
}

impl Observer for Declared {
    fn apply(&mut self, thread: ThreadId, loc: LocId, effect: Effect) {
        let (last, read) = self.last_write(loc);
        let label = match effect {
            Effect::Read(ord) => Label::Read {
                loc,
                value: read,
                ord,
            },
            Effect::Write { value, ord } => Label::Write { loc, value, ord },
            Effect::Rmw { value, ord } => Label::Rmw {
                loc,
                read,
                written: value,
                ord,
            },
        };
        let event = self.push(thread, label);
        if effect.reads() {
            self.graph.set_rf(event, last);
        }
        if effect.value_written().is_some() {
            self.append_write(event, loc);
        }
        self.update();
    }

    fn plain_write(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        let event = self.push(thread, Label::PlainWrite { loc, value });
        self.append_write(event, loc);
        self.update();
    }

    fn fence(&mut self, thread: ThreadId, ord: FenceOrd) {
        self.push(thread, Label::Fence(ord));
        self.update();
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.push(parent, Label::Spawn(child));
        self.push(child, Label::Begin);
        self.update();
    }

    fn exit(&mut self, thread: ThreadId) {
        self.push(thread, Label::End);
        self.update();
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.push(parent, Label::Join(child));
        self.update();
    }

    fn forget(&mut self, _: LocId, _: Value) {
        unreachable!("programs free nothing");
    }
}

impl Monitor for Declared {
    fn check(&self, thread: ThreadId, loc: LocId, access: &Access<'_>) -> Option<Violation> {
        let stale = self.stale(thread, loc, access);
        let missed = self.write_ref(loc, self.bound(thread, loc).missed);
        let stale = self.write_ref(loc, stale.first()?.write);
        Some(Violation { missed, stale })
    }
}

impl Bounds for Declared {
    fn lower_bound(&self, thread: ThreadId, loc: LocId, sc: bool) -> Timestamp {
        let bound = self.bound(thread, loc);
        if sc { bound.lower_sc } else { bound.lower }
    }

    fn sc_bound(&self, thread: ThreadId, loc: LocId) -> Timestamp {
        self.bound(thread, loc).missed
    }
}

/// How an event looks to the race detector, if it is an access of `loc` by a thread.
fn access_kind(event: &Event, loc: LocId) -> Option<AccessKind> {
    event.thread?;
    let label = event.label;
    (label.loc()? == loc).then_some(match (label.is_plain(), label.is_write()) {
        (true, false) => AccessKind::PlainRead,
        (true, true) => AccessKind::PlainWrite,
        (false, false) => AccessKind::AtomicRead,
        (false, true) => AccessKind::AtomicWrite,
    })
}

impl Form for Declared {
    fn copy(&self) -> Box<dyn Form> {
        Box::new(self.clone())
    }

    fn all_stale(
        &self,
        thread: ThreadId,
        loc: LocId,
        access: &Access<'_>,
    ) -> Option<Vec<StaleWrite>> {
        Some(self.stale(thread, loc, access))
    }

    fn observe_race(
        &mut self,
        thread: ThreadId,
        loc: LocId,
        kind: AccessKind,
    ) -> Option<Option<Race>> {
        let mut access = EventId::new(self.graph.len() - 1);
        let told = self.graph.event(access);
        if told.thread != Some(thread) || access_kind(told, loc) != Some(kind) {
            let value = 0;
            access = match kind {
                AccessKind::PlainRead => self.push(thread, Label::PlainRead { loc, value }),
                _ => self.push(thread, Label::PlainWrite { loc, value }),
            };
            self.update();
        }
        let hb = Relations::new(&self.graph, self.model).hb;
        let racing = self.graph.ids().find_map(|e| {
            let event = self.graph.event(e);
            let earlier = access_kind(event, loc)?;
            let unordered = event.thread != Some(thread) && !hb.contains(e, access);
            (unordered && earlier.conflicts_with(kind)).then_some(RaceSide {
                thread: event.thread?,
                kind: earlier,
            })
        });
        Some(racing.map(|earlier| Race {
            loc,
            earlier,
            later: RaceSide { thread, kind },
        }))
    }
}
