//! Suppressions of the user's: which findings are left out, and which lines were of use.

use super::findings::Finding;
use rsan_suppressions::{Frame, Subject, Suppression};
use std::collections::BTreeSet;
use std::path::Path;

/// The suppressions of a file.
#[derive(Default, Debug)]
pub(crate) struct Suppressions {
    file: String,
    all: Vec<Suppression>,
    /// The lines that matched a finding.
    used: BTreeSet<usize>,
}

impl Suppressions {
    /// Reads a file.
    ///
    /// # Errors
    /// The message for the user, with the place of everything that is wrong.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let all = rsan_suppressions::parse(&name, &text)
            .map_err(|errors| errors.replace('\n', "\nerror: "))?;
        Ok(Self {
            file: name,
            all,
            used: BTreeSet::new(),
        })
    }

    /// The lines that match a finding.
    fn matching(&self, finding: &Finding) -> Vec<usize> {
        let subject = Subject::of_kind(finding.kind);
        let variable = finding.variable();
        let stacks: Vec<Vec<_>> = finding
            .stacks()
            .map(|stack| {
                let frames = stack.iter().map(|frame| Frame {
                    function: frame.function.as_deref(),
                    file: frame.file.as_deref(),
                    module: frame.module.as_deref(),
                });
                frames.collect()
            })
            .collect();
        let matching = self
            .all
            .iter()
            .filter(|s| s.matches(subject, &stacks, variable));
        matching.map(Suppression::line).collect()
    }

    /// Whether a finding is suppressed.
    pub(crate) fn suppresses(&self, finding: &Finding) -> bool {
        !self.matching(finding).is_empty()
    }

    /// Takes the suppressed findings out, and returns how many they are.
    pub(crate) fn apply(&mut self, findings: &mut Vec<Finding>) -> usize {
        let before = findings.len();
        let mut used = BTreeSet::new();
        findings.retain(|finding| {
            let matching = self.matching(finding);
            used.extend(matching.iter().copied());
            matching.is_empty()
        });
        self.used.extend(used);
        before - findings.len()
    }

    /// The places of the lines that matched nothing so far.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = |s: &&Suppression| !self.used.contains(&s.line());
        let unused = self.all.iter().filter(unused);
        unused
            .map(|suppression| format!("{}:{}", self.file, suppression.line()))
            .collect()
    }
}
