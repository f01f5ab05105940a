//! Robustness against TSO: the search for attacks against the enumeration of all TSO-consistent graphs.

use crate::{Profile, Random, generate};
use rsan_axioms::{Limits as OracleLimits, robustness as oracle};
use rsan_lang::mini;
use rsan_model::{Expr, FenceOrd, Instr, Model, Program, ReadOrd, WriteOrd};
use rsan_tso::{FenceSet, Limits, Translated, Verdict, robustness};
use std::ops::Range;
use std::sync::Mutex;

/// What came of a comparison on many programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TsoTally {
    /// Programs that both find robust.
    pub robust: u64,
    /// Programs that both find not robust.
    pub not_robust: u64,
    /// Programs that are too large for the oracle.
    pub skipped: u64,
    /// The first disagreement: the seed, and what was said.
    pub disagreement: Option<(u64, String)>,
}

/// Compares the engines on the programs with these seeds, on so many threads.
pub fn compare_tso(seeds: Range<u64>, jobs: usize) -> TsoTally {
    let next = Mutex::new(seeds);
    let tally = Mutex::new(TsoTally::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                let take = || next.lock().expect("nobody panics with the seeds").next();
                while let Some(seed) = take() {
                    let answer = agreement(&tso_program(seed));
                    let mut tally = tally.lock().expect("nobody panics with the tally");
                    match answer {
                        Ok(Some(true)) => tally.robust += 1,
                        Ok(Some(false)) => tally.not_robust += 1,
                        Ok(None) => tally.skipped += 1,
                        Err(message) => {
                            let first = tally.disagreement.as_ref().is_none_or(|d| seed < d.0);
                            if first {
                                tally.disagreement = Some((seed, message));
                            }
                        }
                    }
                }
            });
        }
    });
    tally.into_inner().expect("nobody panics with the tally")
}

/// A random program. Most have fewer locked instructions and fences than those for other models: TSO would show nothing.
pub fn tso_program(seed: u64) -> Program {
    let profiles = Profile::of(Model::C20);
    let profile = profiles[seed as usize % profiles.len()];
    let mut random = Random::new(seed);
    let program = without_assertions(generate(&mut random, profile, Model::C20));
    match seed % 4 {
        0 => program,
        _ => weakened(program, &mut random),
    }
}

/// Whether a program is robust by both engines; `None` when it is too large for the oracle.
fn agreement(program: &Program) -> Result<Option<bool>, String> {
    let limits = OracleLimits::default();
    let expected = oracle(program, Model::Tso, &limits).map_err(|e| e.to_string())?;
    if expected.cut.is_some() {
        return Ok(None);
    }
    let translated = Translated::from(program);
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let outcome = robustness(&translated.automata, &FenceSet::default(), &limits);
    let robust = match outcome.verdict {
        Verdict::Robust => true,
        Verdict::Violation(_) => false,
        other => return Err(format!("{other:?}")),
    };
    if robust == expected.robust {
        return Ok(Some(robust));
    }
    let text = mini::print(program).unwrap_or_default();
    Err(format!(
        "oracle {}, search {robust}: {text}",
        expected.robust
    ))
}

/// Without assertions, which would end the search before an attack is found.
fn without_assertions(mut program: Program) -> Program {
    for thread in &mut program.threads {
        for instr in &mut thread.code {
            if matches!(instr, Instr::Assert(_)) {
                *instr = Instr::Observe(Expr::Const(0));
            }
        }
    }
    program
}

fn weakened(mut program: Program, random: &mut Random) -> Program {
    for thread in &mut program.threads {
        for instr in &mut thread.code {
            if !random.chance(30)
                && let Some(weak) = weaker(instr, random)
            {
                *instr = weak;
            }
        }
    }
    program
}

/// A weaker instruction in place of one.
fn weaker(instr: &Instr, random: &mut Random) -> Option<Instr> {
    match instr {
        Instr::Fence(_) => Some(Instr::Fence(FenceOrd::AcqRel)),
        Instr::Store { place, value, .. } => Some(Instr::Store {
            place: place.clone(),
            value: value.clone(),
            ord: WriteOrd::Release,
        }),
        Instr::Rmw {
            dst: Some(dst),
            place,
            operand,
            ..
        } => Some(if random.chance(50) {
            Instr::Load {
                dst: *dst,
                place: place.clone(),
                ord: ReadOrd::Acquire,
            }
        } else {
            Instr::Store {
                place: place.clone(),
                value: operand.clone(),
                ord: WriteOrd::Release,
            }
        }),
        _ => None,
    }
}
