//! Ways from stores to loads in the text of one thread.

use crate::mutation::{Mutant, Mutation};
use rsan_model::Value;
use rsan_model::automata::{Automaton, Op, StateId};
use std::collections::{BTreeSet, VecDeque};

/// The text of a thread.
pub(super) struct Text<'a> {
    automaton: &'a Automaton,
    /// By control state, the transitions that leave it.
    leaving: Vec<Vec<usize>>,
    /// By transition, the address of a load or a store if there is only one.
    constant: Vec<Option<Value>>,
    /// Those of its stores.
    stored: BTreeSet<Value>,
    mutation: Mutation,
}

impl<'a> Text<'a> {
    pub(super) fn new(
        automaton: &'a Automaton,
        constant: Vec<Option<Value>>,
        mutation: Mutation,
    ) -> Self {
        let mut leaving = vec![Vec::new(); automaton.states.len()];
        let mut stored = BTreeSet::new();
        for (number, transition) in automaton.transitions.iter().enumerate() {
            leaving[transition.from.index()].push(number);
            if matches!(transition.op, Op::Write { .. }) {
                stored.extend(constant[number]);
            }
        }
        Self {
            automaton,
            leaving,
            constant,
            stored,
            mutation,
        }
    }

    /// The control states on a shortest way from a store to one of these loads on which nothing drains the buffer, and no other
    /// store is what the load would see.
    pub(super) fn to_memory(
        &self,
        store: usize,
        loads: &[bool],
        fenced: &[bool],
    ) -> Option<Vec<StateId>> {
        let is_load = |number: usize| loads[number];
        let is_stored = |number: usize| self.constant[number].filter(|at| self.stored.contains(at));
        let mut best = self.way(store, fenced, None, &|load| {
            is_load(load) && is_stored(load).is_none()
        });
        let addresses = (0..loads.len()).filter(|l| is_load(*l));
        let addresses: BTreeSet<Value> = addresses.filter_map(is_stored).collect();
        for at in addresses {
            let way = self.way(store, fenced, Some(at), &|load| {
                is_load(load) && self.constant[load] == Some(at)
            });
            let shorter = |w: &Vec<StateId>| best.as_ref().is_none_or(|b| w.len() < b.len());
            if way.as_ref().is_some_and(shorter) {
                best = way;
            }
        }
        best
    }

    /// The control states on a shortest way from a store to one of these loads on which nothing drains the buffer, and nothing is
    /// stored at the address `hidden`.
    pub(super) fn way(
        &self,
        store: usize,
        fenced: &[bool],
        hidden: Option<Value>,
        is_load: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<StateId>> {
        let first = self.automaton.transitions[store].to;
        let mut came: Vec<Option<StateId>> = vec![None; self.leaving.len()];
        came[first.index()] = Some(first);
        let mut queue = VecDeque::from([first]);
        while let Some(at) = queue.pop_front() {
            if fenced[at.index()] {
                continue;
            }
            for &number in &self.leaving[at.index()] {
                if is_load(number) {
                    return Some(unwind(&came, at));
                }
                let transition = &self.automaton.transitions[number];
                let ends = transition.op.drains() || self.hides(number, hidden);
                if !ends && came[transition.to.index()].is_none() {
                    came[transition.to.index()] = Some(at);
                    queue.push_back(transition.to);
                }
            }
        }
        None
    }

    /// Whether a load from the address sees what this transition stores.
    fn hides(&self, number: usize, hidden: Option<Value>) -> bool {
        let stores = matches!(self.automaton.transitions[number].op, Op::Write { .. });
        let same = self.constant[number] == hidden;
        hidden.is_some() && stores && (same || self.mutation.breaks(Mutant::EveryStoreHides))
    }
}

fn unwind(came: &[Option<StateId>], last: StateId) -> Vec<StateId> {
    let mut way = vec![last];
    let mut at = last;
    while let Some(before) = came[at.index()].filter(|before| *before != at) {
        way.push(before);
        at = before;
    }
    way.sort_unstable();
    way
}
