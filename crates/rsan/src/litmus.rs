//! `rsan litmus`: the final states that a model allows, from the axiomatic oracle.

use crate::args::LitmusArgs;
use crate::input::{self, Input, failure};
use crate::interrupt;
use crate::session::{Reply, Session, accept_all, baseline};
use crate::status::Status;
use crate::terminal;
use rsan_axioms::{Error, Limits, Outcomes, outcomes_until};
use rsan_model::{Model, Pc, Reason, ThreadId};
use rsan_report::{Final, Judgement, Litmus, complaint, litmus_document};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Answers every input.
pub(crate) fn run(args: &LitmusArgs) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let session = Session {
        files: &args.files,
        baseline: baseline.as_ref(),
        fail_on: args.report.fail_on,
        rendering: args.report.rendering(),
        dot: None,
        refuse: accept_all,
    };
    session.run(&mut |file| {
        let input = input::read(file, terminal::stderr_style())?;
        answer(args, &input, &stop)
    })
}

fn answer(args: &LitmusArgs, input: &Input, stop: &AtomicBool) -> Result<Reply, String> {
    let start = Instant::now();
    let limits = Limits {
        unroll: args.unroll,
        ..Limits::default()
    };
    let mut halt = |memory: u64| {
        if stop.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        if args
            .time_limit
            .is_some_and(|limit| start.elapsed() >= limit)
        {
            return Some(Reason::TimeLimit);
        }
        let full = args.memory_limit.is_some_and(|limit| memory > limit);
        full.then_some(Reason::MemoryLimit)
    };
    let outcomes = outcomes_until(&input.program, args.model, &limits, &mut halt);
    let outcomes = settle(outcomes, args, input)?;
    let finals: Vec<_> = outcomes
        .states
        .iter()
        .map(|(state, &executions)| Final {
            values: state.0.clone(),
            executions,
        })
        .collect();
    let ended: u64 = outcomes.states.values().sum();
    let failed_asserts: Vec<_> = outcomes.failed_asserts.iter().copied().collect();
    let litmus = Litmus {
        subject: &input.subject,
        program: &input.program,
        model: args.model,
        observables: &outcomes.observables,
        finals: &finals,
        incomplete: outcomes.cut.as_ref(),
        blocked: outcomes.blocked,
        failed: outcomes.executions.saturating_sub(ended + outcomes.blocked),
        data_race: outcomes.racy,
        failed_asserts: &failed_asserts,
        elapsed: start.elapsed(),
    };
    Ok(Reply {
        status: Judgement::from(litmus.answer()).into(),
        document: litmus_document(&litmus),
        interrupted: outcomes.cut == Some(Reason::Interrupted),
    })
}

/// The oracle's refusal: a limit of the oracle leaves the question open, the rest is the user's to change.
fn settle(
    outcomes: Result<Outcomes, Error>,
    args: &LitmusArgs,
    input: &Input,
) -> Result<Outcomes, String> {
    let error = match outcomes {
        Ok(outcomes) => return Ok(outcomes),
        Err(error) => error,
    };
    match error {
        Error::TooLarge { .. } => Ok(nothing_known(&error)),
        Error::ScAccess { thread, pc } => Err(at(
            input,
            thread,
            pc,
            &sc_access(args.model),
            "a seq_cst access",
        )),
        Error::BadSpawn { thread, pc } => {
            let message = "a thread is created twice, or one that runs from the beginning is created or joined";
            Err(at(input, thread, pc, message, "here"))
        }
    }
}

fn sc_access(model: Model) -> String {
    format!(
        "model `{model}` has no seq_cst accesses; use `--model c20` or `--model rc11`, which define them"
    )
}

fn nothing_known(error: &Error) -> Outcomes {
    Outcomes {
        observables: vec![],
        states: Default::default(),
        condition: None,
        executions: 0,
        blocked: 0,
        racy: false,
        failed_asserts: Default::default(),
        cut: Some(Reason::TooLarge(error.to_string())),
    }
}

fn at(input: &Input, thread: ThreadId, pc: Pc, message: &str, label: &str) -> String {
    let span = input.program.threads[thread.index()].span(pc);
    match &input.program.source {
        Some(source) => complaint(source, span, message, label, terminal::stderr_style()),
        None => failure(&input.subject, &message),
    }
}
