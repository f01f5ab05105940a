//! Loops that try a compare-and-swap again, against all their interleavings: what fails is left out, and nothing else.

use super::super::{Bounds, Explorer, Guided, Job, Outcome, Pending, Plan, Progress, Trace};
use crate::{Candidate, End, Fingerprint, Kind, Local, Op, Random, Step, Strategy};
use rsan_model::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// What a thread does with objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Do {
    Load(u64),
    Store(u64),
    Add(u64),
    /// Loads the object, and replaces it by one more; tries again with what was found.
    Retry(u64),
    /// The same, with a new load for each attempt.
    Reload(u64),
    /// As `Retry`, with a load of the second object in each round.
    Between(u64, u64),
    /// As `Retry`, but counts its rounds.
    Counted(u64),
    /// Loads until it finds more than 1.
    Until(u64),
}

type Program = Vec<Vec<Do>>;

/// Where a thread is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Place {
    at: usize,
    /// Which operation of the loop is next.
    part: usize,
    /// What it has read of the object; and how often, if it counts.
    old: u64,
    rounds: u64,
    /// Its steps of this round.
    round: Vec<usize>,
}

#[derive(Clone)]
struct Run<'p> {
    program: &'p Program,
    threads: Vec<Place>,
    memory: BTreeMap<u64, u64>,
    steps: Vec<Step>,
    /// Failed rounds are left out.
    reduces: bool,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, reduces: bool) -> Self {
        Self {
            program,
            threads: vec![Place::default(); program.len()],
            memory: BTreeMap::new(),
            steps: Vec::new(),
            reduces,
        }
    }

    fn op(&self, t: usize) -> Option<Op> {
        let place = &self.threads[t];
        let op = |kind, x| Op::new(kind, x, 4);
        Some(match *self.program[t].get(place.at)? {
            Do::Load(x) | Do::Until(x) => op(Kind::Load, x),
            Do::Store(x) => op(Kind::Store, x),
            Do::Add(x) => op(Kind::Update, x),
            Do::Retry(x) | Do::Reload(x) | Do::Between(x, _) | Do::Counted(x)
                if place.part == 0 =>
            {
                op(Kind::Load, x)
            }
            Do::Between(_, y) if place.part == 1 => op(Kind::Load, y),
            Do::Retry(x) | Do::Reload(x) | Do::Between(x, _) | Do::Counted(x) => {
                op(Kind::Compare, x)
            }
        })
    }

    fn ready(&self) -> Vec<Candidate> {
        let candidate = |t: usize| {
            let op = self.op(t)?;
            let waits = matches!(self.program[t][self.threads[t].at], Do::Until(_));
            let value = self.memory.get(&op.object).copied().unwrap_or(0);
            // A loop that only waits goes round in vain.
            let asleep = waits && self.reduces && value < 2;
            let thread = ThreadId::new(t);
            (!asleep).then_some(Candidate { thread, op })
        };
        (0..self.program.len()).filter_map(candidate).collect()
    }

    fn state(&self, t: usize) -> Local {
        let place = &self.threads[t];
        let words = [
            t as u64 + 1,
            place.at as u64,
            place.part as u64,
            place.old,
            place.rounds,
        ];
        Local {
            state: words.iter().fold(7, |hash, word| hash * 101 + word),
            ..Local::default()
        }
    }

    /// What those would read whose state is known.
    fn would_read(&self, ready: &[Candidate], strategy: &Guided) -> Vec<(ThreadId, u64, u64)> {
        let reads = ready.iter().filter_map(|c| {
            let state = self.state(c.thread.index()).state;
            let value = self.memory.get(&c.op.object).copied().unwrap_or(0);
            let reads = matches!(c.op.kind, Kind::Load | Kind::Compare);
            (reads && strategy.looks_at(state)).then_some((c.thread, state, value))
        });
        reads.collect()
    }

    fn step(&mut self, thread: ThreadId) {
        let t = thread.index();
        let op = self.op(t).expect("a step");
        let code = self.program[t][self.threads[t].at];
        let mut step = Step::new(thread, op);
        if matches!(op.kind, Kind::Load | Kind::Compare) {
            step.local = self.state(t);
        }
        let value = self.memory.entry(op.object).or_default();
        step.read = *value;
        let place = &mut self.threads[t];
        step.expected = place.old;
        step.writes = match op.kind {
            Kind::Load => false,
            Kind::Compare => *value == place.old,
            _ => true,
        };
        step.wrote = match op.kind {
            _ if !step.writes => 0,
            Kind::Store => 7,
            _ => *value + 1,
        };
        if step.writes {
            *value = step.wrote;
        }
        let number = self.steps.len();
        self.steps.push(step);
        let last = match code {
            Do::Between(..) => 2,
            Do::Retry(_) | Do::Reload(_) | Do::Counted(_) => 1,
            _ => 0,
        };
        if matches!(code, Do::Until(_)) && step.read < 2 {
            return;
        }
        if place.part < last {
            if place.part == 0 {
                place.old = step.read;
            }
            place.part += 1;
            place.round.push(number);
            return;
        }
        let round = std::mem::take(&mut place.round);
        if last == 0 || step.writes {
            *place = Place {
                at: place.at + 1,
                ..Place::default()
            };
            return;
        }
        match code {
            Do::Reload(_) => place.part = 0,
            _ => (place.part, place.old) = (1, step.read),
        }
        place.rounds += u64::from(matches!(code, Do::Counted(_)));
        if matches!(code, Do::Counted(_)) {
            return;
        }
        let goes = match code {
            Do::Reload(_) => Some(number),
            // It counts as the load of the next round.
            _ => {
                place.round.push(number);
                None
            }
        };
        if self.reduces {
            for i in round.into_iter().chain(goes).rev() {
                self.leave_out(i);
            }
            if let Some(&i) = self.threads[t].round.first() {
                self.steps[i] = Step {
                    op: Op::new(Kind::Load, op.object, 4),
                    ..self.steps[i]
                };
            }
        }
    }

    fn leave_out(&mut self, i: usize) {
        self.steps.remove(i);
        let later = self.threads.iter_mut().flat_map(|place| &mut place.round);
        later.filter(|j| **j > i).for_each(|j| *j -= 1);
    }

    /// The fingerprint of an execution, without its failed rounds.
    fn reduced(program: &'p Program, steps: &[Step]) -> Fingerprint {
        let mut run = Self::new(program, true);
        steps.iter().for_each(|step| run.step(step.thread));
        run.fingerprint()
    }

    fn fingerprint(&self) -> Fingerprint {
        let bare = |step: &Step| Step {
            local: Local::default(),
            ..*step
        };
        let steps: Vec<Step> = self.steps.iter().map(bare).collect();
        Fingerprint::of(&steps)
    }

    fn under(program: &'p Program, plan: Plan) -> Trace {
        let mut strategy = Guided::new(plan);
        let mut run = Self::new(program, false);
        let mut in_vain = BTreeSet::new();
        loop {
            let mut ready = run.ready();
            ready.retain(|c| !in_vain.contains(&c.thread));
            let last = run.steps.last().map(|s| s.thread);
            strategy.would_read(&run.would_read(&ready, &strategy));
            let chosen = match ready.is_empty() {
                true => None,
                false => strategy.choose(&ready, last),
            };
            let Some(chosen) = chosen else {
                let pending = |t: usize| {
                    let (thread, op) = (ThreadId::new(t), run.op(t)?);
                    Some(Pending {
                        thread,
                        op,
                        expected: 0,
                    })
                };
                return Trace {
                    pending: (0..program.len()).filter_map(pending).collect(),
                    steps: run.steps,
                    end: End::Ended,
                    overwrites: false,
                };
            };
            let thread = ready[chosen].thread;
            let code = program[thread.index()][run.threads[thread.index()].at];
            run.step(thread);
            let step = run.steps.last_mut().expect("the step that was made");
            if matches!(code, Do::Until(_)) && step.read < 2 {
                step.vain = true;
                in_vain.insert(thread);
            }
            let step = *step;
            strategy.stepped(&step);
        }
    }
}

