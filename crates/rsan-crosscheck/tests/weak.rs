//! The engine of weak executions shows exactly what the axioms allow in its fragment.

use rsan_crosscheck::weak::{Mode, compare_weak};

#[test]
fn the_engine_agrees_with_the_oracle_on_random_programs() {
    let count: u64 = std::env::var("N").map_or(2000, |n| n.parse().unwrap());
    let tally = compare_weak(0..count, Mode::default());
    eprintln!("{tally:?}");
    if let Some(difference) = tally.difference {
        panic!("{difference}");
    }
}
