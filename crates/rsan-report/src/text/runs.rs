//! What came of runs.

use super::{model, severities};
use crate::document::{Document, Exploration, Outcome, Schedules};
use crate::judgement::Judgement;
use crate::number::{count, plural};
use crate::printable::name;
use crate::style::{Role, Style};
use std::fmt::Write;

/// A line about the findings, one about the schedules, and the runs that failed.
pub(super) fn summary(document: &Document, runs: u64, style: Style) -> String {
    let subject = name(&document.subject);
    let against = model(document).map_or(String::new(), |model| format!(" against {model}"));
    let in_runs = format!("in {}{against}", plural(runs, "run"));
    let own: Vec<_> = document
        .findings
        .iter()
        .filter(|finding| finding.counts())
        .collect();
    let mut out = match document.verdict {
        Judgement::Violation => {
            let shown = match own.is_empty() {
                true => document.findings.iter().collect(),
                false => own,
            };
            let found = plural(shown.len() as u64, "finding");
            let role = match document.fails() {
                true => Role::Bad,
                false => Role::Other,
            };
            let found = style.paint(role, &found);
            let severities = severities(document, &shown);
            format!("{subject}: {found} {in_runs}{severities}")
        }
        Judgement::Robust => {
            let robust = style.paint(Role::Good, "robust");
            format!("{subject}: {robust}, no finding {in_runs}")
        }
        Judgement::NoFinding => format!("{subject}: no finding {in_runs}"),
        Judgement::Unknown => {
            let undecided = style.paint(Role::Undecided, "undecided");
            format!("{subject}: {undecided}, no finding {in_runs}")
        }
    };
    for note in &document.notes {
        let _ = write!(out, "; {}", name(note));
    }
    out.push('\n');
    if let Some(schedules) = &document.stats.schedules {
        match &schedules.exploration {
            Some(exploration) => explored(&mut out, exploration),
            None => scheduled(&mut out, schedules, runs),
        }
        failures(&mut out, schedules);
    }
    if let Some(note) = document.stats.of_standard() {
        let _ = writeln!(out, "{note}");
    }
    out
}

/// How far a search for all executions came.
fn explored(out: &mut String, exploration: &Exploration) {
    let executions = plural(exploration.executions, "execution");
    let line = match (exploration.complete, exploration.estimate) {
        (true, _) => format!("explored: all {executions}"),
        (false, None) => format!("explored: {executions}"),
        (false, Some(all)) => format!("explored: {executions} of about {}", count(all)),
    };
    let excess = match exploration.excess {
        0 => String::new(),
        runs => format!(", and {} in excess", plural(runs, "run")),
    };
    let _ = writeln!(out, "{line}{excess}");
    outcomes(out, &exploration.outcomes);
}

/// Outcomes that are told.
const OUTCOMES: usize = 40;

/// What executions come to, a line for each.
fn outcomes(out: &mut String, all: &[Outcome]) {
    let width = |outcome: &Outcome| count(outcome.executions).len();
    let width = all.iter().map(width).max().unwrap_or(0);
    for outcome in all.iter().take(OUTCOMES) {
        let words = outcome.output.split_whitespace().map(name);
        let mut what = words.collect::<Vec<_>>().join(" ");
        if let Some(end) = &outcome.end {
            let comma = if what.is_empty() { "" } else { ", " };
            what = format!("{what}{comma}{end}");
        }
        if what.is_empty() {
            what = "status 0".to_owned();
        }
        let executions = count(outcome.executions);
        let _ = writeln!(out, "  {executions:>width$}  {what}");
    }
    if all.len() > OUTCOMES {
        let more = plural((all.len() - OUTCOMES) as u64, "outcome");
        let _ = writeln!(out, "  and {more} more");
    }
}

/// The strategy and its seeds, and whether more runs would show more.
fn scheduled(out: &mut String, schedules: &Schedules, runs: u64) {
    let _ = write!(out, "schedules: {}", schedules.strategy);
    if let Some(seed) = schedules.seed {
        let stride = schedules.stride.unwrap_or(1);
        let apart = runs.saturating_sub(1).wrapping_mul(stride);
        let last = seed.wrapping_add(apart);
        let _ = match (runs, stride) {
            (0, _) => Ok(()),
            (1, _) => write!(out, ", seed {seed}"),
            (_, 1) => write!(out, ", seeds {seed} to {last}"),
            _ => write!(out, ", seeds {seed} to {last} in steps of {stride}"),
        };
    }
    // Of several series together neither is known, of several parts of one series not the run.
    if runs > 1 && (schedules.last_new > 0 || schedules.seed.is_some()) {
        let executions = plural(schedules.executions, "different execution");
        let _ = match schedules.last_new {
            0 => write!(out, "; {executions}"),
            last => write!(out, "; {executions}, the last new one in run {last}"),
        };
    }
    match schedules.saturated {
        Some(true) => out.push_str("; hardly anything new is to be expected"),
        Some(false) => out.push_str("; more runs would show more"),
        None => {}
    }
    out.push('\n');
}

/// The runs that failed.
fn failures(out: &mut String, schedules: &Schedules) {
    for failed in &schedules.failures {
        let first = failed.first.as_ref();
        let seed = first.and_then(|first| first.seed);
        let seed = seed.map_or(String::new(), |seed| format!(", first with seed {seed}"));
        let (how, runs) = (&failed.how, plural(failed.runs, "run"));
        let _ = writeln!(out, "\nfailed: {how}\n  in {runs}{seed}");
        if let Some(first) = first {
            let _ = writeln!(out, "  Replay: {}", first.command);
        }
    }
}
