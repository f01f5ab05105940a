//! `rsan verify` on whole programs, each in a process of its own.

use super::corpus::{self, Program};
use super::measure::{Cost, measure};
use super::peer::{self, Peer, PeerAnswer};
use super::published::{self, Published};
use super::report::Report;
use crate::steps::{cargo, root};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only programs whose path contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Measure all TPL programs below this folder instead of ours, as their authors published them
    #[arg(long, value_name = "DIR")]
    peer_programs: Option<PathBuf>,
    /// Do not run the peer, even if it is installed
    #[arg(long)]
    no_peer: bool,
    /// End the peer, with all that it has started, after this many seconds
    #[arg(long, value_name = "SECONDS")]
    peer_limit: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Seconds below which a run is repeated.
const REPEATED_BELOW: f64 = 1.0;

/// How often; the best run counts.
const REPEATS: usize = 3;

/// What a published program may take.
const PUBLISHED_LIMIT: &str = "10m";

/// The models that the peer knows, too.
const MODELS: [&str; 2] = ["ra", "rc20"];

/// One program, model and property.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) program: String,
    pub(crate) model: &'static str,
    pub(crate) property: &'static str,
    /// What `rsan` says.
    pub(crate) verdict: String,
    /// Whether the manifest says the same.
    pub(crate) as_expected: bool,
    pub(crate) states: u64,
    /// With a worker per core.
    pub(crate) ours: Cost,
    /// With one worker, where the program takes long enough for a second one.
    pub(crate) one_worker: Option<Cost>,
    pub(crate) peer: Option<PeerAnswer>,
    /// Why the peer, which was asked, has no answer.
    pub(crate) peer_failed: Option<String>,
}

/// A small program, with the default options.
#[derive(Debug, Serialize)]
pub(crate) struct Small {
    pub(crate) program: String,
    pub(crate) ours: Cost,
}

/// Measures and prints.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let rsan = build()?;
    let peer = std::env::var(peer::VARIABLE).ok().filter(|_| !args.no_peer);
    let peer = peer.map(|command| Peer {
        command,
        limit: args.peer_limit,
    });
    if peer.is_none() {
        eprintln!(
            "xtask: no peer ({} is not set, or --no-peer)",
            peer::VARIABLE
        );
    }
    let mut report = Report::default();
    let only = args.only.as_deref().unwrap_or_default();
    match &args.peer_programs {
        Some(folder) => measure_published(&rsan, peer.as_ref(), folder, only, &mut report)?,
        None => measure_corpus(&rsan, peer.as_ref(), only, &mut report)?,
    }
    if args.json {
        println!("{}", report.json());
    } else {
        print!("{report}");
    }
    Ok(())
}

/// The programs of our own.
fn measure_corpus(
    rsan: &Path,
    peer: Option<&Peer>,
    only: &str,
    report: &mut Report,
) -> Result<(), String> {
    let mut programs = corpus::programs()?;
    programs.retain(|p| p.file.contains(only));
    for program in programs.iter().filter(|p| p.is_small()) {
        let file = root().join("litmus").join(&program.file);
        let (_, ours) = best(rsan, &file, &[])?;
        report.small.push(Small {
            program: program.file.clone(),
            ours,
        });
    }
    for program in programs.iter().filter(|p| p.is_measured()) {
        for model in MODELS {
            for property in properties(program, model) {
                let question = Question {
                    name: &program.file,
                    file: root().join("litmus").join(&program.file),
                    model,
                    property,
                    expected: match program.expected(model, property) {
                        Some("yes") => "robust",
                        _ => "violation",
                    },
                    limits: &[],
                };
                let row = row(rsan, peer, &question)?;
                eprintln!("xtask: {}", Report::line(&row));
                report.rows.push(row);
            }
        }
    }
    Ok(())
}

/// Programs that the user has, as far as they can be read and their authors say what is right.
fn measure_published(
    rsan: &Path,
    peer: Option<&Peer>,
    folder: &Path,
    only: &str,
    report: &mut Report,
) -> Result<(), String> {
    let mut programs = published::programs(folder)?;
    programs.retain(|p| p.name.contains(only));
    for program in &programs {
        for (model, property, expected) in questions(program) {
            let question = Question {
                name: &program.name,
                file: program.file.clone(),
                model,
                property,
                expected,
                limits: &["--time-limit", PUBLISHED_LIMIT],
            };
            match row(rsan, peer, &question) {
                Ok(row) => {
                    eprintln!("xtask: {}", Report::line(&row));
                    report.rows.push(row);
                }
                Err(error) => eprintln!("xtask: {} is left out: {error}", program.name),
            }
        }
    }
    Ok(())
}

