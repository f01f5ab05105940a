//! The steps of a run as a table, with what is in memory after each of them; the script steps through it.

use super::graph::Graph;
use super::markup::Text;
use crate::document::{Event, Execution, Step, StepKind, Thread};
use crate::number::plural;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The table, folded, and the place for the slider that the script makes.
pub(super) fn steps(out: &mut String, graph: &Graph<'_>) {
    let execution = graph.execution;
    let rows = rows(execution);
    if rows.is_empty() {
        return;
    }
    let buffers = rows.iter().any(|row| !row.buffers.is_empty());
    let _ = write!(
        out,
        "<details class=\"schedule\"><summary>Schedule <span class=\"muted\">{}</span></summary>\
         <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Steps of the schedule\"><table><thead><tr>\
         <th scope=\"col\">step</th><th scope=\"col\">thread</th><th scope=\"col\">at</th><th scope=\"col\">operation</th>\
         <th scope=\"col\">event</th><th scope=\"col\">memory after it</th>",
        plural(execution.schedule.len() as u64, "step"),
    );
    if buffers {
        out.push_str("<th scope=\"col\">store buffers</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &rows {
        let event = row.event.map(|event| event.to_string());
        let _ = write!(
            out,
            "<tr class=\"{}\" data-event=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td><td>{}</td><td><code>{}</code></td>",
            row.kind.class(),
            event.unwrap_or_default(),
            row.number,
            Text(&row.thread),
            row.at,
            Text(&row.operation),
            row.event
                .and_then(|event| graph.letters.get(&event))
                .map_or("", String::as_str),
            Text(&row.memory),
        );
        if buffers {
            let _ = write!(out, "<td><code>{}</code></td>", Text(&row.buffers));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></details>\n");
}

/// A row of the table.
struct Row {
    kind: RowKind,
    number: String,
    thread: String,
    at: String,
    operation: String,
    event: Option<u32>,
    memory: String,
    buffers: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Access,
    Flush,
    /// The access that no step of a sequentially consistent run shows.
    Weak,
}

impl RowKind {
    fn class(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Flush => "flush",
            Self::Weak => "weak",
        }
    }
}

fn rows(execution: &Execution) -> Vec<Row> {
    let mut contents = Contents::new(execution);
    let mut rows = Vec::new();
    let mut done = BTreeSet::new();
    for (i, step) in execution.schedule.iter().enumerate() {
        contents.step(execution, step);
        done.extend(step.event);
        rows.push(Row {
            kind: match step.kind {
                StepKind::Access => RowKind::Access,
                StepKind::Flush => RowKind::Flush,
            },
            number: (i + 1).to_string(),
            thread: step.thread.to_string(),
            at: line_column(step.line, step.column),
            operation: step.operation.clone(),
            event: step.event,
            memory: contents.memory(),
            buffers: contents.buffers(),
        });
    }
    let weak = execution.stale.map(|stale| stale.access);
    let weak = weak.filter(|access| !rows.is_empty() && !done.contains(access));
    if let Some((access, event)) =
        weak.and_then(|access| Some((access, execution.events.get(access as usize)?)))
    {
        rows.push(Row {
            kind: RowKind::Weak,
            number: "weak".to_owned(),
            thread: event
                .thread
                .as_ref()
                .map_or(String::new(), ToString::to_string),
            at: line_column(event.line, event.column),
            operation: event.operation.clone(),
            event: Some(access),
            memory: contents.memory(),
            buffers: contents.buffers(),
        });
    }
    rows
}

fn line_column(line: Option<u32>, column: Option<u32>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{line}:{column}"),
        (Some(line), None) => line.to_string(),
        (None, _) => String::new(),
    }
}

/// What is in memory and in the store buffers, as far as events say it.
struct Contents<'a> {
    memory: BTreeMap<&'a str, String>,
    buffers: BTreeMap<&'a Thread, Vec<u32>>,
    events: &'a [Event],
    /// Stores that reach memory in a step of their own.
    delayed: BTreeSet<u32>,
}

impl<'a> Contents<'a> {
    fn new(execution: &'a Execution) -> Self {
        let flushes = execution.schedule.iter();
        let delayed = flushes
            .filter(|step| step.kind == StepKind::Flush)
            .filter_map(|step| step.event)
            .collect();
        let mut contents = Self {
            memory: BTreeMap::new(),
            buffers: BTreeMap::new(),
            events: &execution.events,
            delayed,
        };
        for event in execution.events.iter().filter(|e| e.thread.is_none()) {
            contents.write(event);
        }
        contents
    }

    fn write(&mut self, event: &'a Event) {
        if let (Some(location), Some(value)) = (&event.location, event.written) {
            self.memory.insert(location, value.to_string());
        }
    }

    fn step(&mut self, execution: &'a Execution, step: &'a Step) {
        let Some(number) = step.event else { return };
        let Some(event) = execution.events.get(number as usize) else {
            return;
        };
        match step.kind {
            StepKind::Access if self.delayed.contains(&number) => {
                self.buffers.entry(&step.thread).or_default().push(number);
            }
            StepKind::Access => self.write(event),
            StepKind::Flush => {
                let buffer = self.buffers.entry(&step.thread).or_default();
                buffer.retain(|&other| other != number);
                self.write(event);
            }
        }
    }

    fn memory(&self) -> String {
        let values = self.memory.iter();
        let values: Vec<String> = values
            .map(|(location, value)| format!("{location}={value}"))
            .collect();
        values.join(" ")
    }

    fn buffers(&self) -> String {
        let full = self.buffers.iter().filter(|(_, stores)| !stores.is_empty());
        let words: Vec<String> = full
            .map(|(thread, stores)| {
                let stores: Vec<String> = stores
                    .iter()
                    .filter_map(|&store| self.events.get(store as usize))
                    .map(|event| {
                        let location = event.location.as_deref().unwrap_or("?");
                        let value = event
                            .written
                            .map_or("?".to_owned(), |value| value.to_string());
                        format!("{location}={value}")
                    })
                    .collect();
                format!("{thread}: {}", stores.join(" "))
            })
            .collect();
        words.join("; ")
    }
}
