//! A verdict as text for people.

use crate::finding::Finding;
use crate::number::{bytes, plural, seconds};
use crate::style::{Role, Style};
use crate::{Checked, excerpt};
use rsan_model::{EventId, Model, Program, Reason, Verdict, Witness};
use std::fmt::Write;

/// The report of one input: one line for a proof, a page for a violation.
pub fn text(checked: &Checked<'_>, style: Style) -> String {
    match checked.verdict {
        Verdict::Robust => robust(checked, style),
        Verdict::Unknown(reason) => unknown(checked, reason, style),
        Verdict::Violation(witness) => violation(checked, witness, style),
    }
}

fn robust(checked: &Checked<'_>, style: Style) -> String {
    let effort = &checked.effort;
    format!(
        "{}: {} ({}, depth {}, {})\n",
        checked.subject,
        style.paint(Role::Good, &checked.claim.promise(checked.model)),
        plural(effort.states, "state"),
        effort.depth,
        seconds(effort.elapsed),
    )
}

fn unknown(checked: &Checked<'_>, reason: &Reason, style: Style) -> String {
    format!(
        "{}: {}: {reason}\n  {}; no violation in what was explored\n",
        checked.subject,
        style.paint(Role::Undecided, "unknown"),
        explored(checked),
    )
}

fn explored(checked: &Checked<'_>) -> String {
    let effort = &checked.effort;
    format!(
        "explored {}, {}, depth {}, {} of states, {}",
        plural(effort.states, "state"),
        plural(effort.transitions, "transition"),
        effort.depth,
        bytes(effort.memory),
        seconds(effort.elapsed),
    )
}

fn violation(checked: &Checked<'_>, witness: &Witness, style: Style) -> String {
    let finding = Finding::new(checked.program, checked.model, witness);
    let mut out = format!(
        "{}: {}: {}\n\n{}\n\n",
        checked.subject,
        style.paint(Role::Bad, "violation"),
        finding.headline(),
        sentence_case(&finding.message()),
    );
    if let Some(source) = &checked.program.source {
        let marks = finding.marks();
        if !marks.is_empty() {
            out.push_str(&excerpt::excerpt(source, &marks, style));
            out.push('\n');
        }
    }
    schedule(&mut out, &finding, style);
    cycle(&mut out, &finding, style);
    if let Some(stale) = finding.stale() {
        let write = finding.describe.write(stale.stale);
        let line = format!("stale write: {write}");
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "failed property: {}", finding.promise());
    let _ = writeln!(out, "{}", explored(checked));
    out
}

/// What a witness shows, in one sentence.
pub fn sentence(program: &Program, model: Model, witness: &Witness) -> String {
    sentence_case(&Finding::new(program, model, witness).message())
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// The table of the run. The weak access, which no sequentially consistent run has in this form, is marked.
fn schedule(out: &mut String, finding: &Finding<'_>, style: Style) {
    let steps = &finding.witness.schedule;
    let weak = finding.stale().map(|s| s.access);
    let head = match steps.len() {
        0 => "shortest schedule: no step at all".to_owned(),
        n => format!("shortest schedule, {}:", plural(n as u64, "step")),
    };
    let _ = writeln!(out, "{}", style.paint(Role::Strong, &head));
    let mut rows = vec![Row::head()];
    for (i, step) in steps.iter().enumerate() {
        let number = if Some(step.event) == weak {
            "weak".to_owned()
        } else {
            (i + 1).to_string()
        };
        rows.push(Row::event(finding, number, step.event));
    }
    if let Some(e) = weak.filter(|&e| steps.iter().all(|step| step.event != e)) {
        rows.push(Row::event(finding, "weak".to_owned(), e));
    }
    if rows.len() > 1 {
        table(out, &rows);
    }
    out.push('\n');
}

struct Row {
    step: String,
    thread: String,
    at: String,
    operation: String,
    letter: String,
}

impl Row {
    fn head() -> Self {
        Self {
            step: "step".to_owned(),
            thread: "thread".to_owned(),
            at: "at".to_owned(),
            operation: "operation".to_owned(),
            letter: String::new(),
        }
    }

    fn event(finding: &Finding<'_>, step: String, e: EventId) -> Self {
        let d = finding.describe;
        Self {
            step,
            thread: d.thread_of(e).unwrap_or("-").to_owned(),
            at: d.line_column(d.span_of(e)),
            operation: d.operation(e),
            letter: finding
                .letter(e)
                .map_or_else(String::new, |l| format!("[{l}]")),
        }
    }
}

fn table(out: &mut String, rows: &[Row]) {
    let width = |f: fn(&Row) -> &str| rows.iter().map(|r| f(r).chars().count()).max().unwrap_or(0);
    let step = width(|r| &r.step);
    let thread = width(|r| &r.thread);
    let at = width(|r| &r.at);
    let operation = width(|r| &r.operation);
    for row in rows {
        let line = format!(
            "  {:>step$}  {:<thread$}  {:<at$}  {:<operation$}  {}",
            row.step, row.thread, row.at, row.operation, row.letter
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// `a -po-> b -fr-> a`, and what the letters stand for.
fn cycle(out: &mut String, finding: &Finding<'_>, style: Style) {
    let cycle = finding.cycle();
    if cycle.is_empty() {
        return;
    }
    let name = |e: EventId| finding.letter(e).unwrap_or_default();
    let head = "cycle that sequential consistency forbids:";
    let _ = write!(out, "{}\n  ", style.paint(Role::Strong, head));
    for &(e, edge) in &cycle {
        let _ = write!(out, "{} -{edge}-> ", name(e));
    }
    let _ = writeln!(out, "{}", name(cycle[0].0));
    let mut events: Vec<_> = cycle.iter().map(|&(e, _)| e).collect();
    events.sort_unstable();
    events.dedup();
    let rows: Vec<_> = events
        .into_iter()
        .map(|e| Row {
            letter: String::new(),
            ..Row::event(finding, name(e), e)
        })
        .collect();
    table(out, &rows);
    out.push('\n');
}
