//! Runs of one program in its ways of linking, in turns.

use super::build::{Executables, Linked};
use crate::bench::measure::{Cost, observe};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Seconds after which a run is ended.
const LIMIT: &str = "600";

/// What all runs of a program took.
#[derive(Default)]
pub(crate) struct Measured {
    /// The best run of each way of linking.
    pub(crate) costs: BTreeMap<Linked, Cost>,
    /// The most findings that a run with our runtime had.
    pub(crate) findings: usize,
}

/// Runs all, in turns; all must print the same.
pub(crate) fn interleaved(
    executables: &Executables,
    arguments: &str,
    runs: u32,
) -> Result<Measured, String> {
    let mut measured = Measured::default();
    let mut expected: Option<String> = None;
    for _ in 0..runs {
        for (&linked, executable) in executables {
            let Run {
                output,
                cost,
                findings,
            } = once(executable, arguments)?;
            let first = expected.get_or_insert_with(|| output.clone());
            if *first != output {
                return Err(format!(
                    "{} {arguments}: printed {output:?} instead of {first:?}",
                    executable.display()
                ));
            }
            let best = measured.costs.entry(linked).or_insert(cost);
            best.wall = best.wall.min(cost.wall);
            best.cpu = best.cpu.min(cost.cpu);
            best.memory = best.memory.min(cost.memory);
            measured.findings = measured.findings.max(findings.len());
        }
    }
    Ok(measured)
}

/// One run.
pub(crate) struct Run {
    /// What it printed.
    pub(crate) output: String,
    /// What it took.
    pub(crate) cost: Cost,
    /// Findings of our runtime, each a line of JSON.
    pub(crate) findings: Vec<String>,
}

/// Reports of ThreadSanitizer in a run that is not measured.
pub(crate) fn tsan_reports(executable: &Path, arguments: &str) -> Result<usize, String> {
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "--signal=KILL", LIMIT])
        .arg(executable)
        .args(arguments.split(' '))
        .env("TSAN_OPTIONS", "exitcode=0 symbolize=0");
    let output = command
        .output()
        .map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let reports = String::from_utf8_lossy(&output.stderr);
    Ok(reports.matches("WARNING: ThreadSanitizer: ").count())
}

/// Runs a program once.
///
/// Neither runtime prints reports, nor changes the exit status. ThreadSanitizer makes none at all, because it would
/// start a process to look up symbols; ours appends them to a file.
pub(crate) fn once(executable: &Path, arguments: &str) -> Result<Run, String> {
    let log = executable.with_extension("findings");
    // It is there only if an earlier run had findings.
    let _ = std::fs::remove_file(&log);
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "--signal=KILL", LIMIT])
        .arg(executable)
        .args(arguments.split(' '))
        // Cargo's path may lead to an older library.
        .env_remove("LD_LIBRARY_PATH")
        .env("TSAN_OPTIONS", "report_bugs=0 exitcode=0")
        .env(
            "RSAN_OPTIONS",
            format!("log={} exitcode=0 summary=0", log.display()),
        );
    let (output, status, cost) = observe(&mut command)?;
    if !status.success() {
        return Err(format!("{} {arguments}: {status}", executable.display()));
    }
    let findings = std::fs::read_to_string(&log).unwrap_or_default();
    Ok(Run {
        output,
        cost,
        findings: findings.lines().map(str::to_owned).collect(),
    })
}
