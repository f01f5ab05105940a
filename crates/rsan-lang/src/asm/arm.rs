//! Instructions of 32-bit Arm before version 8.
//!
//! Source: ARM Architecture Reference Manual, ARMv7-A and ARMv7-R edition, A8.

use super::aarch64::{self, Address, access, address, second};
use super::alu;
use super::flags;
use super::operand::Instruction;
use super::thread::{Context, Known, binary};
use crate::diagnostic::Result;
use rsan_model::machine::{Fence, Op, Strength};
use rsan_model::{BinOp, Expr, RegId, UnOp};

/// A register by its name.
pub(super) fn register(word: &str) -> Option<Known> {
    if word.contains('%') {
        return super::symbolic(word);
    }
    let upper = word.to_ascii_uppercase();
    let number = match upper.as_str() {
        "FP" => "11",
        "IP" => "12",
        "SP" => "13",
        "LR" => "14",
        _ => upper.strip_prefix('R')?,
    };
    let plain = number.len() <= 2 && number.parse::<u8>().is_ok_and(|n| n <= 14);
    plain.then(|| Known::Plain(format!("R{number}")))
}

/// Adds what an instruction does.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let plain = Strength::default();
    match ins.mnemonic.as_str() {
        "NOP" => Ok(()),
        "LDR" => load(cx, ins, false),
        "LDREX" => load(cx, ins, true),
        "STR" => {
            let value = cx.thread.read(ins.operand(0)?)?;
            let to = address(cx, ins, 1)?;
            let store = Op::Store {
                address: to.value,
                value,
                strength: plain,
            };
            access(cx, ins, store, to.write_back)
        }
        "STREX" => {
            let status = Some(cx.thread.write(ins.operand(0)?)?);
            let value = cx.thread.read(ins.operand(1)?)?;
            let to = address(cx, ins, 2)?;
            let store = Op::StoreExclusive {
                status,
                on_success: 0,
                address: to.value,
                value,
                strength: plain,
            };
            access(cx, ins, store, to.write_back)
        }
        "LDRB" | "LDRH" | "LDRSB" | "LDRSH" | "STRB" | "STRH" | "LDRD" | "STRD" | "LDREXB"
        | "LDREXH" | "LDREXD" | "STREXB" | "STREXH" | "STREXD" => Err(ins.mixed_size()),
        "DMB" | "DSB" => {
            let kinds = aarch64::barrier(ins)?;
            cx.thread.fence(Fence::Dmb(kinds), ins)
        }
        "ISB" => cx.thread.fence(Fence::Isb, ins),
        "CMP" | "CMN" | "TST" => aarch64::compare(cx, ins),
        "CBZ" | "CBNZ" => {
            let value = cx.thread.read(ins.operand(0)?)?;
            let op = if ins.mnemonic == "CBZ" {
                BinOp::Eq
            } else {
                BinOp::Ne
            };
            let condition = binary(op, value, Expr::Const(0));
            cx.thread.branch(Some(condition), ins.operand(1)?, ins)
        }
        "B" => cx.thread.branch(None, ins.operand(0)?, ins),
        "BX" if returns(ins) => cx.thread.end(ins),
        name => {
            let flags = Expr::Reg(cx.thread.hidden("flags"));
            let condition = name.strip_prefix('B').and_then(|c| flags::holds(c, &flags));
            match condition {
                Some(condition) => cx.thread.branch(Some(condition), ins.operand(0)?, ins),
                None => arithmetic(cx, ins),
            }
        }
    }
}

/// `BX LR`
fn returns(ins: &Instruction) -> bool {
    let to = ins.operands.first().and_then(|o| o.word());
    to.is_some_and(|word| word.eq_ignore_ascii_case("LR"))
}

fn load(cx: &mut Context<'_>, ins: &Instruction, exclusive: bool) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let Address { value, write_back } = address(cx, ins, 1)?;
    let load = Op::Load {
        dst,
        address: value,
        strength: Strength::default(),
        exclusive,
    };
    access(cx, ins, load, write_back)
}

/// An arithmetic instruction taken apart: `ADDSEQ` is `ADD`, sets the flags, and does so if they say `EQ`.
struct Arithmetic<'n> {
    operation: &'n str,
    sets_flags: bool,
    condition: Option<&'n str>,
}

impl<'n> Arithmetic<'n> {
    fn of(name: &'n str) -> Option<Self> {
        const OPERATIONS: [&str; 14] = [
            "MOVW", "MOVT", "MOV", "MVN", "ADD", "SUB", "RSB", "AND", "ORR", "EOR", "BIC", "LSL",
            "LSR", "MUL",
        ];
        let operation = OPERATIONS.into_iter().find(|op| name.starts_with(op))?;
        let rest = &name[operation.len()..];
        let (rest, sets_flags) = match rest.strip_prefix('S') {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let condition = (!rest.is_empty()).then_some(rest);
        let known = |c| flags::holds(c, &Expr::Const(0)).is_some();
        condition.is_none_or(known).then_some(Self {
            operation: &name[..operation.len()],
            sets_flags,
            condition,
        })
    }
}

fn arithmetic(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let parts = Arithmetic::of(&ins.mnemonic).ok_or_else(|| ins.unknown())?;
    let dst = cx.thread.write(ins.operand(0)?)?;
    let (left, right, value) = operands(cx, ins, &parts, dst)?;
    let Some(condition) = parts.condition else {
        if parts.sets_flags {
            aarch64::set_flags(cx, ins, parts.operation, &left, &right, &value)?;
        }
        return cx.thread.assign(dst, value, ins);
    };
    if parts.sets_flags {
        return Err(ins.unsupported("flags that are set under a condition are not supported"));
    }
    let flags = Expr::Reg(cx.thread.hidden("flags"));
    let condition = flags::holds(condition, &flags).ok_or_else(|| ins.unknown())?;
    let value = Expr::If(condition.into(), value.into(), Expr::Reg(dst).into());
    cx.thread.assign(dst, value, ins)
}

/// The operands and the result.
fn operands(
    cx: &mut Context<'_>,
    ins: &Instruction,
    parts: &Arithmetic<'_>,
    dst: RegId,
) -> Result<(Expr, Expr, Expr)> {
    let moved = match parts.operation {
        "MOV" | "MOVW" => second(cx, ins, 1)?,
        "MVN" => Expr::Unary(UnOp::BitNot, second(cx, ins, 1)?.into()),
        "MOVT" => {
            let low = binary(BinOp::BitAnd, Expr::Reg(dst), Expr::Const(0xffff));
            let high = Expr::Const(ins.operand(1)?.number()? << 16);
            binary(BinOp::BitOr, low, high)
        }
        name => {
            // `ADD R1,R2` adds to `R1`.
            let (left, at) = if ins.operands.len() == 2 {
                (Expr::Reg(dst), 1)
            } else {
                (cx.thread.read(ins.operand(1)?)?, 2)
            };
            let right = second(cx, ins, at)?;
            let value = alu::apply(name, left.clone(), right.clone());
            return Ok((left, right, value.ok_or_else(|| ins.unknown())?));
        }
    };
    Ok((Expr::Const(0), Expr::Const(0), moved))
}
