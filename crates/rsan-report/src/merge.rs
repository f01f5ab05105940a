//! Several documents about the same subject as one.

use crate::document::{Document, Excerpt, Finding, Stats};
use crate::fingerprint::{Fingerprint, fingerprints};
use crate::judgement::Judgement;
use crate::parts::seed;
use std::collections::BTreeMap;

/// Documents that ask the same about the same subject are one: equal findings are one finding, runs add up, and the most
/// severe verdict counts.
pub fn merge(documents: Vec<Document>) -> Vec<Document> {
    let mut merged: Vec<Document> = Vec::new();
    for document in documents {
        match merged
            .iter_mut()
            .find(|known| same_question(known, &document))
        {
            Some(known) => known.absorb(document),
            None => merged.push(document),
        }
    }
    merged
}

fn same_question(one: &Document, other: &Document) -> bool {
    let question = |document: &Document| (document.command, document.model, document.property);
    one.subject == other.subject && question(one) == question(other)
}

impl Document {
    /// Adds what another document says about the same subject.
    fn absorb(&mut self, other: Self) {
        let is_open = |one: &Self| one.incomplete || one.verdict == Judgement::Unknown;
        let is_incomplete = is_open(self) || is_open(&other);
        let places: BTreeMap<Fingerprint, usize> =
            fingerprints(self).into_iter().zip(0..).collect();
        let marks = fingerprints(&other);
        for (finding, mark) in other.findings.into_iter().zip(marks) {
            match places.get(&mark) {
                Some(index) => self.findings[*index].absorb(finding),
                None => self.findings.push(finding),
            }
        }
        // The order of documents, which is stable.
        self.findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.rank()));
        self.verdict = worse(self.verdict, other.verdict);
        self.fail_on = self.fail_on.min(other.fail_on);
        self.incomplete = is_incomplete && self.verdict == Judgement::Violation;
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        for source in other.sources {
            if !self.sources.iter().any(|known| covers(known, &source)) {
                self.sources.push(source);
            }
        }
        self.tests.extend(other.tests);
        self.litmus = self.litmus.take().or(other.litmus);
        self.repair = self.repair.take().or(other.repair);
        self.port = self.port.take().or(other.port);
        self.diff = self.diff.take().or(other.diff);
        self.stats.absorb(other.stats);
        if self.stats.known.is_some() {
            let known = self.findings.iter().filter(|finding| finding.known);
            self.stats.known = Some(known.count() as u64);
        }
    }
}

impl Finding {
    /// Adds that it was found elsewhere, too.
    fn absorb(&mut self, mut other: Self) {
        // The first run that had it is shown.
        if seed(other.recorded.as_ref()) < seed(self.recorded.as_ref()) {
            std::mem::swap(self, &mut other);
        }
        self.runs = sum(self.runs, other.runs);
        for test in other.tests {
            if !self.tests.contains(&test) {
                self.tests.push(test);
            }
        }
        self.severity = self.severity.max(other.severity);
        self.known &= other.known;
        self.harm = match (self.harm.take(), other.harm) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        // What is said of the machines is about the execution that is shown, and so are the reasons and the fix that come of it.
        if self.execution.is_none() {
            if other.execution.is_some() && other.fix.is_some() {
                self.because = other.because;
                self.fix = other.fix.take();
            }
            self.execution = other.execution;
            self.machines = other.machines;
        }
        self.fix = self.fix.take().or(other.fix);
        self.recorded = self.recorded.take().or(other.recorded);
        if self.process != other.process {
            self.process = None;
        }
    }
}

impl Stats {
    /// Adds up what can be added. Executions of different campaigns may be the same ones, so figures of schedules are only
    /// kept if they stand alone.
    fn absorb(&mut self, other: Self) {
        self.states = sum(self.states, other.states);
        self.transitions = sum(self.transitions, other.transitions);
        self.attack_states = sum(self.attack_states, other.attack_states);
        self.depth = self.depth.max(other.depth);
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.executions = self.executions.max(other.executions);
        self.runs = sum(self.runs, other.runs);
        self.failures = sum(self.failures, other.failures);
        self.timeouts = sum(self.timeouts, other.timeouts);
        self.processes = sum(self.processes, other.processes);
        self.suppressed = sum(self.suppressed, other.suppressed);
        self.known = sum(self.known, other.known);
        self.in_standard.extend(other.in_standard);
        self.in_standard.sort();
        self.in_standard.dedup();
        self.seconds += other.seconds;
        self.schedules = match (self.schedules.take(), other.schedules) {
            (Some(_), Some(_)) => None,
            (one, other) => one.or(other),
        };
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

/// The verdict of both: one finding is one, and a proof is one only if both are.
fn worse(one: Judgement, other: Judgement) -> Judgement {
    let severity = |judgement: &Judgement| match judgement {
        Judgement::Robust => 0,
        Judgement::NoFinding => 1,
        Judgement::Unknown => 2,
        Judgement::Violation => 3,
    };
    std::cmp::max_by_key(one, other, severity)
}

/// Whether the lines of `other` are among those of `known`.
fn covers(known: &Excerpt, other: &Excerpt) -> bool {
    let same = |(number, line): (u32, &String)| known.line(number) == Some(line.as_str());
    known.file == other.file && (other.first..).zip(&other.lines).all(same)
}