/// Model, property and verdict of what the authors of a program say about robustness; and about observational robustness,
/// where that is all there is to prove.
fn questions(program: &Published) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut questions = Vec::new();
    for model in MODELS {
        let robust = program.expected(model, "robust");
        questions.extend(robust.map(|verdict| (model, "robust", verdict)));
        if robust == Some("violation") && program.expected(model, "observational") == Some("robust")
        {
            questions.push((model, "observational", "robust"));
        }
    }
    questions
}

/// Robustness; and where it does not hold but observational robustness does, that, too: the proof is the long run.
fn properties(program: &Program, model: &str) -> Vec<&'static str> {
    let refuted = program.expected(model, "robust") == Some("no");
    let observational = program.expected(model, "observational") == Some("yes");
    match (program.expected(model, "robust"), refuted && observational) {
        (Some("refused") | None, _) => vec![],
        (_, true) => vec!["robust", "observational"],
        (_, false) => vec!["robust"],
    }
}

/// What is asked about a program.
struct Question<'a> {
    name: &'a str,
    file: PathBuf,
    model: &'static str,
    property: &'static str,
    /// The right answer.
    expected: &'a str,
    limits: &'a [&'a str],
}

fn row(rsan: &Path, peer: Option<&Peer>, question: &Question<'_>) -> Result<Row, String> {
    let Question {
        name,
        file,
        model,
        property,
        ..
    } = question;
    let mut arguments = vec!["--model", model, "--property", property];
    arguments.extend(question.limits);
    let (answer, ours) = best(rsan, file, &arguments)?;
    let verdict = answer["verdict"].as_str().unwrap_or("none").to_owned();
    let one_worker = if ours.wall >= REPEATED_BELOW {
        arguments.extend(["--jobs", "1"]);
        Some(best(rsan, file, &arguments)?.1)
    } else {
        None
    };
    // The peer reads TPL only, and has no observational mode for RA.
    let suits = name.ends_with(".tpl") && (*model, *property) != ("ra", "observational");
    let asked = peer.filter(|_| suits);
    let (peer, peer_failed) = match asked.map(|peer| peer.ask(file, model, property)) {
        Some(Ok(answer)) => (Some(answer), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    Ok(Row {
        program: (*name).to_owned(),
        model,
        property,
        as_expected: verdict == question.expected,
        verdict,
        states: answer["stats"]["states"].as_u64().unwrap_or(0),
        ours,
        one_worker,
        peer,
        peer_failed,
    })
}

/// The answer, and the cost of the best run.
fn best(rsan: &Path, file: &Path, arguments: &[&str]) -> Result<(Value, Cost), String> {
    let once = || {
        let mut command = Command::new(rsan);
        command.args(["verify", "--format", "json"]);
        measure(command.args(arguments).arg(file))
    };
    let (output, mut cost) = once()?;
    for _ in 1..REPEATS {
        if cost.wall < REPEATED_BELOW {
            let (_, again) = once()?;
            cost = Cost {
                wall: cost.wall.min(again.wall),
                cpu: cost.cpu.min(again.cpu),
                memory: cost.memory.min(again.memory),
            };
        }
    }
    let answer = serde_json::from_str(&output)
        .map_err(|e| format!("{}: not the output expected: {e}", file.display()))?;
    Ok((answer, cost))
}

/// Builds the command; where it is.
pub(crate) fn build() -> Result<PathBuf, String> {
    eprintln!("xtask: cargo build --release --package rsan");
    let output = cargo()
        .args(["build", "--release", "--package", "rsan"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_command = message["target"]["name"] == "rsan";
        message["executable"]
            .as_str()
            .filter(|_| is_command)
            .map(PathBuf::from)
    });
    match executables.next_back() {
        Some(path) if output.status.success() => Ok(path),
        _ => Err("the command does not build".to_owned()),
    }
}
