//! Verdicts of `verify`.

use super::*;
use crate::{Details, Style, document, dot, json, text};
use rsan_model::{Edge, EvalError, Fault, Reason, StaleAccess};

/// P0 runs, P1 stores and may then read the initial value of `x`.
fn weak() -> Witness {
    let mut graph = Graph::initial([0, 0]);
    let wx = write(&mut graph, 0, 0, X, 1);
    let ry = read(&mut graph, 0, 1, EventId(1));
    let wy = write(&mut graph, 1, 0, Y, 1);
    let rx = read(&mut graph, 1, 1, EventId(0));
    Witness {
        fault: Fault::Weak(StaleAccess {
            access: rx,
            stale: EventId(0),
            stale_value: 0,
            missed: wx,
        }),
        schedule: steps(&graph, rx),
        graph,
        cycle: vec![
            (wy, Edge::Po),
            (rx, Edge::Fr),
            (wx, Edge::Po),
            (ry, Edge::Fr),
        ],
    }
}

fn show(claim: Claim, verdict: &Verdict) -> String {
    full(&store_buffering(), claim, verdict, Style::Plain)
}

fn full(program: &Program, claim: Claim, verdict: &Verdict, style: Style) -> String {
    text(
        &document(&checked(program, claim, verdict)),
        style,
        Details::Full,
    )
}

fn graph_of(program: &Program, claim: Claim, verdict: &Verdict) -> String {
    dot(&document(&checked(program, claim, verdict)))
}

fn faulty(fault: Fault) -> String {
    let mut witness = weak();
    witness.fault = fault;
    witness.cycle.clear();
    show(Claim::Robust, &violation(witness))
}

#[test]
fn a_weak_behaviour_is_shown_in_full() {
    assert_eq!(
        show(Claim::Robust, &violation(weak())),
        r"error: not robust against c20 at sb.litmus:9:12
  |
9 |   int r0 = atomic_load_explicit(x, memory_order_acquire);
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ P1 may read the stale value 0 here
  |
 ::: sb.litmus:4:3
  |
4 |   atomic_store_explicit(x, 1, memory_order_release);
  |   ------------------------------------------------- although P0 wrote 1 here before
  |
  = Thread P1 may read 0 from `x` at sb.litmus:9:12 although P0's store of 1 at sb.litmus:4:3 comes first in every sequentially consistent order

shortest schedule, 3 steps:
  step  thread  at    operation
     1  P0      4:3   store x = 1 (release)  [a]
     2  P0      5:12  load y -> 0 (acquire)  [b]
     3  P1      8:3   store y = 1 (release)  [c]
  weak  P1      9:12  load x -> 0 (acquire)  [d]

cycle that sequential consistency forbids:
  a -po-> b -fr-> c -po-> d -fr-> a
  a  P0  4:3   store x = 1 (release)
  b  P0  5:12  load y -> 0 (acquire)
  c  P1  8:3   store y = 1 (release)
  d  P1  9:12  load x -> 0 (acquire)

sb.litmus: not robust against c20; explored 1,234 states, 2,345 transitions, depth 31, 4.0 KiB of states, 0.01 s
  `rsan fence --diff sb.litmus` finds the cheapest fix
"
    );
}

#[test]
fn proofs_and_open_questions_take_a_line_or_two() {
    let robust = Verdict::Robust;
    assert_eq!(
        show(Claim::Robust, &robust),
        "sb.litmus: robust against c20 (1,234 states, depth 31, 0.01 s)\n"
    );
    assert!(show(Claim::Observational, &robust).contains("observationally robust against c20"));
    assert!(!show(Claim::Safe, &robust).contains("robust"));
    assert_eq!(
        show(Claim::Robust, &Verdict::Unknown(Reason::TimeLimit)),
        "sb.litmus: unknown: the time limit was reached\n  explored 1,234 states, 2,345 transitions, depth \
         31, 4.0 KiB of states, 0.01 s; no violation in what was explored\n"
    );
}

#[test]
fn a_write_that_may_come_too_early_is_worded_as_one() {
    let mut graph = Graph::initial([0, 0]);
    let first = write(&mut graph, 0, 0, X, 1);
    let second = write(&mut graph, 1, 0, X, 2);
    let fault = Fault::Weak(StaleAccess {
        access: second,
        stale: EventId(0),
        stale_value: 0,
        missed: first,
    });
    let witness = Witness {
        fault,
        schedule: steps(&graph, second),
        graph,
        cycle: vec![],
    };
    let shown = show(Claim::Robust, &violation(witness));
    assert!(shown.contains(
        "Thread P1's store of 2 to `x` at sb.litmus:8:3 may take effect before P0's store of 1 at sb.litmus:4:3, \
         which comes first in every"
    ));
    assert!(!shown.contains("cycle"));
}

#[test]
fn an_observed_stale_value_names_its_use() {
    let witness = weak();
    let Fault::Weak(access) = witness.fault else {
        panic!("built as a weak behaviour");
    };
    let user = (ThreadId(1), Pc(0));
    let shown = faulty(Fault::Observed { access, user });
    assert!(shown.starts_with("error: not observationally robust against c20 at sb.litmus:9:12\n"));
    assert!(shown.contains("order, and the value is used at sb.litmus:8:3\n"));
    assert!(shown.contains("P1 uses the value here"));
}

