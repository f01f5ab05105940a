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
    assert_eq!(tree(&all), "");
}

#[test]
fn a_known_finding_is_no_failure() {
    let mut known = race(0);
    known.findings[0].known = true;
    known.verdict = crate::Judgement::NoFinding;
    assert_eq!(tree(&[known]), "");
}

#[test]
fn what_xml_cannot_have_is_replaced() {
    let mut document = race(0);
    document.subject = "a<\"&>.c".to_owned();
    document.findings[0].message = "bell \u{7}, line\nbreak, \u{ffff}".to_owned();
    document.notes = vec!["]]> \u{1b}[1m".to_owned()];
    let text = crate::junit(&[document]);
    let xml = Xml::parse(&text).expect("XML");
    let failure = xml.descendants().find(|node| node.has_tag_name("failure"));
    let message = failure.and_then(|node| node.attribute("message"));
    assert_eq!(message, Some("bell \u{fffd}, line\nbreak, \u{fffd}"));
    let suite = xml
        .descendants()
        .find(|node| node.has_tag_name("testsuite"));
    let name = suite.and_then(|node| node.attribute("name"));
    assert_eq!(name, Some("a<\"&>.c"));
}
