//! The `rsan` command: reads programs, asks an engine, shows the answer.
//!
//! Decides nothing itself. What scripts rely on (exit statuses, formats, determinism) is enforced in [`status`]
//! and [`session`]; the commands are one module each.

mod args;
mod check;
mod input;
mod interrupt;
mod litmus;
mod progress;
mod quantity;
mod session;
mod status;
mod terminal;
mod verify;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let status = match Cli::parse().command {
        Command::Verify(args) => verify::run("verify", &args, session::accept_all),
        Command::Litmus(args) => litmus::run(&args),
        Command::Check(args) => check::run(&args),
    };
    ExitCode::from(status.code())
}
