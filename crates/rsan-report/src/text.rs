//! A document as text for people: what is wrong, where, why and how to fix it. Stacks, schedules and cycles are [`Details::Full`].

mod execution;
mod finding;
mod litmus;
mod port;
mod repair;
mod runs;
mod stack;

use crate::document::{Claim, Command, Document, Finding, Rules, Severity, Stats};
use crate::judgement::Judgement;
use crate::number::{bytes, plural, seconds};
use crate::printable::name;
use crate::style::{Role, Style};
use rsan_model::Model;
use std::fmt::Write;
use std::time::Duration;

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Details {
    /// What fits one screen.
    #[default]
    Short,
    /// Everything that is known.
    Full,
}

/// Findings that are shown in full; of others only the place.
const SHOWN: usize = 20;

/// The report of one input: one line for a proof, findings and a line that sums them up for a violation.
pub fn text(document: &Document, style: Style, details: Details) -> String {
    if document.litmus.is_some() {
        return litmus::text(document, style);
    }
    if let Some(diff) = &document.diff {
        return diff.clone();
    }
    if let Some(port) = &document.port {
        return port::text(document, port, style, details);
    }
    if document.repair.is_some() {
        return repair::text(document, style);
    }
    let mut out = findings(document, style, details);
    if !out.is_empty() {
        out.push('\n');
    }
    out + &summary(document, style)
}

/// One finding, with all that is known about it.
pub(crate) fn of_finding(document: &Document, finding: &Finding) -> String {
    let mut out = String::new();
    finding::write(
        &mut out,
        document,
        finding,
        &[],
        Style::Plain,
        Details::Full,
    );
    out
}

/// All findings that are not known: the user's own in full, but of those that one fix mends only the first; notes beside others and
/// those inside libraries in a line each.
fn findings(document: &Document, style: Style, details: Details) -> String {
    let mut out = String::new();
    let (libraries, own): (Vec<_>, Vec<_>) = document
        .findings
        .iter()
        .filter(|finding| !finding.known)
        .partition(|finding| finding.in_libraries);
    let is_note = |finding: &&Finding| finding.severity == Severity::Note;
    let (notes, own): (Vec<_>, Vec<_>) = match details {
        // Notes alone are all there is to show.
        Details::Short if !own.iter().all(is_note) => own.into_iter().partition(is_note),
        Details::Short | Details::Full => (Vec::new(), own),
    };
    let own = match details {
        Details::Short => by_fix(own),
        Details::Full => own.into_iter().map(|finding| vec![finding]).collect(),
    };
    let shown = match details {
        Details::Short => SHOWN.min(own.len()),
        Details::Full => own.len(),
    };
    for (number, alike) in own[..shown].iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        finding::write(&mut out, document, alike[0], &alike[1..], style, details);
    }
    let more = own[shown..].iter().flatten().chain(&notes).copied();
    let heads = more.map(|finding| finding::headline(document, finding, style));
    let heads: Vec<_> = heads.collect();
    if !heads.is_empty() {
        let number = plural(heads.len() as u64, "more finding");
        let heads = heads.join("\n  ");
        let _ = writeln!(out, "\n{number}, -v shows all:\n  {heads}");
    }
    if !libraries.is_empty() {
        let head = style.paint(Role::Strong, "in libraries");
        let start = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(
            out,
            "{start}{head}, not counted unless --include-libraries is given:"
        );
    }
    match details {
        Details::Short => {
            let heads = libraries.iter();
            let heads = heads.map(|finding| finding::headline(document, finding, style));
            for (head, times) in counted(heads) {
                let times = match times {
                    1 => String::new(),
                    times => format!(" ({times} findings)"),
                };
                let _ = writeln!(out, "  {head}{times}");
            }
        }
        Details::Full => {
            for finding in libraries {
                finding::write(&mut out, document, finding, &[], style, details);
            }
        }
    }
    out
}

/// Findings of a kind that have the same fix, together; the first of each where it was.
fn by_fix(findings: Vec<&Finding>) -> Vec<Vec<&Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let is_alike = |other: &Finding| {
            let kind = |finding: &Finding| (finding.kind, finding.severity);
            kind(other) == kind(finding) && finding::same_fix(other, finding)
        };
        match groups.iter_mut().find(|group| is_alike(group[0])) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// Each line once, where it comes first, and how often it comes.
fn counted(lines: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for line in lines {
        match all.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => all.push((line, 1)),
        }
    }
    all
}

/// The model, where it is worth a word: C and C++ programs that are run are judged by C++20 unless told otherwise.
pub(crate) fn model(document: &Document) -> Option<Rules> {
    let told = document.stats.runs.is_none() || document.model != Model::C20;
    told.then_some(document.model)
}

/// The line, or lines, that say what came of it.
fn summary(document: &Document, style: Style) -> String {
    match document.stats.runs {
        Some(runs) => runs::summary(document, runs, style),
        None => searched(document, style),
    }
}

