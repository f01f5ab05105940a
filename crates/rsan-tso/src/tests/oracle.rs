//! All computations of small programs on the operational machine, and whether one of their traces has a cycle.
//!
//! `RSAN_PROGRAMS` sets the number of programs.

use super::{generate, generate_with_lock, is_robust, shown};
use crate::machine::Machine;
use crate::mutation::Mutation;
use crate::trace::Trace;
use rsan_model::automata::{Automata, StateId};
use rsan_random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Steps of all computations of one program, at most; a program that has more is left out.
const MAX_STEPS: usize = 4_000;

/// Whether every computation has an acyclic trace; `None` when there are too many.
pub(super) fn by_enumeration(automata: &Automata) -> Option<bool> {
    within(MAX_STEPS, automata)
}

/// The same with so many steps.
pub(super) fn within(most: usize, automata: &Automata) -> Option<bool> {
    let mut left = most;
    let robust = !has_cycle(Machine::new(automata), &mut left);
    (left > 0).then_some(robust)
}

/// Whether a computation that begins so ends, with empty buffers, in a trace with a cycle.
fn has_cycle(machine: Machine<'_>, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    let automata = machine.automata();
    let threads = 0..automata.threads.len();
    if threads.clone().all(|t| !machine.has_delayed(t)) && is_cyclic(&machine) {
        return true;
    }
    for thread in threads {
        let mut flushed = machine.clone();
        if flushed.flush(thread).is_some() && has_cycle(flushed, left) {
            return true;
        }
        let automaton = &automata.threads[thread];
        for (transition, _) in automaton.leaving(StateId(machine.states[thread])) {
            let mut after = machine.clone();
            if after.step(thread, transition).is_some() && has_cycle(after, left) {
                return true;
            }
        }
    }
    false
}

/// Whether the trace of a computation has a cycle. A locked section is one event.
fn is_cyclic(machine: &Machine<'_>) -> bool {
    let trace = Trace::of(machine);
    let node = |event: usize| match trace.events[event].section {
        Some(section) => (1, section),
        None => (0, event),
    };
    let mut edges: BTreeMap<(usize, usize), BTreeSet<(usize, usize)>> = BTreeMap::new();
    for event in 0..trace.events.len() {
        let from = node(event);
        let targets = trace.edges(event).into_iter().map(|(to, _)| node(to));
        edges
            .entry(from)
            .or_default()
            .extend(targets.filter(|to| *to != from));
    }
    // Leaves are taken away until none is left.
    loop {
        let leaf = edges.iter().find(|(_, to)| to.is_empty()).map(|e| *e.0);
        let Some(leaf) = leaf else {
            return !edges.is_empty();
        };
        edges.remove(&leaf);
        edges.values_mut().for_each(|to| {
            to.remove(&leaf);
        });
    }
}

/// Compares verdicts of random programs, as many as `RSAN_PROGRAMS` says, or `count`; those with more than `most` steps are left out.
fn compare(count: u64, most: usize, generate: impl Fn(&mut Random) -> Automata) {
    let count = std::env::var("RSAN_PROGRAMS").map_or(count, |n| n.parse().expect("a number"));
    let mut random = Random::new(0);
    let (mut robust, mut broken) = (0, 0);
    for number in 0..count {
        let automata = generate(&mut random);
        let Some(expected) = within(most, &automata) else {
            continue;
        };
        let found = is_robust(&automata, Mutation::default());
        assert_eq!(found, expected, "program {number}:\n{}", shown(&automata));
        robust += u64::from(found);
        broken += u64::from(!found);
    }
    eprintln!("{robust} programs are robust, {broken} are not, of {count}");
    assert!(
        broken * 15 > count && robust * 15 > count,
        "{robust} {broken}"
    );
}

#[test]
fn the_search_agrees_with_all_computations_of_the_machine() {
    compare(800, MAX_STEPS, generate);
}

#[test]
fn so_it_does_with_locks() {
    compare(200, 5 * MAX_STEPS, generate_with_lock);
}

/// The first thread attacks in place of the second.
#[test]
fn so_it_does_when_threads_are_alike() {
    compare(200, MAX_STEPS, |random| {
        let mut automata = generate(random);
        automata.threads.truncate(2);
        let copy = automata.threads[0].clone();
        match random.below(2) {
            0 => automata.threads[1] = copy,
            _ => automata.threads.push(copy),
        }
        automata
    });
}
