//! What `port` answers: pairs of accesses that may be swapped, or the changes that order them.

use super::{Details, findings, time};
use crate::document::{Document, Finding, Method, Place, Port, RepairChange, RepairKind};
use crate::judgement::Judgement;
use crate::number::{count, plural};
use crate::printable::name;
use crate::style::{Role, Style};
use std::fmt::Write;

/// Assumptions that are shown; `-v` shows all.
const SHOWN: usize = 5;

/// The report of one program.
pub(super) fn text(document: &Document, port: &Port, style: Style, details: Details) -> String {
    let mut out = String::new();
    if document.repair.is_none() || details == Details::Full {
        out = findings(document, style, details);
        if !out.is_empty() {
            out.push('\n');
        }
    }
    out.push_str(&summary(document, port, style));
    changes(&mut out, document, port, style);
    for note in &document.notes {
        let _ = writeln!(out, "  note: {}", name(note));
    }
    assumptions(&mut out, port, details);
    out
}

/// The line that says what came of it.
fn summary(document: &Document, port: &Port, style: Style) -> String {
    let subject = name(&document.subject);
    let size = size(document, port);
    let verdict = match (document.verdict, &document.repair) {
        (Judgement::Robust, Some(repair)) if !repair.changes.is_empty() => {
            let number = repair.changes.len() as u64;
            let make = if number == 1 { "makes" } else { "make" };
            let (changes, promise) = (plural(number, "change"), port.promise());
            let head = format!("{changes} of cost {} {make} it {promise}", repair.cost);
            style.paint(Role::Good, &head)
        }
        (Judgement::Robust, _) => style.paint(Role::Good, &port.promise()),
        (Judgement::NoFinding, _) => style.paint(Role::Good, "no new finding"),
        (Judgement::Unknown, _) => style.paint(Role::Undecided, "unknown"),
        (Judgement::Violation, _) => style.paint(Role::Bad, &violation(document, port)),
    };
    format!("{subject}: {verdict} ({size})\n")
}

/// `3 pairs of accesses may be swapped on ARMv8 that x86 keeps in order`
fn violation(document: &Document, port: &Port) -> String {
    let (from, to) = (&port.from_title, &port.to_title);
    match port.method {
        Method::Exact => format!("not robust from {from} to {to}"),
        Method::Static => {
            let new = |finding: &&Finding| !finding.known;
            let number = document.findings.iter().filter(new).count() as u64;
            let pairs = match number {
                1 => "1 pair of accesses".to_owned(),
                _ => format!("{} of accesses", plural(number, "pair")),
            };
            format!("{pairs} may be swapped on {to} that {from} keeps in order")
        }
    }
}

/// `2 thread functions, 12 shared accesses, 7 pairs on cycles, 2 fences, 3 ms`
fn size(document: &Document, port: &Port) -> String {
    let threads = (!port.threads.is_empty()).then_some(port.threads.len() as u64);
    let threads = threads.map(|number| plural(number, "thread function"));
    let accesses = port.accesses.map(|number| match number {
        1 => "1 shared access".to_owned(),
        _ => format!("{} shared accesses", count(number)),
    });
    let cycles = port.on_cycles.map(|number| match number {
        1 => "1 pair on cycles".to_owned(),
        _ => format!("{} on cycles", plural(number, "pair")),
    });
    let executions = document.stats.executions;
    let executions = executions.map(|number| plural(number, "execution"));
    let parts = [threads, accesses, cycles, executions];
    let parts = parts.into_iter().flatten().chain([time(&document.stats)]);
    parts.collect::<Vec<_>>().join(", ")
}

/// The changes that order every pair.
fn changes(out: &mut String, document: &Document, port: &Port, style: Style) {
    let Some(repair) = &document.repair else {
        return;
    };
    for change in &repair.changes {
        let _ = writeln!(out, "  {}", style.paint(Role::Strong, &described(change)));
    }
    if let Some(naive) = port.naive.filter(|_| !repair.changes.is_empty()) {
        let _ = writeln!(
            out,
            "  the changed program was analysed again; fence by fence, as published, there would be {naive}"
        );
    }
}

/// `queue.c:31, in push: a release fence before it`
fn described(change: &RepairChange) -> String {
    let at = change.location.as_ref().map(Place::file_line);
    let at = at.map_or(String::new(), |at| format!("{at}, "));
    let (thread, to) = (&change.thread, &change.to);
    let what = match (change.kind, &change.from) {
        (RepairKind::Order, Some(from)) => format!("{from} becomes {to}"),
        (RepairKind::Order, None) => format!("the order becomes {to}"),
        (RepairKind::Fence, _) if change.after => format!("{} fence after it", with_article(to)),
        (RepairKind::Fence, _) => format!("{} fence before it", with_article(to)),
    };
    let which = change.message.as_ref();
    let which = which.map_or(String::new(), |which| format!(", {which}"));
    format!("{at}in {thread}{which}: {what}")
}

fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// What the answer rests on; what could hide a violation first.
fn assumptions(out: &mut String, port: &Port, details: Details) {
    let mut all: Vec<_> = port.assumptions.iter().collect();
    all.sort_by_key(|assumption| !assumption.unsound);
    let shown = match details {
        Details::Short => SHOWN.min(all.len()),
        Details::Full => all.len(),
    };
    for assumption in &all[..shown] {
        let at = assumption.location.as_ref().map(Place::file_line);
        let at = at.map_or(String::new(), |at| format!(" ({at})"));
        let kind = if assumption.unsound {
            "not proved"
        } else {
            "assumed"
        };
        let _ = writeln!(out, "  {kind}: {}{at}", name(&assumption.message));
    }
    let left = all.len() - shown;
    if left > 0 {
        let more = plural(left as u64, "more assumption");
        let _ = writeln!(out, "  {more}, -v shows all");
    }
}
