//! Which searches decide a property of a program.
//!
//! A program with few states is searched once, with the whole monitor. A larger one is searched once for every
//! location, with what concerns that location: the monitors of locations do not influence each other, so
//! nothing is lost, and their states add up instead of multiplying (docs/theory/finite.md, F14).

mod parts;

use crate::codec::Codec;
use crate::facts::Facts;
use crate::forgetting::Forgetting;
use crate::layout::{self, Focus, Layout, Watched};
use crate::machine::Machine;
use crate::options::{Options, Property, Stats};
use crate::search::{self, Bounds, End, Problem, Search};
use crate::values::Range;
use crate::workers::Workers;
use crate::{Error, Outcome, Pass, witness};
use parts::Reductions;
use rsan_model::{Expr, Instr, LocId, Program, Reason, Value, Verdict};
use std::time::Instant;

/// States up to which a program is searched at once: few enough to cost next to nothing when they were too few.
const AT_ONCE: u64 = 1 << 17;

/// Bits of values up to which a search is worth it that forgets something.
const FORGETFUL_BITS: u32 = 10;

/// A pass over a program.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Program,
    pub(crate) facts: &'a Facts,
    pub(crate) options: &'a Options<'a>,
    pub(crate) pass: Pass,
    /// Whether to give up when the program is not small.
    pub(crate) small: bool,
    pub(crate) started: Instant,
    pub(crate) workers: &'a Workers,
}

/// What a search runs: the program, or one that does more and of which less is kept.
#[derive(Clone, Copy)]
struct Subject<'c> {
    program: &'c Program,
    facts: &'c Facts,
    /// What to forget.
    forgetting: Option<&'c Forgetting>,
    /// Values that decide nothing are left out (F19).
    sliced: bool,
    /// Values of which there are many are not told apart.
    merged: bool,
}

/// A search: what it runs and watches for, and how far it goes.
#[derive(Clone, Copy)]
struct Plan<'c> {
    property: Property,
    watched: Watched,
    bounds: Bounds<'c>,
    subject: Subject<'c>,
}

/// What a pass says.
pub(crate) struct Decision {
    /// `None` when the program is not small.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) stats: Stats,
}

impl From<Outcome> for Decision {
    fn from(outcome: Outcome) -> Self {
        Self {
            verdict: Some(outcome.verdict),
            stats: outcome.stats,
        }
    }
}

/// How a search with fixed bounds ended.
enum Answer {
    Outcome(Outcome),
    /// There are more states than it was to look at.
    Larger(Stats),
    /// Something failed, but so much was left out that it need not be real.
    Unsure(Stats),
}

