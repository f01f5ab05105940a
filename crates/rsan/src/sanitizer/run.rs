//! `rsan run`, and `rsan check` for C and C++: runs, their findings, and the answer.

use super::as_written;
use super::campaign::{self, Request, Schedules, is_wanted as is_scheduled, quoted};
use super::compile::compile;
use super::compiler::Language;
use super::execute::{Plan, Runs, Stdout, execute};
use super::findings::{self, Finding};
use super::log::Findings;
use super::scratch::{self, Scratch};
use super::suppress::Suppressions;
use super::text;
use super::verdict::judge;
use crate::args::{CheckArgs, Goal, OutputFormat, RunArgs, SanitizerArgs};
use crate::files;
use crate::input::failure;
use crate::interrupt;
use crate::printable::name;
use crate::session::{Answer, Output, Reply, eprint};
use crate::status::Status;
use crate::terminal;
use rsan_model::Model;
use rsan_report::{Judgement, Style};
use rsan_schedule::Settings;
use rsan_verify::Property;
use serde::Serialize;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The answer about a program that was run, in the form of `rsan/1`.
#[derive(Debug, Serialize)]
pub(crate) struct RunDocument {
    schema: &'static str,
    command: &'static str,
    subject: String,
    verdict: Judgement,
    model: &'static str,
    property: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    findings: Vec<Finding>,
    stats: Stats,
}

#[derive(Debug, Serialize)]
struct Stats {
    runs: usize,
    failures: usize,
    timeouts: usize,
    /// That had the runtime, in all runs.
    processes: usize,
    /// Findings that the user does not want to see.
    suppressed: usize,
    seconds: f64,
    /// What there is to say if the schedule was ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedules: Option<Schedules>,
}

/// Runs an instrumented program.
pub(crate) fn run(args: &RunArgs) -> Status {
    let subject = args.program[0].display().to_string();
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let style = terminal::stdout_style();
    let reply = match is_scheduled(&args.schedule) {
        true => scheduled(args, &subject, &stop, style),
        false => unscheduled(args, &subject, &stop, style),
    };
    let reply = match reply {
        Ok(reply) => reply,
        Err(message) => {
            eprint(&format!("error: {message}\n"));
            return Status::BadInput;
        }
    };
    let mut out = Output::new();
    match args.format {
        OutputFormat::Text => out.report(&reply.text),
        OutputFormat::Json => out.documents(&[reply.document], false),
    }
    reply.status.and(out.finish())
}

fn unscheduled(
    args: &RunArgs,
    subject: &str,
    stop: &AtomicBool,
    style: Style,
) -> Result<Reply, String> {
    let plan = Plan {
        program: &args.program,
        runs: args.runs.unwrap_or(1),
        timeout: args.schedule.timeout,
        log: args.log.as_deref(),
        stdout: match args.format {
            OutputFormat::Text => Stdout::Shared,
            OutputFormat::Json => Stdout::Stderr,
        },
        options: args.model.map(option).unwrap_or_default(),
        preload: !args.no_preload,
        halt: None,
        stop,
    };
    answer("run", subject, plan, &args.sanitizer, style)
}

fn scheduled(
    args: &RunArgs,
    subject: &str,
    stop: &AtomicBool,
    style: Style,
) -> Result<Reply, String> {
    let words = args.program.iter();
    let words: Vec<_> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    let request = Request {
        command: "run",
        subject,
        program: &args.program,
        as_written: true,
        again: format!("-- {}", words.join(" ")),
        schedule: &args.schedule,
        sanitizer: &args.sanitizer,
        runs: args.runs,
        jobs: args.jobs,
        time_limit: args.time_limit,
        model: args.model,
        format: args.format,
        stop,
    };
    campaign::answer(&request, style)
}

/// The language of a file that `check` compiles, by its extension.
pub(crate) fn language(file: &str) -> Option<Language> {
    match Path::new(file).extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Language::Cpp),
        _ => None,
    }
}

/// For `check`, which has nobody waiting for a program that hangs.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);
/// How often `check` runs a program.
const CHECK_RUNS: usize = 5;

/// A program to compile.
pub(crate) struct Sources<'a> {
    /// Its name for the user.
    pub(crate) subject: String,
    pub(crate) files: &'a [String],
    pub(crate) language: Language,
}

