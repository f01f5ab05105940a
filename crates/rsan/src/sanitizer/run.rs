//! `rsan run`, and `rsan check` for C and C++: runs, their findings, and the answer.

use super::as_written;
use super::campaign::confirm::{Seen, confirm};
use super::campaign::{self, Clock, Memory, Request, is_wanted as is_scheduled, quoted};
use super::compile::compile;
use super::compiler::Language;
use super::execute::{Plan, Runs, Stdout, execute};
use super::findings::{self, Found};
use super::log::Findings;
use super::mixed;
use super::scratch::{self, Scratch};
use super::sources;
use super::suppress::Suppressions;
use super::symbols::is_rust;
use super::verdict::judge;
use crate::args::{BuildArgs, CheckArgs, Goal, RunArgs, SanitizerArgs};
use crate::files;
use crate::input::failure;
use crate::interrupt;
use crate::rust::single;
use crate::session::{Reply, baseline, eprint, render};
use crate::shard::Portion;
use crate::status::Status;
use rsan_model::Model;
use rsan_report::document::{Schedules, Severity, Stats};
use rsan_report::{Claim, Command, Document, Judgement};
use rsan_schedule::{End, Settings};
use rsan_verify::Property;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Runs an instrumented program.
pub(crate) fn run(args: &RunArgs) -> Status {
    let subject = args.program[0].display().to_string();
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let request = request(args, &subject, &stop);
    let reply = match is_scheduled(&args.schedule) {
        true => campaign::answer(&request),
        false if args.shard.shard.is_some() => Err(UNSCHEDULED.to_owned()),
        false => unscheduled(args, &request),
    };
    match reply.map(|reply| reply.judged(baseline.as_ref(), args.report.fail_on)) {
        Ok(reply) => reply
            .status
            .and(render(args.report.rendering(), vec![reply.document], false)),
        Err(message) => {
            eprint(&format!("error: {message}\n"));
            Status::BadInput
        }
    }
}

fn unscheduled(args: &RunArgs, request: &Request<'_>) -> Result<Reply, String> {
    let plan = Plan {
        program: &args.program,
        runs: args.runs.unwrap_or(1),
        timeout: args.schedule.control.timeout,
        log: args.log.as_deref(),
        stdout: match args.report.leaves_stdout() {
            true => Stdout::Shared,
            false => Stdout::Stderr,
        },
        options: args.model.map(option).unwrap_or_default(),
        preload: !args.no_preload,
        halt: None,
        stop: request.stop,
    };
    answer(plan, request)
}

/// Why runs cannot be split.
const UNSCHEDULED: &str = "--shard needs --sched or --exhaustive: free runs are not told apart";

/// What to run under controlled scheduling, if that is asked.
fn request<'a>(args: &'a RunArgs, subject: &'a str, stop: &'a AtomicBool) -> Request<'a> {
    Request {
        command: Command::Run,
        subject,
        program: &args.program,
        as_written: true,
        again: program_again(&args.program),
        memory: Memory::Sequential(&args.schedule),
        portion: Portion::of(args.shard.shard.as_ref()),
        schedule: &args.schedule.control,
        sanitizer: &args.sanitizer,
        runs: args.runs,
        jobs: args.jobs,
        time_limit: args.time_limit,
        model: args.model,
        confirm: args.confirm.confirm,
        report: &args.report,
        stop,
        standing: None,
    }
}

/// What a file that `check` compiles is written in, by its extension.
pub(crate) fn written(file: &str) -> Option<Written> {
    let is_rust = Path::new(file).extension().is_some_and(|e| e == "rs");
    let rust = is_rust.then_some(Written::Rust);
    language(file).map(Written::C).or(rust)
}

/// The language of a file that a compiler of C takes, by its extension.
pub(crate) fn language(file: &str) -> Option<Language> {
    match Path::new(file).extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Language::Cpp),
        _ => None,
    }
}

/// For `check`, which has nobody waiting for a program that hangs.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// A program to compile.
pub(crate) struct Sources<'a> {
    /// Its name for the user.
    pub(crate) subject: String,
    pub(crate) files: &'a [String],
    pub(crate) language: Written,
}

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// C or C++.
    C(Language),
    /// Rust.
    Rust,
}

/// A program that was compiled; it is gone when this is dropped.
pub(crate) struct Built {
    program: OsString,
    _scratch: Scratch,
}

impl Built {
    /// The program and its arguments.
    pub(crate) fn with(&self, arguments: &[OsString]) -> Vec<OsString> {
        [std::slice::from_ref(&self.program), arguments].concat()
    }
}

