//! Weak executions: in how many of 100 runs each strategy finds the bugs of `bench/explore/`, and what a run costs.
//!
//! Detection is that of single runs, one for each seed: nothing is carried over from one to the next. The correct form of each program is run, too,
//! and must show nothing. The time is that of a campaign, without `rsan cc`.

mod programs;

use super::measure::{measure, observe};
use super::verify::build;
use programs::Program;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seeds of which each is one run
    #[arg(long, value_name = "N", default_value_t = 500)]
    seeds: u64,

    /// Runs of the campaign whose time is measured
    #[arg(long, value_name = "N", default_value_t = 2000)]
    runs: u64,

    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Take this command instead of building `rsan`
    #[arg(long, value_name = "COMMAND")]
    rsan: Option<PathBuf>,
}

/// The strategies; the last one is the default.
const STRATEGIES: [&str; 3] = ["random", "pctwm", "guided"];

/// The exit status of a program with findings.
const FOUND: i32 = 66;

struct Bench<'a> {
    args: &'a Args,
    rsan: PathBuf,
    folder: PathBuf,
    /// C11Tester, if it is there.
    peer: Option<String>,
}

/// What was measured of a program.
struct Row {
    /// Of 100 runs, by strategy.
    found: Vec<f64>,
    /// Milliseconds of CPU for a run of the default strategy.
    cpu: f64,
    /// The same of C11Tester.
    peer: Option<(f64, f64)>,
}

/// Prints the table.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rsan-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let bench = Bench {
        args,
        rsan: args.rsan.clone().map_or_else(build, Ok)?,
        folder: folder.clone(),
        peer: std::env::var("RSAN_C11TESTER").ok(),
    };
    let result = bench.all();
    let _ = fs::remove_dir_all(folder);
    result
}

impl Bench<'_> {
    fn all(&self) -> Result<(), String> {
        println!(
            "| program | {} | C11Tester, published | here | CPU ms per run | C11Tester |",
            STRATEGIES.join(" | ")
        );
        println!(
            "| --- | {}---: | ---: | ---: | ---: |",
            "---: | ".repeat(STRATEGIES.len())
        );
        let mut structures = Vec::new();
        for program in programs::all(self.args.only.as_deref())? {
            let row = self.row(&program)?;
            println!("{}", line(&program, &row));
            if !program.injected {
                structures.push((program.published, row));
            }
        }
        if let Some(line) = mean_of(&structures) {
            println!("{line}");
        }
        Ok(())
    }

    fn row(&self, program: &Program) -> Result<Row, String> {
        let fixed = self.compile(program, true)?;
        let wrong = self.compile(program, false)?;
        let mut found = Vec::new();
        for strategy in STRATEGIES {
            let (file, seeds) = (&program.file, self.args.seeds);
            if let Some(seed) =
                (0..seeds).find_map(|seed| finds(&fixed, strategy, seed).transpose())
            {
                let seed = seed?;
                return Err(format!(
                    "{file}: the correct form fails: {strategy}, seed {seed}"
                ));
            }
            let seeds = (0..seeds).map(|seed| finds(&wrong, strategy, seed));
            let seeds = seeds.collect::<Result<Vec<_>, String>>()?;
            let count = seeds.iter().flatten().count();
            found.push(100.0 * count as f64 / seeds.len().max(1) as f64);
        }
        Ok(Row {
            found,
            cpu: self.time(&fixed)?,
            peer: self
                .peer
                .as_ref()
                .map(|peer| self.ask(peer, program))
                .transpose()?,
        })
    }

    fn compile(&self, program: &Program, fixed: bool) -> Result<PathBuf, String> {
        let name = format!("{}-{fixed}", program.file);
        let path = self.folder.join(name);
        let mut command = Command::new(&self.rsan);
        command.args(["cc", "-O1", "-g", "-pthread"]);
        command.args(fixed.then_some("-DFIXED"));
        let (_, status, _) = observe(command.arg("-o").arg(&path).arg(program.path()))?;
        match status.success() {
            true => Ok(path),
            false => Err(format!("{} cannot be compiled", program.path().display())),
        }
    }

    /// Milliseconds of CPU for a run of a campaign: the difference of two, so that its start and end are left out.
    fn time(&self, program: &Path) -> Result<f64, String> {
        let few = (self.args.runs / 10).max(1);
        let many = few + self.args.runs;
        let cpu = |runs: u64| {
            let mut command = Command::new(&self.rsan);
            command.args(["explore", "--jobs", "1", "--runs", &runs.to_string()]);
            command.arg("--out").arg(self.folder.join("out"));
            let (_, _, cost) = observe(command.arg("--").arg(program))?;
            Ok::<_, String>(cost.cpu)
        };
        Ok((cpu(many)? - cpu(few)?) * 1000.0 / self.args.runs as f64)
    }

    /// C11Tester's rate, and its milliseconds of CPU for a run.
    fn ask(&self, peer: &str, program: &Program) -> Result<(f64, f64), String> {
        let mut command = Command::new(peer);
        command.arg(program.path()).arg(self.args.seeds.to_string());
        let (text, _) = measure(&mut command)?;
        let mut words = text.split_whitespace().map(str::parse);
        match (words.next(), words.next()) {
            (Some(Ok(rate)), Some(Ok(cpu))) => Ok((rate, cpu)),
            _ => Err(format!("{command:?} answers {text:?}")),
        }
    }
}

