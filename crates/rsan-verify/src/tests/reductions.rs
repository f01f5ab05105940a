//! Fewer transitions, the same answers.

use super::{Case, decide, handmade, random_cases};
use crate::Property;
use crate::mutation::Mutation;
use rsan_lang::Format;
use rsan_model::{Instr, Model, Source};
use std::path::Path;

/// Programs of the corpus with a few thousand states.
const CORPUS: &[&str] = &[
    "locks/peterson-two-fences.litmus",
    "locks/peterson-seq-cst.litmus",
    "locks/dekker-fences.litmus",
    "locks/ticket-3.tpl",
    "locks/ttas-4.tpl",
    "locks/tas-4.tpl",
    "locks/rwlock-2r2w.tpl",
    "locks/szymanski-fences.tpl",
    "locks/filter-3-ra.tpl",
    "queues/treiber.tpl",
    "queues/chase-lev-published.tpl",
    "observational/seqlock-fences.tpl",
];

fn corpus() -> impl Iterator<Item = Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    CORPUS.iter().flat_map(move |&name| {
        let text = std::fs::read_to_string(root.join(name)).expect("a file of the corpus");
        let format = Format::detect(name, &text).expect("a known format");
        let source = Source::new(name, text);
        let program = rsan_lang::parse(&source, format)
            .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        let sc = program.instructions().any(|(_, _, i)| i.is_sc_access());
        let models = [Model::Ra, Model::Rc20, Model::C20];
        let suits = models
            .into_iter()
            .filter(move |m| m.has_sc_accesses() || !sc);
        suits.map(move |model| Case {
            name: format!("{name} {model}"),
            model,
            program: program.clone(),
        })
    })
}

fn cases() -> impl Iterator<Item = Case> {
    handmade::cases().chain(corpus()).chain(random_cases(1..40))
}

/// What a plain store supersedes may be in a message or not, depending on what came first; so programs with plain
/// accesses have a few states that mean the same.
fn has_plain_accesses(case: &Case) -> bool {
    let plain = |i: &Instr| matches!(i, Instr::PlainLoad { .. } | Instr::PlainStore { .. });
    case.program.instructions().any(|(_, _, i)| plain(i))
}

#[test]
fn commutation_keeps_states_and_depth() {
    let without_commutation = Mutation {
        without_commutation: true,
        ..Mutation::default()
    };
    let (mut with, mut without) = (0, 0);
    for case in cases() {
        for property in Property::ALL {
            let (fault, reduced) = decide(&case, property, Mutation::default());
            let (expected, full) = decide(&case, property, without_commutation);
            let name = &case.name;
            assert_eq!(fault, expected, "{name}, {property}");
            assert_eq!(reduced.depth, full.depth, "{name}, {property}");
            if fault.is_none() && !has_plain_accesses(&case) {
                assert_eq!(reduced.states, full.states, "{name}, {property}");
            }
            with += reduced.transitions;
            without += full.transitions;
        }
    }
    println!("{with} transitions instead of {without}");
    assert!(with * 10 < without * 9, "{with} instead of {without}");
}

#[test]
fn symmetry_keeps_verdicts_and_depth() {
    let without_symmetry = Mutation {
        without_symmetry: true,
        ..Mutation::default()
    };
    let (mut with, mut without) = (0, 0);
    for case in cases() {
        for property in Property::ALL {
            let (fault, reduced) = decide(&case, property, Mutation::default());
            let (expected, full) = decide(&case, property, without_symmetry);
            let name = &case.name;
            assert_eq!(fault, expected, "{name}, {property}");
            assert_eq!(reduced.depth, full.depth, "{name}, {property}");
            if fault.is_none() {
                assert!(reduced.states <= full.states, "{name}, {property}");
            }
            with += reduced.states;
            without += full.states;
        }
    }
    println!("{with} states instead of {without}");
    assert!(with < without, "{with} instead of {without}");
}

#[test]
fn one_location_at_a_time_keeps_verdicts_and_shortest_schedules() {
    let all_at_once = Mutation {
        all_at_once: true,
        ..Mutation::default()
    };
    let one_by_one = Mutation {
        one_by_one: true,
        // What branches add may be deeper.
        without_distances: true,
        ..Mutation::default()
    };
    for case in cases() {
        let (fault, apart) = decide(&case, Property::Robust, one_by_one);
        let (expected, together) = decide(&case, Property::Robust, all_at_once);
        let name = &case.name;
        assert_eq!(fault, expected, "{name}");
        if fault.is_none() {
            assert!(apart.depth <= together.depth, "{name}");
        }
    }
}

#[test]
fn states_that_stand_for_others_keep_verdicts() {
    let covering = Mutation {
        one_by_one: true,
        ..Mutation::default()
    };
    let every = Mutation {
        without_covering: true,
        ..covering
    };
    let (mut with, mut without) = (0, 0);
    for case in cases() {
        let (fault, some) = decide(&case, Property::Robust, covering);
        let (expected, all) = decide(&case, Property::Robust, every);
        let name = &case.name;
        assert_eq!(fault, expected, "{name}");
        assert!(some.depth <= all.depth, "{name}");
        if fault.is_none() {
            assert!(some.states <= all.states, "{name}");
        }
        with += some.states;
        without += all.states;
    }
    println!("{with} states instead of {without}");
    assert!(with < without, "{with} instead of {without}");
}

#[test]
fn robust_programs_are_observationally_robust() {
    let by_robustness = Mutation {
        one_by_one: true,
        ..Mutation::default()
    };
    let directly = Mutation {
        all_at_once: true,
        ..Mutation::default()
    };
    for case in cases() {
        let (fault, _) = decide(&case, Property::Observational, by_robustness);
        let (expected, _) = decide(&case, Property::Observational, directly);
        assert_eq!(fault, expected, "{}", case.name);
    }
}
