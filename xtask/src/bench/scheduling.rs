//! Owning the schedule: runs per second, the cost of a switch, and how many seeds find what needs a schedule.

use super::measure::{Cost, observe};
use super::verify::build;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// First seeds of the campaigns that look for violations
    #[arg(long, value_name = "N", default_value_t = 100)]
    seeds: u64,

    /// Most runs of each
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u64,

    /// Runs of the campaign whose rate is measured
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    rate: u64,
}

/// Two threads that hand a number to each other by turns: every round is two switches.
const PING_PONG: &str = "\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int turn;
static int rounds;
static void *play(void *me) {
    int mine = me != 0;
    for (int i = 0; i < rounds; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != mine)
            ;
        atomic_store_explicit(&turn, !mine, memory_order_release);
    }
    return 0;
}
int main(int count, char **arguments) {
    rounds = count > 1 ? atoi(arguments[1]) : 1;
    pthread_t other;
    pthread_create(&other, 0, play, &turn);
    play(0);
    pthread_join(other, 0);
}
";

/// Programs of the corpus whose violation needs a particular schedule.
const RARE: &[&str] = &[
    "litmus/basic/sb-ra.litmus",
    "litmus/basic/iriw-ra.litmus",
    "litmus/basic/wrc-rlx-mid.litmus",
    "litmus/basic/isa2-rlx-mid.litmus",
    "litmus/fences/sb-one-fence.litmus",
];

/// Rounds of the two measurements whose difference counts.
const ROUNDS: [u64; 2] = [10_000, 110_000];

struct Bench {
    rsan: PathBuf,
    folder: PathBuf,
}

/// Prints the tables.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rsan-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let bench = Bench {
        rsan: build()?,
        folder: folder.clone(),
    };
    let result = bench.all(args);
    let _ = fs::remove_dir_all(folder);
    result
}

impl Bench {
    fn all(&self, args: &Args) -> Result<(), String> {
        self.rate(args.rate)?;
        self.switch()?;
        self.seeds(args)
    }

    fn compile(&self, source: &Path) -> Result<PathBuf, String> {
        let program = source.with_extension("exe");
        let program = self.folder.join(program.file_name().unwrap_or_default());
        let mut command = Command::new(&self.rsan);
        command.args(["cc", "-O1", "-g", "-pthread", "-o"]);
        let (_, status, _) = observe(command.arg(&program).arg(source))?;
        match status.success() {
            true => Ok(program),
            false => Err(format!("{} cannot be compiled", source.display())),
        }
    }

    /// A program of the corpus, translated and compiled.
    fn translate(&self, file: &str) -> Result<PathBuf, String> {
        let name = Path::new(file).file_stem().unwrap_or_default();
        let source = self.folder.join(name).with_extension("c");
        let mut command = Command::new(&self.rsan);
        command.args(["emit-c", "--annotated", "-o"]);
        observe(command.arg(&source).arg(file))?;
        self.compile(&source)
    }

    fn campaign(&self, program: &Path, words: &[&str]) -> Result<(String, Cost), String> {
        let mut command = Command::new(&self.rsan);
        command.arg("run").arg("--out").arg(self.folder.join("out"));
        command.args(words).arg("--").arg(program);
        let (text, _, cost) = observe(&mut command)?;
        Ok((text, cost))
    }

    /// Runs per second of one server, for a program of the size of a litmus test.
    fn rate(&self, runs: u64) -> Result<(), String> {
        let program = self.translate("litmus/basic/mp-ra.litmus")?;
        println!("| strategy | runs | seconds | CPU seconds | runs per second |");
        println!("| --- | ---: | ---: | ---: | ---: |");
        let count = runs.to_string();
        for strategy in ["random", "pct", "pos"] {
            let words = ["--sched", strategy, "--jobs", "1", "--runs", &count];
            let (_, cost) = self.campaign(&program, &words)?;
            let rate = runs as f64 / cost.wall;
            println!(
                "| {strategy} | {runs} | {:.2} | {:.2} | {rate:.0} |",
                cost.wall, cost.cpu
            );
        }
        println!();
        Ok(())
    }

    /// The cost of a switch, with and without kernel threads: the rest of the run is the same.
    fn switch(&self) -> Result<(), String> {
        let source = self.folder.join("ping_pong.c");
        fs::write(&source, PING_PONG).map_err(|error| error.to_string())?;
        let program = self.compile(&source)?;
        println!("| threads are switched by | ns of CPU per round of two switches |");
        println!("| --- | ---: |");
        for (name, more) in [("the program", ""), ("the kernel", " kernel_threads=1")] {
            let mut times = Vec::new();
            for rounds in ROUNDS {
                let options = format!(
                    "robustness=0 races=0 sched='strategy=pct:depth=1 seed=1 limit=100000000{more}'"
                );
                let best = (0..3).map(|_| {
                    let mut command = Command::new(&program);
                    command
                        .arg(rounds.to_string())
                        .env("RSAN_OPTIONS", &options);
                    observe(&mut command).map(|(_, _, cost)| cost.cpu)
                });
                let best = best.collect::<Result<Vec<_>, _>>()?;
                times.push(best.into_iter().fold(f64::INFINITY, f64::min));
            }
            let per = (times[1] - times[0]) / (ROUNDS[1] - ROUNDS[0]) as f64;
            println!("| {name} | {:.0} |", per * 1e9);
        }
        println!();
        Ok(())
    }

    /// With how many first seeds a campaign finds a violation.
    fn seeds(&self, args: &Args) -> Result<(), String> {
        println!("| program | seeds that find it | most runs needed | CPU seconds, all |");
        println!("| --- | ---: | ---: | ---: |");
        let own = Path::new("crates/rsan/tests/data/scheduled/seqlock.c");
        let mut programs = vec![("seqlock".to_owned(), self.compile(own)?)];
        for file in RARE {
            let name = Path::new(file).file_stem().unwrap_or_default();
            programs.push((name.to_string_lossy().into_owned(), self.translate(file)?));
        }
        for (name, program) in programs {
            let (mut found, mut most, mut cpu) = (0, 0, 0.0);
            for seed in 0..args.seeds {
                let (seed, runs) = ((seed * args.runs).to_string(), args.runs.to_string());
                let words = [
                    "--sched",
                    "pct",
                    "--halt-on-error",
                    "--jobs",
                    "1",
                    "--seed",
                    &seed,
                    "--runs",
                    &runs,
                ];
                let (text, cost) = self.campaign(&program, &words)?;
                cpu += cost.cpu;
                let first = text.lines().next().unwrap_or_default();
                if let Some(needed) = needed(first) {
                    found += 1;
                    most = most.max(needed);
                }
            }
            println!("| {name} | {found} of {} | {most} | {cpu:.1} |", args.seeds);
        }
        Ok(())
    }
}

/// The number of runs in the first line of an answer with a finding.
fn needed(line: &str) -> Option<u64> {
    let (before, after) = line.split_once(" in ")?;
    let found = before.ends_with("finding") || before.ends_with("findings");
    let runs = after.split(' ').next()?.parse().ok()?;
    (found && !before.contains("no finding")).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn the_number_of_runs_is_read() {
        assert_eq!(needed("./a: 2 findings in 17 runs; ended"), Some(17));
        assert_eq!(needed("./a: no finding in 17 runs"), None);
        assert_eq!(needed(""), None);
    }
}
