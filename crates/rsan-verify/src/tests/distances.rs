//! Numbers that are only moved and compared: keeping their distances changes no answer.

use super::{Case, decide};
use crate::Property;
use crate::distances::Distances;
use crate::facts::Facts;
use crate::mutation::Mutation;
use rsan_axioms::{Limits, robustness};
use rsan_crosscheck::Random;
use rsan_lang::Format;
use rsan_model::{Model, Source};
use std::fmt::Write;

const MODELS: [Model; 3] = [Model::Ra, Model::Rc20, Model::C20];

/// One of the group's locations, and the register for its values.
fn pair(random: &mut Random) -> (&'static str, &'static str) {
    [("p", "a"), ("q", "b")][random.below(2)]
}

fn comparison(random: &mut Random, limit: usize) -> String {
    match random.below(12) {
        0 => format!("a < {limit}"),
        1 => format!("b >= {limit}"),
        2 => "b > a + 1".into(),
        3 => "a == b + 1".into(),
        4 => "b - a == 1".into(),
        n => ["a < b", "a <= b", "a == b", "a != b", "b < a"][n % 5].into(),
    }
}

/// Moves a number of the group, or compares two and shows what came out.
fn step(random: &mut Random, limit: usize, text: &mut String) {
    let read = ["acq", "rlx"][random.below(2)];
    let write = ["rel", "rlx"][random.below(2)];
    let fence = ["fence(seq_cst); ", "", ""][random.below(3)];
    let (from, into) = pair(random);
    let (to, value) = pair(random);
    let (flag, other) = [("x", "y"), ("y", "x")][random.below(2)];
    let condition = comparison(random, limit);
    match random.below(14) {
        0 => write!(text, "{into} = FADD({from}, 1, acq, {write}); "),
        1..4 => write!(text, "{into} = {from}.load({read}); {fence}"),
        4 => write!(text, "{to}.store({value}, {write}); {fence}"),
        5 => write!(
            text,
            "assume({into} < {limit}); {from}.store({into} + 1, {write}); "
        ),
        6 => write!(
            text,
            "if (a < b) {{ a = CAS(p, a, a + 1, acq, {write}); }} "
        ),
        7 => write!(text, "if (a < b) {{ BCAS(p, a, a + 1, acq, {write}); }} "),
        8 => write!(
            text,
            "b = q.load({read}); b = b - 1; q.store(b, {write}); {fence}a = p.load({read}); \
             if (b < a) {{ q.store(a, {write}); }} "
        ),
        9 => write!(text, "wait({from}, {into}, {read}); "),
        10 => write!(
            text,
            "if ({condition}) {{ {flag}.store(1, {write}); {fence}d = {other}.load({read}); }} "
        ),
        11 => write!(
            text,
            "if ({condition}) {{ {flag}.store(1, {write}); }} else {{ d = {other}.load({read}); }} "
        ),
        12 => write!(text, "{flag}.store(1, {write}); {fence}"),
        _ => write!(
            text,
            "d = {flag}.load({read}); if (d == 1) {{ {into} = {from}.load({read}); }} "
        ),
    }
    .expect("a string takes it");
}

/// What the threads of a program do again and again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    None,
    /// A few times.
    Bounded,
    /// For ever.
    Endless,
}

fn program(seed: u64, loops: Loops) -> String {
    let mut random = Random::new(seed);
    let limit = 2 + random.below(3);
    let last = limit + random.below(4);
    let (p, q) = (random.below(3), random.below(3));
    let mut text = format!("max_value {last};\nglobal p = {p}, q = {q}, x, y;\n");
    for thread in 0..2 + random.below(2) {
        let (around, end) = match loops {
            Loops::None => ("", ""),
            Loops::Bounded => ("while (n < 2) { n = n + 1; ", "} "),
            Loops::Endless => ("while (true) { ", "} "),
        };
        let first = "a = p.load(acq); b = q.load(acq); ";
        let first = [first, "a = p.load(rlx); b = a; "][random.below(2)];
        write!(text, "fn t{thread} {{ local a, b, d, n; {around}{first}")
            .expect("a string takes it");
        for _ in 0..1 + random.below(if loops == Loops::None { 4 } else { 3 }) {
            step(&mut random, limit, &mut text);
        }
        writeln!(text, "{end}}}").expect("a string takes it");
    }
    text
}

fn cases(seed: u64, loops: Loops) -> impl Iterator<Item = Case> {
    let text = program(seed, loops);
    let source = Source::new("distances.tpl", text.clone());
    let program = rsan_lang::parse(&source, Format::Tpl)
        .unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
    MODELS.into_iter().map(move |model| Case {
        name: format!("{text}{model}"),
        model,
        program: program.clone(),
    })
}

