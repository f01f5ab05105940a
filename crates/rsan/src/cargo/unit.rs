//! A test as a process of this command sees it: its runs, in the environment that cargo gives to tests.

use crate::args::{CargoCommand, CargoTestArgs, Cli, Command as Line};
use crate::files;
use crate::interrupt;
use crate::sanitizer::campaign::{self, Memory, Request, is_wanted};
use crate::sanitizer::execute::{Plan, Stdout};
use crate::sanitizer::library;
use crate::sanitizer::mixed::{self, Parts};
use crate::sanitizer::run::{self, option};
use crate::sanitizer::symbols::shared;
use crate::session::{Reply, eprint};
use crate::shard::Portion;
use crate::status::Status;
use clap::Parser;
use rsan_report::{Command, Document};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The word that starts this command for a test.
pub(crate) const NAME: &str = "-rsan-cargo-unit";

/// How long a test may take by itself.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// What to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// Options of rsan, as the user gave them.
    pub(super) own: Vec<OsString>,
    /// The folder that their paths begin in.
    pub(super) origin: PathBuf,
    /// A name and arguments.
    pub(super) program: Vec<OsString>,
    pub(super) subject: String,
    /// In the user's folder of schedules.
    pub(super) out: String,
    pub(super) as_written: bool,
    pub(super) jobs: usize,
    /// Where the answer goes.
    pub(super) said: PathBuf,
    /// What all tests have in common.
    pub(super) common: Option<Common>,
}

/// What the command has found out for its tests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Common {
    /// The folder of the runtime library, which was looked at.
    pub(super) library: PathBuf,
    /// A file for what they find in the debug information.
    pub(super) symbols: PathBuf,
}

/// The folder for the schedules of a test. Not every file system has names with colons.
pub(super) fn folder_of(label: &str) -> String {
    label.replace("::", ".").replace('/', "-")
}

/// What came of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Said {
    /// Of free runs.
    pub(super) free: Option<Document>,
    /// Of those under controlled scheduling.
    pub(super) scheduled: Vec<Document>,
    pub(super) interrupted: bool,
}

/// Makes the runs of the order in a file.
pub(crate) fn run(words: &[OsString]) -> Status {
    let done = words
        .first()
        .ok_or_else(|| "there is no order".to_owned())
        .and_then(|file| read(Path::new(file)))
        .and_then(|order| obey(&order));
    match done {
        Ok(()) => Status::Clean,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            Status::BadInput
        }
    }
}

fn read(file: &Path) -> Result<Order, String> {
    let text = files::read_text(file, files::RECORD);
    let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn obey(order: &Order) -> Result<(), String> {
    let stop = interrupt::stop_flag().ok_or("signals cannot be watched")?;
    if let Some(Common { library, symbols }) = order.common.clone() {
        library::take(library);
        shared::share(symbols);
    }
    let said = said(order, &stop)?;
    shared::tell();
    let text = serde_json::to_string(&said).map_err(|error| error.to_string())?;
    // Nobody reads it but the process that waits for us, so it need not be on the disk.
    fs::write(&order.said, text).map_err(|error| format!("{}: {error}", order.said.display()))
}

/// The options, with paths that hold in any folder.
fn options(order: &Order) -> Result<Box<CargoTestArgs>, String> {
    let start = ["rsan", "cargo", "test"].map(OsString::from);
    let line = Cli::try_parse_from(start.iter().chain(&order.own));
    let line = line.map_err(|error| error.to_string())?;
    let Line::Cargo(args) = line.command else {
        return Err("the options are not those of a test".to_owned());
    };
    let CargoCommand::Test(mut args) = args.command else {
        return Err("the options are not those of a test".to_owned());
    };
    let absolute = |path: &mut PathBuf| *path = order.origin.join(&*path);
    let control = &mut args.schedule.control;
    absolute(&mut control.out);
    control.out.push(&order.out);
    control.replay.iter_mut().for_each(absolute);
    control.checkpoint.iter_mut().for_each(absolute);
    args.sanitizer.suppressions.iter_mut().for_each(absolute);
    Ok(args)
}

/// Makes the runs.
pub(super) fn said(order: &Order, stop: &AtomicBool) -> Result<Said, String> {
    let args = &*options(order)?;
    let request = Request {
        command: Command::Run,
        subject: &order.subject,
        program: &order.program,
        as_written: order.as_written,
        again: String::new(),
        memory: Memory::Sequential(&args.schedule),
        portion: Portion::default(),
        schedule: &args.schedule.control,
        sanitizer: &args.sanitizer,
        runs: args.runs,
        jobs: order.jobs,
        time_limit: args.time_limit,
        model: args.model,
        confirm: args.confirm.confirm,
        report: &args.report,
        stop,
        standing: None,
    };
    if is_wanted(&args.schedule) {
        let reply = campaign::answer(&request)?;
        return Ok(Said::of(None, vec![reply]));
    }
    let plan = Plan {
        program: &order.program,
        runs: args.runs.unwrap_or(mixed::FREE),
        timeout: Some(args.schedule.control.timeout.unwrap_or(TIMEOUT)),
        log: None,
        stdout: Stdout::Once,
        options: args.model.map(option).unwrap_or_default(),
        preload: true,
        halt: None,
        stop,
    };
    Ok(match args.runs {
        Some(_) => Said::of(Some(run::answer(plan, &request)?), Vec::new()),
        None => {
            let Parts { free, scheduled } = mixed::parts(plan, &request)?;
            Said::of(Some(free), scheduled)
        }
    })
}

impl Said {
    fn of(free: Option<Reply>, scheduled: Vec<Reply>) -> Self {
        let mut all = free.iter().chain(&scheduled);
        Self {
            interrupted: all.any(|reply| reply.interrupted),
            free: free.map(|reply| reply.document),
            scheduled: scheduled.into_iter().map(|reply| reply.document).collect(),
        }
    }
}
