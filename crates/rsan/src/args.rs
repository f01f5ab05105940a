//! The command line: one table of commands and options, with their help.

mod cargo;
mod explore;
mod flags;
mod help;
mod port;
mod shard;
mod values;

pub(crate) use cargo::{CargoArgs, CargoCommand, CargoTestArgs, CargoWords};
pub(crate) use explore::{ExploreArgs, WeakArgs};
pub(crate) use flags::parse;
pub(crate) use port::PortArgs;
pub(crate) use shard::{CampaignArgs, MergeArgs, ShardArgs, System};
pub(crate) use values::{Goal, LitmusModel, OutputFormat, Shell, Volatile, volatile};

use crate::quantity;
use clap::{Args, Parser, Subcommand};
use help::{
    AFTER_HELP, CAMPAIGN_HELP, CAMPAIGN_USAGE, CARGO_HELP, CHECK_HELP, CHECK_USAGE, COMPILER_HELP,
    COMPLETIONS_HELP, EMIT_C_HELP, EMIT_RUST_HELP, EXPLORE_HELP, EXPLORE_USAGE, FENCE_HELP,
    LITMUS_HELP, MAN_HELP, MERGE_HELP, PORT_HELP, PORT_USAGE, REPORT_HELP, RUN_HELP, VERIFY_HELP,
};
use rsan_model::Model;
use rsan_repair::Target;
use rsan_report::Details;
use rsan_report::document::Severity;
use rsan_schedule::strategy::Spec;
use rsan_verify::Options;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use values::{
    arch, fence_model, format, jobs, level, litmus_model, property, run_model, runs, severity,
    shell, verify_model,
};

/// Checks that concurrent programs behave under weak memory as they do under sequential consistency.
#[derive(Parser, Debug)]
#[command(name = "rsan", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Proves or refutes that programs are robust, by exhaustive search
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// Finds the cheapest fences and stronger orders that make programs robust
    #[command(after_help = FENCE_HELP)]
    Fence(FenceArgs),
    /// Lists the final states that a memory model allows, and evaluates the final condition
    #[command(after_help = LITMUS_HELP)]
    Litmus(LitmusArgs),
    /// Translates programs to C, for the sanitizer or any compiler
    #[command(name = "emit-c", after_help = EMIT_C_HELP)]
    EmitC(EmitArgs),
    /// Translates programs to Rust, for the sanitizer or the compiler alone
    #[command(name = "emit-rust", after_help = EMIT_RUST_HELP)]
    EmitRust(EmitArgs),
    /// Checks programs: verifies .litmus and .tpl files, compiles and runs C, C++ and Rust
    #[command(after_help = CHECK_HELP, override_usage = CHECK_USAGE)]
    Check(CheckArgs),
    /// Runs a program that was built with `rsan cc` or `rsan c++`, and reports its findings
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Runs a program with loads that return what C++20 allows, and reports what goes wrong
    #[command(after_help = EXPLORE_HELP, override_usage = EXPLORE_USAGE)]
    Explore(ExploreArgs),
    /// Says what breaks on a weaker machine, for LLVM's IR, C, C++ and Rust, and fixes it
    #[command(after_help = PORT_HELP, override_usage = PORT_USAGE)]
    Port(PortArgs),
    /// Builds, tests and runs packages of Rust with the sanitizer; `cargo rsan` is the same
    #[command(after_help = CARGO_HELP)]
    Cargo(CargoArgs),
    /// Puts the results of all shards together
    #[command(after_help = MERGE_HELP)]
    Merge(MergeArgs),
    /// Splits the work of a command for a cluster or a CI system, and puts the results together
    #[command(after_help = CAMPAIGN_HELP, override_usage = CAMPAIGN_USAGE)]
    Campaign(CampaignArgs),
    /// Shows answers again that were written as JSON: in another form, several merged
    #[command(after_help = REPORT_HELP)]
    Report(ConvertArgs),
    /// Compiles and links C with the sanitizer; takes what gcc and clang take
    #[command(disable_help_flag = true, after_help = COMPILER_HELP)]
    Cc(CompilerArgs),
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true, after_help = COMPILER_HELP)]
    Cpp(CompilerArgs),
    /// Prints a manual page, or installs all of them
    #[command(after_help = MAN_HELP)]
    Man(ManArgs),
    /// Prints what a shell completes command lines with, or installs it
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
}

/// What `check` takes.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) verify: VerifyArgs,

    #[command(flatten)]
    pub(crate) build: BuildArgs,

    /// Of the program.
    #[arg(skip)]
    pub(crate) arguments: Vec<OsString>,

    /// Number of runs of a compiled program, all free; with --sched 1000
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
}

/// What `check` and `run` take about the schedule of programs that are run.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScheduleArgs {
    /// Control the scheduling with this strategy: random, pct, pct:depth=N or pos
    #[arg(long, value_name = "STRATEGY", value_parser = str::parse::<Spec>, conflicts_with_all = ["replay", "exhaustive"])]
    pub(crate) sched: Option<Spec>,

    /// Stop --sched when further runs are unlikely to show a new execution
    #[arg(long, requires = "sched")]
    pub(crate) until_saturated: bool,

    /// Explore only schedules with at most this many preemptions, with --exhaustive
    #[arg(long, value_name = "N", requires = "exhaustive")]
    pub(crate) max_preemptions: Option<usize>,

    #[command(flatten)]
    pub(crate) control: ControlArgs,
}

