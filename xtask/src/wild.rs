//! Real programs that nobody here wrote, under the sanitizer.
//!
//! Their sources are fetched as normal dependencies, Debian source packages and crates, into `target/wild`, and never
//! committed. What is ours is `wild/`: the table of programs with how to build and run them and how their findings
//! were judged (`cases.toml`), and a few files that they need. A finding that nobody has judged yet is a failure, as
//! are crashes and time limits.

mod build;
mod execute;
mod fetch;
mod judge;
mod manifest;
mod report;
#[cfg(test)]
mod tests;

use build::{Tools, Variant};
use manifest::Case;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these programs
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only runs whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print the names of all programs and their runs
    #[arg(long)]
    list: bool,
    /// Build and run with ThreadSanitizer, too, and compare time, memory and findings
    #[arg(long)]
    tsan: bool,
    /// Timed runs of each program, with either sanitizer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

/// Does what was asked for; fails when a program fails, or has a finding that is not judged.
pub(crate) fn run(args: &Args) -> ExitCode {
    match wild(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn wild(args: &Args) -> Result<bool, String> {
    let manifest = manifest::read()?;
    let cases = manifest.selected(&args.names)?;
    if args.list {
        for case in cases {
            let runs: Vec<&str> = case.run.iter().map(|run| run.name.as_str()).collect();
            println!("{}: {} ({})", case.name, case.what, runs.join(", "));
        }
        return Ok(true);
    }
    let tools = Tools::new()?;
    let mut rows = Vec::new();
    let mut clean = true;
    for case in cases {
        match one(case, args, &tools) {
            Ok(more) => rows.extend(more),
            Err(error) => {
                eprintln!("xtask: {}: {error}", case.name);
                clean = false;
            }
        }
    }
    print!("{}", report::table(&rows));
    Ok(clean && rows.iter().all(execute::Row::is_clean))
}

fn one(case: &Case, args: &Args, tools: &Tools) -> Result<Vec<execute::Row>, String> {
    let sources = fetch::sources(case)?;
    let folder = |variant| tools.build(case, &sources, variant);
    let rsan = folder(Variant::Rsan)?;
    let tsan: Option<PathBuf> = args.tsan.then(|| folder(Variant::Tsan)).transpose()?;
    let mut rows = Vec::new();
    for run in case
        .run
        .iter()
        .filter(|run| run.is_selected(args.filter.as_deref()))
    {
        let place = execute::Place {
            case,
            version: sources.version(),
            rsan: &rsan,
            tsan: tsan.as_deref(),
            runs: args.runs,
        };
        let row = place.row(run, tools)?;
        eprint!("{}", report::details(&row));
        rows.push(row);
    }
    Ok(rows)
}
