//! The engine and the oracle on many random programs.

use super::{Expected, Mode, Outcome, executions, expected};
use crate::{Profile, Random, generate, listing, on_all_cores, shrink};
use rsan_axioms::Limits;
use rsan_model::{Instr, LocKind, Model, Program, ReadOrd, WriteOrd};
use rsan_weak::Engine;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

/// Seeds that are worked on at a time.
const BATCH: u64 = 50;

/// What came of many programs.
#[derive(Clone, Debug, Default)]
pub struct WeakTally {
    /// Programs with the same executions.
    pub programs: u64,
    /// Their executions, by the axioms.
    pub executions: u64,
    /// Outcomes that the engine has shown: fewer if only last writes count, or with a window.
    pub shown: u64,
    /// Programs that have executions outside of the fragment, too.
    pub outside: u64,
    /// Programs that are too large for the oracle, or have too many schedules.
    pub skipped: u64,
    /// The first program with a difference.
    pub difference: Option<WeakDifference>,
}

/// A program whose executions differ, shrunk.
#[derive(Clone, Debug)]
pub struct WeakDifference {
    /// The seed of the program as it was generated.
    pub seed: u64,
    /// The shrunk program.
    pub program: Program,
    /// An execution that one of them lacks, and who has it.
    pub what: String,
}

impl fmt::Display for WeakDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = rsan_lang::mini::print(&self.program);
        let text = text.unwrap_or_else(|_| listing(&self.program));
        write!(f, "seed {}: {}\n  {text}", self.seed, self.what)
    }
}

/// The random program with a seed. Plain accesses are relaxed ones here: the engine has no others.
pub fn weak_program(seed: u64) -> Program {
    let profiles = Profile::of(Model::C20);
    let profile = profiles[(seed % profiles.len() as u64) as usize];
    atomic(generate(&mut Random::new(seed), profile, Model::C20))
}

/// The program with relaxed accesses in place of plain ones.
pub fn atomic(mut program: Program) -> Program {
    for location in &mut program.locations {
        location.kind = LocKind::Atomic;
    }
    for instr in program.threads.iter_mut().flat_map(|t| &mut t.code) {
        *instr = match instr.clone() {
            Instr::PlainLoad { dst, place } => Instr::Load {
                dst,
                place,
                ord: ReadOrd::Relaxed,
            },
            Instr::PlainStore { place, value } => Instr::Store {
                place,
                value,
                ord: WriteOrd::Relaxed,
            },
            other => other,
        };
    }
    program
}

/// What the comparison of one program says.
enum Answer {
    /// What the axioms allow, and how many outcomes the engine has shown.
    Same(Expected, usize),
    TooLarge,
    Differs(String),
}

fn ask(program: &Program, mode: Mode) -> Answer {
    let limits = Limits {
        max_graphs: 30_000,
        ..Limits::default()
    };
    let Ok(expected) = expected(program, &limits) else {
        return Answer::TooLarge;
    };
    let mut engine = Engine::default();
    engine.set_window(mode.window);
    let shown = executions(program, engine, mode, 60_000);
    if expected.cut || shown.cut {
        return Answer::TooLarge;
    }
    let wanted = match mode.summary {
        true => expected
            .inside
            .iter()
            .cloned()
            .map(Outcome::summary)
            .collect(),
        false => expected.inside.clone(),
    };
    match difference(&shown.outcomes, &wanted, mode.window.is_none()) {
        None => Answer::Same(expected, shown.outcomes.len()),
        Some(what) => Answer::Differs(what),
    }
}

/// The least outcome that only one of two sets has; of those that are not shown only if all should be.
fn difference(shown: &HashSet<Outcome>, expected: &HashSet<Outcome>, all: bool) -> Option<String> {
    let least = |one: &HashSet<Outcome>, other: &HashSet<Outcome>| {
        one.difference(other).map(|o| format!("{o:?}")).min()
    };
    let forbidden = least(shown, expected).map(|o| format!("shown, but forbidden: {o}"));
    let missing = || least(expected, shown).map(|o| format!("allowed, but not shown: {o}"));
    forbidden.or_else(|| missing().filter(|_| all))
}

/// Compares the engine with the oracle on the programs with these seeds.
pub fn compare_weak(seeds: Range<u64>, mode: Mode) -> WeakTally {
    let starts: Vec<u64> = seeds.clone().step_by(BATCH as usize).collect();
    let tallies = on_all_cores(&starts, |start| {
        let mut tally = WeakTally::default();
        for seed in *start..seeds.end.min(start + BATCH) {
            tally.count(seed, mode);
        }
        tally
    });
    let mut total = WeakTally::default();
    for tally in tallies {
        total.programs += tally.programs;
        total.executions += tally.executions;
        total.shown += tally.shown;
        total.outside += tally.outside;
        total.skipped += tally.skipped;
        total.difference = total.difference.or(tally.difference);
    }
    total
}

impl WeakTally {
    fn count(&mut self, seed: u64, mode: Mode) {
        if self.difference.is_some() {
            return;
        }
        let program = weak_program(seed);
        match ask(&program, mode) {
            Answer::TooLarge => self.skipped += 1,
            Answer::Same(expected, shown) => {
                self.programs += 1;
                self.executions += expected.inside.len() as u64;
                self.shown += shown as u64;
                self.outside += u64::from(!expected.outside.is_empty());
            }
            Answer::Differs(_) => {
                let differs = |p: &Program| matches!(ask(p, mode), Answer::Differs(_));
                let program = shrink(program, &differs);
                if let Answer::Differs(what) = ask(&program, mode) {
                    self.difference = Some(WeakDifference {
                        seed,
                        program,
                        what,
                    });
                }
            }
        }
    }
}
