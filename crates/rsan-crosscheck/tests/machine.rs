//! The machines agree with each other, with the models of C and with the table of critical cycles, from fixed seeds.

use rsan_crosscheck::Random;
use rsan_crosscheck::machine::{Cycle, compare_machines};
use std::collections::BTreeSet;

#[test]
fn the_machines_are_ordered_as_they_must_be() {
    let programs = match std::env::var_os("RSAN_EXTENDED") {
        Some(_) => 100_000,
        None => 600,
    };
    let tally = compare_machines(1..programs + 1);
    assert_eq!(tally.disagreement, None);
    assert_eq!((tally.programs, tally.cycles), (programs, programs));
    assert!(tally.inclusions > 8 * programs, "{tally:?}");
    assert!(tally.strict > programs / 2, "{tally:?}");
    let [allowed, forbidden] = tally.predicted;
    assert!(allowed > programs / 2 && forbidden > programs, "{tally:?}");
}

#[test]
fn cycles_are_many() {
    let mut random = Random::new(1);
    let text = |_| Cycle::random(&mut random).program().0.to_string();
    let different: BTreeSet<String> = (0..10_000).map(text).collect();
    assert!(different.len() > 5_000, "{}", different.len());
    // The classic ones are among them.
    let two = [
        "w x 1; r r0 y ‖ w y 1; r r0 x",
        "w x 1; w y 1 ‖ r r0 y; r r1 x",
    ];
    for text in two {
        assert!(different.contains(text), "{text}");
    }
}
