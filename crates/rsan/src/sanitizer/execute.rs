//! Running a program with the runtime, several times.
//!
//! The runtime writes what it finds to a log at once, so whatever becomes of the program, findings are not lost. The
//! program keeps our terminal, standard error included.

use super::handover::Handover;
use super::library;
use super::log::Findings;
use super::preload;
use super::processes::Processes;
use super::record::{Fatal, Record};
use super::scratch::{self, Scratch};
use crate::files;
use crate::pause::{LOOKS, pause};
use crate::session::eprint;
use rsan_log::Failure;
use rsan_model::Model;
use rsan_schedule::{End, Settings};
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, stderr};
use std::os::unix::process::ExitStatusExt;
use std::path::{self, Path};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to run and how.
pub(crate) struct Plan<'a> {
    /// A name and arguments.
    pub(crate) program: &'a [OsString],
    pub(crate) runs: usize,
    /// For one run.
    pub(crate) timeout: Option<Duration>,
    /// Folder that keeps the runtime's logs.
    pub(crate) log: Option<&'a Path>,
    /// Settings of the runtime beyond those that every run has.
    pub(crate) options: Settings<'static>,
    /// Whether programs that are not linked with the runtime get it, too.
    pub(crate) preload: bool,
    /// Whether findings end a run, and no other follows.
    pub(crate) halt: Option<&'a dyn Fn(&Findings) -> bool>,
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
    /// Ours in the first run, nowhere in the others.
    Once,
    /// Our standard error.
    Stderr,
    /// Nowhere.
    Dropped,
    /// A file, which whoever starts the program says.
    Captured,
}

/// How the runs ended.
#[derive(Default)]
pub(crate) struct Runs {
    pub(crate) findings: Findings,
    /// Lines of logs that could not be read.
    pub(crate) unreadable: usize,
    pub(crate) done: usize,
    /// Processes with the runtime, in all runs.
    pub(crate) processes: usize,
    /// Runs in which no process had the runtime.
    pub(crate) unseen: usize,
    /// Whether the program itself ever had the runtime.
    pub(crate) main_seen: bool,
    /// Modules that are not instrumented, of processes with a race.
    pub(crate) foreign: BTreeSet<String>,
    /// Findings that the runtime left out, in the run with the most.
    pub(crate) suppressed: usize,
    pub(crate) timeouts: usize,
    /// Runs that took more steps than they were allowed.
    pub(crate) cut: usize,
    /// Runs that ended, or became another program, behind the scheduler's back.
    pub(crate) vanished: usize,
    /// Runs that made processes whose schedule was not ours.
    pub(crate) forks: usize,
    /// Runs that ended the process that makes them.
    pub(crate) deaths: usize,
    /// The first run that failed.
    pub(crate) failure: Option<ExitStatus>,
    /// What it said about it.
    pub(crate) failed: Option<Failure<'static>>,
    pub(crate) failures: usize,
    /// Those of them that slept, or waited until a limit of time was over, in time that is simulated.
    pub(crate) timed_failures: usize,
    /// Runs that the runtime had to end, and why in the first.
    pub(crate) fatal: Option<Fatal>,
    pub(crate) fatals: usize,
    /// What the program was judged by.
    pub(crate) model: Option<Model>,
    pub(crate) interrupted: bool,
    pub(crate) halted: bool,
}

impl Runs {
    /// A run fails, and may have said how.
    pub(crate) fn fails(&mut self, status: ExitStatus, said: Option<Failure<'static>>) {
        if self.failure.is_none() {
            (self.failure, self.failed) = (Some(status), said);
        }
        self.failures += 1;
    }
}

