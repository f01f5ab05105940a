//! Cheapest fences of random programs: they work on the machine, and no smaller set does.

use super::oracle::within;
use super::{generate, generate_with_lock, shown};
use crate::fences::{FencePlace, FenceSet};
use crate::limits::Limits;
use crate::optimal::{Synthesis, cheapest_fences};
use crate::{Verdict, robustness};
use rsan_model::Span;
use rsan_model::automata::{Automata, ControlState, Op, StateId, Transition};
use rsan_random::Random;

/// Steps of all computations of a program with fences, at most.
const MAX_STEPS: usize = 20_000;

/// The program with fences in its text.
fn fenced(automata: &Automata, fences: &FenceSet) -> Automata {
    let mut automata = automata.clone();
    for place in fences.iter() {
        let thread = &mut automata.threads[place.thread];
        let after = StateId(thread.states.len() as u32);
        thread.states.push(ControlState {
            name: "after".to_owned(),
            fenceable: true,
        });
        let leaving = thread.transitions.iter_mut();
        leaving
            .filter(|t| t.from == place.state)
            .for_each(|t| t.from = after);
        thread.transitions.push(Transition {
            from: place.state,
            to: after,
            op: Op::Fence,
            span: Span::default(),
        });
    }
    automata
}

/// All sets of `size` places.
fn sets(places: &[FencePlace], size: usize) -> Vec<Vec<FencePlace>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, place) in places.iter().enumerate() {
        for mut set in sets(&places[i + 1..], size - 1) {
            set.push(*place);
            all.push(set);
        }
    }
    all
}

/// Checks the fences of a program; how many there are.
fn check(automata: &Automata) -> usize {
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let synthesis = cheapest_fences(automata, &|_| 1, &limits, &mut |_, _| {});
    let Synthesis::Repair(repair) = synthesis else {
        panic!("{synthesis:?}\n{}", shown(automata));
    };
    let fences: FenceSet = repair.fences.iter().map(|f| f.0).collect();
    let works = within(MAX_STEPS, &fenced(automata, &fences));
    assert_ne!(works, Some(false), "{fences:?}\n{}", shown(automata));
    let mut places = Vec::new();
    for (thread, automaton) in automata.threads.iter().enumerate() {
        let states = (0..automaton.states.len() as u32).map(StateId);
        places.extend(states.map(|state| FencePlace { thread, state }));
    }
    for set in fences
        .len()
        .checked_sub(1)
        .map_or_else(Vec::new, |fewer| sets(&places, fewer))
    {
        let set: FenceSet = set.into_iter().collect();
        let verdict = robustness(automata, &set, &limits).verdict;
        let broken = matches!(verdict, Verdict::Violation(_));
        assert!(broken, "{set:?} is enough\n{}", shown(automata));
    }
    fences.len()
}

#[test]
fn fences_are_enough_and_no_smaller_set_is() {
    let mut random = Random::new(7);
    let mut most = 0;
    for number in 0..150 {
        let mut automata = match number % 3 {
            0 => generate_with_lock(&mut random),
            _ => generate(&mut random),
        };
        if number % 3 == 2 {
            automata.threads.truncate(2);
            automata.threads[1] = automata.threads[0].clone();
        }
        most = most.max(check(&automata));
    }
    assert!(most > 1, "some need several");
}
