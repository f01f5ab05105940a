//! `rsan litmus`: the final states that a model allows, from the axiomatic oracle.

mod machine;
mod sharded;

use crate::args::{LitmusArgs, LitmusModel};
use crate::input::{self, Input, LitmusInput, failure};
use crate::interrupt;
use crate::session::{Reply, Session, accept_all, baseline};
use crate::status::Status;
use crate::terminal;
use rsan_axioms::{Error, Limits, Outcomes, outcomes_until};
use rsan_model::{Model, Pc, Reason, ThreadId};
use rsan_report::document::Rules;
use rsan_report::{Final, Judgement, Litmus, Test, complaint, litmus_document};
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
    if let Some(shard) = &args.shard.shard {
        return sharded::run(args, shard, session, &stop);
    }
    session.run(&mut |file| {
        let input = input::read_litmus(file, terminal::stderr_style())?;
        answer(args, &input, &stop)
    })
}

fn answer(args: &LitmusArgs, input: &LitmusInput, stop: &AtomicBool) -> Result<Reply, String> {
    let question = Question {
        args,
        stop,
        start: Instant::now(),
    };
    let input = match input {
        LitmusInput::Assembly(program, source) => {
            return machine::assembly(&question, &source.name, program);
        }
        LitmusInput::Program(input) => input,
    };
    match (args.arch, args.model) {
        (Some(target), _) => machine::compiled(&question, input, &target),
        (None, None) => language(&question, input, Model::C20),
        (None, Some(LitmusModel::Language(model))) => language(&question, input, model),
        (None, Some(LitmusModel::Machine(machine))) => {
            let message = format!(
                "`--model {machine}` is for assembly; `--arch {machine}` compiles this test for it"
            );
            Err(failure(&input.subject, &message))
        }
    }
}

/// What is asked about an input, and until when.
struct Question<'a> {
    args: &'a LitmusArgs,
    stop: &'a AtomicBool,
    start: Instant,
}

impl Question<'_> {
    fn limits(&self) -> Limits {
        Limits {
            unroll: self.args.unroll,
            ..Limits::default()
        }
    }

    /// Why to end now, if there is a reason; `memory` is what the executions take.
    fn halt(&self, memory: u64) -> Option<Reason> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        let limit = self.args.time_limit;
        if limit.is_some_and(|limit| self.start.elapsed() >= limit) {
            return Some(Reason::TimeLimit);
        }
        let full = self.args.memory_limit.is_some_and(|limit| memory > limit);
        full.then_some(Reason::MemoryLimit)
    }

    /// The answer that the outcomes of a test are.
    fn reply(&self, answered: &Answered<'_>, outcomes: &Outcomes) -> Reply {
        let finals: Vec<_> = outcomes
            .states
            .iter()
            .map(|(state, &executions)| Final {
                values: state.0.clone(),
                executions,
            })
            .collect();
        let failed_asserts: Vec<_> = outcomes.failed_asserts.iter().copied().collect();
        let litmus = Litmus {
            subject: answered.subject,
            program: answered.test,
            model: answered.model,
            arch: answered.arch,
            observables: &outcomes.observables,
            finals: &finals,
            incomplete: outcomes.cut.as_ref(),
            blocked: outcomes.blocked,
            failed: answered.failed,
            data_race: outcomes.racy,
            failed_asserts: &failed_asserts,
            elapsed: self.start.elapsed(),
        };
        Reply {
            status: Judgement::from(litmus.answer()).into(),
            document: litmus_document(&litmus),
            interrupted: outcomes.cut == Some(Reason::Interrupted),
        }
    }
}

/// A test that was answered.
struct Answered<'a> {
    subject: &'a str,
    test: &'a dyn Test,
    model: Rules,
    arch: Option<&'a str>,
    /// Executions that stop at a failed assertion or a trap.
    failed: u64,
}

/// By a model of a language.
fn language(question: &Question<'_>, input: &Input, model: Model) -> Result<Reply, String> {
    let mut halt = |memory| question.halt(memory);
    let outcomes = outcomes_until(&input.program, model, &question.limits(), &mut halt);
    let outcomes = settle(outcomes, model, input)?;
    let ended: u64 = outcomes.states.values().sum();
    let answered = Answered {
        subject: &input.subject,
        test: &input.program,
        model: model.into(),
        arch: None,
        failed: outcomes.executions.saturating_sub(ended + outcomes.blocked),
    };
    Ok(question.reply(&answered, &outcomes))
}

/// The oracle's refusal: a limit of the oracle leaves the question open, the rest is the user's to change.
fn settle(
    outcomes: Result<Outcomes, Error>,
    model: Model,
    input: &Input,
) -> Result<Outcomes, String> {
    let error = match outcomes {
        Ok(outcomes) => return Ok(outcomes),
        Err(error) => error,
    };
    match error {
        Error::TooLarge { .. } => Ok(nothing_known(&error)),
        Error::ScAccess { thread, pc } => {
            Err(at(input, thread, pc, &sc_access(model), "a seq_cst access"))
        }
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

fn nothing_known(error: &dyn std::fmt::Display) -> Outcomes {
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
