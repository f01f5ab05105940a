//! Which values registers and memory may hold, read off the text (docs/theory/tso.md, T4).
//!
//! *Decides*: for each transition, a superset of the addresses that it accesses and of the values that it reads and writes, in every TSO
//! computation.
//!
//! *Method*: the control states of each thread are followed, over and over. What a thread reads is one of the values that anybody
//! writes there, or the initial one; where nobody else writes it is what the thread itself wrote last, whether from its
//! buffer or from memory.
//!
//! *It ends*: in round n what is read are values that were known to be written in earlier rounds, so it finds all writes before which
//! no chain of more than n writes lies, each read by the thread of the next. When no write is part of a loop there are no longer
//! chains than writes in the text, so many rounds are enough; else what still grows after some rounds may be anything.

mod set;
mod step;

use crate::alike::first_alike;
use crate::compiled::address;
use crate::mutation::Mutation;
use rsan_model::automata::{Automata, Automaton, Op, StateId};
use rsan_model::{RegId, Value};
pub(super) use set::Values;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds before what still grows may be anything, unless fewer are enough; and writes of a text that are followed one after the other.
const ROUNDS: usize = 24;
const LONGEST: usize = 256;

/// What a transition may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fact {
    /// Whether it may be taken at all.
    pub(super) taken: bool,
    /// Where it accesses memory.
    pub(super) address: Values,
    /// What an update finds there when it passes.
    pub(super) old: Values,
    /// What it writes.
    pub(super) written: Values,
}

/// The values of one thread in a control state.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Local {
    regs: Vec<Values>,
    /// What the thread would read at the addresses that it has written, if nobody else writes there.
    own: BTreeMap<Value, Values>,
}

/// What the text says about values.
pub(super) struct ValuesOf<'a> {
    automata: &'a Automata,
    mutation: Mutation,
    /// The thread that each thread is like.
    alike: Vec<usize>,
    /// Whether each thread may have several copies.
    copies: bool,
    /// By thread, whether none is like it.
    alone: Vec<bool>,
    /// By thread and control state; `None` where it never comes. Threads that are like an earlier one have nothing.
    before: Vec<Vec<Option<Local>>>,
    /// By thread and transition.
    facts: Vec<Vec<Fact>>,
    /// Who writes an address, and what.
    written: BTreeMap<Value, (BTreeSet<usize>, Values)>,
    /// Whether somebody writes at addresses that are not known.
    anywhere: bool,
}

impl<'a> ValuesOf<'a> {
    /// `copies` says whether each thread may have several.
    pub(super) fn new(automata: &'a Automata, copies: bool, mutation: Mutation) -> Self {
        let mut values = Self::unknown(automata, copies, mutation);
        if values.is_worthwhile() {
            values.solve();
        } else {
            values.by_constants();
        }
        values
    }

    /// What the constants in the text say.
    pub(super) fn of_constants(automata: &'a Automata) -> Self {
        let mut values = Self::unknown(automata, false, Mutation::default());
        values.by_constants();
        values
    }

    fn unknown(automata: &'a Automata, copies: bool, mutation: Mutation) -> Self {
        let alike = first_alike(automata);
        let count = |t: usize| alike.iter().filter(|a| **a == t).count();
        let threads = 0..automata.threads.len();
        let mut values = Self {
            automata,
            mutation,
            copies,
            alone: threads.map(|t| !copies && count(t) == 1).collect(),
            alike,
            before: Vec::new(),
            facts: Vec::new(),
            written: BTreeMap::new(),
            anywhere: false,
        };
        values.begin();
        values
    }

    pub(super) fn fact(&self, thread: usize, transition: usize) -> &Fact {
        &self.facts[self.alike[thread]][transition]
    }

    /// What a register may hold in a control state.
    pub(super) fn register(&self, thread: usize, state: StateId, reg: RegId) -> Option<&Values> {
        let before = self.before[self.alike[thread]][state.index()].as_ref()?;
        Some(&before.regs[reg.index()])
    }

    pub(super) fn initial(&self, at: Value) -> Value {
        let mut memory = self.automata.memory.iter();
        memory
            .find(|(a, _)| *a == at)
            .map_or(0, |(_, value)| *value)
    }

    /// The thread that this one is like.
    pub(super) fn alike(&self, thread: usize) -> usize {
        self.alike[thread]
    }

    fn begin(&mut self) {
        let none = Fact {
            taken: false,
            address: Values::NONE,
            old: Values::NONE,
            written: Values::NONE,
        };
        for (number, thread) in self.automata.threads.iter().enumerate() {
            let mut before = vec![None; thread.states.len()];
            if self.alike[number] == number {
                before[thread.initial.index()] = Some(Local {
                    regs: thread.registers.iter().map(|r| Values::one(r.1)).collect(),
                    own: BTreeMap::new(),
                });
            }
            self.before.push(before);
            self.facts
                .push(vec![none.clone(); thread.transitions.len()]);
        }
    }

