//! What an engine found, for people and for machines.
//!
//! Every command answers with one [`Document`]. This crate makes it of verdicts and of litmus tests, and renders it: as
//! text, JSON, HTML and DOT. It does no I/O and decides nothing; it knows no engine, commands hand over what it shows. Output is a
//! function of its arguments, so the same answer gives the same bytes; times stand only where the formats say so.

mod baseline;
mod condition;
mod describe;
pub mod document;
mod dot;
mod excerpt;
mod fingerprint;
mod html;
mod judgement;
mod junit;
mod litmus;
mod merge;
pub mod number;
mod parts;
pub mod printable;
mod read;
mod rules;
mod sarif;
mod style;
mod test;
mod text;
mod verified;
mod witness;

#[cfg(test)]
mod tests;

pub use baseline::Baseline;
pub use condition::condition;
pub use document::{Claim, Command, Document, json, schema};
pub use dot::dot;
pub use fingerprint::{FINGERPRINT_KEY, Fingerprint, fingerprints};
pub use html::html;
pub use judgement::Judgement;
pub use junit::junit;
pub use litmus::{Answer, Final, Litmus, litmus_document};
pub use merge::merge;
pub use parts::unite;
pub use read::{ReadError, read};
pub use rules::Rule;
pub use sarif::sarif;
pub use style::{Role, Style};
pub use test::Test;
pub use text::{Details, text};
pub use verified::{document, excerpt, place, sentence};

use rsan_model::{Model, Program, Source, Span, Verdict};
use std::time::Duration;

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
    pub command: Command,
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
    let place = place(Some(source), Some(span));
    let mark = place.as_ref().map(|place| excerpt::Mark {
        place,
        line: place.line.map(|line| source.line(line as usize)),
        label: label.to_owned(),
    });
    format!(
        "{}: {message}\n{}",
        style.paint(Role::Bad, "error"),
        excerpt::excerpt(mark.as_slice(), style),
    )
}
