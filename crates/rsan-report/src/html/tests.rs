//! The page: well-formed, complete, and harmless whatever documents say.

mod check;

use super::html;
use crate::document::{Document, Finding};
use check::check;
use serde_json::{Value, json};

fn document(value: Value) -> Document {
    serde_json::from_value(value).expect("a document")
}

fn event(
    thread: Option<&str>,
    operation: &str,
    location: &str,
    value: (Option<i64>, Option<i64>),
) -> Value {
    json!({
        "thread": thread, "operation": operation, "location": location, "read": value.0, "written": value.1,
        "line": thread.map(|_| 4), "column": thread.map(|_| 3), "order": thread.map(|_| "release"),
    })
}

fn finding(kind: &str, execution: Option<Value>) -> Value {
    json!({
        "kind": kind, "severity": "warning", "property": "robustness", "message": "thread P1 may read 0 from `x`",
        "thread": "P1", "location": {"file": "sb.c", "line": 2, "column": 3, "end_line": 2, "end_column": 8},
        "label": "may read 0 here", "execution": execution,
        "related": [{"message": "although P0 wrote 1 here", "location": {"file": "sb.c", "line": 4}}],
        "fix": {"message": "make both loads seq_cst", "checked": "checked for these accesses"},
    })
}

fn with(findings: Vec<Value>) -> Value {
    let lines: Vec<String> = (1..=9).map(|n| format!("  line({n});")).collect();
    json!({
        "schema": "rsan/2", "command": "verify", "subject": "sb.c", "verdict": "violation", "model": "c20",
        "findings": findings, "stats": {"seconds": 0.5, "states": 1234},
        "sources": [{"file": "sb.c", "first": 1, "lines": lines}],
    })
}

/// Store buffering: P0 runs, then P1, whose load misses P0's store.
fn store_buffering() -> Value {
    let step = |thread: &str, event: u32| json!({"thread": thread, "kind": "access", "event": event, "operation": "op"});
    json!({
        "events": [
            event(None, "initial x = 0", "x", (None, Some(0))),
            event(None, "initial y = 0", "y", (None, Some(0))),
            event(Some("P0"), "store x = 1 (release)", "x", (None, Some(1))),
            event(Some("P0"), "load y -> 0 (release)", "y", (Some(0), None)),
            event(Some("P1"), "store y = 1 (release)", "y", (None, Some(1))),
            event(Some("P1"), "load x -> 0 (release)", "x", (Some(0), None)),
        ],
        "rf": [[1, 3], [0, 5]],
        "mo": [{"location": "x", "writes": [0, 2]}, {"location": "y", "writes": [1, 4]}],
        "schedule": [step("P0", 2), step("P0", 3), step("P1", 4)],
        "cycle": [{"event": 2, "edge": "po"}, {"event": 3, "edge": "fr"}, {"event": 4, "edge": "po"}, {"event": 5, "edge": "fr"}],
        "stale": {"access": 5, "missed": 2, "write": 0, "value": 0},
    })
}

fn page(value: Value) -> String {
    let page = html(&[document(value)]);
    check(&page);
    page
}

