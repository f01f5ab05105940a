//! The cheapest fences and stronger orders that order every pair.
//!
//! *Decides*: a set of changes with the least cost after which [`analyse`](crate::analyse) has no warning.
//!
//! *Method*: a choice is a fence in a gap between two instructions, or a stronger order of an access; a clause, from a path between the accesses of an unordered pair,
//! says that one of the choices that order the pair on this path is made. There are too many paths to write
//! down: solve, look for a path that is still unordered, add its clause, and begin again (`rsan-cover` solves exactly). Two choices that
//! only together order a path (a release store before a load that waits for it) are a choice of their own, free, which implies both.
//!
//! *Deviations*: with very many clauses choices are made greedily, and the answer says so. A change may let the machine
//! `from` order more, too; what that asks for in addition is taken as asked for anyway. Both can make a repair dearer, never wrong.

mod apply;
mod choices;
mod costs;

use crate::analyse::{self, Prepared};
use crate::cycles::OnCycles;
use crate::effects::{Changes, Effects, joined};
use crate::flow::{EventId, NodeId};
use crate::module::{Change, Module};
use crate::port::{Answer, Costs, Means, Placed, Question, Refusal, Repair};
use crate::search::{Search, Want};
pub use apply::apply;
use choices::{Choices, Paths};
use rsan_cover::Clause;
use rsan_model::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// More clauses than this are satisfied greedily.
const CLAUSES: usize = 1_500;
/// The same for the choices in all of them.
const CHOICES: usize = 40_000;
/// Paths that one round adds.
const PATHS: usize = 2_000;
/// Paths from one access that one round adds.
const NEAREST: usize = 4;
/// More pairs than this are not fenced one by one for the comparison: each first access is.
const NAIVE: usize = 400;

/// Finds the cheapest changes that order every pair of `answer`. `go_on` is asked again and again; once it says no, the answer is
/// [`Refusal::Stopped`].
pub fn repair(
    module: &Module,
    question: &Question,
    answer: &Answer,
    means: Means,
    costs: &Costs,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Repair, Refusal> {
    if answer.warnings.is_empty() {
        return Ok(Repair {
            changes: Vec::new(),
            cost: 0.0,
            naive: 0,
            exact: true,
            left: 0,
        });
    }
    let prepared = analyse::prepare(module, question, go_on)?;
    let task = Task {
        module,
        question,
        costs,
        prepared: &prepared,
    };
    let mut best = task.solve(means, go_on)?;
    let orders_cost =
        means == Means::FencesAndOrders && !matches!(question.from, Machine::Sc | Machine::X86);
    if orders_cost {
        // There a stronger order lets the machine `from` order more, too, and may ask for more than it gives.
        let fences = task.solve(Means::Fences, go_on)?;
        best = if fences.cost < best.cost {
            fences
        } else {
            best
        };
    }
    Ok(best)
}

struct Task<'a> {
    module: &'a Module,
    question: &'a Question,
    costs: &'a Costs,
    prepared: &'a Prepared,
}

impl Task<'_> {
    fn solve(&self, means: Means, go_on: &mut dyn FnMut() -> bool) -> Result<Repair, Refusal> {
        let Self {
            module,
            question,
            costs,
            prepared,
        } = *self;
        let mut choices = Choices::new(&prepared.graph, question, means, costs);
        let mut clauses: BTreeSet<Clause> = BTreeSet::new();
        let mut chosen: Vec<usize> = Vec::new();
        let mut exact = true;
        let mut left: BTreeSet<(EventId, EventId)> = BTreeSet::new();
        let effects = Effects::new(&prepared.graph, question, &Changes::new());
        let mut cycles = analyse::pairs(prepared, &effects, go_on)?.cycles;
        let naive = naive(prepared, question, &choices, go_on)?;
        loop {
            let changes = choices.changes(&chosen);
            let effects = Effects::new(&prepared.graph, question, &changes);
            let mut paths = unordered_paths(prepared, &effects, &cycles, &left, go_on)?;
            if paths.is_empty() {
                // The machine `from` may order more now: are there new cycles?
                cycles = analyse::pairs(prepared, &effects, go_on)?.cycles;
                paths = unordered_paths(prepared, &effects, &cycles, &left, go_on)?;
            }
            if paths.is_empty() {
                break;
            }
            for (pair, path) in &paths {
                if !go_on() {
                    return Err(Refusal::Stopped);
                }
                match choices.clauses(path) {
                    Some(new) => clauses.extend(new),
                    None => {
                        left.insert(*pair);
                    }
                }
            }
            let list: Vec<Clause> = clauses.iter().cloned().collect();
            let size: usize = list.iter().map(|c| c.wanted.len()).sum();
            let solved = match exact && list.len() <= CLAUSES && size <= CHOICES {
                true => {
                    let cost = |c| choices.cost(c);
                    let solved =
                        rsan_cover::cheapest_while(&list, &choices.exclusive(), cost, go_on);
                    solved.map_err(|_| Refusal::Stopped)?
                }
                false => None,
            };
            exact = solved.is_some();
            chosen = match solved {
                Some(solution) => solution,
                None => greedy(&list, &choices, go_on)?,
            };
        }
        let made: Vec<usize> = chosen
            .into_iter()
            .filter(|c| !choices.is_combination(*c))
            .collect();
        let cost = made.iter().map(|c| choices.price(*c)).sum();
        let changes = made.iter().map(|c| choices.placed(module, *c)).collect();
        let mut changes = one_order_each(changes);
        changes.sort_by(|a, b| {
            (a.function, a.number, &a.change).cmp(&(b.function, b.number, &b.change))
        });
        Ok(Repair {
            changes,
            cost,
            naive,
            exact,
            left: left.len(),
        })
    }
}

