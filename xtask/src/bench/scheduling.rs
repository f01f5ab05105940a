//! Controlled scheduling: runs per second, the cost of a switch, and how many seeds find what needs a schedule.

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

/// Threads that write to words of their own, so many times altogether.
const WRITERS: &str = "\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int words[64];
static int writes;
static void *write_all(void *word) {
    for (int i = 0; i < writes; i++) atomic_store_explicit((atomic_int *)word, i, memory_order_relaxed);
    return 0;
}
int main(int count, char **arguments) {
    if (count != 3) return 2;
    int threads = atoi(arguments[1]);
    writes = atoi(arguments[2]) / threads;
    pthread_t writers[4];
    for (int i = 0; i < threads; i++) pthread_create(&writers[i], 0, write_all, &words[16 * i]);
    for (int i = 0; i < threads; i++) pthread_join(writers[i], 0);
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

/// Writes of the two measurements whose difference counts.
const WRITES: [u64; 2] = [100_000, 600_000];

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
        println!("| strategy | runs | seconds | CPU seconds | runs per second | per CPU second |");
        println!("| --- | ---: | ---: | ---: | ---: | ---: |");
        let count = runs.to_string();
        for strategy in ["random", "pct", "pos"] {
            let words = ["--sched", strategy, "--jobs", "1", "--runs", &count];
            let (_, cost) = self.campaign(&program, &words)?;
            let [rate, cpu_rate] = [cost.wall, cost.cpu].map(|seconds| runs as f64 / seconds);
            println!(
                "| {strategy} | {runs} | {:.2} | {:.2} | {rate:.0} | {cpu_rate:.0} |",
                cost.wall, cost.cpu
            );
        }
        println!();
        Ok(())
    }

    /// The cost of a switch, with and without kernel threads: one thread never switches, of two every second step does.
    fn switch(&self) -> Result<(), String> {
        let source = self.folder.join("writers.c");
        fs::write(&source, WRITERS).map_err(|error| error.to_string())?;
        let program = self.compile(&source)?;
        println!(
            "| threads are switched by | ns of CPU per step of one thread | of two | per switch |"
        );
        println!("| --- | ---: | ---: | ---: |");
        for (name, more) in [("the program", ""), ("the kernel", " kernel_threads=1")] {
            let one = step(&program, 1, more)?;
            let two = step(&program, 2, more)?;
            let switch = 2.0 * (two - one);
            println!("| {name} | {one:.0} | {two:.0} | {switch:.0} |");
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

/// Nanoseconds of CPU per step of a program with so many threads, the best of three runs.
fn step(program: &Path, threads: u32, more: &str) -> Result<f64, String> {
    let options = format!("sched='strategy=random seed=1 limit=100000000{more}'");
    let mut times = Vec::new();
    for writes in WRITES {
        let best = (0..3).map(|_| {
            let mut command = Command::new(program);
            command.args([threads.to_string(), writes.to_string()]);
            // Cargo's own path would come before the program's, and there may be another library there.
            command.env_remove("LD_LIBRARY_PATH");
            let (_, status, cost) = observe(command.env("RSAN_OPTIONS", &options))?;
            match status.success() {
                true => Ok(cost.cpu),
                false => Err(format!("{}: {status}", program.display())),
            }
        });
        let best = best.collect::<Result<Vec<_>, String>>()?;
        times.push(best.into_iter().fold(f64::INFINITY, f64::min));
    }
    Ok((times[1] - times[0]) / (WRITES[1] - WRITES[0]) as f64 * 1e9)
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
