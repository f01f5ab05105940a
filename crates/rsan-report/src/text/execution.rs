//! How a finding comes about: the steps that lead to it, and the cycle that sequential consistency forbids.

use super::Details;
use crate::document::{Execution, Finding, Kind, StepKind};
use crate::number::plural;
use crate::style::{Role, Style};
use std::fmt::Write;

/// Steps of a schedule that are shown without being asked for.
const SHORT: usize = 12;

/// The schedule, and in full the cycle. A failure is its schedule, so that is shown if it is short.
pub(super) fn write(
    out: &mut String,
    finding: &Finding,
    execution: &Execution,
    style: Style,
    details: Details,
) {
    let full = details == Details::Full;
    let steps = &execution.schedule;
    let shown = full || (!finding.kind.is_weak() && steps.len() <= SHORT);
    if shown {
        schedule(out, finding, execution, style);
    }
    // Between two machines the cycle is all that there is to see.
    let whole = full || finding.kind == Kind::Reordering;
    if whole {
        cycle(out, execution, style);
    }
    let hidden = match (
        whole || execution.cycle.is_empty(),
        shown || steps.is_empty(),
    ) {
        (true, true) => return,
        (false, true) => "the cycle",
        (true, false) => "the schedule",
        (false, false) => "the schedule and the cycle",
    };
    if finding.runs.is_none() {
        let _ = writeln!(out, "  -v shows {hidden}");
    }
}

struct Row {
    step: String,
    thread: String,
    at: String,
    operation: String,
    letter: String,
}

impl Row {
    fn event(execution: &Execution, step: String, number: u32) -> Self {
        let event = &execution.events[number as usize];
        let thread = event.thread.as_ref();
        let letter = execution.letter(number);
        Self {
            step,
            thread: thread.map_or("-".to_owned(), ToString::to_string),
            at: event.position().unwrap_or_else(|| "-".to_owned()),
            operation: event.operation.clone(),
            letter: letter.map_or(String::new(), |letter| format!("[{letter}]")),
        }
    }
}

/// The table of the run. The weak access, which no sequentially consistent run has in this form, is marked.
fn schedule(out: &mut String, finding: &Finding, execution: &Execution, style: Style) {
    let steps = &execution.schedule;
    let weak = execution.stale.map(|stale| stale.access);
    let unscheduled = finding.runs.is_some() || finding.kind == Kind::Reordering;
    if steps.is_empty() && unscheduled {
        return;
    }
    let what = match (execution.delay, finding.kind) {
        (Some(_), _) => "TSO computation",
        (None, Kind::WeakBehaviour | Kind::ObservedWeakBehaviour) => "shortest schedule",
        (None, _) => "sequentially consistent run up to there",
    };
    let head = match steps.len() {
        0 => format!("{what}: no step at all"),
        n => format!("{what}, {}:", plural(n as u64, "step")),
    };
    let _ = writeln!(out, "\n{}", style.paint(Role::Strong, &head));
    let mut rows = vec![Row {
        step: "step".to_owned(),
        thread: "thread".to_owned(),
        at: "at".to_owned(),
        operation: "operation".to_owned(),
        letter: String::new(),
    }];
    for (step, number) in steps.iter().zip(1..) {
        let is_weak = step.event.is_some() && step.event == weak;
        let number = if is_weak {
            "weak".to_owned()
        } else {
            format!("{number}")
        };
        let position = match (step.line, step.column) {
            (Some(line), Some(column)) => format!("{line}:{column}"),
            (Some(line), None) => line.to_string(),
            (None, _) => "-".to_owned(),
        };
        let letter = step.event.filter(|_| step.kind == StepKind::Access);
        let letter = letter.and_then(|event| execution.letter(event));
        rows.push(Row {
            step: number,
            thread: step.thread.to_string(),
            at: position,
            operation: step.operation.clone(),
            letter: letter.map_or(String::new(), |letter| format!("[{letter}]")),
        });
    }
    let unseen = |event: &u32| steps.iter().all(|step| step.event != Some(*event));
    if let Some(event) = weak.filter(unseen) {
        rows.push(Row::event(execution, "weak".to_owned(), event));
    }
    if rows.len() > 1 {
        table(out, &rows);
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
fn cycle(out: &mut String, execution: &Execution, style: Style) {
    let Some(first) = execution.cycle.first() else {
        return;
    };
    let letter = |event: u32| execution.letter(event).unwrap_or_default();
    let head = "cycle that sequential consistency forbids:";
    let _ = write!(out, "\n{}\n  ", style.paint(Role::Strong, head));
    for step in &execution.cycle {
        let _ = write!(out, "{} -{}-> ", letter(step.event), step.edge.name());
    }
    let _ = writeln!(out, "{}", letter(first.event));
    let mut events: Vec<_> = execution.cycle.iter().map(|step| step.event).collect();
    events.sort_unstable();
    events.dedup();
    let row = |event: u32| Row {
        letter: String::new(),
        ..Row::event(execution, letter(event), event)
    };
    let rows: Vec<_> = events.into_iter().map(row).collect();
    table(out, &rows);
}
