//! Every rule is broken once, and some program notices.

use crate::Engine;
use crate::mutation::{Mutant, Mutation};
use rsan_crosscheck::weak::{Mode, Outcome, executions, weak_program};
use rsan_model::{Program, Source};
use std::collections::HashSet;

/// Small programs, each for some rules.
#[rustfmt::skip] // one program, one line
const HANDMADE: &[&str] = &[
    // Release and acquire.
    "st.rlx x 1; st.rel y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    "st.rlx x 1; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; ld.rlx r1 x",
    "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x",
    "st.rlx x 1; fence.rel; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    // The same of read-modify-writes.
    "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1; ld.rlx r1 x",
    "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1; fence.acq; ld.rlx r1 x",
    "st.rlx x 1; fadd.rlx r0 y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    // Rule 2.
    "st.sc x 1; ld.sc r0 y ‖ st.sc y 1; ld.sc r0 x",
    "xchg.sc r1 x 1; ld.sc r0 y ‖ xchg.sc r1 y 1; ld.sc r0 x",
    "st.rlx x 1 ‖ ld.sc r0 x; ld.sc r1 y ‖ ld.sc r0 y; ld.sc r1 x ‖ st.rlx y 1",
    // Rule 3.
    "st.sc x 1; ld.sc r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x",
    "fence.sc; st.rlx x 1; fence.sc; ld.rlx r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x",
    "fence.sc; ld.rlx r0 y; ld.rlx r1 x ‖ st.rlx x 1; fence.sc; st.rlx y 1",
    "fence.sc; ld.rlx r0 y; ld.rlx r1 x ‖ st.sc x 1; st.rlx y 1",
    "st.rlx x 1; fence.sc; ld.rlx r0 z ‖ st.rlx z 1; fence.sc; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
    // Chains of read-modify-writes.
    "fadd.rlx r0 x 1 ‖ fadd.rlx r0 x 1",
    "fadd.rlx r0 x 1 ‖ st.rlx x 5 ‖ ld.rlx r0 x; ld.rlx r1 x",
    "st.rlx x 1 ‖ st.rlx x 5; fadd.rlx r0 x 1 ‖ ld.rlx r0 x; ld.rlx r1 x",
    "fadd.rlx r0 x 2; ld.rlx r1 x ‖ st.rlx x 1 ‖ fadd.rlx r0 x 1; st.rlx x 5",
    "st.rlx x 1 ‖ fadd.rlx r0 x 1 ‖ ld.rlx r0 x; st.rlx x 5 ‖ ld.rlx r0 x; ld.rlx r1 x",
    "st.rlx x 1 ‖ fadd.rlx r0 x 1 ‖ st.rlx x 5; ld.rlx r0 x ‖ ld.rlx r0 x; ld.rlx r1 x",
];

/// A fence that a thread knows is forgotten for a later one, which it does not know.
const FENCE_IN_PLACE: &str = "st.rlx z 1; fence.sc; st.rel y 1; fence.sc ‖ ld.acq r0 y; st.rlx x 2 ‖ \
    st.rlx x 1; fence.sc; ld.rlx r0 z ‖ ld.rlx r0 x; ld.rlx r1 x";

const RANDOM: u64 = 20;
const STEPS: u64 = 40_000;

fn broken(mutant: Option<Mutant>, window: Option<u64>) -> Engine {
    let mut engine = Engine::default();
    engine.mutation = mutant.map_or_else(Mutation::default, Mutation::new);
    engine.set_window(window);
    engine
}

fn programs() -> impl Iterator<Item = (String, Program)> {
    let handmade = HANDMADE.iter().chain([&FENCE_IN_PLACE]).map(|text| {
        let source = Source::new("program", *text);
        let program = rsan_lang::mini::parse(&source).expect("a program");
        ((*text).to_owned(), program)
    });
    handmade.chain((0..RANDOM).map(|seed| (format!("seed {seed}"), weak_program(seed))))
}

fn outcomes(program: &Program, mutant: Option<Mutant>, mode: Mode) -> HashSet<Outcome> {
    executions(program, broken(mutant, mode.window), mode, STEPS).outcomes
}

/// How an engine with a broken rule differs, if it does.
fn difference(
    program: &Program,
    mutant: Option<Mutant>,
    expected: &HashSet<Outcome>,
) -> Option<String> {
    if outcomes(program, mutant, Mode::default()) != *expected {
        return Some("other executions".to_owned());
    }
    if mutant.is_some_and(|mutant| !mutant.is_of_pruning()) {
        return None;
    }
    let expected: HashSet<Outcome> = expected.iter().cloned().map(Outcome::summary).collect();
    if outcomes(program, mutant, Mode::forgetting(None)) != expected {
        return Some("other executions after pruning".to_owned());
    }
    let forbidden = |window: &u64| {
        let shown = outcomes(program, mutant, Mode::forgetting(Some(*window)));
        !shown.is_subset(&expected)
    };
    let window = (0..3).find(forbidden)?;
    Some(format!("forbidden executions with a window of {window}"))
}

#[test]
fn every_broken_rule_is_noticed() {
    let mut left: Vec<Mutant> = Mutant::ALL.to_vec();
    for (name, program) in programs() {
        let all = executions(&program, broken(None, None), Mode::default(), STEPS);
        if all.cut {
            continue;
        }
        left.retain(|mutant| {
            let noticed = difference(&program, Some(*mutant), &all.outcomes);
            if let Some(how) = &noticed {
                println!("{mutant:?}: {how}, {name}");
            }
            noticed.is_none()
        });
        if left.is_empty() {
            return;
        }
    }
    panic!("nobody notices {left:?}");
}

#[test]
fn without_a_broken_rule_there_is_nothing_to_notice() {
    for (name, program) in programs() {
        let all = executions(&program, broken(None, None), Mode::default(), STEPS);
        assert_eq!(difference(&program, None, &all.outcomes), None, "{name}");
    }
}
