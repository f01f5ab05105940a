//! Job arrays: submitted, followed and, if the user has had enough, cancelled.
//!
//! Slurm is asked by its commands, and only for who is still there: what came of a shard is in its result.

use super::Round;
use crate::progress::Progress;
use crate::session::eprint;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How following an array ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Came {
    /// No task is left.
    Ended,
    /// The user asked to end; the tasks are cancelled.
    Interrupted,
}

/// How often Slurm is asked, and how often the user.
const ASK: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);
/// A controller that does not answer for so long is gone.
const SILENT: Duration = Duration::from_secs(300);

/// Submits the array of a script, and follows it to its end.
///
/// # Errors
/// The message for the user.
pub(super) fn run(script: &Path, round: &Round, stop: &AtomicBool) -> Result<Came, String> {
    let output = ask(Command::new("sbatch").arg("--parsable").arg(script))?;
    if !output.status.success() {
        return Err(format!("sbatch: {}", said(&output)));
    }
    let id = String::from_utf8_lossy(&output.stdout);
    // The name of a cluster may stand behind it.
    let id = id.trim().split(';').next().unwrap_or_default().to_owned();
    let tasks = round.shards.len();
    eprint(&format!(
        "round {}: job {id}, {tasks} shards\n",
        round.number
    ));
    let subject = format!("round {}", round.number);
    let mut progress = Progress::new(&subject);
    let mut answered = Instant::now();
    loop {
        match tasks_of(&id) {
            Ok(None) => return Ok(Came::Ended),
            Ok(Some(state)) => {
                answered = Instant::now();
                progress.show(&state);
            }
            Err(why) if answered.elapsed() > SILENT => return Err(why),
            Err(_) => {}
        }
        let asked = Instant::now();
        while asked.elapsed() < ASK {
            if stop.load(Ordering::Relaxed) {
                // Whatever it says: the user wants to end.
                let _ = ask(Command::new("scancel").arg(&id));
                return Ok(Came::Interrupted);
            }
            thread::sleep(LOOK);
        }
    }
}

/// How many tasks of an array are in which state; `None` if there are none.
fn tasks_of(id: &str) -> Result<Option<String>, String> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--array", "--format=%T", "--job", id]);
    let output = ask(&mut command)?;
    if !output.status.success() {
        let why = said(&output);
        // An array that has ended long ago is not known any more.
        return match why.contains("Invalid job id") {
            true => Ok(None),
            false => Err(format!("squeue: {why}")),
        };
    }
    let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
    let mut states: Vec<&str> = text.split_whitespace().collect();
    states.sort_unstable();
    let counts = states.chunk_by(|one, other| one == other);
    let counts: Vec<_> = counts
        .map(|same| format!("{} {}", same.len(), same[0]))
        .collect();
    Ok((!counts.is_empty()).then(|| counts.join(", ")))
}

fn ask(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().display().to_string();
    let output = command.output();
    output.map_err(|error| format!("{name} cannot be started: {error}"))
}

/// What a command said of its failure.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.trim().lines().last().unwrap_or("it failed").to_owned()
}
