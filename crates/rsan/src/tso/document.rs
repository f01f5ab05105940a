//! Answers about TSO, as documents.

use super::words::{Describe, blocked, fault_name, sentence};
use super::{TsoInput, judgement};
use rsan_model::Value;
use rsan_model::automata::Op;
use rsan_model::machine::Machine;
use rsan_report::document::{
    CycleEdge, Delay, Event, Execution, Finding, Kind, ModificationOrder, OnMachine, Place,
    Related, Severity, Shows, Stats, Step, StepKind, Thread,
};
use rsan_report::{Claim, Command, Document, excerpt, place};
use rsan_tso::{Action, Computation, Outcome, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// What a search took.
pub(crate) fn stats(stats: &rsan_tso::Stats) -> Stats {
    Stats {
        states: Some(stats.states),
        attack_states: Some(stats.attack_states),
        memory_bytes: Some(stats.memory),
        seconds: stats.elapsed.as_secs_f64(),
        ..Stats::default()
    }
}

/// The document of an answer.
pub(super) fn document(
    command: Command,
    input: &TsoInput,
    claim: Claim,
    outcome: &Outcome,
) -> Document {
    let d = Describe {
        automata: &input.automata,
    };
    let verdict = judgement(&outcome.verdict);
    let mut document = Document::new(command, &input.subject, verdict, rsan_model::Model::Tso);
    document.property = Some(claim);
    document.stats = stats(&outcome.stats);
    match &outcome.verdict {
        Verdict::Robust => {}
        Verdict::Unknown(reason) => document.notes.push(reason.to_string()),
        Verdict::Violation(computation) => document.findings.push(violation(d, computation)),
        Verdict::TriangularRace(race) => {
            let at = format!("`{}`", d.automata.address_name(race.address));
            let (reader, writer) = (d.thread(race.reader), d.thread(race.writer));
            let message = format!(
                "thread {reader} is about to read {at}, has stored before it without a fence, and thread {writer} is about to write {at}"
            );
            let mut finding = failure(d, Kind::TriangularRace, message, race.reader);
            finding.object = Some(at);
            finding.execution = Some(execution(d, &race.actions, &race.events));
            document.findings.push(finding);
        }
        Verdict::Deadlock(deadlock) => {
            let thread = deadlock.blocked[0].0;
            let mut finding = failure(d, Kind::Deadlock, blocked(d, deadlock), thread);
            finding.execution = Some(execution(d, &deadlock.actions, &deadlock.events));
            document.findings.push(finding);
        }
        Verdict::Fault(fault) => {
            let kind = match fault.kind {
                rsan_tso::FaultKind::Assertion => Kind::Assertion,
                rsan_tso::FaultKind::Bounds | rsan_tso::FaultKind::Eval(_) => Kind::Trap,
            };
            let (thread, name) = (d.thread(fault.thread), fault_name(fault.kind));
            let message = format!("thread {thread}: {name}, under sequential consistency");
            let mut finding = failure(d, kind, message, fault.thread);
            let step = d.transition(fault.thread, fault.transition);
            finding.location = d.place_of(step);
            finding.execution = Some(execution(d, &fault.actions, &fault.events));
            document.findings.push(finding);
        }
    }
    document.sources = excerpt(d.automata.source.as_ref(), &document.findings);
    document
}

fn failure(d: Describe<'_>, kind: Kind, message: String, thread: usize) -> Finding {
    let mut finding = Finding::new(kind, Severity::Error, message);
    finding.thread = Some(Thread::Name(d.thread(thread).to_owned()));
    finding
}

/// A store that is delayed, as a finding.
pub(crate) fn violation(d: Describe<'_>, computation: &Computation) -> Finding {
    let [store, load] =
        [computation.delayed, computation.overtaken].map(|event| &computation.events[event]);
    let at = |event: &rsan_tso::Event| d.place_of(d.transition(event.thread, event.transition));
    let mut finding = failure(
        d,
        Kind::WeakBehaviour,
        sentence(d, computation),
        computation.attacker,
    );
    finding.location = at(store);
    finding.label = Some("this store may be delayed".to_owned());
    finding.related.extend(at(load).map(|location| Related {
        location,
        message: "past this load".to_owned(),
    }));
    finding.execution = Some(weak_execution(d, computation));
    // What the orders of the accesses become on other machines is not known of automata.
    finding.machines = vec![OnMachine {
        machine: Machine::X86,
        variant: None,
        shows: Shows::Yes,
    }];
    finding
}

/// The same as an execution.
pub(crate) fn weak_execution(d: Describe<'_>, computation: &Computation) -> Execution {
    let cycle = computation.cycle.iter();
    Execution {
        cycle: cycle
            .map(|(event, edge)| CycleEdge {
                event: *event as u32,
                edge: (*edge).into(),
            })
            .collect(),
        delay: Some(Delay {
            store: computation.delayed as u32,
            load: computation.overtaken as u32,
        }),
        ..execution(d, &computation.actions, &computation.events)
    }
}

/// The events of a run, and its steps.
fn execution(d: Describe<'_>, actions: &[Action], events: &[rsan_tso::Event]) -> Execution {
    let orders = modification_order(actions, events).into_iter();
    let reads = events.iter().zip(0..);
    Execution {
        events: events.iter().map(|e| event(d, e)).collect(),
        rf: reads
            .filter_map(|(event, number)| Some((event.from? as u32, number)))
            .collect(),
        mo: orders
            .map(|(address, writes)| ModificationOrder {
                location: d.automata.address_name(address),
                writes,
            })
            .collect(),
        schedule: steps(d, actions, events),
        ..Execution::default()
    }
}

fn event(d: Describe<'_>, event: &rsan_tso::Event) -> Event {
    let transition = d.transition(event.thread, event.transition);
    let at = d.position(transition);
    Event {
        thread: Some(Thread::Name(d.thread(event.thread).to_owned())),
        line: at.map(|(line, _)| line as u32),
        column: at.map(|(_, column)| column as u32),
        operation: d.operation(event),
        location: Some(d.automata.address_name(event.address)),
        read: event.read,
        written: event.written,
        order: None,
        stack: Vec::new(),
    }
}

/// The accesses and fences in order, and the delayed stores where they reach memory.
fn steps(d: Describe<'_>, actions: &[Action], events: &[rsan_tso::Event]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut buffers: Vec<VecDeque<usize>> = vec![VecDeque::new(); d.automata.threads.len()];
    for (i, action) in actions.iter().enumerate() {
        let (thread, transition) = match *action {
            Action::Flush { thread } => {
                let store = buffers[thread].pop_front();
                // A store that reaches memory at once is one step.
                let at_once = store.is_some_and(|store| i > 0 && events[store].step == i - 1);
                if let Some(store) = store.filter(|_| !at_once) {
                    steps.push(Step {
                        thread: Thread::Name(d.thread(thread).to_owned()),
                        kind: StepKind::Flush,
                        event: Some(store as u32),
                        operation: format!("{} reaches memory", d.operation(&events[store])),
                        line: None,
                        column: None,
                    });
                }
                continue;
            }
            Action::Step { thread, transition } => (thread, transition),
        };
        let step = d.transition(thread, transition);
        let event = events.iter().position(|e| e.step == i);
        let operation = match (&step.op, event) {
            (op, Some(event)) => {
                let delayed = matches!(op, Op::Write { .. });
                if delayed {
                    buffers[thread].push_back(event);
                }
                let next = actions.get(i + 1);
                let flushed = matches!(next, Some(Action::Flush { thread: t }) if *t == thread);
                let note = if delayed && !flushed { ", delayed" } else { "" };
                d.operation(&events[event]) + note
            }
            (Op::Fence, None) => "mfence".to_owned(),
            (Op::Lock, None) => "lock".to_owned(),
            (Op::Unlock, None) => "unlock".to_owned(),
            (_, None) => continue,
        };
        let at = d.position(step);
        steps.push(Step {
            thread: Thread::Name(d.thread(thread).to_owned()),
            kind: StepKind::Access,
            event: event.map(|event| event as u32),
            operation,
            line: at.map(|(line, _)| line as u32),
            column: at.map(|(_, column)| column as u32),
        });
    }
    steps
}

/// The writes of each address in the order in which they reach memory.
fn modification_order(actions: &[Action], events: &[rsan_tso::Event]) -> BTreeMap<Value, Vec<u32>> {
    let mut order: BTreeMap<Value, Vec<u32>> = BTreeMap::new();
    let mut buffers: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
    for (step, action) in actions.iter().enumerate() {
        let reached = match action {
            Action::Flush { thread } => buffers.entry(*thread).or_default().pop_front(),
            Action::Step { thread, .. } => {
                let event = events.iter().position(|e| e.step == step);
                let event = event.filter(|e| events[*e].written.is_some());
                match event {
                    // An update writes at once, a store goes through the buffer.
                    Some(event) if events[event].read.is_none() => {
                        buffers.entry(*thread).or_default().push_back(event);
                        None
                    }
                    other => other,
                }
            }
        };
        if let Some(event) = reached {
            order
                .entry(events[event].address)
                .or_default()
                .push(event as u32);
        }
    }
    order
}

impl Describe<'_> {
    /// Where a transition stands.
    pub(crate) fn place_of(self, transition: &rsan_model::automata::Transition) -> Option<Place> {
        let known = transition.span.end > 0;
        place(
            self.automata.source.as_ref(),
            known.then_some(transition.span),
        )
    }
}
