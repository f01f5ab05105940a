//! Miri, if the nightly toolchain has it: many seeds of one program.

use super::outcome::Outcome;
use super::programs::{Case, folder};
use crate::bench::measure::{Cost, observe};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds for each program.
const SEEDS: u64 = 64;

/// The project that it runs.
pub(super) struct Miri {
    manifest: PathBuf,
}

impl Miri {
    /// Writes a project of the programs with the standard library.
    pub(super) fn find(work: &Path) -> Result<Self, String> {
        let version = Command::new("cargo")
            .args(["+nightly", "miri", "--version"])
            .output();
        if !version.is_ok_and(|output| output.status.success()) {
            return Err("the nightly toolchain has no Miri".to_owned());
        }
        let project = work.join("miri");
        let manifest = project.join("Cargo.toml");
        let main = folder().join("main.rs");
        let text = format!(
            "[package]\nname = \"peers-miri\"\nedition = \"2024\"\n\n[[bin]]\nname = \"peers-miri\"\npath = {main:?}\n\n\
             [lints.rust]\nunexpected_cfgs = \"allow\"\n\n[workspace]\n"
        );
        std::fs::create_dir_all(&project)
            .and_then(|()| std::fs::write(&manifest, text))
            .map_err(|e| format!("cannot write {}: {e}", manifest.display()))?;
        Ok(Self { manifest })
    }

    /// Runs one program with every seed.
    pub(super) fn run(&self, case: &Case) -> Result<Outcome, String> {
        let errors = self.manifest.with_file_name("stderr.txt");
        let mut command = Command::new("sh");
        // Its messages are read from a file: what is measured has only one pipe.
        command
            .args(["-c", "exec cargo +nightly miri run --quiet --manifest-path \"$0\" -- \"$2\" 2 once 0 0 2> \"$1\""])
            .args([&self.manifest, &errors])
            .arg(&case.program)
            .env_remove("CARGO")
            .env_remove("RUSTUP_TOOLCHAIN")
            .env("MIRIFLAGS", format!("-Zmiri-many-seeds=0..{SEEDS}"));
        let (output, _, cost) = observe(&mut command)?;
        let errors = std::fs::read_to_string(&errors).unwrap_or_default();
        Ok(read(&output, &errors, cost))
    }
}

/// What Miri printed: each run of the program a line of ours, and an error of its own.
pub(super) fn read(output: &str, errors: &str, cost: Cost) -> Outcome {
    let mut outcome = Outcome::new(cost);
    let ended = output
        .lines()
        .filter(|line| line.starts_with("{\"executions\""));
    outcome.executions = Some(ended.count() as u64);
    let error = errors.lines().find_map(|line| line.strip_prefix("error: "));
    let panicked = output.lines().find_map(|line| {
        let (_, rest) = line.split_once("\"error\":\"")?;
        rest.strip_suffix("\"}")
    });
    outcome.error = panicked.or(error).map(str::to_owned);
    if panicked.is_none() && error.is_some() {
        outcome.others = 1;
    }
    outcome
}
