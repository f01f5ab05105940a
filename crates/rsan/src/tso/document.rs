//! Answers about TSO for machines; the same top level as the documents of `rsan-report`.

use super::render::{Describe, blocked, fault_name, sentence};
use super::{TsoInput, judgement};
use rsan_report::Judgement;
use rsan_tso::{Action, Computation, Event, Outcome, Verdict};
use serde::Serialize;

/// The answer about one input.
#[derive(Debug, Serialize)]
pub(crate) struct TsoDocument {
    pub(crate) schema: &'static str,
    pub(crate) command: &'static str,
    pub(crate) subject: String,
    pub(crate) verdict: Judgement,
    pub(crate) model: &'static str,
    pub(crate) property: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What `fence` proposes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<RepairDoc>,
    /// The repaired program, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    pub(crate) findings: Vec<TsoFinding>,
    pub(crate) stats: TsoStats,
}

/// A cheapest set of fences.
#[derive(Debug, Serialize)]
pub(crate) struct RepairDoc {
    pub(crate) cost: u64,
    pub(crate) fences: Vec<FenceDoc>,
    /// Sets of places of which every repair needs one.
    pub(crate) required: Vec<Vec<PlaceDoc>>,
}

/// A fence and why it is needed.
#[derive(Debug, Serialize)]
pub(crate) struct FenceDoc {
    #[serde(flatten)]
    pub(crate) place: PlaceDoc,
    pub(crate) cost: u64,
    /// What only this fence forbids.
    pub(crate) forbids: ComputationDoc,
}

/// A place for a fence.
#[derive(Debug, Serialize)]
pub(crate) struct PlaceDoc {
    pub(crate) thread: String,
    pub(crate) state: String,
    pub(crate) line: Option<usize>,
}

/// What is wrong.
#[derive(Debug, Serialize)]
pub(crate) struct TsoFinding {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) thread: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) computation: Option<ComputationDoc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) schedule: Vec<StepDoc>,
}

/// A TSO computation. Numbers of events are positions in `events`.
#[derive(Debug, Serialize)]
pub(crate) struct ComputationDoc {
    message: String,
    delayed: usize,
    overtaken: usize,
    events: Vec<EventDoc>,
    steps: Vec<StepDoc>,
    cycle: Vec<EdgeDoc>,
}

#[derive(Debug, Serialize)]
struct EventDoc {
    thread: String,
    line: Option<usize>,
    address: String,
    read: Option<i32>,
    written: Option<i32>,
}

/// A step: an access, or a store that reaches memory.
#[derive(Debug, Serialize)]
pub(crate) struct StepDoc {
    thread: String,
    /// `access` or `flush`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<usize>,
}

#[derive(Debug, Serialize)]
struct EdgeDoc {
    event: usize,
    edge: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct TsoStats {
    states: u64,
    attack_states: u64,
    memory_bytes: u64,
    seconds: f64,
}

impl From<&rsan_tso::Stats> for TsoStats {
    fn from(stats: &rsan_tso::Stats) -> Self {
        Self {
            states: stats.states,
            attack_states: stats.attack_states,
            memory_bytes: stats.memory,
            seconds: stats.elapsed.as_secs_f64(),
        }
    }
}

impl TsoDocument {
    /// A document without findings.
    pub(crate) fn new(
        command: &'static str,
        subject: &str,
        verdict: Judgement,
        property: &'static str,
        stats: &rsan_tso::Stats,
    ) -> Self {
        Self {
            schema: "rsan/1",
            command,
            subject: subject.to_owned(),
            verdict,
            model: "tso",
            property,
            reason: None,
            repair: None,
            diff: None,
            findings: Vec::new(),
            stats: stats.into(),
        }
    }
}

/// The document of an answer.
pub(super) fn document(
    command: &'static str,
    input: &TsoInput,
    property: &'static str,
    outcome: &Outcome,
) -> TsoDocument {
    let d = Describe {
        automata: &input.automata,
    };
    let verdict = judgement(&outcome.verdict);
    let subject = &input.subject;
    let mut document = TsoDocument::new(command, subject, verdict, property, &outcome.stats);
    let finding = match &outcome.verdict {
        Verdict::Robust => return document,
        Verdict::Unknown(reason) => {
            document.reason = Some(reason.to_string());
            return document;
        }
        Verdict::Violation(computation) => TsoFinding {
            kind: "weak-behaviour",
            message: sentence(d, computation),
            thread: d.thread(computation.attacker).to_owned(),
            computation: Some(computation_doc(d, computation)),
            schedule: Vec::new(),
        },
        Verdict::TriangularRace(race) => TsoFinding {
            kind: "triangular-race",
            message: format!(
                "{} is about to read {} after an unfenced store, and {} to write it",
                d.thread(race.reader),
                d.automata.address_name(race.address),
                d.thread(race.writer)
            ),
            thread: d.thread(race.reader).to_owned(),
            computation: None,
            schedule: steps(d, &race.actions, &race.events),
        },
        Verdict::Deadlock(deadlock) => TsoFinding {
            kind: "deadlock",
            message: blocked(d, deadlock),
            thread: d.thread(deadlock.blocked[0].0).to_owned(),
            computation: None,
            schedule: steps(d, &deadlock.actions, &deadlock.events),
        },
        Verdict::Fault(fault) => TsoFinding {
            kind: match fault.kind {
                rsan_tso::FaultKind::Assertion => "assertion",
                _ => "trap",
            },
            message: fault_name(fault.kind),
            thread: d.thread(fault.thread).to_owned(),
            computation: None,
            schedule: steps(d, &fault.actions, &fault.events),
        },
    };
    document.findings.push(finding);
    document
}

/// A computation for machines.
pub(crate) fn computation_doc(d: Describe<'_>, computation: &Computation) -> ComputationDoc {
    ComputationDoc {
        message: sentence(d, computation),
        delayed: computation.delayed,
        overtaken: computation.overtaken,
        events: computation.events.iter().map(|e| event(d, e)).collect(),
        steps: steps(d, &computation.actions, &computation.events),
        cycle: computation
            .cycle
            .iter()
            .map(|(event, edge)| EdgeDoc {
                event: *event,
                edge: edge.to_string(),
            })
            .collect(),
    }
}

fn event(d: Describe<'_>, event: &Event) -> EventDoc {
    let transition = d.transition(event.thread, event.transition);
    EventDoc {
        thread: d.thread(event.thread).to_owned(),
        line: d.position(transition).map(|p| p.0),
        address: d.automata.address_name(event.address),
        read: event.read,
        written: event.written,
    }
}

fn steps(d: Describe<'_>, actions: &[Action], events: &[Event]) -> Vec<StepDoc> {
    let steps = actions.iter().enumerate().filter_map(|(i, action)| {
        Some(match *action {
            Action::Flush { thread } => StepDoc {
                thread: d.thread(thread).to_owned(),
                kind: "flush",
                event: None,
            },
            Action::Step { thread, .. } => StepDoc {
                thread: d.thread(thread).to_owned(),
                kind: "access",
                event: Some(events.iter().position(|e| e.step == i)?),
            },
        })
    });
    steps.collect()
}
