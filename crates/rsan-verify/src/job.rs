//! Which searches decide a property of a program.
//!
//! A program with few states is searched once, with the whole monitor. A larger one is searched once for every
//! location, with what concerns that location: the monitors of locations do not influence each other, so
//! nothing is lost, and their states add up instead of multiplying (docs/theory/finite.md, F14).

use crate::codec::Codec;
use crate::facts::Facts;
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

/// A pass over a program.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Program,
    pub(crate) facts: &'a Facts,
    pub(crate) options: &'a Options<'a>,
    pub(crate) pass: Pass,
    pub(crate) started: Instant,
}

/// How a search with fixed bounds ended.
enum Answer {
    Outcome(Outcome),
    /// There are more states than it was to look at.
    Larger(Stats),
}

impl Job<'_> {
    pub(crate) fn run(&self, progress: &mut dyn FnMut(&Stats)) -> Result<Outcome, Error> {
        let mut range = Range::covering(constants(self.program));
        let locations = self.locations();
        let bounds = Bounds {
            states: (!locations.is_empty()).then(|| self.at_once()),
            depth: None,
        };
        let watched = self.pass.watched;
        match self.widening(watched, bounds, &mut range, progress)? {
            Answer::Outcome(outcome) => Ok(outcome),
            Answer::Larger(stats) => self.one_by_one(&locations, stats, range, progress),
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

    /// A search for every location. The shortest schedule to a fault counts, the first of those that are equally long.
    fn one_by_one(
        &self,
        locations: &[LocId],
        mut stats: Stats,
        mut range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Outcome, Error> {
        let mut verdict = Verdict::Robust;
        let mut bounds = Bounds::default();
        for &loc in locations {
            let watched = Watched {
                robustness: Focus::One(loc),
                races: false,
            };
            let before = stats;
            let mut report = |stats: &Stats| progress(&before.and(stats));
            let Answer::Outcome(outcome) =
                self.widening(watched, bounds, &mut range, &mut report)?
            else {
                unreachable!("the number of states is not bounded");
            };
            stats = before.and(&outcome.stats);
            match outcome.verdict {
                Verdict::Robust => {}
                Verdict::Violation(witness) => {
                    verdict = Verdict::Violation(witness);
                    if outcome.stats.depth == 0 {
                        break;
                    }
                    bounds.depth = Some(outcome.stats.depth);
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

    /// Searches, with more and more values until the range is large enough.
    fn widening(
        &self,
        watched: Watched,
        bounds: Bounds,
        range: &mut Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Answer, Error> {
        loop {
            let model = self.options.model;
            let bits = layout::bits_needed(self.program, self.facts, model, watched, *range);
            let answer = match bits {
                0..=64 => self.search::<1>(watched, bounds, *range, progress),
                65..=128 => self.search::<2>(watched, bounds, *range, progress),
                129..=256 => self.search::<4>(watched, bounds, *range, progress),
                257..=1024 => self.search::<16>(watched, bounds, *range, progress),
                _ => {
                    return Err(Error::TooLarge(format!(
                        "the monitor needs {bits} bits a view, more than 1024; fewer locations, or smaller \
                         ranges of the values that waits and compare-and-swaps compare with, would help"
                    )));
                }
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(value) => *range = range.widened_to(value),
            }
        }
    }

    /// One search with a fixed range of values: the answer, or a value that the range lacks.
    fn search<const W: usize>(
        &self,
        watched: Watched,
        bounds: Bounds,
        range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Answer, Value> {
        let property = self.pass.property;
        let model = self.options.model;
        let layout = Layout::<W>::new(self.program, self.facts, model, watched, range);
        let taints = property == Property::Observational;
        let codec = Codec::new(self.program, self.facts, &layout, taints);
        let machine = Machine::new(self.program, self.facts, layout, property);
        let mut search = Search::new(
            &machine,
            &codec,
            bounds,
            self.options.deadlock,
            self.started,
        );
        let end = search.run(self.options, progress);
        search.stats.memory = search.memory();
        let verdict = match end {
            End::Exhausted => Verdict::Robust,
            End::Larger => return Ok(Answer::Larger(search.stats)),
            End::Cut(reason) => Verdict::Unknown(reason),
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
