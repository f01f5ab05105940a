//! Tests of the monitors against each other, against known verdicts, and with broken rules.
//!
//! Everything is deterministic: random programs and runs come from seeds that a failure prints. `RSAN_EXTENDED=1`
//! multiplies the counts.

mod ahead;
mod declared;
mod explore;
mod forms;
mod handmade;
mod litmus;
mod long_runs;
mod machine;
mod mutants;
mod program;
mod random_programs;

/// How often to repeat something that normally runs `count` times.
fn repetitions(count: u64) -> u64 {
    let extended = std::env::var("RSAN_EXTENDED").is_ok_and(|value| value != "0");
    if extended { 50 * count } else { count }
}
