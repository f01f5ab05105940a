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

/// Store buffering, and a counter under a lock.
fn program() -> Program {
    let thread = |mine, other| {
        vec![
            Toy::Store(mine, 1, WriteOrd::Relaxed),
            Toy::Load(other, ReadOrd::Relaxed),
            Toy::Lock(64),
            Toy::Add(32, RmwOrd::Relaxed),
            Toy::Unlock(64),
        ]
    };
    vec![thread(8, 16), thread(16, 8)]
}

#[test]
fn an_exploration_goes_on_where_it_was_saved() {
    let program = program();
    let (all, whole) = explored(&program);
    assert!(all.len() >= 8, "{all:?}");
    let mut explorer = Explorer::new(bounds(&program));
    let mut found = BTreeSet::new();
    while let Some(job) = explorer.next_unless(|| false) {
        // A second one is handed out, and not made before the text is written.
        let lost = explorer.next_unless(|| false);
        let (trace, _) = Run::under(&program, job.plan);
        if let Outcome::Execution { .. } = explorer.done(job.id, &trace) {
            found.insert(shape(&trace.steps));
        }
        let text = explorer.save();
        let loaded = Explorer::load(&text).expect("what was saved");
        if lost.is_none() {
            assert_eq!(loaded.save(), text);
        }
        assert_eq!(loaded.progress(), explorer.progress());
        explorer = loaded;
    }
    assert_eq!(found, all);
    assert_eq!(explorer.progress().counts, whole.counts);
}

#[test]
fn parts_show_all_executions() {
    let program = program();
    let (expected, _) = explored(&program);
    let mut found = BTreeSet::new();
    let mut digests = BTreeSet::new();
    let mut make = |explorer: &mut Explorer| {
        let jobs: Vec<_> = std::iter::from_fn(|| explorer.next_unless(|| false)).collect();
        for job in jobs {
            let (trace, _) = Run::under(&program, job.plan);
            if let Outcome::Execution { .. } = explorer.done(job.id, &trace) {
                found.insert(shape(&trace.steps));
            }
        }
    };
    let mut runs = Vec::new();
    for number in 0..2 {
        let mut explorer = Explorer::new(bounds(&program));
        while (1..2).contains(&explorer.progress().waiting) {
            make(&mut explorer);
            assert!(explorer.spread(|| false));
        }
        digests.insert(explorer.digest());
        explorer.keep(number, 2);
        while explorer.progress().waiting > 0 {
            make(&mut explorer);
        }
        let progress = explorer.progress();
        assert!(progress.is_complete());
        runs.push(progress.counts.runs());
    }
    assert_eq!((found, digests.len()), (expected, 1));
    assert!(runs.iter().all(|runs| *runs > 0), "{runs:?}");
}

#[test]
fn what_was_not_saved_is_not_loaded() {
    let program = program();
    let mut explorer = Explorer::new(bounds(&program));
    for _ in 0..3 {
        let job = explorer.next_unless(|| false).expect("a job");
        explorer.done(job.id, &Run::under(&program, job.plan).0);
    }
    let text = explorer.save();
    let error = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        let error = Explorer::load(&text.replacen(from, to, 1));
        error.expect_err("an error").expected
    };
    assert_eq!(
        error("weak exploration 1", "exploration 1"),
        "`rsan weak exploration 1`"
    );
    for (from, to, line) in [
        ("roots=", "rots=", "bounds"),
        ("shown ", "shown z", "shown"),
        ("kind=load", "kind=lod", "event"),
        ("order=0", "order=9", "event"),
        ("slot event=", "slot event=x", "slot"),
        ("initial=", "final=", "object"),
    ] {
        assert_eq!(error(from, to), format!("a line `{line} ...`"));
    }
    for (from, to) in [("object=0", "object=99"), ("rf=0", "rf=999")] {
        assert_eq!(error(from, to), "a graph whose numbers fit together");
    }
    let lines: Vec<&str> = text.lines().collect();
    for end in 0..lines.len() {
        if let Ok(mut loaded) = Explorer::load(&lines[..end].join("\n")) {
            while loaded.next_unless(|| false).is_some() {}
        }
    }
}

#[test]
fn jobs_can_be_made_in_any_order_given_back_and_put_off() {
    let program = program();
    let (_, whole) = explored(&program);
    let mut random = Random::new(2);
    let mut explorer = Explorer::new(bounds(&program));
    let mut jobs = Vec::new();
    loop {
        let left = explorer.progress();
        if let Some(job) = explorer.next_unless(|| true) {
            explorer.give_back(job.id);
        }
        assert_eq!(explorer.progress(), left);
        while jobs.len() < 4 {
            let Some(job) = explorer.next_unless(|| false) else {
                break;
            };
            jobs.push(job);
        }
        if jobs.is_empty() {
            break;
        }
        let job = jobs.swap_remove(random.below(jobs.len()));
        match random.below(3) {
            0 => explorer.give_back(job.id),
            _ => drop(explorer.done(job.id, &Run::under(&program, job.plan).0)),
        }
    }
    assert!(explorer.progress().is_complete());
    assert_eq!(explorer.progress().counts, whole.counts);
}

#[test]
fn bounds_and_changes_make_it_incomplete() {
    let program = program();
    let explore = |bounds: Bounds, changed: &Program| {
        let mut explorer = Explorer::new(bounds);
        let mut program = &program;
        while let Some(job) = explorer.next_unless(|| false) {
            explorer.done(job.id, &Run::under(program, job.plan).0);
            program = changed;
        }
        explorer.progress()
    };
    let all = bounds(&program);
    assert!(explore(all, &program).is_complete());
    let few = explore(
        Bounds {
            runs: Some(3),
            ..all
        },
        &program,
    );
    assert_eq!((few.counts.runs(), few.is_complete()), (3, false));
    let short = explore(
        Bounds {
            steps: Some(4),
            ..all
        },
        &program,
    );
    assert!(short.counts.cut > 0 && !short.is_complete());
    let calm = explore(
        Bounds {
            preemptions: Some(0),
            ..all
        },
        &program,
    );
    assert!(calm.counts.preempted > 0 && !calm.is_complete());
    let other = vec![vec![Toy::Load(8, ReadOrd::Relaxed); 5]; 2];
    assert!(explore(all, &other).counts.diverged > 0);
}
