//! Smaller programs that still show the same problem.

use crate::edit;
use rsan_model::{Expr, Instr, Program};

/// Removes instructions, and simplifies those that stay, one by one, as long as `interesting` stays true.
pub fn shrink(mut program: Program, interesting: &dyn Fn(&Program) -> bool) -> Program {
    while let Some(smaller) = candidates(&program)
        .into_iter()
        .find(|candidate| interesting(candidate))
    {
        program = smaller;
    }
    program
}

/// All programs that are one step smaller.
fn candidates(program: &Program) -> Vec<Program> {
    let places = || {
        let threads = program.threads.iter().enumerate();
        threads.flat_map(|(t, thread)| (0..thread.code.len()).map(move |pc| (t, pc)))
    };
    let removed = places().filter_map(|(t, pc)| {
        let mut candidate = program.clone();
        edit::remove(&mut candidate.threads[t], pc);
        spawns_match(&candidate).then_some(candidate)
    });
    let simplified = places().filter_map(|(t, pc)| {
        let mut candidate = program.clone();
        simplify(&mut candidate.threads[t].code[pc]).then_some(candidate)
    });
    removed.chain(simplified).collect()
}

/// Makes an instruction simpler; false when it is simple already.
pub(crate) fn simplify(instr: &mut Instr) -> bool {
    match instr {
        Instr::Wait { dst, values, .. } => {
            if values.len() > 1 {
                values.pop();
                return true;
            }
            dst.take().is_some()
        }
        Instr::Store { value, .. } | Instr::PlainStore { value, .. } => constant(value),
        Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => {
            constant(expected) || constant(new)
        }
        _ => false,
    }
}

fn constant(value: &mut Expr) -> bool {
    let simpler = value.as_const().is_none();
    if simpler {
        *value = Expr::Const(0);
    }
    simpler
}

/// A thread is joined only if it is spawned, too.
fn spawns_match(program: &Program) -> bool {
    let spawned = |t| {
        program
            .instructions()
            .any(|(_, _, i)| *i == Instr::Spawn(t))
    };
    program.instructions().all(|(_, _, i)| match i {
        Instr::Join(t) => spawned(*t),
        _ => true,
    })
}
