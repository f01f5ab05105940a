//! The verifier as its callers see it: programs in, verdicts out.

mod common;
mod data;
mod deadlock;
mod faults;
mod limits;
mod local;
mod refusals;
mod threads;
mod workers;
