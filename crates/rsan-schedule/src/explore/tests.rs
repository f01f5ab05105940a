//! Small programs with locks, semaphores and loops, against all their interleavings.

mod meetings;
mod part;
mod rounds;
mod toy;

use super::*;
use crate::{Fingerprint, Kind, Op, Random, Step};
use rsan_model::ThreadId;
use std::collections::BTreeSet;
use toy::{Loops, Program, Run, Toy};

/// All executions, by all interleavings. Failed spin iterations are none of their steps.
fn interleaved(program: &Program) -> BTreeSet<Fingerprint> {
    fn follow(
        program: &Program,
        run: &Run,
        met: &mut BTreeSet<String>,
        all: &mut BTreeSet<Fingerprint>,
    ) {
        let fingerprint = Fingerprint::of(&run.steps);
        let Run { second, idle, .. } = run;
        if !met.insert(format!("{fingerprint:?} {second:?} {idle:?}")) {
            return;
        }
        let ready = run.ready(program);
        if ready.is_empty() {
            all.insert(fingerprint);
        }
        for candidate in ready {
            let mut next = run.clone();
            next.step(program, candidate.thread);
            follow(program, &next, met, all);
        }
    }
    let (mut met, mut all) = (BTreeSet::new(), BTreeSet::new());
    follow(
        program,
        &Run::new(program, Loops::Again),
        &mut met,
        &mut all,
    );
    all
}

fn bounds(program: &Program) -> Bounds {
    Bounds {
        roots: program.len() as u32,
        ..Bounds::default()
    }
}

/// All executions, by exploration.
fn explored(program: &Program) -> (BTreeSet<Fingerprint>, Progress) {
    let mut explorer = Explorer::new(bounds(program));
    let mut all = BTreeSet::new();
    while let Some(job) = explorer.next() {
        let trace = Run::under(program, job.plan);
        match explorer.done(job.id, &trace) {
            Outcome::Execution { blocked } => {
                let new = all.insert(Fingerprint::of(&trace.steps));
                // What a thread wrote in a failed spin iteration, of several words, may be read by another one.
                let vain = blocked && trace.steps.iter().any(|s| s.vain && s.writes);
                assert!(new || vain, "twice in {program:?}: {:?}", trace.steps);
            }
            Outcome::Excess => {}
            outcome => panic!("{outcome:?} in {program:?}"),
        }
    }
    (all, explorer.progress())
}

fn random_program(random: &mut Random) -> Program {
    let thread = |random: &mut Random| {
        let mut code = Vec::new();
        let mut held = Vec::new();
        while code.len() < 4 {
            let toy = match random.below(8) {
                0 | 1 => Toy::Lock(64 + 8 * random.below(2) as u64),
                2 => Toy::Take(128),
                3 => Toy::Post(128),
                4 => Toy::Load(8 * random.below(2) as u64),
                5 => Toy::Store(8 * random.below(2) as u64),
                6 => Toy::Add(8),
                _ => match held.pop() {
                    Some(lock) => Toy::Unlock(lock),
                    None => continue,
                },
            };
            if let Toy::Lock(lock) = toy {
                held.push(lock);
            }
            code.push(toy);
        }
        code.extend(held.into_iter().rev().map(Toy::Unlock));
        code
    };
    (0..2 + random.below(2)).map(|_| thread(random)).collect()
}

#[test]
fn locks_and_semaphores_are_explored_once() {
    let mut random = Random::new(11);
    let (mut blocked, mut executions, mut excess) = (0, 0, 0);
    for _ in 0..700 {
        let program = random_program(&mut random);
        let (found, progress) = explored(&program);
        assert!(progress.is_complete());
        assert!((progress.share - 1.0).abs() < 1e-9);
        assert!(found == interleaved(&program), "{program:?}");
        blocked += progress.counts.blocked;
        executions += progress.counts.executions;
        excess += progress.counts.excess;
    }
    assert!(
        blocked > 100 && executions > 5000,
        "{blocked} of {executions}"
    );
    assert!(excess < 2 * executions, "{excess} of {executions}");
}

fn critical_sections(threads: usize) -> Program {
    vec![vec![Toy::Lock(64), Toy::Add(8), Toy::Unlock(64)]; threads]
}

#[test]
fn critical_sections_come_in_every_order() {
    for (threads, orders) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
        let (found, progress) = explored(&critical_sections(threads));
        assert_eq!(found.len(), orders);
        assert_eq!(progress.estimate(), Some(orders as u64));
    }
}

