//! Who runs next: strategies for a scheduler that runs one thread at a time, schedules as text, and the exploration of all
//! sequentially consistent executions of a program, each once.
//!
//! This crate does no I/O, starts no threads and knows no program: a scheduler asks a [`Strategy`] at every visible
//! operation ([`Op`]) who goes on, and tells it what was done ([`Step`]).

mod coverage;
pub mod explore;
mod minimize;
mod objects;
mod op;
mod random;
mod schedule;
pub mod shared;
pub mod strategy;

pub use coverage::{Coverage, Fingerprint};
pub use minimize::{Minimized, minimize};
use objects::Objects;
pub use op::{Candidate, Kind, Op, Step};
pub use random::Random;
pub use schedule::{ParseError, Planned, Problem, Schedule};
pub use strategy::Strategy;