/// Compiles a program and runs it.
///
/// # Errors
/// The complete message for the user.
pub(crate) fn check(
    args: &CheckArgs,
    stop: &AtomicBool,
    sources: &Sources<'_>,
    style: Style,
) -> Result<Reply, String> {
    let file = &*sources.subject;
    let fail = |message: String| failure(file, &message);
    let model = args.verify.model.unwrap_or(Model::C20);
    if ![Model::C20, Model::Rc20].contains(&model)
        || args.verify.property != Goal::Search(Property::Robust)
    {
        return Err(fail(
            "compiled programs are checked for robustness against c20 or rc20 only".to_owned(),
        ));
    }
    if let Some(option) = without_effect(args) {
        let message = format!("{option} has no effect on C and C++ programs");
        return Err(fail(message));
    }
    for file in sources.files {
        std::fs::metadata(file).map_err(|error| failure(file, &error))?;
    }
    scratch::sweep();
    let scratch = Scratch::new().map_err(fail)?;
    // The name is seen by the program, and in reports.
    let name = Path::new(&sources.files[0]).file_stem();
    let program = scratch.path().join(name.unwrap_or("program".as_ref()));
    let level = args.level.as_deref();
    let compiled = level.map_or(as_written::OPTION.to_owned(), |level| format!("-O{level}"));
    let mut words = vec![OsString::from(compiled)];
    words.extend(["-pthread".into(), "-o".into(), program.clone().into()]);
    let (libraries, flags): (Vec<_>, Vec<_>) = args.flags.iter().cloned().partition(is_library);
    words.extend(flags);
    // A name that begins with a dash is no option.
    let files = sources.files.iter();
    words.extend(files.map(|file| Path::new(".").join(file).into()));
    // The linker looks for what is missing until then.
    words.extend(libraries);
    let status = compile(sources.language, &words).map_err(fail)?;
    if !status.success() {
        return Err(failure(file, &"it cannot be compiled"));
    }
    note_openmp(sources.files, &args.flags);
    let program = &[vec![program.into()], args.arguments.clone()].concat();
    if is_scheduled(&args.schedule) {
        let request = Request {
            command: "check",
            subject: file,
            program,
            as_written: level.is_none_or(|level| level == "0"),
            again: again(args, sources.files),
            schedule: &args.schedule,
            sanitizer: &args.sanitizer,
            runs: args.runs,
            jobs: args.verify.limits.jobs,
            time_limit: args.verify.limits.time_limit,
            model: Some(model),
            format: args.verify.format,
            stop,
        };
        return campaign::answer(&request, style).map_err(fail);
    }
    let limit = args.schedule.timeout.or(args.verify.limits.time_limit);
    let plan = Plan {
        program,
        runs: args.runs.unwrap_or(CHECK_RUNS),
        timeout: Some(limit.unwrap_or(CHECK_TIMEOUT)),
        log: None,
        stdout: Stdout::Dropped,
        options: option(model),
        preload: true,
        halt: None,
        stop,
    };
    answer("check", file, plan, &args.sanitizer, style).map_err(fail)
}

/// An option that only what is verified takes.
fn without_effect(args: &CheckArgs) -> Option<&'static str> {
    let options = [
        ("--dot", args.verify.dot.is_some()),
        ("--deadlock", args.verify.deadlock),
        ("--parametric", args.verify.parametric),
        ("--memory-limit", args.verify.limits.memory_limit.is_some()),
    ];
    let given = options.into_iter().find(|(_, given)| *given);
    given.map(|(option, _)| option)
}

fn is_library(flag: &OsString) -> bool {
    let text = flag.to_string_lossy();
    text.starts_with("-l")
}

/// Says that the compiler takes no notice of OpenMP in a source.
fn note_openmp(sources: &[String], flags: &[OsString]) {
    let is_on = |flag: &OsString| flag.to_string_lossy().starts_with("-fopenmp");
    if flags.iter().any(is_on) {
        return;
    }
    let has = |file: &&String| {
        let text = files::read(Path::new(file), files::TEXT).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().any(is_openmp)
    };
    if let Some(file) = sources.iter().find(has) {
        eprint(&format!(
            "note: {file}: `#pragma omp` has no effect without -fopenmp\n"
        ));
    }
}

/// `#pragma omp`, whatever blanks there are.
fn is_openmp(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#');
    let rest = rest.and_then(|rest| rest.trim_start().strip_prefix("pragma"));
    rest.and_then(|rest| rest.split_whitespace().next()) == Some("omp")
}

/// What stands after the options in a command that checks the same program.
fn again(args: &CheckArgs, files: &[String]) -> String {
    let level = args.level.as_ref().map(|level| format!("-O{level}"));
    let together = args.together.then(|| "--together".to_owned());
    let word = |word: &OsString| quoted(&word.to_string_lossy());
    let mut words: Vec<_> = level.into_iter().chain(together).collect();
    words.extend(args.flags.iter().map(word));
    words.extend(files.iter().map(|file| quoted(file)));
    if !args.arguments.is_empty() {
        words.push("--".to_owned());
        words.extend(args.arguments.iter().map(word));
    }
    words.join(" ")
}

/// The setting of the runtime for a model.
fn option(model: Model) -> Settings<'static> {
    let mut settings = Settings::default();
    settings.add("model", model.name());
    settings
}

