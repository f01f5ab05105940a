//! The command line: one table of commands and options, with their help.

use crate::quantity;
use clap::{Args, Parser, Subcommand};
use rsan_model::Model;
use rsan_repair::Target;
use rsan_schedule::strategy::Spec;
use rsan_verify::Property;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Checks that concurrent programs behave under weak memory as they do under sequential consistency.
#[derive(Parser, Debug)]
#[command(name = "rsan", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit status: 0 robust, or no finding; 1 not robust, or another finding; 2 wrong usage or bad input;
3 undecided (a limit was reached, or something is not modelled); 4 the program under test failed by itself,
without a finding. Of several inputs all are answered, and the most severe status counts, in the order 2, 1, 4, 3, 0.

Examples:
  rsan check dekker.c                      compile it, run it, report
  rsan verify peterson.litmus              is it robust against C++20?
  rsan litmus --model rc11 iriw.litmus     which final states are allowed?";

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
    EmitC(EmitCArgs),
    /// Checks programs with whatever suits them: .litmus and .tpl are verified, C and C++ compiled and run
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Runs a program that was built with `rsan cc` or `rsan c++`, and reports what the runs show
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Compiles and links C with the sanitizer; takes what gcc and clang take
    #[command(disable_help_flag = true, after_help = COMPILER_HELP)]
    Cc(CompilerArgs),
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true, after_help = COMPILER_HELP)]
    Cpp(CompilerArgs),
}

const VERIFY_HELP: &str = "\
Models:
  c20            C++20, seq_cst accesses included
  rc20           RC20 (POPL 2021): no seq_cst accesses, stronger fences
  ra             release/acquire (PLDI 2019): as rc20, every access at least release or acquire
  tso            x86: stores are delayed; orders count as what compilers make of them. Takes Trencher's automata too

Properties:
  robust         every execution that the model allows is sequentially consistent
  observational  the same, up to reads whose value is never used
  safe           only what is always checked: no failed assertion, no data race on non-atomics
  trf            no triangular race (tso): no load with an unfenced store before it races with a store

Exit status: 0 robust; 1 violation; 2 wrong usage or bad input; 3 undecided.

Examples:
  rsan verify peterson.litmus
  rsan verify --model ra --property observational seqlock.tpl
  rsan verify --model tso --parametric spinlock.txt
  rsan verify --dot cycle.dot sb.litmus && dot -Tsvg -O cycle.dot
  rsan verify --format json --time-limit 60s *.litmus";