#[test]
fn estimates_are_made_late_and_not_far_off() {
    let mut random = Random::new(8);
    let mut programs = 0;
    for _ in 0..400 {
        let program = random_program(&mut random);
        let mut explorer = Explorer::new(bounds(&program));
        let mut estimates = Vec::new();
        while let Some(job) = explorer.next() {
            explorer.done(job.id, &Run::under(&program, job.plan));
            let progress = explorer.progress();
            estimates.extend(progress.estimate().filter(|_| progress.waiting > 0));
            let known = progress.counts.executions + progress.waiting as u64;
            assert!(progress.estimate().is_none_or(|e| e >= known));
        }
        let truth = explorer.progress().counts.executions as f64;
        programs += usize::from(!estimates.is_empty());
        for estimate in estimates {
            let ratio = estimate as f64 / truth;
            assert!(
                (0.33..=2.0).contains(&ratio),
                "{estimate} of {truth} in {program:?}"
            );
        }
    }
    assert!(programs > 10, "{programs}");
}

#[test]
fn loops_that_only_wait_are_explored() {
    let mut random = Random::new(4);
    let mut executions = 0;
    for _ in 0..300 {
        let thread = |random: &mut Random| -> Vec<Toy> {
            let toy = |random: &mut Random| match random.below(10) {
                0 => vec![Toy::Until(8)],
                1 => vec![Toy::Store(8)],
                2 => vec![Toy::Load(8)],
                3 => vec![Toy::Add(16)],
                4 => vec![Toy::Clear(8)],
                5 => vec![Toy::Either(8, 16)],
                6 => vec![Toy::Both(8, 16)],
                7 => vec![Toy::Compare(8)],
                _ => vec![Toy::Spin(64), Toy::Add(16), Toy::Clear(64)],
            };
            (0..2).flat_map(|_| toy(random)).collect()
        };
        let program: Program = (0..2 + random.below(2))
            .map(|_| thread(&mut random))
            .collect();
        let (found, progress) = explored(&program);
        assert!(progress.is_complete());
        assert!(found == interleaved(&program), "{program:?}");
        executions += progress.counts.executions;
    }
    assert!(executions > 2000, "{executions}");
}

#[test]
fn an_exploration_goes_on_where_it_was_saved() {
    let program = critical_sections(4);
    let mut explorer = Explorer::new(bounds(&program));
    let mut share = 0.0;
    while let Some(job) = explorer.next() {
        // A second one is handed out, and not made before the text is written.
        let lost = explorer.next();
        let trace = Run::under(&program, job.plan);
        explorer.done(job.id, &trace);
        let text = explorer.save();
        let loaded = Explorer::load(&text).expect("what was saved");
        if lost.is_none() {
            assert_eq!(loaded.save(), text);
        }
        assert_eq!(loaded.progress(), explorer.progress());
        assert!(loaded.progress().share >= share);
        share = loaded.progress().share;
        explorer = loaded;
    }
    assert!(explorer.progress().is_complete());
    assert_eq!(explorer.progress().counts.executions, 24);
}

#[test]
fn what_was_not_saved_is_not_loaded() {
    let mut explorer = Explorer::new(bounds(&critical_sections(3)));
    let job = explorer.next().expect("a job");
    explorer.done(job.id, &Run::under(&critical_sections(3), job.plan));
    let text = explorer.save();
    let error = |text: &str| Explorer::load(text).expect_err("an error").to_string();
    assert_eq!(error(""), "line 1: expected `rsan exploration 3`");
    assert_eq!(
        error(&text.replace("roots", "rots")),
        "line 2: expected a line `bounds ...`"
    );
    assert_eq!(
        error(&text.replace("share ", "share 7")),
        "line 4: expected a line `share ...`"
    );
    let line = |start: &str| {
        1 + text
            .lines()
            .position(|l| l.starts_with(start))
            .expect("it is there")
    };
    for (word, what) in [
        ("kind=lock", "event"),
        ("uniform=1", "object"),
        ("count=2", "slot"),
    ] {
        assert_eq!(
            error(&text.replace(word, "nothing=0")),
            format!("line {}: expected a line `{what} ...`", line(what))
        );
    }
    for (sound, unsound) in [
        ("rf=2", "rf=1000"),
        ("object=0", "object=9"),
        ("slot event=3", "slot event=99"),
    ] {
        assert!(text.contains(sound), "{text}");
        assert_eq!(
            error(&text.replace(sound, unsound)),
            format!(
                "line {}: expected a graph whose numbers fit together",
                line("run")
            )
        );
    }
    let lines: Vec<&str> = text.lines().collect();
    for end in 0..lines.len() {
        let cut = lines[..end].join("\n");
        if let Ok(loaded) = Explorer::load(&cut) {
            assert!(loaded.progress().waiting <= explorer.progress().waiting);
        }
    }
}

