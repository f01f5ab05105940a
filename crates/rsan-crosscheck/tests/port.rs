//! Compiled programs against the axioms of C; the static analysis against enumeration.

use rsan_crosscheck::port::{compare_compiled, compare_port};

/// How many random programs, and more with `RSAN_EXTENDED`.
fn count(few: u64) -> u64 {
    match std::env::var_os("RSAN_EXTENDED") {
        Some(_) => 10 * few,
        None => few,
    }
}

#[test]
fn what_machines_show_of_compiled_programs_c_allows() {
    let tally = compare_compiled(1..1 + count(150));
    assert_eq!(tally.difference, None);
    assert!(tally.programs > 9 * tally.skipped, "{tally:?}");
}

#[test]
fn what_the_analysis_finds_robust_or_repairs_is_robust() {
    let tally = compare_port(1..1 + count(10));
    assert_eq!(tally.difference, None);
    assert!(tally.robust > 0 && tally.repairs > 0, "{tally:?}");
    assert!(tally.programs > 20 * tally.too_large, "{tally:?}");
}
