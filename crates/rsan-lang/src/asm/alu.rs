//! Arithmetic that several architectures share, by the names that their instructions have. Every operand is mentioned in the
//! result: `EOR W1,W0,W0` depends on `W0`, though it is always 0.

use super::thread::{binary, blend, unsigned};
use rsan_model::{BinOp, Expr, UnOp};

/// The result of a two-operand instruction; `None` when there is none of this name.
pub(super) fn apply(name: &str, left: Expr, right: Expr) -> Option<Expr> {
    let simple = |op| Some(binary(op, left.clone(), right.clone()));
    let not = |e: Expr| Expr::Unary(UnOp::BitNot, e.into());
    match name {
        "ADD" => simple(BinOp::Add),
        "SUB" => simple(BinOp::Sub),
        "MUL" => simple(BinOp::Mul),
        "AND" => simple(BinOp::BitAnd),
        "ORR" | "OR" => simple(BinOp::BitOr),
        "EOR" | "XOR" => simple(BinOp::BitXor),
        "BIC" | "ANDC" => Some(binary(BinOp::BitAnd, left, not(right))),
        "ORN" | "ORC" => Some(binary(BinOp::BitOr, left, not(right))),
        "EON" | "EQV" => Some(binary(BinOp::BitXor, left, not(right))),
        "NAND" => Some(not(binary(BinOp::BitAnd, left, right))),
        "NOR" => Some(not(binary(BinOp::BitOr, left, right))),
        "SLT" => simple(BinOp::Lt),
        "SLTU" => Some(binary(BinOp::Lt, unsigned(left), unsigned(right))),
        "RSB" => Some(binary(BinOp::Sub, right, left)),
        "LSL" | "SLL" => Some(binary(BinOp::Shl, left, shift_amount(right))),
        "LSR" | "SRL" => Some(binary(BinOp::Shr, unsigned(left), shift_amount(right))),
        "ASR" | "SRA" => Some(binary(BinOp::Shr, left, shift_amount(right))),
        _ => None,
    }
}

/// Whether a shift by this much leads out of the 32 bits that registers have.
pub(super) fn shifts_too_far(name: &str, by: &Expr) -> bool {
    let shift = matches!(name, "LSL" | "LSR" | "ASR" | "SLL" | "SRL" | "SRA");
    shift && matches!(by, Expr::Const(n) if !(0..32).contains(n))
}

/// The result of an atomic instruction on the value that it read; `None` when there is none of this name.
pub(super) fn atomic(name: &str, old: Expr, operand: Expr) -> Option<Expr> {
    let less = |l: &Expr, r: &Expr| binary(BinOp::Lt, l.clone(), r.clone());
    let (o, v) = (&old, &operand);
    let (uo, uv) = (unsigned(o.clone()), unsigned(v.clone()));
    match name {
        "SWP" | "SWAP" => Some(operand),
        "CLR" => apply("BIC", old, operand),
        "SET" => apply("ORR", old, operand),
        "SMAX" | "MAX" => Some(blend(less(o, v), operand, old)),
        "SMIN" | "MIN" => Some(blend(less(v, o), operand, old)),
        "UMAX" | "MAXU" => Some(blend(less(&uo, &uv), operand, old)),
        "UMIN" | "MINU" => Some(blend(less(&uv, &uo), operand, old)),
        "ADD" | "EOR" | "XOR" | "AND" | "OR" => apply(name, old, operand),
        _ => None,
    }
}

fn shift_amount(e: Expr) -> Expr {
    binary(BinOp::BitAnd, e, Expr::Const(31))
}
