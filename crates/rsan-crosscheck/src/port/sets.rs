//! Random sets of thread functions, and programs with some instances of each.

use crate::{Profile, Random, generate};
use rsan_model::{
    BinOp, Expr, FenceOrd, Instr, Model, Pc, Program, ReadOrd, RegId, Register, RmwOrd, Span,
    Thread, WriteOrd,
};

/// The threads of a random program, which stand for functions that any number of threads run.
pub(super) fn set(seed: u64) -> Program {
    const PROFILES: [Profile; 8] = [
        Profile::Mix,
        Profile::Litmus,
        Profile::Fences,
        Profile::Litmus,
        Profile::Values,
        Profile::SeqCst,
        Profile::Litmus,
        Profile::Plain,
    ];
    let mut random = Random::new(seed);
    let profile = PROFILES[seed as usize % PROFILES.len()];
    let mut program = generate(&mut random, profile, Model::C20);
    // Often fewer functions than threads: their instances meet each other.
    if random.chance(40) {
        let kept = random.between(1, program.threads.len());
        program.threads.truncate(kept);
    }
    let weaker = [0, 40, 80][random.below(3)];
    for (index, thread) in program.threads.iter_mut().enumerate() {
        thread.name = format!("f{index}");
        let with_fences = random.chance(50);
        for instr in &mut thread.code {
            if random.chance(weaker) && (with_fences || !matches!(instr, Instr::Fence(_))) {
                weaken(instr, &mut random);
            }
        }
        if random.chance(15) {
            retry(thread);
        }
        if random.chance(10) {
            repeat(thread, &mut random);
        }
    }
    program.condition = None;
    program
}

fn weaken(instr: &mut Instr, random: &mut Random) {
    match instr {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => {
            *ord = random.pick(&[ReadOrd::Relaxed, ReadOrd::Relaxed, ReadOrd::Acquire]);
        }
        Instr::Store { ord, .. } => {
            *ord = random.pick(&[WriteOrd::Relaxed, WriteOrd::Relaxed, WriteOrd::Release]);
        }
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => *ord = random.pick(&RmwOrd::ALL),
        Instr::Cas { ord, fail, .. } => {
            *ord = random.pick(&RmwOrd::ALL);
            *fail = random.pick(&ReadOrd::ALL);
        }
        Instr::Fence(ord) => *ord = random.pick(&FenceOrd::ALL),
        _ => {}
    }
}

/// The first compare-and-swap is done again until it succeeds.
fn retry(thread: &mut Thread) {
    let is_cas = |instr: &Instr| matches!(instr, Instr::Cas { .. });
    let Some(at) = thread.code.iter().position(is_cas) else {
        return;
    };
    let register = RegId::new(thread.registers.len());
    thread.registers.push(Register {
        name: format!("r{}", register.index()),
        init: 0,
    });
    if let Instr::Cas { success, .. } = &mut thread.code[at] {
        *success = Some(register);
    }
    let cond = Expr::Reg(register);
    insert_branch(thread, at + 1, cond, (Pc::new(at + 2), Pc::new(at)));
}

/// The last instructions are done again as long as a register is 0.
fn repeat(thread: &mut Thread, random: &mut Random) {
    let end = thread.code.len();
    let start = random.between(end.saturating_sub(2), end.saturating_sub(1));
    let register = RegId::new(random.below(thread.registers.len().max(1)));
    if end == 0 || thread.registers.is_empty() {
        return;
    }
    let cond = Expr::Binary(BinOp::Ne, Expr::Reg(register).into(), Expr::Const(0).into());
    insert_branch(thread, end, cond, (Pc::new(end + 1), Pc::new(start)));
}

/// Inserts a branch; jumps to what was there lead behind it.
fn insert_branch(thread: &mut Thread, at: usize, cond: Expr, (then, otherwise): (Pc, Pc)) {
    thread.for_each_target(|pc| {
        if pc.index() >= at {
            pc.0 += 1;
        }
    });
    let branch = Instr::Branch {
        cond,
        then,
        otherwise,
    };
    thread.code.insert(at, branch);
    thread.spans.insert(at, Span::default());
}

/// Whether the analysis knows all paths through it, and each can be taken: there are no branches, waits or ends before the end.
pub(super) fn is_straight(program: &Program) -> bool {
    program.instructions().all(|(_, _, instr)| {
        matches!(
            instr,
            Instr::Load { .. }
                | Instr::Store { .. }
                | Instr::PlainLoad { .. }
                | Instr::PlainStore { .. }
                | Instr::Rmw { .. }
                | Instr::Fence(_)
                | Instr::Assign { .. }
                | Instr::Observe(_)
        )
    })
}

/// Which functions the threads of an instance run: multisets of the largest size, up to three, that is not too large to enumerate; a few
/// if there are many.
pub(super) fn instances(set: &Program, random: &mut Random) -> Vec<Vec<usize>> {
    const ACCESSES: usize = 8;
    const MOST: usize = 5;
    let cost = |f: usize| {
        let code = &set.threads[f].code;
        code.iter().filter(|i| i.place().is_some()).count()
    };
    let functions = set.threads.len();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for a in 0..functions {
        for b in a..functions {
            let two = cost(a) + cost(b);
            let third: Vec<usize> = (b..functions)
                .filter(|&c| two + cost(c) <= ACCESSES)
                .collect();
            if third.is_empty() && two <= ACCESSES + 1 {
                found.push(vec![a, b]);
            }
            found.extend(third.into_iter().map(|c| vec![a, b, c]));
        }
    }
    while found.len() > MOST {
        found.remove(random.below(found.len()));
    }
    found
}

/// The program in which threads run these functions.
pub(super) fn instance(set: &Program, functions: &[usize]) -> Program {
    let mut program = set.clone();
    let threads = functions.iter().enumerate().map(|(t, &f)| Thread {
        name: format!("P{t}"),
        ..set.threads[f].clone()
    });
    program.threads = threads.collect();
    program
}
