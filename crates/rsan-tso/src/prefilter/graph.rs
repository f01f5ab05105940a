//! The accesses in the text of a program, and which may come before which.

use super::locks::{Lock, locks};
use super::values::{Values, ValuesOf};
use crate::mutation::{Mutant, Mutation};
use rsan_model::Value;
use rsan_model::automata::{Automata, Automaton, Op, StateId};
use std::collections::BTreeMap;

/// An access of memory in the text.
pub(super) struct Access {
    pub(super) thread: usize,
    pub(super) transition: usize,
    addresses: Values,
    writes: bool,
}

impl Access {
    fn may_meet(&self, other: &Self, mutation: Mutation) -> bool {
        let (a, b) = (&self.addresses, &other.addresses);
        let computed = a.only().is_none() || b.only().is_none();
        a.meets(b) && !(computed && mutation.breaks(Mutant::ComputedAddressesMeetNothing))
    }
}

/// The accesses of all threads and the edges of happens-before that may be between them.
pub(super) struct Graph<'a> {
    automata: &'a Automata,
    copies: bool,
    mutation: Mutation,
    pub(super) accesses: Vec<Access>,
    /// Accesses of other threads, and of copies, that conflict.
    pub(super) conflicting: Vec<Vec<usize>>,
    locks: Vec<Lock>,
    /// By thread and transition, the address of a load or a store if there is only one.
    pub(super) constant: Vec<Vec<Option<Value>>>,
}

/// What helpers may do during an attack: which accesses they make, and for each those of the same thread that may come earlier, or
/// belong to the same locked section.
struct Helpers {
    may: Vec<bool>,
    earlier: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(automata: &'a Automata, copies: bool, mutation: Mutation) -> Self {
        let values = ValuesOf::new(automata, copies, mutation);
        let locks = locks(automata, &values, mutation);
        Self::with(automata, copies, mutation, &values, locks)
    }

    /// With what the constants in the text say.
    pub(super) fn of_constants(automata: &'a Automata) -> Self {
        let values = ValuesOf::of_constants(automata);
        Self::with(automata, false, Mutation::default(), &values, Vec::new())
    }

    fn with(
        automata: &'a Automata,
        copies: bool,
        mutation: Mutation,
        values: &ValuesOf<'_>,
        locks: Vec<Lock>,
    ) -> Self {
        let mut accesses = Vec::new();
        let mut constant = Vec::new();
        for (thread, automaton) in automata.threads.iter().enumerate() {
            constant.push(vec![None; automaton.transitions.len()]);
            for (transition, t) in automaton.transitions.iter().enumerate() {
                let fact = values.fact(thread, transition);
                let writes = match &t.op {
                    Op::Read { .. } => false,
                    Op::Write { .. } => true,
                    Op::Update { value, .. } => value.is_some(),
                    _ => continue,
                };
                constant[thread][transition] = fact.address.only();
                if fact.taken {
                    accesses.push(Access {
                        thread,
                        transition,
                        addresses: fact.address.clone(),
                        writes,
                    });
                }
            }
        }
        let conflicting = accesses.iter().map(|a| {
            let others = accesses.iter().enumerate();
            let others = others.filter(|(_, b)| copies || a.thread != b.thread);
            others
                .filter(|(_, b)| (a.writes || b.writes) && a.may_meet(b, mutation))
                .filter(|(_, b)| {
                    a.writes && b.writes || !mutation.breaks(Mutant::OnlyWritesConflict)
                })
                .map(|(i, _)| i)
                .collect()
        });
        Self {
            conflicting: conflicting.collect(),
            automata,
            copies,
            mutation,
            accesses,
            locks,
            constant,
        }
    }

    /// For each thread its stores and, for each, the loads from which a path leads back.
    pub(super) fn pairs(&self) -> Vec<Vec<(usize, Vec<bool>)>> {
        let mut helpers = BTreeMap::new();
        let threads = 0..self.automata.threads.len();
        threads.map(|t| self.pairs_of(t, &mut helpers)).collect()
    }

