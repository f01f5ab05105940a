//! What the text of a program says about attacks: which stores can be delayed past which loads at all
//! (docs/theory/tso.md, T4).
//!
//! An attack needs a cycle: the store comes before the load in its thread, and from the load a path of happens-before edges
//! through other threads leads to an access of the store's address. Every such edge joins two accesses of one thread in the
//! order of its code, or two accesses of different threads to the same address, one of them a write. So a pair of a store
//! and a load from which no path in the graph of these edges leads back can be left out (Shasha and Snir, 1988). A program without
//! pairs is robust, whatever its states are.
//!
//! Three things make the graph smaller: what computed addresses may be (`values`), which accesses helpers cannot make while the attacker
//! holds a lock (`locks`), and that a load which sees a delayed store does not count (`ways`).

mod graph;
mod locks;
mod values;
mod ways;

use crate::fences::{FencePlace, FenceSet};
use crate::mutation::Mutation;
use graph::Graph;
use rsan_model::automata::{Automata, Op, StateId};
use ways::Text;

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
    texts: Vec<Text<'a>>,
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
        Self {
            automata,
            texts: texts(automata, &graph, mutation),
            pairs: graph.pairs(),
        }
    }

    /// A thread as attacker, with more fences.
    pub(crate) fn attackable(&self, thread: usize, fences: &FenceSet) -> Attackable {
        let automaton = &self.automata.threads[thread];
        let fenced: Vec<bool> = (0..automaton.states.len())
            .map(|s| fences.contains(thread, StateId(s as u32)))
            .collect();
        let mut starts = vec![false; automaton.transitions.len()];
        for (store, loads) in &self.pairs[thread] {
            let way = self.texts[thread].to_memory(*store, loads, &fenced);
            starts[*store] = way.is_some();
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
                let Some(way) = self.texts[thread].to_memory(*store, loads, &fenced) else {
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

fn texts<'a>(automata: &'a Automata, graph: &Graph<'_>, mutation: Mutation) -> Vec<Text<'a>> {
    let threads = automata.threads.iter().zip(&graph.constant);
    threads
        .map(|(automaton, constant)| Text::new(automaton, constant.clone(), mutation))
        .collect()
}

/// Whether no thread has a store that can be followed, with nothing that drains the buffer in between, by a load of what another
/// thread writes: then there are no triangular races, whatever the states are.
pub(crate) fn has_no_triangle(automata: &Automata) -> bool {
    let graph = Graph::of_constants(automata);
    let texts = texts(automata, &graph, Mutation::default());
    let threads = automata.threads.iter().zip(texts).enumerate();
    threads.into_iter().all(|(thread, (automaton, text))| {
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
        stores.all(|(store, _)| text.way(store, &fenced, None, &|t| loads[t]).is_none())
    })
}

#[cfg(test)]
mod tests;
