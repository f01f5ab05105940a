//! `cargo rsan nextest`: cargo-nextest starts a process for each test through cargo's runner, which makes the runs of the test here
//! and leaves what came of them in a file.

use super::answer::{Answer, Test, outcome};
use super::build::Build;
use super::listing;
use super::record::Started;
use super::unit::{Order, Said, folder_of, said};
use super::workers::Done;
use crate::args::{CargoTestArgs, CargoWords};
use crate::files;
use crate::interrupt;
use crate::sanitizer::campaign::quoted;
use crate::session::eprint;
use crate::status::Status;
use rsan_report::document::{Finding, TestOutcome};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// Has the [`Session`] as JSON.
const VARIABLE: &str = "RSAN_CARGO_NEXTEST";

/// What runners have to know.
#[derive(Serialize, Deserialize)]
struct Session {
    own: Vec<OsString>,
    origin: PathBuf,
    folder: PathBuf,
}

/// What a runner leaves.
#[derive(Serialize, Deserialize)]
struct Left {
    /// As cargo-nextest names programs: `package`, `package::test`, `package::bin/name`.
    program: String,
    test: String,
    said: Said,
}

impl Left {
    /// `package::stress::one`
    fn label(&self) -> String {
        let parts = [&*self.program, &*self.test];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("::")
    }

    /// What stands in a command that runs only this test, after its options.
    fn again(&self) -> String {
        let (package, target) = match self.program.split_once("::") {
            Some((package, target)) => (package, target),
            None => (&*self.program, ""),
        };
        let target = match target.split_once('/') {
            Some((kind, name)) => format!("--{kind} {}", quoted(name)),
            None if target.is_empty() => "--lib".to_owned(),
            None => format!("--test {}", quoted(target)),
        };
        let (package, test) = (quoted(package), quoted(&self.test));
        format!("-p {package} {target} -- --exact {test}")
    }
}

/// Builds the tests, lets cargo-nextest run them, and reports.
///
/// # Errors
/// The message for the user.
pub(super) fn run(args: &CargoTestArgs) -> Result<Status, String> {
    let Some((name, rest)) = args.words.cargo.split_first() else {
        return Err("what cargo-nextest is to do is missing: `cargo rsan nextest run`".to_owned());
    };
    let build = Build::new(&CargoWords {
        cargo: rest.to_vec(),
        ..args.words.clone()
    })?;
    let folder = build.scratch.path().join("tests");
    fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let origin = std::env::current_dir().map_err(|error| error.to_string())?;
    let session = Session {
        own: args.words.own.clone(),
        origin: origin.clone(),
        folder: folder.clone(),
    };
    let session = serde_json::to_string(&session).map_err(|error| error.to_string())?;
    let mut command = build.bare();
    command.arg("nextest").arg(name);
    let status = build.finish(command).env(VARIABLE, session).status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    let all = left(&folder)?;
    if all.is_empty() {
        return Ok(match status.success() {
            true => Status::Clean,
            false => Status::BadInput,
        });
    }
    let subject = build.metadata.subject();
    let mut answer = Answer::new(&subject, &args.report, &origin, false);
    for left in all {
        let test = Test {
            again: left.again(),
            label: left.label(),
            ignored: false,
        };
        let done = Done {
            said: Some(left.said),
            output: String::new(),
            seconds: 0.0,
        };
        answer.add(&test, Some(done));
    }
    Ok(answer.finish())
}

/// What the runners left, in the order of the tests' names.
fn left(folder: &Path) -> Result<Vec<Left>, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let files = entries.flatten().map(|entry| entry.path());
    let read = |file: PathBuf| {
        let text = files::read_text(&file, files::RECORD).ok()?;
        serde_json::from_str::<Left>(&text).ok()
    };
    let mut all: Vec<_> = files.filter_map(read).collect();
    all.sort_by_key(Left::label);
    Ok(all)
}

/// Runs what cargo-nextest wants to run; returns the exit status.
pub(super) fn runner(words: &[OsString]) -> u8 {
    match attempt(words) {
        Ok(status) => status,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

fn attempt(words: &[OsString]) -> Result<u8, String> {
    let session =
        std::env::var(VARIABLE).map_err(|_| format!("{} is started by cargo", super::RUNNER))?;
    let session: Session = serde_json::from_str(&session).map_err(|error| error.to_string())?;
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    if words.iter().any(|word| word == "--list") {
        let started = Started {
            program: words.to_vec(),
            folder,
            environment: std::env::vars_os().collect(),
        };
        let error = listing::command(&started)?.args(&words[1..]).exec();
        return Err(error.to_string());
    }
    let mut left = Left {
        program: std::env::var("NEXTEST_BINARY_ID").unwrap_or_default(),
        test: test(words),
        said: Said::default(),
    };
    let order = Order {
        own: session.own,
        origin: session.origin,
        program: words.to_vec(),
        subject: left.label(),
        out: folder_of(&left.label()),
        as_written: false,
        jobs: 1,
        said: PathBuf::new(),
        common: None,
    };
    let stop = interrupt::stop_flag().ok_or("signals cannot be watched")?;
    let said = said(&order, &stop)?;
    let file = session.folder.join(std::process::id().to_string());
    let (outcome, notes) = outcome(&said);
    let documents = said.free.iter().chain(&said.scheduled);
    let found = documents.flat_map(|document| &document.findings);
    let found = found.filter(|finding| Finding::counts(finding)).count();
    left.said = said;
    let left = serde_json::to_string(&left).map_err(|error| error.to_string())?;
    files::write(&file, left.as_bytes()).map_err(|error| error.to_string())?;
    for note in notes {
        eprint(&format!("rsan: {note}\n"));
    }
    if found > 0 {
        eprint("rsan: this test has findings, which are shown when all tests have ended\n");
    }
    Ok(u8::from(found > 0 || outcome != TestOutcome::Ok))
}

/// The name of the test that is started.
fn test(words: &[OsString]) -> String {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    let name = words.find(|word| !word.starts_with('-'));
    name.unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_nextest_are_named_as_cargo_names_them() {
        let again = |program: &str| {
            let left = Left {
                program: program.to_owned(),
                test: "one".to_owned(),
                said: Said::default(),
            };
            left.again()
        };
        assert_eq!(again("pool"), "-p pool --lib -- --exact one");
        assert_eq!(
            again("pool::stress"),
            "-p pool --test stress -- --exact one"
        );
        assert_eq!(again("pool::bin/x"), "-p pool --bin x -- --exact one");
        let words = ["program", "--exact", "a::b", "--nocapture"].map(OsString::from);
        assert_eq!(test(&words), "a::b");
    }
}
