//! Instructions of RISC-V.
//!
//! Source: The RISC-V Instruction Set Manual, volume I; `.aq` and `.rl` on ordinary loads and stores as in herd.

use super::alu;
use super::operand::{Instruction, Operand, Shape};
use super::thread::{Context, Known, binary, signed, unsigned};
use crate::diagnostic::Result;
use rsan_model::machine::{Acquire, Fence, Kinds, Op, Strength};
use rsan_model::{BinOp, Expr, RegId, UnOp};

/// A register by its number or by its name in the calling convention.
pub(super) fn register(word: &str) -> Option<Known> {
    if word.contains('%') {
        return super::symbolic(word);
    }
    const NAMES: [&str; 33] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
        "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
        "t5", "t6", "fp",
    ];
    let lower = word.to_ascii_lowercase();
    let number = match NAMES.iter().position(|name| *name == lower) {
        Some(32) => 8,
        Some(number) => number,
        None => {
            let digits = lower.strip_prefix('x')?;
            let short = digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|n| short && *n < 32)?
        }
    };
    Some(match number {
        0 => Known::Zero,
        _ => Known::Plain(format!("x{number}")),
    })
}

/// Adds what an instruction does.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let name = ins.mnemonic.as_str();
    let (stem, order) = orders(name);
    match stem {
        "NOP" => Ok(()),
        "RET" => cx.thread.end(ins),
        "FENCE" => fence(cx, ins),
        "FENCE.TSO" => cx.thread.fence(Fence::RiscvTso, ins),
        "FENCE.I" => cx.thread.fence(Fence::RiscvI, ins),
        "LW" | "LWU" | "LD" => load(cx, ins, order, false),
        "LR.W" | "LR.D" => load(cx, ins, order, true),
        "SW" | "SD" => {
            let value = cx.thread.read(ins.operand(0)?)?;
            let address = address(cx, ins, 1)?;
            let store = Op::Store {
                address,
                value,
                strength: order,
            };
            cx.thread.emit(store, ins)
        }
        "SC.W" | "SC.D" => store_conditional(cx, ins, order),
        "LB" | "LBU" | "LH" | "LHU" | "SB" | "SH" => Err(ins.mixed_size()),
        "J" => cx.thread.branch(None, ins.operand(0)?, ins),
        "LI" | "MV" | "NEG" | "NOT" | "SEXT.W" | "LUI" | "SEQZ" | "SNEZ" => moves(cx, ins),
        _ => match stem.strip_prefix("AMO") {
            Some(amo) => update(cx, ins, amo, order),
            None => match comparison(stem) {
                Some(comparison) => branch(cx, ins, comparison),
                None => arithmetic(cx, ins),
            },
        },
    }
}

/// The name without `.aq` and `.rl`, and what they say.
fn orders(name: &str) -> (&str, Strength) {
    let suffixes = [
        (".AQ.RL", true, true),
        (".AQRL", true, true),
        (".AQ", true, false),
        (".RL", false, true),
    ];
    for (suffix, aq, release) in suffixes {
        if let Some(stem) = name.strip_suffix(suffix) {
            let acquire = if aq { Acquire::Sc } else { Acquire::No };
            return (stem, Strength { acquire, release });
        }
    }
    (name, Strength::default())
}

/// `0(x6)` or `(x6)`
fn address(cx: &mut Context<'_>, ins: &Instruction, n: usize) -> Result<Expr> {
    ins.at_most(n + 1)?;
    let operand = ins.operand(n)?;
    match &operand.kind {
        Shape::Parens { offset: 0, inside } => cx.thread.read_word(inside, operand.span),
        Shape::Parens { .. } => Err(ins.mixed_size()),
        _ => Err(operand.expected("a place in memory such as `0(x6)`")),
    }
}

fn load(cx: &mut Context<'_>, ins: &Instruction, order: Strength, exclusive: bool) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let address = address(cx, ins, 1)?;
    let load = Op::Load {
        dst,
        address,
        strength: order,
        exclusive,
    };
    cx.thread.emit(load, ins)
}

/// `sc.w x8,x7,0(x9)`
fn store_conditional(cx: &mut Context<'_>, ins: &Instruction, order: Strength) -> Result<()> {
    let status = Some(cx.thread.write(ins.operand(0)?)?);
    let value = cx.thread.read(ins.operand(1)?)?;
    let address = address(cx, ins, 2)?;
    let store = Op::StoreExclusive {
        status,
        on_success: 0,
        address,
        value,
        strength: order,
    };
    cx.thread.emit(store, ins)
}

/// `amoadd.w x5,x6,(x7)`
fn update(cx: &mut Context<'_>, ins: &Instruction, amo: &str, order: Strength) -> Result<()> {
    let Some((operation, "W" | "D")) = amo.split_once('.') else {
        return Err(ins.unknown());
    };
    let operand = cx.thread.read(ins.operand(1)?)?;
    let address = address(cx, ins, 2)?;
    let old = cx.thread.hidden("old");
    let value = alu::atomic(operation, Expr::Reg(old), operand).ok_or_else(|| ins.unknown())?;
    let returns = !cx.thread.is_zero(ins.operand(0)?);
    let update = Op::Update {
        dst: old,
        returns,
        address,
        condition: None,
        value,
        read: order,
        write: order,
    };
    cx.thread.emit(update, ins)?;
    if !returns {
        return Ok(());
    }
    let dst = cx.thread.write(ins.operand(0)?)?;
    cx.thread.assign(dst, Expr::Reg(old), ins)
}

