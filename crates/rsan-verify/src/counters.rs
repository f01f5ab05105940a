//! Threads that wait for a counter to go back, and what need not be known about them (docs/theory/finite.md, F15).
//!
//! A *counter* is a location that only updates write, and whose value only grows: the first is known beforehand, the
//! second is checked as the search goes on. A thread at `bcas(x, r, ...)` waits for ever once `r` is less than the
//! counter `x`, and no check of it can fail: it is stuck. Before it gets there, a register that is used for nothing
//! but this `bcas` and comparisons decides only how the thread gets stuck. Its value is forgotten, and a branch that
//! compares it goes wherever it might go. That adds behaviour, so no failure that is found this way counts; but when
//! there is none, there is none.

use crate::facts::Facts;
use crate::mutation::{Mutant, Mutation};
use crate::state::{HALTED, STUCK, State, UNBORN};
use rsan_model::{
    BinOp, Expr, Instr, LocId, Pc, Place, Program, RegId, Thread, ThreadId, UnOp, Value,
};

/// Less than all values, and all sums of values that are compared with them.
const FAR: i64 = i64::MIN / 2;

/// A register of a thread, and the counter that it is compared with.
#[derive(Clone, Copy, Debug)]
struct Guess {
    /// Its index among all registers.
    register: usize,
    counter: LocId,
}

/// A comparison of a register with a value.
#[derive(Clone, Debug)]
struct Comparison {
    guess: Guess,
    /// Its first register is the first one of the thread.
    base: usize,
    op: BinOp,
    value: Expr,
}

/// What is known about an instruction.
#[derive(Clone, Debug, Default)]
struct AtPc {
    /// It waits for this counter to have the value of this register.
    waits: Option<Guess>,
    /// The registers that it reads then: whoever waits for ever with one that may be stale uses it first (F13).
    reads: Vec<usize>,
    /// Registers that may be forgotten here, if they are less than their counter.
    forgettable: Vec<Guess>,
    /// The comparisons of such registers that a branch makes.
    comparisons: Vec<Comparison>,
}

/// The counters of a program, and where registers that are less than them do not matter.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// Per location: whether it is taken for a counter.
    is_counter: Vec<bool>,
    initial: Vec<Value>,
    /// The counters that are known only by how far other values are from them (F21), as bits.
    distant: u64,
    mutation: Mutation,
    pcs: Vec<Vec<AtPc>>,
}

impl Counters {
    /// The counters of a program, if some thread waits for one.
    pub(crate) fn new(program: &Program, facts: &Facts) -> Option<Self> {
        let is_counter: Vec<bool> = (facts.locations.iter())
            .map(|f| f.has_rmw && !f.has_store)
            .collect();
        let mut base = 0;
        let mut pcs = Vec::new();
        for thread in &program.threads {
            pcs.push(thread_guesses(thread, &is_counter, base));
            base += thread.registers.len();
        }
        // Others may be ones or not: nobody asks.
        let mut is_waited_for = vec![false; is_counter.len()];
        for guess in pcs.iter().flatten().filter_map(|pc| pc.waits) {
            is_waited_for[guess.counter.index()] = true;
        }
        is_waited_for.contains(&true).then(|| Self {
            is_counter: is_waited_for,
            initial: program.locations.iter().map(|l| l.init).collect(),
            distant: 0,
            mutation: facts.mutation,
            pcs,
        })
    }

    /// The same where the values of these locations, as bits, are kept as distances.
    pub(crate) fn with_distances(mut self, locations: u64) -> Self {
        self.distant = locations;
        self
    }

    /// Whether the first value of the counter is not known any more.
    #[inline]
    fn is_distant(&self, counter: LocId) -> bool {
        self.distant.checked_shr(counter.0).unwrap_or(0) & 1 != 0
    }

    /// Whether a write contradicts that its location is a counter.
    #[inline]
    pub(crate) fn refuted(&self, loc: LocId, old: Value, new: Value) -> bool {
        self.is_counter[loc.index()] && new <= old
    }

    /// Forgets what does not matter in a state.
    pub(crate) fn simplify<const W: usize>(&self, s: &mut State<W>) {
        for (t, pcs) in self.pcs.iter().enumerate() {
            let pc = s.pcs[t];
            if matches!(pc, HALTED | STUCK | UNBORN) {
                continue;
            }
            let here = &pcs[pc as usize];
            let used = |r: &usize| s.tainted[*r];
            if here.waits.is_some_and(|guess| is_late(s, guess)) && !here.reads.iter().any(used) {
                s.pcs[t] = STUCK;
                continue;
            }
            for &guess in &here.forgettable {
                if is_late(s, guess) {
                    self.forget(s, guess);
                }
            }
        }
    }

    /// Puts one value for all that are less than the counter, and no less than it was at first.
    fn forget<const W: usize>(&self, s: &mut State<W>, guess: Guess) {
        let initial = self.initial[guess.counter.index()];
        let value = &mut s.regs[guess.register];
        if self.is_distant(guess.counter) {
            *value = s.memory[guess.counter.index()] - 1;
        } else if *value > initial {
            *value = initial;
        }
    }

    /// The counters that a branch asks for, as bits: they matter for where it goes.
    pub(crate) fn asked_at(&self, t: usize, pc: usize) -> u64 {
        let comparisons = self.pcs[t][pc].comparisons.iter();
        comparisons.fold(0, |set, c| set | 1 << c.guess.counter.index())
    }

