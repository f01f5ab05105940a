//! Rocker, behind a command of the user's.

use super::measure::Cost;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// The environment variable that names the command.
pub(crate) const VARIABLE: &str = "RSAN_ROCKER";

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

/// Asks the peer.
pub(crate) fn ask(
    command: &str,
    file: &Path,
    model: &str,
    property: &str,
) -> Result<PeerAnswer, String> {
    let mode = match property {
        "robust" => "egr",
        _ => "wegr",
    };
    let output = Command::new(command)
        .arg(file)
        .args([model, mode])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|e| format!("cannot run {VARIABLE}={command}: {e}"))?;
    let line = String::from_utf8_lossy(&output.stdout);
    let line = line.lines().next().unwrap_or_default();
    parse(line).ok_or_else(|| format!("{command} printed `{line}`, which is no answer"))
}

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
}
