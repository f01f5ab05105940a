//! Toy programs, and runs of them.

use super::super::{Guided, Pending, Plan, Trace};
use crate::{Candidate, End, Kind, Op, Step, Strategy};
use rsan_model::ThreadId;
use std::collections::BTreeMap;

/// An operation of a toy program, on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Toy {
    Lock(u64),
    Unlock(u64),
    Take(u64),
    Post(u64),
    Load(u64),
    Store(u64),
    Add(u64),
    /// Stores 0.
    Clear(u64),
    /// Loads until the value is not 0.
    Until(u64),
    /// Exchanges with 1 until the value was 0.
    Spin(u64),
    /// Compares with 0, and writes that if it is there, until it is not.
    Compare(u64),
    /// Loads the first until it is 0 or the second, which is loaded then, is not.
    Either(u64, u64),
    /// Exchanges the first with 1, then loads the second, until that is not 0.
    Both(u64, u64),
}

impl Toy {
    /// What it does, or does second.
    fn op(self, second: bool) -> Op {
        match self {
            Self::Lock(x) => Op::new(Kind::Lock, x, 0),
            Self::Unlock(x) => Op::new(Kind::Unlock, x, 0),
            Self::Take(x) | Self::Post(x) => Op::new(Kind::Sync, x, 0),
            Self::Either(_, x) | Self::Both(_, x) if second => Op::new(Kind::Load, x, 4),
            Self::Load(x) | Self::Until(x) | Self::Either(x, _) => Op::new(Kind::Load, x, 4),
            Self::Store(x) | Self::Clear(x) => Op::new(Kind::Store, x, 4),
            Self::Compare(x) => Op::new(Kind::Compare, x, 4),
            Self::Add(x) | Self::Spin(x) | Self::Both(x, _) => Op::new(Kind::Update, x, 4),
        }
    }

    /// What the object is afterwards; `None` when it has to wait. A lock is 0 while it is free.
    pub(super) fn next(self, second: bool, old: u64) -> Option<u64> {
        match self {
            Self::Lock(_) => (old == 0).then_some(1),
            Self::Unlock(_) | Self::Clear(_) => Some(0),
            Self::Take(_) => old.checked_sub(1),
            Self::Post(_) | Self::Add(_) => Some(old + 1),
            Self::Both(..) if !second => Some(1),
            Self::Load(_) | Self::Until(_) | Self::Compare(_) => Some(old),
            Self::Either(..) | Self::Both(..) => Some(old),
            Self::Store(_) => Some(7),
            Self::Spin(_) => Some(1),
        }
    }

    /// What comes after it has read this.
    fn then(self, second: bool, old: u64) -> Then {
        let pass_if = |passes| if passes { Then::Pass } else { Then::Again };
        match self {
            Self::Until(_) | Self::Compare(_) => pass_if(old != 0),
            Self::Spin(_) => pass_if(old == 0),
            Self::Either(..) | Self::Both(..) if second => pass_if(old != 0),
            Self::Either(..) if old == 0 => Then::Pass,
            Self::Either(..) | Self::Both(..) => Then::Second,
            _ => Then::Pass,
        }
    }
}

/// What comes after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    Pass,
    /// The second half of a round.
    Second,
    /// The spin iteration failed, if it has changed nothing.
    Again,
}

/// What a failed spin iteration means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loops {
    /// The thread stays there, as the explorer wants it.
    Once,
    /// It never was, and the thread tries again when something has changed.
    Again,
}

pub(super) type Program = Vec<Vec<Toy>>;

/// A run up to some step.
#[derive(Clone)]
pub(super) struct Run {
    loops: Loops,
    places: Vec<usize>,
    /// By thread: it is in the second half of a round.
    pub(super) second: Vec<bool>,
    /// By thread: its steps of this round, since it has changed something.
    round: Vec<Vec<usize>>,
    /// By thread: its spin iteration failed; what it has read.
    pub(super) idle: Vec<Option<Vec<(u64, u64)>>>,
    memory: BTreeMap<u64, u64>,
    pub(super) steps: Vec<Step>,
}

