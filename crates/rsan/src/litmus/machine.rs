//! Tests of machines: assembly, and C that is compiled.

use super::{Answered, Question, nothing_known};
use crate::args::LitmusModel;
use crate::input::{Input, failure};
use crate::session::Reply;
use crate::terminal;
use rsan_axioms::machine::{Error, outcomes_until};
use rsan_axioms::{FinalState, Outcomes};
use rsan_mapping::{Target, assertions, compile};
use rsan_model::machine::{Machine, Program};
use rsan_model::{Model, Observable, Pc, RegId, Span, ThreadId};
use rsan_report::complaint;
use std::collections::BTreeMap;

/// An assembly test, by the model of its machine or by SC.
pub(super) fn assembly(
    question: &Question<'_>,
    subject: &str,
    program: &Program,
) -> Result<Reply, String> {
    let machine = machine(question, program).map_err(|message| failure(subject, &message))?;
    let outcomes = outcomes(question, subject, program, machine)?;
    let answered = Answered {
        subject,
        test: program,
        model: machine.into(),
        arch: None,
        failed: 0,
    };
    Ok(question.reply(&answered, &outcomes))
}

/// The machine whose model is wanted.
fn machine(question: &Question<'_>, program: &Program) -> Result<Machine, String> {
    let own = program.machine;
    if question.args.arch.is_some() {
        return Err(format!(
            "`--arch` compiles C tests; this one is assembly of {}",
            own.title()
        ));
    }
    match question.args.model {
        None => Ok(own),
        Some(LitmusModel::Language(Model::Sc)) => Ok(Machine::Sc),
        Some(LitmusModel::Machine(machine)) if machine == own => Ok(own),
        Some(LitmusModel::Machine(other)) => Err(not_for(other.name(), own)),
        Some(LitmusModel::Language(other)) => Err(not_for(other.name(), own)),
    }
}

fn not_for(model: &str, own: Machine) -> String {
    format!(
        "assembly of {} has no meaning under `{model}`; use `--model {own}` or `--model sc`",
        own.title()
    )
}

/// A C test as a machine runs it.
pub(super) fn compiled(
    question: &Question<'_>,
    input: &Input,
    target: &Target,
) -> Result<Reply, String> {
    let mut program = compile(&input.program, target).map_err(|unsupported| {
        let message = format!("{} cannot be compiled", unsupported.what);
        super::at(input, unsupported.thread, unsupported.pc, &message, "here")
    })?;
    let assertions = assertions(&input.program, &program);
    let failures = assertions
        .iter()
        .map(|&(thread, _, register)| Observable::Reg(thread, register));
    program.observed.extend(failures);
    let mut outcomes = outcomes(question, &input.subject, &program, target.machine)?;
    let failed = without_failures(&mut outcomes, &assertions);
    let arch = target.to_string();
    let answered = Answered {
        subject: &input.subject,
        test: &input.program,
        model: target.machine.into(),
        arch: Some(&arch),
        failed,
    };
    Ok(question.reply(&answered, &outcomes))
}

/// Takes executions that fail an assertion out of the final states, as they have none; how many there are.
fn without_failures(outcomes: &mut Outcomes, assertions: &[(ThreadId, Pc, RegId)]) -> u64 {
    let failure_at = |o: &Observable| {
        let found = assertions
            .iter()
            .find(|(thread, _, register)| *o == Observable::Reg(*thread, *register));
        found.map(|&(thread, pc, _)| (thread, pc))
    };
    let failures: Vec<_> = outcomes.observables.iter().map(failure_at).collect();
    let mut failed = 0;
    let mut states = BTreeMap::new();
    for (state, executions) in std::mem::take(&mut outcomes.states) {
        let values = state.0.iter().zip(&failures);
        let fails: Vec<_> = values
            .clone()
            .filter(|(value, _)| **value != 0)
            .filter_map(|(_, failure)| *failure)
            .collect();
        if fails.is_empty() {
            let kept = values.filter(|(_, failure)| failure.is_none());
            let kept = FinalState(kept.map(|(value, _)| *value).collect());
            *states.entry(kept).or_default() += executions;
        } else {
            failed += executions;
            outcomes.failed_asserts.extend(fails);
        }
    }
    outcomes.states = states;
    outcomes.observables.retain(|o| failure_at(o).is_none());
    failed
}

/// The final states, or why there are none to tell.
fn outcomes(
    question: &Question<'_>,
    subject: &str,
    program: &Program,
    machine: Machine,
) -> Result<Outcomes, String> {
    let mut halt = |memory| question.halt(memory);
    let outcomes = outcomes_until(program, machine, &question.limits(), &mut halt);
    let error = match outcomes {
        Ok(outcomes) => return Ok(outcomes),
        Err(error) => error,
    };
    let (thread, op, message) = match &error {
        Error::TooLarge { .. } => return Ok(nothing_known(&error)),
        Error::NoLocation {
            thread,
            op,
            address,
        } => {
            let message = format!("this accesses {address:#x}, where there is no location");
            (*thread, *op, message)
        }
        Error::Eval { thread, op, error } => (*thread, *op, error.to_string()),
    };
    let spans = &program.threads[thread.index()].spans;
    let span = spans.get(op).copied().unwrap_or(Span::new(0, 0));
    Err(match &program.source {
        Some(source) => complaint(source, span, &message, "here", terminal::stderr_style()),
        None => failure(subject, &message),
    })
}
