//! Toy programs, and weak runs of them.

use crate::explore::{Guided, Pending, Plan, Trace};
use crate::{Candidate, End, Kind, Op, Origin, Readable, Reading, ReadsFrom, Step, Strategy};
use rsan_clocks::write_log::{Rules, SlotTable, ThreadState, VectorClock};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, ThreadId, WriteOrd};
use rsan_weak::{Engine, LocationId, WriteId};
use std::collections::BTreeMap;

/// An operation of a toy program, on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Toy {
    Load(u64, ReadOrd),
    Store(u64, u64, WriteOrd),
    Add(u64, RmwOrd),
    /// Writes 5 where the value is expected; it may fail without a reason.
    Compare(u64, u64, RmwOrd, ReadOrd, bool),
    Fence(FenceOrd),
    /// Leaves the next operation out if the last value read was 0.
    Skip,
    /// Loads until the value is not 0.
    Until(u64, ReadOrd),
    Lock(u64),
    Unlock(u64),
}

pub(super) type Program = Vec<Vec<Toy>>;

/// What failed spin iterations are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loops {
    /// Steps, behind which the thread makes no other.
    Once,
    /// They are left out.
    Never,
}

/// A way to make a step: which write it reads, and whether it fails without a reason.
pub(super) type Way = (Option<WriteId>, bool);

/// A run up to some step.
#[derive(Clone)]
pub(super) struct Run<'p> {
    program: &'p Program,
    loops: Loops,
    places: Vec<usize>,
    /// By thread: the last value that it has read, and whether it spins.
    values: Vec<u64>,
    vain: Vec<bool>,
    threads: Vec<ThreadState>,
    engine: Engine,
    /// By lock: who has it, and what it hands over.
    locks: BTreeMap<u64, (Option<usize>, VectorClock)>,
    pub(super) steps: Vec<Step>,
}

