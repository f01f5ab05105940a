//! Threads that are copies of each other.

use rsan_model::automata::{Automata, Automaton};

/// For each thread the first one that does the same in the same control states; names and places in the source do not
/// count.
pub(crate) fn first_alike(automata: &Automata) -> Vec<usize> {
    let threads = &automata.threads;
    let first = |t: &Automaton| threads.iter().position(|other| are_alike(other, t));
    threads
        .iter()
        .map(|t| first(t).expect("a thread is like itself"))
        .collect()
}

fn are_alike(a: &Automaton, b: &Automaton) -> bool {
    let states = |t: &Automaton| -> Vec<bool> { t.states.iter().map(|s| s.fenceable).collect() };
    let registers = |t: &Automaton| -> Vec<i32> { t.registers.iter().map(|r| r.1).collect() };
    let mut steps = a.transitions.iter().zip(&b.transitions);
    a.initial == b.initial
        && a.transitions.len() == b.transitions.len()
        && states(a) == states(b)
        && registers(a) == registers(b)
        && steps.all(|(s, t)| (s.from, s.to, &s.op) == (t.from, t.to, &t.op))
}