    /// Whether some address is computed, or there may be locks: else constants say all that matters.
    fn is_worthwhile(&self) -> bool {
        let mut all = self.automata.threads.iter().flat_map(|t| &t.transitions);
        all.any(|t| match &t.op {
            Op::Read { addr, .. } | Op::Write { addr, .. } => addr.as_const().is_none(),
            Op::Update { .. } | Op::Lock => true,
            _ => false,
        })
    }

    fn by_constants(&mut self) {
        for (thread, facts) in self.automata.threads.iter().zip(&mut self.facts) {
            for (transition, fact) in thread.transitions.iter().zip(facts) {
                fact.taken = true;
                fact.old = Values::ANY;
                fact.written = Values::ANY;
                if let Op::Read { addr, .. } | Op::Write { addr, .. } | Op::Update { addr, .. } =
                    &transition.op
                {
                    let constant = addr.as_const().map(address);
                    fact.address = constant.map_or(Values::ANY, Values::one);
                }
            }
        }
    }

    fn solve(&mut self) {
        let enough = self.longest_chain();
        for round in 0.. {
            for thread in 0..self.automata.threads.len() {
                if self.alike[thread] == thread {
                    self.settle(thread);
                }
            }
            let over = enough == Some(round);
            if over || !self.publish(enough.is_none() && round >= ROUNDS) {
                return;
            }
        }
    }

    /// How many writes there can be in a computation, if there are not too many.
    fn longest_chain(&self) -> Option<usize> {
        let mut writes = 0;
        for thread in &self.automata.threads {
            let in_loop = in_loop(thread);
            for step in thread.transitions.iter().filter(|t| writes_memory(&t.op)) {
                if in_loop[step.from.index()] && in_loop[step.to.index()] {
                    return None;
                }
                writes += 1;
            }
        }
        (writes <= LONGEST && !self.copies).then_some(writes)
    }

    /// Follows the transitions of a thread until nothing changes, with what is known to be written.
    fn settle(&mut self, number: usize) {
        let thread = &self.automata.threads[number];
        let mut changed = true;
        for pass in 0.. {
            if !std::mem::take(&mut changed) {
                return;
            }
            for (transition, step) in thread.transitions.iter().enumerate() {
                let Some(mut local) = self.before[number][step.from.index()].clone() else {
                    continue;
                };
                let Some(fact) = self.follow(number, &step.op, &mut local) else {
                    continue;
                };
                self.facts[number][transition] = fact;
                changed |= self.arrive(number, step.to, local, pass >= ROUNDS);
            }
        }
    }

    /// A thread comes to a control state. With `widen`, what grows may be anything.
    fn arrive(&mut self, thread: usize, state: StateId, local: Local, widen: bool) -> bool {
        let initial = |at: &Value| {
            let mut memory = self.automata.memory.iter();
            Values::one(memory.find(|(a, _)| a == at).map_or(0, |(_, v)| *v))
        };
        let Some(known) = &mut self.before[thread][state.index()] else {
            self.before[thread][state.index()] = Some(local);
            return true;
        };
        let mut changed = false;
        for (mine, new) in known.regs.iter_mut().zip(&local.regs) {
            changed |= grow(mine, new, widen);
        }
        for at in local.own.keys() {
            known.own.entry(*at).or_insert_with(|| {
                changed = true;
                initial(at)
            });
        }
        for (at, mine) in &mut known.own {
            let new = local.own.get(at).cloned();
            changed |= grow(mine, &new.unwrap_or_else(|| initial(at)), widen);
        }
        changed
    }

    /// Others may read what is written; says whether that is more than before.
    fn publish(&mut self, widen: bool) -> bool {
        let mut changed = false;
        for (thread, automaton) in self.automata.threads.iter().enumerate() {
            let facts = automaton.transitions.iter().zip(&self.facts[thread]);
            for (_, fact) in facts.filter(|(step, fact)| writes_memory(&step.op) && fact.taken) {
                let Values::Few(addresses) = &fact.address else {
                    changed |= !std::mem::replace(&mut self.anywhere, true);
                    continue;
                };
                for at in addresses {
                    let new = || (BTreeSet::new(), Values::NONE);
                    let (writers, values) = self.written.entry(*at).or_insert_with(new);
                    changed |= writers.insert(thread);
                    changed |= grow(values, &fact.written, widen);
                }
            }
        }
        changed
    }
}

/// Adds values; says whether there are more now.
fn grow(values: &mut Values, new: &Values, widen: bool) -> bool {
    let grows = values.join(new);
    if grows && widen {
        *values = Values::ANY;
    }
    grows
}

fn writes_memory(op: &Op) -> bool {
    match op {
        Op::Write { .. } => true,
        Op::Update { value, .. } => value.is_some(),
        _ => false,
    }
}

/// By control state, whether the thread may come there again.
fn in_loop(thread: &Automaton) -> Vec<bool> {
    let mut next = vec![Vec::new(); thread.states.len()];
    for step in &thread.transitions {
        next[step.from.index()].push(step.to.index());
    }
    let comes_back = |state: usize| {
        let mut seen = vec![false; next.len()];
        let mut work = next[state].clone();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                work.extend(&next[at]);
            }
        }
        seen[state]
    };
    (0..next.len()).map(comes_back).collect()
}
