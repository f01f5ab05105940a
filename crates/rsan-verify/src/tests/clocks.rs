//! Readings of a clock, budgets of loops, and locks: what is forgotten or done at once changes no answer.

use super::{Case, decide};
use crate::Property;
use crate::mutation::Mutation;
use rsan_crosscheck::Random;
use rsan_lang::Format;
use rsan_model::{Model, Source};
use std::fmt::Write;

/// Moves the clock on, mostly with the lock, and perhaps waits for what others read.
fn advance(random: &mut Random, text: &mut String) {
    let locked = random.below(4) != 0;
    let mut part = |text: &mut String, odds, what: &str| {
        if random.below(4) < odds {
            text.push_str(what);
        }
    };
    if locked {
        text.push_str("lock(l); ");
        part(text, 1, "d = x.load(acq); ");
        part(text, 1, "y.store(1, rlx); ");
    }
    text.push_str("a = g.load(acq); a = a + 1; ");
    part(text, 1, "x.store(2, rel); ");
    text.push_str("g.store(a, rel); ");
    part(text, 2, "fence(seq_cst); ");
    part(text, 2, "wait(r0, a, 0, acq); ");
    part(text, 2, "wait(r1, a, 0, acq); ");
    part(text, 1, "x.store(0, rel); ");
    if locked {
        text.push_str("unlock(l); ");
    }
}

fn step(random: &mut Random, thread: usize, text: &mut String) {
    let read = ["acq", "rlx"][random.below(2)];
    let write = ["rel", "rlx"][random.below(2)];
    let fence = ["fence(seq_cst);", ""][random.below(2)];
    let own = thread % 2;
    match random.below(8) {
        0..3 => return advance(random, text),
        3 | 4 => write!(
            text,
            "a = g.load({read}); r{own}.store(a, {write}); {fence} "
        ),
        5 => write!(text, "r{own}.store(0, {write}); {fence} "),
        6 => write!(text, "d = x.load({read}); {fence} "),
        _ => write!(
            text,
            "lock(l); y.store({thread}, {write}); d = y.load({read}); unlock(l); "
        ),
    }
    .expect("a string takes it");
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let first = random.below(2);
    let mut text = format!("max_value 15;\nglobal g = {first}, r0, r1, x, y, l;\n");
    for thread in 0..2 + random.below(2) {
        write!(
            text,
            "fn t{thread} {{ local a, d, n; while (n < 2) {{ n = n + 1; "
        )
        .expect("a string takes it");
        for _ in 0..1 + random.below(2) {
            step(&mut random, thread, &mut text);
        }
        text.push_str("} }\n");
    }
    text
}

fn cases() -> impl Iterator<Item = Case> {
    (0..100).flat_map(|seed| {
        let text = program(seed);
        let source = Source::new("clocks.tpl", text.clone());
        let program = rsan_lang::parse(&source, Format::Tpl)
            .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        [Model::Ra, Model::Rc20, Model::C20].map(|model| Case {
            name: format!("{text} {model}"),
            model,
            program: program.clone(),
        })
    })
}

/// Compares the answers for a property, and says for how many robust programs the first search has fewer states.
fn compare(property: Property, reduced: Mutation, full: Mutation) -> (u32, u32) {
    let (mut robust, mut fewer) = (0, 0);
    for case in cases() {
        let (fault, some) = decide(&case, property, reduced);
        let (expected, all) = decide(&case, property, full);
        assert_eq!(fault, expected, "{}, {property}", case.name);
        if fault.is_none() {
            robust += 1;
            fewer += u32::from(some.states < all.states);
        }
    }
    println!("{property}: {robust} robust, {fewer} with fewer states");
    (robust, fewer)
}

/// Everything on its own from the start, so that nothing is too small to be forgotten.
fn apart() -> Mutation {
    Mutation {
        one_by_one: true,
        ..Mutation::default()
    }
}

#[test]
fn what_is_forgotten_about_clocks_changes_no_answer() {
    let numbers = Mutation {
        without_clocks: true,
        ..apart()
    };
    let (robust, fewer) = compare(Property::Robust, apart(), numbers);
    assert!(robust > 20 && fewer > 10, "{robust} robust, {fewer} fewer");
    let (robust, fewer) = compare(Property::Safe, apart(), numbers);
    assert!(robust > 20 && fewer > 10, "{robust} safe, {fewer} fewer");
}

#[test]
fn what_is_done_at_once_under_locks_changes_no_answer() {
    let resting = Mutation {
        without_locks: true,
        ..Mutation::default()
    };
    for property in Property::ALL {
        let (robust, fewer) = compare(property, Mutation::default(), resting);
        assert!(robust > 20 && fewer > 10, "{robust} robust, {fewer} fewer");
    }
}

#[test]
fn all_reductions_together_change_no_answer() {
    let none = Mutation {
        without_clocks: true,
        without_locks: true,
        without_covering: true,
        all_at_once: true,
        ..Mutation::default()
    };
    for property in Property::ALL {
        compare(property, apart(), none);
    }
}

/// What a thread waits for is in a location that nobody writes: it is the first reading of the clock.
#[test]
fn a_reading_may_be_in_a_location_that_nobody_writes() {
    let text = "max_value 7;\nglobal g, r, x, y;\n\
        fn t { local a, d; a = g.load(acq); wait(r, a, acq); x.store(1, rel); d = y.load(acq); }\n\
        fn u { local a, d; y.store(1, rel); d = x.load(acq); a = g.load(acq); a = a + 1; g.store(a, rel); }\n";
    let source = Source::new("unwritten.tpl", text.to_owned());
    let program = rsan_lang::parse(&source, Format::Tpl)
        .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
    let case = Case {
        name: "a location that nobody writes".into(),
        model: Model::Ra,
        program,
    };
    let (fault, _) = decide(&case, Property::Robust, apart());
    assert_eq!(fault, Some("weak-behaviour"));
}
