//! The engine of weak executions shows exactly what the axioms allow in its fragment.

use rsan_crosscheck::weak::{Mode, WeakTally, compare_weak, executions, weak_program};
use rsan_model::Instr;
use rsan_weak::Engine;

/// Compares on so many programs, from a seed on.
fn same(seed: u64, programs: u64, mode: Mode) -> WeakTally {
    let tally = compare_weak(seed..seed + programs, mode);
    if let Some(difference) = &tally.difference {
        panic!("{difference}");
    }
    assert_eq!(tally.programs + tally.skipped, programs);
    assert!(tally.skipped * 20 < programs, "{tally:?}");
    tally
}

#[test]
fn the_engine_shows_the_graphs_of_random_programs() {
    let tally = same(0, 600, Mode::default());
    assert!(tally.executions > 10_000 && tally.outside > 0, "{tally:?}");
}

#[test]
fn the_order_of_unrelated_accesses_changes_nothing() {
    let mode = Mode {
        all_orders: true,
        ..Mode::default()
    };
    same(10_000, 150, mode);
}

#[test]
fn pruning_changes_nothing() {
    let tally = same(20_000, 400, Mode::forgetting(None));
    assert!(tally.shown > 5_000, "{tally:?}");
}

#[test]
fn a_window_shows_nothing_else() {
    let all = same(30_000, 100, Mode::forgetting(None));
    for window in 0..4 {
        let some = same(30_000, 100, Mode::forgetting(Some(window)));
        assert!(some.shown < all.shown && some.shown > 0, "{window}");
    }
}

#[test]
fn reads_that_leave_sequential_consistency_are_told() {
    let mode = Mode {
        interleavings: true,
        all_orders: true,
        ..Mode::default()
    };
    let (mut older, mut leaving) = (0, 0);
    for seed in 40_000..40_150 {
        let program = weak_program(seed);
        let mut instructions = program.instructions();
        if instructions.any(|(_, _, instr)| matches!(instr, Instr::Spawn(_))) {
            continue;
        }
        let found = executions(&program, Engine::default(), mode, 2_000);
        assert_eq!(found.wrong, None, "seed {seed}");
        (older, leaving) = (older + found.older.0, leaving + found.older.1);
    }
    assert!(
        leaving > 500 && older > leaving + 500,
        "{leaving} of {older}"
    );
}
