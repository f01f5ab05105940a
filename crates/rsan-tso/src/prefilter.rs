//! What the text of a program says about attacks: which stores can be delayed past which loads at all
//! (docs/theory/tso.md, T4).
//!
//! An attack needs a cycle: the store comes before the load in its thread, and from the load a path of happens-before edges
//! through other threads leads to an access of the store's address. Every such edge joins two accesses of one thread in the
//! order of its code, or two accesses of different threads to the same address, one of them a write. So a pair of a store
//! and a load from which no path in the graph of these edges leads back can be left out (Shasha and Snir, 1988). A program without
//! pairs is robust, whatever its states are.

use crate::fences::{FencePlace, FenceSet};
use crate::mutation::{Mutant, Mutation};
use rsan_model::automata::{Automata, Automaton, Op, StateId};
use rsan_model::{Expr, Value};
use std::collections::{BTreeMap, VecDeque};

/// A thread as attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Attackable {
    pub(crate) thread: usize,
    /// For each control state, whether a fence was put there.
    pub(crate) fenced: Vec<bool>,
    /// For each transition, whether it is a write that may be delayed past a load that matters.
    pub(crate) starts: Vec<bool>,
}

impl Attackable {
    pub(crate) fn is_harmless(&self) -> bool {
        !self.starts.contains(&true)
    }
}

/// The pairs of a program, with its own fences only.
pub(crate) struct Prefilter<'a> {
    automata: &'a Automata,
    /// For each thread, its stores and the loads of each that matter.
    pairs: Vec<Vec<(usize, Vec<bool>)>>,
}

impl<'a> Prefilter<'a> {
    pub(crate) fn new(automata: &'a Automata) -> Self {
        Self::with(automata, false, Mutation::default())
    }

    /// Each thread may have several copies, which are others to each other.
    pub(crate) fn for_templates(automata: &'a Automata) -> Self {
        Self::with(automata, true, Mutation::default())
    }

    /// With a broken rule.
    #[cfg(test)]
    pub(crate) fn broken(automata: &'a Automata, mutation: Mutation) -> Self {
        Self::with(automata, false, mutation)
    }

    fn with(automata: &'a Automata, copies: bool, mutation: Mutation) -> Self {
        let graph = Graph::new(automata, copies, mutation);
        let threads = 0..automata.threads.len();
        let pairs = threads.map(|t| graph.pairs(automata, t)).collect();
        Self { automata, pairs }
    }

    /// A thread as attacker, with more fences.
    pub(crate) fn attackable(&self, thread: usize, fences: &FenceSet) -> Attackable {
        let automaton = &self.automata.threads[thread];
        let fenced: Vec<bool> = (0..automaton.states.len())
            .map(|s| fences.contains(thread, StateId(s as u32)))
            .collect();
        let mut starts = vec![false; automaton.transitions.len()];
        for (store, loads) in &self.pairs[thread] {
            starts[*store] = unfenced_way(automaton, *store, loads, &fenced).is_some();
        }
        Attackable {
            thread,
            fenced,
            starts,
        }
    }