impl Job<'_> {
    /// The answer, if there is one, and what it took.
    pub(crate) fn run(&self, progress: &mut dyn FnMut(&Stats)) -> Result<Decision, Error> {
        let mut range = Range::covering(constants(self.program));
        let reductions = Reductions::new(self);
        let parts = self.parts(&reductions);
        let mut stats = Stats::default();
        // What is not small has been tried at once before this step of observational robustness.
        let reducible = parts.len() > 1 || parts[0].attempts.len() > 1;
        let tried = self.pass.property == Property::Observational;
        if self.small || reducible && !tried {
            let plan = Plan {
                property: self.pass.property,
                watched: self.pass.watched,
                bounds: Bounds {
                    states: Some(self.at_once()),
                    ..Bounds::default()
                },
                subject: self.exact(),
            };
            match self.widening(plan, &mut range, progress)? {
                Answer::Outcome(outcome) => return Ok(outcome.into()),
                Answer::Larger(found) | Answer::Unsure(found) => stats = found,
            }
        }
        if self.small {
            return Ok(Decision {
                verdict: None,
                stats,
            });
        }
        Ok(self.all(&parts, stats, range, progress)?.into())
    }

    /// The program as it is.
    fn exact(&self) -> Subject<'_> {
        Subject {
            program: self.program,
            facts: self.facts,
            forgetting: None,
            sliced: false,
            merged: false,
        }
    }

    /// The locations that can be looked at one by one; none when the property cannot be taken apart.
    fn locations(&self) -> Vec<LocId> {
        // A load that may be stale changes what is known of every location.
        let apart =
            self.pass.property == Property::Robust && self.pass.watched.robustness == Focus::All;
        if !apart || self.facts.mutation.all_at_once() {
            return Vec::new();
        }
        (0..self.program.locations.len())
            .map(LocId::new)
            .filter(|&loc| layout::can_be_weak(self.facts, loc))
            .collect()
    }

    fn at_once(&self) -> u64 {
        if self.facts.mutation.one_by_one() {
            0
        } else {
            AT_ONCE
        }
    }

    /// Searches, with more and more values until the range is large enough.
    fn widening(
        &self,
        plan: Plan<'_>,
        range: &mut Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Answer, Error> {
        loop {
            let model = self.options.model;
            let Subject { program, facts, .. } = plan.subject;
            let bits = layout::bits_needed(program, facts, model, plan.watched, *range);
            let answer = match bits {
                0..=64 => self.search::<1>(plan, *range, progress),
                65..=128 => self.search::<2>(plan, *range, progress),
                129..=256 => self.search::<4>(plan, *range, progress),
                257..=1024 => self.search::<16>(plan, *range, progress),
                _ => {
                    return Err(Error::TooLarge(format!(
                        "the monitor needs {bits} bits a view, more than 1024; fewer locations, or smaller \
                         ranges of the values that waits and compare-and-swaps compare with, would help"
                    )));
                }
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(value) => {
                    *range = range.widened_to(value);
                    if plan.bounds.states.is_none() {
                        // Starting again is expensive: values get as large as what they are compared with.
                        let limits = compared(self.program);
                        *range = limits.iter().fold(*range, |r, &v| r.widened_to(v));
                    }
                }
            }
        }
    }

    /// One search with a fixed range of values: the answer, or a value that the range lacks.
    fn search<const W: usize>(
        &self,
        plan: Plan<'_>,
        range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Answer, Value> {
        let Plan {
            property,
            subject,
            watched,
            ..
        } = plan;
        let Subject { program, facts, .. } = subject;
        let model = self.options.model;
        let layout = Layout::<W>::new(program, facts, model, watched, range);
        let inexact = subject.forgetting.is_some() || subject.sliced || layout.is_merged();
        let taints = property == Property::Observational;
        let covering =
            matches!(watched.robustness, Focus::One(_)) && !facts.mutation.without_covering();
        let codec = Codec::new(program, facts, &layout, taints, covering);
        let machine = Machine::new(program, facts, layout, property, subject.forgetting);
        let mut search = Search::new(
            &machine,
            &codec,
            plan.bounds,
            self.options.deadlock,
            self.started,
            self.workers,
        );
        let end = search.run(self.options, progress);
        search.stats.memory = search.memory();
        let verdict = match end {
            End::Exhausted => Verdict::Robust,
            End::Larger => return Ok(Answer::Larger(search.stats)),
            End::Cut(reason) => Verdict::Unknown(reason),
            // What is added may have no bounds.
            End::Widen(_) if inexact && range.bits >= FORGETFUL_BITS => {
                return Ok(Answer::Unsure(search.stats));
            }
            End::Failed(..) if inexact => return Ok(Answer::Unsure(search.stats)),
            End::Widen(overflow) => return Err(overflow.0),
            End::Failed(_, Problem::Step(failure)) if search::is_limit(&failure) => {
                Verdict::Unknown(Reason::TooLarge(
                    "a loop without shared accesses runs for millions of steps".into(),
                ))
            }
            #[cfg(test)]
            End::Failed(_, problem) if self.facts.mutation.broken.is_some() => {
                Verdict::Violation(Box::new(crate::tests::unexplained(&problem)))
            }
            End::Failed(state, problem) => {
                Verdict::Violation(Box::new(witness::explain(&search, model, state, problem)))
            }
        };
        search.stats.elapsed = self.started.elapsed();
        Ok(Answer::Outcome(Outcome {
            verdict,
            stats: search.stats,
        }))
    }
}

/// The constants of a program, as a first guess of the values that occur.
fn constants(program: &Program) -> Vec<Value> {
    let mut values: Vec<Value> = program.locations.iter().map(|l| l.init).collect();
    for thread in &program.threads {
        values.extend(thread.registers.iter().map(|r| r.init));
    }
    for (_, _, instr) in program.instructions() {
        let stored = match instr {
            Instr::Store { value, .. }
            | Instr::PlainStore { value, .. }
            | Instr::Assign { value, .. } => Some(value),
            Instr::Cas { new, .. } | Instr::Bcas { new, .. } => Some(new),
            _ => None,
        };
        if let Some(value) = stored.and_then(Expr::as_const) {
            values.push(program.domain.wrap(value));
        }
    }
    values
}

/// The constants in conditions, but for very large ones.
fn compared(program: &Program) -> Vec<Value> {
    let mut values = Vec::new();
    for (_, _, instr) in program.instructions() {
        if let Instr::Branch { cond: e, .. } | Instr::Assert(e) | Instr::Assume(e) = instr {
            constants_of(e, &mut values);
        }
    }
    values
}

fn constants_of(e: &Expr, values: &mut Vec<Value>) {
    match e {
        Expr::Const(c) if (0..1024).contains(c) => values.push(*c as Value),
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Element { index: e, .. } | Expr::Unary(_, e) => constants_of(e, values),
        Expr::Binary(_, l, r) => [l, r].into_iter().for_each(|e| constants_of(e, values)),
        Expr::If(c, l, r) => [c, l, r].into_iter().for_each(|e| constants_of(e, values)),
    }
}
