//! `rsan verify --model tso` and `rsan fence` on automata, against Trencher when it is installed.

mod programs;

use super::measure::{Cost, observe};
use super::verify::build;
use programs::{Family, LOCKS, QUEUES};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Further automata, or folders of them
    files: Vec<PathBuf>,

    /// Numbers of threads of the scaled programs
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "2,4,6,8"
    )]
    threads: Vec<usize>,

    /// Seconds for each run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,

    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// The three questions, with what each is asked by.
const QUESTIONS: [Question; 3] = [
    Question {
        ours: &["verify"],
        theirs: "-r",
    },
    Question {
        ours: &["fence"],
        theirs: "-f",
    },
    Question {
        ours: &["verify", "--property", "trf"],
        theirs: "-trf",
    },
];

struct Question {
    ours: &'static [&'static str],
    theirs: &'static str,
}

/// What was said, and the seconds it took.
#[derive(Clone, PartialEq, Debug)]
struct Answer {
    text: String,
    seconds: f64,
}

impl Answer {
    fn is_decided(&self) -> bool {
        !self.was_stopped() && self.text != "no answer"
    }

    fn was_stopped(&self) -> bool {
        self.text.starts_with("stopped")
    }

    /// How many times as long it took as the one before; `?` where one of them ended early by itself, or the first was stopped.
    fn factor(&self, before: &Self) -> String {
        let factor = self.seconds / before.seconds;
        match before.is_decided() {
            true if self.is_decided() => format!("{factor:.1}"),
            true if self.was_stopped() => format!(">= {factor:.1}"),
            _ => "?".to_owned(),
        }
    }
}

/// The answers about one program.
struct Row {
    name: String,
    ours: Vec<Answer>,
    theirs: Vec<Answer>,
}

/// Prints a line per program: verdicts, numbers of fences, seconds; ours and Trencher's.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let bench = Bench {
        rsan: build()?,
        trencher: std::env::var("RSAN_TRENCHER").ok(),
        limit: args.limit,
    };
    if bench.trencher.is_none() {
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
    let chosen = |name: &str| name.contains(&args.only);
    programs.retain(|p| chosen(&name(p)));
    let mut disagreements = 0;
    if !programs.is_empty() {
        heading();
        for program in &programs {
            disagreements += print(&bench.row(program)?);
        }
    }
    let families: Vec<Family> = LOCKS.into_iter().chain(QUEUES).collect();
    let families = families.into_iter().filter(|f| chosen(f.0));
    for (family, text) in families {
        println!("\n{family}, with more and more threads\n");
        heading();
        let mut rows = Vec::new();
        for threads in &args.threads {
            let row = bench.row(&write(family, *threads, &text(*threads))?)?;
            disagreements += print(&row);
            rows.push(row);
        }
        if rows.len() > 1 {
            growth(&rows);
        }
    }
    match disagreements {
        0 => Ok(()),
        n => Err(format!("{n} answers differ from Trencher's")),
    }
}

