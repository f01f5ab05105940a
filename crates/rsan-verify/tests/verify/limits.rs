//! Limits give `Unknown` and what was explored so far, never `Robust`.

use crate::common::{corpus, outcome, program, tpl};
use rsan_model::{Model, Reason, Verdict};
use rsan_verify::{Options, Property, Stats};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn unknown(options: &Options<'_>) -> (Reason, Stats) {
    let program = tpl(&corpus("locks/ticket-3.tpl"));
    let outcome = outcome(&program, options);
    match outcome.verdict {
        Verdict::Unknown(reason) => (reason, outcome.stats),
        verdict => panic!("{verdict:?}"),
    }
}

fn assert_partial(stats: Stats) {
    let whole = outcome(
        &tpl(&corpus("locks/ticket-3.tpl")),
        &Options::new(Model::Ra),
    )
    .stats;
    assert!(stats.states > 1 && stats.states < whole.states, "{stats:?}");
    assert!(stats.transitions > 0 && stats.transitions < whole.transitions);
    assert!(stats.memory > 0 && stats.memory <= whole.memory);
    assert!(stats.depth < whole.depth);
}

#[test]
fn no_time() {
    let (reason, stats) = unknown(&Options {
        time_limit: Some(Duration::ZERO),
        ..Options::new(Model::Ra)
    });
    assert_eq!(reason, Reason::TimeLimit);
    assert!(stats.elapsed > Duration::ZERO);
    assert_partial(stats);
}

#[test]
fn hardly_any_memory() {
    let (reason, stats) = unknown(&Options {
        memory_limit: Some(2000),
        ..Options::new(Model::Ra)
    });
    assert_eq!(reason, Reason::MemoryLimit);
    assert!(stats.memory > 2000);
    assert_partial(stats);
}

#[test]
fn somebody_stops_it() {
    let stop = AtomicBool::new(true);
    let (reason, stats) = unknown(&Options {
        stop: Some(&stop),
        ..Options::new(Model::Ra)
    });
    assert_eq!(reason, Reason::Interrupted);
    assert_partial(stats);
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    let program = tpl(&corpus("locks/ticket-3.tpl"));
    let stop = AtomicBool::new(false);
    let options = Options {
        time_limit: Some(Duration::from_secs(3600)),
        memory_limit: Some(1 << 40),
        stop: Some(&stop),
        ..Options::new(Model::Ra)
    };
    assert_eq!(outcome(&program, &options).verdict, Verdict::Robust);
}

#[test]
fn a_violation_that_was_found_counts() {
    // The limit is looked at between rounds, and this program fails in its first.
    let options = Options {
        property: Property::Safe,
        time_limit: Some(Duration::ZERO),
        ..Options::new(Model::Ra)
    };
    let verdict = outcome(&program("nst d 1 ‖ nst d 2"), &options).verdict;
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}

#[test]
fn what_it_took() {
    let options = Options::new(Model::Ra);
    let one = outcome(&program("st.rlx x 1; st.rlx x 2; st.rlx x 3"), &options);
    assert_eq!(one.verdict, Verdict::Robust);
    let stats = one.stats;
    assert_eq!((stats.states, stats.transitions, stats.depth), (4, 3, 3));
    let two = outcome(&program("st.rlx x 1 ‖ st.rlx y 1"), &options).stats;
    // Both orders lead to the same state, and one of them is enough.
    assert_eq!((two.states, two.transitions, two.depth), (4, 3, 2));
    assert!(two.memory > 0 && two.elapsed > Duration::ZERO);
}