const FENCE_HELP: &str = "\
tso: of all sets of fences that make the program robust, one with the least cost is found; for each fence a run is shown that
only it forbids. A fence costs 1, or what --cost says: a JSON file with threads, control states (or lines) and costs,
{\"thread\": {\"state\": 5}}.

ra, rc20, c20: fences are inserted and orders made stronger, at the least cost on the target; for each change it is said what
goes wrong without it. With --cost, costs are multiplied by what a JSON file says of their line: {\"thread\": {\"12\": 5}}.

Exit status: 0 robust, or made robust by what is printed; 1 nothing helps, or the program fails by itself; 2 wrong
usage or bad input; 3 undecided.

Examples:
  rsan fence --model tso peterson.txt
  rsan fence --model tso --format json dekker.litmus
  rsan fence --model rc20 --target riscv -o fixed.tpl deque.tpl
  rsan fence --model c20 --diff mp.litmus | patch mp.litmus";

const LITMUS_HELP: &str = "\
Every execution that satisfies the model's axioms is enumerated; loops are cut after --unroll rounds, which is said.

Exit status: 0 the condition holds as written; 1 it does not; 2 wrong usage or bad input; 3 undecided.

Examples:
  rsan litmus sb.litmus
  rsan litmus --model tso --format json sb.litmus";

const EMIT_C_HELP: &str = "\
The translation is C11 with POSIX threads, a function for each thread, and makes the accesses of the source. Waits are
spin loops. Endless loops are left after ROUNDS rounds (3), and a program that has not ended after DEADLINE seconds (10) ends
with status 3; both are macros. With --scheduled, RSAN_SCHEDULE=\"0 1 1 0\" in the environment of the compiled program
has the threads make their steps in this order. With --annotated, waits are those of rsan.h: one access to the sanitizer.

Exit status: 0; 2 wrong usage or bad input.

Examples:
  rsan emit-c -o sb.c sb.litmus && rsan check sb.c";

const CHECK_HELP: &str = "\
Each C or C++ file is a program of its own: it is compiled with the sanitizer and run --runs times, each time for at
most --time-limit (60s). The other options are those of `rsan verify`. Trencher's automata (.txt) are
checked against TSO. Rust programs can't be checked yet.

With --sched or --exhaustive the schedule is ours, and --time-limit is for all runs together; `rsan run --help` says more.

Exit status: 0 robust, or no finding; 1 a finding; 2 wrong usage or bad input; 3 undecided; 4 the program failed by
itself, without a finding.

Examples:
  rsan check dekker.c
  RSAN_CC=clang rsan check --runs 20 --halt-on-error queue.c
  rsan check --sched pct queue.c
  rsan check --exhaustive --time-limit 5m queue.c
  rsan check *.litmus *.tpl";

const RUN_HELP: &str = "\
A run is the program with all processes that it starts. The same finding of several runs is reported once. In several runs
the program's standard input is empty. With --format json the program's standard output goes to standard error.

With --sched one thread runs at a time, and a strategy says which; every seed gives a schedule, always the same:
  random         every thread that can go on is as likely as the others
  pct            random priorities that change at depth-1 steps (depth=3): finds what needs that many orders of steps
  pos            random priorities of operations: many executions evenly
Runs that show something new leave their schedule in --out; --replay makes such a run again. A run that crashes, hangs, exits
with a status, or makes another process is one failed run, and its schedule is kept, too. With --exhaustive every execution is
explored; the program is robust if there is no finding and nothing was cut off, failed or left out.

Exit status: 0 no finding; 1 a finding; 2 wrong usage; 3 undecided (a run reached a limit, was interrupted, or left the
schedule that it should follow, or no process was built with rsan); 4 the program failed by itself, without a finding.

Examples:
  CC=\"rsan cc\" CXX=\"rsan c++\" make
  rsan run --runs 20 -- ./my_test --fast
  rsan run --sched pct --runs 1000 -- ./my_test
  rsan run --replay rsan-out/violation-1.sched --minimize -- ./my_test
  rsan run --timeout 5m --suppressions known.txt -- make test";

const COMPILER_HELP: &str = "\
The compiler is named by --rsan-compiler=NAME (gcc, clang-16 or a path), by RSAN_CC and RSAN_CXX, or is what is
installed. The exit status is the compiler's, or 2 for what can't be built with rsan.

Examples:
  rsan cc -O2 -pthread -o my_test my_test.c
  rsan c++ --rsan-compiler=clang -std=c++20 -o my_test my_test.cc
  CC=\"rsan cc\" CXX=\"rsan c++\" ./configure && make
  CC=\"rsan cc\" CXX=\"rsan c++\" cmake -B build && cmake --build build
  CC=\"rsan cc\" CXX=\"rsan c++\" meson setup build && meson compile -C build";

/// What `check` takes.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) verify: VerifyArgs,

    /// How often a compiled program is run: 5 times, with --sched 1000
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
}

/// What `check` and `run` take about the schedule of programs that are run.
#[derive(Args, Debug)]
pub(crate) struct ScheduleArgs {
    /// Own the schedule: random, pct, pct:depth=N or pos
    #[arg(long, value_name = "STRATEGY", value_parser = str::parse::<Spec>)]
    pub(crate) sched: Option<Spec>,

    /// Seed of the first run of --sched; the next ones follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// End --sched when hardly anything new is to be expected
    #[arg(long, requires = "sched")]
    pub(crate) until_saturated: bool,

    /// Make the run of this schedule file again
    #[arg(long, value_name = "FILE", conflicts_with = "sched")]
    pub(crate) replay: Option<PathBuf>,

    /// Look for the fewest context switches that show what --replay shows, and write them beside its file
    #[arg(long, requires = "replay")]
    pub(crate) minimize: bool,

    /// Explore every execution, up to equivalence: robust only if nothing is left
    #[arg(long, conflicts_with_all = ["sched", "replay"])]
    pub(crate) exhaustive: bool,

    /// Most runs of --exhaustive
    #[arg(long, value_name = "N", requires = "exhaustive")]
    pub(crate) max_executions: Option<u64>,

    /// Leave schedules out, with --exhaustive, that take the processor more often from a thread that could go on
    #[arg(long, value_name = "N", requires = "exhaustive")]
    pub(crate) max_preemptions: Option<usize>,

    /// Save --exhaustive to this file, and go on with what is there
    #[arg(long, value_name = "FILE", requires = "exhaustive")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Cut a run off after so many steps, if the schedule is ours
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,

    /// End a run after this time (500ms, 30s, 5m); 10s if the schedule is ours
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Folder for schedule files
    #[arg(long, value_name = "DIR", default_value = "rsan-out")]
    pub(crate) out: PathBuf,

    /// Show what the program prints in all runs of --sched
    #[arg(long)]
    pub(crate) output: bool,
}

/// What `check` and `run` take for programs that are run.
#[derive(Args, Debug)]
pub(crate) struct SanitizerArgs {
    /// End a run at its first finding, and start no other
    #[arg(long)]
    pub(crate) halt_on_error: bool,

    /// Do not show the findings that a line of this file matches (race:FUNCTION, robustness:FILE)
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,
}

/// What `run` takes.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,

    /// How often it is run: once, with --sched 1000 times
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    /// Memory model: c20 (the default) or rc20, which has no seq_cst accesses
    #[arg(long, value_parser = run_model)]
    pub(crate) model: Option<Model>,

    /// Keep what the runtime logged in this folder, a file for each run
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,

    /// End all runs after this time, if the schedule is ours
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Runs at the same time, if the schedule is ours; 0 is one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,

    /// How to answer: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,
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
    /// Programs (C litmus or TPL); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: c20, rc20, ra or tso
    #[arg(long, default_value = "c20", value_parser = verify_model)]
    pub(crate) model: Model,

    /// What to prove: robust, observational, safe; or trf, with --model tso
    #[arg(long, default_value = "robust", value_parser = property)]
    pub(crate) property: Goal,

    /// Decide it for any number of copies of each thread (tso)
    #[arg(long)]
    pub(crate) parametric: bool,

    /// Also report states in which no thread can move and some have not ended
    #[arg(long)]
    pub(crate) deadlock: bool,

    /// Give up, undecided, when the states take this much memory (500M, 4G)
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,

    /// Give up, undecided, after this time (500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Worker threads; 0 is one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,

    /// How to answer: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,

    /// Write the execution graph of a violation to this file, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<String>,
}