#[test]
fn races_assertions_traps_and_deadlocks_say_where() {
    let race = faulty(Fault::Race {
        first: EventId(2),
        second: EventId(5),
    });
    assert!(race.starts_with("error: data race on `x` at sb.litmus:9:12\n"));
    assert!(
        race.contains(
            "P0's store at sb.litmus:4:3 and P1's load at sb.litmus:9:12 both access `x`"
        )
    );

    let (thread, pc) = (ThreadId(1), Pc(1));
    let assertion = faulty(Fault::Assertion { thread, pc });
    assert!(assertion.contains("The assertion of thread P1 at sb.litmus:9:12 fails"));
    assert!(assertion.contains("^ does not hold when P1 comes here"));

    let error = EvalError::DivisionByZero;
    let trap = faulty(Fault::Trap { thread, pc, error });
    assert!(trap.contains("Thread P1 cannot go on at sb.litmus:9:12: division by zero\n"));

    let deadlock = faulty(Fault::Deadlock {
        blocked: vec![(ThreadId(0), Pc(1)), (thread, pc)],
    });
    assert!(deadlock.contains("No thread can move: P0, P1 cannot end\n"));
    assert!(deadlock.contains("::: sb.litmus:9:12"));
}

#[test]
fn programs_without_a_source_are_reported_too() {
    let mut program = store_buffering();
    program.source = None;
    let verdict = violation(weak());
    let shown = full(&program, Claim::Robust, &verdict, Style::Plain);
    assert!(shown.contains("Thread P1 may read 0 from `x` although P0's store of 1 comes first"));
    assert!(shown.contains("     1  P0      -   store x = 1 (release)"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let program = store_buffering();
    let verdict = violation(weak());
    let colored = full(&program, Claim::Robust, &verdict, Style::Color);
    assert!(colored.contains("\x1b[1;31merror\x1b[0m"));
    let mut plain = String::new();
    for (i, part) in colored.split("\x1b[").enumerate() {
        plain.push_str(if i == 0 {
            part
        } else {
            part.split_once('m').expect("a colour ends with m").1
        });
    }
    assert_eq!(plain, full(&program, Claim::Robust, &verdict, Style::Plain));
}

#[test]
fn json_has_the_documented_fields() {
    let program = store_buffering();
    let verdict = violation(weak());
    let doc = document(&checked(&program, Claim::Robust, &verdict));
    let text = json(std::slice::from_ref(&doc), false);
    let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(value["schema"], "rsan/2");
    assert_eq!(value["command"], "verify");
    assert_eq!(value["subject"], "sb.litmus");
    assert_eq!(value["verdict"], "violation");
    let finding = &value["findings"][0];
    assert_eq!(finding["kind"], "weak-behaviour");
    assert_eq!(finding["property"], "robustness");
    assert_eq!(finding["location"]["line"], 9);
    assert_eq!(finding["location"]["column"], 12);
    assert_eq!(finding["related"][0]["location"]["line"], 4);
    assert_eq!(finding["execution"]["stale"]["value"], 0);
    assert_eq!(
        finding["execution"]["schedule"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(finding["execution"]["cycle"][0]["edge"], "po");
    assert_eq!(finding["execution"]["rf"][0], serde_json::json!([1, 3]));
    assert_eq!(
        finding["execution"]["mo"][0]["writes"],
        serde_json::json!([0, 2])
    );
    assert_eq!(value["stats"]["states"], 1234);
    let again: crate::Document = serde_json::from_str(&text).expect("a document");
    assert_eq!(again, doc, "documents are read back");
    let several = json(&[doc.clone(), doc], true);
    assert!(several.starts_with("[\n") && several.ends_with("]\n"));
}

#[test]
fn only_a_proof_of_robustness_is_robust() {
    let program = store_buffering();
    let verdict = |claim| {
        let doc = document(&checked(&program, claim, &Verdict::Robust));
        serde_json::to_value(&doc).expect("a JSON value")["verdict"].clone()
    };
    assert_eq!(verdict(Claim::Robust), "robust");
    assert_eq!(verdict(Claim::Observational), "robust");
    assert_eq!(verdict(Claim::Safe), "no-finding");
}

#[test]
fn unknown_documents_say_why() {
    let program = store_buffering();
    let verdict = Verdict::Unknown(Reason::MemoryLimit);
    let doc = document(&checked(&program, Claim::Robust, &verdict));
    let value = serde_json::to_value(&doc).expect("a JSON value");
    assert_eq!(value["verdict"], "unknown");
    assert_eq!(value["notes"][0], "the memory limit was reached");
    assert_eq!(value["findings"], serde_json::json!([]));
}

#[test]
fn the_graph_marks_the_cycle() {
    let program = store_buffering();
    let verdict = violation(weak());
    let graph = graph_of(&program, Claim::Robust, &verdict);
    assert!(graph.starts_with("digraph \"sb.litmus\" {\n"));
    assert!(graph.contains("subgraph cluster_0 {\n    label=\"P0\""));
    assert!(graph.contains("e2 [label=\"a: store x = 1 (release)\\n4:3\", penwidth=2.5];"));
    assert!(graph.contains(
        "e5 -> e2 [color=firebrick, fontcolor=firebrick, label=\"fr x\", constraint=false, style=bold, \
         penwidth=2.5];"
    ));
    assert!(graph.contains("e0 -> e5 [color=forestgreen, fontcolor=forestgreen, label=\"rf x\""));
    assert_eq!(graph.matches('{').count(), graph.matches('}').count());
    let robust = graph_of(&program, Claim::Robust, &Verdict::Robust);
    assert_eq!(robust, "// sb.litmus: robust, no graph to show\n");
    let safe = graph_of(&program, Claim::Safe, &Verdict::Robust);
    assert_eq!(safe, "// sb.litmus: no-finding, no graph to show\n");
}

#[test]
fn names_cannot_break_out_of_a_graph() {
    let mut program = store_buffering();
    program.threads[0].name = "a\"\\\n".into();
    let verdict = violation(weak());
    let graph = graph_of(&program, Claim::Robust, &verdict);
    assert!(graph.contains(r#"label="a\"\\\n"; color"#));
}