#[test]
fn jobs_can_be_made_in_any_order_and_given_back() {
    let program = critical_sections(4);
    let mut random = Random::new(2);
    let mut explorer = Explorer::new(bounds(&program));
    let mut jobs = Vec::new();
    loop {
        while let Some(job) = explorer.next() {
            jobs.push(job);
            if jobs.len() == 5 {
                break;
            }
        }
        if jobs.is_empty() {
            break;
        }
        let job = jobs.swap_remove(random.below(jobs.len()));
        match random.below(3) {
            0 => explorer.give_back(job.id),
            _ => {
                let trace = Run::under(&program, job.plan);
                explorer.done(job.id, &trace);
            }
        }
    }
    assert!(explorer.progress().is_complete());
    assert_eq!(explorer.progress().counts.executions, 24);
}

#[test]
fn bounds_make_it_incomplete() {
    let program = vec![vec![Toy::Store(8), Toy::Load(8)]; 3];
    let explore = |bounds: Bounds, end: End| {
        let mut explorer = Explorer::new(bounds);
        while let Some(job) = explorer.next() {
            let mut trace = Run::under(&program, job.plan);
            trace.end = end;
            explorer.done(job.id, &trace);
        }
        explorer.progress()
    };
    let all = explore(bounds(&program), End::Ended);
    assert!(all.is_complete());
    let runs = Some(3);
    let few = explore(
        Bounds {
            runs,
            ..bounds(&program)
        },
        End::Ended,
    );
    assert_eq!((few.counts.runs(), few.is_complete()), (3, false));
    assert!(few.share < 1.0);
    let mut last = 0;
    for most in 0..4 {
        let preemptions = Some(most);
        let some = explore(
            Bounds {
                preemptions,
                ..bounds(&program)
            },
            End::Ended,
        );
        assert!(some.counts.executions >= last);
        assert_eq!(
            some.is_complete(),
            some.counts.executions == all.counts.executions
        );
        last = some.counts.executions;
    }
    assert_eq!(last, all.counts.executions);
    for end in [End::CutOff, End::Failed(6)] {
        assert!(!explore(bounds(&program), end).is_complete());
    }
}

/// Explores with a bound on the steps of threads. What the runs were, and what they showed.
fn explored_to(program: &Program, steps: u32) -> (BTreeSet<Fingerprint>, Counts) {
    let mut explorer = Explorer::new(Bounds {
        steps: Some(steps),
        ..bounds(program)
    });
    let mut all = BTreeSet::new();
    while let Some(job) = explorer.next() {
        let trace = Run::under(program, job.plan);
        match explorer.done(job.id, &trace) {
            Outcome::Execution { .. } | Outcome::Cut => {
                let new = all.insert(Fingerprint::of(&trace.steps));
                assert!(new, "twice in {program:?}: {:?}", trace.steps);
            }
            Outcome::Excess => {}
            outcome => panic!("{outcome:?} in {program:?}"),
        }
    }
    let progress = explorer.progress();
    assert_eq!(progress.is_complete(), progress.counts.cut == 0);
    (all, progress.counts)
}

#[test]
fn a_thread_that_may_make_no_further_step_lets_the_others_go_on() {
    // As far as the bound goes, a loop without end is a loop of so many steps.
    let one = vec![Toy::Store(16), Toy::Load(8)];
    for steps in [2, 3, 5] {
        let program = |adds: u32| vec![vec![Toy::Add(8); adds as usize], one.clone()];
        let (all, counts) = explored_to(&program(1000), steps);
        assert_eq!(all, explored(&program(steps)).0);
        assert_eq!((counts.executions, counts.cut), (0, u64::from(steps) + 1));
    }
    // A poll under a lock: the other thread gets the lock after every round.
    let round = [Toy::Lock(64), Toy::Load(8), Toy::Unlock(64)];
    let other = vec![Toy::Lock(64), Toy::Store(8), Toy::Unlock(64)];
    let program = |rounds| vec![round.repeat(rounds), other.clone()];
    let (all, counts) = explored_to(&program(1000), 6);
    assert_eq!(all, explored(&program(2)).0);
    assert_eq!((counts.executions, counts.cut), (0, 3));
}

