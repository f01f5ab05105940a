//! The repository's own chores.
fn main() {}
