//! Chores that are a list of cargo commands.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// One cargo command.
pub(crate) struct Step {
    /// Its arguments.
    args: &'static [&'static str],
    /// Variables set for it.
    env: &'static [(&'static str, &'static str)],
}

/// The whole test command; `.ci/run` calls it.
pub(crate) const TEST: &[Step] = &[
    Step {
        args: &["fmt", "--all", "--check"],
        env: &[],
    },
    Step {
        args: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        env: &[],
    },
    // The command is left out of the next step: a library has its name, and its pages stay.
    Step {
        args: &["rustdoc", "--package", "rsan", "--bin", "rsan"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step {
        args: &["doc", "--workspace", "--no-deps"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step {
        args: &["test", "--workspace"],
        env: &[],
    },
];

/// Rewrites what tests record.
pub(crate) const BLESS: &[Step] = &[Step {
    args: &["test", "--package", "rsan"],
    env: &[("RSAN_BLESS", "1")],
}];

/// Runs the steps in order; the first that fails ends it with its own exit status.
pub(crate) fn run(steps: &[Step]) -> ExitCode {
    let began = Instant::now();
    for step in steps {
        eprintln!("xtask: {step}");
        let step_began = Instant::now();
        let status = cargo()
            .args(step.args)
            .envs(step.env.iter().copied())
            .status();
        let seconds = step_began.elapsed().as_secs_f64();
        match status {
            Ok(status) if status.success() => eprintln!("xtask: ok after {seconds:.1} s"),
            Ok(status) => {
                eprintln!("xtask: failed ({status}) after {seconds:.1} s: {step}");
                return status
                    .code()
                    .and_then(|code| u8::try_from(code).ok())
                    .map_or(ExitCode::FAILURE, ExitCode::from);
            }
            Err(error) => {
                eprintln!("xtask: cannot run {step}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    eprintln!(
        "xtask: everything passed in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// The cargo that runs this program, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask has a parent directory")
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in self.env {
            write!(f, "{name}='{value}' ")?;
        }
        write!(f, "cargo {}", self.args.join(" "))
    }
}
