//! All engines against the oracle on random programs: the extended run.

use rsan_crosscheck::machine::compare_machines;
use rsan_crosscheck::port::{PAIRS, compare_compiled, compare_port};
use rsan_crosscheck::weak::{Mode, compare_weak};
use rsan_crosscheck::{Campaign, MODELS, Profile, compare_tso};
use rsan_model::Model;
use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this model: ra, rc20, c20 or tso
    #[arg(long, value_parser = model)]
    model: Option<Model>,
    /// Only the engine of weak executions, against the execution graphs of C++20
    #[arg(long, conflicts_with_all = ["model", "profile", "jobs"])]
    weak: bool,
    /// Only compiled programs, for all targets, against the axioms of C++20 and RC11
    #[arg(long, conflicts_with_all = ["model", "profile", "jobs", "weak"])]
    compiled: bool,
    /// Only the static analysis of `rsan port`, against enumeration of instances, on this many sets of thread functions
    #[arg(long, value_name = "SETS", conflicts_with_all = ["model", "profile", "jobs", "weak", "compiled", "programs"])]
    port: Option<u64>,
    /// The same with an engine that forgets all it may after each step
    #[arg(long, requires = "weak")]
    prune: bool,
    /// The same with an engine that shows no older writes than this window allows: nothing else must be shown
    #[arg(long, requires = "weak")]
    window: Option<u64>,
    /// Only the machines, so many programs: against each other, the models of C and critical cycles
    #[arg(long, value_name = "PROGRAMS", conflicts_with_all = ["model", "weak", "profile", "programs", "jobs"])]
    machine: Option<u64>,
    /// Only this kind of programs, for example mix, seq-cst or litmus
    #[arg(long)]
    profile: Option<Profile>,
    /// The first seed, for each model and profile
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of programs, spread over models and profiles
    #[arg(long, default_value_t = 100_000)]
    programs: u64,
    /// Number of threads; all cores if not given
    #[arg(long)]
    jobs: Option<usize>,
}

fn model(text: &str) -> Result<Model, String> {
    let model: Model = text.parse()?;
    if MODELS.contains(&model) || model == Model::Tso {
        Ok(model)
    } else {
        Err(format!("not all engines know {model}"))
    }
}

/// Prints a table; fails with the first disagreement.
pub(crate) fn run(args: &Args) -> ExitCode {
    if args.model == Some(Model::Tso) {
        return run_tso(args);
    }
    if args.weak {
        return run_weak(args);
    }
    if args.compiled {
        return run_compiled(args);
    }
    if let Some(sets) = args.port {
        return run_port(args.seed..args.seed + sets);
    }
    if let Some(programs) = args.machine {
        return run_machines(args.seed, programs);
    }
    let campaign = Campaign {
        models: args.model.map_or(MODELS.to_vec(), |model| vec![model]),
        profiles: args
            .profile
            .map_or(Profile::all().to_vec(), |profile| vec![profile]),
        seed: args.seed,
        programs: args.programs,
        jobs: args.jobs.unwrap_or_else(cores),
    };
    let began = Instant::now();
    let report = campaign.run();
    println!("{report}");
    println!(
        "seeds from {}, {} threads, {:.1} s",
        args.seed,
        campaign.jobs,
        began.elapsed().as_secs_f64()
    );
    match report.disagreement {
        None => {
            println!("all engines agree");
            ExitCode::SUCCESS
        }
        Some(disagreement) => {
            println!("DISAGREEMENT: {disagreement}");
            ExitCode::FAILURE
        }
    }
}

/// The search for attacks against the oracle.
fn run_tso(args: &Args) -> ExitCode {
    let began = Instant::now();
    let jobs = args.jobs.unwrap_or_else(cores);
    let tally = compare_tso(args.seed..args.seed + args.programs, jobs);
    println!(
        "tso: {} programs robust, {} not robust, {} too large for the oracle; seeds from {}, {jobs} threads, {:.1} s",
        tally.robust,
        tally.not_robust,
        tally.skipped,
        args.seed,
        began.elapsed().as_secs_f64()
    );
    match tally.disagreement {
        None => {
            println!("both engines agree");
            ExitCode::SUCCESS
        }
        Some((seed, message)) => {
            println!("DISAGREEMENT: seed {seed}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The engine of weak executions against the oracle.
fn run_weak(args: &Args) -> ExitCode {
    let began = Instant::now();
    let mode = match args.prune || args.window.is_some() {
        true => Mode::forgetting(args.window),
        false => Mode::default(),
    };
    let tally = compare_weak(args.seed..args.seed + args.programs, mode);
    println!(
        "weak executions: {} programs with {} executions ({} shown), {} of them with others outside of the fragment, {} too large; \
         seeds from {}, {:.1} s",
        tally.programs,
        tally.executions,
        tally.shown,
        tally.outside,
        tally.skipped,
        args.seed,
        began.elapsed().as_secs_f64()
    );
    match tally.difference {
        None => {
            println!("engine and oracle agree");
            ExitCode::SUCCESS
        }
        Some(difference) => {
            println!("DIFFERENCE: {difference}");
            ExitCode::FAILURE
        }
    }
}

/// Compiled programs against the axioms of C.
fn run_compiled(args: &Args) -> ExitCode {
    let began = Instant::now();
    let tally = compare_compiled(args.seed..args.seed + args.programs);
    println!(
        "compiled: {} programs times targets with {} executions, {} of them load buffering; {} too large or racy; \
         seeds from {}, {:.1} s",
        tally.programs,
        tally.executions,
        tally.thin_air,
        tally.skipped,
        args.seed,
        began.elapsed().as_secs_f64()
    );
    finish("C allows what the machines show", tally.difference)
}

/// The static analysis against enumeration.
fn run_port(seeds: Range<u64>) -> ExitCode {
    let began = Instant::now();
    let first = seeds.start;
    let tally = compare_port(seeds);
    println!(
        "port: {} sets of functions times {} pairs of machines: {} robust, {} not; {} repairs; {} programs enumerated, {} too \
         large; seeds from {first}, {:.1} s",
        tally.sets,
        PAIRS.len(),
        tally.robust,
        tally.warned,
        tally.repairs,
        tally.programs,
        tally.too_large,
        began.elapsed().as_secs_f64()
    );
    println!("without branches, not robust: sets, confirmed; changes, needed");
    for ((m, k), straight) in &tally.straight {
        println!(
            "  {m:<5} {k:<5} {:>6} {:>6} {:>6} {:>6}",
            straight.sets, straight.confirmed, straight.dropped, straight.needed
        );
    }
    finish("analysis and enumeration agree", tally.difference)
}

/// The machines against each other.
fn run_machines(seed: u64, programs: u64) -> ExitCode {
    let began = Instant::now();
    let tally = compare_machines(seed..seed.saturating_add(programs));
    let [allowed, forbidden] = tally.predicted;
    println!(
        "machines: {} programs with {} final states, {} inclusions ({} of them strict); {} critical cycles, {allowed} verdicts allow and \
         {forbidden} forbid them as predicted; seeds from {seed}, {:.1} s",
        tally.programs,
        tally.states,
        tally.inclusions,
        tally.strict,
        tally.cycles,
        began.elapsed().as_secs_f64()
    );
    finish(
        "the machines are ordered as they must be",
        tally.disagreement,
    )
}

fn finish(agreement: &str, difference: Option<(u64, String)>) -> ExitCode {
    match difference {
        None => {
            println!("{agreement}");
            ExitCode::SUCCESS
        }
        Some((seed, message)) => {
            println!("DIFFERENCE: seed {seed}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
