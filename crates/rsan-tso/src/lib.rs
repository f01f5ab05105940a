//! Robustness against TSO, by attacks.
mod compiled;
mod config;
mod fences;
mod machine;
mod optimal;
mod search;
mod steps;
mod store;
mod trace;
mod translate;
mod witness;

pub use fences::{FencePlace, FenceSet};
pub use machine::{Action, Event};
pub use optimal::{Repair, Synthesis, cheapest_fences};
pub use search::{Limits, Stats};
pub use steps::FaultKind;
pub use translate::Translated;
pub use witness::Computation;

use compiled::Compiled;
use rsan_model::Reason;
use rsan_model::automata::Automata;
use search::{Found, Search};

/// What the search says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every TSO computation has the trace of an SC computation.
    Robust,
    /// One has not.
    Violation(Box<Computation>),
    /// The program fails under SC already.
    Fault(Box<Fault>),
    /// Not decided.
    Unknown(Reason),
}

/// How a program fails under SC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What fails.
    pub kind: FaultKind,
    /// Who.
    pub thread: usize,
    /// At which transition.
    pub transition: usize,
    /// The steps before.
    pub actions: Vec<Action>,
    /// Their accesses.
    pub events: Vec<Event>,
}

/// An answer and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The cost.
    pub stats: Stats,
}

/// Whether a program with these additional fences is robust against TSO.
pub fn robustness(automata: &Automata, fences: &FenceSet, limits: &Limits<'_>) -> Outcome {
    let compiled = Compiled::new(automata, fences);
    let (found, stats) = Search::new(&compiled, limits).run();
    let verdict = match found {
        Found::Nothing => Verdict::Robust,
        Found::Attack(success) => {
            Verdict::Violation(Box::new(witness::computation(automata, &success)))
        }
        Found::Fault {
            path,
            thread,
            transition,
            kind,
        } => {
            let (actions, events) = witness::sc_run(automata, &path);
            Verdict::Fault(Box::new(Fault {
                kind,
                thread,
                transition: transition as usize,
                actions,
                events,
            }))
        }
        Found::Unknown(reason) => Verdict::Unknown(reason),
    };
    Outcome { verdict, stats }
}
