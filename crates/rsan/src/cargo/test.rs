//! `cargo rsan test`.

use super::answer::{Answer, Test};
use super::build::{self, Build};
use super::listing::{self, Wishes};
use super::record::{self, Started};
use super::targets::{Target, targets};
use super::unit::{Common, Order, folder_of};
use super::workers::{self, Job};
use crate::args::CargoTestArgs;
use crate::interrupt;
use crate::progress::Progress;
use crate::sanitizer::campaign::quoted;
use crate::sanitizer::library;
use crate::session::eprint;
use crate::status::Status;
use std::fs;
use std::process::Stdio;

/// Options that say which targets are tested.
const CHOICES: &[&str] = &[
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--example",
    "--examples",
    "--bench",
    "--benches",
    "--all-targets",
];

/// Builds the tests, runs them and reports.
///
/// # Errors
/// The message for the user.
pub(super) fn run(args: &CargoTestArgs) -> Result<Status, String> {
    let build = Build::new(&args.words)?;
    if build.has(&["--doc"]) {
        return Err(
            "doc tests are not run with the sanitizer; `cargo test --doc` runs them".into(),
        );
    }
    if build.has(&["--message-format"]) {
        return Err("--message-format is for `cargo rsan build`".to_owned());
    }
    if build.has(&["--no-run"]) {
        return build::run("test", &args.words);
    }
    let Some(programs) = programs(&build)? else {
        return Ok(Status::BadInput);
    };
    let packages: Vec<_> = programs
        .iter()
        .map(|(_, target)| &*target.package)
        .collect();
    if !build.has(CHOICES) && build.metadata.has_doc_tests(&packages) {
        eprint("rsan: doc tests are not run with the sanitizer; `cargo test --doc` runs them\n");
    }
    let Some(units) = Units::new(args, &build, programs)? else {
        return Ok(Status::Clean);
    };
    units.run(args)
}

/// The programs with tests, in cargo's order; nothing if they cannot be built, which cargo has said.
fn programs(build: &Build) -> Result<Option<Vec<(Started, Target)>>, String> {
    // Doc tests would be linked without the sanitizer.
    let own = match build.has(CHOICES) {
        true => None,
        false => Some("--tests"),
    };
    let mut words = vec!["--no-run", "--message-format=json-render-diagnostics"];
    words.extend(own);
    let fail = |error: std::io::Error| format!("cargo: {error}");
    let mut command = build.command("test", &words);
    let built = command.stderr(Stdio::inherit()).output().map_err(fail)?;
    if !built.status.success() {
        return Ok(None);
    }
    let targets = targets(&String::from_utf8_lossy(&built.stdout), &build.metadata);
    let folder = build.scratch.path().join("notes");
    fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let mut words = vec!["--no-fail-fast"];
    words.retain(|word| !build.has(&[word]));
    words.extend(own);
    let mut command = build.command("test", &words);
    let noted = command.env(record::VARIABLE, &folder).output();
    let noted = noted.map_err(fail)?;
    if !noted.status.success() {
        let said = String::from_utf8_lossy(&noted.stderr);
        return Err(format!("cargo does not say what it would run: {said}"));
    }
    let mut programs = Vec::new();
    for mut started in record::notes(&folder)? {
        build.restore(&mut started.environment);
        let program = started.folder.join(&started.program[0]);
        let target = targets.iter().find(|target| target.executable == program);
        let target = target.ok_or_else(|| format!("{}: not built here", program.display()))?;
        started.program[0] = program.into();
        programs.push((started, target.clone()));
    }
    Ok(Some(programs))
}

/// All tests.
struct Units {
    subject: String,
    /// Those that are ignored have no job.
    tests: Vec<(Test, Option<usize>)>,
    jobs: Vec<Job>,
    wishes: Wishes,
}

