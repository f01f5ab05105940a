//! Locks that a program makes itself, read off the text (docs/theory/tso.md, T4).
//!
//! An address is a *lock* when it is 0 at first, and each write to it either takes it, not 0, in one step with a read of 0, by a thread
//! that does not hold it; or gives it back, 0, by the thread that holds it. Who holds it is known by the control state. Then it is 0
//! under SC iff nobody holds it, and two threads never do: every step keeps that.
//!
//! An attacker that holds a lock when it delays its first store delays giving it back, too. So no helper holds it during the attack, or
//! takes it.

use super::values::{Fact, Values, ValuesOf};
use crate::mutation::{Mutant, Mutation};
use rsan_model::automata::{Automata, Automaton, Op, StateId};
use rsan_model::{RegId, Value};
use std::collections::BTreeSet;

/// A lock: who holds it where.
pub(super) struct Lock {
    /// By thread and control state.
    pub(super) held: Vec<Vec<bool>>,
    /// By thread and transition: whether it is a step of somebody who does not hold it, and does not take it.
    pub(super) outside: Vec<Vec<bool>>,
}

/// All locks of a program.
pub(super) fn locks(automata: &Automata, values: &ValuesOf<'_>, mutation: Mutation) -> Vec<Lock> {
    let mut steps = automata.threads.iter().flat_map(|t| &t.transitions);
    if !steps.any(|step| matches!(step.op, Op::Lock | Op::Update { .. })) {
        return Vec::new();
    }
    let mut candidates: BTreeSet<Value> = BTreeSet::new();
    for (number, thread) in automata.threads.iter().enumerate() {
        let facts = (0..thread.transitions.len()).map(|t| values.fact(number, t));
        candidates.extend(facts.filter_map(|fact| fact.address.only()));
    }
    candidates.retain(|at| values.initial(*at) == 0);
    let lock = |at: Value| {
        let mut lock = Lock {
            held: Vec::new(),
            outside: Vec::new(),
        };
        let mut taken = false;
        for (number, thread) in automata.threads.iter().enumerate() {
            let first = values.alike(number);
            if first < number {
                lock.held.push(lock.held[first].clone());
                lock.outside.push(lock.outside[first].clone());
                continue;
            }
            let holder = Holder {
                at,
                thread: number,
                automaton: thread,
                values,
                mutation,
            };
            let (held, outside, takes) = holder.explore()?;
            taken |= takes;
            lock.held.push(held);
            lock.outside.push(outside);
        }
        taken.then_some(lock)
    };
    candidates.into_iter().filter_map(lock).collect()
}

/// A thread and an address that may be a lock.
struct Holder<'a> {
    at: Value,
    thread: usize,
    automaton: &'a Automaton,
    values: &'a ValuesOf<'a>,
    mutation: Mutation,
}

/// Where the thread is, and what it knows of the address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    state: StateId,
    held: bool,
    /// Whether it is between [`Op::Lock`] and [`Op::Unlock`], where nobody else writes.
    section: bool,
    /// The register that has what the address holds.
    copy: Option<RegId>,
}

/// What the operation at a place does to the lock.
enum Does {
    Nothing,
    Takes,
    Gives,
    /// Something that nobody does to a lock.
    Other,
}

impl Holder<'_> {
    /// In which control states the thread holds the lock, which of its transitions are outside, and whether one takes it; `None`
    /// if it is none.
    fn explore(&self) -> Option<(Vec<bool>, Vec<bool>, bool)> {
        let mut held: Vec<Option<bool>> = vec![None; self.automaton.states.len()];
        let mut outside = vec![false; self.automaton.transitions.len()];
        let mut takes = false;
        let start = Place {
            state: self.automaton.initial,
            held: false,
            section: false,
            copy: None,
        };
        let mut seen = BTreeSet::from([start]);
        let mut work = vec![start];
        while let Some(place) = work.pop() {
            // A place that is reached with the lock and without it is one where nothing is known.
            let known = held[place.state.index()].get_or_insert(place.held);
            if *known != place.held {
                return None;
            }
            for (number, step) in self.automaton.leaving(place.state) {
                let fact = self.values.fact(self.thread, number);
                if !fact.taken {
                    continue;
                }
                let mut after = self.after(place, &step.op, fact);
                after.state = step.to;
                match self.does(place, &step.op, fact) {
                    Does::Nothing => outside[number] = !place.held,
                    Does::Takes => (after.held, after.copy, takes) = (true, None, true),
                    Does::Gives => (after.held, after.copy) = (false, None),
                    Does::Other => return None,
                }
                if seen.insert(after) {
                    work.push(after);
                }
            }
        }
        let held = held.into_iter().map(|h| h == Some(true)).collect();
        Some((held, outside, takes))
    }

    fn does(&self, place: Place, op: &Op, fact: &Fact) -> Does {
        let writes = match op {
            Op::Write { .. } => true,
            Op::Update { value, .. } => value.is_some(),
            _ => false,
        };
        if !writes || !fact.address.contains(self.at) {
            return Does::Nothing;
        }
        if fact.address.only().is_none() {
            return Does::Other;
        }
        if place.held {
            let gives = fact.written.only() == Some(0);
            return if gives { Does::Gives } else { Does::Other };
        }
        let zero = |values: &Values| values.only() == Some(0);
        let was_free = match op {
            Op::Update { .. } => zero(&fact.old),
            _ => place.section && self.copied(place).is_some_and(zero),
        };
        let careless = self.mutation.breaks(Mutant::LocksTakenWithoutLooking);
        if (was_free || careless) && !fact.written.contains(0) {
            Does::Takes
        } else {
            Does::Other
        }
    }

    /// What the address holds, if a register has it.
    fn copied(&self, place: Place) -> Option<&Values> {
        self.values.register(self.thread, place.state, place.copy?)
    }

    /// Whether the thread is in a section after an operation, and what it knows then.
    fn after(&self, mut place: Place, op: &Op, fact: &Fact) -> Place {
        let set = match op {
            Op::Read { reg, .. } | Op::Assign { reg, .. } => Some(*reg),
            Op::Update { reg, .. } => *reg,
            _ => None,
        };
        if set.is_some() && set == place.copy {
            place.copy = None;
        }
        match op {
            Op::Lock => place.section = true,
            Op::Unlock => (place.section, place.copy) = (false, None),
            Op::Read { reg, .. } if place.section && fact.address.only() == Some(self.at) => {
                place.copy = Some(*reg);
            }
            _ => {}
        }
        place
    }
}
