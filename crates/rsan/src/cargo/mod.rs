//! `cargo rsan`: packages of Rust, built with the sanitizer by a stock toolchain, tested and run.
//!
//! Cargo builds, with this command as its compiler and linker ([`build`]). It is then asked what it would run, and with which
//! environment, by being started again with a runner that only takes notes ([`record`]). Each `#[test]` is a unit: a process of this
//! command makes its runs, in the environment that cargo gives it ([`mod@unit`]). Several are at work at a time ([`workers`]); what they say is
//! one answer ([`answer`]).

mod answer;
mod build;
mod listing;
mod metadata;
mod nextest;
mod record;
mod run;
mod targets;
mod test;
mod unit;
mod workers;

pub(crate) use record::{RUNNER, runner};
pub(crate) use unit::{NAME as UNIT, run as unit};

use crate::args::CargoCommand;
use crate::rust::session::Session;
use crate::rust::{prepare, rustc};
use crate::session::eprint;
use crate::status::Status;

/// Runs a command of cargo with the sanitizer.
pub(crate) fn run(command: &CargoCommand) -> Status {
    let answer = match command {
        CargoCommand::Test(args) => test::run(args),
        CargoCommand::Nextest(args) => nextest::run(args),
        CargoCommand::Run(args) => run::run(args),
        CargoCommand::Build(words) => build::run("build", words),
        CargoCommand::Clean(words) => build::clean(words),
        CargoCommand::Setup(_) => setup(),
    };
    answer.unwrap_or_else(|message| {
        eprint(&format!("rsan: error: {message}\n"));
        Status::BadInput
    })
}

fn setup() -> Result<Status, String> {
    let session = Session::new(&rustc())?;
    prepare(&session.toolchain)?;
    let release = &session.toolchain.release;
    eprint(&format!(
        "rsan: the standard library of Rust {release} is instrumented\n"
    ));
    Ok(Status::Clean)
}
