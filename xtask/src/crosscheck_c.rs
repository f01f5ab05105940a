//! `--exhaustive` against the verifier and the oracle on random C programs with loops.

use rsan_crosscheck::Profile;
use rsan_crosscheck::loops::{Difference, Level, LoopCampaign, LoopReport, Odd, Tool};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of programs
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    programs: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only this kind of programs, for example spinning, retrying, guarded or readers
    #[arg(long, value_parser = Profile::looping)]
    profile: Option<Profile>,
    /// Optimisation level from 0 to 3, or `written`: sources are compiled as they are written
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Written)]
    level: Level,
    /// The command to be tested; built from this repository if not given
    #[arg(long, value_name = "PATH")]
    rsan: Option<PathBuf>,
    /// RSAN_OPTIONS of the programs
    #[arg(long, value_name = "OPTIONS", default_value = "")]
    options: String,
    /// Time for each program
    #[arg(long, value_name = "TIME", default_value = "20s")]
    time_limit: String,
    /// Begin no further file of programs after so many minutes
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Number of threads; all cores if not given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Programs in a file
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,
    /// How many differences of each kind are made smaller
    #[arg(long, value_name = "N", default_value_t = 1)]
    shrink: usize,
    /// Write each difference to files in this folder, too
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

/// Prints a table; fails if there is a difference.
pub(crate) fn run(args: &Args) -> ExitCode {
    let rsan = match &args.rsan {
        Some(rsan) => std::path::absolute(rsan),
        None => build(),
    };
    let rsan = match rsan {
        Ok(rsan) => rsan,
        Err(why) => {
            eprintln!("rsan: {why}");
            return ExitCode::FAILURE;
        }
    };
    let folder = PathBuf::from("target/crosscheck-c").join(std::process::id().to_string());
    let report = std::fs::create_dir_all(&folder).and_then(|()| {
        let folder = folder.canonicalize()?;
        let report = campaign(args, rsan, folder.clone());
        std::fs::remove_dir_all(folder)?;
        save(args, &report)?;
        Ok(report)
    });
    match report {
        Ok(report) => conclude(&report),
        Err(why) => {
            eprintln!("{}: {why}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn build() -> std::io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--release", "--package", "rsan"]);
    if !build.status()?.success() {
        return Err(std::io::Error::other("it cannot be built"));
    }
    Path::new("target/release/rsan").canonicalize()
}

fn campaign(args: &Args, rsan: PathBuf, folder: PathBuf) -> LoopReport {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let campaign = LoopCampaign {
        tool: Tool {
            rsan,
            folder,
            options: args.options.clone(),
            time_limit: args.time_limit.clone(),
        },
        profiles: match args.profile {
            Some(profile) => vec![profile],
            None => Profile::LOOPS.to_vec(),
        },
        levels: vec![args.level],
        seed: args.seed,
        programs: args.programs,
        until: args
            .minutes
            .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
        batch: args.batch,
        jobs: args.jobs.unwrap_or_else(cores),
        shrink: args.shrink,
    };
    let began = Instant::now();
    let report = campaign.run(&|report| {
        // Those that are made smaller are written again in the end.
        if let Err(why) = save(args, report) {
            eprintln!("--save: {why}");
        }
        let total = report.total();
        let seconds = began.elapsed().as_secs();
        eprintln!(
            "{} programs, {seconds} s, {} undecided, {} with failed spin iterations, {} differences",
            total.programs, total.undecided, total.in_vain, total.differences
        );
    });
    println!("{report}");
    println!(
        "seeds from {}, {} threads, {:.1} s",
        args.seed,
        campaign.jobs,
        began.elapsed().as_secs_f64()
    );
    report
}

fn save(args: &Args, report: &LoopReport) -> std::io::Result<()> {
    let Some(folder) = &args.save else {
        return Ok(());
    };
    std::fs::create_dir_all(folder)?;
    for odd in &report.odd {
        let path = folder.join(format!("{}-{}", name(odd.difference), odd.seed));
        std::fs::write(path.with_extension("c"), odd.looping.in_c())?;
        std::fs::write(path.with_extension("txt"), format!("{odd}\n"))?;
    }
    Ok(())
}

fn name(difference: Difference) -> String {
    format!("{difference:?}").to_lowercase()
}

fn conclude(report: &LoopReport) -> ExitCode {
    for (reason, count) in &report.reasons {
        println!("undecided, {count} times: {reason}");
    }
    let mut last = None;
    let mut odd: Vec<&Odd> = report.odd.iter().collect();
    odd.sort_by_key(|odd| odd.difference);
    for odd in odd {
        if last != Some(odd.difference) {
            let count = report.differences()[&odd.difference];
            println!("\n{count} times {odd}");
        }
        last = Some(odd.difference);
    }
    if report.total().differences > 0 {
        return ExitCode::FAILURE;
    }
    println!("no difference");
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::Parser;
    use rsan_crosscheck::Profile;
    use rsan_crosscheck::loops::{Level, again};

    #[derive(Parser)]
    struct Chore {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_reproduces_a_program_is_understood() {
        let levels = (0..=3).map(Level::Optimised).chain([Level::Written]);
        let all = levels.flat_map(|level| Profile::LOOPS.iter().map(move |p| (*p, level)));
        for (profile, level) in all {
            let command = again(profile, 7, level);
            let words = command.strip_prefix("cargo xtask ").expect("a chore");
            let chore = Chore::try_parse_from(words.split(' '));
            let args = chore.unwrap_or_else(|why| panic!("{command}: {why}")).args;
            let read = (args.profile, args.seed, args.programs, args.level);
            assert_eq!(read, (Some(profile), 7, 1, level));
        }
        for level in ["4", "256", "-1", "fast", ""] {
            let level = format!("--level={level}");
            assert!(Chore::try_parse_from(["crosscheck-c", &level]).is_err());
        }
    }
}
