//! Some runs of a program, chosen so that much of what can happen does; and whether something is found in every run.

use crate::{Blocking, Finding, Random, Step, Walk};
use rsan_model::Program;

/// A run, whole or cut.
#[derive(Clone, Debug)]
pub struct Run<'p> {
    /// Its steps.
    pub steps: Vec<Step>,
    /// What the monitor said.
    pub findings: Vec<Finding>,
    /// Its last state.
    pub last: Walk<'p>,
}

impl<'p> Run<'p> {
    /// The run that `choose` leads through: it is shown the steps that are possible, and names one. It is cut after
    /// `length` steps.
    pub fn new(
        program: &'p Program,
        blocking: Blocking,
        length: usize,
        mut choose: impl FnMut(&[Step], &[Step]) -> usize,
    ) -> Self {
        let mut run = Self {
            steps: Vec::new(),
            findings: Vec::new(),
            last: Walk::new(program, blocking),
        };
        while run.steps.len() < length {
            let enabled = run.last.enabled();
            if enabled.is_empty() {
                break;
            }
            let step = enabled[choose(&run.steps, &enabled)];
            run.findings.extend(run.last.step(step));
            run.steps.push(step);
        }
        run
    }
}

impl<'p> Run<'p> {
    /// The same steps, with waits taken otherwise.
    pub fn again(&self, program: &'p Program, blocking: Blocking) -> Self {
        Self::new(program, blocking, self.steps.len(), |before, enabled| {
            let step = self.steps[before.len()];
            let index = enabled.iter().position(|e| *e == step);
            index.expect("what is possible does not depend on how waits are taken")
        })
    }
}

/// Random runs that are tried for one with a finding.
const TRIES: u64 = 300;

/// Different runs of a program, of at most `length` steps each: the threads one after the other, forwards and
/// backwards, in turns, and at random `random` times and until something is found, if it is.
pub fn schedules(
    program: &Program,
    blocking: Blocking,
    length: usize,
    random: u64,
) -> Vec<Run<'_>> {
    let mut runs = vec![
        Run::new(program, blocking, length, |_, _| 0),
        Run::new(program, blocking, length, |_, enabled| enabled.len() - 1),
        Run::new(program, blocking, length, |before, enabled| {
            let last = before.last().map_or(0, |step| step.thread.0 + 1);
            let next = enabled.iter().position(|step| step.thread.0 >= last);
            next.unwrap_or(0)
        }),
    ];
    let at_random = |seed| {
        let mut random = Random::new(seed);
        Run::new(program, blocking, length, move |_, enabled| {
            random.below(enabled.len())
        })
    };
    runs.extend((0..random).map(at_random));
    if runs.iter().all(|run| run.findings.is_empty()) {
        let found = (random..TRIES)
            .map(at_random)
            .find(|run| !run.findings.is_empty());
        runs.extend(found);
    }
    let mut known: Vec<Vec<Step>> = Vec::new();
    runs.retain(|run| {
        let new = !run.steps.is_empty() && !known.contains(&run.steps);
        known.push(run.steps.clone());
        new
    });
    runs
}

/// Whether something is found in every run, however often threads look in vain at what they wait for; `None` when that
/// takes more than `budget` steps to find out. A run that is longer than `length` counts as one without findings.
pub fn inevitable(program: &Program, length: usize, mut budget: usize) -> Option<bool> {
    let mut todo = vec![(Walk::new(program, Blocking::Whole), 0)];
    while let Some((walk, made)) = todo.pop() {
        let enabled = walk.enabled();
        if enabled.is_empty() || made == length {
            return Some(false);
        }
        for step in walk.polls().into_iter().chain(enabled) {
            budget = budget.checked_sub(1)?;
            let mut next = walk.clone();
            if next.step(step).is_empty() {
                todo.push((next, made + 1));
            }
        }
    }
    Some(true)
}