/// `fence rw,w`; without operands it orders everything.
fn fence(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(2)?;
    if ins.operands.is_empty() {
        let all = Fence::Riscv {
            before: Kinds::All,
            after: Kinds::All,
        };
        return cx.thread.fence(all, ins);
    }
    let before = kinds(ins.operand(0)?)?;
    let after = kinds(ins.operand(1)?)?;
    cx.thread.fence(Fence::Riscv { before, after }, ins)
}

fn kinds(operand: &Operand) -> Result<Kinds> {
    let word = operand.word().unwrap_or_default().to_ascii_lowercase();
    let known = !word.is_empty() && word.chars().all(|c| "iorw".contains(c));
    if !known && operand.kind != Shape::Number(0) {
        return Err(operand.expected("which accesses the fence orders, such as `rw`"));
    }
    Ok(match (word.contains('r'), word.contains('w')) {
        (true, true) => Kinds::All,
        (true, false) => Kinds::Reads,
        (false, true) => Kinds::Writes,
        (false, false) => Kinds::None,
    })
}

/// How a branch compares.
#[derive(Clone, Copy)]
struct Comparison {
    op: BinOp,
    unsigned: bool,
    /// With 0, not with a second register.
    zero: bool,
}

fn comparison(name: &str) -> Option<Comparison> {
    let rest = name.strip_prefix('B')?;
    let of = |rest: &str, unsigned, zero| {
        let op = match rest {
            "EQ" => BinOp::Eq,
            "NE" => BinOp::Ne,
            "LT" => BinOp::Lt,
            "GE" => BinOp::Ge,
            "GT" => BinOp::Gt,
            "LE" => BinOp::Le,
            _ => return None,
        };
        Some(Comparison { op, unsigned, zero })
    };
    match (rest.strip_suffix('Z'), rest.strip_suffix('U')) {
        (Some(rest), _) => of(rest, false, true),
        (_, Some(rest)) => of(rest, true, false),
        _ => of(rest, false, false),
    }
}

fn branch(cx: &mut Context<'_>, ins: &Instruction, comparison: Comparison) -> Result<()> {
    let sign = |e| if comparison.unsigned { unsigned(e) } else { e };
    let left = sign(cx.thread.read(ins.operand(0)?)?);
    let (right, label) = if comparison.zero {
        (Expr::Const(0), 1)
    } else {
        (sign(cx.thread.read(ins.operand(1)?)?), 2)
    };
    let condition = binary(comparison.op, left, right);
    cx.thread.branch(Some(condition), ins.operand(label)?, ins)
}

fn moves(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(2)?;
    let dst = cx.thread.write(ins.operand(0)?)?;
    let source = ins.operand(1)?;
    let value = match ins.mnemonic.as_str() {
        "LI" => Expr::Const(source.number()?),
        "LUI" => Expr::Const(source.number()? << 12),
        name => {
            let value = cx.thread.read(source)?;
            match name {
                "NEG" => Expr::Unary(UnOp::Neg, value.into()),
                "NOT" => Expr::Unary(UnOp::BitNot, value.into()),
                "SEQZ" => binary(BinOp::Eq, value, Expr::Const(0)),
                "SNEZ" => binary(BinOp::Ne, value, Expr::Const(0)),
                "SEXT.W" => signed(value),
                _ => value,
            }
        }
    };
    cx.thread.assign(dst, value, ins)
}

/// `add`, `addi`, `addw`, `addiw`, …
fn arithmetic(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    const OPERATIONS: [&str; 11] = [
        "ADD", "SUB", "MUL", "AND", "OR", "XOR", "SLTU", "SLT", "SLL", "SRL", "SRA",
    ];
    let name = ins.mnemonic.as_str();
    let found = OPERATIONS.into_iter().find_map(|op| {
        let rest = name.strip_prefix(op)?;
        matches!(rest, "" | "I" | "W" | "IW").then_some((op, rest.starts_with('I')))
    });
    // The `u` of `sltiu` stands behind.
    let found = match name {
        "SLTIU" => Some(("SLTU", true)),
        _ => found,
    };
    let Some((operation, immediate)) = found else {
        return Err(ins.unknown());
    };
    ins.at_most(3)?;
    let dst: RegId = cx.thread.write(ins.operand(0)?)?;
    let left = cx.thread.read(ins.operand(1)?)?;
    let right = ins.operand(2)?;
    let right = if immediate {
        Expr::Const(right.number()?)
    } else {
        cx.thread.read(right)?
    };
    if alu::shifts_too_far(operation, &right) {
        return Err(ins.unsupported("registers have 32 bits here"));
    }
    let value = alu::apply(operation, left, right).ok_or_else(|| ins.unknown())?;
    cx.thread.assign(dst, value, ins)
}
