//! Findings, compared with those that a person has looked at.

use super::manifest::{Case, Known, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;

/// How much of a stack is shown.
const DEPTH: usize = 4;

/// The findings of a run.
#[derive(Default)]
pub(crate) struct Judged {
    /// How many of each verdict, and of each reason.
    pub(crate) known: BTreeMap<Verdict, BTreeMap<String, usize>>,
    /// Those that nobody has judged, a line each.
    pub(crate) unknown: Vec<String>,
}

impl Judged {
    /// All of them.
    pub(crate) fn count(&self) -> usize {
        let known = self
            .known
            .values()
            .flat_map(BTreeMap::values)
            .sum::<usize>();
        known + self.unknown.len()
    }

    /// How many have this verdict.
    pub(crate) fn of(&self, verdict: Verdict) -> usize {
        self.known
            .get(&verdict)
            .map_or(0, |reasons| reasons.values().sum())
    }
}

/// Sorts the findings of a document of `rsan run`.
pub(crate) fn judge(document: &Value, case: &Case) -> Judged {
    let mut judged = Judged::default();
    for finding in elements(&document["findings"]) {
        match case.known.iter().find(|known| fits(finding, known, case)) {
            Some(known) => {
                let reasons = judged.known.entry(known.verdict).or_default();
                *reasons.entry(known.why.clone()).or_default() += 1;
            }
            None => judged.unknown.push(line(finding)),
        }
    }
    judged
}

fn fits(finding: &Value, known: &Known, case: &Case) -> bool {
    let kind = finding["kind"].as_str().unwrap_or_default();
    let mut accesses = elements(&finding["accesses"]).filter(|access| {
        // The writes that a weak access misses or sees are not what is judged.
        matches!(access["role"].as_str(), Some("access" | "earlier"))
    });
    known.kind.as_deref().is_none_or(|wanted| wanted == kind)
        && accesses.any(|access| {
            does(access, known)
                && function(access, case)
                    .is_some_and(|f| known.functions.iter().any(|n| is_named(f, n)))
        })
}

/// Whether an access is of the sort that is judged.
fn does(access: &Value, known: &Known) -> bool {
    let text = |field: &str| access[field].as_str().unwrap_or_default();
    let what = format!("{} {}", text("operation"), text("order"));
    known.access.as_deref().is_none_or(|wanted| wanted == what)
}

/// The function that an access belongs to.
fn function<'a>(access: &'a Value, case: &Case) -> Option<&'a str> {
    elements(&access["stack"])
        .filter_map(|frame| frame["function"].as_str())
        .find(|name| !case.primitives.iter().any(|start| name.starts_with(start)))
}

/// Whether a function has this name; parameters, and what it is a member of, may be left out.
fn is_named(function: &str, name: &str) -> bool {
    let bare = function.split('(').next().unwrap_or(function);
    bare == name || bare.rsplit("::").next() == Some(name)
}

/// A finding in a line: its kind, and for each access what it does and the top of its stack.
fn line(finding: &Value) -> String {
    let accesses = elements(&finding["accesses"]).map(|access| {
        let frames = elements(&access["stack"]).take(DEPTH).map(|frame| {
            let file = frame["file"]
                .as_str()
                .or(frame["module"].as_str())
                .unwrap_or("?");
            let file = file.rsplit('/').next().unwrap_or(file);
            let function = frame["function"].as_str().unwrap_or("?");
            format!("{function} {file}:{}", frame["line"])
        });
        let text = |field: &str| access[field].as_str().unwrap_or("").to_owned();
        let frames: Vec<String> = frames.collect();
        format!(
            "{}: {} {} ({})",
            text("role"),
            text("operation"),
            text("order"),
            frames.join(" < ")
        )
    });
    let accesses: Vec<String> = accesses.collect();
    format!(
        "{}; {}",
        finding["kind"].as_str().unwrap_or("?"),
        accesses.join("; ")
    )
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
