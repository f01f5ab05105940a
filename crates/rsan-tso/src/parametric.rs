//! Any number of copies of each thread.
//!
//! # What it decides
//! Whether all instances of a program, with any number of copies of each of its threads, are robust against TSO. Sound and
//! complete when memory and registers take finitely many values; otherwise it may end with a limit.
//!
//! # How
//! Copies of a thread in the same local state are interchangeable, so a configuration is memory, a few threads that are told
//! apart (the holder of the lock, the attacker), and *how many* copies are in each local state. Every thread starts with
//! as many copies as anybody may want (`ω`). Such systems are well-structured: the coverability tree of Karp and Miller
//! (1969) is finite. A node that has at least as many copies everywhere as an ancestor with the same rest can repeat what led
//! there, so the states that grew get `ω` copies; a node that another one covers is not continued. An attack that succeeds
//! anywhere in the tree succeeds in some instance, and vice versa. The smallest such instance is then found by trying them in
//! the order of their size.

mod tree;

use crate::attacker::Leave;
use crate::compiled::Compiled;
use crate::fences::FenceSet;
use crate::limits::{Limits, Stats, Watch};
use crate::prefilter::{Attackable, Prefilter};
use crate::steps::{FaultKind, Trouble};
use crate::{Verdict, robustness};
use rsan_model::Reason;
use rsan_model::automata::{Automata, Automaton};
use tree::Tree;

/// What is known of all instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllInstances {
    /// Every instance is robust.
    Robust,
    /// This one is not, and none with fewer threads.
    Violation(Box<Instance>),
    /// Some instance fails under SC already.
    Fault(FaultKind),
    /// Not decided.
    Unknown(Reason),
}

/// An instance that is not robust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// How many copies of each thread it has.
    pub copies: Vec<usize>,
    /// The instance as a program of its own.
    pub automata: Automata,
    /// What shows that it is not robust.
    pub computation: crate::Computation,
}

/// Whether every instance is robust against TSO.
pub fn all_instances(automata: &Automata, limits: &Limits<'_>) -> (AllInstances, Stats) {
    let compiled = Compiled::new(automata);
    let prefilter = Prefilter::for_templates(automata);
    let threads = 0..automata.threads.len();
    let attackers = threads.map(|t| prefilter.attackable(t, &FenceSet::default()));
    let attackers: Vec<Attackable> = attackers.collect();
    if !compiled.may_fail && attackers.iter().all(Attackable::is_harmless) {
        return (AllInstances::Robust, Stats::default());
    }
    let watch = Watch::new(limits);
    let mut tree = Tree::new(&compiled, attackers);
    let answer = match tree.explore(&watch) {
        Ok(false) => AllInstances::Robust,
        Ok(true) => smallest(automata, limits, &watch),
        Err(Leave::Limit(reason)) => AllInstances::Unknown(reason),
        Err(Leave::Trouble(Trouble::Fault(_, _, kind))) => AllInstances::Fault(kind),
        Err(Leave::Trouble(Trouble::TooLarge)) => AllInstances::Unknown(Reason::TooLarge(
            "a thread has too many states between two accesses".to_owned(),
        )),
    };
    let (states, attack_states) = tree.size();
    let stats = Stats {
        states,
        attack_states,
        memory: 0,
        elapsed: watch.began.elapsed(),
    };
    (answer, stats)
}

/// The smallest instance that is not robust; there is one.
fn smallest(automata: &Automata, limits: &Limits<'_>, watch: &Watch<'_>) -> AllInstances {
    for size in 2.. {
        for copies in splits(size, automata.threads.len()) {
            let instance = instantiate(automata, &copies);
            let left = Limits {
                time: limits.time.map(|t| t.saturating_sub(watch.began.elapsed())),
                ..*limits
            };
            match robustness(&instance, &FenceSet::default(), &left).verdict {
                Verdict::Robust | Verdict::TriangularRace(_) | Verdict::Deadlock(_) => {}
                Verdict::Violation(computation) => {
                    return AllInstances::Violation(Box::new(Instance {
                        copies,
                        automata: instance,
                        computation: *computation,
                    }));
                }
                Verdict::Fault(fault) => return AllInstances::Fault(fault.kind),
                Verdict::Unknown(reason) => return AllInstances::Unknown(reason),
            }
            if let Err(reason) = watch.check() {
                return AllInstances::Unknown(reason);
            }
        }
    }
    unreachable!("sizes do not end")
}

/// The ways to have `size` copies of `templates` threads.
fn splits(size: usize, templates: usize) -> Vec<Vec<usize>> {
    if templates <= 1 {
        return vec![vec![size; templates]];
    }
    let mut all = Vec::new();
    for first in (0..=size).rev() {
        for mut rest in splits(size - first, templates - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// A program with so many copies of each thread.
pub fn instantiate(automata: &Automata, copies: &[usize]) -> Automata {
    let mut instance = automata.clone();
    instance.threads = Vec::new();
    for (thread, copies) in automata.threads.iter().zip(copies) {
        for number in 1..=*copies {
            let name = match *copies {
                1 => thread.name.clone(),
                _ => format!("{}#{number}", thread.name),
            };
            instance.threads.push(Automaton {
                name,
                ..thread.clone()
            });
        }
    }
    instance
}
