//! The same programs when the schedule is ours: one thread runs at a time, as a strategy says.

mod support;

use std::path::Path;
use std::process::Output;
use support::{FOUND, announced, compile, compilers, kinds, programs, run};

/// Strategies, and both ways of switching between threads.
const SCHEDULES: &[&str] = &[
    "strategy=random seed=1",
    "strategy=random seed=2 kernel_threads=1",
    "strategy=pct:depth=3 seed=3 steps=200",
    "strategy=pos seed=4",
    "prefix=",
];

fn run_scheduled(program: &Path, schedule: &str) -> (Output, Vec<String>) {
    run(program, &format!("sched='{schedule}'"))
}

#[test]
fn programs_run_to_their_end_whatever_the_schedule() {
    let names = programs();
    for compiler in compilers().into_iter().take(1) {
        for (number, name) in names.iter().enumerate() {
            let expected =
                announced(name, "// findings: ").expect("the first line says what to find");
            let program = compile("scheduled", compiler, name);
            // Two of them for each program, in turn.
            for schedule in [number, number + 1].map(|at| SCHEDULES[at % SCHEDULES.len()]) {
                let (output, lines) = run_scheduled(&program, schedule);
                let found = kinds(&lines);
                let errors = String::from_utf8_lossy(&output.stderr);
                let what = format!(
                    "{name} by {compiler}, {schedule}: {:?}\n{errors}",
                    output.status
                );
                let known = |kind: &str| expected.split(' ').any(|known| known == kind);
                assert!(
                    found == "none" || found.split(' ').all(known),
                    "{found}: {what}"
                );
                let status = output.status.code();
                assert!(
                    status == Some(0) || found != "none" && status == Some(FOUND),
                    "{what}"
                );
            }
        }
    }
}
