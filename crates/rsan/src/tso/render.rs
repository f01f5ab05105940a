//! Answers about TSO as text for people.

use super::TsoInput;
use rsan_model::automata::{Automata, Op, Transition};
use rsan_report::number::{bytes, plural, seconds};
use rsan_report::{Role, Style};
use rsan_tso::{
    Action, Computation, Deadlock, Event, Fault, FaultKind, Outcome, Stats, TriangularRace, Verdict,
};
use std::fmt::Write;

/// How threads, places and accesses are called.
#[derive(Clone, Copy)]
pub(crate) struct Describe<'a> {
    pub(crate) automata: &'a Automata,
}

impl<'a> Describe<'a> {
    pub(crate) fn thread(self, thread: usize) -> &'a str {
        &self.automata.threads[thread].name
    }

    pub(crate) fn transition(self, thread: usize, transition: usize) -> &'a Transition {
        &self.automata.threads[thread].transitions[transition]
    }

    /// Line and column, from 1.
    pub(crate) fn position(self, transition: &Transition) -> Option<(usize, usize)> {
        let source = self.automata.source.as_ref()?;
        (transition.span.end > 0).then(|| source.line_column(transition.span.start))
    }

    /// `file:line`, in brackets; nothing when there is no place.
    pub(crate) fn place(self, event: &Event) -> String {
        let transition = self.transition(event.thread, event.transition);
        match (self.position(transition), &self.automata.source) {
            (Some((line, _)), Some(source)) => format!(" ({}:{line})", source.name),
            _ => String::new(),
        }
    }

    /// `write of 1 to x`, for sentences.
    pub(crate) fn access(self, event: &Event) -> String {
        let at = self.automata.address_name(event.address);
        match (event.read, event.written) {
            (Some(old), Some(new)) => format!("update of {at} from {old} to {new}"),
            (_, Some(new)) => format!("write of {new} to {at}"),
            (read, None) => format!("read of {} from {at}", read.unwrap_or_default()),
        }
    }

    /// `write 1 to x`, for tables.
    pub(super) fn operation(self, event: &Event) -> String {
        let at = self.automata.address_name(event.address);
        match (event.read, event.written) {
            (Some(old), Some(new)) => format!("update {at} from {old} to {new}"),
            (_, Some(new)) => format!("write {new} to {at}"),
            (read, None) => format!("read {} from {at}", read.unwrap_or_default()),
        }
    }
}

/// The report of one input.
pub(super) fn text(input: &TsoInput, property: &str, outcome: &Outcome, style: Style) -> String {
    let subject = &input.subject;
    let d = Describe {
        automata: &input.automata,
    };
    let promise = match property {
        "trf" => "free of triangular races",
        "robust-for-all-instances" => "robust against tso for any number of copies of each thread",
        _ => "robust against tso",
    };
    match &outcome.verdict {
        Verdict::Robust => {
            let stats = &outcome.stats;
            format!(
                "{subject}: {} ({}, {}, {})\n",
                style.paint(Role::Good, promise),
                plural(stats.states, "state"),
                plural(stats.attack_states, "state") + " of attacks",
                seconds(stats.elapsed),
            )
        }
        Verdict::Unknown(reason) => format!(
            "{subject}: {}: {reason}\n  {}; no violation in what was explored\n",
            style.paint(Role::Undecided, "unknown"),
            explored(&outcome.stats),
        ),
        Verdict::Violation(computation) => format!(
            "{subject}: {}: not robust against tso\n\n{}{}\n",
            style.paint(Role::Bad, "violation"),
            computation_text(d, computation, style),
            explored(&outcome.stats),
        ),
        Verdict::TriangularRace(race) => format!(
            "{subject}: {}: triangular race\n\n{}{}\n",
            style.paint(Role::Bad, "violation"),
            race_text(d, race, style),
            explored(&outcome.stats),
        ),
        Verdict::Deadlock(deadlock) => format!(
            "{subject}: {}: deadlock\n\n{}{}\n",
            style.paint(Role::Bad, "violation"),
            deadlock_text(d, deadlock, style),
            explored(&outcome.stats),
        ),
        Verdict::Fault(fault) => format!(
            "{subject}: {}: {}\n\n{}{}\n",
            style.paint(Role::Bad, "violation"),
            fault_name(fault.kind),
            fault_text(d, fault, style),
            explored(&outcome.stats),
        ),
    }
}

