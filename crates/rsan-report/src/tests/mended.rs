//! Findings that one fix mends: the first in full, the others by their places.

use super::samples::{place, race};
use crate::document::Change;
use crate::{Details, Style, text};

#[test]
fn others_of_the_same_fix_are_named_beside_it() {
    let mut document = race(0);
    let finding = &mut document.findings[0];
    let fix = finding.fix.as_mut().expect("a fix");
    fix.changes = vec![Change::Order {
        event: 3,
        from: "relaxed".to_owned(),
        to: "release".to_owned(),
        location: Some(place("src/queue.c", 11, 5)),
    }];
    let first = finding.clone();
    let mut elsewhere = first.clone();
    elsewhere.location = Some(place("src/queue.c", 15, 3));
    let mut unmended = first.clone();
    unmended.fix = None;
    document.findings.extend([elsewhere, first, unmended]);
    let shown = text(&document, Style::Plain, Details::Short);
    let expected =
        "The same fix is for 2 more findings, -v shows all: src/queue.c:15:3, src/queue.c:14:5\n";
    assert!(shown.contains(expected), "{shown}");
    assert_eq!(shown.matches("data race at").count(), 2, "{shown}");
    let full = text(&document, Style::Plain, Details::Full);
    assert_eq!(full.matches("data race at").count(), 4, "{full}");
    assert_eq!(full.matches("the same as for").count(), 2, "{full}");
}
