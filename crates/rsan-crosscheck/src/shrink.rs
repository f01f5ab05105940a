//! Smaller programs that still show the same problem.

use rsan_model::{Instr, Pc, Program, Thread};

/// Removes instructions, one by one, as long as `interesting` stays true.
pub fn shrink(mut program: Program, interesting: &dyn Fn(&Program) -> bool) -> Program {
    loop {
        let mut smaller = None;
        'search: for t in 0..program.threads.len() {
            for pc in 0..program.threads[t].code.len() {
                let mut candidate = program.clone();
                remove(&mut candidate.threads[t], pc);
                if spawns_match(&candidate) && interesting(&candidate) {
                    smaller = Some(candidate);
                    break 'search;
                }
            }
        }
        match smaller {
            Some(candidate) => program = candidate,
            None => return program,
        }
    }
}

fn remove(thread: &mut Thread, at: usize) {
    thread.code.remove(at);
    thread.spans.remove(at);
    let shift = |pc: &mut Pc| {
        if pc.index() > at {
            pc.0 -= 1;
        }
    };
    for instr in &mut thread.code {
        match instr {
            Instr::Branch {
                then, otherwise, ..
            } => {
                shift(then);
                shift(otherwise);
            }
            Instr::Jump(to) => shift(to),
            Instr::Choose(to) => to.iter_mut().for_each(shift),
            _ => {}
        }
    }
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
