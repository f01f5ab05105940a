//! The search for the cheapest changes; the crate's documentation says why it is exact.

use crate::hereditary;
use crate::site::{Chosen, Site, apply, weaker_or_equal};
use crate::solve::{Clause, solve};
use rsan_model::{Fault, Instr, Model, Program, Reason, Verdict, Witness};
use rsan_verify::{Error, Options, Stats, verify};
use std::time::Instant;

/// A change of a repair, and why it is needed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proved {
    /// Where.
    pub site: Site,
    /// Which of the site's options.
    pub option: usize,
    /// The program with all other changes.
    pub without: Program,
    /// What is wrong with it.
    pub witness: Witness,
}

/// A cheapest repair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The changes; with none of them left out or weaker does the program verify.
    pub changes: Vec<Proved>,
    /// What they cost together.
    pub cost: u64,
    /// The repaired program, which verifies.
    pub program: Program,
    /// What its proof took.
    pub stats: Stats,
    /// How many sets of changes were tried before.
    pub tried: usize,
}

/// What came of looking for a repair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Synthesis {
    /// A cheapest one; without changes when the program verifies as it is.
    Repair(Box<Repair>),
    /// No changes help: what is left after all those that were tried last, and the program with them.
    Impossible(Box<Program>, Box<Witness>),
    /// The program fails under SC already.
    Fault(Box<Witness>),
    /// Not decided.
    Unknown {
        /// Why.
        reason: Reason,
        /// What every repair costs, if there is one.
        at_least: u64,
    },
}

/// States of a search that grows a failing set, in bytes: to know that a set is a repair takes far longer than to find that it
/// is none, and here only the latter is of use. A set that could have grown further makes a weaker clause, which is sound, too.
const SOON: u64 = 1 << 20;

/// Why a search ended early.
enum Stop {
    Unknown(Reason),
    Error(Error),
}

