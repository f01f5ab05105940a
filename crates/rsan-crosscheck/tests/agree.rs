//! All engines agree on random programs, from fixed seeds.

use rsan_crosscheck::{
    Answers, Campaign, MODELS, Profile, Random, Report, compare, generate, shrink,
};
use rsan_model::{Instr, Model, Program};

fn campaign(programs: u64, jobs: usize) -> Report {
    let campaign = Campaign {
        models: MODELS.to_vec(),
        profiles: Profile::all().to_vec(),
        seed: 1,
        programs,
        jobs,
    };
    campaign.run()
}

#[test]
fn the_engines_agree_on_random_programs() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let report = campaign(4000, cores);
    eprintln!("{report}");
    if let Some(disagreement) = &report.disagreement {
        panic!("{disagreement}");
    }
    let total = report.total();
    assert_eq!(total.programs + total.skipped, 4000);
    assert!(total.skipped < 40, "too many programs are too large");
    for (model, profile, tally) in &report.rows {
        let name = profile.name();
        assert!(tally.violations > 0, "{model} {name} finds nothing");
        assert!(tally.violations < tally.programs, "{model} {name}");
    }
    assert!(total.violations > 400 && total.unobserved > 50);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (one, three) = (campaign(150, 1), campaign(150, 3));
    assert_eq!(one.rows, three.rows);
}

fn answers(profile: Profile, seed: u64) -> Answers {
    let program = generate(&mut Random::new(seed), profile, Model::C20);
    compare(&program, Model::C20, &Default::default()).expect("a small program")
}

/// The first program of a profile that satisfies `f`.
fn first(profile: Profile, f: impl Fn(&Answers) -> bool) -> Answers {
    let mut all = (1..).map(|seed| answers(profile, seed));
    all.find(f).expect("an endless supply of programs")
}

#[test]
fn every_wrong_answer_is_noticed() {
    let is_clean = |a: &Answers| !a.runs.seen[0].any() && !a.runs.deadlock;
    let clean = first(Profile::Mix, is_clean);
    let is_weak = |a: &Answers| a.runs.seen[0].weak && !a.runs.seen[0].race;
    let weak = first(Profile::Litmus, is_weak);
    let is_racy = |a: &Answers| a.oracle.robust && a.oracle.racy;
    let racy = first(Profile::Plain, is_racy);
    let observed = first(Profile::Litmus, |a| {
        a.oracle.observational == Some(false) && is_weak(a)
    });
    for answers in [clean, weak, racy, observed] {
        assert_eq!(answers.contradictions(), Vec::<String>::new());
    }
    for monitor in 0..clean.runs.seen.len() {
        expect_noticed(clean, |a| a.runs.seen[monitor].weak = true);
        expect_noticed(clean, |a| a.runs.seen[monitor].race = true);
        expect_noticed(clean, |a| a.runs.seen[monitor].assertion = true);
        expect_noticed(weak, |a| a.runs.seen[monitor].weak = false);
        expect_noticed(racy, |a| a.runs.seen[monitor].race = false);
    }
    expect_noticed(clean, |a| a.runs.differ = true);
    expect_noticed(clean, |a| a.oracle.robust = false);
    expect_noticed(clean, |a| a.oracle.racy = true);
    expect_noticed(clean, |a| a.oracle.assertion_failed = true);
    expect_noticed(weak, |a| a.oracle.robust = true);
    expect_noticed(racy, |a| a.oracle.racy = false);
    for wrong in [
        "weak-behaviour",
        "data-race",
        "assertion",
        "deadlock",
        "trap",
    ] {
        expect_noticed(clean, |a| a.verifier.robust = Some(wrong));
        expect_noticed(clean, |a| a.verifier.safe = Some(wrong));
        expect_noticed(clean, |a| a.verifier.observational = Some(wrong));
        expect_noticed(clean, |a| a.verifier.deadlock = Some(wrong));
    }
    expect_noticed(weak, |a| a.verifier.robust = None);
    expect_noticed(weak, |a| a.verifier.robust = Some("data-race"));
    expect_noticed(racy, |a| a.verifier.safe = None);
    expect_noticed(racy, |a| a.verifier.observational = None);
    expect_noticed(racy, |a| a.verifier.deadlock = None);
    expect_noticed(observed, |a| a.verifier.observational = None);
}

fn expect_noticed(mut answers: Answers, spoil: impl Fn(&mut Answers)) {
    let before = answers;
    spoil(&mut answers);
    assert!(!answers.agree(), "{before:#?} spoilt to {answers:#?}");
}

#[test]
fn shrinking_keeps_what_matters_and_nothing_else() {
    let stores = |p: &Program| {
        let stores = p
            .instructions()
            .filter(|(_, _, i)| matches!(i, Instr::Store { .. }));
        stores.count()
    };
    let mut programs =
        (1..).map(|seed| generate(&mut Random::new(seed), Profile::Big, Model::Rc20));
    let program = programs.find(|p| stores(p) >= 3).expect("many programs");
    let small = shrink(program, &|p| stores(p) >= 2);
    assert_eq!((stores(&small), small.instructions().count()), (2, 2));
}
