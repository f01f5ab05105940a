//! Explicit-state verification of robustness under sequential consistency.
//!
//! A program is robust against a memory model when every execution that the model allows is sequentially
//! consistent. Robustness is decided by looking at sequentially consistent runs only: this crate explores all of
//! them, with a monitor beside the program that knows what weak memory could do next (Rocker, PLDI 2019 and POPL
//! 2021). Assertions, data races and, on request, deadlocks are checked, too.
//!
//! *Decides*: robustness against RA, RC20 and C20, observational robustness, safety under SC; sound and complete
//! for programs with finitely many states. A limit gives [`Verdict::Unknown`], never `Robust`.
//!
//! - `facts`: what is known without running: visibility, liveness.
//! - `layout` and `monitor`: the finite monitor, bit sets instead of timestamps.
//! - `machine`: the program under SC, one visible step at a time.
//! - `codec`, `symmetry` and `store`: packed states, each kept once, up to the names of equal threads.
//! - `job`: which searches decide a property; a location at a time where a program is large.
//! - `slice`: the program without the values that decide nothing.
//! - `search` and `expand`: breadth-first, parallel, deterministic; `commute`: fewer transitions.
//! - `witness`: a failing schedule, replayed with real timestamps and explained.

mod bits;
mod clocks;
mod codec;
mod commute;
mod counters;
mod distances;
mod expand;
mod facts;
mod forgetting;
mod job;
mod layout;
mod locks;
mod machine;
mod monitor;
mod mutation;
mod options;
mod search;
mod slice;
mod state;
mod store;
mod symmetry;
mod values;
mod witness;
mod workers;

pub use options::{Options, Property, Stats};

use facts::Facts;
use job::Job;
use layout::{Focus, Watched};
use mutation::Mutation;
use rsan_model::{Model, Pc, Program, ThreadId, Verdict};
use std::fmt;
use std::time::Instant;
use workers::Workers;

/// The answer, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What it took.
    pub stats: Stats,
}

/// Why a program cannot be verified at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The model gives seq_cst accesses no meaning.
    ScAccess {
        /// The model.
        model: Model,
        /// Who.
        thread: ThreadId,
        /// The access.
        pc: Pc,
    },
    /// This engine does not know the model.
    Model(Model),
    /// The program is larger than the engine can take.
    TooLarge(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScAccess { model, .. } => write!(
                f,
                "model `{model}` has no seq_cst accesses; use `--model c20`, which defines them"
            ),
            Self::Model(model) => write!(f, "`verify` does not know model `{model}`"),
            Self::TooLarge(what) => write!(f, "the program is too large: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Verifies a program. `progress` is called now and then during the search, at most a few times a second.
///
/// # Errors
/// When the program cannot be verified under the model at all.
pub fn verify(
    program: &Program,
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Stats),
) -> Result<Outcome, Error> {
    verify_mutated(program, options, Mutation::default(), progress)
}

/// [`verify`], possibly with a broken rule.
fn verify_mutated(
    program: &Program,
    options: &Options<'_>,
    mutation: Mutation,
    progress: &mut dyn FnMut(&Stats),
) -> Result<Outcome, Error> {
    check_supported(program, options)?;
    let program = program.for_model(options.model);
    let facts = Facts::new(&program, options.model, mutation);
    let started = Instant::now();
    let workers = Workers::new(options.workers);
    let mut total = Stats::default();
    for (i, &property) in steps(options.property, mutation).iter().enumerate() {
        let last = i + 1 == steps(options.property, mutation).len();
        let mut verdict = Some(Verdict::Robust);
        for &pass in passes(&facts, property) {
            let job = Job {
                program: &program,
                facts: &facts,
                options,
                pass,
                // The first of several steps is a try.
                small: !last && i == 0,
                started,
                workers: &workers,
            };
            let outcome = job.run(&mut |stats| progress(&total.and(stats)))?;
            total = total.and(&outcome.stats);
            verdict = outcome.verdict;
            if verdict != Some(Verdict::Robust) {
                break;
            }
        }
        let answers = match &verdict {
            None => false,
            // What is not robust may still be observationally robust.
            Some(Verdict::Violation(_)) => property == options.property,
            Some(Verdict::Robust | Verdict::Unknown(_)) => true,
        };
        if let (true, Some(verdict)) = (answers, verdict) {
            return Ok(Outcome {
                verdict,
                stats: total,
            });
        }
    }
    unreachable!("the last step answers");
}

/// The properties to decide, one after the other, until there is an answer. A robust program is observationally robust,
/// and robustness can be decided location by location (docs/theory/finite.md, F13 and F14).
fn steps(property: Property, mutation: Mutation) -> &'static [Property] {
    match property {
        Property::Robust => &[Property::Robust],
        Property::Safe => &[Property::Safe],
        Property::Observational if mutation.all_at_once() => &[Property::Observational],
        Property::Observational => &[
            Property::Observational,
            Property::Robust,
            Property::Observational,
        ],
    }
}

/// One search of all SC runs.
#[derive(Clone, Copy, Debug)]
struct Pass {
    property: Property,
    watched: Watched,
}

/// The searches that decide a property.
///
/// Robustness and data races of one run have nothing to do with each other (docs/theory/races.md, D2: some execution
/// of the model is not SC or has a race iff some SC run is flagged or has a race), and the states that tell
/// them apart multiply (docs/theory/finite.md, F10). Two searches are therefore smaller than one. Observational robustness needs both at once:
/// a load that may be stale does not synchronise.
fn passes(facts: &Facts, property: Property) -> &'static [Pass] {
    const fn pass(property: Property, robustness: Focus, races: bool) -> Pass {
        let watched = Watched {
            robustness,
            races,
            merged: false,
            readings: 0,
            distant: 0,
        };
        Pass { property, watched }
    }
    const ROBUST: &[Pass] = &[
        pass(Property::Robust, Focus::All, false),
        pass(Property::Safe, Focus::None, true),
    ];
    const OBSERVATIONAL: &[Pass] = &[pass(Property::Observational, Focus::All, true)];
    const SAFE: &[Pass] = &[pass(Property::Safe, Focus::None, true)];
    match property {
        Property::Robust if facts.has_races() => ROBUST,
        Property::Robust => &ROBUST[..1],
        Property::Observational => OBSERVATIONAL,
        Property::Safe => SAFE,
    }
}

fn check_supported(program: &Program, options: &Options<'_>) -> Result<(), Error> {
    match options.model {
        Model::Ra | Model::Rc20 | Model::C20 => {}
        model => return Err(Error::Model(model)),
    }
    if program.threads.len() > 64 {
        return Err(Error::TooLarge(format!(
            "{} threads, at most 64",
            program.threads.len()
        )));
    }
    if options.model.has_sc_accesses() {
        return Ok(());
    }
    match program.instructions().find(|(_, _, i)| i.is_sc_access()) {
        Some((thread, pc, _)) => Err(Error::ScAccess {
            model: options.model,
            thread,
            pc,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
