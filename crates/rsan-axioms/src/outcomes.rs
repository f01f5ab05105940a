//! Final states of a program under a model, and its condition evaluated over them, as herd does.

use crate::enumerate::{Visitor, enumerate};
use crate::{Error, Execution, Limits};
use rsan_model::{
    Condition, LocId, Model, Observable, Pc, Program, Quantifier, Reason, RegId, Register,
    ThreadId, Value,
};
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

impl ConditionResult {
    /// So many executions with the condition, and so many without.
    pub(crate) fn new(quantifier: Quantifier, witnesses: u64, negative: u64) -> Self {
        Self {
            holds: match quantifier {
                Quantifier::Exists => witnesses > 0,
                Quantifier::NotExists => witnesses == 0,
                Quantifier::Forall => negative == 0,
            },
            witnesses,
            negative,
        }
    }
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
/// As [`executions`](crate::executions).
pub fn outcomes(program: &Program, model: Model, limits: &Limits) -> Result<Outcomes, Error> {
    outcomes_until(program, model, limits, &mut |_| None)
}

/// The final states that are found before `halt` gives a reason to end. It is asked every few graphs, with the memory in bytes that
/// what is kept takes.
///
/// # Errors
/// As [`executions`](crate::executions).
pub fn outcomes_until(
    program: &Program,
    model: Model,
    limits: &Limits,
    halt: &mut dyn FnMut(u64) -> Option<Reason>,
) -> Result<Outcomes, Error> {
    let registers = program.threads.iter().map(|t| t.registers.as_slice());
    let mentioned = (program.condition.as_ref(), program.observed.as_slice());
    let observables = observables(mentioned, registers, program.locations.len());
    let mut found = Found {
        program,
        observables: &observables,
        halt,
        states: BTreeMap::new(),
        witnesses: 0,
        negative: 0,
        blocked: 0,
        racy: false,
        failed_asserts: BTreeSet::new(),
        halted: None,
    };
    let summary = enumerate(program, model, limits, &mut found)?;
    let Found {
        states,
        witnesses,
        negative,
        blocked,
        racy,
        failed_asserts,
        halted,
        ..
    } = found;
    let condition = program.condition.as_ref();
    let condition = condition.map(|c| ConditionResult::new(c.quantifier, witnesses, negative));
    Ok(Outcomes {
        observables,
        states,
        condition,
        executions: summary.executions,
        blocked,
        racy,
        failed_asserts,
        cut: halted.or_else(|| summary.cut.reason(limits)),
    })
}

/// What was found so far.
struct Found<'p> {
    program: &'p Program,
    observables: &'p [Observable],
    halt: &'p mut dyn FnMut(u64) -> Option<Reason>,
    states: BTreeMap<FinalState, u64>,
    /// Executions that ended, with the condition and without.
    witnesses: u64,
    negative: u64,
    blocked: u64,
    racy: bool,
    failed_asserts: BTreeSet<(ThreadId, Pc)>,
    /// Why it ended.
    halted: Option<Reason>,
}

impl Visitor for Found<'_> {
    fn go_on(&mut self, memory: u64) -> ControlFlow<()> {
        let state = size_of::<FinalState>() + self.observables.len() * size_of::<Value>();
        let states = self.states.len() * (state + size_of::<u64>());
        self.halted = (self.halt)(memory + states as u64);
        match self.halted {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn complete(&mut self, execution: &Execution) -> ControlFlow<()> {
        self.racy |= execution.racy;
        self.blocked += u64::from(execution.blocked().next().is_some());
        self.failed_asserts.extend(execution.failed_asserts());
        if execution.all_ended() {
            let value = |o| value_of(execution, o);
            let state = FinalState(self.observables.iter().map(|&o| value(o)).collect());
            *self.states.entry(state).or_default() += 1;
            match &self.program.condition {
                Some(c) if c.prop.holds(&value) => self.witnesses += 1,
                _ => self.negative += 1,
            }
        }
        ControlFlow::Continue(())
    }
}

fn value_of(execution: &Execution, observable: Observable) -> Value {
    match observable {
        Observable::Reg(thread, register) => execution.register(thread, register),
        Observable::Loc(loc) => execution.memory(loc),
    }
}

/// What is observed of a program with this condition and these `observed`, with the registers of each thread.
pub(crate) fn observables<'p>(
    (condition, observed): (Option<&Condition>, &[Observable]),
    registers: impl Iterator<Item = &'p [Register]>,
    locations: usize,
) -> Vec<Observable> {
    let mut mentioned: BTreeSet<Observable> = observed.iter().copied().collect();
    if let Some(condition) = condition {
        condition.prop.for_each_observable(&mut |o| {
            mentioned.insert(o);
        });
    }
    if mentioned.is_empty() && condition.is_none() {
        mentioned = everything_named(registers, locations);
    }
    mentioned.into_iter().collect()
}

fn everything_named<'p>(
    threads: impl Iterator<Item = &'p [Register]>,
    locations: usize,
) -> BTreeSet<Observable> {
    let registers = threads.enumerate().flat_map(|(t, registers)| {
        let named = |(_, r): &(usize, &Register)| is_source_name(&r.name);
        let register = move |(r, _)| Observable::Reg(ThreadId::new(t), RegId::new(r));
        registers.iter().enumerate().filter(named).map(register)
    });
    let locations = (0..locations).map(|l| Observable::Loc(LocId::new(l)));
    registers.chain(locations).collect()
}

/// Whether a name can come from a source: an identifier, possibly indexed.
fn is_source_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