/// Runs the program as planned.
///
/// # Errors
/// The message for the user.
pub(crate) fn execute(plan: &Plan<'_>) -> Result<Runs, String> {
    scratch::sweep();
    let scratch = Scratch::new()?;
    let folder = match plan.log {
        Some(folder) => {
            let fail = |error: io::Error| format!("{}: {error}", folder.display());
            fs::create_dir_all(folder).map_err(fail)?;
            // The program may change its folder.
            path::absolute(folder).map_err(fail)?
        }
        None => scratch.path().to_owned(),
    };
    let library = library::folder()?;
    let handover = Handover::new(&library);
    let mut runs = Runs::default();
    let mut progress = Progress::new(plan.runs);
    while runs.done < plan.runs {
        progress.show(&runs);
        let log = folder.join(format!("run-{}.jsonl", runs.done + 1));
        let options = settings(&log, plan.options.clone())?;
        handover.set(&options);
        let build = |words: &[OsString]| {
            let stdout = match plan.stdout {
                Stdout::Once if runs.done == 0 => Stdout::Shared,
                Stdout::Once => Stdout::Dropped,
                other => other,
            };
            let mut command = command(words, &options, &library, stdout);
            if plan.preload {
                command.envs(preload::variables(&plan.program[0], &library));
            }
            if plan.runs > 1 {
                // The first run would leave nothing for the others.
                command.stdin(Stdio::null());
            }
            command
        };
        create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let name = plan.program[0].display();
        let processes = Processes::start(plan.program, &build, scratch.path());
        let processes = processes.map_err(|error| format!("{name}: {error}"))?;
        once(plan, processes, &log, &mut runs);
        if runs.interrupted || runs.halted {
            break;
        }
    }
    Ok(runs)
}

/// One run.
fn once(plan: &Plan<'_>, mut processes: Processes, log: &Path, runs: &mut Runs) {
    let end = wait(&mut processes, plan, log);
    let record = read(log);
    runs.findings.add(runs.done, &record.findings);
    runs.unreadable += record.unreadable;
    runs.done += 1;
    runs.processes += record.processes.len();
    runs.foreign.extend(record.foreign);
    runs.suppressed = runs.suppressed.max(record.suppressed);
    runs.unseen += usize::from(record.processes.is_empty());
    runs.main_seen |= record.processes.contains(&processes.id());
    runs.model = runs.model.or(record.model);
    let fatal = record.fatal.is_some();
    if let Some(message) = record.fatal {
        runs.fatal.get_or_insert(message);
        runs.fatals += 1;
    }
    match end {
        End::Failed(_) if fatal => {}
        End::Failed(_) if plan.stop.load(Ordering::Relaxed) => runs.interrupted = true,
        End::Failed(status) => {
            runs.fails(ExitStatus::from_raw(status), record.failed);
        }
        End::Timeout => runs.timeouts += 1,
        End::Interrupted => runs.interrupted = true,
        End::Halted => runs.halted = true,
        // The schedule is the system's: nothing else is known.
        _ => {}
    }
    runs.halted |= plan.halt.is_some_and(|halt| halt(&runs.findings));
}

fn read(log: &Path) -> Record {
    let mut text = Vec::new();
    // What is cut off leaves a line that cannot be read, which is told.
    let _ = File::open(log).map(|file| file.take(files::RECORD).read_to_end(&mut text));
    Record::new(&String::from_utf8_lossy(&text))
}

/// Space for the first findings: a disk that fills up later does not hide them.
#[cfg(target_os = "linux")]
const RESERVED: u64 = 1 << 20;

/// An empty log.
fn create(log: &Path) -> io::Result<()> {
    let file = File::create(log)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        // Not every file system can do that.
        if fallocate(&file, FallocateFlags::KEEP_SIZE, 0, RESERVED) == Err(Errno::NOSPC) {
            return Err(Errno::NOSPC.into());
        }
    }
    drop(file);
    Ok(())
}

/// The settings of the runtime, with those that are `more` than what every run has.
pub(super) fn settings(log: &Path, more: Settings<'static>) -> Result<String, String> {
    let given = env::var("RSAN_OPTIONS").unwrap_or_default();
    let settings = given.parse::<Settings<'_>>();
    let mut settings = settings.map_err(|error| format!("RSAN_OPTIONS: {error}"))?;
    settings.add("log", text_of(log)?);
    // Suppressions are applied here, where more is known.
    let ours = [
        ("text", "0"),
        ("announce", "1"),
        ("exitcode", "0"),
        ("summary", "0"),
        ("suppressions", ""),
    ];
    for (name, value) in ours {
        settings.add(name, value);
    }
    settings.extend(more);
    Ok(settings.to_string())
}

