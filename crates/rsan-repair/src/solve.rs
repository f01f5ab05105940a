//! The cheapest changes that satisfy some clauses, by `microlp` (branch and bound over the simplex method).

use crate::site::{Chosen, Site};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use std::collections::BTreeMap;

/// A site and one of its options.
pub(crate) type Literal = (usize, usize);

/// Every repair has one of `wanted`, or lacks one of `unless`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clause {
    pub(crate) wanted: Vec<Literal>,
    pub(crate) unless: Vec<Literal>,
}

/// Costs count before steps: there are never so many steps.
const STEP: f64 = 1.0 / 1024.0;

/// The cheapest choice, or `None` when the clauses contradict each other.
pub(crate) fn solve(sites: &[Site], clauses: &[Clause]) -> Option<Chosen> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut variables: BTreeMap<Literal, Variable> = BTreeMap::new();
    for clause in clauses {
        for &(site, option) in clause.wanted.iter().chain(&clause.unless) {
            let change = &sites[site].options[option];
            let cost = change.cost as f64 + change.steps as f64 * STEP;
            variables
                .entry((site, option))
                .or_insert_with(|| problem.add_binary_var(cost));
        }
    }
    for clause in clauses {
        let wanted = clause.wanted.iter().map(|l| (variables[l], 1.0));
        let unless = clause.unless.iter().map(|l| (variables[l], -1.0));
        let sum: Vec<(Variable, f64)> = wanted.chain(unless).collect();
        let bound = 1.0 - clause.unless.len() as f64;
        if sum.is_empty() {
            return None;
        }
        problem.add_constraint(&sum[..], ComparisonOp::Ge, bound);
    }
    for site in 0..sites.len() {
        let options = variables.range((site, 0)..(site + 1, 0));
        let sum: Vec<(Variable, f64)> = options.map(|(_, v)| (*v, 1.0)).collect();
        if sum.len() > 1 {
            problem.add_constraint(&sum[..], ComparisonOp::Le, 1.0);
        }
    }
    let mut chosen = vec![None; sites.len()];
    match problem.solve() {
        Ok(SolveOutcome::Solution(solution)) => {
            for (&(site, option), variable) in &variables {
                if solution[*variable] > 0.5 {
                    chosen[site] = Some(option);
                }
            }
            Some(chosen)
        }
        Ok(_) => unreachable!("no limit was set for the solver"),
        Err(_) => None,
    }
}
