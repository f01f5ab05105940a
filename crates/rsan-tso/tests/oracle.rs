//! Robustness against TSO on random programs, against the enumeration of all TSO-consistent graphs.

use rsan_axioms::{Limits as OracleLimits, robustness as oracle};
use rsan_crosscheck::{Profile, Random, generate};
use rsan_lang::mini;
use rsan_model::{Expr, FenceOrd, Instr, Model, Program, ReadOrd, WriteOrd};
use rsan_tso::{FenceSet, Limits, Translated, Verdict, robustness};

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

/// With fewer locked instructions and fences: most random programs have so many that TSO shows nothing.
fn weakened(mut program: Program, random: &mut Random) -> Program {
    for thread in &mut program.threads {
        for instr in &mut thread.code {
            let weak = match instr {
                _ if random.chance(30) => None,
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
            };
            if let Some(weak) = weak {
                *instr = weak;
            }
        }
    }
    program
}

fn agree(program: &Program) -> Result<bool, String> {
    let limits = OracleLimits::default();
    let expected = oracle(program, Model::Tso, &limits).map_err(|e| e.to_string())?;
    if expected.cut.is_some() {
        return Ok(expected.robust);
    }
    let translated = Translated::from(program);
    let outcome = robustness(
        &translated.automata,
        &FenceSet::default(),
        &Limits::default(),
    );
    let robust = match outcome.verdict {
        Verdict::Robust => true,
        Verdict::Violation(_) => false,
        other => return Err(format!("{other:?}")),
    };
    if robust != expected.robust {
        let text = mini::print(program).unwrap_or_default();
        return Err(format!(
            "oracle {}, search {robust}: {text}",
            expected.robust
        ));
    }
    Ok(robust)
}

#[test]
fn the_search_agrees_with_the_oracle_on_random_programs() {
    let count = std::env::var("RSAN_PROGRAMS").map_or(3000, |n| n.parse().expect("a number"));
    let mut not_robust = 0;
    for seed in 0..count {
        let profiles = Profile::of(Model::C20);
        let profile = profiles[seed as usize % profiles.len()];
        let mut random = Random::new(seed);
        let program = without_assertions(generate(&mut random, profile, Model::C20));
        let program = match seed % 4 {
            0 => program,
            _ => weakened(program, &mut random),
        };
        match agree(&program) {
            Ok(robust) => not_robust += u64::from(!robust),
            Err(message) => panic!("seed {seed} ({}): {message}", profile.name()),
        }
    }
    eprintln!("{not_robust} of {count} programs are not robust");
    assert!(not_robust * 30 > count, "enough programs are not robust");
}