/// The program with the environment that the runtime needs.
pub(super) fn command(
    program: &[OsString],
    options: &str,
    library: &Path,
    stdout: Stdout,
) -> Command {
    let mut command = Command::new(&program[0]);
    command
        .args(&program[1..])
        .env("RSAN_OPTIONS", options)
        .env("LD_LIBRARY_PATH", library_path(library));
    match stdout {
        Stdout::Shared | Stdout::Once => {}
        Stdout::Stderr => {
            command.stdout(stderr());
        }
        Stdout::Dropped | Stdout::Captured => {
            command.stdout(Stdio::null());
        }
    }
    command
}

/// A path as the value of a setting.
pub(super) fn text_of(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("{}: a path that is not UTF-8", path.display()))
}

/// Where the program finds our library, even if the one that it was linked with is gone or is another version.
fn library_path(library: &Path) -> OsString {
    let mut path = library.to_owned().into_os_string();
    if let Some(given) = env::var_os("LD_LIBRARY_PATH").filter(|given| !given.is_empty()) {
        path.push(":");
        path.push(given);
    }
    path
}

/// Waits for the end, the time limit, the user or a finding.
fn wait(processes: &mut Processes, plan: &Plan<'_>, log: &Path) -> End {
    let start = Instant::now();
    let mut watch = Watch::default();
    let mut told = false;
    loop {
        if let Some(status) = processes.status() {
            let left = processes.instrumented();
            if left == 0 {
                return match status.success() {
                    true => End::Ended,
                    false => End::Failed(status.into_raw()),
                };
            }
            if !told && start.elapsed() > Duration::from_secs(1) {
                told = true;
                let s = if left == 1 { "" } else { "es" };
                eprint(&format!(
                    "rsan: waiting for {left} process{s} that the program left behind\n"
                ));
            }
        }
        if plan.stop.load(Ordering::Relaxed) {
            processes.terminate();
            return End::Interrupted;
        }
        if plan.timeout.is_some_and(|limit| start.elapsed() >= limit) {
            processes.kill();
            return End::Timeout;
        }
        if plan.halt.is_some_and(|halt| watch.sees(log, halt)) {
            processes.kill();
            return End::Halted;
        }
        pause(start, LOOKS);
    }
}

/// Looks at a log while it is written.
#[derive(Default)]
struct Watch {
    length: u64,
}

impl Watch {
    /// Whether there is now something in the log that ends the run.
    fn sees(&mut self, log: &Path, halt: &dyn Fn(&Findings) -> bool) -> bool {
        let length = fs::metadata(log).map_or(0, |metadata| metadata.len());
        if length == self.length {
            return false;
        }
        self.length = length;
        let mut findings = Findings::default();
        findings.add(0, &read(log).findings);
        halt(&findings)
    }
}

/// Lines on a terminal that say how far a long series of runs has come.
struct Progress {
    runs: usize,
    shown: Option<Instant>,
}

impl Progress {
    fn new(runs: usize) -> Self {
        let wanted = runs > 1 && stderr().is_terminal();
        Self {
            runs,
            shown: wanted.then(Instant::now),
        }
    }

    /// Says it, at most once a second.
    fn show(&mut self, runs: &Runs) {
        if let Some(shown) = &mut self.shown
            && shown.elapsed() > Duration::from_secs(1)
        {
            *shown = Instant::now();
            let found = runs.findings.iter().count();
            let s = if found == 1 { "" } else { "s" };
            let run = runs.done + 1;
            eprint(&format!(
                "rsan: run {run} of {}, {found} finding{s} so far\n",
                self.runs
            ));
        }
    }
}
