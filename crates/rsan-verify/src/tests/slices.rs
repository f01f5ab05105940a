//! Values that decide nothing: leaving them out changes no answer.

use super::{Case, decide};
use crate::Property;
use crate::mutation::Mutation;
use rsan_crosscheck::Random;
use rsan_lang::Format;
use rsan_model::{Model, Source};
use std::fmt::Write;

const BOTH: [Property; 2] = [Property::Robust, Property::Observational];

fn read(random: &mut Random) -> &'static str {
    ["acq", "rlx"][random.below(2)]
}

fn write_order(random: &mut Random) -> &'static str {
    ["rel", "rlx"][random.below(2)]
}

/// A few accesses to the data `x` and `y` and to `c`, which decides; some of what is read is asserted.
fn step(random: &mut Random, text: &mut String) {
    let (r, w) = (read(random), write_order(random));
    let data = ["x", "y"][random.below(2)];
    let register = ["a", "b"][random.below(2)];
    let fence = ["fence(acq); ", "fence(rel); ", "fence(seq_cst); ", ""][random.below(4)];
    match random.below(9) {
        0 => write!(text, "{data}.store(n, {w}); {fence}"),
        1 => write!(text, "{register} = {data}.load({r}); {fence}"),
        2 => write!(
            text,
            "a = x.load({r}); b = y.load({r}); assert (a <= b + 1); "
        ),
        3 => write!(text, "{data}.store(a + 1, {w}); {fence}"),
        4 => write!(text, "{register} = FADD({data}, n, acq, {w}); "),
        5 => write!(text, "c.store(1, {w}); {fence}"),
        6 => write!(
            text,
            "t = c.load({r}); if (t == 1) {{ {register} = {data}.load({r}); }} "
        ),
        7 => write!(
            text,
            "t = CAS(c, 0, n, acq, {w}); if (t == 0) {{ {data}.store(n, {w}); }} "
        ),
        _ => write!(text, "{register} = a; assert ({register} != 3); "),
    }
    .expect("a string takes it");
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "max_value 7;\nglobal x, y, c;\n".to_owned();
    for thread in 0..2 + random.below(2) {
        write!(
            text,
            "fn t{thread} {{ local a, b, t, n; while (n < 2) {{ n = n + 1; "
        )
        .expect("a string takes it");
        for _ in 0..1 + random.below(2) {
            step(&mut random, &mut text);
        }
        text.push_str("} }\n");
    }
    text
}

#[test]
fn values_that_decide_nothing_change_no_answer() {
    let reduced = Mutation {
        one_by_one: true,
        ..Mutation::default()
    };
    let kept = Mutation {
        without_slices: true,
        ..reduced
    };
    let exact = Mutation {
        all_at_once: true,
        ..Mutation::default()
    };
    let (mut robust, mut faulty, mut fewer) = (0, 0, 0);
    for seed in 0..150 {
        let text = program(seed);
        let source = Source::new("slices.tpl", text.clone());
        let program = rsan_lang::parse(&source, Format::Tpl)
            .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        for model in [Model::Ra, Model::Rc20, Model::C20] {
            let case = Case {
                name: format!("{text} {model}"),
                model,
                program: program.clone(),
            };
            for property in BOTH {
                let (fault, some) = decide(&case, property, reduced);
                let (expected, _) = decide(&case, property, exact);
                let name = &case.name;
                // Of faults at the end of equally long schedules another one may be found.
                assert_eq!(fault.is_some(), expected.is_some(), "{name} {property}");
                let (without, all) = decide(&case, property, kept);
                assert_eq!(fault.is_some(), without.is_some(), "{name} {property}");
                robust += u32::from(fault.is_none());
                faulty += u32::from(fault.is_some());
                fewer += u32::from(fault.is_none() && some.states < all.states);
            }
        }
    }
    println!("{robust} robust, {faulty} not, {fewer} with fewer states");
    assert!(robust > 100 && faulty > 100 && fewer > 0);
}

/// A sequence lock whose readers check what they read.
const SEQLOCK: &str = "max_value 15;
global c, x, y;
fn writer { local n, t; while (n < 3) { n = n + 1;
    t = c.load(acq); t = CAS(c, t, t + 1, acq, rel); x.store(n, rel); y.store(n, rel); c.store(t + 2, rel); } }
fn reader { local a, b, s, t; while (true) {
    again: s = c.load(acq); if (s & 1 == 1) goto again;
    a = x.load(acq); b = y.load(acq); t = c.load(acq); if (s != t) goto again; assert (a == b); } }
";

#[test]
fn what_is_only_asserted_is_not_kept_for_every_location() {
    let source = Source::new("seqlock.tpl", SEQLOCK.to_owned());
    let program = rsan_lang::parse(&source, Format::Tpl)
        .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
    let case = Case {
        name: "seqlock".into(),
        model: Model::Rc20,
        program,
    };
    let reduced = Mutation {
        one_by_one: true,
        ..Mutation::default()
    };
    let kept = Mutation {
        without_slices: true,
        ..reduced
    };
    for property in BOTH {
        let (fault, some) = decide(&case, property, reduced);
        let (expected, all) = decide(&case, property, kept);
        assert_eq!((fault, expected), (None, None), "{property}");
        assert!(some.states < all.states, "{property}: {some:?}, {all:?}");
    }
}
