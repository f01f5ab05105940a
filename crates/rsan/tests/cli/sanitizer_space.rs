//! The address space of programs: its size does not move, and where it is limited, the sanitizer takes what it needs only.

use crate::common::scratch;
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};

fn program(test: &str) -> Option<String> {
    if gcc_is_missing() {
        return None;
    }
    let folder = scratch(test);
    compile(&folder, &["cc", "-O1", &data("size.c"), "-o", "size"]);
    Some(folder)
}

#[test]
fn the_size_of_a_process_does_not_move() {
    let Some(folder) = program("size") else {
        return;
    };
    let done = run_in(&folder, &["run", "--runs", "3", "--", "./size"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let same = done.stdout.matches("the same: 0 pages more\n").count();
    assert_eq!(same, 3, "{}", done.stdout);
}

#[test]
fn a_limited_address_space_is_the_programs() {
    let Some(folder) = program("limited") else {
        return;
    };
    let before = "ulimit -v 9000000; exec ./size limited";
    for run in [&["./size", "limited"][..], &["sh", "-c", before]] {
        let done = run_in(&folder, &[&["run", "--"], run].concat());
        assert_eq!(done.code, 0, "{run:?}: {}{}", done.stdout, done.stderr);
    }
}