#[test]
fn the_cycle_is_drawn_and_named() {
    let page = page(with(vec![finding(
        "weak-behaviour",
        Some(store_buffering()),
    )]));
    for edge in [
        r#"<g class="edge po on-cycle" data-from="2" data-to="3">"#,
        r#"<g class="edge fr on-cycle" data-from="3" data-to="4">"#,
        r#"<g class="edge po on-cycle" data-from="4" data-to="5">"#,
        r#"<g class="edge fr on-cycle" data-from="5" data-to="2">"#,
        // The initial values that are read.
        r#"<g class="edge rf" data-from="1" data-to="3">"#,
        r#"<g class="edge rf" data-from="0" data-to="5">"#,
    ] {
        assert_eq!(page.matches(edge).count(), 1, "{edge}");
    }
    assert!(page.contains("a -po-&gt; b -fr-&gt; c -po-&gt; d -fr-&gt; a"));
    assert!(page.contains(r#"<g class="event on-cycle weak" data-event="5""#));
    assert!(!page.contains("edge mo"), "it follows from the rest");
    // What is in memory after each step, and the access that no step shows.
    assert!(page.contains("<code>x=1 y=0</code>") && page.contains("<code>x=1 y=1</code>"));
    assert!(page.contains("<td>weak</td>"));
}

#[test]
fn both_places_are_shown_with_what_happens_there() {
    let page = page(with(vec![finding("weak-behaviour", None)]));
    assert!(page.contains("<mark>line(</mark>"), "{page}");
    assert!(page.contains("may read 0 here") && page.contains("although P0 wrote 1 here"));
    assert_eq!(page.matches("<figure class=\"source").count(), 2);
    assert!(page.contains("<strong>Fix:</strong> make both loads seq_cst"));
}

#[test]
fn delayed_stores_wait_in_buffers() {
    let step = |thread: &str, kind: &str, event: u32| json!({"thread": thread, "kind": kind, "event": event, "operation": "op"});
    let execution = json!({
        "events": [
            event(Some("P0"), "store x = 1", "x", (None, Some(1))),
            event(Some("P0"), "load y -> 0", "y", (Some(0), None)),
            event(Some("P1"), "store y = 1", "y", (None, Some(1))),
            event(Some("P1"), "load x -> 0", "x", (Some(0), None)),
        ],
        "schedule": [
            step("P0", "access", 0), step("P0", "access", 1), step("P1", "access", 2),
            step("P1", "flush", 2), step("P1", "access", 3), step("P0", "flush", 0),
        ],
        "cycle": [{"event": 0, "edge": "po"}, {"event": 1, "edge": "fr"}, {"event": 2, "edge": "po"}, {"event": 3, "edge": "fr"}],
        "delay": {"store": 0, "load": 1},
    });
    let page = page(with(vec![finding("weak-behaviour", Some(execution))]));
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| {
            line.starts_with("<tr class=\"access") || line.starts_with("<tr class=\"flush")
        })
        .collect();
    assert_eq!(rows.len(), 6);
    assert!(
        rows[2].ends_with("<td><code></code></td><td><code>P0: x=1; P1: y=1</code></td></tr>"),
        "{}",
        rows[2]
    );
    assert!(
        rows[3].ends_with("<td><code>y=1</code></td><td><code>P0: x=1</code></td></tr>"),
        "{}",
        rows[3]
    );
    assert!(
        rows[5].ends_with("<td><code>x=1 y=1</code></td><td><code></code></td></tr>"),
        "{}",
        rows[5]
    );
    assert_eq!(page.matches("<g class=\"flush\"").count(), 2);
}

#[test]
fn what_does_not_matter_is_left_out_of_long_executions() {
    let mut execution = store_buffering();
    let events = execution["events"].as_array_mut().expect("events");
    events.extend((0..300).map(|_| event(Some("P2"), "load z -> 0", "z", (Some(0), None))));
    let page = page(with(vec![finding("weak-behaviour", Some(execution))]));
    assert!(page.contains("⋯ 300 events not drawn ⋯"));
    assert_eq!(page.matches("on-cycle\" data-from").count(), 4);
}

#[test]
fn hostile_documents_make_a_harmless_page() {
    let hostile = "</script></style><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{0}\u{1b}[31m\u{202e}&amp;";
    let execution = json!({
        "events": [
            {"thread": hostile, "operation": hostile, "location": hostile, "order": hostile, "stack": [{"function": hostile, "file": hostile, "line": 4_000_000_000_u32}]},
        ],
        "rf": [[7, 0], [0, 9]],
        "mo": [{"location": hostile, "writes": [0, 12, 4_000_000_000_u32]}],
        "schedule": [{"thread": hostile, "kind": "flush", "event": 99, "operation": hostile}, {"thread": hostile, "kind": "access", "event": null, "operation": hostile}],
        "cycle": [{"event": 0, "edge": "po"}, {"event": 70, "edge": "fr"}],
        "stale": {"access": 8, "missed": 9, "write": 10, "value": null},
        "delay": {"store": 11, "load": 12},
    });
    let mut all = finding("data-race", Some(execution));
    all["message"] = json!(hostile);
    all["label"] = json!(hostile);
    all["location"] =
        json!({"file": hostile, "line": 1, "column": 0, "end_line": 0, "end_column": 0});
    all["recorded"] = json!({"file": hostile, "command": hostile});
    all["accesses"] = json!([{"role": "access", "thread": hostile, "name": hostile, "operation": hostile, "order": hostile, "value": hostile,
        "stack": [{"function": hostile, "file": null, "line": null, "column": null, "module": hostile, "offset": hostile, "library": hostile}],
        "created": null, "held": [{"lock": hostile, "mode": "read", "stack": []}]}]);
    let mut value = with(vec![all]);
    value["subject"] = json!(hostile);
    value["notes"] = json!([hostile]);
    value["diff"] = json!(format!("+{hostile}\n-{hostile}\n"));
    value["sources"] = json!([
        {"file": hostile, "first": 1, "lines": [format!("{hostile}{}", "x".repeat(100_000))]},
        {"file": hostile, "first": u32::MAX, "lines": ["a", "b"]},
    ]);
    let page = page(value);
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("</script>").count(), 1);
    assert_eq!(page.matches("<img").count(), 0);
    assert!(page.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(!page.contains('\u{202e}'));
    assert!(page.len() < 200_000, "{}", page.len());
}

#[test]
fn nothing_is_fetched() {
    let page = page(with(vec![finding(
        "weak-behaviour",
        Some(store_buffering()),
    )]));
    for way in [
        "src=", "url(", "@import", "http:", "https:", "<link", "fetch(", "XMLHttp", "import(",
    ] {
        assert!(!page.contains(way), "{way}");
    }
    assert!(page.contains("Content-Security-Policy\" content=\"default-src &#39;none&#39;;"));
}

#[test]
fn findings_in_libraries_are_apart() {
    let mut library = finding("data-race", None);
    library["in_libraries"] = json!(true);
    let page = page(with(vec![library, finding("weak-behaviour", None)]));
    let folded = page
        .find("<details class=\"libraries\">")
        .expect("a part of its own");
    assert!(page.find("id=\"d0f1\"").expect("the user's own") < folded);
    assert!(page.find("id=\"d0f0\"").expect("the library's") > folded);
}

#[test]
fn states_repairs_and_diffs_are_tables() {
    let mut value = with(Vec::new());
    value["litmus"] = json!({
        "name": "SB", "observed": ["0:r0", "1:r0"], "data_race": true, "cut_at": 3,
        "condition": {"quantifier": "exists", "text": "exists (0:r0=0)", "holds": true, "satisfied": 1, "unsatisfied": 3, "observation": "Sometimes"},
        "states": [{"values": {"0:r0": 0, "1:r0": 7}, "executions": 1, "satisfies": true}],
    });
    value["repair"] = json!({"target": "armv8", "cost": 8, "changes": [
        {"kind": "order", "thread": "P0", "location": {"file": "sb.c", "line": 2}, "from": "release", "to": "seq_cst", "cost": 4,
         "message": "thread P0 may read 0", "forbids": store_buffering()},
        {"kind": "fence", "thread": "P1", "location": null, "state": "q3", "to": "seq_cst", "cost": 4},
    ]});
    value["diff"] = json!("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n");
    let page = page(value);
    assert!(page.contains("<td class=\"figure\">7</td>"));
    assert!(page.contains("release → seq_cst") && page.contains("a seq_cst fence before it"));
    assert!(page.contains("<span class=\"minus\">-old\n</span><span class=\"plus\">+new\n</span>"));
    assert_eq!(page.matches("<svg class=\"graph\"").count(), 1);
}

/// 500 findings in a source of 10,000 lines: the page has what is near each place, and no more.
#[test]
fn big_documents_make_pages_of_bounded_size() {
    let one: Finding = serde_json::from_value(finding("weak-behaviour", Some(store_buffering())))
        .expect("a finding");
    let mut big = document(with(Vec::new()));
    big.sources[0].lines = (1..=10_000).map(|n| format!("    x = {n};")).collect();
    for n in 0..500 {
        let mut finding = one.clone();
        if let Some(place) = &mut finding.location {
            place.line = Some(1 + n * 19);
            place.end_line = None;
        }
        big.findings.push(finding);
    }
    let page = html(&[big]);
    check(&page);
    assert!(page.contains("class=\"many\""));
    assert!(page.len() < 12 << 20, "{}", page.len());
}
