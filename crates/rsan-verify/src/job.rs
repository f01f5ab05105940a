//! Which searches decide a property of a program.
//!
//! A program with few states is searched once, with the whole monitor. A larger one is searched once for every
//! location, with what concerns that location: the monitors of locations do not influence each other, so
//! nothing is lost, and their states add up instead of multiplying (docs/theory/finite.md, F14).

use crate::codec::Codec;
use crate::facts::Facts;
use crate::forgetting::Forgetting;
use crate::layout::{self, Focus, Layout, Watched};
use crate::machine::Machine;
use crate::options::{Options, Property, Stats};
use crate::search::{self, Bounds, End, Problem, Search};
use crate::values::Range;
use crate::{Error, Outcome, Pass, witness};
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
}

/// A search: what it watches for, how far it goes, and what it leaves out.
#[derive(Clone, Copy)]
struct Plan<'c> {
    watched: Watched,
    bounds: Bounds,
    /// What to forget; then a failure need not be real.
    forgetting: Option<&'c Forgetting>,
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
    /// Something failed, but so much was forgotten that it need not be real.
    Unsure(Stats),
}

impl Job<'_> {
    /// The answer, if there is one, and what it took.
    pub(crate) fn run(&self, progress: &mut dyn FnMut(&Stats)) -> Result<Decision, Error> {
        let mut range = Range::covering(constants(self.program));
        let locations = self.locations();
        // Where locations cannot be looked at one by one, forgetting may still help.
        let safe = self.pass.property == Property::Safe && !self.facts.mutation.all_at_once();
        let forgetting = (safe || !locations.is_empty())
            .then(|| self.forgetting())
            .flatten();
        let bounded = self.small || !locations.is_empty() || forgetting.is_some();
        let plan = Plan {
            watched: self.pass.watched,
            bounds: Bounds {
                states: bounded.then(|| self.at_once()),
                depth: None,
            },
            forgetting: None,
        };
        let stats = match self.widening(plan, &mut range, progress)? {
            Answer::Outcome(outcome) => return Ok(outcome.into()),
            Answer::Larger(stats) | Answer::Unsure(stats) => stats,
        };
        if self.small {
            return Ok(Decision {
                verdict: None,
                stats,
            });
        }
        if locations.is_empty() {
            let plan = Plan {
                bounds: Bounds::default(),
                forgetting: forgetting.as_ref(),
                ..plan
            };
            let (outcome, _) = self.one(plan, stats, &mut range, progress)?;
            return Ok(outcome.into());
        }
        let outcome = self.one_by_one(&locations, forgetting.as_ref(), stats, range, progress)?;
        Ok(outcome.into())
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

    /// A search for every location. The shortest schedule to a fault counts, the first of those that are equally long.
    fn one_by_one(
        &self,
        locations: &[LocId],
        forgetting: Option<&Forgetting>,
        mut stats: Stats,
        mut range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Outcome, Error> {
        let mut verdict = Verdict::Robust;
        let mut bounds = Bounds::default();
        for &loc in locations {
            let plan = Plan {
                watched: Watched {
                    robustness: Focus::One(loc),
                    races: false,
                    merged: forgetting.is_some_and(Forgetting::merges),
                    readings: forgetting.map_or(0, Forgetting::readings),
                },
                bounds,
                forgetting,
            };
            let (outcome, depth) = self.one(plan, stats, &mut range, progress)?;
            stats = outcome.stats;
            match outcome.verdict {
                Verdict::Robust => {}
                Verdict::Violation(witness) => {
                    verdict = Verdict::Violation(witness);
                    // Only a shorter one would be of interest from here on.
                    bounds.depth = Some(depth);
                    if depth == 0 {
                        break;
                    }
                }
                Verdict::Unknown(reason) => {
                    if verdict == Verdict::Robust {
                        verdict = Verdict::Unknown(reason);
                    }
                    break;
                }
            }
        }
        Ok(Outcome { verdict, stats })
    }

    /// A search that may forget, and if something fails then, another one that does not. Gives the figures of all
    /// searches so far, and the depth of this one.
    fn one(
        &self,
        mut plan: Plan<'_>,
        mut before: Stats,
        range: &mut Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<(Outcome, u32), Error> {
        loop {
            let mut wider = *range;
            let mut report = |stats: &Stats| progress(&before.and(stats));
            match self.widening(plan, &mut wider, &mut report)? {
                Answer::Outcome(mut outcome) => {
                    let depth = outcome.stats.depth;
                    outcome.stats = before.and(&outcome.stats);
                    *range = wider;
                    return Ok((outcome, depth));
                }
                Answer::Larger(stats) | Answer::Unsure(stats) => before = before.and(&stats),
            }
            plan.forgetting = None;
            plan.watched.merged = false;
            plan.watched.readings = 0;
        }
    }

    /// What may be forgotten of the program.
    fn forgetting(&self) -> Option<Forgetting> {
        // A thread that waits for ever is not to be forgotten when it is looked for.
        (!self.options.deadlock)
            .then(|| Forgetting::new(self.program, self.facts))
            .flatten()
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
            let bits = layout::bits_needed(self.program, self.facts, model, plan.watched, *range);
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
        let property = self.pass.property;
        let model = self.options.model;
        let layout = Layout::<W>::new(self.program, self.facts, model, plan.watched, range);
        let taints = property == Property::Observational;
        let covering = matches!(plan.watched.robustness, Focus::One(_))
            && !self.facts.mutation.without_covering();
        let codec = Codec::new(self.program, self.facts, &layout, taints, covering);
        let machine = Machine::new(self.program, self.facts, layout, property, plan.forgetting);
        let mut search = Search::new(
            &machine,
            &codec,
            plan.bounds,
            self.options.deadlock,
            self.started,
        );
        let end = search.run(self.options, progress);
        search.stats.memory = search.memory();
        let forgetful = plan.forgetting.is_some();
        let verdict = match end {
            End::Exhausted => Verdict::Robust,
            End::Larger => return Ok(Answer::Larger(search.stats)),
            End::Cut(reason) => Verdict::Unknown(reason),
            // What forgetting adds may have no bounds.
            End::Widen(_) if forgetful && range.bits >= FORGETFUL_BITS => {
                return Ok(Answer::Unsure(search.stats));
            }
            End::Failed(..) if forgetful => return Ok(Answer::Unsure(search.stats)),
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
