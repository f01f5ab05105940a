//! What weak executions show of named programs, and what they leave out: the golden file `weak-fragment.txt` names it.
//! `RSAN_BLESS=1` rewrites that file.

mod common;

use common::{assert_none, check_all, files, is_loop_free, read};
use rsan_axioms::{Limits, Stop};
use rsan_crosscheck::tables;
use rsan_crosscheck::weak::{Mode, Outcome, atomic, executions, expected};
use rsan_lang::mini;
use rsan_model::{Program, Source, Value};
use rsan_weak::Engine;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Steps and graphs of a program after which it counts as too large.
const LARGEST: u64 = 4_000;

/// The same for graphs of programs with loops, most of which have no bound.
const LARGEST_WITH_LOOPS: u64 = 1_000;

fn limits(program: &Program) -> Limits {
    Limits {
        max_graphs: match is_loop_free(program) {
            true => LARGEST,
            false => LARGEST_WITH_LOOPS,
        },
        ..Limits::default()
    }
}

/// How an execution ended: registers and memory, and where threads stopped.
fn state(outcome: &Outcome) -> String {
    let mut text: Vec<String> = Vec::new();
    for (t, stop) in outcome.stops.iter().enumerate() {
        let registers: Vec<String> = outcome.registers[t].iter().map(Value::to_string).collect();
        let stop = match stop {
            Stop::Ended => String::new(),
            stop => format!(" {stop:?}"),
        };
        text.push(format!("{}{stop}", registers.join(" ")));
    }
    let memory: Vec<String> = outcome.memory.iter().map(Value::to_string).collect();
    format!("{} | {}", text.join(", "), memory.join(" "))
}

fn states<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> BTreeSet<String> {
    outcomes.into_iter().map(state).collect()
}

/// A line of the golden file, or what is wrong.
fn line(name: &str, program: &Program) -> Result<String, String> {
    let expected = match expected(program, &limits(program)) {
        Ok(expected) if expected.cut => return Ok(format!("{name}: not bounded, or too large")),
        Ok(expected) if expected.racy => return Ok(format!("{name}: data race")),
        Ok(expected) => expected,
        Err(error) => return Ok(format!("{name}: {error}")),
    };
    let mode = Mode {
        summary: true,
        ..Mode::default()
    };
    let shown = executions(&atomic(program.clone()), Engine::default(), mode, LARGEST);
    if shown.cut {
        return Ok(format!("{name}: too many schedules"));
    }
    let (shown, inside) = (states(&shown.outcomes), states(&expected.inside));
    if shown != inside {
        let forbidden: Vec<_> = shown.difference(&inside).collect();
        let missing: Vec<_> = inside.difference(&shown).collect();
        return Err(format!(
            "{name}: forbidden {forbidden:?}, missing {missing:?}"
        ));
    }
    let outside = states(&expected.outside);
    let outside: Vec<_> = outside.difference(&inside).cloned().collect();
    let count = inside.len();
    Ok(match outside.is_empty() {
        true => format!("{name}: {count} final states"),
        false => format!(
            "{name}: {count} final states; not shown: {}",
            outside.join("; ")
        ),
    })
}

/// The corpus, then the named tests.
fn programs() -> Vec<(String, Program)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let corpus = files(&root).into_iter().map(|path| {
        let name = path.strip_prefix(&root).expect("below the root");
        let name = name.to_string_lossy().replace('\\', "/");
        (name, read(&path).0)
    });
    let tables = tables::rows(true).map(|row| (row.name.to_owned(), row.program()));
    corpus.chain(tables).collect()
}

