//! JUnit, read again by a strict parser.

use super::samples::{race, robust, undecided, weak};
use crate::document::Document;
use roxmltree::{Document as Xml, Node};

/// The elements of a report: name, and attributes without times.
fn tree(documents: &[Document]) -> String {
    fn show(node: Node<'_, '_>, depth: usize, out: &mut String) {
        for child in node.children().filter(Node::is_element) {
            *out += &"  ".repeat(depth);
            *out += child.tag_name().name();
            for attribute in child.attributes().filter(|a| a.name() != "time") {
                *out += &format!(" {}={:?}", attribute.name(), attribute.value());
            }
            *out += "\n";
            show(child, depth + 1, out);
        }
    }
    let text = crate::junit(documents);
    let xml = Xml::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let mut out = String::new();
    show(xml.root(), 0, &mut out);
    out
}

#[test]
fn a_document_is_a_suite() {
    let mut known = race(0);
    known.findings.push(known.findings[0].clone());
    known.findings[0].known = true;
    let all = [race(0), weak(), undecided(), robust(), known];
    let expected = r#"testsuites name="rsan" tests="6" failures="3" errors="1" skipped="1"
  testsuite name="src/queue.c" tests="1" failures="1" errors="0" skipped="0"
    testcase classname="src/queue.c" name="data race in get (src/queue.c)" file="src/queue.c" line="14"
      failure type="data-race" message="data race on `buffer[0]`"
  testsuite name="sb.litmus" tests="1" failures="1" errors="0" skipped="0"
    testcase classname="sb.litmus" name="not robust in P1 (sb.litmus)" file="sb.litmus" line="9"
      failure type="weak-behaviour" message="Thread P1 may read 0 from `x`"
  testsuite name="big.litmus" tests="1" failures="0" errors="1" skipped="0"
    testcase classname="big.litmus" name="no finding"
      error type="unknown" message="the limit of 100 states was reached"
    system-out
  testsuite name="mp.litmus" tests="1" failures="0" errors="0" skipped="0"
    testcase classname="mp.litmus" name="no finding"
  testsuite name="src/queue.c" tests="2" failures="1" errors="0" skipped="1"
    testcase classname="src/queue.c" name="data race in get (src/queue.c)" file="src/queue.c" line="14"
      skipped message="known from the baseline: data race on `buffer[0]`"
    testcase classname="src/queue.c" name="data race in get (src/queue.c) #2" file="src/queue.c" line="14"
      failure type="data-race" message="data race on `buffer[0]`"
"#;
    assert_eq!(tree(&all), expected);
}

#[test]
fn a_known_finding_is_no_failure() {
    let mut known = race(0);
    known.findings[0].known = true;
    known.verdict = crate::Judgement::NoFinding;
    let expected = r#"testsuites name="rsan" tests="2" failures="0" errors="0" skipped="1"
  testsuite name="src/queue.c" tests="2" failures="0" errors="0" skipped="1"
    testcase classname="src/queue.c" name="data race in get (src/queue.c)" file="src/queue.c" line="14"
      skipped message="known from the baseline: data race on `buffer[0]`"
    testcase classname="src/queue.c" name="no finding"
"#;
    assert_eq!(tree(&[known]), expected);
}

#[test]
fn what_xml_cannot_have_is_replaced() {
    let mut document = race(0);
    document.subject = "a<\"&>.c".to_owned();
    document.findings[0].message = "bell \u{7}, line\nbreak, \u{ffff}".to_owned();
    document.notes = vec!["]]> \u{1b}[1m".to_owned()];
    let text = crate::junit(&[document]);
    let xml = Xml::parse(&text).expect("XML");
    // The report itself is the text of the failure.
    let text = xml.descendants().find(|node| node.has_tag_name("failure"));
    let text = text.and_then(|node| node.text()).unwrap_or_default();
    assert!(text.starts_with("error: data race"), "{text}");
    let failure = xml.descendants().find(|node| node.has_tag_name("failure"));
    let message = failure.and_then(|node| node.attribute("message"));
    assert_eq!(message, Some("bell \u{fffd}, line\nbreak, \u{fffd}"));
    let suite = xml
        .descendants()
        .find(|node| node.has_tag_name("testsuite"));
    let name = suite.and_then(|node| node.attribute("name"));
    assert_eq!(name, Some("a<\"&>.c"));
}