    fn pairs_of(
        &self,
        thread: usize,
        helpers: &mut BTreeMap<Vec<usize>, Helpers>,
    ) -> Vec<(usize, Vec<bool>)> {
        let transitions = &self.automata.threads[thread].transitions;
        let is_mine = |i: &usize| self.accesses[*i].thread == thread;
        let is_helper = |i: &usize| self.copies || !is_mine(i);
        let op = |i: usize| &transitions[self.accesses[i].transition].op;
        let mut pairs = Vec::new();
        let mut known: BTreeMap<(&Values, Vec<usize>), Vec<bool>> = BTreeMap::new();
        for store in (0..self.accesses.len()).filter(is_mine) {
            if !matches!(op(store), Op::Write { .. }) {
                continue;
            }
            let addresses = &self.accesses[store].addresses;
            let held = self.held(store);
            let back = known
                .entry((addresses, held))
                .or_insert_with_key(|(_, held)| {
                    let helpers = helpers
                        .entry(held.clone())
                        .or_insert_with(|| self.helpers(held));
                    self.back(&self.conflicting[store], helpers, is_helper)
                });
            let mut loads = vec![false; transitions.len()];
            let mut any = false;
            for load in (0..self.accesses.len()).filter(is_mine) {
                // A load of the same address sees the delayed store.
                let own = addresses.only().is_some() && self.accesses[load].addresses == *addresses;
                if matches!(op(load), Op::Read { .. }) && !own {
                    let hit = self.conflicting[load].iter().any(|x| back[*x]);
                    loads[self.accesses[load].transition] = hit;
                    any |= hit;
                }
            }
            if any {
                pairs.push((self.accesses[store].transition, loads));
            }
        }
        pairs
    }

    /// The locks that a thread holds when it makes an access.
    fn held(&self, access: usize) -> Vec<usize> {
        let Access {
            thread, transition, ..
        } = self.accesses[access];
        let from = self.automata.threads[thread].transitions[transition].from;
        let locks = self.locks.iter().enumerate();
        locks
            .filter(|(_, lock)| lock.held[thread][from.index()])
            .map(|(number, _)| number)
            .collect()
    }

    /// What helpers may do while the attacker holds these locks.
    fn helpers(&self, held: &[usize]) -> Helpers {
        let may_take = |thread: usize, transition: usize| {
            held.iter()
                .all(|lock| self.locks[*lock].outside[thread][transition])
        };
        let threads = self.automata.threads.iter().enumerate();
        let reach: Vec<Vec<Vec<bool>>> = threads
            .map(|(number, t)| after_each(t, &|step| may_take(number, step), self.mutation))
            .collect();
        let may: Vec<bool> = self
            .accesses
            .iter()
            .map(|a| may_take(a.thread, a.transition))
            .collect();
        let earlier = self.accesses.iter().map(|a| {
            let same = self.accesses.iter().enumerate();
            let same = same.filter(|(i, b)| b.thread == a.thread && may[*i]);
            let from = self.automata.threads[a.thread].transitions[a.transition].from;
            same.filter(|(_, b)| reach[b.thread][b.transition][from.index()])
                .map(|(i, _)| i)
                .collect()
        });
        Helpers {
            earlier: earlier.collect(),
            may,
        }
    }

    /// All accesses of helpers from which one of these can be reached.
    fn back(
        &self,
        to: &[usize],
        helpers: &Helpers,
        is_helper: impl Fn(&usize) -> bool,
    ) -> Vec<bool> {
        let mut back = vec![false; self.accesses.len()];
        let may = |b: &usize| is_helper(b) && helpers.may[*b];
        let mut work: Vec<usize> = to.iter().copied().filter(may).collect();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut back[at], true) {
                let before = self.conflicting[at].iter().chain(&helpers.earlier[at]);
                work.extend(before.copied().filter(|b| may(b) && !back[*b]));
            }
        }
        back
    }
}

/// For each transition the control states that its thread may be in afterwards, or before if in the same locked section.
/// Only transitions that may be taken count.
fn after_each(
    thread: &Automaton,
    may_take: &dyn Fn(usize) -> bool,
    mutation: Mutation,
) -> Vec<Vec<bool>> {
    let close = |mut work: Vec<usize>| {
        let mut seen = vec![false; thread.states.len()];
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                let next = thread.leaving(StateId(at as u32));
                let next = next.filter(|(number, _)| may_take(*number));
                work.extend(next.map(|(_, t)| t.to.index()));
            }
        }
        seen
    };
    // The states inside of a section that each transition may lie in.
    let mut sections: Vec<Vec<usize>> = vec![Vec::new(); thread.transitions.len()];
    for lock in thread.transitions.iter().filter(|t| t.op == Op::Lock) {
        let mut inside = vec![false; thread.states.len()];
        let mut work = vec![lock.to];
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut inside[at.index()], true) {
                continue;
            }
            for (number, t) in thread.leaving(at).filter(|(n, _)| may_take(*n)) {
                sections[number].push(lock.to.index());
                if t.op != Op::Unlock {
                    work.push(t.to);
                }
            }
        }
    }
    let transitions = thread.transitions.iter().zip(sections);
    transitions
        .map(|(t, mut starts)| {
            if mutation.breaks(Mutant::SectionsAreOrdered) {
                starts.clear();
            }
            if !mutation.breaks(Mutant::NothingFollows) {
                starts.push(t.to.index());
            }
            close(starts)
        })
        .collect()
}
