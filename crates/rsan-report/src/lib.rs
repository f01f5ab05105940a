//! What an engine found, for people and for machines: text, JSON and DOT.
//!
//! This crate does no I/O and decides nothing: it turns a [`Verdict`] or the final states of a litmus test into a
//! string. It knows no engine; commands hand over what it shows. Output is a function of its arguments, so
//! the same answer gives the same bytes; times stand only where the formats say so.

mod baseline;
mod condition;
mod describe;
pub mod document;
mod dot;
mod excerpt;
mod finding;
mod fingerprint;
mod json;
mod judgement;
mod junit;
mod litmus;
mod merge;
pub mod number;
mod read;
mod rules;
mod sarif;
mod style;
mod text;

#[cfg(test)]
mod tests;

pub use baseline::Baseline;
pub use condition::condition;
pub use dot::{dot, quote};
pub use fingerprint::{FINGERPRINT_KEY, Fingerprint, fingerprints};
pub use json::{Document, document, json};
pub use judgement::Judgement;
pub use junit::junit;
pub use litmus::{Answer, Final, Litmus, litmus_document, litmus_text};
pub use merge::merge;
pub use read::{ReadError, read};
pub use rules::Rule;
pub use sarif::sarif;
pub use style::{Role, Style};
pub use text::{sentence, text};

use rsan_model::{Model, Program, Source, Span, Verdict};
use std::time::Duration;

/// What was asked about a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// Every execution that the model allows is sequentially consistent.
    Robust,
    /// The same, up to reads whose value is never used.
    Observational,
    /// Assertions hold and nothing races, under sequential consistency.
    Safe,
}

impl Claim {
    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::Observational => "observational",
            Self::Safe => "safe",
        }
    }

    /// What a proof of it says.
    fn promise(self, model: Model) -> String {
        match self {
            Self::Robust => format!("robust against {model}"),
            Self::Observational => format!("observationally robust against {model}"),
            Self::Safe => {
                "safe under sequential consistency: no assertion fails, nothing races".to_owned()
            }
        }
    }
}

/// What a search took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Distinct states.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Steps from the start to the farthest state.
    pub depth: u32,
    /// Bytes that the states take.
    pub memory: u64,
    /// Time.
    pub elapsed: Duration,
}

/// An answered question about one input.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The command that asked.
    pub command: &'a str,
    /// The input as the user named it.
    pub subject: &'a str,
    /// The program in it.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// The question.
    pub claim: Claim,
    /// The answer.
    pub verdict: &'a Verdict,
    /// What it took.
    pub effort: Effort,
}

/// A complaint about an input: `error: MESSAGE`, the place as `FILE:LINE:COLUMN`, and the source line with carets.
pub fn complaint(source: &Source, span: Span, message: &str, label: &str, style: Style) -> String {
    let mark = excerpt::Mark {
        span,
        label: label.to_owned(),
    };
    format!(
        "{}: {message}\n{}",
        style.paint(style::Role::Bad, "error"),
        excerpt::excerpt(source, &[mark], style),
    )
}
