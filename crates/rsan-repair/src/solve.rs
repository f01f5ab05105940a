//! The cheapest changes that satisfy some clauses.

use crate::site::{Chosen, Site};
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
    let mut literals: Vec<Literal> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (site, options) in sites.iter().map(|s| s.options.len()).enumerate() {
        groups.push((literals.len()..literals.len() + options).collect());
        literals.extend((0..options).map(|option| (site, option)));
    }
    let number: BTreeMap<Literal, usize> =
        literals.iter().enumerate().map(|(i, l)| (*l, i)).collect();
    let numbers = |list: &[Literal]| list.iter().map(|l| number[l]).collect();
    let clauses: Vec<rsan_cover::Clause> = clauses
        .iter()
        .map(|clause| rsan_cover::Clause {
            wanted: numbers(&clause.wanted),
            unless: numbers(&clause.unless),
        })
        .collect();
    let cost = |choice: usize| {
        let (site, option) = literals[choice];
        let change = &sites[site].options[option];
        change.cost as f64 + change.steps as f64 * STEP
    };
    let mut chosen = vec![None; sites.len()];
    for choice in rsan_cover::cheapest(&clauses, &groups, cost)? {
        let (site, option) = literals[choice];
        chosen[site] = Some(option);
    }
    Some(chosen)
}
