//! Small programs with barriers: exploration, with arrivals that commute and with arrivals in an order, against all interleavings.

use super::super::{Explorer, Guided, Outcome, Pending, Plan, Progress, Trace};
use crate::{Candidate, End, Kind, Op, Random, Step, Strategy};
use rsan_model::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Load(u64),
    Store(u64),
    Add(u64),
    Meet,
}

/// A program, and for how many threads its barrier is.
#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<Act>>,
    meet: usize,
}

const BARRIER: u64 = 1024;

/// Who has arrived: the thread, and its arrivals before.
type Arrival = (usize, u64);

#[derive(Clone, Default)]
struct Run {
    places: Vec<usize>,
    arrivals: Vec<u64>,
    /// By thread: the round that it has come to, and the others behind which it has left.
    round: Vec<Option<(usize, usize)>>,
    rounds: Vec<Vec<Arrival>>,
    memory: BTreeMap<u64, u64>,
    steps: Vec<Step>,
}

/// What each read has read, and the writes of each object: as thread and place in it.
type Execution = (
    BTreeMap<(usize, usize), Option<(usize, usize)>>,
    BTreeMap<u64, Vec<(usize, usize)>>,
);

impl Run {
    fn new(program: &Program) -> Self {
        let n = program.threads.len();
        Self {
            places: vec![0; n],
            arrivals: vec![0; n],
            round: vec![None; n],
            ..Self::default()
        }
    }

    fn op(&self, program: &Program, t: usize) -> Option<Op> {
        let act = *program.threads[t].get(self.places[t])?;
        Some(match act {
            Act::Load(x) => Op::new(Kind::Load, x, 4),
            Act::Store(x) => Op::new(Kind::Store, x, 4),
            Act::Add(x) => Op::new(Kind::Update, x, 4),
            Act::Meet if self.round[t].is_some() => Op::bare(Kind::Leave),
            Act::Meet => Op::new(Kind::Arrive, BARRIER, 0),
        })
    }

    fn ready(&self, program: &Program) -> Vec<Candidate> {
        let candidate = |t: usize| {
            let op = self.op(program, t)?;
            let over = |(round, _): (usize, usize)| self.rounds[round].len() == program.meet;
            let ready = self.round[t].is_none_or(over);
            let thread = ThreadId::new(t);
            ready.then_some(Candidate { thread, op })
        };
        (0..program.threads.len()).filter_map(candidate).collect()
    }

    fn step(&mut self, program: &Program, thread: ThreadId) {
        let t = thread.index();
        let op = self.op(program, t).expect("a step");
        let mut step = Step::new(thread, op);
        match op.kind {
            Kind::Arrive => {
                let last = self.rounds.last();
                if last.is_none_or(|round| round.len() == program.meet) {
                    self.rounds.push(Vec::new());
                }
                let round = self.rounds.len() - 1;
                self.rounds[round].push((t, self.arrivals[t]));
                self.arrivals[t] += 1;
                self.round[t] = Some((round, 0));
                step.expected = program.meet as u64;
            }
            Kind::Leave => {
                let (round, left) = self.round[t].expect("it has come");
                let mut others = self.rounds[round].clone();
                others.retain(|(other, _)| *other != t);
                others.sort_unstable();
                let (other, number) = others[left];
                step.child = ThreadId::new(other);
                step.op.object = other as u64;
                step.expected = number;
                self.round[t] = Some((round, left + 1)).filter(|_| left + 1 < others.len());
                self.places[t] += usize::from(self.round[t].is_none());
            }
            _ => {
                step.read = self.memory.get(&op.object).copied().unwrap_or(0);
                step.wrote = match op.kind {
                    Kind::Load => step.read,
                    _ => (t * 100 + self.places[t] + 1) as u64,
                };
                self.memory.insert(op.object, step.wrote);
                self.places[t] += 1;
            }
        }
        self.steps.push(step);
    }

    fn under(program: &Program, plan: Plan) -> Self {
        let mut strategy = Guided::new(plan);
        let mut run = Self::new(program);
        loop {
            let ready = run.ready(program);
            let last = run.steps.last().map(|s| s.thread);
            let chosen = match ready.is_empty() {
                true => None,
                false => strategy.choose(&ready, last),
            };
            let Some(chosen) = chosen else { return run };
            run.step(program, ready[chosen].thread);
            strategy.stepped(run.steps.last().expect("the step that was made"));
        }
    }

