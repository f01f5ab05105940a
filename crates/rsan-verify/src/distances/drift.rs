//! Why values that are only moved never get too large: what comparisons say about the registers of a thread.
//!
//! Let `top` be a number that no location of the group exceeds. A register that was loaded is at most `top`; branches and assumptions
//! say more. If every write of a location is at most `top` by that, or at most a constant, then `top` is one of these
//! constants, or an initial value.

use super::group::{Group, Source, end};
use crate::clocks::most;
use crate::facts::Facts;
use crate::mutation::Mutant;
use rsan_model::{BinOp, Expr, Instr, Pc, Program, RegId, ThreadId, UnOp};

/// Times that the instructions of a thread are looked at before what still changes is given up.
const PASSES: usize = 32;

/// What is known of a register of the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Upper {
    /// It is at most `top` plus this.
    from_top: Option<i64>,
    /// It is at most this.
    constant: Option<i64>,
}

impl Upper {
    const TOP: Self = Self {
        from_top: Some(0),
        constant: None,
    };

    fn plus(self, by: i64) -> Self {
        Self {
            from_top: self.from_top.map(|n| n + by),
            constant: self.constant.map(|n| n + by),
        }
    }

    /// What holds if one of two holds.
    fn or(self, other: Self) -> Self {
        let larger = |a: Option<i64>, b: Option<i64>| Some(a?.max(b?));
        Self {
            from_top: larger(self.from_top, other.from_top),
            constant: larger(self.constant, other.constant),
        }
    }

    /// What holds if both hold.
    fn and(self, other: Self) -> Self {
        let smaller = |a: Option<i64>, b: Option<i64>| [a, b].into_iter().flatten().min();
        Self {
            from_top: smaller(self.from_top, other.from_top),
            constant: smaller(self.constant, other.constant),
        }
    }
}

/// What is known of the registers of a thread.
type Known = Vec<Upper>;

/// Whether no value of the group gets too large for the program's values.
pub(super) fn fits(program: &Program, facts: &Facts, group: &Group) -> bool {
    let locations = program.locations.iter().zip(&group.locations);
    let initial = locations.filter_map(|(l, &is)| is.then_some(i64::from(l.init)));
    let initial = initial.max().expect("a group has a location");
    let last = end(program.domain) - 1;
    facts.mutation.breaks(Mutant::DriftIgnored)
        || largest(program, group, initial, last).is_some_and(|most| most <= last)
        || counted(program, facts, group).is_some_and(|steps| initial + steps <= last)
}

/// By how much all threads together increase values, if that has a bound.
fn counted(program: &Program, facts: &Facts, group: &Group) -> Option<i64> {
    let increase = |t| {
        let weight = |i: &Instr| group.step(t, i).map_or(0, |(_, by)| by.max(0) as u64);
        most(program, facts, t, &weight)
    };
    let threads = (0..program.threads.len()).map(ThreadId::new);
    let sum: Option<u64> = threads.map(increase).sum();
    sum.and_then(|n| i64::try_from(n).ok())
}

/// A bound of all values of the group, by what comparisons say.
fn largest(program: &Program, group: &Group, initial: i64, last: i64) -> Option<i64> {
    let (mut top, mut beyond) = (initial, 0);
    for t in (0..program.threads.len()).map(ThreadId::new) {
        let known = known(program, group, t);
        for (pc, instr) in program.threads[t.index()].code.iter().enumerate() {
            let (Some(known), Some((source, by))) = (&known[pc], group.step(t, instr)) else {
                continue;
            };
            let upper = match source {
                Source::Register(r) => known[r - group.bases[t.index()]],
                Source::Location(_) => Upper::TOP,
            };
            let upper = upper.plus(by);
            if upper.from_top.is_some_and(|n| n <= 0) {
                continue;
            }
            match (instr, upper) {
                (
                    Instr::Assign { .. },
                    Upper {
                        constant: Some(n), ..
                    },
                ) if n <= last => {}
                (Instr::Assign { .. }, upper) => beyond = upper.from_top?.max(beyond),
                (_, upper) => top = upper.constant?.max(top),
            }
        }
    }
    Some(top + beyond)
}