#[test]
fn long_runs_are_planned_one_at_a_time() {
    // Each of these runs has millions of alternatives.
    let store = vec![Toy::Store(8), Toy::Load(16), Toy::Store(16), Toy::Load(8)];
    let lock = vec![Toy::Lock(64), Toy::Add(8), Toy::Unlock(64)];
    for round in [store, lock, vec![Toy::Add(8)]] {
        let program = vec![round.repeat(4000 / round.len()); 2];
        let mut explorer = Explorer::new(bounds(&program));
        for _ in 0..10 {
            let job = explorer.next().expect("there is more");
            let trace = Run::under(&program, job.plan);
            let outcome = explorer.done(job.id, &trace);
            assert!(matches!(
                outcome,
                Outcome::Execution { .. } | Outcome::Excess
            ));
        }
        assert!(explorer.progress().waiting > 1000);
    }
}

#[test]
fn nothing_is_lost_when_there_is_no_time_for_the_next_plan() {
    let program = critical_sections(4);
    let mut explorer = Explorer::new(bounds(&program));
    loop {
        let left = explorer.progress();
        assert!(explorer.next_unless(|| true).is_none_or(|job| job.id == 0));
        if let Some(lost) = explorer.running.keys().next().copied() {
            explorer.give_back(lost);
        }
        assert_eq!(explorer.progress(), left);
        let Some(job) = explorer.next() else { break };
        explorer.done(job.id, &Run::under(&program, job.plan));
    }
    assert!(explorer.progress().is_complete());
    assert_eq!(explorer.progress().counts.executions, 24);
}

#[test]
fn a_program_that_changes_is_found_out() {
    let mut explorer = Explorer::new(bounds(&critical_sections(2)));
    let mut diverged = 0;
    for changed in [
        critical_sections(2),
        vec![vec![Toy::Load(8), Toy::Store(8)]; 2],
    ] {
        let job = explorer.next().expect("a job");
        let trace = Run::under(&changed, job.plan);
        diverged += u32::from(matches!(
            explorer.done(job.id, &trace),
            Outcome::Diverged(_)
        ));
    }
    assert_eq!((diverged, explorer.progress().is_complete()), (1, false));
}

/// The counts after one run of two threads, which did this.
fn counts(steps: &[Step]) -> Counts {
    let mut explorer = Explorer::new(Bounds {
        roots: 2,
        ..Bounds::default()
    });
    let job = explorer.next().expect("a job");
    let (steps, pending, end) = (steps.to_vec(), Vec::new(), End::Ended);
    let trace = Trace {
        steps,
        pending,
        end,
        overwrites: false,
    };
    explorer.done(job.id, &trace);
    explorer.progress().counts
}

#[test]
fn a_round_that_was_not_in_vain_is_noticed() {
    let step = |kind, vain| Step {
        vain,
        ..Step::new(ThreadId(0), Op::new(kind, 8, 4))
    };
    let diverged = |steps: &[Step]| counts(steps).diverged;
    let (load, local) = (step(Kind::Load, true), step(Kind::Yield, false));
    assert_eq!(diverged(&[load, local, load, local]), 0);
    assert_eq!(diverged(&[load, local, step(Kind::Store, false)]), 1);
}

#[test]
fn sizes_that_differ_are_noticed() {
    let store = |bytes| Step::new(ThreadId(0), Op::new(Kind::Store, 8, bytes));
    assert_eq!(counts(&[store(4), store(4)]).mixed, 0);
    assert_eq!(counts(&[store(4), store(1)]).mixed, 1);
}

#[test]
fn waits_that_time_may_end_are_noticed() {
    let mut wait = Step::new(ThreadId(0), Op::new(Kind::Lock, 8, 0));
    assert_eq!(counts(&[wait]).limited, 0);
    wait.limited = true;
    assert_eq!(counts(&[wait]).limited, 1);
}

#[test]
fn a_lock_that_is_given_back_unseen_is_noticed() {
    let step = |t: u32, kind| Step::new(ThreadId(t), Op::new(kind, 8, 0));
    let explore = |steps: &[Step]| counts(steps).irregular;
    let (lock, unlock) = (|t| step(t, Kind::Lock), |t| step(t, Kind::Unlock));
    assert_eq!(explore(&[lock(0), lock(0), unlock(0), lock(1)]), 0);
    assert_eq!(explore(&[lock(0), lock(1)]), 1);
}
