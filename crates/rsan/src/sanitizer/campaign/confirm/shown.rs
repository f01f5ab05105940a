//! What a run shows that may be harm, and what sequentially consistent runs show.

use crate::sanitizer::campaign::execution::Execution;
use crate::sanitizer::record::Logged;
use rsan_log::{Failure, Finding, Frame, Key};
use rsan_schedule::End;
use std::collections::{BTreeMap, BTreeSet};

/// Something that a run shows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Shown {
    /// A race, a misuse or a deadlock.
    Finding(Key<Option<Frame<'static>>>),
    /// The program failed.
    Failed {
        /// As `wait` has it.
        status: i32,
        /// Where, if it said so.
        at: Option<Frame<'static>>,
    },
    /// It did not end.
    Hang,
    /// It ended, and had written this.
    Output(Vec<u8>),
}

/// What was logged of something that a run shows.
#[derive(Clone, Debug)]
pub(super) enum Evidence {
    Finding(Box<Logged>),
    Failure(Failure<'static>),
}

/// What a run shows, and what was logged of it.
pub(super) type Showing = BTreeMap<Shown, Option<Evidence>>;

impl Shown {
    /// A program that failed with a status, and perhaps said how.
    pub(super) fn failure(status: i32, said: Option<&Failure<'static>>) -> Self {
        let at = said.and_then(|said| said.stack.first().cloned());
        Self::Failed { status, at }
    }
}

/// Whether a finding is about what a run did, not about what it could do.
fn happened(finding: &Finding<'_>) -> bool {
    match finding {
        Finding::Race { .. } | Finding::Misuse { .. } | Finding::Deadlock { .. } => true,
        Finding::Violation { .. } | Finding::Inversion { .. } => false,
    }
}

/// All of a run.
pub(super) fn shown(execution: &Execution) -> Showing {
    let findings = execution.record.findings.iter();
    let mut shown: Showing = findings
        .filter(|logged| happened(&logged.finding))
        .map(|logged| {
            let evidence = Evidence::Finding(Box::new(logged.clone()));
            (Shown::Finding(logged.finding.key()), Some(evidence))
        })
        .collect();
    let said = execution.record.failed.as_ref();
    let end = match execution.end() {
        End::Failed(status) => Some(Shown::failure(status, said)),
        End::CutOff => Some(Shown::Hang),
        End::Ended => execution
            .output
            .clone()
            .map(|output| Shown::Output(output.into_bytes())),
        // A limit of time depends on the machine; the rest is no doing of the program.
        _ => None,
    };
    let evidence = said.map(|said| Evidence::Failure(said.clone()));
    shown.extend(end.map(|end| match end {
        Shown::Failed { .. } => (end, evidence),
        other => (other, None),
    }));
    shown
}

/// Different outputs up to which one that is new means something.
const FEW: usize = 16;
/// A run that takes so many times as many steps as any sequentially consistent one hangs.
const LONGER: u64 = 10;

/// What sequentially consistent runs have shown.
#[derive(Default)]
pub(super) struct Baseline {
    shown: BTreeSet<Shown>,
    /// How often each output was seen.
    outputs: BTreeMap<Vec<u8>, u64>,
    /// Steps of the longest run.
    longest: u64,
    pub(super) runs: u64,
}

impl Baseline {
    /// Takes over what was seen before.
    pub(super) fn know(&mut self, shown: Shown) {
        self.shown.insert(shown);
    }

    /// Adds a run.
    pub(super) fn add(&mut self, showing: Showing, steps: u64) {
        self.runs += 1;
        self.longest = self.longest.max(steps);
        for shown in showing.into_keys() {
            match shown {
                Shown::Output(output) => *self.outputs.entry(output).or_default() += 1,
                other => {
                    self.shown.insert(other);
                }
            }
        }
    }

    /// Whether this is something that no sequentially consistent run shows, as far as that can be told: runs that are cut off after `limit`
    /// steps hang only if others are much shorter, and outputs are new only if there are few, each of them seen more than once.
    pub(super) fn is_new(&self, shown: &Shown, limit: u64) -> bool {
        match shown {
            Shown::Finding(_) => !self.shown.contains(shown),
            Shown::Failed { status, .. } => {
                let somewhere = Shown::failure(*status, None);
                !self.shown.contains(shown) && !self.shown.contains(&somewhere)
            }
            Shown::Hang => {
                !self.shown.contains(shown) && self.longest.saturating_mul(LONGER) <= limit
            }
            Shown::Output(output) => {
                let mut counts = self.outputs.values();
                !self.outputs.is_empty()
                    && !self.outputs.contains_key(output)
                    && self.outputs.len() <= FEW
                    && counts.all(|count| *count > 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Showing {
        Showing::from([(Shown::Output(text.into()), None)])
    }

    fn is_new(baseline: &Baseline, text: &str) -> bool {
        baseline.is_new(&Shown::Output(text.into()), 100)
    }

    #[test]
    fn outputs_are_compared_only_if_they_repeat() {
        let mut baseline = Baseline::default();
        assert!(!is_new(&baseline, "a"));
        baseline.add(output("a"), 1);
        assert!(!is_new(&baseline, "b"));
        baseline.add(output("a"), 1);
        assert!(is_new(&baseline, "b"));
        assert!(!is_new(&baseline, "a"));
        baseline.add(output("c"), 1);
        assert!(!is_new(&baseline, "b"));
        for number in 0..FEW {
            let text = number.to_string();
            (0..2).for_each(|_| baseline.add(output(&text), 1));
        }
        assert!(!is_new(&baseline, "b"));
    }

    #[test]
    fn a_long_run_hangs_only_beside_short_ones() {
        let mut baseline = Baseline::default();
        baseline.add(Showing::new(), 11);
        assert!(!baseline.is_new(&Shown::Hang, 100));
        assert!(baseline.is_new(&Shown::Hang, 110));
        baseline.know(Shown::Hang);
        assert!(!baseline.is_new(&Shown::Hang, 110));
    }

    #[test]
    fn what_is_known_is_not_new() {
        let mut baseline = Baseline::default();
        let failed = |status, at: Option<u64>| Shown::Failed {
            status,
            at: at.map(|offset| Frame {
                module: None,
                offset: rsan_log::Address(offset),
            }),
        };
        let mut add = |shown| baseline.add(Showing::from([(shown, None)]), 1);
        add(failed(6, Some(1)));
        assert!(!baseline.is_new(&failed(6, Some(1)), 100));
        assert!(baseline.is_new(&failed(6, Some(2)), 100));
        assert!(baseline.is_new(&failed(11, None), 100));
        // It may have been there.
        baseline.know(failed(6, None));
        assert!(!baseline.is_new(&failed(6, Some(2)), 100));
    }
}
