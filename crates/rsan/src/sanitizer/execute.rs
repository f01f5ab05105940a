//! Running a program with the runtime, several times.
//!
//! The runtime writes each finding to standard error as well; those texts are taken out, since the report shows them
//! better. Everything else that the program prints is passed on.

use super::log::Findings;
use super::scratch::Scratch;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What to run and how.
pub(crate) struct Plan<'a> {
    pub(crate) program: &'a [OsString],
    pub(crate) runs: usize,
    /// For one run.
    pub(crate) timeout: Option<Duration>,
    /// Folder that keeps the runtime's logs.
    pub(crate) log: Option<&'a Path>,
    /// Where the program's own output goes.
    pub(crate) stdout: Stdout,
    /// Whether the user asked to end.
    pub(crate) stop: &'a AtomicBool,
}

/// A place for the standard output of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stdout {
    /// Ours.
    Shared,
    /// Our standard error.
    Stderr,
    /// Nowhere.
    Dropped,
}

/// How the runs ended.
#[derive(Default)]
pub(crate) struct Runs {
    pub(crate) findings: Findings,
    pub(crate) done: usize,
    pub(crate) timeouts: usize,
    /// The first run that failed by itself.
    pub(crate) failure: Option<ExitStatus>,
    pub(crate) failures: usize,
    pub(crate) interrupted: bool,
}

/// Runs the program as planned.
///
/// # Errors
/// The message for the user.
pub(crate) fn execute(plan: &Plan<'_>) -> Result<Runs, String> {
    let scratch = Scratch::new()?;
    if scratch.path().to_string_lossy().contains([' ', ':']) {
        let path = scratch.path().display();
        return Err(format!(
            "{path}: a folder for temporary files with a blank or a colon in its name"
        ));
    }
    let mut runs = Runs::default();
    if let Some(folder) = plan.log {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    for run in 0..plan.runs {
        let log = scratch.path().join(format!("run-{}.jsonl", run + 1));
        let end = once(plan, &log)?;
        runs.done += 1;
        let text = fs::read(&log).unwrap_or_default();
        runs.findings.add(run, &String::from_utf8_lossy(&text));
        keep(plan.log, &log, &text)?;
        runs.interrupted = plan.stop.load(Ordering::Relaxed);
        match end {
            None if runs.interrupted => {}
            None => runs.timeouts += 1,
            Some(status) if status.success() => {}
            Some(_) if runs.interrupted => {}
            Some(status) => {
                runs.failure.get_or_insert(status);
                runs.failures += 1;
            }
        }
        if runs.interrupted {
            break;
        }
    }
    Ok(runs)
}

fn keep(folder: Option<&Path>, log: &Path, text: &[u8]) -> Result<(), String> {
    let Some(folder) = folder else {
        return Ok(());
    };
    let file: PathBuf = folder.join(log.file_name().unwrap_or_default());
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// One run; `None` when it was ended from here.
fn once(plan: &Plan<'_>, log: &Path) -> Result<Option<ExitStatus>, String> {
    let (name, arguments) = plan.program.split_first().ok_or("no program is named")?;
    let given = std::env::var("RSAN_OPTIONS").unwrap_or_default();
    let options = format!("{given} log={} exitcode=0 summary=0", log.display());
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env("RSAN_OPTIONS", options)
        .stderr(Stdio::piped());
    match plan.stdout {
        Stdout::Shared => {}
        Stdout::Stderr => {
            command.stdout(io::stderr());
        }
        Stdout::Dropped => {
            command.stdout(Stdio::null());
        }
    }
    if plan.runs > 1 {
        // The first run would leave nothing for the others.
        command.stdin(Stdio::null());
    }
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", name.display()))?;
    let (done, ended) = mpsc::channel::<()>();
    if let Some(stderr) = child.stderr.take() {
        thread::spawn(move || {
            pass_on(stderr);
            drop(done);
        });
    }
    let status = wait(&mut child, plan).map_err(|error| format!("{}: {error}", name.display()))?;
    // A process that the program left behind may keep its standard error open: it is not waited for.
    let _ = ended.recv_timeout(Duration::from_secs(1));
    Ok(status)
}

/// Waits for the end, the time limit or the user.
fn wait(child: &mut Child, plan: &Plan<'_>) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let late = plan.timeout.is_some_and(|limit| start.elapsed() >= limit);
        if late || plan.stop.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Copies what is not a finding of the runtime to our standard error.
fn pass_on(stderr: ChildStderr) {
    let mut filter = Filter::default();
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let _ = io::stderr().write_all(&filter.line(&line));
        line.clear();
    }
    let _ = io::stderr().write_all(&filter.held);
}

/// Takes out blocks that begin with a rule and a line `==rsan: …` and end with a rule.
#[derive(Default)]
struct Filter {
    held: Vec<u8>,
    inside: bool,
}

impl Filter {
    const RULE: &[u8] = b"==================\n";

    /// What of the text so far is to be shown.
    fn line(&mut self, line: &[u8]) -> Vec<u8> {
        let rule = line == Self::RULE;
        if self.inside {
            self.inside = !rule;
            return Vec::new();
        }
        let mut shown = std::mem::take(&mut self.held);
        if rule {
            self.held.extend_from_slice(line);
        } else if !shown.is_empty() && line.starts_with(b"==rsan: ") {
            self.inside = true;
            shown.clear();
        } else {
            shown.extend_from_slice(line);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn only_findings_are_taken_out() {
        let rule = "==================\n";
        let text = format!(
            "a\n{rule}b\n{rule}==rsan: data race (pid 1)\n  c\n{rule}d\n{rule}==rsan: x\n{rule}{rule}"
        );
        let mut filter = Filter::default();
        let mut shown = Vec::new();
        for line in text.split_inclusive('\n') {
            shown.extend(filter.line(line.as_bytes()));
        }
        shown.extend(filter.held);
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            format!("a\n{rule}b\nd\n{rule}")
        );
    }
}