/// The seed, if the run with it shows something.
fn finds(program: &Path, strategy: &str, seed: u64) -> Result<Option<u64>, String> {
    let mut command = Command::new(program);
    let options = format!("sched='explore={strategy} seed={seed} steps=50'");
    command.env("RSAN_OPTIONS", options);
    // Cargo's own path would come before the program's, and there may be another library there.
    let (_, status, _) = observe(command.env_remove("LD_LIBRARY_PATH"))?;
    let found = status.code() == Some(FOUND) || status.signal().is_some();
    Ok(found.then_some(seed))
}

fn line(program: &Program, row: &Row) -> String {
    let found: Vec<String> = row.found.iter().map(|rate| format!("{rate:.1}")).collect();
    let (rate, cpu) = row.peer.map_or_else(Default::default, |(rate, cpu)| {
        (format!("{rate:.1}"), format!("{cpu:.2}"))
    });
    format!(
        "| {} | {} | {:.1} | {rate} | {:.2} | {cpu} |",
        program.file,
        found.join(" | "),
        program.published,
        row.cpu
    )
}

/// The line with the mean of the data structures; none if there are none.
fn mean_of(rows: &[(f64, Row)]) -> Option<String> {
    let mean = |of: &dyn Fn(&(f64, Row)) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    let found = (0..STRATEGIES.len()).map(|i| mean(&|(_, row)| row.found.get(i).copied()));
    let found: Vec<String> = found.flatten().map(|rate| format!("{rate:.1}")).collect();
    let published = mean(&|(published, _)| Some(*published))?;
    let cpu = mean(&|(_, row)| Some(row.cpu))?;
    let peer = |of: fn(&(f64, f64)) -> f64, digits: usize| {
        let value = mean(&|(_, row)| row.peer.as_ref().map(of));
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    Some(format!(
        "| mean of the data structures | {} | {published:.1} | {} | {cpu:.2} | {} |",
        found.join(" | "),
        peer(|peer| peer.0, 1),
        peer(|peer| peer.1, 2)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(found: &[f64], cpu: f64, peer: Option<(f64, f64)>) -> Row {
        let found = found.to_vec();
        Row { found, cpu, peer }
    }

    #[test]
    fn means_are_those_of_all_rows() {
        let rows = [
            (70.0, row(&[10.0, 20.0, 90.0], 0.25, None)),
            (80.0, row(&[30.0, 40.0, 100.0], 0.75, Some((50.0, 2.0)))),
        ];
        let line = "| mean of the data structures | 20.0 | 30.0 | 95.0 | 75.0 |  | 0.50 |  |";
        assert_eq!(mean_of(&rows).as_deref(), Some(line));
        let line =
            "| mean of the data structures | 30.0 | 40.0 | 100.0 | 80.0 | 50.0 | 0.75 | 2.00 |";
        assert_eq!(mean_of(&rows[1..]).as_deref(), Some(line));
        assert_eq!(mean_of(&[]), None);
    }
}
