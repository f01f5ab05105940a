//! loom and shuttle: a cargo project for each, which takes the crate from the registry.

use super::outcome::Outcome;
use super::programs::{Case, folder};
use crate::bench::measure::{Cost, observe};
use crate::steps::cargo;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate that explores Rust programs.
#[derive(Clone, Copy)]
pub(crate) struct Crate {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

pub(crate) const LOOM: Crate = Crate {
    name: "loom",
    version: "0.7.2",
};

pub(crate) const SHUTTLE: Crate = Crate {
    name: "shuttle",
    version: "0.9.9",
};

/// The programs, built with a crate.
pub(crate) struct Built {
    executable: PathBuf,
}

/// How a program is explored.
#[derive(Clone, Copy)]
pub(crate) enum Strategy {
    /// All schedules, for at most so many seconds.
    All(u64),
    /// So many schedules by PCT.
    Pct(usize),
}

impl Strategy {
    /// What there is to say of it.
    pub(crate) fn about(self) -> String {
        match self {
            Self::All(limit) => format!(", at most {limit} s of exploring"),
            Self::Pct(runs) => format!(", PCT of depth 3, {runs} runs"),
        }
    }
}

impl Crate {
    /// Builds the programs in a project below the given folder.
    pub(crate) fn build(self, work: &Path) -> Result<Built, String> {
        let project = work.join(self.name);
        let manifest = project.join("Cargo.toml");
        std::fs::create_dir_all(&project)
            .and_then(|()| std::fs::write(&manifest, self.manifest()))
            .map_err(|e| format!("cannot write {}: {e}", manifest.display()))?;
        let target = work.join("build");
        eprintln!(
            "xtask: building the programs with {} {}",
            self.name, self.version
        );
        let output = cargo()
            .args(["build", "--release", "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(&target)
            .output()
            .map_err(|e| format!("cannot run cargo: {e}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let error = text.lines().find(|line| line.starts_with("error"));
            let error = error.unwrap_or("cargo fails");
            return Err(format!("not reachable or not built ({error})"));
        }
        let executable = target.join("release").join(self.package());
        Ok(Built { executable })
    }

    fn package(self) -> String {
        format!("peers-{}", self.name)
    }

    fn manifest(self) -> String {
        let (package, Self { name, version }) = (self.package(), self);
        let main = folder().join("main.rs");
        let main = main.display();
        format!(
            r#"[package]
name = "{package}"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "{package}"
path = "{main}"

[features]
default = ["{name}"]
{name} = ["dep:{name}"]

[dependencies]
{name} = {{ version = "={version}", optional = true }}

[lints.rust]
unexpected_cfgs = "allow"

[workspace]
"#
        )
    }
}

impl Built {
    /// Runs one program.
    pub(crate) fn explore(&self, case: &Case, strategy: Strategy) -> Result<Outcome, String> {
        let (word, limit, runs) = match strategy {
            Strategy::All(limit) => ("dfs", limit, 0),
            // A run takes much less than a millisecond.
            Strategy::Pct(runs) => ("pct", 600, runs),
        };
        let mut command = Command::new("timeout");
        command.arg((limit + 10).to_string()).arg(&self.executable);
        command.args([&case.program, &case.threads.to_string(), word]);
        command.args([limit.to_string(), runs.to_string()]);
        let (output, _, cost) = observe(&mut command)?;
        Ok(read(&output, cost))
    }
}

/// The line that `main.rs` prints.
#[derive(Deserialize)]
struct Line {
    executions: u64,
    cut: u64,
    complete: bool,
    seconds: f64,
    error: Option<String>,
}

/// What a program printed.
pub(crate) fn read(output: &str, cost: Cost) -> Outcome {
    let mut outcome = Outcome::new(cost);
    let mut lines = output.lines().rev();
    let Some(line) = lines.find_map(|line| serde_json::from_str::<Line>(line).ok()) else {
        return outcome;
    };
    outcome.executions = Some(line.executions);
    outcome.others = line.cut;
    outcome.complete = line.complete;
    outcome.seconds = Some(line.seconds);
    outcome.error = line.error;
    outcome
}
