//! Every broken rule gives some program another verdict, or a computation that the machine refuses.

use super::oracle::by_enumeration;
use super::{generate, handmade, is_robust};
use crate::mutation::{Mutant, Mutation};
use rsan_model::automata::Automata;
use rsan_random::Random;
use std::panic::catch_unwind;

/// Programs that are tried.
const PROGRAMS: usize = 3000;

fn notices(automata: &Automata, expected: bool, mutant: Mutant) -> bool {
    let found = catch_unwind(|| is_robust(automata, Mutation::new(mutant)));
    found.map_or(true, |robust| robust != expected)
}

#[test]
fn handmade_programs_have_their_verdicts() {
    for (automata, expected) in handmade() {
        assert_eq!(is_robust(&automata, Mutation::default()), expected);
    }
}

#[test]
fn every_broken_rule_is_noticed() {
    let mut random = Random::new(0);
    let mut left: Vec<Mutant> = Mutant::ALL.to_vec();
    // What the machine refuses is expected here, and not to be shown.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let random = (0..PROGRAMS).filter_map(|_| {
        let automata = generate(&mut random);
        let expected = by_enumeration(&automata)?;
        Some((automata, expected))
    });
    for (automata, expected) in handmade().into_iter().chain(random) {
        if left.is_empty() {
            break;
        }
        left.retain(|mutant| !notices(&automata, expected, *mutant));
    }
    std::panic::set_hook(hook);
    assert!(left.is_empty(), "nobody notices {left:?}");
}