/// What is known of a thread's registers before each instruction; nothing where it never gets.
fn known(program: &Program, group: &Group, t: ThreadId) -> Vec<Option<Known>> {
    let thread = &program.threads[t.index()];
    let end = thread.code.len();
    let mut known: Vec<Option<Known>> = vec![None; end + 1];
    known[0] = Some(vec![Upper::default(); thread.registers.len()]);
    let mut pass = 0;
    loop {
        let mut changed = false;
        for pc in 0..end {
            let Some(before) = known[pc].clone() else {
                continue;
            };
            for (to, after) in after(group, t, thread.instr(Pc::new(pc)), pc, &before) {
                changed |= take_in(&mut known[to.min(end)], after, pass >= PASSES);
            }
        }
        if !changed {
            return known;
        }
        pass += 1;
    }
}

/// Takes in what is known on another way to an instruction; says whether less is known now.
fn take_in(known: &mut Option<Known>, other: Known, give_up: bool) -> bool {
    let Some(known) = known else {
        *known = Some(other);
        return true;
    };
    let mut changed = false;
    for (own, other) in known.iter_mut().zip(other) {
        let both = own.or(other);
        if both != *own {
            changed = true;
            *own = if give_up { Upper::default() } else { both };
        }
    }
    changed
}

/// Where a thread may go from an instruction, and what is known there.
fn after(
    group: &Group,
    t: ThreadId,
    instr: &Instr,
    pc: usize,
    before: &Known,
) -> Vec<(usize, Known)> {
    let mut known = before.clone();
    match instr {
        Instr::Branch {
            cond,
            then,
            otherwise,
        } => {
            let mut other = known.clone();
            learn(&mut known, cond, true);
            learn(&mut other, cond, false);
            return vec![(then.index(), known), (otherwise.index(), other)];
        }
        Instr::Assume(e) => learn(&mut known, e, true),
        Instr::Assign { dst, value } => {
            let moved = group
                .moved(t, value)
                .filter(|_| group.registers[t.index()][dst.index()]);
            known[dst.index()] =
                moved.map_or(Upper::default(), |(r, by)| before[r.index()].plus(by));
        }
        _ => instr.for_each_written_reg(&mut |r| {
            // What accesses write into registers of the group are values of its locations.
            let own = group.registers[t.index()][r.index()];
            known[r.index()] = if own { Upper::TOP } else { Upper::default() };
        }),
    }
    let next = instr.successors(Pc::new(pc));
    next.into_iter()
        .map(|to| (to.index(), known.clone()))
        .collect()
}

/// Learns that a condition holds, or does not.
fn learn(known: &mut Known, cond: &Expr, holds: bool) {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match (cond, holds) {
        (Expr::Unary(UnOp::Not, e), _) => learn(known, e, !holds),
        (Expr::Binary(And, left, right), true) | (Expr::Binary(Or, left, right), false) => {
            learn(known, left, holds);
            learn(known, right, holds);
        }
        (Expr::Binary(op, left, right), _) => match (op, holds) {
            (Lt, true) | (Ge, false) => at_most(known, left, right, -1),
            (Le, true) | (Gt, false) => at_most(known, left, right, 0),
            (Gt, true) | (Le, false) => at_most(known, right, left, -1),
            (Ge, true) | (Lt, false) => at_most(known, right, left, 0),
            (Eq, true) | (Ne, false) => {
                at_most(known, left, right, 0);
                at_most(known, right, left, 0);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Learns that one expression is at most another one plus a number.
fn at_most(known: &mut Known, smaller: &Expr, larger: &Expr, plus: i64) {
    let (Some((Some(register), by)), Some((other, more))) = (sum(smaller), sum(larger)) else {
        return;
    };
    let base = match other {
        Some(other) => known[other.index()],
        None => Upper {
            from_top: None,
            constant: Some(0),
        },
    };
    let own = &mut known[register.index()];
    *own = own.and(base.plus(more + plus - by));
}

/// A register, if any, and what is added to it.
fn sum(e: &Expr) -> Option<(Option<RegId>, i64)> {
    match e {
        Expr::Const(n) => Some((None, *n)).filter(|_| n.unsigned_abs() <= 1 << 32),
        e => super::group::moved(e).map(|(r, by)| (Some(r), by)),
    }
}
