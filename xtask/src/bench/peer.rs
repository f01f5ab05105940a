//! Rocker, behind a command of the user's.

use super::measure::Cost;
use serde::Serialize;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The environment variable that names the command.
pub(crate) const VARIABLE: &str = "RSAN_ROCKER";

/// How to ask the peer.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The command that wraps it.
    pub(crate) command: String,
    /// Seconds after which it is ended, with all that it has started.
    pub(crate) limit: Option<u64>,
}

/// What the peer said and took; compiling its verifier is not part of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PeerAnswer {
    /// In our words: `robust`, `violation` or whatever else it said.
    pub(crate) verdict: String,
    /// States that it stored.
    pub(crate) states: Option<f64>,
    /// The verifier run; `cpu` is the wall time when it does not tell.
    pub(crate) cost: Cost,
    /// Seconds to translate and compile the verifier.
    pub(crate) compile: f64,
}

impl PeerAnswer {
    /// Whether it came to an end; else it ran out of time or memory, or failed.
    pub(crate) fn answers(&self) -> bool {
        matches!(self.verdict.as_str(), "robust" | "violation")
    }
}

impl Peer {
    /// Asks; the answer, or why there is none.
    pub(crate) fn ask(
        &self,
        file: &Path,
        model: &str,
        property: &str,
    ) -> Result<PeerAnswer, String> {
        let mode = match property {
            "robust" => "egr",
            _ => "wegr",
        };
        let output = self
            .command()
            .arg(file)
            .args([model, mode])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|e| format!("cannot run {VARIABLE}={}: {e}", self.command))?;
        let line = String::from_utf8_lossy(&output.stdout);
        let line = line.lines().next().unwrap_or_default();
        match (parse(line), self.limit) {
            (Some(answer), _) => Ok(answer),
            (None, Some(seconds)) if output.status.signal() == Some(KILL) => {
                Err(format!("more than {seconds} s"))
            }
            (None, _) => Err(format!("printed `{line}`, which is no answer")),
        }
    }

    /// `timeout` makes a group of the processes and kills all of it, itself included.
    fn command(&self) -> Command {
        let Some(seconds) = self.limit else {
            return Command::new(&self.command);
        };
        let mut command = Command::new("timeout");
        command
            .arg("--signal=KILL")
            .arg(seconds.to_string())
            .arg(&self.command);
        command
    }
}

/// The number of SIGKILL.
const KILL: i32 = 9;

fn parse(line: &str) -> Option<PeerAnswer> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<f64>().ok();
    let wall = number(2)?;
    Some(PeerAnswer {
        verdict: match *fields.first()? {
            "not" => "violation".to_owned(),
            other => other.to_owned(),
        },
        states: number(4),
        cost: Cost {
            wall,
            cpu: number(7).unwrap_or(wall),
            memory: number(3)?,
        },
        compile: number(1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_is_read() {
        let answer = parse("not\t2.1\t0.5\t78.9\t1.2e+06\t468\tmode\t0.4\t36\tassertion violated");
        let answer = answer.expect("an answer");
        assert_eq!(answer.verdict, "violation");
        assert_eq!(answer.states, Some(1.2e6));
        assert_eq!(answer.compile, 2.1);
        let Cost { wall, cpu, memory } = answer.cost;
        assert_eq!((wall, cpu, memory), (0.5, 0.4, 78.9));
    }

    #[test]
    fn what_is_not_told_is_not_made_up() {
        let answer = parse("robust 2.1 0.5 78.9 - -").expect("an answer");
        assert_eq!((answer.states, answer.cost.cpu), (None, 0.5));
        assert!(parse("").is_none() && parse("error 1.0").is_none());
    }

    #[test]
    fn a_peer_that_takes_too_long_is_ended_with_its_children() {
        let script = format!("rsan-peer-{}.sh", std::process::id());
        let script = std::env::temp_dir().join(script);
        // The child keeps the pipe open: `ask` returns only once both are gone.
        fs::write(&script, "sleep 1000 & wait").expect("a script");
        let peer = Peer {
            command: "sh".to_owned(),
            limit: Some(1),
        };
        let answer = peer.ask(&script, "ra", "robust");
        fs::remove_file(&script).expect("it was there");
        assert_eq!(answer.err().as_deref(), Some("more than 1 s"));
    }

    #[test]
    fn what_a_peer_prints_instead_of_an_answer_is_told() {
        let peer = Peer {
            command: "echo".to_owned(),
            limit: None,
        };
        let why = peer.ask(Path::new("a.tpl"), "ra", "robust").err();
        let told = "printed `a.tpl ra egr`, which is no answer";
        assert_eq!(why.as_deref(), Some(told));
    }
}
