//! Flags of Arm and x86, as the four low bits of one hidden register: negative, zero, carry, overflow.
//!
//! Carry is Arm's: after a subtraction it is set when there was no borrow. x86's carry flag is its complement.

use super::thread::{binary, signed, unsigned};
use rsan_model::{BinOp, Expr};

const NEGATIVE: i64 = 8;
const ZERO: i64 = 4;
const CARRY: i64 = 2;
const OVERFLOW: i64 = 1;

/// Flags of `left - right`.
pub(super) fn of_subtraction(left: &Expr, right: &Expr) -> Expr {
    let carry = binary(BinOp::Ge, unsigned(left.clone()), unsigned(right.clone()));
    of_sum(BinOp::Sub, left, right, carry)
}

/// Flags of `left + right`.
pub(super) fn of_addition(left: &Expr, right: &Expr) -> Expr {
    let sum = binary(BinOp::Add, unsigned(left.clone()), unsigned(right.clone()));
    let carry = binary(BinOp::Gt, sum, Expr::Const(0xffff_ffff));
    of_sum(BinOp::Add, left, right, carry)
}

/// Flags of a result without carry and overflow.
pub(super) fn of_result(value: &Expr) -> Expr {
    sign_and_zero(&signed(value.clone()))
}

/// The same with x86's carry flag complemented, for its instructions that are not subtractions.
pub(super) fn with_carry_complemented(flags: Expr) -> Expr {
    binary(BinOp::BitXor, flags, Expr::Const(CARRY))
}

/// The flags, but the carry of others.
pub(super) fn with_carry_of(flags: Expr, carry: Expr) -> Expr {
    let rest = binary(BinOp::BitAnd, flags, Expr::Const(15 - CARRY));
    let carry = binary(BinOp::BitAnd, carry, Expr::Const(CARRY));
    binary(BinOp::BitOr, rest, carry)
}

fn of_sum(op: BinOp, left: &Expr, right: &Expr, carry: Expr) -> Expr {
    let exact = binary(op, signed(left.clone()), signed(right.clone()));
    let wrapped = signed(exact.clone());
    let overflow = binary(BinOp::Ne, exact, wrapped.clone());
    let carry = binary(BinOp::Mul, carry, Expr::Const(CARRY));
    let flags = binary(BinOp::Add, sign_and_zero(&wrapped), carry);
    binary(
        BinOp::Add,
        flags,
        binary(BinOp::Mul, overflow, Expr::Const(OVERFLOW)),
    )
}

fn sign_and_zero(value: &Expr) -> Expr {
    let bit = |op, weight| {
        let test = binary(op, value.clone(), Expr::Const(0));
        binary(BinOp::Mul, test, Expr::Const(weight))
    };
    binary(BinOp::Add, bit(BinOp::Lt, NEGATIVE), bit(BinOp::Eq, ZERO))
}

/// 1 if the condition of this name holds, else 0; `None` when there is no such condition.
pub(super) fn holds(condition: &str, flags: &Expr) -> Option<Expr> {
    let is = |bit| {
        let masked = binary(BinOp::BitAnd, flags.clone(), Expr::Const(bit));
        binary(BinOp::Ne, masked, Expr::Const(0))
    };
    let not = |e| binary(BinOp::Eq, e, Expr::Const(0));
    let less = || binary(BinOp::Ne, is(NEGATIVE), is(OVERFLOW));
    let higher = || binary(BinOp::And, is(CARRY), not(is(ZERO)));
    let greater = || binary(BinOp::And, not(is(ZERO)), not(less()));
    Some(match condition {
        "EQ" => is(ZERO),
        "NE" => not(is(ZERO)),
        "CS" | "HS" => is(CARRY),
        "CC" | "LO" => not(is(CARRY)),
        "MI" => is(NEGATIVE),
        "PL" => not(is(NEGATIVE)),
        "VS" => is(OVERFLOW),
        "VC" => not(is(OVERFLOW)),
        "HI" => higher(),
        "LS" => not(higher()),
        "GE" => not(less()),
        "LT" => less(),
        "GT" => greater(),
        "LE" => not(greater()),
        "AL" => Expr::Const(1),
        _ => return None,
    })
}