/// Whether a program makes every access of its source.
pub(crate) fn is_as_written(args: &BuildArgs) -> bool {
    args.level.as_deref().is_none_or(|level| level == "0")
}

/// Compiles a program.
///
/// # Errors
/// The complete message for the user.
pub(crate) fn build(sources: &Sources<'_>, args: &BuildArgs) -> Result<Built, String> {
    let file = &*sources.subject;
    let fail = |message: String| failure(file, &message);
    for file in sources.files {
        std::fs::metadata(file).map_err(|error| failure(file, &error))?;
    }
    scratch::sweep();
    let scratch = Scratch::new().map_err(fail)?;
    // The name is seen by the program, and in reports.
    let name = Path::new(&sources.files[0]).file_stem();
    let program = scratch.path().join(name.unwrap_or("program".as_ref()));
    let level = args.level.as_deref();
    let language = match sources.language {
        Written::C(language) => language,
        Written::Rust => {
            let level = level.unwrap_or("0");
            let status = single::compile(file, &program, level, &args.flags)?;
            if !status.success() {
                return Err(failure(file, &"it cannot be compiled"));
            }
            return Ok(Built {
                program: program.into(),
                _scratch: scratch,
            });
        }
    };
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
    let status = compile(language, &words).map_err(fail)?;
    if !status.success() {
        return Err(failure(file, &"it cannot be compiled"));
    }
    note_openmp(sources.files, &args.flags);
    Ok(Built {
        program: program.into(),
        _scratch: scratch,
    })
}

/// Compiles a program and runs it.
///
/// # Errors
/// The complete message for the user.
pub(crate) fn check(
    args: &CheckArgs,
    stop: &AtomicBool,
    sources: &Sources<'_>,
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
    let built = build(sources, &args.build)?;
    let program = &built.with(&args.arguments);
    let request = Request {
        command: Command::Check,
        subject: file,
        program,
        as_written: is_as_written(&args.build),
        again: again(&args.build, sources.files, &args.arguments),
        memory: Memory::Sequential(&args.schedule),
        portion: Portion::of(args.shard.shard.as_ref()),
        schedule: &args.schedule.control,
        sanitizer: &args.sanitizer,
        runs: args.runs,
        jobs: args.verify.limits.jobs,
        time_limit: args.verify.limits.time_limit,
        model: Some(model),
        confirm: args.confirm.confirm,
        report: &args.verify.report,
        stop,
        standing: None,
    };
    if is_scheduled(&args.schedule) {
        return campaign::answer(&request).map_err(fail);
    }
    if args.shard.shard.is_some() {
        return Err(fail(UNSCHEDULED.to_owned()));
    }
    let limit = args.schedule.control.timeout;
    let limit = limit.or(args.verify.limits.time_limit);
    let plan = Plan {
        program,
        runs: args.runs.unwrap_or(mixed::FREE),
        timeout: Some(limit.unwrap_or(CHECK_TIMEOUT)),
        log: None,
        stdout: Stdout::Dropped,
        options: option(model),
        preload: true,
        halt: None,
        stop,
    };
    match args.runs {
        None => mixed::answer(plan, &request).map_err(fail),
        Some(_) => answer(plan, &request).map_err(fail),
    }
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

/// What stands after the options in a command that compiles and runs the same program.
pub(crate) fn again(build: &BuildArgs, files: &[String], arguments: &[OsString]) -> String {
    let level = build.level.as_ref().map(|level| format!("-O{level}"));
    let together = build.together.then(|| "--together".to_owned());
    let word = |word: &OsString| quoted(&word.to_string_lossy());
    let mut words: Vec<_> = level.into_iter().chain(together).collect();
    words.extend(build.flags.iter().map(word));
    words.extend(files.iter().map(|file| quoted(file)));
    if !arguments.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.iter().map(word));
    }
    words.join(" ")
}

/// The same of a program and its arguments.
pub(crate) fn program_again(program: &[OsString]) -> String {
    let words = program.iter();
    let words: Vec<_> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    format!("-- {}", words.join(" "))
}

/// The setting of the runtime for a model.
pub(crate) fn option(model: Model) -> Settings<'static> {
    let mut settings = Settings::default();
    settings.add("model", model.name());
    settings
}