    fn trace(&self, program: &Program) -> Trace {
        let pending = |t: usize| {
            Some(Pending {
                thread: ThreadId::new(t),
                op: self.op(program, t)?,
                expected: 0,
            })
        };
        Trace {
            steps: self.steps.clone(),
            pending: (0..program.threads.len()).filter_map(pending).collect(),
            end: End::Ended,
            overwrites: false,
        }
    }

    fn execution(&self) -> Execution {
        let (mut reads, mut writes) = (BTreeMap::new(), BTreeMap::new());
        let mut made: BTreeMap<usize, usize> = BTreeMap::new();
        let shown = self.steps.iter().filter(|s| s.op.kind.shows_value());
        for step in shown {
            let t = step.thread.index();
            let place = made.entry(t).or_default();
            let own = (t, *place);
            *place += 1;
            let order: &mut Vec<(usize, usize)> = writes.entry(step.op.object).or_default();
            if step.op.kind.may_read() {
                reads.insert(own, order.last().copied());
            }
            if step.writes {
                order.push(own);
            }
        }
        (reads, writes)
    }
}

fn interleaved(program: &Program) -> BTreeSet<Execution> {
    fn follow(
        program: &Program,
        run: &Run,
        met: &mut BTreeSet<String>,
        all: &mut BTreeSet<Execution>,
    ) {
        let Run {
            places,
            round,
            rounds,
            ..
        } = run;
        let here = format!("{:?} {places:?} {round:?} {rounds:?}", run.execution());
        if !met.insert(here) {
            return;
        }
        let ready = run.ready(program);
        if ready.is_empty() {
            all.insert(run.execution());
        }
        for candidate in ready {
            let mut next = run.clone();
            next.step(program, candidate.thread);
            follow(program, &next, met, all);
        }
    }
    let (mut met, mut all) = (BTreeSet::new(), BTreeSet::new());
    follow(program, &Run::new(program), &mut met, &mut all);
    all
}

fn explored(program: &Program, ordered: bool) -> (BTreeSet<Execution>, Progress) {
    let mut explorer = Explorer::new(crate::explore::Bounds {
        roots: program.threads.len() as u32,
        ..Default::default()
    });
    if ordered {
        explorer.order_arrivals();
    }
    let mut all = BTreeSet::new();
    while let Some(job) = explorer.next() {
        let run = Run::under(program, job.plan);
        match explorer.done(job.id, &run.trace(program)) {
            Outcome::Execution { .. } => drop(all.insert(run.execution())),
            Outcome::Excess => {}
            outcome => panic!("{outcome:?} in {program:?}"),
        }
    }
    (all, explorer.progress())
}

fn random_program(random: &mut Random, crowded: bool) -> Program {
    let count = 2 + random.below(2);
    let thread = |random: &mut Random| {
        let act = |random: &mut Random| match random.below(7) {
            0 | 1 => Act::Load(8 * random.below(2) as u64),
            2 | 3 => Act::Store(8 * random.below(2) as u64),
            4 => Act::Add(8),
            _ => Act::Meet,
        };
        (0..4).map(|_| act(random)).collect()
    };
    Program {
        threads: (0..count).map(|_| thread(random)).collect(),
        meet: if crowded { 2 } else { count },
    }
}

#[test]
fn arrivals_that_commute_lose_no_execution() {
    let mut random = Random::new(29);
    let (mut commuting, mut ordered) = (0, 0);
    for number in 0..200 {
        let program = random_program(&mut random, number % 4 == 0);
        let all = interleaved(&program);
        let (found, progress) = explored(&program, false);
        assert!(progress.is_complete());
        assert!(found == all, "{program:?}");
        let (in_order, counted) = explored(&program, true);
        assert!(in_order == all, "{program:?}");
        if program.meet == program.threads.len() {
            assert_eq!(progress.counts.executions, all.len() as u64, "{program:?}");
            commuting += progress.counts.executions;
            ordered += counted.counts.executions;
        }
    }
    assert!(
        ordered > 5 * commuting / 4,
        "{commuting}, and {ordered} in order"
    );
}

#[test]
fn a_barrier_alone_has_one_execution() {
    for threads in 2..6 {
        let program = Program {
            threads: vec![vec![Act::Meet; 3]; threads],
            meet: threads,
        };
        let (_, progress) = explored(&program, false);
        assert_eq!((progress.counts.executions, progress.counts.excess), (1, 0));
    }
}

#[test]
fn more_threads_than_a_barrier_is_for_come_in_every_order() {
    let program = Program {
        threads: vec![vec![Act::Store(8), Act::Meet, Act::Load(8)]; 3],
        meet: 2,
    };
    let (found, progress) = explored(&program, false);
    assert!(found == interleaved(&program));
    assert!(progress.counts.blocked > 0);
}