    /// Whether the branch at which `t` rests may go both ways.
    #[inline]
    pub(crate) fn is_open<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        let mut comparisons = self.pcs[t.index()][pc.index()].comparisons.iter();
        comparisons.any(|c| self.may_differ(s, c))
    }

    /// Whether the comparison depends on a register of which nothing is known but that it is less than its counter, and
    /// no less than the counter was at first.
    fn may_differ<const W: usize>(&self, s: &State<W>, comparison: &Comparison) -> bool {
        let guess = comparison.guess;
        let distant = self.is_distant(guess.counter);
        let low = if distant && !self.mutation.breaks(Mutant::LateIsNear) {
            FAR
        } else {
            i64::from(self.initial[guess.counter.index()])
        };
        let high = i64::from(s.memory[guess.counter.index()]) - 1;
        if !is_late(s, guess) || i64::from(s.regs[guess.register]) < low {
            return false;
        }
        let Ok(value) = comparison.value.eval(&s.regs[comparison.base..]) else {
            // It fails for every value of the register.
            return false;
        };
        let holds = |n: i64| match comparison.op {
            BinOp::Eq | BinOp::Ne => n == value,
            BinOp::Lt | BinOp::Ge => n < value,
            _ => n <= value,
        };
        // If not all of the numbers between compare alike, these do not.
        let first = holds(low);
        holds(high) != first || holds(value.clamp(low, high)) != first
    }
}

fn is_late<const W: usize>(s: &State<W>, guess: Guess) -> bool {
    s.regs[guess.register] < s.memory[guess.counter.index()]
}

fn thread_guesses(thread: &Thread, is_counter: &[bool], base: usize) -> Vec<AtPc> {
    let n = thread.code.len() + 1;
    let waits: Vec<Option<(RegId, LocId)>> = (0..n)
        .map(|pc| waited_for(thread.instr(Pc::new(pc)), is_counter))
        .collect();
    let mut pairs: Vec<(RegId, LocId)> = waits.iter().flatten().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let guess = |(register, counter): (RegId, LocId)| Guess {
        register: base + register.index(),
        counter,
    };
    let mut pcs: Vec<AtPc> = (waits.iter())
        .enumerate()
        .map(|(pc, &wait)| {
            let mut reads = Vec::new();
            let instr = thread.instr(Pc::new(pc));
            instr.for_each_read_reg(&mut |r| reads.push(base + r.index()));
            AtPc {
                waits: wait.map(guess),
                reads,
                ..AtPc::default()
            }
        })
        .collect();
    for &pair in &pairs {
        let (only, leads) = uses(thread, pair, &pairs, &waits);
        for (pc, here) in pcs.iter_mut().enumerate() {
            if only[pc] && leads[pc] {
                here.forgettable.push(guess(pair));
            }
            if let Instr::Branch { cond, .. } = thread.instr(Pc::new(pc))
                && let (true, Some((op, value))) = (only[pc], comparison(cond, pair.0, &pairs))
            {
                here.comparisons.push(Comparison {
                    guess: guess(pair),
                    base,
                    op,
                    value: value.clone(),
                });
            }
        }
    }
    pcs
}

/// The register and the counter of a blocking compare-and-swap.
fn waited_for(instr: &Instr, is_counter: &[bool]) -> Option<(RegId, LocId)> {
    match instr {
        Instr::Bcas {
            place: Place::Loc(loc),
            expected: Expr::Reg(register),
            ..
        } if is_counter[loc.index()] => Some((*register, *loc)),
        _ => None,
    }
}

/// Per instruction: whether the register, as it is there, is used by nothing but branches and these waits; and whether
/// one of the waits may follow.
fn uses(
    thread: &Thread,
    pair: (RegId, LocId),
    pairs: &[(RegId, LocId)],
    waits: &[Option<(RegId, LocId)>],
) -> (Vec<bool>, Vec<bool>) {
    let n = waits.len();
    let (mut only, mut leads) = (vec![true; n], vec![false; n]);
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..n).rev() {
            let instr = thread.instr(Pc::new(pc));
            let (mut read, mut written) = (false, false);
            instr.for_each_read_reg(&mut |r| read |= r == pair.0);
            instr.for_each_written_reg(&mut |r| written |= r == pair.0);
            let next = instr.successors(Pc::new(pc));
            let mut next = next.iter().map(|to| to.index().min(n - 1));
            let branch = matches!(
                instr,
                Instr::Branch { cond, .. } if comparison(cond, pair.0, pairs).is_some()
            );
            let now = if waits[pc] == Some(pair) {
                // Nothing follows for a thread that waits for ever.
                (true, true)
            } else {
                let after = written || next.clone().all(|to| only[to]);
                let lead = !written && next.any(|to| leads[to]);
                ((!read || branch) && after, lead)
            };
            changed |= now != (only[pc], leads[pc]);
            (only[pc], leads[pc]) = now;
        }
    }
    (only, leads)
}

/// What the register is compared with, as if it stood on the left, if the condition does nothing else, and that does not
/// depend on a register that may be forgotten.
fn comparison<'e>(
    cond: &'e Expr,
    register: RegId,
    pairs: &[(RegId, LocId)],
) -> Option<(BinOp, &'e Expr)> {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let (op, left, right) = match cond {
        Expr::Unary(UnOp::Not, e) => return comparison(e, register, pairs),
        Expr::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), left, right) => (*op, left, right),
        _ => return None,
    };
    let is_register = |e: &Expr| matches!(e, Expr::Reg(r) if *r == register);
    let (op, value) = if is_register(left) {
        (op, right)
    } else if is_register(right) {
        let turned = match op {
            Lt => Gt,
            Le => Ge,
            Gt => Lt,
            Ge => Le,
            same => same,
        };
        (turned, left)
    } else {
        return None;
    };
    let known = !pairs.iter().any(|&(r, _)| reads(value, r));
    known.then_some((op, value))
}

fn reads(e: &Expr, register: RegId) -> bool {
    let mut read = false;
    e.for_each_reg(&mut |r| read |= r == register);
    read
}
