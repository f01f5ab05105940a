//! What `rsan cargo`, and with it `cargo rsan`, takes: rsan's own long options wherever they stand before `--`; all other words are
//! cargo's.

use super::help::{
    CARGO_BUILD_HELP, CARGO_CLEAN_HELP, CARGO_NEXTEST_HELP, CARGO_RUN_HELP, CARGO_SETUP_HELP,
    CARGO_TEST_HELP,
};
use super::values::{run_model, runs};
use super::{Cli, Command, ConfirmArgs, ReportArgs, SanitizerArgs, ScheduleArgs};
use crate::quantity;
use clap::{Args, CommandFactory, Parser, Subcommand};
use rsan_model::Model;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// What `cargo` takes.
#[derive(Args, Debug)]
pub(crate) struct CargoArgs {
    #[command(subcommand)]
    pub(crate) command: CargoCommand,
}

/// What to do with a package.
#[derive(Subcommand, Debug)]
pub(crate) enum CargoCommand {
    /// Runs the tests of packages, each in a process of its own, and reports
    #[command(after_help = CARGO_TEST_HELP, override_usage = "cargo rsan test [OPTIONS] [OPTIONS OF CARGO] [NAME] [-- OPTIONS OF THE TESTS]")]
    Test(Box<CargoTestArgs>),
    /// The same, with the tests run by cargo-nextest
    #[command(after_help = CARGO_NEXTEST_HELP, override_usage = "cargo rsan nextest [OPTIONS] run [OPTIONS OF NEXTEST]")]
    Nextest(Box<CargoTestArgs>),
    /// Runs a binary or an example
    #[command(after_help = CARGO_RUN_HELP, override_usage = "cargo rsan run [OPTIONS] [OPTIONS OF CARGO] [-- ARGUMENTS OF THE PROGRAM]")]
    Run(Box<CargoTestArgs>),
    /// Builds packages with the sanitizer
    #[command(after_help = CARGO_BUILD_HELP, override_usage = "cargo rsan build [OPTIONS OF CARGO]")]
    Build(CargoWords),
    /// Removes what `cargo rsan` has built
    #[command(after_help = CARGO_CLEAN_HELP, override_usage = "cargo rsan clean [OPTIONS OF CARGO]")]
    Clean(CargoWords),
    /// Instruments the standard library of the toolchain ahead of time
    #[command(after_help = CARGO_SETUP_HELP, override_usage = "cargo rsan setup")]
    Setup(CargoWords),
}

/// The words that are not rsan's.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CargoWords {
    /// For cargo.
    #[arg(skip)]
    pub(crate) cargo: Vec<OsString>,

    /// What stands after `--`; nothing if there is no `--`.
    #[arg(skip)]
    pub(crate) after: Option<Vec<OsString>>,

    /// Rsan's own, as they were given.
    #[arg(skip)]
    pub(crate) own: Vec<OsString>,
}

/// What `test`, `nextest` and `run` take. Short options are cargo's.
#[derive(Args, Debug)]
#[command(
    mut_arg("report", |arg| arg.short(None)),
    mut_arg("verbose", |arg| arg.short(None)),
)]
pub(crate) struct CargoTestArgs {
    #[command(flatten)]
    pub(crate) words: CargoWords,

    /// Number of runs of each test: 2 free ones and 100 scheduled ones, with --sched 1000
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    /// Memory model: c20 (the default) or rc20, which has no seq_cst accesses
    #[arg(long, value_parser = run_model)]
    pub(crate) model: Option<Model>,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,

    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,

    /// Stop all runs of a test after this time, under controlled scheduling
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Understands a command line that begins with `rsan cargo`.
///
/// # Errors
/// What is wrong with it, or the help that was asked for.
pub(super) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let Some(name) = words.get(2).and_then(|word| word.to_str()) else {
        return Cli::try_parse_from(words);
    };
    let mut table = Cli::command();
    table.build();
    let table = table.find_subcommand("cargo");
    let Some(table) = table.and_then(|cargo| cargo.find_subcommand(name)) else {
        return Cli::try_parse_from(words);
    };
    let rest = &words[3..];
    let end = rest.iter().position(|word| word == "--");
    let (before, after) = rest.split_at(end.unwrap_or(rest.len()));
    let (own, cargo) = separate(table, before);
    let mut cli = Cli::try_parse_from(words[..3].iter().chain(&own))?;
    let given = CargoWords {
        cargo,
        after: end.map(|_| after[1..].to_vec()),
        own,
    };
    if let Command::Cargo(args) = &mut cli.command {
        match &mut args.command {
            CargoCommand::Test(args) | CargoCommand::Nextest(args) | CargoCommand::Run(args) => {
                args.words = given;
            }
            CargoCommand::Build(words)
            | CargoCommand::Clean(words)
            | CargoCommand::Setup(words) => *words = given,
        }
    }
    Ok(cli)
}

/// Rsan's own words, and cargo's.
fn separate(table: &clap::Command, words: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut own, mut cargo) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(value) = value_of(table, word) else {
            cargo.push(word.clone());
            continue;
        };
        own.push(word.clone());
        if value == Value::NextWord {
            own.extend(words.next().cloned());
        }
    }
    (own, cargo)
}

/// Where the value of an option is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// There is none, or it stands in the same word.
    Here,
    NextWord,
}

/// Where the value of an option of rsan is; nothing for what is cargo's.
fn value_of(table: &clap::Command, word: &OsStr) -> Option<Value> {
    let text = word.to_str()?;
    if text == "-h" {
        return Some(Value::Here);
    }
    let option = text.strip_prefix("--")?;
    let (name, is_whole) = match option.split_once('=') {
        Some((name, _)) => (name, true),
        None => (option, false),
    };
    let arg = table
        .get_arguments()
        .find(|arg| arg.get_long() == Some(name))?;
    let takes = arg.get_action().takes_values() && !arg.is_require_equals_set();
    Some(match takes && !is_whole {
        true => Value::NextWord,
        false => Value::Here,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<[String; 3]> {
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        let Command::Cargo(args) = parse(&words).ok()?.command else {
            return None;
        };
        let words = match args.command {
            CargoCommand::Test(args) | CargoCommand::Nextest(args) | CargoCommand::Run(args) => {
                args.words
            }
            CargoCommand::Build(words)
            | CargoCommand::Clean(words)
            | CargoCommand::Setup(words) => words,
        };
        let join = |words: &[OsString]| words.join(" ".as_ref()).to_string_lossy().into_owned();
        let after = words.after.unwrap_or_default();
        Some([join(&words.own), join(&words.cargo), join(&after)])
    }

    #[test]
    fn own_options_are_told_from_those_of_cargo() {
        let line = "rsan cargo test -p a --sched pct --runs=9 --release small -v -j 2 --confirm x -- --exact --runs";
        let own = "--sched pct --runs=9 --confirm";
        let expected = [own, "-p a --release small -v -j 2 x", "--exact --runs"];
        assert_eq!(parts(line), Some(expected.map(str::to_owned)));
        let build = ["", "--runs 3 --bin x", ""].map(str::to_owned);
        assert_eq!(parts("rsan cargo build --runs 3 --bin x"), Some(build));
        assert_eq!(parts("rsan cargo test --runs none"), None);
        assert_eq!(parts("rsan cargo frobnicate"), None);
        assert_eq!(parts("rsan cargo"), None);
    }
}
