//! The repository's own chores: `cargo xtask help`.
//!
//! Exit status: that of the chore's own command when it runs one and it fails, 1 when a chore finds something wrong,
//! 2 for wrong usage, else 0.

mod bench;
mod book;
mod crosscheck;
mod crosscheck_c;
mod package;
mod slurm;
mod steps;
mod wild;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    about = "The repository's own chores."
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check formatting, lints and documentation, and run all tests
    Test,
    /// Compare all engines with the oracle on random programs
    Crosscheck(crosscheck::Args),
    /// Compare `--exhaustive` with the verifier and the oracle on random C programs with loops
    CrosscheckC(crosscheck_c::Args),
    /// Measure
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Fetch, build and run real programs under the sanitizer, and compare their findings with what is known of them
    Wild(wild::Args),
    /// Make the packages of a release, and build the command of nothing else, in an empty folder
    Package,
    /// Compare campaigns through a real Slurm, which has to be installed, with runs on one machine; a node dies on the way
    Slurm(slurm::Args),
    /// Build the documentation as a book, with mdBook
    Book,
    /// Rewrite the recorded outputs and the examples in the documentation; read the difference afterwards
    Bless,
}

fn main() -> ExitCode {
    match Cli::parse().chore {
        Chore::Test => steps::run(steps::TEST),
        Chore::Crosscheck(args) => crosscheck::run(&args),
        Chore::CrosscheckC(args) => crosscheck_c::run(&args),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Wild(args) => wild::run(&args),
        Chore::Package => package::run(),
        Chore::Slurm(args) => slurm::run(&args),
        Chore::Book => book::run(),
        Chore::Bless => steps::run(steps::BLESS),
    }
}