/// The cheapest changes that make a program verify. `progress` hears how many sets were tried, and what the next one costs.
///
/// # Errors
/// When the program cannot be verified under the model at all.
pub fn cheapest(
    program: &Program,
    sites: &[Site],
    options: &Options<'_>,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Synthesis, Error> {
    let search = Search {
        program,
        sites,
        options,
        started: Instant::now(),
    };
    let mut at_least = 0;
    let answer = search.run(&mut |tried, cost| {
        at_least = cost;
        progress(tried, cost);
    });
    match answer {
        Ok(synthesis) => Ok(synthesis),
        Err(Stop::Unknown(reason)) => Ok(Synthesis::Unknown { reason, at_least }),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Search<'a> {
    program: &'a Program,
    sites: &'a [Site],
    options: &'a Options<'a>,
    started: Instant,
}

impl Search<'_> {
    fn run(&self, progress: &mut dyn FnMut(usize, u64)) -> Result<Synthesis, Stop> {
        let mut clauses: Vec<Clause> = Vec::new();
        let mut left: Option<(Chosen, Witness)> = None;
        loop {
            let Some(chosen) = solve(self.sites, &clauses) else {
                let (chosen, witness) = left.expect("no clauses are always satisfied");
                let program = apply(self.program, self.sites, &chosen);
                return Ok(Synthesis::Impossible(Box::new(program), Box::new(witness)));
            };
            progress(clauses.len(), self.cost(&chosen));
            let (failure, stats) = self.verify(&chosen)?;
            let Some(witness) = failure else {
                return self.prove(chosen, stats, clauses.len());
            };
            match witness.fault {
                Fault::Weak(_) | Fault::Race { .. } => {}
                _ => return Ok(Synthesis::Fault(Box::new(witness))),
            }
            let soon = SOON.max(8 * stats.memory);
            let (clause, grown, witness) = self.learn(chosen, witness, soon)?;
            clauses.push(clause);
            left = Some((grown, witness));
        }
    }

    fn cost(&self, chosen: &[Option<usize>]) -> u64 {
        let both = self.sites.iter().zip(chosen);
        both.filter_map(|(site, option)| Some(site.options[(*option)?].cost))
            .sum()
    }

    /// What is wrong with the changed program, and what it took to know.
    fn verify(&self, chosen: &[Option<usize>]) -> Result<(Option<Witness>, Stats), Stop> {
        self.verify_within(chosen, self.options.memory_limit)
    }

    /// What is wrong with the changed program, if that is found soon.
    fn fails_soon(&self, chosen: &[Option<usize>], memory: u64) -> Result<Option<Witness>, Stop> {
        let limit = self.options.memory_limit.unwrap_or(u64::MAX).min(memory);
        match self.verify_within(chosen, Some(limit)) {
            Err(Stop::Unknown(Reason::MemoryLimit)) => Ok(None),
            answer => Ok(answer?.0),
        }
    }

    fn verify_within(
        &self,
        chosen: &[Option<usize>],
        memory: Option<u64>,
    ) -> Result<(Option<Witness>, Stats), Stop> {
        let mut options = *self.options;
        options.memory_limit = memory;
        if let Some(limit) = options.time_limit {
            let left = limit.checked_sub(self.started.elapsed());
            options.time_limit = Some(left.ok_or(Stop::Unknown(Reason::TimeLimit))?);
        }
        let program = apply(self.program, self.sites, chosen);
        let outcome = match verify(&program, &options, &mut |_| {}) {
            Ok(outcome) => outcome,
            Err(Error::TooLarge(what)) => return Err(Stop::Unknown(Reason::TooLarge(what))),
            Err(error) => return Err(Stop::Error(error)),
        };
        match outcome.verdict {
            Verdict::Robust => Ok((None, outcome.stats)),
            Verdict::Violation(witness) => Ok((Some(*witness), outcome.stats)),
            Verdict::Unknown(reason) => Err(Stop::Unknown(reason)),
        }
    }

    /// Grows a failing set, and says what every repair has that it has not.
    fn learn(
        &self,
        mut chosen: Chosen,
        mut witness: Witness,
        soon: u64,
    ) -> Result<(Clause, Chosen, Witness), Stop> {
        let all = hereditary(&witness);
        for s in 0..self.sites.len() {
            for o in self.strongest_first(s, chosen[s]) {
                if !all && (self.is_observable(s, o) || self.has_observable(s, chosen[s])) {
                    continue;
                }
                let mut more = chosen.clone();
                more[s] = Some(o);
                let Some(new) = self.fails_soon(&more, soon)? else {
                    continue;
                };
                if !all || hereditary(&new) {
                    (chosen, witness) = (more, new);
                    break;
                }
            }
        }
        let mut clause = Clause::default();
        for (s, site) in self.sites.iter().enumerate() {
            for o in 0..site.options.len() {
                if !all && chosen[s] == Some(o) && self.is_observable(s, o) {
                    clause.unless.push((s, o));
                } else if !self.is_within(s, o, chosen[s])
                    && (all || !self.has_observable(s, chosen[s]))
                {
                    clause.wanted.push((s, o));
                }
            }
        }
        Ok((clause, chosen, witness))
    }

    /// The options of a site that are stronger than the one it has.
    fn strongest_first(&self, s: usize, now: Option<usize>) -> Vec<usize> {
        let site = &self.sites[s];
        let more = |o: &usize| {
            let stronger = |now: usize| {
                let (old, new) = (&site.options[now].instr, &site.options[*o].instr);
                now != *o && weaker_or_equal(old, new)
            };
            now.is_none_or(stronger)
        };
        let mut options: Vec<usize> = (0..site.options.len()).filter(more).collect();
        options.sort_by_key(|o| std::cmp::Reverse(site.options[*o].steps));
        options
    }

    /// Whether an option is at most what the site has.
    fn is_within(&self, s: usize, o: usize, now: Option<usize>) -> bool {
        let options = &self.sites[s].options;
        now.is_some_and(|now| weaker_or_equal(&options[o].instr, &options[now].instr))
    }

    /// Whether an option is an SC fence whose order can be observed.
    fn is_observable(&self, s: usize, o: usize) -> bool {
        let sc = matches!(&self.sites[s].options[o].instr, Instr::Fence(ord) if ord.is_sc());
        sc && self.options.model != Model::C20
    }

    fn has_observable(&self, s: usize, now: Option<usize>) -> bool {
        now.is_some_and(|o| self.is_observable(s, o))
    }

    /// Why each change is needed.
    fn prove(&self, chosen: Chosen, stats: Stats, tried: usize) -> Result<Synthesis, Stop> {
        let mut changes = Vec::new();
        for (s, site) in self.sites.iter().enumerate() {
            let Some(option) = chosen[s] else { continue };
            let weaker = (0..site.options.len()).filter(|o| self.is_within(s, *o, Some(option)));
            for o in weaker.filter(|o| *o != option) {
                self.fails_with(&chosen, s, Some(o))?;
            }
            let (without, witness) = self.fails_with(&chosen, s, None)?;
            changes.push(Proved {
                site: site.clone(),
                option,
                without,
                witness,
            });
        }
        Ok(Synthesis::Repair(Box::new(Repair {
            changes,
            cost: self.cost(&chosen),
            program: apply(self.program, self.sites, &chosen),
            stats,
            tried,
        })))
    }

    /// Checks that a cheaper set is no repair.
    fn fails_with(
        &self,
        chosen: &[Option<usize>],
        s: usize,
        option: Option<usize>,
    ) -> Result<(Program, Witness), Stop> {
        let mut less = chosen.to_vec();
        less[s] = option;
        let (failure, _) = self.verify(&less)?;
        let witness = failure.expect("all cheaper sets of changes fail");
        Ok((apply(self.program, self.sites, &less), witness))
    }
}