/// Runs as planned and asked, and says what came of it.
///
/// # Errors
/// The message for the user.
pub(crate) fn answer(plan: Plan<'_>, request: &Request<'_>) -> Result<Reply, String> {
    let start = Instant::now();
    let (args, bar) = (request.sanitizer, request.report.fail_on);
    let mut suppressions = Suppressions::wanted(args)?;
    let program = &plan.program[0];
    let runs = {
        let wanted = |logged: &Findings| {
            let mut found = findings::findings(logged, Model::C20).into_iter();
            found.any(|found| halts(&found, args, bar) && !suppressions.suppresses(&found))
        };
        let mut plan = plan;
        if args.halt_on_error {
            plan.halt = Some(&wanted);
            // The runtime is faster, but it would end at suppressed findings, at notes and inside the standard library of Rust, too.
            let hides = || !args.include_std && is_rust(Path::new(program));
            if suppressions.is_empty() && bar == Severity::Note && !hides() {
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
        let found = found.iter_mut();
        found.for_each(|found| found.finding.process = None);
    }
    include_libraries(&mut found, args);
    let (status, mut notes) = judge(&runs, program, &found);
    let clock = Clock::new(request.time_limit);
    let failed = runs.failure.map(|status| End::Failed(status.into_raw()));
    let seen = Seen::plain(&runs.findings, failed);
    notes.extend(confirm(request, &clock, &mut found, &seen));
    notes.extend(suppressions.notes(suppressed));
    let conclusion = Conclusion {
        command: request.command,
        subject: request.subject,
        status,
        notes,
        found,
        suppressed,
        in_standard: suppressions.in_standard(),
        explored: false,
        seconds: start.elapsed().as_secs_f64(),
        schedules: None,
    };
    Ok(conclusion.reply(&runs))
}

/// Whether a finding decides the exit status, so that `--halt-on-error` ends the runs at it.
pub(super) fn halts(found: &Found, args: &SanitizerArgs, bar: Severity) -> bool {
    let counts = args.include_libraries || !found.finding.in_libraries;
    counts && found.finding.severity >= bar
}

/// Takes findings inside libraries for findings like others, if that is asked.
pub(super) fn include_libraries(all: &mut [Found], args: &SanitizerArgs) {
    let inside = all.iter_mut().filter(|_| args.include_libraries);
    inside.for_each(|found| found.finding.in_libraries = false);
}

/// What came of runs.
pub(super) struct Conclusion<'a> {
    pub(super) command: Command,
    pub(super) subject: &'a str,
    /// Findings aside.
    pub(super) status: Status,
    pub(super) notes: Vec<String>,
    pub(super) found: Vec<Found>,
    pub(super) suppressed: usize,
    /// What was found inside Rust's standard library and is left out.
    pub(super) in_standard: Vec<String>,
    /// Whether the runs were all executions of the subject.
    pub(super) explored: bool,
    pub(super) seconds: f64,
    pub(super) schedules: Option<Schedules>,
}

impl Conclusion<'_> {
    /// What the runs say of the program. Only all executions are a proof, and only if they show nothing at all.
    fn judgement(&self) -> Judgement {
        let nothing = self.suppressed == 0 && self.in_standard.is_empty() && self.found.is_empty();
        match self.status() {
            Status::Clean if self.explored && nothing => Judgement::Robust,
            Status::Clean => Judgement::NoFinding,
            Status::Finding => Judgement::Violation,
            Status::BadInput | Status::Undecided | Status::Failed => Judgement::Unknown,
        }
    }

    /// The status, with the findings that count.
    fn status(&self) -> Status {
        let counts = self.found.iter().any(|found| found.finding.counts());
        self.status.and(if counts {
            Status::Finding
        } else {
            Status::Clean
        })
    }

    /// The answer.
    pub(super) fn reply(self, runs: &Runs) -> Reply {
        let model = runs.model.unwrap_or(Model::C20);
        let (status, judgement) = (self.status(), self.judgement());
        let mut document = Document::new(self.command, self.subject, judgement, model);
        document.incomplete = judgement == Judgement::Violation && self.status != Status::Clean;
        // Weak runs look for what goes wrong, not for whether there are any.
        let asked = self.command != Command::Explore;
        document.property = asked.then_some(Claim::Robust);
        document.notes = self.notes;
        document.sources = sources::excerpts(self.found.iter().map(|found| &found.finding));
        document.findings = self.found.into_iter().map(|found| found.finding).collect();
        document.stats = Stats {
            runs: Some(runs.done as u64),
            failures: Some(runs.failures as u64),
            timed_failures: runs.timed_failures as u64,
            timeouts: Some(runs.timeouts as u64),
            processes: Some(runs.processes as u64),
            suppressed: Some(self.suppressed as u64),
            in_standard: self.in_standard,
            seconds: self.seconds,
            schedules: self.schedules,
            ..Stats::default()
        };
        Reply {
            status,
            document,
            interrupted: runs.interrupted,
        }
    }
}
