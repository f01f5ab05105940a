//! Runs under controlled scheduling: many seeds (`--sched`), a replay (`--replay`), or every execution (`--exhaustive`).
//!
//! The runtime controls the scheduling; this side says how each run goes, gathers what the runs left and says what it means.
//! Whatever becomes of a run, it is one run: the campaign goes on.
//!
//! * `server`: processes that make runs; `standing`: which wait for another campaign. `execution`: what a run left. `pool`: several servers at a time.
//! * `explorer`: the exploration of all executions. `outcomes`: what the executions of a program come to.
//! * `sharded`: a part of a campaign.
//! * `tally`: what all runs showed. `sample`, `replay`, `exhaust`: which runs are made.
//!   `confirm`: which findings hurt. `checkpoint`: an exploration in a file. `keep`: schedules in files. `report`: the answer.

mod checkpoint;
pub(super) mod confirm;
mod execution;
mod exhaust;
mod explorer;
mod keep;
mod near;
mod outcomes;
mod pool;
mod replay;
mod report;
mod sample;
mod server;
mod sharded;
mod standing;
mod tally;
mod weak;

use super::execute::Stdout;
use crate::args::{ControlArgs, ReportArgs, SanitizerArgs, ScheduleArgs, WeakArgs};
use crate::session::Reply;
use crate::shard::{Portion, Slice};
use rsan_model::Model;
use rsan_report::Command;
use rsan_schedule::Settings;
use server::{Problem, Setup};
use sharded::Made;
pub(crate) use standing::Standing;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use weak::Weak;

/// What to run and how.
pub(crate) struct Request<'a> {
    pub(crate) command: Command,
    pub(crate) subject: &'a str,
    /// A name and arguments.
    pub(crate) program: &'a [OsString],
    /// Whether the program makes every access of the subject; an optimised one does not.
    pub(crate) as_written: bool,
    /// What stands after the options in a command that runs the same program.
    pub(crate) again: String,
    pub(crate) memory: Memory<'a>,
    /// Which part of all runs, or of all executions.
    pub(crate) portion: Portion<'a>,
    pub(crate) schedule: &'a ControlArgs,
    pub(crate) sanitizer: &'a SanitizerArgs,
    pub(crate) runs: Option<usize>,
    pub(crate) jobs: usize,
    /// For all runs together.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) model: Option<Model>,
    /// Weak runs for each finding that may hurt.
    pub(crate) confirm: Option<usize>,
    pub(crate) report: &'a ReportArgs,
    pub(crate) stop: &'a AtomicBool,
    /// Servers of earlier campaigns of the program.
    pub(crate) standing: Option<&'a Arc<Standing>>,
}

