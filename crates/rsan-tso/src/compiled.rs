//! Automata prepared for the search: what leaves each control state, which registers still matter there, and whether
//! they can fail.

use crate::mutation::Mutation;
use rsan_model::automata::{Automata, Automaton, Op};
use rsan_model::{BinOp, Domain, Expr, Value};

/// Automata and what the search needs to know of them.
pub(crate) struct Compiled<'a> {
    pub(crate) automata: &'a Automata,
    pub(crate) threads: Vec<CompiledThread>,
    /// Where the registers of each thread begin, and one past the last.
    pub(crate) bases: Vec<usize>,
    /// Whether a thread may meet a failing assertion, a wrong index or an expression without a value.
    pub(crate) may_fail: bool,
    pub(crate) mutation: Mutation,
}

pub(crate) struct CompiledThread {
    /// The transitions that leave each control state: first those that stay inside the thread, then the others.
    pub(crate) leaving: Vec<Leaving>,
    /// Which registers may still be read in each control state.
    pub(crate) live: Vec<Vec<bool>>,
}

#[derive(Clone, Default)]
pub(crate) struct Leaving {
    pub(crate) local: Vec<u32>,
    pub(crate) shared: Vec<u32>,
}

impl<'a> Compiled<'a> {
    pub(crate) fn new(automata: &'a Automata) -> Self {
        Self::with(automata, is_inside)
    }

    /// With fences as steps of their own.
    pub(crate) fn with_visible_fences(automata: &'a Automata) -> Self {
        Self::with(automata, Op::is_local)
    }

    fn with(automata: &'a Automata, inside: fn(&Op) -> bool) -> Self {
        let threads = automata.threads.iter().map(|thread| CompiledThread {
            leaving: leaving(thread, inside),
            live: live(thread),
        });
        let mut bases = vec![0];
        for thread in &automata.threads {
            bases.push(bases[bases.len() - 1] + thread.registers.len());
        }
        let transitions = automata.threads.iter().flat_map(|t| &t.transitions);
        let may_fail = transitions.into_iter().any(|t| may_fail(&t.op));
        Self {
            automata,
            threads: threads.collect(),
            bases,
            may_fail,
            mutation: Mutation::default(),
        }
    }
}

/// Whether an operation may end a run as a failure.
fn may_fail(op: &Op) -> bool {
    let (first, second, third) = match op {
        Op::Assert(_) | Op::Bounds(_) => return true,
        Op::Read { addr, accept, .. } => (Some(addr), accept.as_ref(), None),
        Op::Write { addr, value } => (Some(addr), Some(value), None),
        Op::Update {
            addr,
            accept,
            value,
            ..
        } => (Some(addr), accept.as_ref(), value.as_ref()),
        Op::Assign { value, .. } => (Some(value), None, None),
        Op::Check(e) => (Some(e), None, None),
        Op::Fence | Op::Lock | Op::Unlock | Op::Noop => (None, None, None),
    };
    [first, second, third].into_iter().flatten().any(is_partial)
}

/// Whether an expression may have no value.
fn is_partial(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Element { .. } => true,
        Expr::Unary(_, e) => is_partial(e),
        Expr::Binary(op, l, r) => {
            let divides = matches!(op, BinOp::Div | BinOp::Rem);
            divides && r.as_const().is_none_or(|n| n == 0) || is_partial(l) || is_partial(r)
        }
        Expr::If(c, t, o) => is_partial(c) || is_partial(t) || is_partial(o),
    }
}

fn leaving(thread: &Automaton, inside: fn(&Op) -> bool) -> Vec<Leaving> {
    let mut leaving = vec![Leaving::default(); thread.states.len()];
    for (i, transition) in thread.transitions.iter().enumerate() {
        let at = &mut leaving[transition.from.index()];
        let list = if inside(&transition.op) {
            &mut at.local
        } else {
            &mut at.shared
        };
        list.push(i as u32);
    }
    leaving
}

/// Whether an operation is no business of other threads under SC. A fence is not; it only stops an attacker.
pub(crate) fn is_inside(op: &Op) -> bool {
    op.is_local() || *op == Op::Fence
}

/// Registers that may be read before they are written, for each control state.
fn live(thread: &Automaton) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; thread.registers.len()]; thread.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for transition in &thread.transitions {
            let mut before = live[transition.to.index()].clone();
            through(&transition.op, &mut before);
            for (at, now) in live[transition.from.index()].iter_mut().zip(before) {
                changed |= now && !*at;
                *at |= now;
            }
        }
    }
    live
}

/// From what is live after an operation to what is live before it.
fn through(op: &Op, live: &mut [bool]) {
    let mut reads = Vec::new();
    let mut note = |e: &rsan_model::Expr| e.for_each_reg(&mut |r| reads.push(r));
    // `accept` and the new value of an update see the register that the operation itself sets.
    let set = match op {
        Op::Read { reg, addr, accept } => {
            accept.iter().for_each(&mut note);
            let own = std::mem::take(&mut reads);
            addr.for_each_reg(&mut |r| reads.push(r));
            reads.extend(own.into_iter().filter(|r| r != reg));
            Some(*reg)
        }
        Op::Update {
            reg,
            addr,
            accept,
            value,
        } => {
            accept.iter().chain(value).for_each(&mut note);
            let own = std::mem::take(&mut reads);
            addr.for_each_reg(&mut |r| reads.push(r));
            reads.extend(own.into_iter().filter(|r| Some(*r) != *reg));
            *reg
        }
        Op::Write { addr, value } => {
            note(addr);
            note(value);
            None
        }
        Op::Assign { reg, value } => {
            note(value);
            Some(*reg)
        }
        Op::Check(e) | Op::Assert(e) | Op::Bounds(e) => {
            note(e);
            None
        }
        Op::Fence | Op::Lock | Op::Unlock | Op::Noop => None,
    };
    if let Some(reg) = set {
        live[reg.index()] = false;
    }
    for reg in reads {
        live[reg.index()] = true;
    }
}

/// The address that an expression's value names. Addresses are not values of the program, so they do not wrap as those do.
pub(crate) fn address(n: i64) -> Value {
    Domain::Int32.wrap(n)
}