/// Paths of pairs that are not ordered, the shortest one for each, of each first access to the nearest later ones: what orders
/// those often orders the others, too.
fn unordered_paths(
    prepared: &Prepared,
    effects: &Effects,
    cycles: &OnCycles,
    left: &BTreeSet<(EventId, EventId)>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Paths, Refusal> {
    let mut search = Search::new(&prepared.graph);
    let mut paths = Paths::new();
    for source in cycles.sources(&prepared.graph) {
        let found = search.from(source, effects, Want::Unordered, go_on)?;
        let counts =
            |event: EventId| cycles.pair(source, event) && !left.contains(&(source, event));
        for found in found.into_iter().filter(|f| counts(f.event)).take(NEAREST) {
            paths.insert((source, found.event), search.path(found));
        }
        if paths.len() > PATHS {
            break;
        }
    }
    Ok(paths)
}

/// The same changes with one new order per access: two are as good as the weakest that is both.
fn one_order_each(changes: Vec<Placed>) -> Vec<Placed> {
    let mut kept: Vec<Placed> = Vec::new();
    for placed in changes {
        let same = kept.iter_mut().find(|k| {
            (k.function, k.number) == (placed.function, placed.number)
                && matches!(k.change, Change::Order(_))
        });
        match (same.map(|k| &mut k.change), &placed.change) {
            (Some(Change::Order(known)), Change::Order(order)) => *known = joined(*known, *order),
            _ => kept.push(placed),
        }
    }
    kept
}

/// Choices that satisfy all clauses: what satisfies most for its price first, then without what the others make superfluous.
fn greedy(
    clauses: &[Clause],
    choices: &Choices<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<usize>, Refusal> {
    let single = |c: &usize| !choices.is_combination(*c);
    let asked: Vec<Vec<usize>> = clauses
        .iter()
        .filter(|c| c.unless.is_empty())
        .map(|c| c.wanted.iter().copied().filter(single).collect())
        .collect();
    let mut left: BTreeSet<usize> = (0..asked.len()).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while !left.is_empty() {
        if !go_on() {
            return Err(Refusal::Stopped);
        }
        let mut gains: BTreeMap<usize, f64> = BTreeMap::new();
        for clause in &left {
            for choice in &asked[*clause] {
                *gains.entry(*choice).or_default() += 1.0 / choices.cost(*choice);
            }
        }
        let best = gains
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        let (best, _) = best.expect("every clause has a choice");
        let best = *best;
        chosen.push(best);
        left.retain(|clause| !asked[*clause].contains(&best));
    }
    for index in (0..chosen.len()).rev() {
        let rest: Vec<usize> = chosen
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != index)
            .map(|(_, c)| *c)
            .collect();
        if asked
            .iter()
            .all(|clause| clause.iter().any(|c| rest.contains(c)))
        {
            chosen.remove(index);
        }
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// How many fences it takes to go through the pairs and, where one is not ordered yet, put a fence after its first access.
fn naive(
    prepared: &Prepared,
    question: &Question,
    choices: &Choices<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<usize, Refusal> {
    let graph = &prepared.graph;
    let mut changes = Changes::new();
    let mut search = Search::new(graph);
    let mut placed = 0;
    loop {
        let effects = Effects::new(graph, question, &changes);
        let mut unordered = analyse::pairs(prepared, &effects, go_on)?.unordered;
        if unordered.is_empty() {
            return Ok(placed);
        }
        unordered.sort_unstable();
        if unordered.len() > NAIVE {
            let first = |(event, _): &(EventId, EventId)| {
                let node = &graph.nodes[graph.events[*event as usize].node as usize];
                (node.function, node.number)
            };
            let firsts: BTreeSet<_> = unordered.iter().map(first).collect();
            return Ok(placed + firsts.len());
        }
        for (first, second) in unordered {
            let effects = Effects::new(graph, question, &changes);
            let found = search.from(first, &effects, Want::Unordered, go_on)?;
            if !found.iter().any(|f| f.unordered && f.event == second) {
                continue;
            }
            placed += 1;
            let writes = |event: EventId| graph.events[event as usize].operation.part.writes();
            let fence = choices.fence_for(writes(first), writes(second));
            for gap in gaps_after(prepared, graph.events[first as usize].node) {
                let node = &graph.nodes[gap as usize];
                changes
                    .entry((node.function, node.number))
                    .or_default()
                    .push(fence.clone());
            }
        }
    }
}

/// The gaps that come next after a node.
fn gaps_after(prepared: &Prepared, node: NodeId) -> Vec<NodeId> {
    let graph = &prepared.graph;
    let mut seen = BTreeSet::new();
    let mut gaps = Vec::new();
    let mut work = vec![node];
    while let Some(node) = work.pop() {
        for (next, _) in &graph.next[node as usize] {
            if !seen.insert(*next) {
                continue;
            }
            if graph.nodes[*next as usize].gap {
                gaps.push(*next)
            } else {
                work.push(*next)
            }
        }
    }
    gaps
}

#[cfg(test)]
mod tests;