/// What `check`, `run` and `explore` take about runs under controlled scheduling.
#[derive(Args, Clone, Debug)]
pub(crate) struct ControlArgs {
    /// Seed of the first run; every further run takes the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Replay the run that this schedule file records
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,

    /// Search for the fewest stale reads and context switches that reproduce the --replay run, and write that schedule beside its file
    #[arg(long, requires = "replay")]
    pub(crate) minimize: bool,

    /// Explore every execution, up to equivalence
    #[arg(long, conflicts_with = "replay")]
    pub(crate) exhaustive: bool,

    /// Stop --exhaustive after this many executions
    #[arg(long, value_name = "N", requires = "exhaustive")]
    pub(crate) max_executions: Option<u64>,

    /// Save the progress of --exhaustive in this file, and resume from it
    #[arg(long, value_name = "FILE", requires = "exhaustive")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Cut a run off after this many steps under controlled scheduling (100,000); with --exhaustive, of one thread (10,000)
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,

    /// End a run after this time (500ms, 30s, 5m); under controlled scheduling 10s
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Folder for schedule files
    #[arg(long, value_name = "DIR", default_value = "rsan-out")]
    pub(crate) out: PathBuf,

    /// Show the program's output in all runs under controlled scheduling
    #[arg(long)]
    pub(crate) output: bool,
}

/// How `check` and `explore` compile programs.
#[derive(Args, Debug)]
pub(crate) struct BuildArgs {
    /// Compile all files into one program instead of one program per file
    #[arg(long)]
    pub(crate) together: bool,

    /// For the compiler.
    #[arg(skip)]
    pub(crate) flags: Vec<OsString>,

    /// Optimization level: 0, 1, 2, 3, s, z, g or fast. Above 0 the compiler removes accesses, and races with them go unnoticed
    #[arg(short = 'O', long = "optimize", value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<String>,
}

/// What `check`, `run` and `explore` take for programs that are run.
#[derive(Args, Debug)]
pub(crate) struct SanitizerArgs {
    /// Stop at the first finding
    #[arg(long)]
    pub(crate) halt_on_error: bool,

    /// Hide findings that match a line of this file (race:FUNCTION, robustness:FILE)
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,

    /// Count findings whose accesses are all inside libraries like any others
    #[arg(long)]
    pub(crate) include_libraries: bool,

    /// Count findings inside Rust's standard library like any others
    #[arg(long)]
    pub(crate) include_std: bool,
}

/// What `check` and `run` take to find out which findings hurt.
#[derive(Args, Debug)]
pub(crate) struct ConfirmArgs {
    /// Execute each stale value that was found, in N runs (200), and say whether that hurts
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "200", value_parser = runs, conflicts_with = "replay")]
    pub(crate) confirm: Option<usize>,
}

/// What `run` takes.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,

    /// Number of runs: 1, with --sched 1000
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    /// Memory model: c20 (the default) or rc20, which has no seq_cst accesses
    #[arg(long, value_parser = run_model)]
    pub(crate) model: Option<Model>,

    /// Keep the runtime's log of each run in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,

    /// Do not load the runtime into programs that are not linked with it
    #[arg(long)]
    pub(crate) no_preload: bool,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,

    /// Stop all runs after this time, under controlled scheduling
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Runs in parallel, under controlled scheduling; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// How to answer.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    /// How to answer: text, json, html, sarif, junit or dot
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,

    /// Write the answer to this file instead of standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Show everything that is known: stacks, schedules, cycles
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Count only findings that are not in this file: an earlier answer, as json or sarif
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Exit with status 1 only if a finding is at least this severe: error, warning or note
    #[arg(long, value_name = "SEVERITY", default_value = "warning", value_parser = severity)]
    pub(crate) fail_on: Severity,
}

/// What `report` takes.
#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// Answers that were written with --format json; `-` is standard input
    #[arg(required_unless_present = "schema", value_name = "FILE")]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Count findings whose accesses are all inside libraries like others
    #[arg(long)]
    pub(crate) include_libraries: bool,

    /// Print the JSON schema of answers
    #[arg(long, conflicts_with = "files")]
    pub(crate) schema: bool,
}

/// The form of answers, and where they go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendering<'a> {
    pub(crate) format: OutputFormat,
    /// Standard output, if there is none.
    pub(crate) file: Option<&'a Path>,
    pub(crate) details: Details,
}

impl ReportArgs {
    /// What to do with answers.
    pub(crate) fn rendering(&self) -> Rendering<'_> {
        Rendering {
            format: self.format,
            file: self.report.as_deref(),
            details: match self.verbose {
                true => Details::Full,
                false => Details::Short,
            },
        }
    }

    /// Whether standard output is free for what programs print.
    pub(crate) fn leaves_stdout(&self) -> bool {
        self.format == OutputFormat::Text || self.report.is_some()
    }
}

