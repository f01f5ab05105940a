//! What happens under TSO, in words.

use rsan_model::automata::{Automata, Transition};
use rsan_tso::{Computation, Deadlock, Event, FaultKind};

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
    pub(crate) fn operation(self, event: &Event) -> String {
        let at = self.automata.address_name(event.address);
        match (event.read, event.written) {
            (Some(old), Some(new)) => format!("update {at} from {old} to {new}"),
            (_, Some(new)) => format!("write {new} to {at}"),
            (read, None) => format!("read {} from {at}", read.unwrap_or_default()),
        }
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

/// What a fault is called.
pub(super) fn fault_name(kind: FaultKind) -> String {
    match kind {
        FaultKind::Assertion => "an assertion fails".to_owned(),
        FaultKind::Bounds => "an array index is out of bounds".to_owned(),
        FaultKind::Eval(error) => error.to_string(),
    }
}

/// The weak behaviour in one sentence.
pub(crate) fn sentence(d: Describe<'_>, computation: &Computation) -> String {
    let store = &computation.events[computation.delayed];
    let load = &computation.events[computation.overtaken];
    format!(
        "thread {} delays its {}{} past its {}{}, which no sequentially consistent run shows",
        d.thread(computation.attacker),
        d.access(store),
        d.place(store),
        d.access(load),
        d.place(load),
    )
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
        "no thread can move: {} {verb} for ever",
        waiting.join(" and ")
    )
}