/// What loads return.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    /// The last value.
    Sequential(&'a ScheduleArgs),
    /// What the memory model allows.
    Weak(&'a WeakArgs),
}

/// Whether all executions are wanted, however many, and none is kept for later.
fn is_endless(args: &ControlArgs) -> bool {
    args.exhaustive && args.max_executions.is_none() && args.checkpoint.is_none()
}

/// Whether the user asks for controlled scheduling.
pub(crate) fn is_wanted(args: &ScheduleArgs) -> bool {
    args.sched.is_some() || args.control.replay.is_some() || args.control.exhaustive
}

/// What schedules of `--exhaustive` say of themselves.
const EXHAUSTIVE: &str = "exhaustive";
/// For one run.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Steps of one run.
const STEPS: u64 = 100_000;
/// For all runs of a weak exploration, unless the user bounds it in some way, or can go on with it.
const EXPLORATION: Duration = Duration::from_secs(5 * 60);
/// Steps of one thread in a run of an exploration.
const THREAD_STEPS: u32 = 10_000;

/// Makes the runs, and says what came of them.
///
/// # Errors
/// The message for the user.
pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, String> {
    match request.portion.shard {
        Some(shard) => sharded::answer(request, shard),
        None => made(request).map(|(reply, _)| reply),
    }
}

/// The same, with what somebody wants to know who puts parts together.
fn made(request: &Request<'_>) -> Result<(Reply, Made), String> {
    if let Some(file) = &request.schedule.replay {
        return replay::answer(request, file).map(|reply| (reply, Made::default()));
    }
    match (request.schedule.exhaustive, request.memory) {
        (true, Memory::Sequential(args)) => exhaust::answer(request, args),
        (true, Memory::Weak(args)) => exhaust::weakly(request, args),
        (false, Memory::Sequential(args)) => sample::answer(request, args),
        (false, Memory::Weak(args)) => weak::answer(request, args),
    }
}

impl Request<'_> {
    /// Runs of all parts.
    fn count(&self) -> usize {
        self.runs.unwrap_or(sample::RUNS)
    }

    /// Runs of this part.
    fn slice(&self) -> Slice {
        self.portion.slice(self.count())
    }

    fn timeout(&self) -> Duration {
        self.schedule.timeout.unwrap_or(TIMEOUT)
    }

    /// The time for all runs.
    fn clock(&self) -> Clock {
        Clock::new(self.time_limit.or_else(|| self.default_limit()))
    }

    /// The time for all runs if the user says none. Weak executions are many more than sequentially consistent ones, and small programs
    /// have billions of them.
    fn default_limit(&self) -> Option<Duration> {
        let unbounded = self.time_limit.is_none() && self.portion.is_whole();
        let weak = matches!(self.memory, Memory::Weak(_));
        (unbounded && weak && is_endless(self.schedule)).then_some(EXPLORATION)
    }

    /// What is said when the time is over.
    fn out_of_time(&self) -> String {
        let reached = "the time limit was reached";
        self.default_limit().map_or(reached.to_owned(), |limit| {
            let minutes = limit.as_secs() / 60;
            format!("{reached}, {minutes} minutes unless --time-limit says another")
        })
    }

    /// Steps after which a run is cut off.
    fn limit(&self) -> u64 {
        self.schedule.max_steps.unwrap_or(STEPS)
    }

    /// Steps after which a thread of an exploration makes no further one.
    fn thread_limit(&self) -> u32 {
        let most = self.schedule.max_steps;
        most.map_or(THREAD_STEPS, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Number of servers.
    fn jobs(&self) -> usize {
        match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }

    /// Settings of the runtime.
    fn options(&self) -> Settings<'static> {
        let mut options = Settings::default();
        if let Some(model) = self.model {
            options.add("model", model.name());
        }
        if let Memory::Weak(args) = self.memory {
            Weak::new(args).add_to(&mut options);
        }
        options
    }

    /// Where the output of the program goes, if it is run this often.
    fn stdout(&self, runs: usize) -> Stdout {
        let silent = runs > 1 || self.command == Command::Check;
        match self.report.leaves_stdout() {
            _ if silent && !self.schedule.output => Stdout::Dropped,
            true => Stdout::Shared,
            false => Stdout::Stderr,
        }
    }

    fn setup(
        &self,
        options: Settings<'static>,
        runs: usize,
        clock: &Clock,
    ) -> Result<Setup<'_>, String> {
        // What all weak executions come to is what they print.
        let weak = matches!(self.memory, Memory::Weak(_));
        let stdout = match self.stdout(runs) {
            Stdout::Dropped if weak && self.schedule.exhaustive => Stdout::Captured,
            stdout => stdout,
        };
        let (alone, deadline) = (runs == 1, clock.deadline());
        let standing = self.standing()?;
        let program = self.program;
        Setup::new(
            program, options, stdout, alone, self.stop, deadline, standing,
        )
    }

    fn standing(&self) -> Result<Arc<Standing>, String> {
        match self.standing {
            Some(standing) => Ok(standing.clone()),
            None => Standing::new().map(Arc::new),
        }
    }

    /// For many runs whose output is looked at.
    fn capturing(&self, clock: &Clock) -> Result<Setup<'_>, String> {
        let (options, deadline) = (self.options(), clock.deadline());
        let out = Stdout::Captured;
        let (program, standing) = (self.program, self.standing()?);
        Setup::new(program, options, out, false, self.stop, deadline, standing)
    }

    /// The command that makes a run again.
    fn replay(&self, file: &str) -> String {
        let command = self.command.name();
        let model = self
            .model
            .filter(|model| *model != Model::C20)
            .map_or(String::new(), |model| format!(" --model {model}"));
        let file = quoted(file);
        format!("rsan {command} --replay {file}{model} {}", self.again)
    }
}

/// The time that is left of a limit.
pub(super) struct Clock {
    start: Instant,
    limit: Option<Duration>,
}

impl Clock {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        let start = Instant::now();
        Self { start, limit }
    }

    /// When the time is over; a limit beyond what clocks can tell is none.
    fn deadline(&self) -> Option<Instant> {
        self.start.checked_add(self.limit?)
    }

    fn is_over(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.start.elapsed() >= limit)
    }
}

/// A word for the shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What keeps a campaign from its runs.
fn refusal(problem: Problem) -> String {
    match problem {
        Problem::Message(message) => message,
        Problem::Stopped => "interrupted".to_owned(),
        Problem::Died | Problem::Unseen => "no run can be made of the program".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_endless, quoted};
    use crate::args::ControlArgs;
    use clap::Parser;

    #[derive(Parser)]
    struct Control {
        #[command(flatten)]
        args: ControlArgs,
    }

    #[test]
    fn an_exploration_is_endless_unless_it_is_bounded_or_kept() {
        for (words, endless) in [
            ("rsan", false),
            ("rsan --exhaustive", true),
            ("rsan --exhaustive --max-steps 9", true),
            ("rsan --exhaustive --max-executions 9", false),
            ("rsan --exhaustive --checkpoint kept", false),
        ] {
            let control = Control::try_parse_from(words.split(' ')).expect("known options");
            assert_eq!(is_endless(&control.args), endless, "{words}");
        }
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("./a-b.c"), "./a-b.c");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
