//! The number of workers changes nothing but the time.

use crate::common::{corpus, outcome, tpl};
use rsan_model::{Model, Program, Verdict};
use rsan_verify::{Options, Outcome};
use std::time::Duration;

fn with_workers(program: &Program, workers: usize) -> Outcome {
    let options = Options {
        workers,
        ..Options::new(Model::Ra)
    };
    let mut outcome = outcome(program, &options);
    outcome.stats.elapsed = Duration::ZERO;
    outcome
}

/// The outcome, and that it is the same with two and three workers.
fn outcome_of(program: &Program) -> Outcome {
    let one = with_workers(program, 1);
    for workers in [2, 3] {
        assert_eq!(with_workers(program, workers), one, "{workers} workers");
    }
    one
}

#[test]
fn many_states() {
    let outcome = outcome_of(&tpl(&corpus("locks/seqlock-2r2w.tpl")));
    assert_eq!(outcome.verdict, Verdict::Robust);
    assert!(outcome.stats.states > 100_000, "{:?}", outcome.stats);
}

#[test]
fn a_fault_behind_many_states() {
    let text = corpus("locks/seqlock-2r2w.tpl").replace("assert(l == r)", "assert(before < 8)");
    let outcome = outcome_of(&tpl(&text));
    let Verdict::Violation(witness) = outcome.verdict else {
        panic!("the version reaches 8");
    };
    assert_eq!(witness.fault.kind(), "assertion");
    assert!(outcome.stats.states > 20_000, "{:?}", outcome.stats);
}
