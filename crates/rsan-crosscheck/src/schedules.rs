//! Some runs of a program, chosen so that much of what can happen does; and whether something is found in every run.

use crate::{Blocking, Finding, POLL, Random, Step, Walk};
use rsan_model::{Fault, Instr, Pc, Program, ThreadId, Witness};

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
    fn start(program: &'p Program, blocking: Blocking) -> Self {
        Self {
            steps: Vec::new(),
            findings: Vec::new(),
            last: Walk::new(program, blocking),
        }
    }

    fn make(&mut self, step: Step) {
        self.findings.extend(self.last.step(step));
        self.steps.push(step);
    }

    /// The run that `choose` leads through: it is shown the steps that were made and those that are possible, and names
    /// one. The run ends when there is none, and is cut after `length` steps.
    pub fn new(
        program: &'p Program,
        blocking: Blocking,
        length: usize,
        mut choose: impl FnMut(&[Step], &[Step]) -> usize,
    ) -> Self {
        let mut run = Self::start(program, blocking);
        while run.steps.len() < length {
            let possible = [run.last.enabled(), run.last.polls()].concat();
            if possible.is_empty() {
                break;
            }
            let step = possible[choose(&run.steps, &possible)];
            run.make(step);
        }
        run
    }

    /// The same steps, with waits taken otherwise.
    pub fn again(&self, program: &'p Program, blocking: Blocking) -> Self {
        let mut run = Self::start(program, blocking);
        self.steps.iter().for_each(|step| run.make(*step));
        run
    }

    /// Whether a thread fails spin iterations.
    pub fn has_polls(&self) -> bool {
        self.steps.iter().any(|step| step.way == POLL)
    }

    /// The run that a verifier's witness describes, and the access that it says can be weak; it ends earlier when
    /// something else is found that ends it.
    ///
    /// # Errors
    /// When the steps are not possible.
    pub fn witnessed(
        program: &'p Program,
        blocking: Blocking,
        witness: &Witness,
    ) -> Result<Self, String> {
        let mut run = Self::start(program, blocking);
        for step in &witness.schedule {
            if run.last.end().is_some() {
                return Ok(run);
            }
            let choices = choices(&run.last, step.thread, step.pc);
            let choices = choices.ok_or_else(|| format!("{step:?} after {:?}", run.steps))?;
            choices.into_iter().for_each(|step| run.make(step));
            if run.last.next(step.thread).is_some() {
                run.make(Step {
                    thread: step.thread,
                    way: 0,
                });
            }
        }
        if let Fault::Weak(access) = &witness.fault
            && let Some(thread) = witness.graph.event(access.access).thread
            && run.last.end().is_none()
        {
            let pc = witness.graph.event(access.access).pc;
            let choices = choices(&run.last, thread, pc);
            let choices = choices.ok_or_else(|| format!("{access:?} after {:?}", run.steps))?;
            choices.into_iter().for_each(|step| run.make(step));
            let possible = [run.last.enabled(), run.last.polls()].concat();
            let step = possible.into_iter().find(|step| step.thread == thread);
            run.make(step.ok_or_else(|| format!("{access:?} is not possible"))?);
        }
        Ok(run)
    }
}

/// The choices and plain accesses, which a witness leaves out, by which a thread comes to an instruction.
fn choices(walk: &Walk<'_>, thread: ThreadId, pc: Pc) -> Option<Vec<Step>> {
    if walk.pc(thread) == Some(pc) {
        return Some(Vec::new());
    }
    let ways = match walk.next(thread)? {
        Instr::Choose(targets) => targets.len(),
        Instr::PlainLoad { .. } | Instr::PlainStore { .. } => 1,
        _ => return None,
    };
    (0..ways).find_map(|way| {
        let step = Step { thread, way };
        let mut next = walk.clone();
        next.step(step);
        let rest = choices(&next, thread, pc)?;
        Some([vec![step], rest].concat())
    })
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
        Run::new(program, blocking, length, |_, possible| possible.len() - 1),
        Run::new(program, blocking, length, |before, possible| {
            let last = before.last().map_or(0, |step| step.thread.0 + 1);
            let next = possible.iter().position(|step| step.thread.0 >= last);
            next.unwrap_or(0)
        }),
    ];
    let at_random = |seed| {
        let mut random = Random::new(seed);
        Run::new(program, blocking, length, move |_, possible| {
            random.below(possible.len())
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

/// Whether something is found in every run, however often spin iterations fail; `None` when that
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