fn name(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
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

/// Writes a program to the target folder.
fn write(family: &str, threads: usize, text: &str) -> Result<PathBuf, String> {
    let folder = Path::new("target/bench-tso");
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let path = folder.join(format!("{family}-{threads}.txt"));
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    Ok(path)
}

struct Bench {
    rsan: PathBuf,
    trencher: Option<String>,
    limit: u64,
}

impl Bench {
    fn row(&self, program: &Path) -> Result<Row, String> {
        let mut row = Row {
            name: name(program),
            ours: Vec::new(),
            theirs: Vec::new(),
        };
        for question in &QUESTIONS {
            row.ours.push(best(|| self.ours(question, program))?);
            if let Some(trencher) = &self.trencher {
                row.theirs
                    .push(best(|| self.theirs(trencher, question, program))?);
            }
        }
        Ok(row)
    }

    fn ours(&self, question: &Question, program: &Path) -> Result<Answer, String> {
        let limit = format!("{}s", self.limit);
        let mut command = Command::new(&self.rsan);
        command.args(question.ours).args(["--model", "tso"]);
        command.args(["--time-limit", &limit]).arg(program);
        let (text, status, cost) = observe(&mut command)?;
        let said = match (question.theirs, status.code()) {
            (_, Some(3)) => self.stopped(),
            ("-f", _) => our_fences(&text).to_owned(),
            (_, Some(0)) => "yes".to_owned(),
            (_, Some(1)) => "no".to_owned(),
            _ => "no answer".to_owned(),
        };
        Ok(answer(said, cost))
    }

    fn theirs(
        &self,
        trencher: &str,
        question: &Question,
        program: &Path,
    ) -> Result<Answer, String> {
        let mut command = Command::new("timeout");
        command.arg(self.limit.to_string()).arg(trencher);
        let (text, status, cost) = observe(command.arg(question.theirs).arg(program))?;
        let fences = text.split_once(" total)").map(|(before, _)| before);
        let fences = fences.and_then(|before| before.rsplit('(').next());
        let said = match (status.code(), fences) {
            (Some(124), _) => self.stopped(),
            (_, Some(fences)) => fences.to_owned(),
            _ if text.contains("IS NOT") => "no".to_owned(),
            _ if text.contains("IS robust") || text.contains("IS free") => "yes".to_owned(),
            _ => "no answer".to_owned(),
        };
        Ok(answer(said, cost))
    }

    fn stopped(&self) -> String {
        format!("stopped after {} s", self.limit)
    }
}

/// CPU time of all threads: other programs may run on the machine.
fn answer(text: String, cost: Cost) -> Answer {
    Answer {
        text,
        seconds: cost.cpu,
    }
}

/// The best of three runs, if one takes less than a second.
fn best(run: impl Fn() -> Result<Answer, String>) -> Result<Answer, String> {
    let mut best = run()?;
    for _ in 0..2 {
        if best.seconds < 1.0 {
            let again = run()?;
            if again.seconds < best.seconds {
                best = again;
            }
        }
    }
    Ok(best)
}

fn heading() {
    println!(
        "| program | robust | s | fences | s | trf | s | Trencher: robust | s | fences | s | trf | s |"
    );
    println!(
        "| --- | --- | ---: | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: | --- | ---: |"
    );
}

/// Prints a row; the number of answers that differ.
fn print(row: &Row) -> usize {
    let cells = |answers: &[Answer]| {
        let cells = answers
            .iter()
            .map(|a| format!(" {} | {:.3} |", a.text, a.seconds));
        cells.collect::<String>()
    };
    let theirs = match row.theirs.is_empty() {
        true => " | | | | | |".to_owned(),
        false => cells(&row.theirs),
    };
    println!("| {} |{}{theirs}", row.name, cells(&row.ours));
    let both = row.ours.iter().zip(&row.theirs);
    let differ = both.filter(|(a, b)| a.is_decided() && b.is_decided() && a.text != b.text);
    differ
        .inspect(|(a, b)| println!("DIFFERENT: {} and {}", a.text, b.text))
        .count()
}

/// How many times as long each row takes as the one before.
fn growth(rows: &[Row]) {
    let factor = |pair: &[Row], side: fn(&Row) -> &[Answer], question: usize| {
        let (before, after) = (side(&pair[0]).get(question)?, side(&pair[1]).get(question)?);
        Some(after.factor(before))
    };
    for (question, name) in ["robust", "fences", "trf"].into_iter().enumerate() {
        let line = |side| {
            let factors = rows
                .windows(2)
                .filter_map(|pair| factor(pair, side, question));
            factors.collect::<Vec<String>>().join(", ")
        };
        let (ours, theirs) = (line(|r| &r.ours), line(|r| &r.theirs));
        println!("\ngrowth of {name}: rsan {ours}; Trencher {theirs}");
    }
}

/// The number of fences in an answer of `rsan fence`.
fn our_fences(text: &str) -> &str {
    let first = text.lines().next().unwrap_or("");
    match first.split_once(": ") {
        Some((_, rest)) if rest.contains("without any fence") => "0",
        Some((_, rest)) if rest.contains(" of cost ") => rest.split(' ').next().unwrap_or("?"),
        _ => "no answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_where_it_is_known() {
        let answer = |text: &str, seconds| Answer {
            text: text.to_owned(),
            seconds,
        };
        let (yes, longer) = (answer("yes", 2.0), answer("4", 5.0));
        let (stopped, crashed) = (answer("stopped after 9 s", 8.0), answer("no answer", 1.0));
        assert_eq!(longer.factor(&yes), "2.5");
        assert_eq!(stopped.factor(&yes), ">= 4.0");
        assert_eq!(crashed.factor(&yes), "?");
        assert_eq!(longer.factor(&crashed), "?");
        assert_eq!(stopped.factor(&stopped), "?");
    }
}
