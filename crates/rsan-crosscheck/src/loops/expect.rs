//! What an exploration has to say, by the verifier and the oracle, and how an answer differs from it.

use super::{Answer, Looping, written};
use rsan_axioms::{Execution, Limits, Stop, executions, robustness, sc_order};
use rsan_model::{CasStrength, EventId, EventSet, Instr, Model, Program, ThreadId, Verdict};
use rsan_verify::{Options, Property, verify};
use std::ops::ControlFlow;

/// What there is to be found in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// A data race.
    pub race: bool,
    /// A weak behaviour; `None` where there is a race.
    pub weak: Option<bool>,
    /// A deadlock; `None` where there is a race.
    pub deadlock: Option<bool>,
}

/// How an answer differs from what is expected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Difference {
    /// `robust`, or only other findings, although there is a weak behaviour.
    WeakMissed,
    /// A weak behaviour that is none, also when the loops are taken as they are.
    WeakInvented,
    /// A data race is not found.
    RaceMissed,
    /// A data race that is none.
    RaceInvented,
    /// A deadlock is not found.
    DeadlockMissed,
    /// A deadlock that is none.
    DeadlockInvented,
    /// A weak behaviour in which a failed spin iteration takes part.
    InVain,
    /// No weak behaviour, as each one needs a stale load after which a compare-and-swap fails that leads where a load of what it found leads.
    Corrected,
    /// The verifier and the oracle contradict each other.
    Engines,
    /// The program could not be explored at all.
    Failed,
}

/// Bounds of the oracle.
const LIMITS: Limits = Limits {
    unroll: 3,
    max_graphs: 60_000,
    max_events: rsan_model::MAX_EVENTS,
};

/// What the verifier finds first: the kind of fault.
pub(super) fn search(
    program: &Program,
    property: Property,
    deadlock: bool,
) -> Option<&'static str> {
    let options = Options {
        property,
        deadlock,
        workers: 1,
        ..Options::new(Model::C20)
    };
    let outcome = verify(program, &options, &mut |_| {}).expect("the program has a meaning");
    match outcome.verdict {
        Verdict::Robust => None,
        Verdict::Violation(witness) => Some(witness.fault.kind()),
        Verdict::Unknown(reason) => panic!("small programs have an answer: {reason}"),
    }
}

impl Expected {
    /// What is to be found; `None` when the program is too large for the oracle, an error when the engines disagree.
    ///
    /// # Errors
    /// What the verifier and the oracle say, if that does not go together.
    pub fn of(looping: &Looping) -> Result<Option<Self>, String> {
        let program = &looping.program;
        if search(program, Property::Safe, false).is_some() {
            return Ok(Some(Self {
                race: true,
                weak: None,
                deadlock: None,
            }));
        }
        let found = search(program, Property::Robust, false);
        let weak = if looping.has_rounds() {
            match looping.is_weak_without(&|execution| looping.in_vain(execution)) {
                None => return Ok(None),
                Some(true) if found.is_none() => {
                    return Err("the verifier finds nothing, the oracle does".to_owned());
                }
                Some(weak) => weak,
            }
        } else {
            let answer = robustness(program, Model::C20, &LIMITS).expect("it suits the model");
            let known = answer.cut.is_none() || !answer.robust;
            if known && (answer.robust == found.is_some() || answer.robust && answer.racy) {
                return Err(format!(
                    "the verifier finds {found:?}, the oracle {answer:?}"
                ));
            }
            found.is_some()
        };
        let deadlock = looping.has_deadlock();
        Ok(Some(Self {
            race: false,
            weak: Some(weak),
            deadlock: Some(deadlock),
        }))
    }