impl Run {
    pub(super) fn new(program: &Program, loops: Loops) -> Self {
        let n = program.len();
        Self {
            loops,
            places: vec![0; n],
            second: vec![false; n],
            round: vec![Vec::new(); n],
            idle: vec![None; n],
            memory: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    pub(super) fn next(&self, program: &Program, t: usize) -> Option<Toy> {
        program[t].get(self.places[t]).copied()
    }

    pub(super) fn ready(&self, program: &Program) -> Vec<Candidate> {
        let changed = |words: &Vec<(u64, u64)>| words.iter().any(|&(x, v)| self.value(x) != v);
        let candidate = |t: usize| {
            let toy = self.next(program, t)?;
            let op = toy.op(self.second[t]);
            toy.next(self.second[t], self.value(op.object))?;
            let awake = match (&self.idle[t], self.loops) {
                (None, _) => true,
                (Some(_), Loops::Once) => false,
                (Some(words), Loops::Again) => changed(words),
            };
            let thread = ThreadId::new(t);
            awake.then_some(Candidate { thread, op })
        };
        (0..program.len()).filter_map(candidate).collect()
    }

    fn value(&self, object: u64) -> u64 {
        self.memory.get(&object).copied().unwrap_or(0)
    }

    pub(super) fn step(&mut self, program: &Program, thread: ThreadId) {
        let t = thread.index();
        let toy = self.next(program, t).expect("a step");
        let second = self.second[t];
        let mut step = Step::new(thread, toy.op(second));
        step.read = self.value(step.op.object);
        step.wrote = toy.next(second, step.read).expect("it is enabled");
        if step.op.kind == Kind::Compare {
            step.writes = step.read == step.expected;
        }
        self.memory.insert(step.op.object, step.wrote);
        self.idle[t] = None;
        if step.changes() {
            self.round[t].clear();
        } else {
            self.round[t].push(self.steps.len());
        }
        self.steps.push(step);
        let then = toy.then(second, step.read);
        self.second[t] = then == Then::Second;
        match then {
            Then::Second => return,
            Then::Pass => self.places[t] += 1,
            // A round that has changed something is followed by another one.
            Then::Again if step.changes() || self.round[t].len() != 1 + usize::from(second) => {}
            Then::Again => self.in_vain(t),
        }
        self.round[t].clear();
    }

    /// The thread's spin iteration failed.
    fn in_vain(&mut self, t: usize) {
        let round = std::mem::take(&mut self.round[t]);
        let read = |&i: &usize| (self.steps[i].op.object, self.steps[i].wrote);
        self.idle[t] = Some(round.iter().map(read).collect());
        for &i in round.iter().rev() {
            match self.loops {
                Loops::Once => {
                    self.steps[i].vain = true;
                    self.steps[i].writes &= round.len() > 1;
                }
                Loops::Again => {
                    self.steps.remove(i);
                    for later in self.round.iter_mut().flatten().filter(|j| **j > i) {
                        *later -= 1;
                    }
                }
            }
        }
    }

    fn trace(&self, program: &Program) -> Trace {
        let pending = |t: usize| {
            Some(Pending {
                thread: ThreadId::new(t),
                op: self.next(program, t)?.op(self.second[t]),
                expected: 0,
            })
        };
        Trace {
            steps: self.steps.clone(),
            pending: (0..program.len()).filter_map(pending).collect(),
            end: End::Ended,
            overwrites: false,
        }
    }

    pub(super) fn under(program: &Program, plan: Plan) -> Trace {
        let mut strategy = Guided::new(plan);
        let mut run = Self::new(program, Loops::Once);
        loop {
            let ready = run.ready(program);
            let last = run.steps.last().map(|s| s.thread);
            let chosen = match ready.is_empty() {
                true => None,
                false => strategy.choose(&ready, last),
            };
            let Some(chosen) = chosen else {
                return run.trace(program);
            };
            run.step(program, ready[chosen].thread);
            strategy.stepped(run.steps.last().expect("the step that was made"));
        }
    }
}