/// What `fence` takes.
#[derive(Args, Debug)]
pub(crate) struct FenceArgs {
    /// Programs (Trencher's automata, C litmus or TPL); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: tso, ra, rc20 or c20
    #[arg(long, default_value = "tso", value_parser = fence_model)]
    pub(crate) model: Model,

    /// Machine whose costs count (ra, rc20, c20): armv8 (the default), riscv or x86
    #[arg(long, value_name = "TARGET", value_parser = str::parse::<Target>)]
    pub(crate) target: Option<Target>,

    /// What fences cost, by thread and control state, or by how much changes cost more, by thread and line
    #[arg(long, value_name = "FILE")]
    pub(crate) cost: Option<PathBuf>,

    /// Write the repaired program to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the repaired program as a unified diff, for `patch`
    #[arg(long)]
    pub(crate) diff: bool,

    /// Give up, undecided, when the states take this much memory (500M, 4G)
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,

    /// Give up, undecided, after this time (500ms, 30s, 5m)
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Worker threads; 0 is one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,

    /// How to answer: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,
}

/// What `litmus` takes.
#[derive(Args, Debug)]
pub(crate) struct LitmusArgs {
    /// Tests (C litmus or TPL); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// Memory model: sc, tso, ra, rc20, c20 or rc11
    #[arg(long, default_value = "c20", value_parser = litmus_model)]
    pub(crate) model: Model,

    /// How often a thread may go round each loop
    #[arg(long, value_name = "N", default_value_t = rsan_axioms::Limits::default().unroll)]
    pub(crate) unroll: u32,

    /// How to answer: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format)]
    pub(crate) format: OutputFormat,
}

/// What `emit-c` takes.
#[derive(Args, Debug)]
pub(crate) struct EmitCArgs {
    /// The program (C litmus or TPL); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) file: String,

    /// Let the order of the steps be given when the translation is run
    #[arg(long)]
    pub(crate) scheduled: bool,

    /// Write waits and blocking compare-and-swaps with rsan.h, not as loops
    #[arg(long)]
    pub(crate) annotated: bool,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

fn format(text: &str) -> Result<OutputFormat, String> {
    match text {
        "text" => Ok(OutputFormat::Text),
        "json" => Ok(OutputFormat::Json),
        "sarif" | "html" => Err("not available yet; there are text and json".to_owned()),
        _ => Err("there are text and json".to_owned()),
    }
}

fn verify_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::C20 | Model::Rc20 | Model::Ra | Model::Tso) => Ok(model),
        Model::Sc => Err(
            "every program is robust against SC; to check only assertions and races, use \
             --property safe"
                .to_owned(),
        ),
        Model::Rc11 => Err(
            "robustness against RC11 is not decided; use c20, or `rsan litmus --model rc11`"
                .to_owned(),
        ),
    }
}

fn run_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::C20 | Model::Rc20) => Ok(model),
        model => Err(format!(
            "programs that are run are not checked against {model}; there are c20 and rc20"
        )),
    }
}

fn fence_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::Tso | Model::Ra | Model::Rc20 | Model::C20) => Ok(model),
        model @ (Model::Sc | Model::Rc11) => Err(format!(
            "there are no repairs against {model}; there are tso, ra, rc20 and c20"
        )),
    }
}

fn litmus_model(text: &str) -> Result<Model, String> {
    text.parse()
}

/// What is to be proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// By the search under SC.
    Search(Property),
    /// No triangular races (TSO).
    TriangularRaceFree,
}

fn property(text: &str) -> Result<Goal, String> {
    match text {
        "trf" => Ok(Goal::TriangularRaceFree),
        _ => text.parse().map(Goal::Search),
    }
}

/// Largest number of workers that is taken for a wish rather than a typing error.
const MAX_JOBS: usize = 1024;

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= MAX_JOBS => Ok(n),
        _ => Err(format!("expected a number from 0 to {MAX_JOBS}")),
    }
}

fn runs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number from 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_options_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_not_there_is_refused_with_a_reason() {
        assert!(format("sarif").is_err_and(|e| e.contains("not available yet")));
        assert!(verify_model("rc11").is_err_and(|e| e.contains("use c20")));
        assert!(verify_model("sc").is_err_and(|e| e.contains("--property safe")));
        assert!(verify_model("arm").is_err_and(|e| e.contains("unknown model")));
        assert!(jobs("100000").is_err());
    }
}
