//! Every engine of rsan against the oracle, on random programs.
//!
//! A random program is small (2 to 4 threads, about a dozen instructions, no loops) and uses every operation and
//! order that the model defines. Four engines answer whether it is robust and free of races:
//! the enumeration of all consistent execution graphs (`rsan-axioms`, the oracle), the two forms of the online
//! monitor (`rsan-clocks`) run over *all* SC interleavings, and the state-space search (`rsan-verify`). They share
//! nothing but `rsan-model`. A disagreement is a bug; it is shrunk and printed in the compact notation, with the seed
//! that made it.
//!
//! - [`generate`] and [`Profile`]: random programs, and mutations of the litmus tests of [`tables`].
//! - [`interleave`]: all SC runs, with a panel of monitors beside each.
//! - [`Walk`]: one SC run, step by step, with what a sanitizer must find in it.
//! - [`schedules`] and [`inevitable`]: some such runs of a program, and whether all of them show something.
//! - [`Controlled`]: a program under a scheduler that asks a strategy of `rsan-schedule`, and the shape of its execution graphs.
//! - [`observational`]: observational robustness by its definition.
//! - [`compare`]: all engines on one program, and what their answers must have to do with each other.
//! - [`Campaign`]: many programs, on several cores. [`on_all_cores`]: any work.
//! - [`loops`]: the same for C programs with loops, which `rsan run --exhaustive` explores.
//! - [`weak`]: the engine of weak executions against the graphs of its fragment.
//! - [`machine`]: the machines of `rsan-axioms` against each other, the models of C, and critical cycles.
//! - [`compare_tso`]: the same for the search of `rsan-tso`.
//! - [`port`]: compiled programs against the axioms of C, and the static analysis of `rsan-ir` against enumeration.
//!
//! This crate is for tests and for `cargo xtask crosscheck`; nothing that users run depends on it.

mod campaign;
mod compare;
mod controlled;
mod cores;
mod edit;
mod generate;
mod interleave;
pub mod loops;
pub mod machine;
mod mutate;
mod observational;
mod panel;
pub mod port;
mod profile;
mod random;
mod schedules;
mod shrink;
pub mod tables;
mod tso;
mod walk;
pub mod weak;

pub(crate) use campaign::listing;
pub use campaign::{Campaign, Disagreement, Found, MODELS, Report, Tally};
pub use compare::{Answers, Oracle, Verifier, compare};
pub use controlled::{Controlled, Shape};
pub use cores::on_all_cores;
pub use generate::generate;
pub use interleave::{Runs, Seen, interleave};
pub use observational::observational;
pub use panel::{MONITORS, Panel};
pub use profile::Profile;
pub use random::Random;
pub use schedules::{Run, inevitable, schedules};
pub use shrink::shrink;
pub use tso::{TsoTally, compare_tso, tso_program};
pub use walk::{Blocking, End, Finding, POLL, Step, Walk};