/// Runs as planned and asked, and says what came of it.
fn answer(
    command: &'static str,
    subject: &str,
    plan: Plan<'_>,
    args: &SanitizerArgs,
    style: Style,
) -> Result<Reply, String> {
    let start = Instant::now();
    let mut suppressions = Suppressions::wanted(args.suppressions.as_deref())?;
    let program = &plan.program[0];
    let runs = {
        let wanted = |logged: &Findings| {
            let mut found = findings::findings(logged, Model::C20).into_iter();
            found.any(|finding| !suppressions.suppresses(&finding))
        };
        let mut plan = plan;
        if args.halt_on_error {
            plan.halt = Some(&wanted);
            // The runtime is faster, but it would end at suppressed findings too.
            if suppressions.is_empty() {
                plan.options.add("halt_on_error", "1");
            }
        }
        execute(&plan)?
    };
    let model = runs.model.unwrap_or(Model::C20);
    let mut found = findings::findings(&runs.findings, model);
    let suppressed = suppressions.apply(&mut found) + runs.suppressed;
    if runs.main_seen && runs.processes <= runs.done {
        // There is only one.
        found.iter_mut().for_each(|finding| finding.process = None);
    }
    let (status, mut notes) = judge(&runs, program, found.len());
    note_suppressions(suppressed, &suppressions, &mut notes);
    let conclusion = Conclusion {
        command,
        subject,
        status,
        notes,
        found,
        suppressed,
        explored: false,
        seconds: start.elapsed().as_secs_f64(),
        schedules: None,
    };
    Ok(conclusion.reply(&runs, style))
}

/// What came of runs.
pub(super) struct Conclusion<'a> {
    pub(super) command: &'static str,
    pub(super) subject: &'a str,
    pub(super) status: Status,
    pub(super) notes: Vec<String>,
    pub(super) found: Vec<Finding>,
    pub(super) suppressed: usize,
    /// Whether the runs were all executions of the subject.
    pub(super) explored: bool,
    pub(super) seconds: f64,
    pub(super) schedules: Option<Schedules>,
}

impl Conclusion<'_> {
    /// What the runs say of the program. Only all executions are a proof, and only if they show nothing at all.
    fn judgement(&self) -> Judgement {
        match self.status {
            Status::Clean if self.explored && self.suppressed == 0 => Judgement::Robust,
            Status::Clean => Judgement::NoFinding,
            Status::Finding => Judgement::Violation,
            Status::BadInput | Status::Undecided | Status::Failed => Judgement::Unknown,
        }
    }

    /// The answer.
    pub(super) fn reply(self, runs: &Runs, style: Style) -> Reply {
        let reason = (!self.notes.is_empty()).then(|| self.notes.join("; "));
        let verdict = self.judgement();
        let (status, found) = (self.status, self.found);
        let text = answer_text(
            self.subject,
            &found,
            runs,
            verdict,
            reason.as_deref(),
            style,
        );
        let document = RunDocument {
            schema: "rsan/1",
            command: self.command,
            subject: self.subject.to_owned(),
            verdict,
            model: runs.model.unwrap_or(Model::C20).name(),
            property: "robust",
            reason,
            findings: found,
            stats: Stats {
                runs: runs.done,
                failures: runs.failures,
                timeouts: runs.timeouts,
                processes: runs.processes,
                suppressed: self.suppressed,
                seconds: self.seconds,
                schedules: self.schedules,
            },
        };
        Reply {
            status,
            text,
            document: Answer::Run(Box::new(document)),
            dot: None,
            interrupted: runs.interrupted,
        }
    }
}

pub(super) fn note_suppressions(suppressed: usize, all: &Suppressions, notes: &mut Vec<String>) {
    if suppressed > 0 {
        let s = if suppressed == 1 { "" } else { "s" };
        notes.push(format!("{suppressed} finding{s} suppressed"));
    }
    let unused = all.unused();
    if !unused.is_empty() {
        notes.push(format!("nothing matched {}", unused.join(", ")));
    }
}

fn answer_text(
    subject: &str,
    found: &[Finding],
    runs: &Runs,
    verdict: Judgement,
    reason: Option<&str>,
    style: Style,
) -> String {
    let model = match runs.model {
        None | Some(Model::C20) => String::new(),
        Some(other) => format!(" against {other}"),
    };
    let subject = name(subject);
    let in_runs = format!("in {}{model}", text::runs(runs.done));
    let plural = if found.len() == 1 { "" } else { "s" };
    let mut text = match verdict {
        Judgement::Violation => format!("{subject}: {} finding{plural} {in_runs}", found.len()),
        Judgement::Robust => format!("{subject}: robust, no finding {in_runs}"),
        Judgement::NoFinding => format!("{subject}: no finding {in_runs}"),
        Judgement::Unknown => format!("{subject}: undecided, no finding {in_runs}"),
    };
    if let Some(reason) = reason {
        text.push_str("; ");
        text.push_str(reason);
    }
    text.push('\n');
    text + &text::text(found, runs.done, style)
}
