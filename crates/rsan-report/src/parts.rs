//! The answers about the parts of one piece of work as one: unlike those of different campaigns, their figures add up.

use crate::document::{Document, Exploration, FailedRuns, Finding, Outcome, Recorded, Schedules};
use crate::merge::merge;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The answer about the whole, if the parts are about the same. Findings are those that one run of the whole would have, in the same order.
pub fn unite(mut parts: Vec<Document>) -> Option<Document> {
    // Who has made no run knows less: not even the model.
    if parts.iter().any(|part| part.stats.runs != Some(0)) {
        parts.retain(|part| part.stats.runs != Some(0));
    }
    let taken = parts.iter_mut().map(|part| part.stats.schedules.take());
    let schedules: Vec<Schedules> = taken.flatten().collect();
    let mut merged = merge(parts).into_iter();
    let mut whole = merged.next()?;
    if merged.next().is_some() {
        return None;
    }
    whole.stats.schedules = schedules.into_iter().reduce(Schedules::and);
    let order = |finding: &Finding| (Reverse(finding.rank()), seed(finding.recorded.as_ref()));
    whole.findings.sort_by_key(order);
    Some(whole)
}

/// The seed of a run; those that have none come last.
pub(crate) fn seed(recorded: Option<&Recorded>) -> u64 {
    recorded.and_then(|run| run.seed).unwrap_or(u64::MAX)
}

impl Schedules {
    /// Both together. Which run showed something new last is not known, nor how many executions both have shown.
    fn and(mut self, other: Self) -> Self {
        self.seed = self.seed.min(other.seed);
        self.stride = None;
        self.executions += other.executions;
        self.last_new = 0;
        self.saturated = None;
        self.exploration = match (self.exploration, other.exploration) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        for failed in other.failures {
            match self
                .failures
                .iter_mut()
                .find(|known| known.how == failed.how)
            {
                Some(known) => known.add(failed),
                None => self.failures.push(failed),
            }
        }
        let first = |failed: &FailedRuns| seed(failed.first.as_ref());
        self.failures.sort_by_key(first);
        self.runs_per_second += other.runs_per_second;
        self
    }
}

impl FailedRuns {
    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        if seed(other.first.as_ref()) < seed(self.first.as_ref()) {
            self.first = other.first;
        }
    }
}

impl Exploration {
    /// Both together.
    fn and(self, other: Self) -> Self {
        let mut outcomes: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
        for Outcome {
            output,
            end,
            executions,
        } in self.outcomes.into_iter().chain(other.outcomes)
        {
            *outcomes.entry((output, end)).or_default() += executions;
        }
        let outcome = |((output, end), executions)| Outcome {
            output,
            end,
            executions,
        };
        Self {
            complete: self.complete && other.complete,
            executions: self.executions + other.executions,
            excess: self.excess + other.excess,
            cut: self.cut + other.cut,
            failed: self.failed + other.failed,
            diverged: self.diverged + other.diverged,
            left: self.left + other.left,
            preempted: self.preempted + other.preempted,
            estimate: None,
            outcomes: outcomes.into_iter().map(outcome).collect(),
        }
    }
}
