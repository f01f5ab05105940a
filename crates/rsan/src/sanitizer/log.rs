//! The distinct findings of several runs. The same finding of several runs, or of several processes, is one
//! ([`rsan_log::Key`]).

use super::record::Logged;
use rsan_log::{Finding, Frame, Key};
use rsan_report::document::Process;
use std::collections::{BTreeMap, BTreeSet};

/// A distinct finding.
pub(crate) struct Distinct {
    pub(crate) logged: Finding<'static>,
    /// The runs that had it.
    pub(crate) runs: BTreeSet<usize>,
    /// The process that showed what is kept of it.
    pub(crate) process: Process,
}

/// The distinct findings of all runs.
#[derive(Default)]
pub(crate) struct Findings {
    found: BTreeMap<Key<Option<Frame<'static>>>, Distinct>,
}

/// How much a finding says: whether the value tells, and whether the order is explained.
fn content(finding: &Finding<'_>) -> (bool, bool) {
    let chain = match finding {
        Finding::Race { chain, .. } | Finding::Violation { chain, .. } => chain.is_some(),
        Finding::Misuse { .. } | Finding::Deadlock { .. } | Finding::Inversion { .. } => false,
    };
    (!finding.is_minor(), chain)
}

impl Findings {
    /// Adds what a run has found, and says whether something of it is new.
    pub(crate) fn add(&mut self, run: usize, found: &[Logged]) -> bool {
        let before = self.found.len();
        for logged in found {
            let Logged {
                process, finding, ..
            } = logged;
            let entry = self.found.entry(finding.key());
            let known = entry.or_insert_with(|| Distinct {
                logged: finding.clone(),
                runs: BTreeSet::new(),
                process: process.clone(),
            });
            if content(finding) > content(&known.logged) {
                known.logged = finding.clone();
                known.process = process.clone();
            }
            known.runs.insert(run);
        }
        self.found.len() > before
    }

    /// Whether a finding is one of them.
    pub(crate) fn has(&self, finding: &Finding<'static>) -> bool {
        self.found.contains_key(&finding.key())
    }

    /// The findings, in an order that does not depend on the runs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Distinct> {
        self.found.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::record::tests::race;

    #[test]
    fn the_same_pair_is_one_finding_whatever_its_order() {
        let mut findings = Findings::default();
        assert!(findings.add(0, &[race(1, 2), race(1, 2)]));
        assert!(!findings.add(1, &[race(2, 1)]));
        assert!(findings.add(2, &[race(2, 3)]));
        let runs: Vec<_> = findings.iter().map(|found| found.runs.len()).collect();
        assert_eq!(runs, [2, 1]);
    }
}
