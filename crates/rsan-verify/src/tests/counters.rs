//! Threads that wait for counters: what is forgotten about them changes no answer.

use super::{Case, decide};
use crate::Property;
use crate::mutation::Mutation;
use rsan_crosscheck::Random;
use rsan_lang::Format;
use rsan_model::{Model, Source};
use std::fmt::Write;

/// A guess at the counter `x`, something read in between, and a wait if that is larger.
fn attempt(random: &mut Random, text: &mut String) {
    let read = |random: &mut Random| ["acq", "rlx"][random.below(2)];
    let maybe =
        |random: &mut Random, what: &'static str| if random.below(2) == 0 { what } else { "" };
    let comparison = ["b <= t", "t < b", "b == t", "t != b", "b > t"][random.below(5)];
    let before = maybe(random, "fence(seq_cst);");
    let between = maybe(random, "fence(seq_cst);");
    let (counter, other) = (read(random), read(random));
    let again = maybe(random, "if (t <= b) { z.store(b, rel); }");
    write!(
        text,
        "{before} t = x.load({counter}); {between} b = y.load({other}); \
         if ({comparison}) {{ {again} }} else {{ BCAS(x, t, t + 1, acq, rel); }} "
    )
    .expect("a string takes it");
}

fn step(random: &mut Random, text: &mut String) {
    match random.below(7) {
        0..3 => attempt(random, text),
        3 => text.push_str("b = y.load(rlx); y.store(b + 1, rel); "),
        4 => text.push_str("t = x.load(acq); b = CAS(x, t, t + 1, acq, rel); y.store(t, rlx); "),
        5 => text.push_str("z.store(1, rel); fence(seq_cst); b = y.load(rlx); "),
        _ => text.push_str("b = z.load(acq); y.store(2, rel); "),
    }
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "max_value 7;\nglobal x = 1, y = 1, z;\n".to_owned();
    for thread in 0..2 + random.below(2) {
        write!(
            text,
            "fn t{thread} {{ local t, b, n; while (n < 2) {{ n = n + 1; "
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
fn what_is_forgotten_about_those_who_wait_changes_no_answer() {
    let forgetful = Mutation {
        one_by_one: true,
        ..Mutation::default()
    };
    let exact = Mutation {
        all_at_once: true,
        ..Mutation::default()
    };
    let (mut robust, mut fewer) = (0, 0);
    for seed in 0..120 {
        let text = program(seed);
        let source = Source::new("counters.tpl", text.clone());
        let program = rsan_lang::parse(&source, Format::Tpl)
            .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        for model in [Model::Ra, Model::Rc20] {
            let case = Case {
                name: format!("{text} {model}"),
                model,
                program: program.clone(),
            };
            let (fault, _) = decide(&case, Property::Robust, forgetful);
            let (expected, _) = decide(&case, Property::Robust, exact);
            assert_eq!(fault, expected, "{}", case.name);
            if expected.is_none() {
                robust += 1;
                let without_counters = Mutation {
                    without_counters: true,
                    ..forgetful
                };
                let (_, some) = decide(&case, Property::Robust, forgetful);
                let (_, all) = decide(&case, Property::Robust, without_counters);
                fewer += u32::from(some.states < all.states);
            }
        }
    }
    println!("{robust} robust, {fewer} with fewer states");
    assert!(robust > 20 && fewer > 10, "{robust} robust, {fewer} fewer");
}
