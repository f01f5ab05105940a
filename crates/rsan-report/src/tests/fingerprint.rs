//! When findings are the same.

use super::samples::{race, weak};
use crate::document::{Document, Kind};
use crate::fingerprint::{Fingerprint, fingerprints};

fn only(document: &Document) -> Fingerprint {
    let [one] = &fingerprints(document)[..] else {
        panic!("one finding");
    };
    one.clone()
}

#[test]
fn fingerprints_are_a_contract() {
    // They stand in baselines; if they have to change, so has the key.
    assert_eq!(crate::FINGERPRINT_KEY, "rsanFinding/v1");
    assert_eq!(only(&race(0)).as_str(), "eafb2c6dcc7ef129:1");
    assert_eq!(only(&weak()).as_str(), "b0daf07fd65cc287:1");
}

#[test]
fn lines_that_move_and_blanks_that_change_do_not_matter() {
    let mut moved = race(7);
    moved.sources[0].lines[1] = "\tbuffer[tail]  =  v;".to_owned();
    assert_eq!(only(&race(0)), only(&moved));
}

#[test]
fn what_stands_in_a_line_does() {
    let mut other = race(0);
    other.sources[0].lines[1] = "    buffer[tail + 1] = v;".to_owned();
    assert_ne!(only(&race(0)), only(&other));
}

#[test]
fn the_accesses_of_a_race_have_no_order() {
    let mut turned = race(0);
    turned.findings[0].accesses.reverse();
    assert_eq!(only(&race(0)), only(&turned));
    let mut straight = race(0);
    turned.findings[0].kind = Kind::UseAfterFree;
    straight.findings[0].kind = Kind::UseAfterFree;
    assert_ne!(only(&straight), only(&turned));
}

#[test]
fn equal_findings_are_numbered() {
    let mut document = race(0);
    document.findings.push(document.findings[0].clone());
    let [first, second] = &fingerprints(&document)[..] else {
        panic!("two findings");
    };
    assert_eq!(
        first.as_str().strip_suffix(":1"),
        second.as_str().strip_suffix(":2")
    );
    assert!(first.as_str().ends_with(":1"));
}

#[test]
fn a_source_that_is_not_there_is_known_by_its_lines() {
    let (mut here, mut there) = (race(0), race(1));
    here.sources.clear();
    there.sources.clear();
    assert_ne!(only(&here), only(&there));
}
