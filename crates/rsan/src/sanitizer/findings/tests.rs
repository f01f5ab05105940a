//! When two findings are one.

use super::*;
use rsan_report::document::{Role, Severity};

fn access(role: Role, line: Option<u32>) -> Access {
    let frame = |line| Frame {
        file: Some("a.c".to_owned()),
        line: Some(line),
        ..Frame::default()
    };
    Access {
        role,
        thread: None,
        name: None,
        operation: "write".to_owned(),
        order: None,
        value: None,
        stack: line.map(frame).into_iter().collect(),
        created: None,
        waits_for: None,
        held_by: None,
        lock: None,
        held: None,
        slept: None,
    }
}

/// A race of two lines on a variable, found in a run.
fn race(run: usize, lines: [Option<u32>; 2], variable: &str) -> Found {
    let mut finding = Finding::new(Kind::DataRace, Severity::Error, String::new());
    finding.memory = Some(Memory::Variable {
        name: Some(variable.to_owned()),
        module: String::new(),
        offset: String::new(),
    });
    finding.accesses = vec![
        access(Role::Access, lines[0]),
        access(Role::Earlier, lines[1]),
    ];
    finding.runs = Some(1);
    Found::new(finding, BTreeSet::from([run]))
}

/// The lines and the number of runs of the findings that are left.
fn left(found: Vec<Found>) -> Vec<([Option<u32>; 2], u64)> {
    let line = |access: &Access| access.stack.first().and_then(|frame| frame.line);
    let lines = |found: &Found| [0, 1].map(|side| line(&found.finding.accesses[side]));
    let all = merged(found);
    let runs = |found: &Found| found.finding.runs.unwrap_or_default();
    all.iter().map(|f| (lines(f), runs(f))).collect()
}

#[test]
fn a_race_that_lacks_a_place_is_part_of_the_one_that_has_it() {
    let found = vec![
        race(1, [Some(5), None], "x"),
        race(2, [Some(5), Some(7)], "x"),
        race(3, [Some(7), Some(5)], "x"),
        race(4, [Some(7), None], "x"),
    ];
    assert_eq!(left(found), [([Some(5), Some(7)], 4)]);
}

#[test]
fn races_that_lack_the_same_place_are_one() {
    let found = vec![
        race(1, [Some(5), None], "x"),
        race(2, [Some(5), None], "x"),
        race(3, [Some(9), None], "x"),
    ];
    assert_eq!(left(found), [([Some(5), None], 2), ([Some(9), None], 1)]);
}

#[test]
fn races_on_other_memory_stay_apart() {
    let found = vec![
        race(1, [Some(5), None], "y"),
        race(2, [Some(5), Some(7)], "x"),
        race(3, [Some(5), Some(8)], "x"),
    ];
    let apart = [
        ([Some(5), Some(7)], 1),
        ([Some(5), Some(8)], 1),
        ([Some(5), None], 1),
    ];
    assert_eq!(left(found), apart);
}
