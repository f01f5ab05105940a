//! All engines against the oracle on random programs: the extended run.

use rsan_crosscheck::{Campaign, MODELS, Profile, compare_tso};
use rsan_model::Model;
use std::process::ExitCode;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this model: ra, rc20, c20 or tso
    #[arg(long, value_parser = model)]
    model: Option<Model>,
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
