//! The JSON documents. The types here are the schema `rsan/1`: a field's name and place change only with the
//! schema's number. Documented for users in `docs/json.md`.

use crate::Checked;
use crate::describe::Describe;
use crate::finding::Finding;
use crate::judgement::Judgement;
use rsan_model::{EventId, Graph, LocId, Span, ThreadId, Value, Verdict, Witness};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the documents.
const SCHEMA: &str = "rsan/1";

/// The answer about one input.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    pub(crate) schema: &'static str,
    pub(crate) command: String,
    pub(crate) subject: String,
    pub(crate) verdict: Judgement,
    pub(crate) model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) property: Option<&'static str>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) litmus: Option<LitmusDoc>,
    pub(crate) findings: Vec<FindingDoc>,
    pub(crate) stats: StatsDoc,
}

/// What `litmus` adds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LitmusDoc {
    pub(crate) name: String,
    /// Absent when the test has no condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<ConditionDoc>,
    pub(crate) states: Vec<StateDoc>,
    /// Whether some consistent execution has a data race.
    pub(crate) data_race: bool,
    /// The unrolling bound, when a loop reached it.
    pub(crate) cut_at: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConditionDoc {
    /// `exists`, `~exists` or `forall`.
    pub(crate) quantifier: &'static str,
    pub(crate) text: String,
    /// Whether it holds as written; null when that is not decided.
    pub(crate) holds: Option<bool>,
    /// Executions that satisfy the formula, and that do not.
    pub(crate) satisfied: u64,
    pub(crate) unsatisfied: u64,
    /// `Always`, `Sometimes` or `Never`.
    pub(crate) observation: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StateDoc {
    pub(crate) values: BTreeMap<String, Value>,
    /// Number of consistent executions that end in it.
    pub(crate) executions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) satisfies: Option<bool>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StatsDoc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) states: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transitions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) executions: Option<u64>,
    pub(crate) seconds: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct FindingDoc {
    /// `weak-behaviour`, `observed-weak-behaviour`, `data-race`, `assertion`, `trap`, `deadlock`, `condition`.
    pub(crate) kind: &'static str,
    /// The property that fails.
    pub(crate) property: &'static str,
    pub(crate) message: String,
    pub(crate) thread: Option<String>,
    pub(crate) location: Option<PlaceDoc>,
    /// The other places that belong to it, with what each one is.
    pub(crate) related: Vec<RelatedDoc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stale: Option<StaleDoc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) schedule: Vec<StepDoc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) cycle: Vec<EdgeDoc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) graph: Option<GraphDoc>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlaceDoc {
    file: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RelatedDoc {
    message: String,
    location: PlaceDoc,
}

/// Numbers are indices into the graph's events.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StaleDoc {
    access: u32,
    missed: u32,
    write: u32,
    value: Value,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepDoc {
    thread: String,
    line: Option<usize>,
    column: Option<usize>,
    operation: String,
    event: u32,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EdgeDoc {
    event: u32,
    /// The edge from this event to the next of the cycle.
    edge: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct GraphDoc {
    events: Vec<EventDoc>,
    /// Pairs of a write and a read that sees it.
    rf: Vec<(u32, u32)>,
    /// The writes of each location, in modification order.
    mo: Vec<OrderDoc>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EventDoc {
    id: u32,
    thread: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    operation: String,
    kind: &'static str,
    location: Option<String>,
    read: Option<Value>,
    written: Option<Value>,
    order: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct OrderDoc {
    location: String,
    writes: Vec<u32>,
}

/// The documents as text: one of them alone, or an array when several inputs were given.
///
/// # Panics
/// Never: the documents have string keys and finite numbers only.
pub fn json(documents: &[Document], several: bool) -> String {
    let text = match documents {
        [only] if !several => serde_json::to_string_pretty(only),
        all => serde_json::to_string_pretty(all),
    };
    text.expect("documents have string keys and finite numbers") + "\n"
}

/// The document of a verified program.
pub fn document(checked: &Checked<'_>) -> Document {
    let effort = &checked.effort;
    let (reason, findings) = match checked.verdict {
        Verdict::Robust => (None, vec![]),
        Verdict::Unknown(reason) => (Some(reason.to_string()), vec![]),
        Verdict::Violation(witness) => {
            let finding = Finding::new(checked.program, checked.model, witness);
            (None, vec![finding_doc(&finding)])
        }
    };
    Document {
        model: checked.model.name(),
        property: Some(checked.claim.name()),
        reason,
        findings,
        stats: StatsDoc {
            states: Some(effort.states),
            transitions: Some(effort.transitions),
            depth: Some(effort.depth),
            memory_bytes: Some(effort.memory),
            executions: None,
            seconds: effort.elapsed.as_secs_f64(),
        },
        ..Document::empty(checked.command, checked.subject, checked.judgement())
    }
}

impl Document {
    pub(crate) fn empty(command: &str, subject: &str, verdict: Judgement) -> Self {
        Self {
            schema: SCHEMA,
            command: command.to_owned(),
            subject: subject.to_owned(),
            verdict,
            model: "",
            property: None,
            reason: None,
            litmus: None,
            findings: vec![],
            stats: StatsDoc::default(),
        }
    }
}

fn finding_doc(finding: &Finding<'_>) -> FindingDoc {
    let d = finding.describe;
    let witness = finding.witness;
    let (thread, span) = finding.place();
    let related = finding.marks().into_iter().skip(1).filter_map(|mark| {
        Some(RelatedDoc {
            message: mark.label,
            location: place(d, Some(mark.span))?,
        })
    });
    FindingDoc {
        kind: witness.fault.kind(),
        property: finding.property(),
        message: finding.message(),
        thread: thread.map(|t: ThreadId| d.thread(t).to_owned()),
        location: place(d, span),
        related: related.collect(),
        stale: finding.stale().map(|s| StaleDoc {
            access: s.access.0,
            missed: s.missed.0,
            write: s.stale.0,
            value: s.stale_value,
        }),
        schedule: steps(d, witness),
        cycle: finding
            .cycle()
            .into_iter()
            .map(|(e, edge)| EdgeDoc {
                event: e.0,
                edge: edge.to_string(),
            })
            .collect(),
        graph: Some(graph(d, &witness.graph)),
    }
}

fn place(d: Describe<'_>, span: Option<Span>) -> Option<PlaceDoc> {
    let (source, span) = (d.source()?, span?);
    let (line, column) = source.line_column(span.start);
    let (end_line, end_column) = source.line_column(span.end);
    Some(PlaceDoc {
        file: source.name.clone(),
        line,
        column,
        end_line,
        end_column,
    })
}

fn steps(d: Describe<'_>, witness: &Witness) -> Vec<StepDoc> {
    let step = |step: &rsan_model::Step| {
        let position = d.span(step.thread, step.pc).and_then(|s| d.position(s));
        StepDoc {
            thread: d.thread(step.thread).to_owned(),
            line: position.map(|p| p.line),
            column: position.map(|p| p.column),
            operation: d.operation(step.event),
            event: step.event.0,
        }
    };
    witness.schedule.iter().map(step).collect()
}

fn graph(d: Describe<'_>, graph: &Graph) -> GraphDoc {
    let orders = (0..graph.locations()).map(LocId::new).map(|loc| OrderDoc {
        location: d.location(loc).to_owned(),
        writes: graph.modification_order(loc).iter().map(|w| w.0).collect(),
    });
    GraphDoc {
        events: graph.ids().map(|e| event(d, graph, e)).collect(),
        rf: graph
            .ids()
            .filter_map(|read| Some((graph.reads_from(read)?.0, read.0)))
            .collect(),
        mo: orders.collect(),
    }
}

fn event(d: Describe<'_>, graph: &Graph, e: EventId) -> EventDoc {
    let label = graph.label(e);
    let position = d.span_of(e).and_then(|s| d.position(s));
    EventDoc {
        id: e.0,
        thread: d.thread_of(e).map(str::to_owned),
        line: position.map(|p| p.line),
        column: position.map(|p| p.column),
        operation: d.operation(e),
        kind: label.kind(),
        location: label.loc().map(|loc| d.location(loc).to_owned()),
        read: label.value_read(),
        written: label.value_written(),
        order: d.order(e),
    }
}
