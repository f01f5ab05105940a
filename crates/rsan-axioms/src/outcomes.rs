//! Final states of a program under a model, and its condition evaluated over them, as herd does.

use crate::{Error, Execution, Limits, executions};
use rsan_model::{Model, Observable, Pc, Program, Quantifier, Reason, RegId, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The values of [`Outcomes::observables`], in their order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FinalState(pub Vec<Value>);

/// The condition, evaluated over the executions in which every thread ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionResult {
    /// Whether the condition holds with its quantifier.
    pub holds: bool,
    /// Executions whose final state satisfies the formula, whatever the quantifier.
    pub witnesses: u64,
    /// Executions whose final state does not.
    pub negative: u64,
}

/// What a program can end with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcomes {
    /// What is observed: what the condition and `observed` mention, registers first; when they mention nothing,
    /// every register and location that has a name in the source.
    pub observables: Vec<Observable>,
    /// The final states of executions in which every thread ended, with the number of those executions.
    pub states: BTreeMap<FinalState, u64>,
    /// The condition's value; `None` when the program has none.
    pub condition: Option<ConditionResult>,
    /// Number of complete executions, blocked ones and failed ones included.
    pub executions: u64,
    /// Of these, the executions in which some thread waits for ever.
    pub blocked: u64,
    /// Whether some execution has a data race.
    pub racy: bool,
    /// The assertions that fail in some execution.
    pub failed_asserts: BTreeSet<(ThreadId, Pc)>,
    /// Why this is not everything, if it is not.
    pub cut: Option<Reason>,
}

/// The final states of `program` under `model`.
///
/// # Errors
/// As [`executions`].
pub fn outcomes(program: &Program, model: Model, limits: &Limits) -> Result<Outcomes, Error> {
    let observables = observables(program);
    let mut states = BTreeMap::new();
    let (mut witnesses, mut negative, mut blocked, mut racy) = (0, 0, 0, false);
    let mut failed_asserts = BTreeSet::new();
    let summary = executions(program, model, limits, &mut |execution| {
        racy |= execution.racy;
        blocked += u64::from(execution.blocked().next().is_some());
        failed_asserts.extend(execution.failed_asserts());
        if execution.all_ended() {
            let value = |o| value_of(execution, o);
            let state = FinalState(observables.iter().map(|&o| value(o)).collect());
            *states.entry(state).or_default() += 1;
            match &program.condition {
                Some(c) if c.prop.holds(&value) => witnesses += 1,
                _ => negative += 1,
            }
        }
        ControlFlow::Continue(())
    })?;
    let condition = program.condition.as_ref().map(|c| ConditionResult {
        holds: match c.quantifier {
            Quantifier::Exists => witnesses > 0,
            Quantifier::NotExists => witnesses == 0,
            Quantifier::Forall => negative == 0,
        },
        witnesses,
        negative,
    });
    Ok(Outcomes {
        observables,
        states,
        condition,
        executions: summary.executions,
        blocked,
        racy,
        failed_asserts,
        cut: summary.cut.reason(limits),
    })
}

fn value_of(execution: &Execution, observable: Observable) -> Value {
    match observable {
        Observable::Reg(thread, register) => execution.register(thread, register),
        Observable::Loc(loc) => execution.memory(loc),
    }
}

fn observables(program: &Program) -> Vec<Observable> {
    let mut mentioned: BTreeSet<Observable> = program.observed.iter().copied().collect();
    if let Some(condition) = &program.condition {
        condition.prop.for_each_observable(&mut |o| {
            mentioned.insert(o);
        });
    }
    if mentioned.is_empty() && program.condition.is_none() {
        mentioned = everything_named(program);
    }
    mentioned.into_iter().collect()
}

fn everything_named(program: &Program) -> BTreeSet<Observable> {
    let registers = program.threads.iter().enumerate().flat_map(|(t, thread)| {
        let named = |(_, r): &(usize, &rsan_model::Register)| is_source_name(&r.name);
        let register = move |(r, _)| Observable::Reg(ThreadId::new(t), RegId::new(r));
        thread
            .registers
            .iter()
            .enumerate()
            .filter(named)
            .map(register)
    });
    let locations =
        (0..program.locations.len()).map(|l| Observable::Loc(rsan_model::LocId::new(l)));
    registers.chain(locations).collect()
}

/// Whether a name can come from a source: an identifier, possibly indexed.
fn is_source_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
