//! Programs compiled and explored by the command itself.

use super::{Looping, print};
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// The command that is tested, and how it is called.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The command.
    pub rsan: PathBuf,
    /// A folder for what is compiled.
    pub folder: PathBuf,
    /// `RSAN_OPTIONS` of the explored programs.
    pub options: String,
    /// Time for each exploration.
    pub time_limit: String,
}

/// What the exploration of a program says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The verdict as it is printed.
    pub verdict: String,
    /// Everything was explored.
    pub complete: bool,
    /// Weak behaviours were found.
    pub weak: bool,
    /// Data races were found.
    pub race: bool,
    /// Deadlocks were found.
    pub deadlock: bool,
    /// What is said about the verdict.
    pub reason: String,
    /// Number of executions.
    pub executions: u64,
    /// Number of runs in excess.
    pub excess: u64,
}

/// How programs are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// With every access of the source, as `rsan check` does.
    Written,
    /// At a level of optimisation.
    Optimised(u8),
}

impl Level {
    fn option(self) -> String {
        match self {
            Self::Written => "--rsan-as-written".to_owned(),
            Self::Optimised(level) => format!("-O{level}"),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written => f.write_str("written"),
            Self::Optimised(level) => write!(f, "{level}"),
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "written" => Ok(Self::Written),
            Ok(level @ 0..=3) => Ok(Self::Optimised(level)),
            _ => Err("a level is a number from 0 to 3, or `written`".to_owned()),
        }
    }
}

impl Answer {
    /// Whether what was not found is not there: all was explored, and everything decided.
    pub fn is_certain(&self) -> bool {
        self.complete && !self.reason.contains("undecided at ")
    }

    /// Whether nothing was found, and nothing proved.
    pub fn is_undecided(&self) -> bool {
        !(self.is_certain() || self.weak || self.race || self.deadlock)
    }
}

impl Tool {
    /// Compiles programs into one executable file, at an optimisation level, or as they are written.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn build(&self, name: &str, programs: &[Looping], level: Level) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let source = path.with_extension("c");
        let text = print::print(programs);
        std::fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
        let mut compiler = self.command();
        compiler
            .args(["cc", "-std=gnu11", &level.option(), "-pthread", "-o"])
            .args([&path, &source]);
        let output = compiler.output().map_err(|e| self.cannot_start(&e))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{} cannot be compiled:\n{errors}",
                source.display()
            ));
        }
        Ok(path)
    }

    /// Explores one of the programs of a file.
    ///
    /// # Errors
    /// What the command says if it does not answer.
    pub fn explore(&self, file: &Path, program: usize) -> Result<Answer, String> {
        let mut command = self.command();
        command
            .args(["run", "--exhaustive", "--format", "json", "--jobs", "1"])
            .args(["--time-limit", &self.time_limit, "--out"])
            .arg(file.with_extension("out"))
            .arg("--")
            .arg(file)
            .arg(program.to_string());
        if self.options.is_empty() {
            command.env_remove("RSAN_OPTIONS");
        } else {
            command.env("RSAN_OPTIONS", &self.options);
        }
        let output = command.output().map_err(|e| self.cannot_start(&e))?;
        let document = serde_json::from_slice(&output.stdout).ok();
        document.as_ref().and_then(answer).ok_or_else(|| {
            let text = String::from_utf8_lossy(&output.stderr);
            format!("no answer ({}): {text}", output.status)
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.rsan);
        command.env("XDG_CACHE_HOME", self.folder.join("cache"));
        command
    }

    fn cannot_start(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.rsan.display())
    }
}

/// The parts of a document that are compared.
fn answer(document: &Value) -> Option<Answer> {
    let findings = document["findings"].as_array()?;
    let found = |kind: &str| findings.iter().any(|f| f["kind"] == kind);
    let exploration = &document["stats"]["schedules"]["exploration"];
    let notes = document["notes"].as_array().into_iter().flatten();
    let notes: Vec<&str> = notes.filter_map(Value::as_str).collect();
    Some(Answer {
        verdict: document["verdict"].as_str()?.to_owned(),
        complete: exploration["complete"].as_bool()?,
        weak: found("weak-behaviour"),
        race: found("data-race"),
        deadlock: found("deadlock"),
        reason: notes.join("; "),
        executions: exploration["executions"].as_u64()?,
        excess: exploration["excess"].as_u64()?,
    })
}