    /// For each pair that is left with these fences the control states on a shortest way from the store to the load.
    pub(crate) fn ways(&self, fences: &FenceSet) -> Vec<Vec<FencePlace>> {
        let mut all = Vec::new();
        for (thread, automaton) in self.automata.threads.iter().enumerate() {
            let fenced: Vec<bool> = (0..automaton.states.len())
                .map(|s| fences.contains(thread, StateId(s as u32)))
                .collect();
            for (store, loads) in &self.pairs[thread] {
                let Some(way) = unfenced_way(automaton, *store, loads, &fenced) else {
                    continue;
                };
                let places = way.into_iter().map(|state| FencePlace { thread, state });
                all.push(places.collect());
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Whether no thread has a store that can be followed, with nothing that drains the buffer in between, by a load of what another
/// thread writes: then there are no triangular races, whatever the states are.
pub(crate) fn has_no_triangle(automata: &Automata) -> bool {
    let graph = Graph::new(automata, false, Mutation::default());
    let threads = automata.threads.iter().enumerate();
    threads.into_iter().all(|(thread, automaton)| {
        let mut loads = vec![false; automaton.transitions.len()];
        for (i, access) in graph.accesses.iter().enumerate() {
            let op = &automata.threads[access.thread].transitions[access.transition].op;
            if access.thread == thread && matches!(op, Op::Read { .. }) {
                loads[access.transition] = !graph.conflicting[i].is_empty();
            }
        }
        let fenced = vec![false; automaton.states.len()];
        let transitions = automaton.transitions.iter().enumerate();
        let mut stores = transitions.filter(|(_, t)| matches!(t.op, Op::Write { .. }));
        stores.all(|(store, _)| unfenced_way(automaton, store, &loads, &fenced).is_none())
    })
}

/// The control states on a shortest way from a store to one of these loads on which nothing drains the buffer.
fn unfenced_way(
    automaton: &Automaton,
    store: usize,
    loads: &[bool],
    fenced: &[bool],
) -> Option<Vec<StateId>> {
    let first = automaton.transitions[store].to;
    let mut came: Vec<Option<StateId>> = vec![None; automaton.states.len()];
    came[first.index()] = Some(first);
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front() {
        if fenced[at.index()] {
            continue;
        }
        for (number, transition) in automaton.leaving(at) {
            if loads[number] {
                let mut way = vec![at];
                while let Some(before) = came[way[way.len() - 1].index()] {
                    if before == way[way.len() - 1] {
                        break;
                    }
                    way.push(before);
                }
                way.sort_unstable();
                return Some(way);
            }
            if !transition.op.drains() && came[transition.to.index()].is_none() {
                came[transition.to.index()] = Some(at);
                queue.push_back(transition.to);
            }
        }
    }
    None
}

/// An access of memory in the text.
struct Access {
    thread: usize,
    transition: usize,
    /// `None` when it is computed.
    address: Option<Value>,
    writes: bool,
}

impl Access {
    fn may_meet(&self, other: &Self, mutation: Mutation) -> bool {
        match (self.address, other.address) {
            (Some(a), Some(b)) => a == b,
            _ => !mutation.breaks(Mutant::ComputedAddressesMeetNothing),
        }
    }
}

/// The accesses of all threads and the edges of happens-before that may be between them.
struct Graph {
    copies: bool,
    accesses: Vec<Access>,
    /// Accesses of the same thread that may come earlier, or belong to the same locked section.
    earlier: Vec<Vec<usize>>,
    /// Accesses of other threads, and of copies, that conflict.
    conflicting: Vec<Vec<usize>>,
}

impl Graph {
    fn new(automata: &Automata, copies: bool, mutation: Mutation) -> Self {
        let mut accesses = Vec::new();
        for (thread, automaton) in automata.threads.iter().enumerate() {
            for (transition, t) in automaton.transitions.iter().enumerate() {
                let (addr, writes) = match &t.op {
                    Op::Read { addr, .. } => (addr, false),
                    Op::Write { addr, .. } => (addr, true),
                    Op::Update { addr, value, .. } => (addr, value.is_some()),
                    _ => continue,
                };
                accesses.push(Access {
                    thread,
                    transition,
                    address: constant(addr),
                    writes,
                });
            }
        }
        let reach: Vec<Vec<Vec<bool>>> = automata
            .threads
            .iter()
            .map(|t| after_each(t, mutation))
            .collect();
        let earlier = accesses.iter().map(|a| {
            let same = accesses.iter().enumerate();
            let same = same.filter(|(_, b)| b.thread == a.thread);
            let from = automata.threads[a.thread].transitions[a.transition].from;
            same.filter(|(_, b)| reach[b.thread][b.transition][from.index()])
                .map(|(i, _)| i)
                .collect()
        });
        let earlier = earlier.collect();
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
        let conflicting = conflicting.collect();
        Self {
            copies,
            accesses,
            earlier,
            conflicting,
        }
    }

    /// The stores of a thread and, for each, the loads from which a path leads back.
    fn pairs(&self, automata: &Automata, thread: usize) -> Vec<(usize, Vec<bool>)> {
        let transitions = &automata.threads[thread].transitions;
        let is_mine = |i: &usize| self.accesses[*i].thread == thread;
        let is_helper = |i: &usize| self.copies || !is_mine(i);
        let op = |i: usize| &transitions[self.accesses[i].transition].op;
        let mut pairs = Vec::new();
        let mut known: BTreeMap<Option<Value>, Vec<bool>> = BTreeMap::new();
        for store in (0..self.accesses.len()).filter(is_mine) {
            if !matches!(op(store), Op::Write { .. }) {
                continue;
            }
            let address = self.accesses[store].address;
            let back = known
                .entry(address)
                .or_insert_with(|| self.back(&self.conflicting[store], is_helper));
            let mut loads = vec![false; transitions.len()];
            let mut any = false;
            for load in (0..self.accesses.len()).filter(is_mine) {
                // A load of the same address sees the delayed store.
                let own = address.is_some() && self.accesses[load].address == address;
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

    /// All accesses of helpers from which one of these can be reached.
    fn back(&self, to: &[usize], is_helper: impl Fn(&usize) -> bool) -> Vec<bool> {
        let mut back = vec![false; self.accesses.len()];
        let mut work = to.to_vec();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut back[at], true) {
                let before = self.conflicting[at].iter().chain(&self.earlier[at]);
                work.extend(before.copied().filter(|b| is_helper(b) && !back[*b]));
            }
        }
        back
    }
}

fn constant(addr: &Expr) -> Option<Value> {
    addr.as_const().map(crate::compiled::address)
}

/// For each transition the control states that its thread may be in afterwards, or before if in the same locked section.
fn after_each(thread: &Automaton, mutation: Mutation) -> Vec<Vec<bool>> {
    let close = |mut work: Vec<usize>| {
        let mut seen = vec![false; thread.states.len()];
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                let next = thread.leaving(StateId(at as u32));
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
            for (number, t) in thread.leaving(at) {
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