/// Programs of all kinds.
pub(super) fn all_cases(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Case> {
    let kinds = [Loops::None, Loops::Bounded, Loops::Endless];
    seeds.flat_map(move |seed| kinds.into_iter().flat_map(move |kind| cases(seed, kind)))
}

/// Everything on its own from the start, so that nothing is too small for it.
fn apart() -> Mutation {
    Mutation {
        one_by_one: true,
        ..Mutation::default()
    }
}

fn has_groups(case: &Case) -> bool {
    let program = case.program.for_model(case.model);
    let facts = Facts::new(&program, case.model, Mutation::default());
    Distances::new(&program, &facts).is_some()
}

/// So many, or more with `RSAN_EXTENDED=1`.
fn seeds(some: u64) -> std::ops::Range<u64> {
    let extended = std::env::var("RSAN_EXTENDED").is_ok_and(|value| value != "0");
    0..if extended { some * 50 } else { some }
}

#[derive(Default, Debug)]
struct Tally {
    questions: u32,
    faulty: u32,
    with_groups: u32,
    /// With a proof that has another number of states than without distances.
    proved_otherwise: u32,
}

/// Everything in one search that keeps all there is.
fn exact() -> Mutation {
    Mutation {
        all_at_once: true,
        ..Mutation::default()
    }
}

/// Compares the answers with those of a search that keeps everything.
fn compare(range: std::ops::Range<u64>, loops: Loops) -> Tally {
    let numbers = Mutation {
        without_distances: true,
        ..apart()
    };
    let mut tally = Tally::default();
    for case in range.flat_map(|seed| cases(seed, loops)) {
        let groups = has_groups(&case);
        for property in Property::ALL {
            let (fault, some) = decide(&case, property, apart());
            let (expected, _) = decide(&case, property, exact());
            // Of faults at the end of equally long schedules another one may be found.
            let name = &case.name;
            assert_eq!(fault.is_some(), expected.is_some(), "{name} {property}");
            tally.questions += 1;
            tally.faulty += u32::from(fault.is_some());
            tally.with_groups += u32::from(groups);
            if groups && fault.is_none() {
                let (_, all) = decide(&case, property, numbers);
                tally.proved_otherwise += u32::from(some.states != all.states);
            }
        }
    }
    println!("{tally:?}");
    tally
}

#[test]
fn distances_change_no_answer() {
    // Endless programs have by far the most states.
    let kinds = [
        (Loops::None, seeds(60)),
        (Loops::Bounded, seeds(60)),
        (Loops::Endless, 0..60),
    ];
    for (loops, seeds) in kinds {
        let tally = compare(seeds, loops);
        assert!(tally.faulty > 20 && tally.with_groups > 20, "{tally:?}");
        assert!(tally.proved_otherwise > 10, "{tally:?}");
    }
}

#[test]
fn searches_that_keep_distances_agree_with_the_oracle() {
    let limits = Limits {
        max_graphs: 20_000,
        ..Limits::default()
    };
    let (mut robust, mut faulty, mut with_groups) = (0, 0, 0);
    for case in seeds(150).flat_map(|seed| cases(1_000_000 + seed, Loops::None)) {
        let oracle = robustness(&case.program, case.model, &limits).expect("it suits the model");
        if oracle.robust && oracle.cut.is_some() {
            continue;
        }
        let (fault, _) = decide(&case, Property::Robust, apart());
        assert_eq!(fault.is_some(), !oracle.robust, "{}", case.name);
        robust += u32::from(oracle.robust);
        faulty += u32::from(!oracle.robust);
        with_groups += u32::from(has_groups(&case));
    }
    println!("{robust} robust, {faulty} not, {with_groups} with groups");
    assert!(robust > 20 && faulty > 10 && with_groups > 20);
}

fn tpl(text: &str) -> Case {
    let source = Source::new("handmade.tpl", text.to_owned());
    Case {
        name: text.to_owned(),
        model: Model::Rc20,
        program: rsan_lang::parse(&source, Format::Tpl)
            .unwrap_or_else(|e| panic!("{}", e.render(&source, false))),
    }
}

/// A thread that does this and may show it by store buffering: `SHOW` is its half.
fn shown(globals: &str, does: &str) -> String {
    let does = does.replace("SHOW", "x.store(1, rel); d = y.load(acq);");
    format!(
        "{globals}, x, y;\nfn t {{ local a, b, d; while (true) {{ {does} }} }}\n\
         fn u {{ local d; while (true) {{ y.store(1, rel); d = x.load(acq); }} }}\n"
    )
}

/// A ticket that was larger before, which happens only when tickets begin again.
fn tickets(last: u32, guard: &str) -> Case {
    let globals = format!("max_value {last};\nglobal p");
    let does = "a = p.load(acq); GUARD p.store(a + 1, rel); b = p.load(acq); if (b < a) { SHOW }";
    tpl(&shown(&globals, &does.replace("GUARD", guard)))
}

/// Programs that show something only by what makes F21 careful.
pub(super) fn handmade() -> Vec<Case> {
    let late = "max_value 20;\nglobal p, q = 2, x, y, z;\n\
        fn t { local a, b, d; a = p.load(acq); b = q.load(acq); wait(z, 1, acq); \
        if (a < b) { x.store(1, rel); d = y.load(acq); } BCAS(p, a, a + 1, acq, rel); }\n\
        fn u { local d, e, n; while (n < 5) { n = n + 1; e = FADD(p, 1, acq, rel); } \
        z.store(1, rel); y.store(1, rel); d = x.load(acq); }\n";
    vec![
        tickets(5, ""),
        // All of them sink, and the first to begin again is larger than the others for a moment.
        tpl(&shown(
            "max_value 5;\nglobal p = 2, q = 2",
            "a = p.load(acq); a = a - 1; p.store(a, rel); b = q.load(acq); if (b < a) { SHOW } \
             b = b - 1; q.store(b, rel);",
        )),
        tpl(&shown(
            "max_value 8;\nglobal p",
            "a = p.load(acq); assume(a < 6); p.store(a + 1, rel); if (a >= 4) { SHOW }",
        )),
        tpl(&shown(
            "max_value 8;\nglobal p",
            "oneof ({ a = p.load(acq); assume(a < 6); p.store(a + 1, rel); } \
             { a = p.load(acq); assume(a >= 4); SHOW });",
        )),
        tpl(late),
    ]
}

#[test]
fn what_shows_only_without_distances_is_found() {
    for case in handmade() {
        for mutation in [apart(), exact()] {
            let (fault, _) = decide(&case, Property::Robust, mutation);
            assert_eq!(fault, Some("weak-behaviour"), "{}", case.name);
        }
    }
}

#[test]
fn values_that_begin_again_are_no_distances() {
    for (last, guard, groups) in [
        (5, "assume(a < 4);", true),
        (5, "assume(a < 5);", true),
        // 5 is the last value, and 0 follows.
        (5, "assume(a < 6);", false),
        (5, "", false),
        (5, "assume(a != 4);", false),
    ] {
        let case = tickets(last, guard);
        assert_eq!(has_groups(&case), groups, "{guard}");
        let (fault, _) = decide(&case, Property::Robust, apart());
        let (expected, _) = decide(&case, Property::Robust, exact());
        assert_eq!(fault, expected, "{guard}");
    }
}

#[test]
fn values_that_are_used_otherwise_are_no_distances() {
    let using = |what: &str| {
        tpl(&format!(
            "max_value 20;\nglobal p, z;\nfn t {{ local a, b; while (true) {{ a = p.load(acq); \
             b = p.load(acq); {what} assume(a < 10); p.store(a + 1, rel); }} }}\n\
             fn u {{ local a; a = p.load(acq); }}\n"
        ))
    };
    for what in [
        "",
        "assert(a <= b);",
        "if (a == 3) { z.store(1, rel); }",
        "z.store(b - a, rel);",
    ] {
        assert!(has_groups(&using(what)), "{what}");
    }
    for what in [
        "assert(a < 10);",
        "z.store(a & 1, rel);",
        "p.store(0, rel);",
        "z.store(a + b, rel);",
        "b = a * 2;",
        "CAS(p, 3, 4, acq, rel);",
        "wait(p, 3, acq);",
        "BCAS(p, a + 1, a + 1, acq, rel);",
    ] {
        assert!(!has_groups(&using(what)), "{what}");
    }
}

/// What is taken for less than a counter by more than it ever was at first keeps its own value.
#[test]
fn what_is_less_than_a_counter_ever_was_is_not_forgotten() {
    let text = "max_value 7;\nglobal c = 1, x, y, z;\n\
        fn t { local r, d; r = 0; wait(z, 1, rlx); if (r == 0) { x.store(1, rlx); d = y.load(rlx); } \
        BCAS(c, r, 5, acq, rel); }\n\
        fn u { local d; d = FADD(c, 1, acq, rel); z.store(1, rlx); y.store(1, rlx); d = x.load(rlx); }\n";
    let case = tpl(text);
    let (fault, _) = decide(&case, Property::Robust, apart());
    assert_eq!(fault, Some("weak-behaviour"));
}

/// A register that may be stale is used by a branch although nothing else is known about it.
#[test]
fn what_is_forgotten_is_still_used() {
    let text = "max_value 4;\nglobal p = 1, q, x, y;\n\
        fn t0 { local a, b; a = p.load(rlx); b = q.load(acq); a = FADD(p, 1, acq, rlx); \
        if (a < b) { BCAS(p, a, a + 1, acq, rel); } }\n\
        fn t1 { local a; a = p.load(rlx); fence(seq_cst); a = FADD(p, 1, acq, rlx); }\n\
        fn t2 { local a, b; b = p.load(rlx); a = FADD(p, 1, acq, rel); q.store(b + 1, rlx); \
        a = p.load(acq); fence(seq_cst); }\n";
    for model in MODELS {
        let case = Case { model, ..tpl(text) };
        for mutation in [apart(), exact()] {
            let (fault, _) = decide(&case, Property::Observational, mutation);
            assert!(fault.is_some(), "{model}");
        }
    }
}
