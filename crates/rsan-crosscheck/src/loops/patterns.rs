//! Statements of several instructions: loops that have no blocking operation, and tests before compare-and-swaps.
//!
//! A round reads registers that it has written itself before, or that it does not write: every round begins in the same state.

use super::Form;
use super::generate::Body;
use crate::generate::Generator;
use rsan_model::{BinOp, CasStrength, Expr, FenceOrd, Instr, LocId, Pc, Place, RegId};

/// Appends a random statement of several instructions, about `x` in the first place.
pub(super) fn push(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    match generator.random.weighted(&[18, 12, 12, 12, 14, 8, 12, 12]) {
        0 => retry(generator, body, x, false),
        1 => retry(generator, body, x, true),
        2 => test_and_set(generator, body, x),
        3 => two_words(generator, body, x),
        4 => seqlock(generator, body, x),
        5 => either(generator, body, x),
        6 => test_then_swap(generator, body, x),
        _ => message_then_swap(generator, body, x),
    }
}

fn other(generator: &mut Generator<'_>, x: LocId) -> LocId {
    LocId::new((x.index() + 1) % generator.atomics)
}

fn is(op: BinOp, register: RegId, right: Expr) -> Expr {
    Expr::Binary(op, Expr::Reg(register).into(), right.into())
}

fn load(generator: &mut Generator<'_>, body: &mut Body, loc: LocId) -> RegId {
    let dst = body.register();
    let ord = generator.read_ord();
    let place = Place::Loc(loc);
    body.push(Instr::Load { dst, place, ord }, Form::Short);
    dst
}

/// A compare-and-swap; the register says whether it succeeds.
fn swap(
    generator: &mut Generator<'_>,
    body: &mut Body,
    loc: LocId,
    expected: Expr,
    new: Expr,
    strength: CasStrength,
) -> RegId {
    let success = body.register();
    let ord = generator.rmw_ord();
    let fail = generator.read_ord().min(ord.read());
    let instr = Instr::Cas {
        dst: None,
        success: Some(success),
        place: Place::Loc(loc),
        expected,
        new,
        ord,
        fail,
        strength,
    };
    body.push(instr, Form::Short);
    success
}

fn strength(generator: &mut Generator<'_>) -> CasStrength {
    generator
        .random
        .pick(&[CasStrength::Strong, CasStrength::Weak])
}

/// `do r = x; while (!cas(x, r, f(r)));`, or with the failed swap's value instead of a new load.
fn retry(generator: &mut Generator<'_>, body: &mut Body, x: LocId, carry: bool) {
    let start = body.len();
    let seen = load(generator, body, x);
    let new = match generator.random.below(3) {
        0 => is(BinOp::Add, seen, Expr::Const(1)),
        1 => Expr::Reg(seen),
        _ => Expr::Const(generator.small()),
    };
    let strength = strength(generator);
    let success = swap(generator, body, x, Expr::Reg(seen), new, strength);
    if carry {
        body.fail_as_loaded(start);
    }
    let form = if carry {
        Form::Carry(start)
    } else {
        Form::Back(start)
    };
    body.push(Instr::Assume(Expr::Reg(success)), form);
}

/// `do while (x != v); while (!cas(x, v, new));`
fn test_and_set(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let start = body.len();
    let (v, new) = (generator.small(), generator.small());
    let seen = load(generator, body, x);
    let there = is(BinOp::Eq, seen, Expr::Const(v));
    body.push(Instr::Assume(there), Form::Back(start));
    let (v, new) = (Expr::Const(v), Expr::Const(new));
    let strength = strength(generator);
    let success = swap(generator, body, x, v, new, strength);
    body.push(Instr::Assume(Expr::Reg(success)), Form::Back(start));
}

/// `do r = y; while (x != v);`
fn two_words(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let start = body.len();
    let y = other(generator, x);
    load(generator, body, y);
    let seen = load(generator, body, x);
    let there = is(BinOp::Eq, seen, Expr::Const(generator.small()));
    body.push(Instr::Assume(there), Form::Back(start));
}

/// `do { a = x; b = y; c = x; } while (a != c || a == 1);`
pub(super) fn seqlock(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let start = body.len();
    let y = other(generator, x);
    let before = load(generator, body, x);
    load(generator, body, y);
    if generator.random.chance(50) {
        body.push(Instr::Fence(FenceOrd::Acquire), Form::Short);
    }
    let after = load(generator, body, x);
    let mut same = is(BinOp::Eq, before, Expr::Reg(after));
    if generator.random.chance(60) {
        let even = is(BinOp::Ne, before, Expr::Const(1));
        same = Expr::Binary(BinOp::And, same.into(), even.into());
    }
    body.push(Instr::Assume(same), Form::Back(start));
}

/// `while (x != v && y != w);`
fn either(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let start = body.len();
    let y = other(generator, x);
    let seen = load(generator, body, x);
    let cond = is(BinOp::Eq, seen, Expr::Const(generator.small()));
    let at = body.len();
    body.push(Instr::Halt, Form::Short);
    let seen = load(generator, body, y);
    let there = is(BinOp::Eq, seen, Expr::Const(generator.small()));
    body.push(Instr::Assume(there), Form::Back(start));
    body.code[at] = Instr::Branch {
        cond,
        then: Pc::new(body.len()),
        otherwise: Pc::new(at + 1),
    };
}

/// `if (x == v) cas(x, v, new);`
fn test_then_swap(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let v = generator.small();
    let seen = load(generator, body, x);
    let at = body.len();
    body.push(
        Instr::Branch {
            cond: is(BinOp::Ne, seen, Expr::Const(v)),
            then: Pc::new(at + 2),
            otherwise: Pc::new(at + 1),
        },
        Form::Short,
    );
    let (v, new) = (Expr::Const(v), Expr::Const(generator.small()));
    swap(generator, body, x, v, new, CasStrength::Strong);
}

/// `if (y == v) { r = x; cas(x, r, new); }`
fn message_then_swap(generator: &mut Generator<'_>, body: &mut Body, x: LocId) {
    let y = other(generator, x);
    let message = load(generator, body, y);
    let at = body.len();
    let cond = is(BinOp::Ne, message, Expr::Const(generator.small()));
    body.push(Instr::Halt, Form::Short);
    let seen = load(generator, body, x);
    let (expected, new) = (Expr::Reg(seen), Expr::Const(generator.small()));
    swap(generator, body, x, expected, new, CasStrength::Strong);
    body.code[at] = Instr::Branch {
        cond,
        then: Pc::new(body.len()),
        otherwise: Pc::new(at + 1),
    };
}
