//! How often a thread can write a location, whatever the others do: the thread alone, with loads that may see anything.

use crate::facts::Facts;
use rsan_model::{Expr, Instr, LocId, Pc, Program, Thread, ThreadId, Value};
use std::collections::HashMap;

/// States of a thread alone, at most; a thread with more is not looked at.
const STATES: usize = 1 << 12;
/// Their weight, at most; more is taken for no bound at all.
const WRITES: u64 = 1 << 12;

/// A thread at an instruction, with the values of its registers where they are known.
type Local = (usize, Vec<Option<Value>>);

/// The largest number of writes of `loc` by the thread, if there is one and it is small.
pub(super) fn most_writes(
    program: &Program,
    facts: &Facts,
    t: ThreadId,
    loc: LocId,
) -> Option<u64> {
    let writes =
        |i: &Instr| i.may_write() && i.place().is_some_and(|p| p.candidates().any(|l| l == loc));
    most(program, facts, t, &|i| u64::from(writes(i)))
}

/// The largest weight of all instructions together that the thread executes, if there is one and it is small.
pub(crate) fn most(
    program: &Program,
    facts: &Facts,
    t: ThreadId,
    weight: &dyn Fn(&Instr) -> u64,
) -> Option<u64> {
    let thread = &program.threads[t.index()];
    if thread.code.iter().all(|i| weight(i) == 0) {
        return Some(0);
    }
    let start = thread.registers.iter().map(|r| Some(r.init)).collect();
    let mut states: Vec<Local> = vec![(0, start)];
    let mut known = HashMap::from([(states[0].clone(), 0)]);
    let mut next: Vec<Vec<usize>> = Vec::new();
    while next.len() < states.len() {
        let mut targets = Vec::new();
        for mut local in successors(program, thread, &states[next.len()]) {
            let live = &facts.pcs[t.index()][local.0].live;
            for (r, value) in local.1.iter_mut().enumerate() {
                if live.iter().all(|l| l.index() != r) {
                    *value = None;
                }
            }
            let number = *known.entry(local.clone()).or_insert_with(|| {
                states.push(local);
                states.len() - 1
            });
            targets.push(number);
        }
        next.push(targets);
        if states.len() > STATES {
            return None;
        }
    }
    // The most from each state on; a cycle with some weight has no bound.
    let mut most = vec![0_u64; states.len()];
    loop {
        let mut changed = false;
        for (i, (pc, _)) in states.iter().enumerate().rev() {
            let own = weight(thread.instr(Pc::new(*pc)));
            let after = next[i].iter().map(|&n| most[n]).max().unwrap_or(0);
            changed |= most[i] != own + after;
            most[i] = own + after;
            if most[i] > WRITES {
                return None;
            }
        }
        if !changed {
            return Some(most[0]);
        }
    }
}

/// Where a thread alone may be after its next instruction.
fn successors(program: &Program, thread: &Thread, (pc, regs): &Local) -> Vec<Local> {
    let instr = thread.instr(Pc::new(*pc));
    let value = |e: &Expr| -> Option<i64> {
        let mut known = true;
        e.for_each_reg(&mut |r| known &= regs[r.index()].is_some());
        let values: Vec<Value> = regs.iter().map(|r| r.unwrap_or(0)).collect();
        known.then(|| e.eval(&values).ok()).flatten()
    };
    let end = thread.code.len();
    let mut after = regs.clone();
    let targets = match instr {
        Instr::Branch {
            cond,
            then,
            otherwise,
        } => match value(cond) {
            Some(0) => vec![*otherwise],
            Some(_) => vec![*then],
            None => vec![*then, *otherwise],
        },
        Instr::Assign { dst, value: e } => {
            after[dst.index()] = value(e).map(|v| program.domain.wrap(v));
            instr.successors(Pc::new(*pc))
        }
        _ => {
            instr.for_each_written_reg(&mut |r| after[r.index()] = None);
            instr.successors(Pc::new(*pc))
        }
    };
    let to = |pc: Pc| (pc.index().min(end), after.clone());
    targets.into_iter().map(to).collect()
}