    /// How an answer differs; `None` if it does not, or is undecided.
    pub fn difference(&self, looping: &Looping, answer: &Answer) -> Option<Difference> {
        let decided = answer.is_certain();
        if self.race != answer.race {
            if answer.race {
                return Some(Difference::RaceInvented);
            }
            return decided.then_some(Difference::RaceMissed);
        }
        let (Some(weak), Some(deadlock)) = (self.weak, self.deadlock) else {
            return None;
        };
        if weak != answer.weak {
            if !answer.weak {
                return decided.then(|| looping.missed());
            }
            return Some(
                match search(&written::as_written(looping), Property::Robust, false) {
                    Some(_) => Difference::InVain,
                    None => Difference::WeakInvented,
                },
            );
        }
        if deadlock != answer.deadlock {
            if answer.deadlock {
                return Some(Difference::DeadlockInvented);
            }
            return decided.then_some(Difference::DeadlockMissed);
        }
        None
    }
}

impl Looping {
    /// Whether some loop has no blocking operation.
    fn has_rounds(&self) -> bool {
        self.forms.iter().flatten().any(|f| f.back().is_some())
    }

    /// How an answer differs in which a weak behaviour is missing.
    fn missed(&self) -> Difference {
        let left_out = |execution: &Execution<'_>| {
            let mut all = self.in_vain(execution);
            all.extend(self.corrected(execution));
            all
        };
        match self.is_weak_without(&left_out) {
            Some(false) => Difference::Corrected,
            _ => Difference::WeakMissed,
        }
    }

    /// Whether some consistent graph is not sequentially consistent, without these events; `None` when there are too many graphs.
    fn is_weak_without(&self, left_out: &dyn Fn(&Execution<'_>) -> Vec<EventId>) -> Option<bool> {
        let mut weak = false;
        let summary = executions(&self.program, Model::C20, &LIMITS, &mut |execution| {
            let graph = execution.graph;
            let kept = all_but(&left_out(execution), execution);
            weak = !sc_order(Model::C20, graph).between(kept, kept).is_acyclic();
            if weak {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let summary = summary.expect("it suits the model");
        (weak || summary.cut.reason(&LIMITS).is_none()).then_some(weak)
    }

    /// What threads did in a round that they did not end.
    fn in_vain(&self, execution: &Execution<'_>) -> Vec<EventId> {
        let graph = execution.graph;
        let mut vain = Vec::new();
        for (t, stop) in execution.stops.iter().enumerate() {
            let Stop::Assumption(pc) = stop else {
                continue;
            };
            let start = self.forms[t][pc.index()].back();
            let start = start.expect("an assumption ends a round");
            let (t, round) = (ThreadId::new(t), start..pc.index());
            vain.extend(graph.ids().filter(|e| {
                let event = graph.event(*e);
                event.thread == Some(t) && round.contains(&event.pc.index())
            }));
        }
        vain
    }

    /// Whether some sequentially consistent run ends with a thread that waits.
    pub(super) fn has_deadlock(&self) -> bool {
        if !self.has_rounds() {
            return search(&self.program, Property::Safe, true).is_some();
        }
        // A thread that stopped in a round goes on if its words still change, or if its compare-and-swap failed for no reason.
        let program = with_strong_swaps(self.program.clone());
        let mut found = false;
        let all = executions(&program, Model::Sc, &LIMITS, &mut |execution| {
            let waits = |stop: &Stop| matches!(stop, Stop::Assumption(_) | Stop::Blocked(_));
            found = execution.stops.iter().any(waits) && self.is_stuck(execution);
            if found {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        all.expect("it suits the model");
        found
    }

    /// Whether all threads that stopped in a round read the last writes in it.
    fn is_stuck(&self, execution: &Execution<'_>) -> bool {
        let graph = execution.graph;
        let mut vain = self.in_vain(execution).into_iter();
        vain.all(|e| match (graph.label(e).loc(), graph.reads_from(e)) {
            (Some(loc), Some(write)) => graph.modification_order(loc).last() == Some(&write),
            _ => true,
        })
    }
}

fn all_but(left_out: &[EventId], execution: &Execution<'_>) -> EventSet {
    EventSet::filter(execution.graph.len(), |e| !left_out.contains(&e))
}

fn with_strong_swaps(mut program: Program) -> Program {
    for instr in program.threads.iter_mut().flat_map(|t| &mut t.code) {
        if let Instr::Cas { strength, .. } = instr {
            *strength = CasStrength::Strong;
        }
    }
    program
}