impl<'p> Run<'p> {
    pub(super) fn new(program: &'p Program, loops: Loops) -> Self {
        let n = program.len();
        let mut slots = SlotTable::new(None);
        let rules = Rules::c20();
        let thread = |t| ThreadState::initial(ThreadId::new(t), slots.assign(None, rules), rules);
        Self {
            program,
            loops,
            places: vec![0; n],
            values: vec![0; n],
            vain: vec![false; n],
            threads: (0..n).map(thread).collect(),
            engine: Engine::default(),
            locks: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    fn next(&self, t: usize) -> Option<Toy> {
        self.program[t].get(self.places[t]).copied()
    }

    fn op(toy: Toy) -> Op {
        match toy {
            Toy::Load(x, _) | Toy::Until(x, _) => Op::new(Kind::Load, x, 4),
            Toy::Store(x, ..) => Op::new(Kind::Store, x, 4),
            Toy::Add(x, _) => Op::new(Kind::Update, x, 4),
            Toy::Compare(x, ..) => Op::new(Kind::Compare, x, 4),
            Toy::Fence(_) => Op::bare(Kind::Fence),
            Toy::Skip => Op::bare(Kind::Yield),
            Toy::Lock(x) => Op::new(Kind::Lock, x, 0),
            Toy::Unlock(x) => Op::new(Kind::Unlock, x, 0),
        }
    }

    fn location(&mut self, x: u64) -> LocationId {
        self.engine.location(x, || 0)
    }

    fn value(&self, at: LocationId, write: WriteId) -> u64 {
        self.engine.write(at, write).value as u64
    }

    /// The ways in which the thread can make its next step.
    pub(super) fn ways(&mut self, t: usize) -> Vec<Way> {
        let Some(toy) = self.next(t).filter(|_| !self.vain[t]) else {
            return Vec::new();
        };
        let at = self.location(Self::op(toy).object);
        let (engine, thread) = (&mut self.engine, &mut self.threads[t]);
        match toy {
            Toy::Load(_, ord) => of(engine.readable(thread, at, ord)),
            Toy::Until(_, ord) => {
                let all = engine.readable(thread, at, ord);
                let passes = |w: &WriteId| engine.write(at, *w).value != 0;
                let all = all.into_iter();
                of(all
                    .filter(|w| self.loops == Loops::Once || passes(w))
                    .collect())
            }
            Toy::Add(_, ord) => of(engine.updatable(thread, at, ord)),
            Toy::Compare(_, expected, ord, failure, may_fail) => {
                let is_expected = |w: &WriteId| engine.write(at, *w).value == expected.into();
                let succeeding = engine.clone().updatable(thread, at, ord);
                let failing = engine.clone().readable(thread, at, failure);
                let failing = failing.into_iter().filter(|w| may_fail || !is_expected(w));
                let failing: Vec<Way> = failing.map(|w| (Some(w), is_expected(&w))).collect();
                let succeeding = succeeding.into_iter().filter(is_expected);
                let mut all = of(succeeding.collect());
                all.extend(failing);
                all
            }
            Toy::Lock(x) if self.locks.get(&x).is_some_and(|(owner, _)| owner.is_some()) => {
                Vec::new()
            }
            Toy::Store(..) | Toy::Fence(_) | Toy::Skip | Toy::Lock(_) | Toy::Unlock(_) => {
                vec![(None, false)]
            }
        }
    }

    /// Who can make a step.
    pub(super) fn ready(&mut self) -> Vec<Candidate> {
        let mut ready = Vec::new();
        for t in 0..self.program.len() {
            if !self.ways(t).is_empty() {
                let op = Self::op(self.next(t).expect("a step"));
                let thread = ThreadId::new(t);
                ready.push(Candidate { thread, op });
            }
        }
        ready
    }

    /// The step that wrote this.
    fn from(&self, at: LocationId, write: WriteId) -> ReadsFrom {
        let write = self.engine.write(at, write);
        match write.stamp {
            None => ReadsFrom::Initial,
            Some(_) => ReadsFrom::Step(write.tag as u32),
        }
    }

    pub(super) fn step(&mut self, t: usize, (read, spurious): Way) {
        let toy = self.next(t).expect("a step");
        let mut step = Step::new(ThreadId::new(t), Self::op(toy));
        self.places[t] += 1;
        let tag = self.steps.len() as u128;
        let at = self.location(step.op.object);
        let last = self.engine.last(at);
        step.read = self.value(at, read.unwrap_or(last));
        if let Some(write) = read {
            step.from = self.from(at, write);
            self.values[t] = step.read;
        }
        let (engine, thread) = (&mut self.engine, &mut self.threads[t]);
        let write = read.unwrap_or(last);
        match toy {
            Toy::Load(_, ord) | Toy::Until(_, ord) => {
                step.order = Some(ord.into());
                engine.read(thread, at, write, ord);
                if matches!(toy, Toy::Until(..)) && step.read == 0 {
                    (step.vain, self.vain[t]) = (true, true);
                    self.places[t] -= 1;
                }
            }
            Toy::Store(_, value, ord) => {
                (step.order, step.wrote) = (Some(ord.into()), value);
                engine.store(thread, at, value.into(), ord, tag);
            }
            Toy::Add(_, ord) => {
                (step.order, step.wrote) = (Some(ord), step.read + 1);
                engine.update(thread, at, write, step.wrote.into(), ord, tag);
            }
            Toy::Compare(_, expected, ord, failure, may_fail) => {
                (step.order, step.failure) = (Some(ord), Some(failure));
                (step.expected, step.wrote) = (expected, 5);
                (step.may_fail, step.spurious) = (may_fail, spurious);
                step.writes = step.read == expected && !spurious;
                match step.writes {
                    true => drop(engine.update(thread, at, write, 5, ord, tag)),
                    false => engine.read(thread, at, write, failure),
                }
            }
            Toy::Fence(ord) => {
                step.order = RmwOrd::ALL.into_iter().find(|o| o.name() == ord.name());
                engine.fence(thread, ord);
            }
            Toy::Skip => self.places[t] += usize::from(self.values[t] == 0),
            Toy::Lock(x) => {
                let lock = self.locks.entry(x).or_default();
                lock.0 = Some(t);
                thread.synchronise(&lock.1);
            }
            Toy::Unlock(x) => {
                self.locks.insert(x, (None, thread.publish().clone()));
            }
        }
        self.steps.push(step);
    }

    /// Makes the step as a strategy wants it.
    fn step_by(&mut self, t: usize, strategy: &mut Guided) {
        let ways = self.ways(t);
        let toy = self.next(t).expect("a step");
        let op = Self::op(toy);
        let at = self.location(op.object);
        let mut writes: Vec<WriteId> = ways.iter().filter_map(|way| way.0).collect();
        writes.sort_unstable();
        writes.dedup();
        let origins = Origin::of(&self.steps);
        let origin = |write: &WriteId| match self.from(at, *write) {
            ReadsFrom::Step(step) => origins[step as usize],
            _ => Origin::Initial,
        };
        let readable = |write: &WriteId| Readable {
            origin: origin(write),
            place: 0,
            known: false,
            leaves_sc: false,
        };
        let readable: Vec<Readable> = writes.iter().map(readable).collect();
        let reading = Reading {
            thread: ThreadId::new(t),
            op,
            place: 0,
        };
        let read = match readable.len() {
            0 => None,
            _ => Some(writes[strategy.read(&reading, &readable)]),
        };
        let fitting: Vec<Way> = ways.into_iter().filter(|way| way.0 == read).collect();
        let fails = match fitting.len() {
            1 => fitting[0].1,
            _ => strategy.fails(&reading),
        };
        self.step(t, (read, fails));
    }

    fn trace(&self) -> Trace {
        let pending = |t: usize| {
            Some(Pending {
                thread: ThreadId::new(t),
                op: Self::op(self.next(t)?),
                expected: 0,
            })
        };
        Trace {
            steps: self.steps.clone(),
            pending: (0..self.program.len()).filter_map(pending).collect(),
            end: End::Ended,
            overwrites: false,
        }
    }

    /// A run by a plan, and whether it could be followed.
    pub(super) fn under(program: &'p Program, plan: Plan) -> (Trace, bool) {
        let mut strategy = Guided::new(plan);
        let mut run = Self::new(program, Loops::Once);
        loop {
            let ready = run.ready();
            let last = run.steps.last().map(|s| s.thread);
            let chosen = match ready.is_empty() {
                true => None,
                false => strategy.choose(&ready, last),
            };
            let Some(chosen) = chosen else {
                return (run.trace(), strategy.divergence().is_none());
            };
            run.step_by(ready[chosen].thread.index(), &mut strategy);
            strategy.stepped(run.steps.last().expect("the step that was made"));
        }
    }
}

fn of(writes: Vec<WriteId>) -> Vec<Way> {
    writes.into_iter().map(|w| (Some(w), false)).collect()
}
