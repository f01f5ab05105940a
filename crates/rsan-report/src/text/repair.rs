//! What `fence` proposes.

use super::{explored, sentence_case};
use crate::document::{Claim, Command, Document, Place, RepairChange, RepairKind};
use crate::number::plural;
use crate::printable::name;
use crate::style::{Role, Style};
use rsan_model::Model;
use std::fmt::Write;

/// The changes, why each one is needed, and that nothing cheaper is enough.
pub(super) fn text(document: &Document, style: Style) -> String {
    let Some(repair) = &document.repair else {
        return String::new();
    };
    let (subject, model) = (name(&document.subject), document.model);
    let states = plural(document.stats.states.unwrap_or_default(), "state");
    if repair.changes.is_empty() {
        let fine = style.paint(Role::Good, &format!("robust against {model}"));
        return format!("{subject}: {fine} without any change ({states})\n");
    }
    let number = repair.changes.len() as u64;
    let make = if number == 1 { "makes" } else { "make" };
    let (changes, cost, target) = (plural(number, "change"), repair.cost, &repair.target);
    let head = format!("{changes} of cost {cost} ({target}) {make} it robust against {model}");
    let mut out = format!("{subject}: {}\n\n", style.paint(Role::Good, &head));
    for change in &repair.changes {
        let what = style.paint(Role::Strong, &headline(change));
        let _ = writeln!(out, "{what}");
        if let Some(why) = &change.message {
            let _ = writeln!(out, "  without it: {}.", sentence_case(why));
        }
    }
    if repair.required.is_empty() {
        let covered = match repair.tried {
            None => String::new(),
            Some(1) => "\n(1 failing set covers them all)".to_owned(),
            Some(n) => format!("\n({n} failing sets cover them all)"),
        };
        let _ = writeln!(
            out,
            "\nThe repaired program verifies ({states}). With one change left out or weaker it does not, nor with any cheaper changes{covered}."
        );
        return out;
    }
    let _ = writeln!(
        out,
        "\nNone can be left out, and no set of fences is cheaper: every set needs one of each of these places."
    );
    for places in &repair.required {
        let names: Vec<String> = places.iter().map(short).collect();
        let _ = writeln!(out, "  {}", names.join(" or "));
    }
    let _ = writeln!(out, "{}", explored(&document.stats));
    out
}

/// `thread P0, sb.litmus:7: what is changed, and its price`
fn headline(change: &RepairChange) -> String {
    let RepairChange {
        thread, to, cost, ..
    } = change;
    let place = change.location.as_ref().map(Place::file_line);
    let at = place
        .as_ref()
        .map_or(String::new(), |place| format!(", {place}"));
    match (change.kind, &change.from, &change.state) {
        (RepairKind::Fence, _, Some(state)) => {
            let at = place.map_or(String::new(), |place| format!(" ({place})"));
            format!("thread {thread}: mfence in state {state}{at}, cost {cost}")
        }
        (RepairKind::Order, Some(from), _) => {
            format!("thread {thread}{at}: {from} becomes {to}, cost {cost}")
        }
        _ => format!("thread {thread}{at}: a {to} fence before this access, cost {cost}"),
    }
}

/// A place in a list.
fn short(change: &RepairChange) -> String {
    let line = change.location.as_ref().and_then(|place| place.line);
    match (&change.state, line) {
        (Some(state), _) => format!("{} {state}", change.thread),
        (None, Some(line)) => format!("{} before line {line}", change.thread),
        (None, None) => change.thread.to_string(),
    }
}

/// How to find the changes that make a program robust, if that was asked and it is not.
pub(super) fn hint(document: &Document) -> String {
    let asked = document.property == Some(Claim::Robust) && document.command != Command::Fence;
    let weak = document
        .findings
        .first()
        .is_some_and(|finding| finding.kind.is_weak());
    let file = !document.subject.starts_with('<');
    if !(asked && weak && file) {
        return String::new();
    }
    let model = if document.model == Model::C20 {
        String::new()
    } else {
        format!(" --model {}", document.model)
    };
    let subject = name(&document.subject);
    format!("  `rsan fence{model} --diff {subject}` finds the cheapest fix\n")
}
