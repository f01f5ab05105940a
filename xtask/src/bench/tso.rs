//! `rsan verify --model tso` and `rsan fence` on automata, against Trencher when it is installed.

use super::measure::{Cost, observe};
use super::verify::build;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Further automata, or folders of them
    files: Vec<PathBuf>,

    /// The largest number of threads of the scaled programs
    #[arg(long, value_name = "N", default_value_t = 4)]
    threads: usize,

    /// Seconds for each run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
}

/// Prints a line per program: verdicts, numbers of fences, seconds; ours and Trencher's.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let rsan = build()?;
    let trencher = std::env::var("RSAN_TRENCHER").ok();
    if trencher.is_none() {
        eprintln!("xtask: RSAN_TRENCHER names no command, so there is nothing to compare with");
    }
    let mut programs = automata(Path::new("automata"))?;
    for path in &args.files {
        if path.is_dir() {
            programs.extend(automata(path)?);
        } else {
            programs.push(path.clone());
        }
    }
    programs.extend(scaled(args.threads)?);
    println!("| program | rsan | s | fences | s | Trencher | s | fences | s |");
    println!("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |");
    let bench = Bench {
        rsan,
        trencher,
        limit: args.limit,
    };
    for program in programs {
        println!("{}", bench.row(&program)?);
    }
    Ok(())
}

/// The automata of a folder, by name.
fn automata(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let shown = folder.display();
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{shown}: {e}"))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "txt"))
        .collect();
    paths.sort();
    Ok(paths)
}

struct Bench {
    rsan: PathBuf,
    trencher: Option<String>,
    limit: u64,
}

impl Bench {
    fn row(&self, program: &Path) -> Result<String, String> {
        let limit = format!("{}s", self.limit);
        let ours = |words: &[&str]| {
            let mut command = Command::new(&self.rsan);
            command.args(words).args(["--model", "tso", "--time-limit"]);
            observe(command.arg(&limit).arg(program))
        };
        let (_, status, verified) = ours(&["verify"])?;
        let verdict = match status.code() {
            Some(0) => "robust",
            Some(1) => "not",
            _ => "unknown",
        };
        let (text, _, fenced) = ours(&["fence"])?;
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let mut row = format!("| {name} | {verdict} | {} | ", seconds(verified));
        let _ = write!(row, "{} | {} | ", our_fences(&text), seconds(fenced));
        match &self.trencher {
            None => row.push_str("| | | |"),
            Some(trencher) => {
                let theirs = |option: &str| {
                    let mut command = Command::new("timeout");
                    let seconds = self.limit.to_string();
                    observe(command.arg(seconds).arg(trencher).arg(option).arg(program))
                };
                let (text, _, checked) = theirs("-r")?;
                let verdict = match (text.contains("IS robust"), text.contains("IS NOT")) {
                    (true, false) => "robust",
                    (false, true) => "not",
                    _ => "no answer",
                };
                let (text, _, fenced) = theirs("-f")?;
                let fences = text
                    .split_once(" total)")
                    .and_then(|(before, _)| before.rsplit('(').next())
                    .unwrap_or("?");
                let (checked, fenced) = (seconds(checked), seconds(fenced));
                let _ = write!(row, "{verdict} | {checked} | {fences} | {fenced} |");
            }
        }
        Ok(row)
    }
}

fn seconds(cost: Cost) -> String {
    format!("{:.3}", cost.wall)
}

/// The number of fences in an answer of `rsan fence`.
fn our_fences(text: &str) -> &str {
    let first = text.lines().next().unwrap_or("");
    match first.split_once(": ") {
        Some((_, rest)) if rest.contains("without any fence") => "0",
        Some((_, rest)) if rest.contains(" of cost ") => rest.split(' ').next().unwrap_or("?"),
        _ => "?",
    }
}

