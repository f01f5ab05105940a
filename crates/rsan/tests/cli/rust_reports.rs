//! Findings of Rust programs, as Rust users read them: places, names, fixes, and whose findings are shown.

use crate::common::{Run, rsan, scratch, tests_dir};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Checks a program of `tests/data/rust` in a folder of the test's own.
fn check(test: &str, program: &str, options: &[&str]) -> Run {
    let folder = scratch(test);
    fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let source = tests_dir().join("data/rust").join(program);
    fs::copy(&source, Path::new(&folder).join(program)).expect("the program can be copied");
    let mut command = rsan(Path::new(&folder));
    command.env_remove("RSAN_ROOT");
    let words = [&["check"], options, &[program]].concat();
    let output = command.args(words).output();
    output.expect("rsan starts").into()
}

#[test]
fn races_through_the_standard_library_are_at_the_users_line() {
    let options = ["--sched", "pct", "--runs", "1", "-v"];
    let all = check("rust_race", "race.rs", &options);
    for part in [
        // Of memory that a library accesses for the user.
        "error: data race on `race::LOG.len` at race.rs:54:22\n",
        "LOG.push(2)",
        // A member of an element of a static, through a cell.
        "error: data race on `race::SLOTS[1].value` at race.rs:40:14\n",
    ] {
        assert!(all.stdout.contains(part), "no {part:?}\n{}", all.stdout);
    }
    let found = check("rust_race", "race.rs", &options[..4]);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    for part in [
        // A cell on the heap.
        "error: data race at race.rs:55:18\n",
        "fix: make the store at race.rs:31:24 `Release`",
        "The `Relaxed` store of `race::SLOTS[1].state` at race.rs:31:24 does not release",
        "The same fix is for 2 more findings, -v shows all: race.rs:54:22, race.rs:40:14\n",
    ] {
        assert!(found.stdout.contains(part), "no {part:?}\n{}", found.stdout);
    }
    for noise in ["/rustc/", "core/src", "call_once", "::h", "<"] {
        assert!(!found.stdout.contains(noise), "{noise}\n{}", found.stdout);
    }
}

#[test]
fn accesses_of_one_line_are_told_apart_by_columns() {
    let options = ["--sched", "pct", "--seed", "1", "--runs", "60"];
    let found = check("rust_columns", "store_buffering.rs", &options);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    let fences = "fix: put `fence(Ordering::SeqCst)` between store_buffering.rs:6:34 and :6:55 \
                  and between store_buffering.rs:7:34 and :7:55 (";
    for part in [
        fences,
        " from `store_buffering::",
        "'s store at store_buffering.rs:",
    ] {
        assert!(found.stdout.contains(part), "no {part:?}\n{}", found.stdout);
    }
}

#[test]
fn an_operation_that_should_release_and_acquire_is_told_so_once() {
    let options = ["--sched", "random", "--seed", "1", "--runs", "20"];
    let found = check("rust_last_owner", "last_owner.rs", &options);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    let fix = "fix: make the read-modify-write at last_owner.rs:23:22 `AcqRel` (cheapest";
    assert!(found.stdout.contains(fix), "{}", found.stdout);
}

#[test]
fn what_publishes_memory_is_the_fix_for_all_that_is_in_it() {
    let options = ["--sched", "random", "--seed", "1", "--runs", "20"];
    let found = check("rust_header", "header.rs", &options);
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    for part in [
        // Of the atomic counter; that of what is read after the counter was changed has the same fix.
        "data race at header.rs:30:27\n",
        "The same fix is for 1 more finding, -v shows all: header.rs:31:17\n",
        "The `Relaxed` read-modify-write of `header::CHUNK` at header.rs:21:29 does not release",
        "fix: make the read-modify-write at header.rs:21:29 `Release` (cheapest",
    ] {
        assert!(found.stdout.contains(part), "no {part:?}\n{}", found.stdout);
    }
    assert_eq!(
        found.stdout.matches("fix: make").count(),
        1,
        "{}",
        found.stdout
    );
}

#[test]
fn what_lay_on_the_stack_is_no_difference() {
    // A `None` is moved with the bytes that its value would have. With the stale index the program does the same.
    let options = ["--sched", "random", "--seed", "1", "--runs", "20", "-v"];
    let found = check("rust_left_over", "owning_ring.rs", &options);
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    for part in [
        "note: not robust at owning_ring.rs:27:30\n",
        "With the stale value the program goes on as with the current value, with a store",
    ] {
        assert!(found.stdout.contains(part), "no {part:?}\n{}", found.stdout);
    }
}

#[test]
fn findings_of_the_standard_library_are_shown_when_asked_for() {
    let options = [
        "--sched", "random", "--seed", "1", "--runs", "5", "--format", "json",
    ];
    let own = check("rust_standard", "standard.rs", &options);
    assert_eq!(own.code, 0, "{}{}", own.stdout, own.stderr);
    let document: Value = serde_json::from_str(&own.stdout).expect("JSON");
    assert_eq!(document["findings"], Value::Array(Vec::new()));
    let hidden = document["stats"]["in_standard"].as_array();
    let hidden = hidden.expect("there are findings inside the standard library");
    assert!(
        hidden.iter().all(|site| site.to_string().contains("/src/")),
        "{hidden:?}"
    );
    let text = check("rust_standard", "standard.rs", &options[..6]);
    let note = "inside the standard library";
    assert!(text.stdout.contains(note), "{}", text.stdout);

    let all = check(
        "rust_standard",
        "standard.rs",
        &[&options[..], &["--include-std"]].concat(),
    );
    assert_eq!(all.code, 1, "{}{}", all.stdout, all.stderr);
    let document: Value = serde_json::from_str(&all.stdout).expect("JSON");
    let findings = document["findings"].as_array().expect("an array");
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!(finding["kind"], "weak-behaviour", "{finding}");
        assert_eq!(finding["in_libraries"], Value::Null, "{finding}");
    }
    assert!(!all.stdout.contains("/rustc/"), "{}", all.stdout);
}