/// All executions without failed rounds, by all interleavings.
fn interleaved(program: &Program) -> BTreeSet<Fingerprint> {
    fn follow(run: &Run<'_>, met: &mut BTreeSet<String>, all: &mut BTreeSet<Fingerprint>) {
        let fingerprint = run.fingerprint();
        if !met.insert(format!("{fingerprint:?} {:?}", run.threads)) {
            return;
        }
        let ready = run.ready();
        if ready.is_empty() {
            all.insert(fingerprint);
        }
        for candidate in ready {
            let mut next = run.clone();
            next.step(candidate.thread);
            follow(&next, met, all);
        }
    }
    let (mut met, mut all) = (BTreeSet::new(), BTreeSet::new());
    follow(&Run::new(program, true), &mut met, &mut all);
    all
}

/// All executions, by exploration, without the failed rounds that they have; how many there were with them, and how far it is.
fn explored(program: &Program) -> (BTreeSet<Fingerprint>, Progress) {
    explored_if(program, true)
}

/// The same, with runs that are told how rounds end and where threads rest, or not.
fn explored_if(program: &Program, told: bool) -> (BTreeSet<Fingerprint>, Progress) {
    explored_by(program, told, 1)
}

/// The same, with so many runs that are planned at a time, and know nothing of each other.
fn explored_by(program: &Program, told: bool, runs: usize) -> (BTreeSet<Fingerprint>, Progress) {
    let mut explorer = Explorer::new(Bounds {
        roots: program.len() as u32,
        ..Bounds::default()
    });
    let (mut shown, mut all) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let jobs: Vec<Job> = std::iter::from_fn(|| explorer.next()).take(runs).collect();
        if jobs.is_empty() {
            break;
        }
        for job in jobs {
            let mut plan = job.plan;
            if !told {
                (plan.ends, plan.rests) = (Vec::new(), Vec::new());
            }
            let trace = Run::under(program, plan);
            match explorer.done(job.id, &trace) {
                Outcome::Execution { .. } => {
                    let steps = trace.steps.iter().filter(|s| !s.vain);
                    let steps: Vec<Step> = steps.copied().collect();
                    let new = shown.insert(Fingerprint::of(&steps));
                    assert!(new, "twice in {program:?}: {:?}", trace.steps);
                    all.insert(Run::reduced(program, &steps));
                }
                Outcome::Excess => {}
                outcome => panic!("{outcome:?} in {program:?}"),
            }
        }
    }
    let progress = explorer.progress();
    assert!(progress.is_complete(), "{program:?}");
    (all, progress)
}

