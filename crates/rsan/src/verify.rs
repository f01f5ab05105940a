//! `rsan verify`: exhaustive search under SC with a robustness monitor.

use crate::args::{Goal, VerifyArgs};
use crate::input::{self, Input, failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::session::{Reply, Session, accept_all, baseline};
use crate::status::Status;
use crate::{machines, terminal, tso};
use rsan_model::{Model, Reason, Verdict};
use rsan_report::{Checked, Claim, Command, Effort, complaint, document};
use rsan_verify::{Error, Options, Outcome, Property, Stats};
use std::sync::atomic::AtomicBool;

/// Verifies every input.
pub(crate) fn run(args: &VerifyArgs) -> Status {
    inputs(args, &args.files, accept_all, &mut |file, stop| {
        answer(Command::Verify, args, stop, file)
    })
}

/// How one input is answered: its name, and whether the user asked to end.
pub(crate) type Engine<'a> = dyn FnMut(&str, &AtomicBool) -> Result<Reply, String> + 'a;

/// Answers every input that is not refused with `engine`.
pub(crate) fn inputs(
    args: &VerifyArgs,
    files: &[String],
    refuse: fn(&str) -> Option<String>,
    engine: &mut Engine<'_>,
) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let session = Session {
        files,
        baseline: baseline.as_ref(),
        fail_on: args.report.fail_on,
        rendering: args.report.rendering(),
        dot: args.dot.as_deref(),
        refuse,
    };
    session.run(&mut |file| engine(file, &stop))
}

fn options<'a>(
    args: &VerifyArgs,
    model: Model,
    property: Property,
    stop: &'a AtomicBool,
) -> Options<'a> {
    Options {
        property,
        deadlock: args.deadlock,
        ..args.limits.options(model, stop)
    }
}

/// Verifies one input in the name of `command`.
///
/// # Errors
/// The complete message for the user.
pub(crate) fn answer(
    command: Command,
    args: &VerifyArgs,
    stop: &AtomicBool,
    file: &str,
) -> Result<Reply, String> {
    let input = input::read_any(file, terminal::stderr_style())?;
    let model = input.model(args.model);
    let property = match (model, args.property) {
        (Model::Tso, goal) => {
            return tso::answer(command, args, goal, stop, input.into());
        }
        (_, Goal::Search(_)) if args.parametric => {
            let message = "any number of copies is decided for TSO only: use --model tso";
            return Err(failure(file, &message));
        }
        (_, Goal::Search(property)) => property,
        (_, Goal::TriangularRaceFree) => {
            let message = "triangular races are a matter of TSO: use --model tso";
            return Err(failure(file, &message));
        }
    };
    let input = &input.program()?;
    let mut progress = Progress::new(&input.subject);
    let outcome = rsan_verify::verify(
        &input.program,
        &options(args, model, property, stop),
        &mut |stats| {
            progress.update(stats);
        },
    );
    drop(progress);
    let outcome = settle(outcome, input)?;
    let checked = Checked {
        command,
        subject: &input.subject,
        program: &input.program,
        model,
        claim: claim(property),
        verdict: &outcome.verdict,
        effort: effort(&outcome.stats),
    };
    let mut document = document(&checked);
    if let (Verdict::Violation(witness), Some(finding)) =
        (&outcome.verdict, document.findings.first_mut())
    {
        finding.machines = machines::of_witness(&input.program, witness);
    }
    Ok(Reply {
        status: checked.judgement().into(),
        document,
        interrupted: outcome.verdict == Verdict::Unknown(Reason::Interrupted),
    })
}

/// An engine's refusal: a limit of the engine leaves the question open, the rest is the user's to change.
pub(crate) fn settle(outcome: Result<Outcome, Error>, input: &Input) -> Result<Outcome, String> {
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(Error::TooLarge(what)) => Ok(Outcome {
            verdict: Verdict::Unknown(Reason::TooLarge(what)),
            stats: Stats::default(),
        }),
        Err(error @ Error::ScAccess { thread, pc, .. }) => {
            let message = error.to_string();
            let thread = &input.program.threads[thread.index()];
            Err(match &input.program.source {
                Some(source) => {
                    let style = crate::terminal::stderr_style();
                    complaint(source, thread.span(pc), &message, "a seq_cst access", style)
                }
                None => failure(&input.subject, &message),
            })
        }
        Err(error @ Error::Model(_)) => Err(failure(&input.subject, &error)),
    }
}

fn claim(property: Property) -> Claim {
    match property {
        Property::Robust => Claim::Robust,
        Property::Observational => Claim::Observational,
        Property::Safe => Claim::Safe,
    }
}

fn effort(stats: &Stats) -> Effort {
    Effort {
        states: stats.states,
        transitions: stats.transitions,
        depth: stats.depth,
        memory: stats.memory,
        elapsed: stats.elapsed,
    }
}