/// The scaled programs, written to the target folder.
fn scaled(most: usize) -> Result<Vec<PathBuf>, String> {
    let folder = Path::new("target/bench-tso");
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let mut paths = Vec::new();
    for threads in (2..=most).step_by(2) {
        for (name, text) in [
            ("spin-lock", copies(threads, spin_lock)),
            ("ticket-lock", copies(threads, ticket_lock)),
            ("lamport-first", copies(threads, lamport)),
            ("filter", copies(threads, |i| filter(i, threads))),
        ] {
            let path = folder.join(format!("{name}-{threads}.txt"));
            std::fs::write(&path, text).map_err(|e| e.to_string())?;
            paths.push(path);
        }
    }
    Ok(paths)
}

fn copies(threads: usize, rows: impl Fn(usize) -> Vec<String>) -> String {
    let mut text = String::new();
    for i in 1..=threads {
        let _ = writeln!(text, "thread t{i}\ninitial start");
        for row in rows(i) {
            let _ = writeln!(text, "transition {row}");
        }
        text.push_str("end\n");
    }
    text
}

fn lines(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| (*row).to_owned()).collect()
}

fn spin_lock(_: usize) -> Vec<String> {
    lines(&[
        "start held lock",
        "held tested read v 0",
        "tested taken check == v 0",
        "taken free write 1 0",
        "free critical unlock",
        "tested busy check != v 0",
        "busy spin unlock",
        "spin look read v 0",
        "look spin check != v 0",
        "look start check == v 0",
        "critical used read c 1",
        "used out write 1 1",
        "out clear write 0 1",
        "clear start write 0 0",
    ])
}

/// Tickets modulo 16: more than there are threads.
fn ticket_lock(_: usize) -> Vec<String> {
    lines(&[
        "start drawn lock",
        "drawn mine read ticket 0",
        "mine stored write & + 1 ticket 15 0",
        "stored wait unlock",
        "wait look read now 1",
        "look wait check != now ticket",
        "look critical check == now ticket",
        "critical used read c 2",
        "used clear write 1 2",
        "clear leave write 0 2",
        "leave start write & + 1 ticket 15 1",
    ])
}

/// Lamport's fast mutual exclusion, first algorithm.
fn lamport(i: usize) -> Vec<String> {
    vec![
        format!("start readY write {i} 0"),
        "readY testY read y 1".to_owned(),
        "testY start check != y 0".to_owned(),
        "testY setY check == y 0".to_owned(),
        format!("setY readX write {i} 1"),
        "readX testX read x 0".to_owned(),
        format!("testX critical check == x {i}"),
        format!("testX late check != x {i}"),
        "late lateY read y 1".to_owned(),
        format!("lateY critical check == y {i}"),
        format!("lateY start check != y {i}"),
        "critical start write 0 1".to_owned(),
    ]
}

/// Peterson's filter lock: levels from 100 on, who waits at each level from 200 on.
fn filter(i: usize, threads: usize) -> Vec<String> {
    let others: Vec<usize> = (1..=threads).filter(|j| *j != i).collect();
    let mut rows = Vec::new();
    for level in 1..threads {
        let here = match level {
            1 => "start".to_owned(),
            level => format!("enter{level}"),
        };
        let next = match level + 1 {
            next if next == threads => "critical".to_owned(),
            next => format!("enter{next}"),
        };
        rows.push(format!("{here} last{level} write {level} {}", 100 + i));
        rows.push(format!("last{level} look{level} write {i} {}", 200 + level));
        rows.push(format!("look{level} saw{level} read v {}", 200 + level));
        rows.push(format!("saw{level} {next} check != v {i}"));
        rows.push(format!("saw{level} l{level}_0 check == v {i}"));
        for (n, j) in others.iter().enumerate() {
            let then = match n + 1 {
                last if last == others.len() => next.clone(),
                n => format!("l{level}_{n}"),
            };
            rows.push(format!("l{level}_{n} c{level}_{n} read o {}", 100 + j));
            rows.push(format!("c{level}_{n} {then} check < o {level}"));
            rows.push(format!("c{level}_{n} look{level} check >= o {level}"));
        }
    }
    rows.push(format!("critical start write 0 {}", 100 + i));
    rows
}
