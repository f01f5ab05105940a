//! The `rsan` command.
fn main() {}
