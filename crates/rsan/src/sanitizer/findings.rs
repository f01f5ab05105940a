//! The findings of all runs, each once.
//!
//! The same two places in the source are one finding, whatever the instructions, the runs and the threads.

use super::convert::{Resolver, finding, is_in_standard};
use super::log::{Distinct, Findings};
use rsan_log::{Finding as Logged, Operation, Side};
use rsan_model::Model;
use rsan_report::document::{Access, Finding, Frame, Kind, Memory};
use rsan_schedule::strategy::place;
use std::collections::BTreeSet;

/// A finding, and the runs that had it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    in_runs: BTreeSet<usize>,
    /// All its accesses are made by Rust's standard library.
    pub(super) in_standard: bool,
    /// Of weak loads: where the load is, and the write that it misses, as [`place`] has them.
    pub(super) targets: BTreeSet<(u64, u64)>,
}

impl Found {
    /// A finding of these runs.
    pub(super) fn new(finding: Finding, in_runs: BTreeSet<usize>) -> Self {
        Self {
            in_standard: is_in_standard(&finding),
            finding,
            in_runs,
            targets: BTreeSet::new(),
        }
    }

    /// The first run that had it.
    pub(super) fn first_run(&self) -> usize {
        self.in_runs.first().copied().unwrap_or_default()
    }

    /// What it is, in a form that other builds of the same source have in common.
    pub(super) fn label(&self) -> String {
        let kind = self.finding.kind.name();
        match self.finding.kind {
            // How long it took is not what it is.
            Kind::Hang => kind.to_owned(),
            Kind::Crash | Kind::Failure => {
                let places = self.places().unwrap_or_default();
                let message = self.finding.message.replace("; ", ", ");
                format!("{kind} {message} {}", places.join(" "))
            }
            _ => format!("{kind} {}", self.places().unwrap_or_default().join(" ")),
        }
    }

    /// The stacks of its accesses.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &[Frame]> {
        let accesses = self.finding.accesses.iter();
        accesses.map(|access| access.stack.as_slice())
    }

    /// The name of the variable that it is about.
    pub(crate) fn variable(&self) -> Option<&str> {
        match &self.finding.memory {
            Some(Memory::Variable { name, .. }) => name.as_deref(),
            _ => None,
        }
    }

    /// The places of its first two accesses, or of all threads that wait, as far as they are known; those of a weak behaviour in
    /// their order.
    fn known_places(&self) -> Vec<Option<String>> {
        let of_all = matches!(self.finding.kind, Kind::Deadlock | Kind::LockOrderInversion);
        let accesses = &self.finding.accesses;
        let count = match of_all {
            true => accesses.len(),
            false => 2,
        };
        let place = |access: &Access| access.place().map(|place| place.file_line());
        let mut places: Vec<_> = accesses.iter().take(count).map(place).collect();
        if self.finding.kind.is_unordered() {
            places.sort();
        }
        places
    }

    /// The same if all are known.
    fn places(&self) -> Option<Vec<String>> {
        self.known_places().into_iter().collect()
    }

    /// Whether it is a race with an access whose record was overwritten.
    fn lacks_a_place(&self) -> bool {
        let mut accesses = self.finding.accesses.iter();
        self.finding.kind == Kind::DataRace && accesses.any(|access| access.stack.is_empty())
    }

    /// Takes over the runs of the same finding, and shows the one of which more is known.
    fn merge(&mut self, mut other: Self) {
        let known = |found: &Self| {
            let finding = &found.finding;
            let explained = (finding.fix.is_some(), finding.execution.is_some());
            (!found.lacks_a_place(), finding.severity, explained)
        };
        if known(&other) > known(self) {
            std::mem::swap(self, &mut other);
        }
        self.in_runs.append(&mut other.in_runs);
        self.targets.append(&mut other.targets);
        self.finding.runs = Some(self.in_runs.len() as u64);
    }

    /// Whether two findings are one: of the same kind, at the same places. A race that lacks a place is the same as one about the
    /// same memory that has the other place.
    fn is_same(&self, other: &Self) -> bool {
        // What the standard library does for a line of the user's is another matter than what that line does itself.
        let kind = |found: &Self| (found.finding.kind, found.in_standard);
        if kind(self) != kind(other) {
            return false;
        }
        if !self.lacks_a_place() && !other.lacks_a_place() {
            return self.places().is_some_and(|p| Some(p) == other.places());
        }
        let (mine, theirs) = (self.known_places(), other.known_places());
        let mut known = mine.iter().flatten();
        self.variable() == other.variable()
            && known.any(|place| theirs.contains(&Some(place.clone())))
    }
}

/// Every distinct finding against a model, with its stacks.
pub(crate) fn findings(logged: &Findings, model: Model) -> Vec<Found> {
    let mut resolver = Resolver::new(model);
    let found = logged.iter();
    let found = found.map(|distinct| {
        let Distinct {
            logged,
            runs,
            process,
        } = distinct;
        let mut finding = finding(logged, &mut resolver);
        finding.runs = Some(runs.len() as u64);
        finding.process = Some(process.clone());
        Found {
            targets: target(logged).into_iter().collect(),
            ..Found::new(finding, runs.clone())
        }
    });
    merged(found.collect())
}

/// The places of a weak load and of the write that it misses. A store that takes effect early is read by somebody, and the place of that
/// read is not known.
pub(super) fn target(logged: &Logged<'_>) -> Option<(u64, u64)> {
    let Logged::Violation { access, missed, .. } = logged else {
        return None;
    };
    let number = |side: &Side<'_>| {
        let frame = side.stack.first()?;
        let module = frame.module.as_deref().unwrap_or_default();
        Some(place(module, frame.offset.0))
    };
    let reads = access.operation != Operation::Store;
    reads.then_some((number(access)?, number(missed)?))
}

/// Each finding once, in the order of documents.
fn merged(mut found: Vec<Found>) -> Vec<Found> {
    // The complete ones first, so that the others find them.
    found.sort_by_key(Found::lacks_a_place);
    let mut all: Vec<Found> = Vec::new();
    for found in found {
        match all.iter_mut().find(|known| known.is_same(&found)) {
            Some(known) => known.merge(found),
            None => all.push(found),
        }
    }
    all.sort_by_key(|found| std::cmp::Reverse(found.finding.rank()));
    all
}

#[cfg(test)]
mod tests;