/// `2 copies of reader, 1 copy of writer`
pub(super) fn instance(templates: &[String], copies: &[usize]) -> String {
    let parts = templates.iter().zip(copies).filter(|(_, n)| **n > 0);
    let parts = parts.map(|(name, n)| match n {
        1 => format!("1 copy of {name}"),
        n => format!("{n} copies of {name}"),
    });
    parts.collect::<Vec<String>>().join(", ")
}

/// What a search did.
pub(crate) fn explored(stats: &Stats) -> String {
    format!(
        "explored {}, {} of attacks, {}, {}",
        plural(stats.states, "state"),
        plural(stats.attack_states, "state"),
        bytes(stats.memory),
        seconds(stats.elapsed),
    )
}

/// What a fault is called.
pub(super) fn fault_name(kind: FaultKind) -> String {
    match kind {
        FaultKind::Assertion => "an assertion fails".to_owned(),
        FaultKind::Bounds => "an array index is out of bounds".to_owned(),
        FaultKind::Eval(error) => error.to_string(),
    }
}

/// A computation: the sentence, the steps and the cycle.
pub(crate) fn computation_text(d: Describe<'_>, computation: &Computation, style: Style) -> String {
    let mut out = sentence(d, computation);
    out.push_str("\n\n");
    let _ = writeln!(out, "{}", style.paint(Role::Strong, "TSO computation:"));
    steps(&mut out, d, &computation.actions, &computation.events);
    cycle(&mut out, d, computation, style);
    out
}

/// The weak behaviour in one sentence.
pub(crate) fn sentence(d: Describe<'_>, computation: &Computation) -> String {
    let store = &computation.events[computation.delayed];
    let load = &computation.events[computation.overtaken];
    format!(
        "Thread {} delays its {}{} past its {}{}, which no sequentially consistent run shows.",
        d.thread(computation.attacker),
        d.access(store),
        d.place(store),
        d.access(load),
        d.place(load),
    )
}

