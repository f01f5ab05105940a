//! `rsan verify --model tso`: robustness by attacks, and triangular races.

mod document;
mod words;

pub(crate) use document::{stats, violation, weak_execution};
pub(crate) use words::{Describe, sentence};

use crate::args::{Goal, LimitArgs, VerifyArgs};
use crate::input::{AnyInput, Content, failure};
use crate::session::Reply;
use rsan_model::automata::Automata;
use rsan_model::{Pc, Program, Reason};
use rsan_report::{Claim, Command, Judgement};
use rsan_tso::{AllInstances, FenceSet, Limits, Outcome, Translated, Verdict};
use rsan_verify::Property;
use std::sync::atomic::AtomicBool;

/// Automata can have infinitely many states, so there is always a limit.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// What was read, as automata.
pub(crate) struct TsoInput {
    pub(crate) subject: String,
    pub(crate) automata: Automata,
    /// For programs, what they were and the instruction that begins at each control state.
    pub(crate) origin: Option<TsoOrigin>,
}

/// The program that automata were made of.
pub(crate) struct TsoOrigin {
    pub(crate) program: Program,
    /// For each thread and control state, the instruction that begins there.
    pub(crate) places: Vec<Vec<Option<Pc>>>,
}

impl From<AnyInput> for TsoInput {
    fn from(input: AnyInput) -> Self {
        let subject = input.source.name;
        match input.content {
            Content::Automata(automata) => Self {
                subject,
                automata,
                origin: None,
            },
            Content::Program(program) => {
                let translated = Translated::from(&program);
                Self {
                    subject,
                    automata: translated.automata,
                    origin: Some(TsoOrigin {
                        program,
                        places: translated.places,
                    }),
                }
            }
        }
    }
}

/// The limits of a search.
pub(crate) fn limits<'a>(args: &LimitArgs, stop: &'a AtomicBool) -> Limits<'a> {
    Limits {
        memory: Some(args.memory_limit.unwrap_or(DEFAULT_MEMORY)),
        time: args.time_limit,
        workers: args.jobs,
        stop: Some(stop),
    }
}

/// Answers one input in the name of `command`.
///
/// # Errors
/// The complete message for the user.
pub(crate) fn answer(
    command: Command,
    args: &VerifyArgs,
    goal: Goal,
    stop: &AtomicBool,
    input: TsoInput,
) -> Result<Reply, String> {
    let limits = limits(&args.limits, stop);
    if args.parametric {
        return match goal {
            Goal::Search(Property::Robust) if !args.deadlock => {
                Ok(parametric(command, input, &limits))
            }
            _ => Err(failure(
                &input.subject,
                &"--parametric is about the property robust, without --deadlock",
            )),
        };
    }
    let (claim, mut outcome) = match goal {
        Goal::Search(Property::Robust) => {
            let outcome = rsan_tso::robustness(&input.automata, &FenceSet::default(), &limits);
            (Claim::Robust, outcome)
        }
        Goal::TriangularRaceFree => {
            let outcome = rsan_tso::triangular_races(&input.automata, &limits);
            (Claim::TriangularRaceFree, outcome)
        }
        Goal::Search(Property::Observational | Property::Safe) => {
            let message = "with --model tso there are the properties robust and trf";
            return Err(failure(&input.subject, &message));
        }
    };
    if args.deadlock && outcome.verdict == Verdict::Robust {
        outcome = rsan_tso::deadlocks(&input.automata, &limits);
    }
    Ok(reply(command, &input, claim, &outcome))
}

/// Answers for any number of copies of each thread.
fn parametric(command: Command, input: TsoInput, limits: &Limits<'_>) -> Reply {
    let (answer, stats) = rsan_tso::all_instances(&input.automata, limits);
    let templates = input.automata.threads.iter().map(|t| t.name.clone());
    let templates: Vec<String> = templates.collect();
    let outcome = |verdict| Outcome { verdict, stats };
    match answer {
        AllInstances::Robust => {
            let outcome = outcome(Verdict::Robust);
            reply(command, &input, Claim::RobustForAllInstances, &outcome)
        }
        AllInstances::Unknown(reason) => {
            let outcome = outcome(Verdict::Unknown(reason));
            reply(command, &input, Claim::RobustForAllInstances, &outcome)
        }
        AllInstances::Violation(instance) => {
            let size = words::instance(&templates, &instance.copies);
            let outcome = outcome(Verdict::Violation(Box::new(instance.computation)));
            let input = TsoInput {
                subject: input.subject,
                automata: instance.automata,
                origin: None,
            };
            let mut reply = reply(command, &input, Claim::RobustForAllInstances, &outcome);
            let note = format!("smallest instance that is not robust: {size}");
            reply.document.notes.push(note);
            reply
        }
        AllInstances::Fault(kind) => {
            let name = words::fault_name(kind);
            let reason = Reason::Unsupported(format!(
                "an instance fails under sequential consistency already: {name}"
            ));
            let outcome = outcome(Verdict::Unknown(reason));
            reply(command, &input, Claim::RobustForAllInstances, &outcome)
        }
    }
}

/// What a search says of its subject. Programs without triangular races are robust.
fn judgement(verdict: &Verdict) -> Judgement {
    match verdict {
        Verdict::Robust => Judgement::Robust,
        Verdict::Violation(_)
        | Verdict::TriangularRace(_)
        | Verdict::Fault(_)
        | Verdict::Deadlock(_) => Judgement::Violation,
        Verdict::Unknown(_) => Judgement::Unknown,
    }
}

fn reply(command: Command, input: &TsoInput, claim: Claim, outcome: &Outcome) -> Reply {
    Reply {
        status: judgement(&outcome.verdict).into(),
        document: document::document(command, input, claim, outcome),
        interrupted: outcome.verdict == Verdict::Unknown(Reason::Interrupted),
    }
}