#[test]
fn final_states_are_those_of_the_fragment() {
    let programs = programs();
    let lines = rsan_crosscheck::on_all_cores(&programs, |(name, program)| line(name, program));
    let (lines, wrong): (Vec<_>, Vec<_>) = lines.into_iter().partition(Result::is_ok);
    assert_none(
        &wrong
            .into_iter()
            .filter_map(Result::err)
            .collect::<Vec<_>>(),
    );
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    let text = lines.join("\n") + "\n";
    let golden: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/weak-fragment.txt");
    if std::env::var_os("RSAN_BLESS").is_some() {
        std::fs::write(&golden, &text).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(&golden).expect("the golden file");
    assert_eq!(text, expected, "RSAN_BLESS=1 rewrites it");
    let outside: Vec<&String> = lines.iter().filter(|l| l.contains("not shown")).collect();
    let names = ["RWC+sc:", "SB+sc against po-rf:"];
    for name in names {
        assert!(outside.iter().any(|line| line.starts_with(name)), "{name}");
    }
}

/// Name, program, registers of each thread and values of locations (`_` for any), and whether it is shown.
#[rustfmt::skip] // one row, one line
const BEHAVIOURS: &[(&str, &str, &str, bool)] = &[
    ("SB", "st.rlx x 1; ld.rlx r0 y ‖ st.rlx y 1; ld.rlx r0 x", "0, 0 | _ _", true),
    ("SB+fences", "st.rlx x 1; fence.sc; ld.rlx r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x", "0, 0 | _ _", false),
    ("MP", "st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; ld.rlx r1 x", ", 1 0 | _ _", true),
    ("MP+fences", "st.rlx x 1; fence.rel; st.rlx y 1 ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x", ", 1 0 | _ _", false),
    ("LB", "ld.rlx r0 x; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 1", "1, 1 | _ _", false),
    ("2+2W", "st.rlx x 1; st.rlx y 2 ‖ st.rlx y 1; st.rlx x 2", ", | 1 1", true),
    ("2+2W+fences", "st.rlx x 1; fence.sc; st.rlx y 2 ‖ st.rlx y 1; fence.sc; st.rlx x 2", ", | 1 1", false),
    ("R", "st.rlx x 1; st.rlx y 1 ‖ st.rlx y 2; ld.rlx r0 x", ", 0 | 1 2", true),
    ("R+fences", "st.rlx x 1; fence.sc; st.rlx y 1 ‖ st.rlx y 2; fence.sc; ld.rlx r0 x", ", 0 | 1 2", false),
    ("S", "st.rlx x 2; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 1", ", 1 | 2 1", true),
    ("S+fences", "st.rlx x 2; fence.sc; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc; st.rlx x 1", ", 1 | 2 1", false),
    ("RWC", "st.rlx x 1 ‖ ld.rlx r0 x; ld.rlx r1 y ‖ st.rlx y 1; ld.rlx r0 x", ", 1 0, 0 | _ _", true),
    ("RWC+fences", "st.rlx x 1 ‖ ld.rlx r0 x; fence.sc; ld.rlx r1 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x", ", 1 0, 0 | _ _", false),
    ("IRIW", "st.rlx x 1 ‖ ld.acq r0 x; ld.rlx r1 y ‖ ld.acq r0 y; ld.rlx r1 x ‖ st.rlx y 1", ", 1 0, 1 0, | _ _", true),
    ("IRIW+fences", "st.rlx x 1 ‖ ld.rlx r0 x; fence.sc; ld.rlx r1 y ‖ ld.rlx r0 y; fence.sc; ld.rlx r1 x ‖ st.rlx y 1", ", 1 0, 1 0, | _ _", false),
    ("CoRR", "st.rlx x 1 ‖ ld.rlx r0 x; ld.rlx r1 x", ", 1 0 | _", false),
    ("RMW chain", "fadd.rlx r0 x 1 ‖ fadd.rlx r0 x 1 ‖ fadd.rlx r0 x 1", "0, 0, _ | _", false),
    ("CAS that misses", "st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; scas.rlx.rlx r1 x 1 2", ", 1 0 | _ _", true),
    ("release sequence, RMW", "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ", 1, 2 0 | _ _", false),
    ("release sequence, store", "st.rlx x 1; st.rel y 1; st.rlx y 2 ‖ ld.acq r0 y; ld.rlx r1 x", ", 2 0 | _ _", true),
    ("Z6.U", "st.sc x 1; st.rel y 1 ‖ fadd.ar r0 y 1; ld.rlx r1 y ‖ st.sc y 3; ld.sc r0 x", ", 1 3, 0 | 1 3", true),
    ("RWC+sc", "st.sc x 1 ‖ ld.acq r0 x; ld.sc r1 y ‖ st.sc y 1; ld.sc r0 x", ", 1 0, 0 | 1 1", false),
    // mo runs against the order of execution, and with rf and hb in a cycle: the last access comes before the first one.
    ("seqlock, read by RMW", "st.rlx s 1; st.rlx x 1; st.rel s 2 ‖ ld.acq r0 s; ld.rlx r1 x; fadd.rlx r2 s 0", ", 0 1 0 | _ _", true),
];

/// Whether a state is one of a pattern.
fn matches(state: &str, pattern: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        let text = text.replace(',', " , ").replace('|', " | ");
        text.split_whitespace().map(str::to_owned).collect()
    };
    let (state, pattern) = (split(state), split(pattern));
    let fits = |(value, wanted): (&String, &String)| wanted == "_" || value == wanted;
    state.len() == pattern.len() && state.iter().zip(&pattern).all(fits)
}

#[test]
fn behaviours_are_shown_or_not() {
    let wrong = check_all(BEHAVIOURS, |(name, text, pattern, shown)| {
        let source = Source::new(*name, *text);
        let program =
            mini::parse(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        let found = executions(&program, Engine::default(), Mode::default(), LARGEST);
        let states = states(&found.outcomes);
        let any = pattern.replace(|c: char| c.is_ascii_digit(), "_");
        if !states.iter().any(|state| matches(state, &any)) {
            return vec![format!(
                "{name}: the pattern has another shape than {states:?}"
            )];
        }
        match states.iter().any(|state| matches(state, pattern)) == *shown {
            true => Vec::new(),
            false => vec![format!("{name}: {pattern} of {states:?}")],
        }
    });
    assert_none(&wrong);
}
