//! Exploration of schedules against the peers: the same programs, executions and time.
//!
//! `bench/peers/` has every program in C, for rsan and the model checkers that the user has, and in Rust, for loom and
//! shuttle, which are taken from the registry. A tool that is not there is a line below the table. Executions are those
//! that the tool counts itself; what they mean is said in docs/benchmarks-exploration.md. A second table has the time that rsan needs to plan a
//! run, for runs of several lengths. With `--rust` the programs are tests of Rust, for Miri, too (`rust`).

mod checkers;
mod crates;
mod miri;
mod ours;
mod outcome;
mod planning;
mod programs;
mod report;
mod rust;
#[cfg(test)]
mod tests;

use super::verify::build;
use crate::steps::root;
use checkers::Checker;
use crates::{Built, Crate, LOOM, SHUTTLE, Strategy};
use ours::Ours;
use outcome::Outcome;
use planning::Planning;
use programs::Case;
use report::{Column, Report, Row};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Seconds for each program and tool
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    limit: u64,
    /// Runs of the tools that sample schedules
    #[arg(long, value_name = "N", default_value_t = 5000)]
    runs: usize,
    /// Take this command instead of building `rsan`
    #[arg(long, value_name = "COMMAND")]
    rsan: Option<PathBuf>,
    /// Do not fetch and build loom and shuttle
    #[arg(long)]
    no_crates: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Tests of Rust: rsan, loom, shuttle and Miri
    #[arg(long, conflicts_with = "json")]
    rust: bool,
}

/// Asks a tool about a program, whose C file is given.
type Ask<'a> = Box<dyn Fn(&Case, &Path) -> Result<Outcome, String> + 'a>;

/// A tool that may not be there.
struct Tool<'a> {
    column: Column,
    ask: Option<Ask<'a>>,
}

impl<'a> Tool<'a> {
    fn new(name: &'static str, explores: bool, found: Result<(String, Ask<'a>), String>) -> Self {
        let (about, ask) = match found {
            Ok((about, ask)) => (about, Some(ask)),
            Err(why) => (why, None),
        };
        let present = ask.is_some();
        let column = Column {
            name,
            about,
            present,
            explores,
        };
        Self { column, ask }
    }
}

/// Measures and prints.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let cases = programs::cases(args.only.as_deref())?;
    let work = root().join("target/bench-peers");
    std::fs::create_dir_all(&work).map_err(|e| format!("cannot make {}: {e}", work.display()))?;
    let found = Found {
        ours: Ours {
            command: match &args.rsan {
                Some(command) => command.clone(),
                None => build()?,
            },
            work: work.clone(),
        },
        genmc: Checker::genmc(),
        nidhugg: Checker::nidhugg(),
        loom: args.fetched(LOOM, &work),
        shuttle: args.fetched(SHUTTLE, &work),
    };
    if args.rust {
        let tools = rust::Tools {
            ours: &found.ours,
            loom: &found.loom,
            shuttle: &found.shuttle,
            miri: miri::Miri::find(&work),
            limit: args.limit,
            runs: args.runs,
        };
        print!("{}", tools.table(args.only.as_deref(), &work)?);
        return Ok(());
    }
    let tools = found.tools(args);
    let mut report = Report {
        columns: tools.iter().map(|tool| tool.column.clone()).collect(),
        rows: Vec::new(),
        planning: args.only.is_none().then(Planning::measure),
    };
    for case in &cases {
        eprintln!("xtask: {}", case.name());
        let file = case.write(&work)?;
        let ask = |tool: &Tool<'_>| tool.ask.as_ref().map(|ask| ask(case, &file)).transpose();
        report.rows.push(Row {
            program: case.name(),
            weak: case.weak,
            outcomes: tools.iter().map(ask).collect::<Result<_, _>>()?,
        });
    }
    if args.json {
        println!("{}", report.json());
    } else {
        print!("{report}");
    }
    Ok(())
}

impl Args {
    fn fetched(&self, peer: Crate, work: &Path) -> Result<Built, String> {
        if self.no_crates {
            return Err("left out (--no-crates)".to_owned());
        }
        peer.build(work)
    }
}

/// What is there.
struct Found {
    ours: Ours,
    genmc: Result<Checker, String>,
    nidhugg: Result<Checker, String>,
    loom: Result<Built, String>,
    shuttle: Result<Built, String>,
}

impl Found {
    fn tools(&self, args: &Args) -> Vec<Tool<'_>> {
        let Args { limit, runs, .. } = *args;
        let (all, pct) = (Strategy::All(limit), Strategy::Pct(runs));
        vec![
            Tool::new("rsan", true, self.rsan(limit)),
            Tool::new("GenMC rc11", true, checker(&self.genmc, GENMC_RC11, limit)),
            Tool::new("GenMC sc", true, checker(&self.genmc, GENMC_SC, limit)),
            Tool::new("Nidhugg sc", true, checker(&self.nidhugg, NIDHUGG, limit)),
            Tool::new("loom", true, of_crate(LOOM, &self.loom, all)),
            Tool::new("shuttle dfs", true, of_crate(SHUTTLE, &self.shuttle, all)),
            Tool::new("rsan pct", false, self.rsan_pct(runs)),
            Tool::new("shuttle pct", false, of_crate(SHUTTLE, &self.shuttle, pct)),
        ]
    }

    fn rsan(&self, limit: u64) -> Result<(String, Ask<'_>), String> {
        let ask = move |_: &Case, file: &Path| self.ours.exhaustive(file, limit);
        Ok(("rsan check --exhaustive".to_owned(), Box::new(ask)))
    }

    fn rsan_pct(&self, runs: usize) -> Result<(String, Ask<'_>), String> {
        let ask = move |_: &Case, file: &Path| self.ours.pct(file, runs);
        let about = format!("rsan check --sched pct --runs {runs}");
        Ok((about, Box::new(ask)))
    }
}

/// RC11 is the model that is next to C20.
const GENMC_RC11: &[&str] = &["--rc11", "--disable-estimation", "--"];
const GENMC_SC: &[&str] = &["--sc", "--disable-estimation", "--"];
/// Mutexes are initialised where they are declared.
const NIDHUGG: &[&str] = &["--sc", "--no-check-mutex-init"];

fn checker<'a>(
    found: &'a Result<Checker, String>,
    options: &'a [&str],
    limit: u64,
) -> Result<(String, Ask<'a>), String> {
    let checker = found.as_ref().map_err(Clone::clone)?;
    let ask = move |_: &Case, file: &Path| checker.check(options, file, limit);
    let about = format!("{}, {}", checker.version, options[0]);
    Ok((about, Box::new(ask)))
}

fn of_crate(
    peer: Crate,
    found: &Result<Built, String>,
    strategy: Strategy,
) -> Result<(String, Ask<'_>), String> {
    let built = found.as_ref().map_err(Clone::clone)?;
    let ask = move |case: &Case, _: &Path| built.explore(case, strategy);
    let about = format!("{} {}{}", peer.name, peer.version, strategy.about());
    Ok((about, Box::new(ask)))
}
