//! What `port` takes.

use super::ReportArgs;
use super::values::level;
use crate::quantity;
use clap::Args;
use rsan_model::machine::Machine;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What `port` takes.
#[derive(Args, Debug)]
pub(crate) struct PortArgs {
    /// C, C++ or Rust files, or LLVM's IR (.bc, .ll), which are one program together; or tests (.litmus, .tpl), one after the other
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// The machine on which the program is right: sc, x86, armv8, riscv, armv7 or power
    #[arg(long, value_name = "MACHINE", default_value = "x86", value_parser = str::parse::<Machine>)]
    pub(crate) from: Machine,

    /// The weaker machine that it moves to
    #[arg(long, value_name = "MACHINE", default_value = "armv8", value_parser = str::parse::<Machine>)]
    pub(crate) to: Machine,

    /// A function that threads run; several may be named. Without one, those that the program starts threads with
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Vec<String>,

    /// ARMv8: acquire loads are ldapr instead of ldar
    #[arg(long)]
    pub(crate) rcpc: bool,

    /// The program has no data races, as C and Rust require: only atomic and volatile accesses and locks are looked at
    #[arg(long)]
    pub(crate) race_free: bool,

    #[command(flatten)]
    pub(crate) fix: FixArgs,

    /// Analyse tests as other programs, for any number of copies of each thread, instead of enumerating their executions
    #[arg(long = "static")]
    pub(crate) as_code: bool,

    /// Optimization level that sources are compiled with: 0, 1 (the default), 2, 3, s, z, g or fast
    #[arg(short = 'O', long = "optimize", value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<String>,

    /// For the compiler.
    #[arg(skip)]
    pub(crate) flags: Vec<OsString>,

    /// Iterations of each loop of a test that a thread may take
    #[arg(long, value_name = "N", default_value_t = rsan_axioms::Limits::default().unroll)]
    pub(crate) unroll: u32,

    /// Give up, undecided, when this much memory is taken (500M, 4G)
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,

    /// Give up, undecided, after this time (500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What `port` takes about repairs.
#[derive(Args, Debug)]
pub(crate) struct FixArgs {
    /// Find the cheapest fences and stronger orders that make the program robust
    #[arg(long)]
    pub(crate) fix: bool,

    /// Print the changes of the sources as a unified diff, for `patch`
    #[arg(long, requires = "fix")]
    pub(crate) diff: bool,

    /// Write the changed IR to this file: text if it ends in .ll, else bitcode
    #[arg(long, value_name = "FILE", requires = "fix")]
    pub(crate) emit_llvm: Option<PathBuf>,

    /// Use fences only, no stronger orders
    #[arg(long, requires = "fix")]
    pub(crate) fences_only: bool,

    /// Count changes: each costs 1, whatever the machine takes for it, in loops and outside
    #[arg(long, requires = "fix")]
    pub(crate) unit_costs: bool,
}
