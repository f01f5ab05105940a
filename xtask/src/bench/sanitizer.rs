//! The sanitizer against ThreadSanitizer: the same object files, linked with either runtime.
//!
//! A program does a fixed amount of work and prints a number that depends on its arguments only; a run that prints
//! another one, or fails, ends the benchmark. Threads are tied to processors by the programs themselves (`bench.h`). The
//! ways of linking take turns, so that a change in the machine's load meets all of them, and the best run counts.

mod build;
mod execute;
mod programs;
mod report;
#[cfg(test)]
mod tests;

use super::measure::Cost;
pub(crate) use build::runtime;
use build::{Linked, Toolchain};
use programs::{Manifest, Program};
use report::Report;
use serde::Serialize;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Runs of each program and way of linking
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Small sizes and one run: does everything work?
    #[arg(long)]
    quick: bool,
    /// Leave out ThreadSanitizer
    #[arg(long)]
    no_tsan: bool,
    /// Compile with this (again for another one) [default: gcc, and clang if it is installed]
    #[arg(long, value_name = "COMMAND")]
    compiler: Vec<String>,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// One document
    Json,
}

/// Names of clang; the first that is installed is taken.
const CLANGS: [&str; 7] = [
    "clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];

/// Which of a program's sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Full,
    Quick,
}

/// One program, with all ways of linking it.
#[derive(Debug, Serialize)]
struct Row {
    compiler: String,
    group: String,
    program: String,
    arguments: String,
    /// Operations, where it makes sense to count them.
    operations: Option<f64>,
    plain: Cost,
    tsan: Option<Cost>,
    rsan: Cost,
    /// Reports of ThreadSanitizer, in a short run of its own: making them takes long.
    tsan_reports: Option<usize>,
    /// Findings of the sanitizer, in the run that had most.
    findings: usize,
    /// Whether the program is known to have some.
    findings_expected: bool,
}

/// Measures and prints.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let manifest = programs::manifest()?;
    let size = if args.quick { Size::Quick } else { Size::Full };
    let runs = if args.quick { 1 } else { args.runs };
    let runtime = build::runtime(true)?;
    let mut report = Report::default();
    for compiler in compilers(&args.compiler)? {
        let toolchain = Toolchain::new(&compiler, &runtime)?;
        if !args.no_tsan
            && let Err(error) = toolchain.check_tsan()
        {
            if compiler == "gcc" || !args.compiler.is_empty() {
                return Err(error);
            }
            eprintln!("xtask: without {compiler}: {error}");
            continue;
        }
        let bench = Bench {
            toolchain,
            tsan: !args.no_tsan,
            size,
            runs,
        };
        bench.all(&manifest, args.filter.as_deref(), &mut report)?;
    }
    match args.format {
        Format::Text => print!("{report}"),
        Format::Json => println!("{}", report.json()),
    }
    Ok(())
}

/// Those that were asked for, or those that are installed.
fn compilers(asked: &[String]) -> Result<Vec<String>, String> {
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    let installed = |name: &&str| build::is_installed(name);
    let gcc = Some("gcc").filter(installed);
    let clang = CLANGS.into_iter().find(installed);
    if gcc.is_none() && clang.is_none() {
        return Err("no C compiler: install gcc".to_owned());
    }
    Ok(gcc.into_iter().chain(clang).map(str::to_owned).collect())
}

/// One compiler, and how to measure.
struct Bench {
    toolchain: Toolchain,
    tsan: bool,
    size: Size,
    runs: u32,
}

impl Bench {
    fn all(
        &self,
        manifest: &Manifest,
        filter: Option<&str>,
        report: &mut Report,
    ) -> Result<(), String> {
        for (list, rows) in [
            (&manifest.program, &mut report.rows),
            (&manifest.flat, &mut report.flat),
            (&manifest.growth, &mut report.growth),
        ] {
            for program in list.iter().filter(|p| p.is_selected(filter)) {
                let row = self.row(program)?;
                eprintln!("xtask: {}", report::line(&row));
                rows.push(row);
            }
        }
        Ok(())
    }

    fn row(&self, program: &Program) -> Result<Row, String> {
        let executables = self.toolchain.executables(&program.file, self.tsan)?;
        let arguments = program.arguments(self.size);
        let runs = program.runs.unwrap_or(self.runs).min(self.runs);
        let mut measured = execute::interleaved(&executables, arguments, runs)?;
        let mut taken = |linked| measured.costs.remove(&linked);
        let tsan_reports = executables
            .get(&Linked::Tsan)
            .filter(|_| program.runs.is_none())
            .map(|executable| execute::tsan_reports(executable, program.arguments(Size::Quick)))
            .transpose()?;
        let missing = || format!("{} was not run", program.name);
        Ok(Row {
            compiler: self.toolchain.name().to_owned(),
            group: program.group.clone(),
            program: program.name.clone(),
            arguments: arguments.to_owned(),
            operations: program.operations(self.size),
            plain: taken(Linked::Plain).ok_or_else(missing)?,
            tsan: taken(Linked::Tsan),
            rsan: taken(Linked::Rsan).ok_or_else(missing)?,
            tsan_reports,
            findings: measured.findings,
            findings_expected: program.findings,
        })
    }
}
