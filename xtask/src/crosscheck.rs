//! All engines against the oracle on random programs: the extended run.

use rsan_crosscheck::machine::compare_machines;
use rsan_crosscheck::weak::{Mode, compare_weak};
use rsan_crosscheck::{Campaign, MODELS, Profile, compare_tso};
use rsan_model::Model;
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
    match tally.disagreement {
        None => {
            println!("the machines are ordered as they must be");
            ExitCode::SUCCESS
        }
        Some((seed, message)) => {
            println!("DISAGREEMENT: seed {seed}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