/// What `cc` and `c++` take.
#[derive(Args, Debug)]
pub(crate) struct CompilerArgs {
    /// Arguments of the compiler
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARG"
    )]
    pub(crate) words: Vec<OsString>,
}

/// What `verify` and `check` take.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Programs (C litmus, TPL or Trencher's automata); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: c20 (the default), rc20, ra, or tso (the default for automata)
    #[arg(long, value_parser = verify_model)]
    pub(crate) model: Option<Model>,

    /// What to prove: robust, observational, safe; or trf, with --model tso
    #[arg(long, default_value = "robust", value_parser = property)]
    pub(crate) property: Goal,

    /// Decide for any number of copies of each thread (tso)
    #[arg(long)]
    pub(crate) parametric: bool,

    /// Also report deadlocks: states in which some threads have not ended and none can take a step
    #[arg(long)]
    pub(crate) deadlock: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Write the execution graph of a violation to this file, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<String>,
}

/// What a search may take.
#[derive(Args, Debug)]
pub(crate) struct LimitArgs {
    /// Give up, undecided, when the states take this much memory (500M, 4G)
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,

    /// Give up, undecided, after this time (500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,
}

impl LimitArgs {
    /// The same for a search under SC.
    pub(crate) fn options<'a>(&self, model: Model, stop: &'a AtomicBool) -> Options<'a> {
        Options {
            memory_limit: self.memory_limit,
            time_limit: self.time_limit,
            workers: self.jobs,
            stop: Some(stop),
            ..Options::new(model)
        }
    }
}

/// What `fence` takes.
#[derive(Args, Debug)]
pub(crate) struct FenceArgs {
    /// Programs (C litmus, TPL or Trencher's automata); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: c20 (the default), rc20, ra, or tso (the default for automata)
    #[arg(long, value_parser = fence_model)]
    pub(crate) model: Option<Model>,

    /// Architecture whose costs count (ra, rc20, c20): armv8 (the default), riscv or x86
    #[arg(long, value_name = "TARGET", value_parser = str::parse::<Target>)]
    pub(crate) target: Option<Target>,

    /// Costs: of fences by thread and control state (tso), or factors for changes by thread and line
    #[arg(long, value_name = "FILE")]
    pub(crate) cost: Option<PathBuf>,

    /// Write the repaired program to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the repaired program as a unified diff, for `patch`
    #[arg(long)]
    pub(crate) diff: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// How to answer: text, json, html, sarif, junit or dot
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,
}

/// What `litmus` takes.
#[derive(Args, Debug)]
pub(crate) struct LitmusArgs {
    /// Tests (C litmus, TPL or assembly litmus); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: sc, tso, ra, rc20, c20 (default) or rc11; of assembly: sc, x86, armv8, armv7, riscv or power (default: its own)
    #[arg(long, value_parser = litmus_model)]
    pub(crate) model: Option<LitmusModel>,

    /// Compile C tests for a machine: sc, x86, armv8, armv7, riscv or power, with its variants
    #[arg(long, value_name = "MACHINE", value_parser = arch, conflicts_with = "model")]
    pub(crate) arch: Option<rsan_mapping::Target>,

    /// Iterations of each loop that a thread may take
    #[arg(long, value_name = "N", default_value_t = rsan_axioms::Limits::default().unroll)]
    pub(crate) unroll: u32,

    /// Give up, undecided, when the executions take this much memory (500M, 4G)
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,

    /// Give up, undecided, after this time (500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    /// Folder for the results of shards
    #[arg(
        long,
        value_name = "DIR",
        default_value = "rsan-out",
        requires = "shard"
    )]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What `emit-c` and `emit-rust` take.
#[derive(Args, Debug)]
pub(crate) struct EmitArgs {
    /// The program (C litmus or TPL); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) file: String,

    /// Take the order of steps from RSAN_SCHEDULE when the translation runs
    #[arg(long)]
    pub(crate) scheduled: bool,

    /// Write waits and blocking compare-and-swaps as calls that the sanitizer knows, not as loops
    #[arg(long)]
    pub(crate) annotated: bool,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// What `man` takes.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command that the page is about; without one, it is about all of rsan
    #[arg(value_name = "COMMAND", conflicts_with = "install")]
    pub(crate) command: Option<String>,

    /// Install the pages of all commands, for this user
    #[arg(long)]
    pub(crate) install: bool,

    /// Install them in this folder of manuals instead, as /usr/local/share/man
    #[arg(long, value_name = "DIR", requires = "install")]
    pub(crate) dir: Option<PathBuf>,
}

/// What `completions` takes.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, zsh or fish
    #[arg(value_name = "SHELL", value_parser = shell)]
    pub(crate) shell: Shell,

    /// Install the script where the shell looks for it, for this user
    #[arg(long)]
    pub(crate) install: bool,

    /// Install it in this folder instead
    #[arg(long, value_name = "DIR", requires = "install")]
    pub(crate) dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_options_is_consistent() {
        Cli::command().debug_assert();
    }
}
