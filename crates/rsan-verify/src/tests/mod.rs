//! Tests that look behind the interface: broken rules, and reductions switched off.

mod clocks;
mod counters;
mod distances;
mod handmade;
mod mutants;
mod reductions;
mod slices;

use crate::machine::FailureKind;
use crate::mutation::Mutation;
use crate::search::Problem;
use crate::{Options, Property, Stats, verify_mutated};
use rsan_crosscheck::{MODELS, Profile, Random, generate};
use rsan_lang::mini;
use rsan_model::{EventId, Fault, Graph, Model, Program, Source, StaleAccess, Verdict, Witness};

/// A program, and the model to verify it under.
struct Case {
    name: String,
    model: Model,
    program: Program,
}

/// What a search says: the kind of fault, and what it took.
fn decide(case: &Case, property: Property, mutation: Mutation) -> (Option<&'static str>, Stats) {
    let options = Options {
        property,
        workers: 1,
        ..Options::new(case.model)
    };
    let outcome = verify_mutated(&case.program, &options, mutation, &mut |_| {})
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let fault = match outcome.verdict {
        Verdict::Robust => None,
        Verdict::Violation(witness) => Some(witness.fault.kind()),
        Verdict::Unknown(reason) => panic!("{}: {reason}", case.name),
    };
    (fault, outcome.stats)
}

fn parse(name: &str, text: &str) -> Program {
    let source = Source::new(name, text);
    mini::parse(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

/// Random programs of every profile under every model, the profiles taking turns.
fn random_cases(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Case> {
    seeds.flat_map(|seed| {
        MODELS.into_iter().flat_map(move |model| {
            Profile::of(model).iter().map(move |&profile| Case {
                name: format!("{} {model}, seed {seed}", profile.name()),
                model,
                program: generate(&mut Random::new(seed), profile, model),
            })
        })
    })
}

/// A witness that says only what kind of fault was found: what a broken monitor sees need not be there.
pub(crate) fn unexplained(problem: &Problem) -> Witness {
    let nothing = StaleAccess {
        access: EventId(0),
        stale: EventId(0),
        stale_value: 0,
        missed: EventId(0),
    };
    let fault = match problem {
        Problem::Deadlock(_) => Fault::Deadlock {
            blocked: Vec::new(),
        },
        Problem::Step(failure) => {
            let (thread, pc) = (failure.thread, failure.pc);
            match failure.kind {
                FailureKind::Weak(_) => Fault::Weak(nothing),
                FailureKind::Observed(_) => Fault::Observed {
                    access: nothing,
                    user: (thread, pc),
                },
                FailureKind::Race(..) => Fault::Race {
                    first: EventId(0),
                    second: EventId(0),
                },
                FailureKind::Assertion => Fault::Assertion { thread, pc },
                FailureKind::Trap(error) => Fault::Trap { thread, pc, error },
                FailureKind::LocalLoop | FailureKind::NoCounter => {
                    unreachable!("a limit, not a fault")
                }
            }
        }
    };
    Witness {
        fault,
        schedule: Vec::new(),
        graph: Graph::initial([]),
        cycle: Vec::new(),
    }
}
