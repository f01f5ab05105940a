//! Benchmarks: ratios against a peer, taken in one run on one machine.

mod corpus;
mod explore;
pub(crate) mod measure;
mod peer;
mod peers;
mod port;
mod published;
mod report;
mod sanitizer;
mod scheduling;
mod table;
mod tso;
mod verify;

pub(crate) use sanitizer::runtime;
use std::process::ExitCode;
pub(crate) use verify::build as rsan_command;

#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    /// `rsan verify` on the programs of Rocker's tables, against Rocker when it is installed
    ///
    /// The environment variable RSAN_ROCKER names a command that is called as `COMMAND FILE ra|rc20 egr|wegr` and prints
    /// one line: verdict (robust or not), seconds to compile, seconds of the verifier run, its peak memory in MiB, states,
    /// transitions; then, if known, a mode and the CPU seconds of the verifier run.
    Verify(verify::Args),
    /// Programs under the sanitizer, against ThreadSanitizer: time, memory, and how both grow
    Sanitizer(sanitizer::Args),
    /// Controlled scheduling: runs per second, the cost of a switch, and seeds that find what needs a schedule
    Scheduling(scheduling::Args),
    /// Robustness against TSO and fences, against Trencher when it is installed, and how both grow with the threads
    ///
    /// The environment variable RSAN_TRENCHER names its command.
    Tso(tso::Args),
    /// Exploration of all executions, against loom, shuttle, and GenMC and Nidhugg when they are installed
    ///
    /// The environment variables RSAN_GENMC and RSAN_NIDHUGG name commands that are not on the search path (`genmc`,
    /// `nidhuggc`). loom and shuttle are taken from the registry of crates.
    Peers(peers::Args),
    /// Weak executions: in how many runs each strategy finds the bugs of data structures, against C11Tester when it is installed
    ///
    /// The environment variable RSAN_C11TESTER names a command that is called as `COMMAND FILE RUNS`, for a C file, and prints one line: of 100
    /// runs, those that found something, and milliseconds of CPU for a run.
    Explore(explore::Args),
    /// `rsan port` on the programs of published tables: fences beside the published numbers, time, and growth with the size
    Port(port::Args),
}

/// Runs a benchmark; fails only when something cannot be run at all.
pub(crate) fn run(bench: &Bench) -> ExitCode {
    let result = match bench {
        Bench::Verify(args) => verify::run(args),
        Bench::Sanitizer(args) => sanitizer::run(args),
        Bench::Scheduling(args) => scheduling::run(args),
        Bench::Tso(args) => tso::run(args),
        Bench::Peers(args) => peers::run(args),
        Bench::Explore(args) => explore::run(args),
        Bench::Port(args) => port::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
