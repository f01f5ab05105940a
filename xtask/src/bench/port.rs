//! `rsan port` on the programs of published tables: verdicts, fences that are there, fences inserted, and time; and how the time
//! grows with the size of a program.
//!
//! Fences are counted as published: fences only, each for 1. The time is that of the whole command on bitcode, the loading of LLVM
//! included. No other tool is installed that answers the same, so growth is told as the ratio of one size to the one before.

mod programs;

use super::measure::{Cost, observe};
use super::verify::build;
use programs::{Program, generated};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only programs whose file contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Take this command instead of building `rsan`
    #[arg(long, value_name = "COMMAND")]
    rsan: Option<PathBuf>,

    /// Numbers of accesses of the generated programs
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "10,100,1000,2000,4000,8000,10000"
    )]
    sizes: Vec<usize>,
}

/// The pairs of published tables, then those that are ours alone.
const PAIRS: [(&str, &str); 9] = [
    ("sc", "x86"),
    ("sc", "armv8"),
    ("x86", "armv8"),
    ("sc", "armv7"),
    ("x86", "armv7"),
    ("armv8", "armv7"),
    ("x86", "riscv"),
    ("x86", "power"),
    ("armv8", "power"),
];

/// How often each command runs; the fastest counts.
const REPEATS: usize = 5;

struct Bench {
    rsan: PathBuf,
    folder: PathBuf,
}

/// What was measured.
struct Measured {
    verdict: String,
    /// Fences, and orders above relaxed, that were there.
    there: u64,
    inserted: u64,
    naive: u64,
    /// Milliseconds to answer, and with the repair.
    answer: f64,
    repair: f64,
}

/// Prints the tables.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rsan-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let bench = Bench {
        rsan: args.rsan.clone().map_or_else(build, Ok)?,
        folder: folder.clone(),
    };
    let result = bench.tables(args);
    let _ = fs::remove_dir_all(folder);
    result
}

impl Bench {
    fn tables(&self, args: &Args) -> Result<(), String> {
        println!(
            "| program | from | to | verdict | there | published | inserted | published | naive | published | ms | with repair |"
        );
        println!(
            "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        );
        let mut more = 0;
        for program in programs::all(args.only.as_deref())? {
            let bitcode = self.compiled(&program)?;
            for (from, to) in PAIRS {
                let row = self.measured(&bitcode, from, to)?;
                more += u64::from(print(&program, from, to, &row));
            }
        }
        println!("\nrows with more fences than published: {more}");
        println!("\n| accesses | pairs on cycles | seconds | times the one before |");
        println!("| ---: | ---: | ---: | ---: |");
        let mut before: Option<(usize, f64)> = None;
        for size in &args.sizes {
            let (cycles, seconds) = self.generated(*size)?;
            let factor = before.map_or(String::new(), |(less, time)| {
                format!(
                    "{:.1} (size {:.1})",
                    seconds / time,
                    *size as f64 / less as f64
                )
            });
            println!("| {size} | {cycles} | {seconds:.3} | {factor} |");
            before = Some((*size, seconds));
        }
        Ok(())
    }

    fn compiled(&self, program: &Program) -> Result<PathBuf, String> {
        let out = self.folder.join(&program.file).with_extension("bc");
        let mut clang = Command::new("clang");
        clang.args(["-c", "-emit-llvm", "-g", "-O1", "-o"]);
        let status = clang.arg(&out).arg(program.path()).status();
        match status {
            Ok(status) if status.success() => Ok(out),
            Ok(_) => Err(format!("{}: clang does not compile it", program.file)),
            Err(error) => Err(format!("clang: {error}")),
        }
    }

    /// The best of several runs.
    fn answer(&self, words: &[&str], file: &Path) -> Result<(Value, Cost), String> {
        let mut best: Option<(Value, Cost)> = None;
        for _ in 0..REPEATS {
            let mut command = Command::new(&self.rsan);
            command.arg("port").args(words).args(["--format", "json"]);
            let (text, status, cost) = observe(command.arg(file))?;
            if !matches!(status.code(), Some(0 | 1 | 3)) {
                return Err(format!("{}: no answer", file.display()));
            }
            let answer = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if best
                .as_ref()
                .is_none_or(|(_, known)| cost.wall < known.wall)
            {
                best = Some((answer, cost));
            }
            if cost.wall > 1.0 {
                break;
            }
        }
        best.ok_or_else(|| "nothing was run".to_owned())
    }

    fn measured(&self, file: &Path, from: &str, to: &str) -> Result<Measured, String> {
        let pair = ["--from", from, "--to", to];
        let (plain, cost) = self.answer(&pair, file)?;
        let fix = ["--fix", "--fences-only", "--unit-costs"];
        let (fixed, with_repair) = self.answer(&[&pair[..], &fix].concat(), file)?;
        let changes = fixed["repair"]["changes"].as_array().map_or(0, Vec::len);
        Ok(Measured {
            verdict: plain["verdict"].as_str().unwrap_or("?").to_owned(),
            there: plain["port"]["fences"].as_u64().unwrap_or(0),
            inserted: changes as u64,
            naive: fixed["port"]["naive"].as_u64().unwrap_or(0),
            answer: cost.wall * 1000.0,
            repair: with_repair.wall * 1000.0,
        })
    }

    /// Pairs on cycles and seconds of a generated program.
    fn generated(&self, size: usize) -> Result<(u64, f64), String> {
        let file = self.folder.join(format!("generated-{size}.ll"));
        fs::write(&file, generated(size)).map_err(|error| error.to_string())?;
        let threads = ["--thread", "thread0", "--thread", "thread1"];
        let (answer, cost) = self.answer(&threads, &file)?;
        let cycles = answer["port"]["on_cycles"].as_u64().unwrap_or(0);
        Ok((cycles, cost.wall))
    }
}

/// Prints a row; whether it has more fences than published.
fn print(program: &Program, from: &str, to: &str, row: &Measured) -> bool {
    let published = program.inserted.get(&format!("{from}-{to}")).copied();
    let shown = |number: Option<u64>| number.map_or(String::new(), |n| n.to_string());
    let naive = (from, to) == ("sc", "x86");
    println!(
        "| {} | {from} | {to} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
        program.name,
        row.verdict,
        row.there,
        program.fences,
        row.inserted,
        shown(published),
        row.naive,
        shown(naive.then_some(program.naive)),
        row.answer,
        row.repair,
    );
    published.is_some_and(|published| row.inserted > published)
}