#[test]
fn failed_rounds_are_left_out() {
    let programs: [(Program, u64); 6] = [
        (vec![vec![Do::Retry(8)]; 2], 2),
        (vec![vec![Do::Retry(8)]; 3], 6),
        (vec![vec![Do::Reload(8)]; 3], 6),
        (vec![vec![Do::Retry(8), Do::Reload(8)]; 2], 6),
        (vec![vec![Do::Counted(8)]; 2], 4),
        (
            vec![
                vec![Do::Add(8), Do::Add(8), Do::Add(8), Do::Add(8)],
                vec![Do::Retry(8)],
            ],
            5,
        ),
    ];
    for (program, executions) in programs {
        let (found, progress) = explored(&program);
        assert_eq!(progress.counts.executions, executions, "{program:?}");
        assert_eq!(found, interleaved(&program), "{program:?}");
    }
}

#[test]
fn nothing_else_is_left_out() {
    let mut random = Random::new(23);
    let (mut executions, mut excess, mut untold) = (0, 0, 0);
    for _ in 0..400 {
        let thread = |random: &mut Random| -> Vec<Do> {
            let object = |random: &mut Random| 8 + 8 * random.below(2) as u64;
            let one = |random: &mut Random| match random.below(9) {
                0 | 1 => Do::Retry(object(random)),
                2 => Do::Reload(object(random)),
                3 => Do::Between(8, 16),
                4 => Do::Counted(object(random)),
                5 => Do::Load(object(random)),
                6 => Do::Store(object(random)),
                7 => Do::Until(object(random)),
                _ => Do::Add(object(random)),
            };
            (0..2).map(|_| one(random)).collect()
        };
        let program: Program = (0..2 + random.below(2))
            .map(|_| thread(&mut random))
            .collect();
        let (found, progress) = explored(&program);
        let wanted = interleaved(&program);
        assert!(found == wanted, "{program:?}");
        executions += progress.counts.executions;
        excess += progress.counts.excess;
        let (found, other) = explored_if(&program, false);
        assert!(found == wanted, "untold: {program:?}");
        assert_eq!(progress.counts.executions, other.counts.executions);
        untold += other.counts.excess;
        // What is learnt meanwhile comes to nothing for runs that are planned: they may be made again, and do something else.
        for runs in [3, 16] {
            let (found, other) = explored_by(&program, true, runs);
            assert!(found == wanted, "{runs}: {program:?}");
            assert_eq!(
                progress.counts.executions, other.counts.executions,
                "{runs}: {program:?}"
            );
        }
    }
    assert!(executions > 1000 && excess > 100, "{executions}, {excess}");
    assert!(excess < untold, "{excess} of {untold}");
}
