//! Every type of the standard library that synchronises, used rightly under contention: nothing here is a finding.

/// How often a test repeats what it does: `RUST_SYNC_ROUNDS`, or a few times.
pub fn rounds() -> usize {
    let given = std::env::var("RUST_SYNC_ROUNDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(20)
}
