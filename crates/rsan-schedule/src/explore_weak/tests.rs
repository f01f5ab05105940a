//! The exploration against all schedules and all choices of the engine of weak executions.

mod toy;

use super::Explorer;
use crate::explore::{Bounds, Outcome, Progress};
use crate::{Kind, Random, ReadsFrom, Step};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};
use std::collections::{BTreeMap, BTreeSet};
use toy::{Loops, Program, Run, Toy};

/// An execution: by thread its events, with what they read (thread and number), and whether they wrote or failed without a reason.
type Shape = BTreeMap<u32, Vec<(Kind, bool, bool, Option<(u32, usize)>)>>;

/// The execution that a run shows, without failed spin iterations.
fn shape(steps: &[Step]) -> Shape {
    let mut shape = Shape::new();
    let mut names = Vec::new();
    let mut locks: BTreeMap<u64, (u32, usize)> = BTreeMap::new();
    for step in steps {
        let events = shape.entry(step.thread.0).or_default();
        let name = (step.thread.0, events.len());
        names.push(name);
        if step.vain {
            continue;
        }
        let from = match step.from {
            ReadsFrom::Step(from) => Some(names[from as usize]),
            _ if step.op.kind == Kind::Lock => locks.get(&step.op.object).copied(),
            _ => None,
        };
        events.push((step.op.kind, step.writes, step.spurious, from));
        if step.op.kind == Kind::Unlock {
            locks.insert(step.op.object, name);
        }
    }
    shape.retain(|_, events| !events.is_empty());
    shape
}

fn bounds(program: &Program) -> Bounds {
    Bounds {
        roots: program.len() as u32,
        ..Bounds::default()
    }
}

/// The executions that the explorer shows.
fn explored(program: &Program) -> (BTreeSet<Shape>, Progress) {
    let mut explorer = Explorer::new(bounds(program));
    let mut all = BTreeSet::new();
    while let Some(job) = explorer.next_unless(|| false) {
        let plan = job.plan.clone();
        let (trace, followed) = Run::under(program, job.plan);
        assert!(followed, "{plan:?} of {program:?}: {:?}", trace.steps);
        match explorer.done(job.id, &trace) {
            Outcome::Execution { .. } => drop(all.insert(shape(&trace.steps))),
            Outcome::Excess => {}
            outcome => panic!("{outcome:?} of {program:?} by {plan:?}: {:?}", trace.steps),
        }
    }
    let progress = explorer.progress();
    assert!(progress.is_complete());
    assert!((progress.share - 1.0).abs() < 1e-6);
    (all, progress)
}

/// The executions of all schedules and all choices; `None` when they are too many.
fn enumerated(program: &Program) -> Option<BTreeSet<Shape>> {
    let mut all = BTreeSet::new();
    let mut left = vec![Run::new(program, Loops::Never)];
    let mut runs = 0;
    while let Some(mut run) = left.pop() {
        let mut ended = true;
        for t in 0..program.len() {
            for way in run.ways(t) {
                let mut next = run.clone();
                next.step(t, way);
                left.push(next);
                ended = false;
            }
        }
        if ended {
            all.insert(shape(&run.steps));
        }
        runs += 1;
        if runs > 20_000 {
            return None;
        }
    }
    Some(all)
}

/// What random programs are made of.
#[derive(Clone, Copy)]
struct Mix {
    threads: usize,
    events: usize,
    /// Of 100: seq_cst.
    sc: usize,
    fences: usize,
    updates: usize,
    locks: usize,
    spins: usize,
}

impl Mix {
    fn program(self, random: &mut Random) -> Program {
        let mut program = vec![Vec::new(); self.threads];
        for i in 0..self.events {
            let t = if i < self.threads {
                i
            } else {
                random.below(self.threads)
            };
            self.operation(random, &mut program[t]);
        }
        program
    }

    fn operation(self, random: &mut Random, code: &mut Vec<Toy>) {
        let x = 8 * (1 + random.below(2) as u64);
        let sc = random.chance(self.sc);
        let read = if sc {
            ReadOrd::SeqCst
        } else {
            random.pick(&[ReadOrd::Relaxed, ReadOrd::Acquire])
        };
        let write = if sc {
            WriteOrd::SeqCst
        } else {
            random.pick(&[WriteOrd::Relaxed, WriteOrd::Release])
        };
        let rmw = if sc {
            RmwOrd::SeqCst
        } else {
            random.pick(&RmwOrd::ALL)
        };
        let fence = if sc {
            FenceOrd::SeqCst
        } else {
            random.pick(&FenceOrd::ALL)
        };
        match random.below(100) {
            n if n < self.fences => code.push(Toy::Fence(fence)),
            n if n < self.fences + self.updates => match random.below(3) {
                0 => code.push(Toy::Add(x, rmw)),
                1 => code.push(Toy::Compare(x, random.below(2) as u64, rmw, read, false)),
                _ => code.push(Toy::Compare(x, random.below(2) as u64, rmw, read, true)),
            },
            n if n < self.fences + self.updates + self.locks => {
                let inside = random.pick(&[Toy::Load(x, read), Toy::Store(x, 1, write)]);
                code.extend([Toy::Lock(64), inside, Toy::Unlock(64)]);
            }
            n if n < self.fences + self.updates + self.locks + self.spins => {
                code.push(Toy::Until(x, read));
            }
            n if n % 10 == 0 => {
                code.extend([Toy::Load(x, read), Toy::Skip, Toy::Store(8, 1, write)])
            }
            n if n % 2 == 0 => code.push(Toy::Load(x, read)),
            _ => code.push(Toy::Store(x, 1 + random.below(2) as u64, write)),
        }
    }
}

/// Explores random programs; the executions, and the runs in excess.
fn check(mix: Mix, seed: u64, programs: usize) -> (u64, u64) {
    let mut random = Random::new(seed);
    let (mut executions, mut excess, mut checked) = (0, 0, 0);
    for number in 0..programs {
        let program = mix.program(&mut random);
        let Some(expected) = enumerated(&program) else {
            continue;
        };
        checked += 1;
        let (found, progress) = explored(&program);
        let missing: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&expected).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "{number}: {program:?}\nmissing {missing:?}\nwrong {wrong:?}"
        );
        executions += progress.counts.executions;
        excess += progress.counts.excess;
    }
    println!("{checked} programs, {executions} executions, {excess} runs in excess");
    assert!(checked * 10 > programs * 6, "{checked} of {programs}");
    (executions, excess)
}

const PLAIN: Mix = Mix {
    threads: 3,
    events: 6,
    sc: 0,
    fences: 0,
    updates: 0,
    locks: 0,
    spins: 0,
};

#[test]
fn relaxed_and_release_acquire_programs() {
    let (_, excess) = check(PLAIN, 1, 1000);
    assert_eq!(excess, 0);
}

#[test]
fn read_modify_writes() {
    let mix = Mix {
        updates: 50,
        ..PLAIN
    };
    check(mix, 2, 1000);
}

#[test]
fn seq_cst_mixes() {
    let mix = Mix {
        sc: 50,
        fences: 20,
        updates: 15,
        ..PLAIN
    };
    check(mix, 3, 500);
    let two = Mix {
        threads: 2,
        events: 7,
        ..mix
    };
    check(two, 4, 500);
}

#[test]
fn locks() {
    let mix = Mix {
        events: 4,
        sc: 20,
        locks: 50,
        ..PLAIN
    };
    check(mix, 5, 500);
}

#[test]
fn spin_loops() {
    let mix = Mix {
        sc: 20,
        spins: 25,
        updates: 20,
        ..PLAIN
    };
    check(mix, 6, 500);
}
