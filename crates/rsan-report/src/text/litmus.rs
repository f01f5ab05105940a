//! The final states of a litmus test, shown the way herd and litmus7 show them.
//!
//! A state's line is litmus7's: the number of executions that end in it, `*>` when it satisfies the formula of the
//! condition and `:>` when it does not, then the values. `Positive` counts the executions that speak for the
//! condition as written: for `~exists` those that do not satisfy the formula.

use crate::document::{Condition, Document, FinalState, LitmusAnswer};
use crate::style::{Role, Style};
use std::fmt::Write;

/// The text of one test.
pub(super) fn text(document: &Document, style: Style) -> String {
    let Some(litmus) = &document.litmus else {
        return String::new();
    };
    let name = &litmus.name;
    let condition = litmus.condition.as_ref();
    let kind = match condition.map(|c| c.quantifier.as_str()) {
        Some("exists") => " Allowed",
        Some("~exists") => " Forbidden",
        Some(_) => " Required",
        None => "",
    };
    let mut out = style.paint(Role::Strong, &format!("Test {name}{kind}"));
    let _ = writeln!(out, "\nStates {}", litmus.states.len());
    let digits = litmus
        .states
        .iter()
        .map(|state| state.executions.to_string().len());
    let width = digits.max().unwrap_or(1);
    for state in &litmus.states {
        let sign = if state.satisfies == Some(true) {
            '*'
        } else {
            ':'
        };
        let _ = writeln!(
            out,
            "{:<width$} {sign}>{}",
            state.executions,
            values(litmus, state)
        );
    }
    if let Some(condition) = condition {
        verdict(&mut out, document, litmus, condition, style);
    }
    for note in &document.notes {
        let _ = writeln!(out, "{} {note}", style.paint(Role::Undecided, "Note"));
    }
    let _ = writeln!(out, "Time {name} {:.2}", document.stats.seconds);
    out
}

fn verdict(
    out: &mut String,
    document: &Document,
    litmus: &LitmusAnswer,
    condition: &Condition,
    style: Style,
) {
    let undefined = litmus.data_race && document.model.has_undefined_behaviour();
    let (role, word) = match (condition.holds, undefined) {
        (Some(true), _) => (Role::Good, "Ok"),
        (Some(false), _) => (Role::Bad, "No"),
        (None, true) => (Role::Undecided, "Undef"),
        (None, false) => (Role::Undecided, "Unknown"),
    };
    let (yes, no) = (condition.satisfied, condition.unsatisfied);
    let (positive, negative) = match condition.quantifier.as_str() {
        "~exists" => (no, yes),
        _ => (yes, no),
    };
    let _ = writeln!(out, "{}", style.paint(role, word));
    let _ = writeln!(out, "Witnesses\nPositive: {positive} Negative: {negative}");
    let _ = writeln!(out, "Condition {}", condition.text);
    let _ = writeln!(
        out,
        "Observation {} {} {yes} {no}",
        litmus.name, condition.observation
    );
}

fn values(litmus: &LitmusAnswer, state: &FinalState) -> String {
    let mut out = String::new();
    for name in &litmus.observed {
        let value = state.shown(name);
        let _ = write!(out, "{name}={value}; ");
    }
    out.trim_end().to_owned()
}
