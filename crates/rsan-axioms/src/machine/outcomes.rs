//! Final states of a program on a machine, and its condition evaluated over them, as herd does.

use super::{Candidate, Error, executions_until};
use crate::outcomes::observables;
use crate::{ConditionResult, FinalState, Limits, Outcomes};
use rsan_model::machine::{Machine, Program};
use rsan_model::{Observable, Reason, Value};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The final states of `program` on `machine`.
///
/// # Errors
/// As [`executions`](super::executions).
pub fn outcomes(program: &Program, machine: Machine, limits: &Limits) -> Result<Outcomes, Error> {
    outcomes_until(program, machine, limits, &mut |_| None)
}

/// The final states that are found before `halt` gives a reason to end. It is asked often, with the memory in bytes that
/// is in use. Only states that satisfy the program's `filter` count.
///
/// # Errors
/// As [`executions`](super::executions).
pub fn outcomes_until(
    program: &Program,
    machine: Machine,
    limits: &Limits,
    halt: &mut dyn FnMut(u64) -> Option<Reason>,
) -> Result<Outcomes, Error> {
    let registers = program.threads.iter().map(|t| t.registers.as_slice());
    let mentioned = (program.condition.as_ref(), program.observed.as_slice());
    let observables = observables(mentioned, registers, program.locations.len());
    let mut states: BTreeMap<FinalState, u64> = BTreeMap::new();
    let (mut witnesses, mut negative) = (0, 0);
    let mut halted = None;
    let kept = Cell::new(0);
    let size = size_of::<FinalState>() + observables.len() * size_of::<Value>() + 8;
    let mut ask = |memory: u64| {
        halted = halt(memory + kept.get());
        halted.clone()
    };
    let mut visit = |execution: &Candidate| {
        let value = |o| value_of(execution, o);
        if program.filter.as_ref().is_some_and(|f| !f.holds(&value)) {
            return ControlFlow::Continue(());
        }
        let state = FinalState(observables.iter().map(|&o| value(o)).collect());
        *states.entry(state).or_default() += 1;
        kept.set((states.len() * size) as u64);
        match &program.condition {
            Some(c) if c.prop.holds(&value) => witnesses += 1,
            _ => negative += 1,
        }
        ControlFlow::Continue(())
    };
    let summary = executions_until(program, machine, limits, &mut ask, &mut visit)?;
    let condition = program.condition.as_ref();
    Ok(Outcomes {
        condition: condition.map(|c| ConditionResult::new(c.quantifier, witnesses, negative)),
        observables,
        states,
        executions: summary.executions,
        blocked: 0,
        racy: false,
        failed_asserts: BTreeSet::new(),
        cut: halted.or_else(|| summary.cut.reason(limits)),
    })
}

fn value_of(execution: &Candidate, observable: Observable) -> Value {
    match observable {
        Observable::Reg(thread, register) => execution.registers[thread.index()][register.index()],
        Observable::Loc(loc) => execution.memory[loc.index()],
    }
}
