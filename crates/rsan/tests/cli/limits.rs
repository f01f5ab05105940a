//! Limits end what would take too long, and say so: time, memory, steps, and the user.

use crate::common::{Run, rsan, run, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder of the test's own with `long`, built.
fn built(test: &str) -> String {
    let folder = scratch(&format!("limits-{test}"));
    let source = data("scheduled/long.c");
    compile(
        &folder,
        &["cc", "-g", "-O1", "-pthread", "-o", "long", &source],
    );
    folder
}

fn run_line(folder: &str, line: &str) -> Run {
    run_in(folder, &line.split(' ').collect::<Vec<_>>())
}

#[test]
fn an_exploration_ends_at_its_time_limit() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("time");
    for what in ["contend", "poll", "count"] {
        let line = format!("run --exhaustive --time-limit 2s -- ./long {what}");
        let run = run_line(&folder, &line);
        assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
        let first = run.stdout.lines().next().expect("an answer");
        let said = [
            "the time limit was reached",
            "not all executions were explored: ",
        ];
        assert!(said.iter().all(|s| first.contains(s)), "{first}");
        assert!(!run.stdout.contains(" of about "), "{}", run.stdout);
    }
}

#[test]
fn a_thread_at_the_bound_on_steps_lets_the_others_go_on() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("steps");
    // One execution for each round in which the loop ends, and runs in which the bound comes first.
    for (what, steps, executions) in [("count", 22, 11), ("poll", 21, 10)] {
        let line = format!("run --exhaustive --max-steps {steps} -- ./long {what}");
        let run = run_line(&folder, &line);
        assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
        let first = run.stdout.lines().next().expect("an answer");
        assert!(first.ends_with(" cut off by the bound on steps"), "{first}");
        let explored = format!("\nexplored: {executions} executions");
        assert!(run.stdout.contains(&explored), "{}", run.stdout);
    }
}

#[test]
fn an_interrupted_exploration_says_what_it_found() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("interrupt");
    for signal in ["-INT", "-TERM"] {
        let mut command = rsan(Path::new(&folder));
        let line = "run --exhaustive --output -- ./long contend";
        command
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("rsan starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        for _ in 0..3 {
            let first = lines.next().expect("a run").expect("UTF-8");
            assert_eq!(first, "a run");
        }
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill starts").success());
        let rest: Vec<_> = lines.map(|line| line.expect("UTF-8")).collect();
        let said = rest.iter().find(|line| line.starts_with("./long: "));
        let said = said.expect("an answer");
        let parts = ["undecided, no finding in ", "; interrupted; not all "];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(child.wait().expect("it ends").code(), Some(3));
    }
}

#[test]
fn litmus_has_limits() {
    for (limit, why) in [("--time-limit=0s", "time"), ("--memory-limit=1", "memory")] {
        let limited = run(&["litmus", limit, "iriw.tpl"]);
        assert_eq!(limited.code, 3, "{}{}", limited.stdout, limited.stderr);
        let reason = format!("the {why} limit was reached");
        assert!(limited.stdout.contains(&reason), "{}", limited.stdout);
    }
}
