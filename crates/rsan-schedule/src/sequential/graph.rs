//! Relations between steps, and cycles among them.

use super::Relation;
use crate::Step;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The relations, as immediate edges.
pub(super) struct Graph {
    after: Vec<Vec<(usize, Relation)>>,
    /// Pairs that are related already.
    known: BTreeSet<(usize, usize)>,
}

/// For each step and thread, how many steps of the thread come before it, itself included.
pub(super) struct Clocks {
    /// The thread of each step, and its position there, from 1.
    positions: Vec<(usize, u32)>,
    clocks: Vec<Vec<u32>>,
}

impl Clocks {
    /// Whether a step is another one, or comes before it.
    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        let (thread, position) = self.positions[from];
        self.clocks[to][thread] >= position
    }
}

impl Graph {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            after: vec![Vec::new(); steps],
            known: BTreeSet::new(),
        }
    }

    /// Relates two steps, unless they are.
    pub(super) fn add(&mut self, from: usize, to: usize, relation: Relation) {
        if self.known.insert((from, to)) {
            self.after[from].push((to, relation));
        }
    }

    /// Number of edges.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The steps after one.
    pub(super) fn after(&self, step: usize) -> &[(usize, Relation)] {
        &self.after[step]
    }

    /// How many edges lead to each step.
    pub(super) fn incoming(&self) -> Vec<usize> {
        let mut incoming = vec![0; self.after.len()];
        for (to, _) in self.after.iter().flatten() {
            incoming[*to] += 1;
        }
        incoming
    }

    /// The steps without those on cycles, and behind them; each stands behind those that lead to it.
    fn sorted(&self) -> Vec<usize> {
        let mut incoming = self.incoming();
        let mut ready: Vec<_> = (0..incoming.len()).filter(|s| incoming[*s] == 0).collect();
        let mut sorted = Vec::new();
        while let Some(step) = ready.pop() {
            sorted.push(step);
            for (to, _) in &self.after[step] {
                incoming[*to] -= 1;
                if incoming[*to] == 0 {
                    ready.push(*to);
                }
            }
        }
        sorted
    }

    /// The steps in an order that the edges allow; `None` if there is a cycle.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        Some(self.sorted()).filter(|sorted| sorted.len() == self.after.len())
    }

    /// What comes before each step, by an order that the edges allow.
    pub(super) fn clocks(&self, steps: &[Step], order: &[usize]) -> Clocks {
        let mut threads: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
        let position = |step: &Step| {
            let next = threads.len();
            let (thread, made) = threads.entry(step.thread.0).or_insert((next, 0));
            *made += 1;
            (*thread, *made)
        };
        let positions: Vec<_> = steps.iter().map(position).collect();
        let mut clocks = vec![vec![0; threads.len()]; steps.len()];
        for &step in order {
            let (thread, made) = positions[step];
            clocks[step][thread] = made;
            let clock = clocks[step].clone();
            for (to, _) in &self.after[step] {
                let theirs = clocks[*to].iter_mut().zip(&clock);
                theirs.for_each(|(theirs, ours)| *theirs = (*theirs).max(*ours));
            }
        }
        Clocks { positions, clocks }
    }

    /// A short cycle; there must be one. Program order in a row is one edge of it.
    pub(super) fn cycle(&self, steps: &[Step]) -> Vec<(usize, Relation)> {
        let sorted: BTreeSet<_> = self.sorted().into_iter().collect();
        let left = |step: &usize| !sorted.contains(step);
        let stale = (0..steps.len()).filter(|step| steps[*step].stale);
        // Short cycles go through a stale read; any other start will do.
        let starts = stale.chain(0..steps.len()).filter(left).take(STARTS);
        let cycles = starts.filter_map(|start| self.cycle_through(start));
        let shortest = cycles.min_by_key(Vec::len);
        shortest
            .or_else(|| (0..steps.len()).find_map(|start| self.cycle_through(start)))
            .unwrap_or_default()
    }

    /// The cycle through a step with the fewest edges that are not program order.
    fn cycle_through(&self, start: usize) -> Option<Vec<(usize, Relation)>> {
        let mut from: BTreeMap<usize, (usize, Relation)> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        let mut done = BTreeSet::new();
        let last = 'search: loop {
            let step = queue.pop_front()?;
            if !done.insert(step) {
                continue;
            }
            for (to, relation) in &self.after[step] {
                if *to == start {
                    break 'search (step, *relation);
                }
                if done.contains(to) {
                    continue;
                }
                match relation {
                    Relation::Po => {
                        from.insert(*to, (step, *relation));
                        queue.push_front(*to);
                    }
                    _ => {
                        from.entry(*to).or_insert((step, *relation));
                        queue.push_back(*to);
                    }
                }
            }
        };
        let mut cycle = vec![last];
        let mut at = last.0;
        while at != start {
            let before = from[&at];
            cycle.push(before);
            at = before.0;
        }
        cycle.reverse();
        Some(merged(cycle))
    }
}

/// Steps of which a cycle is looked for.
const STARTS: usize = 50;

/// Program order in a row as one edge.
fn merged(cycle: Vec<(usize, Relation)>) -> Vec<(usize, Relation)> {
    let is_po = |edge: &(usize, Relation)| edge.1 == Relation::Po;
    let mut cycle = cycle;
    // Where a row of program order begins.
    let others = cycle.iter().position(|edge| !is_po(edge));
    cycle.rotate_left(others.unwrap_or_default());
    let mut short: Vec<(usize, Relation)> = Vec::new();
    for edge in cycle {
        if !(is_po(&edge) && short.last().is_some_and(is_po)) {
            short.push(edge);
        }
    }
    let first = (0..short.len()).min_by_key(|i| short[*i].0);
    short.rotate_left(first.unwrap_or_default());
    short
}