/// The accesses in order, and the delayed stores where they reach memory.
fn steps(out: &mut String, d: Describe<'_>, actions: &[Action], events: &[Event]) {
    let mut rows: Vec<[String; 4]> = vec![["step", "thread", "at", "operation"].map(str::to_owned)];
    let mut buffers: Vec<Vec<&Event>> = vec![Vec::new(); d.automata.threads.len()];
    let mut number = 0;
    for (i, action) in actions.iter().enumerate() {
        match *action {
            Action::Flush { thread } => {
                let store = buffers[thread].remove(0);
                // A store that reaches memory at once is one line.
                let at_once = i > 0
                    && matches!(actions[i - 1], Action::Step { thread: t, .. } if t == thread)
                    && events.iter().any(|e| e.step == i - 1 && e == store);
                if at_once {
                    continue;
                }
                number += 1;
                let what = format!("{} reaches memory", d.operation(store));
                rows.push([
                    number.to_string(),
                    d.thread(thread).to_owned(),
                    String::new(),
                    what,
                ]);
            }
            Action::Step { thread, transition } => {
                let step = d.transition(thread, transition);
                let event = events.iter().find(|e| e.step == i);
                let what = match (&step.op, event) {
                    (_, Some(event)) => {
                        let delayed = matches!(step.op, Op::Write { .. });
                        if delayed {
                            buffers[thread].push(event);
                        }
                        let kept = delayed
                            && !matches!(actions.get(i + 1), Some(Action::Flush { thread: t }) if *t == thread);
                        let note = if kept { ", delayed" } else { "" };
                        d.operation(event) + note
                    }
                    (Op::Fence, _) => "mfence".to_owned(),
                    (Op::Lock, _) => "lock".to_owned(),
                    (Op::Unlock, _) => "unlock".to_owned(),
                    _ => continue,
                };
                number += 1;
                let at = d.position(step);
                let at = at.map_or(String::new(), |(line, column)| format!("{line}:{column}"));
                rows.push([number.to_string(), d.thread(thread).to_owned(), at, what]);
            }
        }
    }
    let width = |column: usize| {
        rows.iter()
            .map(|r| r[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (a, b, c) = (width(0), width(1), width(2));
    for row in &rows {
        let line = format!(
            "  {:>a$}  {:<b$}  {:<c$}  {}",
            row[0], row[1], row[2], row[3]
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
}

fn cycle(out: &mut String, d: Describe<'_>, computation: &Computation, style: Style) {
    let head = "cycle that sequential consistency forbids:";
    let _ = writeln!(out, "{}", style.paint(Role::Strong, head));
    for (i, (event, edge)) in computation.cycle.iter().enumerate() {
        let next = computation.cycle[(i + 1) % computation.cycle.len()].0;
        let [from, to] = [*event, next].map(|e| &computation.events[e]);
        let _ = writeln!(
            out,
            "  {}: {} -{edge}-> {}: {}",
            d.thread(from.thread),
            d.operation(from),
            d.thread(to.thread),
            d.operation(to),
        );
    }
    out.push('\n');
}

fn race_text(d: Describe<'_>, race: &TriangularRace, style: Style) -> String {
    let mut out = format!(
        "Thread {} is about to read {}, has stored before it without a fence, and thread {} is about to write {}.\n\n",
        d.thread(race.reader),
        d.automata.address_name(race.address),
        d.thread(race.writer),
        d.automata.address_name(race.address),
    );
    run_text(&mut out, d, &race.actions, &race.events, style);
    out
}

/// The blocked threads in one sentence.
pub(super) fn blocked(d: Describe<'_>, deadlock: &Deadlock) -> String {
    let waiting = deadlock.blocked.iter().map(|&(thread, state)| {
        let automaton = &d.automata.threads[thread];
        let next = automaton.leaving(state).next();
        let at = next.and_then(|(_, transition)| d.position(transition));
        let source = d.automata.source.as_ref();
        match (at, source) {
            (Some((line, _)), Some(source)) => {
                format!("{} at {}:{line}", automaton.name, source.name)
            }
            _ => automaton.name.clone(),
        }
    });
    let waiting: Vec<String> = waiting.collect();
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    format!(
        "No thread can move: {} {verb} for ever.",
        waiting.join(" and ")
    )
}

fn deadlock_text(d: Describe<'_>, deadlock: &Deadlock, style: Style) -> String {
    let mut out = format!("{}\n\n", blocked(d, deadlock));
    run_text(&mut out, d, &deadlock.actions, &deadlock.events, style);
    out
}

/// The steps of a run under SC.
fn run_text(out: &mut String, d: Describe<'_>, actions: &[Action], events: &[Event], style: Style) {
    let head = "sequentially consistent run up to there:";
    let _ = writeln!(out, "{}", style.paint(Role::Strong, head));
    steps(out, d, actions, events);
}

fn fault_text(d: Describe<'_>, fault: &Fault, style: Style) -> String {
    let step = d.transition(fault.thread, fault.transition);
    let at = match (d.position(step), &d.automata.source) {
        (Some((line, _)), Some(source)) => format!(" at {}:{line}", source.name),
        _ => String::new(),
    };
    let mut out = format!(
        "Thread {}{at}: {}, under sequential consistency.\n\n",
        d.thread(fault.thread),
        fault_name(fault.kind),
    );
    run_text(&mut out, d, &fault.actions, &fault.events, style);
    out
}
