//! The cheapest choices that satisfy some clauses.
//!
//! *Decides*: of all subsets of numbered choices that satisfy every [`Clause`] and have at most one choice of each exclusive
//! group, one with the least sum of costs. Exact as long as sums of costs are exact in `f64`.
//!
//! *Method*: clauses that follow from others are left out; what is left falls apart into parts that share no choice,
//! each of which is a 0/1 integer program, solved by `microlp` (branch and bound over the simplex method). The tests compare
//! the answers with brute force.
//!
//! This crate knows nothing of programs and memory models.

use microlp::{
    ComparisonOp, OptimizationDirection, Problem, SolveOutcome, TerminationReason, Variable,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long the solver runs before the caller is asked whether to go on.
const SLICE: Duration = Duration::from_millis(100);

/// The caller did not want to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// One of `wanted` is chosen, or one of `unless` is not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Clause {
    /// Choices.
    pub wanted: Vec<usize>,
    /// Choices.
    pub unless: Vec<usize>,
}

impl Clause {
    /// One of these is chosen.
    pub fn one_of(wanted: impl IntoIterator<Item = usize>) -> Self {
        Self {
            wanted: wanted.into_iter().collect(),
            unless: Vec::new(),
        }
    }

    /// The same without repetitions.
    fn sorted(&self) -> Self {
        let sorted = |list: &[usize]| {
            let set: BTreeSet<usize> = list.iter().copied().collect();
            set.into_iter().collect()
        };
        Self {
            wanted: sorted(&self.wanted),
            unless: sorted(&self.unless),
        }
    }

    fn choices(&self) -> impl Iterator<Item = usize> {
        self.wanted.iter().chain(&self.unless).copied()
    }

    /// Whether this clause holds whenever `other` does.
    fn follows_from(&self, other: &Self) -> bool {
        other.wanted.iter().all(|c| self.wanted.contains(c))
            && other.unless.iter().all(|c| self.unless.contains(c))
    }
}

/// The choices of a cheapest solution, in order; `None` when the clauses contradict each other. `cost` is that of a choice, `exclusive`
/// are groups of which at most one choice is made.
pub fn cheapest(
    clauses: &[Clause],
    exclusive: &[Vec<usize>],
    cost: impl Fn(usize) -> f64,
) -> Option<Vec<usize>> {
    let solved = cheapest_while(clauses, exclusive, cost, &mut || true);
    solved.expect("nobody stops it")
}

/// The same; `go_on` is asked again and again.
///
/// # Errors
/// It said no.
pub fn cheapest_while(
    clauses: &[Clause],
    exclusive: &[Vec<usize>],
    cost: impl Fn(usize) -> f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<usize>>, Stopped> {
    let clauses: Vec<Clause> = clauses.iter().map(Clause::sorted).collect();
    let clauses = irredundant(&clauses, go_on)?;
    let mut chosen = Vec::new();
    for part in parts(&clauses, exclusive) {
        match solve(&part, exclusive, &cost, go_on)? {
            Some(of_part) => chosen.extend(of_part),
            None => return Ok(None),
        }
    }
    chosen.sort_unstable();
    Ok(Some(chosen))
}

/// The clauses that do not follow from others.
fn irredundant<'a>(
    clauses: &'a [Clause],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<&'a Clause>, Stopped> {
    let always = |c: &&Clause| c.wanted.iter().any(|w| c.unless.contains(w));
    let mut sorted: Vec<&Clause> = clauses.iter().filter(|c| !always(c)).collect();
    sorted.sort_by_key(|c| (c.wanted.len() + c.unless.len(), *c));
    let mut kept: Vec<&Clause> = Vec::new();
    for clause in sorted {
        if !go_on() {
            return Err(Stopped);
        }
        if !kept.iter().any(|k| clause.follows_from(k)) {
            kept.push(clause);
        }
    }
    Ok(kept)
}

/// Choices, or groups of exclusive ones, and the clauses about them.
type Part<'a> = (BTreeSet<(u8, usize)>, Vec<&'a Clause>);

/// Groups of clauses that share no choice, nor a group of exclusive ones.
fn parts<'a>(clauses: &[&'a Clause], exclusive: &[Vec<usize>]) -> Vec<Vec<&'a Clause>> {
    let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, group) in exclusive.iter().enumerate() {
        group_of.extend(group.iter().map(|choice| (*choice, number)));
    }
    // A choice stands for its group.
    let joint = |choice: usize| group_of.get(&choice).map_or((1, choice), |g| (0, *g));
    let mut parts: Vec<Part<'_>> = Vec::new();
    for clause in clauses {
        let mut choices: BTreeSet<(u8, usize)> = clause.choices().map(joint).collect();
        let mut mine = vec![*clause];
        let (touched, apart) = parts
            .into_iter()
            .partition(|(other, _)| !choices.is_disjoint(other));
        parts = apart;
        let touched: Vec<Part<'_>> = touched;
        for (other, clauses) in touched {
            choices.extend(other);
            mine.extend(clauses);
        }
        parts.push((choices, mine));
    }
    parts.into_iter().map(|(_, clauses)| clauses).collect()
}

fn solve(
    clauses: &[&Clause],
    exclusive: &[Vec<usize>],
    cost: &impl Fn(usize) -> f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<usize>>, Stopped> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let choices: BTreeSet<usize> = clauses.iter().flat_map(|c| c.choices()).collect();
    let variables: BTreeMap<usize, Variable> = choices
        .into_iter()
        .map(|choice| (choice, problem.add_binary_var(cost(choice))))
        .collect();
    for clause in clauses {
        let wanted = clause.wanted.iter().map(|c| (variables[c], 1.0));
        let unless = clause.unless.iter().map(|c| (variables[c], -1.0));
        let sum: Vec<(Variable, f64)> = wanted.chain(unless).collect();
        let bound = 1.0 - clause.unless.len() as f64;
        if sum.is_empty() {
            return Ok(None);
        }
        problem.add_constraint(&sum[..], ComparisonOp::Ge, bound);
    }
    for group in exclusive {
        let known = group.iter().filter_map(|choice| variables.get(choice));
        let sum: Vec<(Variable, f64)> = known.map(|v| (*v, 1.0)).collect();
        if sum.len() > 1 {
            problem.add_constraint(&sum[..], ComparisonOp::Le, 1.0);
        }
    }
    problem.set_time_limit(SLICE);
    let mut outcome = problem.solve();
    while let Ok(unfinished) = outcome {
        if unfinished.termination_reason() != TerminationReason::TimeLimit {
            outcome = Ok(unfinished);
            break;
        }
        if !go_on() {
            return Err(Stopped);
        }
        outcome = unfinished.resume();
    }
    match outcome {
        Ok(SolveOutcome::Solution(solution)) => {
            let chosen = variables.iter().filter(|(_, v)| solution[**v] > 0.5);
            Ok(Some(chosen.map(|(choice, _)| *choice).collect()))
        }
        Ok(SolveOutcome::Interrupted(_)) => unreachable!("time is the only limit"),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
