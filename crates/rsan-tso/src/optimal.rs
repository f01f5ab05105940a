//! The cheapest set of fences that makes a program robust against TSO.
//!
//! A computation that an attack shows is forbidden by a fence exactly when it stands in a control state that the attacker
//! passes between the delayed store and the load ([`Computation::between`]): everywhere else all buffers are empty, and
//! a fence passes. So a set of fences works if and only if it hits `between` of every violating computation, and the
//! cheapest one is a cheapest hitting set. The computations are found one by one: the cheapest set that hits those known is
//! tried, and if the program is still not robust there is a new one, which the set does not hit. The last set costs no more
//! than any other that hits the computations found, hence than any that works.
//!
//! Trencher (Bouajjani, Derevenetc and Meyer, ESOP 2013, section 5) computes all irreducible sets per attack beforehand;
//! the sets found are as cheap, and most attacks never have to be looked at.
//!
//! The hitting set is a 0/1 integer program, solved by `microlp` (branch and bound over the simplex method): small, pure Rust,
//! and deterministic. The tests compare it with brute force.

use crate::fences::{FencePlace, FenceSet};
use crate::search::{Limits, Stats};
use crate::witness::Computation;
use crate::{Fault, Verdict, robustness};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use rsan_model::Reason;
use rsan_model::automata::Automata;
use std::collections::{BTreeMap, BTreeSet};

/// A cheapest set of fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Where they stand, and for each a computation that it alone forbids: without it the program is not robust.
    pub fences: Vec<(FencePlace, Computation)>,
    /// What they cost together.
    pub cost: u64,
    /// The sets of places of which every set that works needs one: no cheaper set hits them all.
    pub required: Vec<Vec<FencePlace>>,
    /// What the last search did, which found the program robust.
    pub stats: Stats,
}

/// What came of looking for fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Synthesis {
    /// A cheapest set; empty when the program is robust as it is.
    Repair(Box<Repair>),
    /// No fence can stand between the store and the load of this computation.
    Impossible(Box<Computation>),
    /// The program fails under SC already.
    Fault(Box<Fault>),
    /// Not decided.
    Unknown(Reason),
}

/// The cheapest fences that make a program robust; `cost` says what a fence costs at a place.
pub fn cheapest_fences(
    automata: &Automata,
    cost: &dyn Fn(FencePlace) -> u64,
    limits: &Limits<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Synthesis {
    let mut required: Vec<Vec<FencePlace>> = Vec::new();
    loop {
        let fences = hitting_set(&required, cost);
        progress(required.len(), fences.len());
        let outcome = robustness(automata, &fences, limits);
        match outcome.verdict {
            Verdict::Violation(computation) => {
                let is_fenceable =
                    |p: &FencePlace| automata.threads[p.thread].states[p.state.index()].fenceable;
                let places = computation.between.iter().copied().filter(is_fenceable);
                let places: Vec<FencePlace> = places.collect();
                if places.is_empty() {
                    return Synthesis::Impossible(computation);
                }
                required.push(places);
            }
            Verdict::Robust => {
                let repair = prove(automata, fences, required, cost, limits, outcome.stats);
                return match repair {
                    Ok(repair) => Synthesis::Repair(Box::new(repair)),
                    Err(reason) => Synthesis::Unknown(reason),
                };
            }
            Verdict::TriangularRace(_) => unreachable!("robustness does not look for races"),
            Verdict::Fault(fault) => return Synthesis::Fault(fault),
            Verdict::Unknown(reason) => return Synthesis::Unknown(reason),
        }
    }
}

/// Why each fence is needed.
fn prove(
    automata: &Automata,
    fences: FenceSet,
    required: Vec<Vec<FencePlace>>,
    cost: &dyn Fn(FencePlace) -> u64,
    limits: &Limits<'_>,
    stats: Stats,
) -> Result<Repair, Reason> {
    let mut reasons = Vec::new();
    for place in fences.iter() {
        match robustness(automata, &fences.without(place), limits).verdict {
            Verdict::Violation(computation) => reasons.push((place, *computation)),
            Verdict::Unknown(reason) => return Err(reason),
            // A fence that costs nothing may be there without need.
            Verdict::Robust | Verdict::TriangularRace(_) | Verdict::Fault(_) => {}
        }
    }
    Ok(Repair {
        cost: reasons.iter().map(|(place, _)| cost(*place)).sum(),
        fences: reasons,
        required,
        stats,
    })
}

/// A cheapest set of places that has one of each of these.
fn hitting_set(required: &[Vec<FencePlace>], cost: &dyn Fn(FencePlace) -> u64) -> FenceSet {
    let places: BTreeSet<FencePlace> = required.iter().flatten().copied().collect();
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let variables: BTreeMap<FencePlace, Variable> = places
        .into_iter()
        .map(|place| (place, problem.add_binary_var(cost(place) as f64)))
        .collect();
    for places in required {
        let sum: Vec<(Variable, f64)> = places.iter().map(|p| (variables[p], 1.0)).collect();
        problem.add_constraint(&sum[..], ComparisonOp::Ge, 1.0);
    }
    let outcome = problem.solve().expect("all places together hit everything");
    let SolveOutcome::Solution(solution) = outcome else {
        unreachable!("no limit was set for the solver");
    };
    let chosen = variables.iter().filter(|(_, v)| solution[**v] > 0.5);
    chosen.map(|(place, _)| *place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_model::automata::StateId;

    fn place(n: u32) -> FencePlace {
        FencePlace {
            thread: 0,
            state: StateId(n),
        }
    }

    /// Cheapest by trying all sets of places 0 to 9.
    fn brute_force(required: &[Vec<FencePlace>], costs: &[u64]) -> u64 {
        let hits = |set: u32| {
            let hit = |places: &Vec<FencePlace>| places.iter().any(|p| set >> p.state.0 & 1 != 0);
            required.iter().all(hit)
        };
        let cost = |set: u32| (0..10).map(|i| costs[i] * u64::from(set >> i & 1)).sum();
        let sets = (0..1 << 10).filter(|set| hits(*set));
        sets.map(cost).min().expect("all places hit everything")
    }

    #[test]
    fn the_solver_is_as_cheap_as_brute_force() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..300 {
            let costs: Vec<u64> = (0..10).map(|_| 1 + random(5)).collect();
            let required: Vec<Vec<FencePlace>> = (0..random(12))
                .map(|_| {
                    let mut set: Vec<u32> = (0..1 + random(4)).map(|_| random(10) as u32).collect();
                    set.sort_unstable();
                    set.dedup();
                    set.into_iter().map(place).collect()
                })
                .collect();
            let found = hitting_set(&required, &|p| costs[p.state.index()]);
            let cost: u64 = found.iter().map(|p| costs[p.state.index()]).sum();
            assert_eq!(
                cost,
                brute_force(&required, &costs),
                "{required:?} {costs:?}"
            );
        }
    }
}
