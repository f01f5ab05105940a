//! The document of a program that was read and searched.

use crate::Checked;
use crate::describe::Describe;
use crate::document::{
    CycleEdge, Document, Event, Excerpt, Execution, Finding, Kind, ModificationOrder, Place,
    Related, Severity, Stale, Stats, Step, StepKind, Thread,
};
use crate::witness::Explained;
use rsan_model::{EventId, Fault, Graph, LocId, Program, Source, Span, Verdict, Witness};

/// The answer about a program that was searched.
pub fn document(checked: &Checked<'_>) -> Document {
    let effort = &checked.effort;
    let mut document = Document::new(
        checked.command,
        checked.subject,
        checked.judgement(),
        checked.model,
    );
    document.property = Some(checked.claim);
    match checked.verdict {
        Verdict::Robust => {}
        Verdict::Unknown(reason) => document.notes.push(reason.to_string()),
        Verdict::Violation(witness) => {
            let explained = Explained::new(checked.program, witness);
            document.findings.push(finding(&explained));
            document
                .sources
                .extend(excerpt(checked.program.source.as_ref(), &document.findings));
        }
    }
    document.stats = Stats {
        states: Some(effort.states),
        transitions: Some(effort.transitions),
        depth: Some(effort.depth),
        memory_bytes: Some(effort.memory),
        seconds: effort.elapsed.as_secs_f64(),
        ..Stats::default()
    };
    document
}

/// Lines that a document carries of a source, at most.
const LINES: usize = 400;

/// The lines of the source of a program, or those around the places of its findings if there are many.
pub fn excerpt(source: Option<&Source>, findings: &[Finding]) -> Vec<Excerpt> {
    let Some(source) = source.filter(|_| !findings.is_empty()) else {
        return Vec::new();
    };
    let places = findings.iter().flat_map(|finding| {
        let related = finding.related.iter().map(|related| &related.location);
        finding.location.iter().chain(related)
    });
    let lines: Vec<&str> = source.text.lines().collect();
    let wanted = match lines.len() <= LINES {
        true => vec![(1, lines.len() as u32)],
        false => Excerpt::around(places.filter_map(|place| place.line), lines.len() as u32),
    };
    Excerpt::of(&source.name, &lines, &wanted)
}

/// The kind of a fault.
fn kind(fault: &Fault) -> Kind {
    match fault {
        Fault::Weak(_) => Kind::WeakBehaviour,
        Fault::Observed { .. } => Kind::ObservedWeakBehaviour,
        Fault::Race { .. } => Kind::DataRace,
        Fault::Assertion { .. } => Kind::Assertion,
        Fault::Trap { .. } => Kind::Trap,
        Fault::Deadlock { .. } => Kind::Deadlock,
    }
}

fn finding(explained: &Explained<'_>) -> Finding {
    let d = explained.describe;
    let witness = explained.witness;
    let (thread, span) = explained.place();
    let mut marks = explained.marks().into_iter();
    let label = marks.next().map(|mark| mark.label);
    let related = marks.filter_map(|mark| {
        Some(Related {
            message: mark.label,
            location: place(d.source(), Some(mark.span))?,
        })
    });
    let mut finding = Finding::new(kind(&witness.fault), Severity::Error, explained.message());
    finding.object = match witness.fault {
        Fault::Race { second, .. } => Some(format!("`{}`", d.location_of(second))),
        _ => None,
    };
    finding.thread = thread.map(|t| Thread::Name(d.thread(t).to_owned()));
    finding.location = place(d.source(), span);
    finding.label = label;
    finding.related = related.collect();
    finding.execution = Some(execution(explained));
    finding
}

/// A span of a source.
pub fn place(source: Option<&Source>, span: Option<Span>) -> Option<Place> {
    let (source, span) = (source?, span?);
    let (line, column) = source.line_column(span.start);
    let (end_line, end_column) = source.line_column(span.end);
    Some(Place {
        file: source.name.clone(),
        line: Some(line as u32),
        column: Some(column as u32),
        end_line: Some(end_line as u32),
        end_column: Some(end_column as u32),
    })
}

fn execution(explained: &Explained<'_>) -> Execution {
    let (d, graph) = (explained.describe, &explained.witness.graph);
    let orders = (0..graph.locations())
        .map(LocId::new)
        .map(|loc| ModificationOrder {
            location: d.location(loc).to_owned(),
            writes: graph.modification_order(loc).iter().map(|w| w.0).collect(),
        });
    let reads = graph
        .ids()
        .filter_map(|read| Some((graph.reads_from(read)?.0, read.0)));
    let cycle = explained.cycle().into_iter();
    Execution {
        events: graph.ids().map(|e| event(d, graph, e)).collect(),
        rf: reads.collect(),
        mo: orders.collect(),
        schedule: steps(d, explained.witness),
        cycle: cycle
            .map(|(e, edge)| CycleEdge {
                event: e.0,
                edge: edge.into(),
            })
            .collect(),
        stale: explained.stale().map(|stale| Stale {
            access: stale.access.0,
            missed: stale.missed.0,
            write: Some(stale.stale.0),
            value: Some(stale.stale_value),
        }),
        delay: None,
    }
}

fn steps(d: Describe<'_>, witness: &Witness) -> Vec<Step> {
    let step = |step: &rsan_model::Step| {
        let position = d.span(step.thread, step.pc).and_then(|s| d.position(s));
        Step {
            thread: Thread::Name(d.thread(step.thread).to_owned()),
            kind: StepKind::Access,
            event: Some(step.event.0),
            operation: d.operation(step.event),
            line: position.map(|p| p.line as u32),
            column: position.map(|p| p.column as u32),
        }
    };
    witness.schedule.iter().map(step).collect()
}

fn event(d: Describe<'_>, graph: &Graph, e: EventId) -> Event {
    let label = graph.label(e);
    let position = d.span_of(e).and_then(|s| d.position(s));
    let thread = d.thread_of(e);
    Event {
        thread: thread.map(|name| Thread::Name(name.to_owned())),
        line: position.map(|p| p.line as u32),
        column: position.map(|p| p.column as u32),
        operation: d.operation(e),
        location: label.loc().map(|loc| d.location(loc).to_owned()),
        read: label.value_read(),
        written: label.value_written(),
        order: d.order(e),
        stack: Vec::new(),
    }
}

/// What a witness shows, in one sentence without a full stop.
pub fn sentence(program: &Program, witness: &Witness) -> String {
    Explained::new(program, witness).message()
}
