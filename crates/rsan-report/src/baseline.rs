//! Findings that were there before: only new ones count.

use crate::document::Document;
use crate::fingerprint::{FINGERPRINT_KEY, Fingerprint, fingerprints};
use crate::number::plural;
use crate::read::{ReadError, is_sarif, read};
use serde_json::Value;
use std::collections::BTreeSet;

/// What is said of findings that are known.
const KNOWN: &str = " known from the baseline";

/// The findings of earlier documents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline(BTreeSet<Fingerprint>);

impl Baseline {
    /// The findings of documents, or of a SARIF log that we wrote.
    ///
    /// # Errors
    /// If the text is neither, or its results have no fingerprints of ours.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        match serde_json::from_str::<Value>(text) {
            Ok(log) if is_sarif(&log) => Self::of_sarif(&log),
            _ => Ok(Self::of(&read(text)?)),
        }
    }

    /// The findings of documents.
    pub fn of(documents: &[Document]) -> Self {
        Self(documents.iter().flat_map(fingerprints).collect())
    }

    fn of_sarif(log: &Value) -> Result<Self, ReadError> {
        let runs = log["runs"].as_array().into_iter().flatten();
        let results = runs.flat_map(|run| run["results"].as_array().into_iter().flatten());
        let mark = |result: &Value| {
            let text = result["partialFingerprints"][FINGERPRINT_KEY].as_str();
            text.map(Fingerprint::from_text).ok_or_else(|| ReadError {
                place: None,
                message: format!(
                    "a result has no fingerprint `{FINGERPRINT_KEY}`: rsan did not write this SARIF"
                ),
            })
        };
        let marks: Result<_, _> = results.map(mark).collect();
        marks.map(Self)
    }

    /// Marks the findings of a document that are known, and judges it by the others.
    pub fn apply(&self, document: &mut Document) {
        let marks = fingerprints(document);
        for (finding, mark) in document.findings.iter_mut().zip(&marks) {
            finding.known = self.0.contains(mark);
        }
        let known = document.findings.iter().filter(|finding| finding.known);
        let known = known.count() as u64;
        document.stats.known = Some(known);
        document.judge();
        document.notes.retain(|note| !note.ends_with(KNOWN));
        if known > 0 {
            let known = plural(known, "finding");
            document.notes.push(format!("{known}{KNOWN}"));
        }
    }
}