/// What a proof says.
pub(crate) fn promise(document: &Document) -> String {
    let model = document.model;
    if let Some(port) = &document.port {
        return port.promise();
    }
    match document.property {
        None | Some(Claim::Robust | Claim::Portable) => format!("robust against {model}"),
        Some(Claim::RobustForAllInstances) => {
            format!("robust against {model} for any number of copies of each thread")
        }
        Some(Claim::Observational) => format!("observationally robust against {model}"),
        Some(Claim::TriangularRaceFree) => "free of triangular races".to_owned(),
        Some(Claim::Safe) => {
            "safe under sequential consistency: no assertion fails, nothing races".to_owned()
        }
    }
}

/// The same of a search.
fn searched(document: &Document, style: Style) -> String {
    let subject = name(&document.subject);
    let stats = &document.stats;
    let notes = document.notes.join("; ");
    match document.verdict {
        Judgement::NoFinding if stats.known.is_some_and(|known| known > 0) => {
            format!("{subject}: no new finding; {notes}; {}\n", explored(stats))
        }
        Judgement::Robust | Judgement::NoFinding => format!(
            "{subject}: {} ({})\n",
            style.paint(Role::Good, &promise(document)),
            proof(stats),
        ),
        Judgement::Unknown if document.command == Command::Fence => format!(
            "{subject}: {}: {notes}\n",
            style.paint(Role::Undecided, "unknown")
        ),
        Judgement::Unknown => format!(
            "{subject}: {}: {notes}\n  {}; no violation in what was explored\n",
            style.paint(Role::Undecided, "unknown"),
            explored(stats),
        ),
        Judgement::Violation if document.command == Command::Fence => format!(
            "{subject}: {}: {notes}\n",
            style.paint(Role::Bad, "not repaired")
        ),
        Judgement::Violation => {
            let what = document
                .findings
                .iter()
                .find(|finding| !finding.known)
                .map(|finding| finding.headline(model(document)));
            let what = style.paint(Role::Bad, &what.unwrap_or_default());
            let notes = if notes.is_empty() {
                notes
            } else {
                format!("; {notes}")
            };
            let mut out = format!("{subject}: {what}{notes}; {}\n", explored(stats));
            out.push_str(&repair::hint(document));
            out
        }
    }
}

fn time(stats: &Stats) -> String {
    seconds(Duration::from_secs_f64(stats.seconds.max(0.0)))
}

/// What a proof took.
fn proof(stats: &Stats) -> String {
    let states = stats.states.map(|states| plural(states, "state"));
    let attacks = stats.attack_states;
    let attacks = attacks.map(|states| format!("{} of attacks", plural(states, "state")));
    let depth = stats.depth.map(|depth| format!("depth {depth}"));
    let parts: Vec<_> = [states, attacks, depth, Some(time(stats))]
        .into_iter()
        .flatten()
        .collect();
    parts.join(", ")
}

/// What a search did.
fn explored(stats: &Stats) -> String {
    let states = plural(stats.states.unwrap_or_default(), "state");
    let attacks = stats.attack_states;
    let attacks = attacks.map(|states| format!("{} of attacks", plural(states, "state")));
    let transitions = stats.transitions.map(|number| plural(number, "transition"));
    let depth = stats.depth.map(|depth| format!("depth {depth}"));
    let memory = stats
        .memory_bytes
        .map(|size| format!("{} of states", bytes(size)));
    let parts = [
        Some(states),
        transitions,
        attacks,
        depth,
        memory,
        Some(time(stats)),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("explored {}", parts.join(", "))
}

/// `: 2 errors, 1 warning, 3 notes below --fail-on warning`; nothing if all are as severe and enough for the exit status.
fn severities(document: &Document, findings: &[&Finding]) -> String {
    let count = |severity| {
        let same = findings.iter().filter(|f| f.severity == severity);
        (same.count() as u64, severity)
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(count);
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let (failing, below): (Vec<_>, Vec<_>) =
        counts.partition(|(_, severity)| *severity >= document.fail_on);
    let words = |counts: Vec<(u64, Severity)>| {
        let words = counts.into_iter();
        words.map(|(number, severity)| plural(number, severity.name()))
    };
    if failing.len() < 2 && below.is_empty() {
        return String::new();
    }
    let below: Vec<_> = words(below).collect();
    let below = (!below.is_empty()).then(|| {
        let bar = document.fail_on.name();
        format!("{} below --fail-on {bar}", below.join(" and "))
    });
    let parts: Vec<_> = words(failing).chain(below).collect();
    format!(": {}", parts.join(", "))
}

/// A sentence begins with a capital letter, unless it begins with the name of a machine.
pub(crate) fn sentence_case(text: &str) -> String {
    // A name is written as it is.
    if text.starts_with("x86") {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let first = chars.next();
    first.map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}
