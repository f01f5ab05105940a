//! Robustness against TSO, and the cheapest fences.
//!
//! # What it decides
//! Whether every TSO computation of a program has the trace (program order, reads-from, the order of writes, from-read) of an SC
//! computation. Sound and complete for finitely many states; with infinitely many it ends when it finds a violation, or with
//! [`Verdict::Unknown`] when a limit is reached.
//!
//! # Source
//! docs/theory/tso.md, T1 to T8, and Bouajjani, Derevenetc and Meyer, *Checking and enforcing robustness against TSO* (ESOP 2013): a program is not robust if and only
//! if one thread, the *attacker*, can delay a store past later loads of its own while the others, the *helpers*, act under SC
//! and come back, by a path of happens-before edges from one of the loads, to the address of the delayed store.
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | `τ1` | the SC search (`search`) | what happens before the store is delayed |
//! | `st`, `ld` | [`Computation::delayed`], [`Computation::overtaken`] | the delayed store and the load it is delayed past |
//! | `τ2`, `τ3` | `steps` | what happens before it reaches memory |
//!
//! # Deviations
//! 1. One search per attacker instead of a query for each pair of a store and a load: happens-before is followed from all loads
//!    of the attacker that came from memory. The pair is read off the computation found. No effect on verdicts.
//! 2. A helper acts during an attack only if that comes after a load of the attacker; everything else could have come before the
//!    delayed store. The paper has this for what follows `ld`; here it holds from the store on, because a load that a helper's
//!    step does not come after commutes with it.
//! 3. Accesses between `lock` and `unlock` are one step for everybody else, so a path may enter such a section anywhere and leave it
//!    anywhere (`config::Attack::touch`).
//! 4. Several programs can be asked about in one go: a fence placed by [`FenceSet`] is a control state in which the attacker is stuck.
//! 5. Which stores and loads can take part is first read off the text of the program (`prefilter`), and where none can no state is
//!    looked at.
//!
//! Verdicts are compared with the enumeration of all TSO-consistent graphs on random programs (`tests/oracle.rs`), and every
//! violation is replayed on an operational machine with store buffers (`machine`) before it is reported.
//!
//! # Cost
//! Time and memory are linear in the number of reachable configurations: those of SC, and for each attacker those in which it has
//! delayed stores, of which only the newest to each address counts.
//!
//! This crate does no I/O and knows no syntax.

mod alike;
mod attack_steps;
mod attacker;
mod compiled;
mod config;
mod deadlock;
mod exhaust;
mod fences;
mod limits;
mod machine;
mod memory;
mod mutation;
mod optimal;
mod parametric;
mod prefilter;
mod search;
mod space;
mod steps;
mod store;
mod trace;
mod translate;
mod triangular;
mod witness;

pub use deadlock::{Deadlock, deadlocks};
pub use fences::{FencePlace, FenceSet};
pub use limits::{Limits, Stats};
pub use machine::{Action, Event};
pub use optimal::{Repair, Synthesis, cheapest_fences};
pub use parametric::{AllInstances, Instance, all_instances, instantiate};
pub use steps::FaultKind;
pub use translate::Translated;
pub use triangular::{TriangularRace, triangular_races};
pub use witness::Computation;

use compiled::Compiled;
use prefilter::Prefilter;
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
    /// There is a triangular race; only for [`triangular_races`].
    TriangularRace(Box<TriangularRace>),
    /// No thread can move any more; only for [`deadlocks`].
    Deadlock(Box<Deadlock>),
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

impl Fault {
    fn new(
        automata: &Automata,
        path: &[(usize, u32)],
        (thread, transition): (usize, u32),
        kind: FaultKind,
    ) -> Self {
        let (actions, events) = witness::sc_run(automata, path);
        Self {
            kind,
            thread,
            transition: transition as usize,
            actions,
            events,
        }
    }
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
    let compiled = Compiled::new(automata);
    let prefilter = Prefilter::new(automata);
    match Search::new(&compiled, &prefilter, limits) {
        Ok(mut search) => {
            search.put(fences);
            let found = search.run();
            Outcome {
                verdict: verdict(automata, found),
                stats: search.stats(),
            }
        }
        Err(found) => Outcome {
            verdict: verdict(automata, found),
            stats: Stats::default(),
        },
    }
}

fn verdict(automata: &Automata, found: Found) -> Verdict {
    match found {
        Found::Nothing => Verdict::Robust,
        Found::Attacks(attacks) => {
            Verdict::Violation(Box::new(witness::computation(automata, &attacks[0])))
        }
        Found::Fault {
            path,
            thread,
            transition,
            kind,
        } => Verdict::Fault(Box::new(Fault::new(
            automata,
            &path,
            (thread, transition),
            kind,
        ))),
        Found::Unknown(reason) => Verdict::Unknown(reason),
    }
}

#[cfg(test)]
mod tests;
