//! Time and memory of a process.

use serde::Serialize;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// What a process took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Cost {
    /// Seconds from its start to its end.
    pub(crate) wall: f64,
    /// Seconds of CPU, of all its threads, user and system.
    pub(crate) cpu: f64,
    /// Peak resident memory in MiB. The kernel counts what this process had when it started the
    /// other one, so a few MiB are the least that can be seen.
    pub(crate) memory: f64,
}

/// Runs a command to its end; its standard output, and what it took.
pub(crate) fn measure(command: &mut Command) -> Result<(String, Cost), String> {
    observe(command).map(|(output, _, cost)| (output, cost))
}

/// Runs a command to its end; its standard output, how it ended, and what it took.
pub(crate) fn observe(command: &mut Command) -> Result<(String, ExitStatus, Cost), String> {
    run(command).map_err(|error| format!("cannot run {command:?}: {error}"))
}

fn run(command: &mut Command) -> std::io::Result<(String, ExitStatus, Cost)> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut output = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut output)?;
    }
    let ended = child.wait4()?;
    let used = ended.rusage;
    let cost = Cost {
        wall: began.elapsed().as_secs_f64(),
        cpu: (used.utime + used.stime).as_secs_f64(),
        memory: used.maxrss as f64 / 1_048_576.0,
    };
    Ok((output, ended.status, cost))
}