impl Units {
    /// Nothing, if their names were all that was wanted.
    fn new(
        args: &CargoTestArgs,
        build: &Build,
        programs: Vec<(Started, Target)>,
    ) -> Result<Option<Self>, String> {
        let mut units = Self {
            subject: build.metadata.subject(),
            tests: Vec::new(),
            jobs: Vec::new(),
            wishes: Wishes::default(),
        };
        let is_only_package = build.metadata.packages.len() == 1;
        let common = Common {
            library: library::folder()?,
            symbols: build.scratch.path().join("symbols"),
        };
        let mut listed = false;
        for (started, target) in programs {
            let whole = Case {
                args,
                build,
                is_only_package,
                target: &target,
                started: &started,
                common: &common,
            };
            if !target.has_harness() {
                // What it makes of its words is its own affair.
                units.wishes.shown |= started.program.iter().any(|word| word == "--nocapture");
                units.add(
                    whole.test(None),
                    Some(whole.job(None, started.program.clone())?),
                );
                continue;
            }
            let shown = units.wishes.shown;
            units.wishes = Wishes::of(&started.program[1..])?;
            units.wishes.shown |= shown;
            if units.wishes.list {
                let mut command = listing::command(&started)?;
                let status = command.args(&started.program[1..]).status();
                status.map_err(|error| error.to_string())?;
                listed = true;
                continue;
            }
            for test in units.wishes.tests(&started)? {
                let name = Some(&*test.name);
                let mut words = vec![started.program[0].clone()];
                words.extend(units.wishes.for_test(&test.name));
                let job = match test.ignored {
                    true => None,
                    false => Some(whole.job(name, words)?),
                };
                units.add(whole.test(name), job);
            }
        }
        Ok((!listed).then_some(units))
    }

    fn add(&mut self, mut test: Test, job: Option<Job>) {
        test.ignored = job.is_none();
        let number = job.is_some().then_some(self.jobs.len());
        self.jobs.extend(job);
        self.tests.push((test, number));
    }

    /// Runs them, and says what came of it.
    fn run(mut self, args: &CargoTestArgs) -> Result<Status, String> {
        let origin = std::env::current_dir().map_err(|error| error.to_string())?;
        let stop = interrupt::stop_flag().ok_or("signals cannot be watched")?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = self.wishes.threads.unwrap_or(cores);
        let alone = self.jobs.len() == 1;
        for job in &mut self.jobs {
            job.order.jobs = if alone { 0 } else { 1 };
        }
        let mut answer = Answer::new(&self.subject, &args.report, &origin, self.wishes.shown);
        let mut progress = Some(Progress::new(&self.subject));
        let all = self.jobs.len();
        let mut tests = self.tests.iter().peekable();
        let mut skip_ignored = |answer: &mut Answer<'_>, up_to: usize| {
            while let Some((test, number)) = tests.peek() {
                match number {
                    Some(number) if *number >= up_to => return None,
                    Some(_) => return tests.next().map(|(test, _)| test),
                    None => answer.add(test, None),
                }
                tests.next();
            }
            None
        };
        workers::in_order(&self.jobs, workers, &stop, |number, done| {
            // A line of progress must not stand before that of a test.
            progress.take();
            if let Some(test) = skip_ignored(&mut answer, number + 1) {
                answer.add(test, done);
            }
            let mut line = Progress::new(&self.subject);
            let found = answer.found();
            line.show(&format!("{} of {all} tests, {found} findings", number + 1));
            progress = Some(line);
        });
        progress.take();
        skip_ignored(&mut answer, usize::MAX);
        Ok(answer.finish())
    }
}

/// A program with tests, for one of them.
struct Case<'a> {
    args: &'a CargoTestArgs,
    build: &'a Build,
    is_only_package: bool,
    target: &'a Target,
    started: &'a Started,
    common: &'a Common,
}

impl Case<'_> {
    fn test(&self, name: Option<&str>) -> Test {
        let mut again = self.build.again(&self.target.chosen(self.is_only_package));
        if let Some(name) = name {
            again.push_str(&format!(" -- --exact {}", quoted(name)));
        }
        Test {
            label: self.target.label(name, self.is_only_package),
            again,
            ignored: false,
        }
    }

    fn job(&self, name: Option<&str>, program: Vec<std::ffi::OsString>) -> Result<Job, String> {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let said = self.build.scratch.path().join(format!("{number}.json"));
        let label = self.target.label(name, self.is_only_package);
        let origin = std::env::current_dir().map_err(|error| error.to_string())?;
        Ok(Job {
            order: Order {
                own: self.args.words.own.clone(),
                origin,
                program,
                out: folder_of(&label),
                subject: label,
                as_written: self.target.as_written,
                jobs: 1,
                said,
                common: Some(self.common.clone()),
            },
            started: self.started.clone(),
        })
    }
}
