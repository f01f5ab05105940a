//! Instructions of Power.
//!
//! Source: Power ISA, book I (fixed-point instructions) and book II (storage control).

use super::alu;
use super::operand::{Instruction, Operand, Shape};
use super::thread::{Context, Known, binary, signed, unsigned};
use crate::diagnostic::Result;
use rsan_model::machine::{Fence, Op, Strength};
use rsan_model::{BinOp, Expr, RegId, UnOp};

/// Bits of a condition register; the one for equality is what a conditional store sets.
const EQUAL: i64 = 1;
const LESS: i64 = 2;
const GREATER: i64 = 4;

/// A register by its name.
pub(super) fn register(word: &str) -> Option<Known> {
    if word.contains('%') {
        return super::symbolic(word);
    }
    let number = word.strip_prefix(['r', 'R'])?;
    let plain = number.len() <= 2 && number.parse::<u8>().is_ok_and(|n| n < 32);
    plain.then(|| Known::Plain(format!("r{number}")))
}

/// Adds what an instruction does.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    match ins.mnemonic.as_str() {
        "NOP" => Ok(()),
        "BLR" => cx.thread.end(ins),
        "SYNC" | "HWSYNC" => cx.thread.fence(Fence::Sync, ins),
        "LWSYNC" => cx.thread.fence(Fence::Lwsync, ins),
        "EIEIO" => cx.thread.fence(Fence::Eieio, ins),
        "ISYNC" => cx.thread.fence(Fence::Isync, ins),
        "LWZ" | "LD" => {
            let address = displaced(cx, ins)?;
            load(cx, ins, address, false)
        }
        "LWZX" | "LDX" => {
            let address = indexed(cx, ins)?;
            load(cx, ins, address, false)
        }
        "LWARX" | "LDARX" => {
            let address = indexed(cx, ins)?;
            load(cx, ins, address, true)
        }
        "STW" | "STD" => {
            let value = cx.thread.read(ins.operand(0)?)?;
            let address = displaced(cx, ins)?;
            cx.thread.store(address, value, ins)
        }
        "STWX" | "STDX" => {
            let value = cx.thread.read(ins.operand(0)?)?;
            let address = indexed(cx, ins)?;
            cx.thread.store(address, value, ins)
        }
        "STWCX." | "STDCX." => store_conditional(cx, ins),
        "LBZ" | "LHZ" | "LHA" | "STB" | "STH" | "LBZX" | "LHZX" | "STBX" | "STHX" => {
            Err(ins.mixed_size())
        }
        "CMPW" | "CMPWI" | "CMPD" | "CMPDI" | "CMPLW" | "CMPLWI" | "CMPLD" | "CMPLDI" => {
            compare(cx, ins)
        }
        "B" => cx.thread.branch(None, ins.operand(0)?, ins),
        "LI" | "LIS" | "MR" | "NEG" | "NOT" | "EXTSW" => moves(cx, ins),
        name => match test(name) {
            Some(test) => branch(cx, ins, test),
            None => arithmetic(cx, ins),
        },
    }
}

fn load(cx: &mut Context<'_>, ins: &Instruction, address: Expr, exclusive: bool) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let load = Op::Load {
        dst,
        address,
        strength: Strength::default(),
        exclusive,
    };
    cx.thread.emit(load, ins)
}

/// `0(r2)`
fn displaced(cx: &mut Context<'_>, ins: &Instruction) -> Result<Expr> {
    ins.at_most(2)?;
    let operand = ins.operand(1)?;
    match &operand.kind {
        Shape::Parens { offset: 0, inside } => cx.thread.read_word(inside, operand.span),
        Shape::Parens { .. } => Err(ins.mixed_size()),
        _ => Err(operand.expected("a place in memory such as `0(r2)`")),
    }
}

/// `r3,r5`: their sum.
fn indexed(cx: &mut Context<'_>, ins: &Instruction) -> Result<Expr> {
    ins.at_most(3)?;
    let base = base(cx, ins.operand(1)?)?;
    let index = cx.thread.read(ins.operand(2)?)?;
    Ok(match base {
        Expr::Const(0) => index,
        base => binary(BinOp::Add, base, index),
    })
}

/// A register to which something is added; `r0` and `0` are 0 there.
fn base(cx: &mut Context<'_>, operand: &Operand) -> Result<Expr> {
    let zero = operand.word().is_some_and(|w| w.eq_ignore_ascii_case("r0"));
    if zero || operand.kind == Shape::Number(0) {
        return Ok(Expr::Const(0));
    }
    cx.thread.read(operand)
}

/// `stwcx. r1,r0,r2`
fn store_conditional(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let value = cx.thread.read(ins.operand(0)?)?;
    let address = indexed(cx, ins)?;
    let status = Some(condition_register(cx, 0));
    let store = Op::StoreExclusive {
        status,
        on_success: EQUAL as i32,
        address,
        value,
        strength: Strength::default(),
    };
    cx.thread.emit(store, ins)
}

fn condition_register(cx: &mut Context<'_>, number: u8) -> RegId {
    cx.thread.hidden(&format!("cr{number}"))
}

/// The condition register that an operand names.
fn named_condition_register(operand: &Operand) -> Option<u8> {
    let word = operand.word()?.to_ascii_lowercase();
    let number = word.strip_prefix("cr")?.parse().ok()?;
    (number < 8).then_some(number)
}

/// `cmpw r1,r2`, `cmpwi cr1,r1,0`
fn compare(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let named = named_condition_register(ins.operand(0)?);
    let first = usize::from(named.is_some());
    ins.at_most(first + 2)?;
    let left = cx.thread.read(ins.operand(first)?)?;
    let right = ins.operand(first + 1)?;
    let right = if ins.mnemonic.ends_with('I') {
        Expr::Const(right.number()?)
    } else {
        cx.thread.read(right)?
    };
    let sign = |e| {
        if ins.mnemonic.starts_with("CMPL") {
            unsigned(e)
        } else {
            e
        }
    };
    let (left, right) = (sign(left), sign(right));
    let bit = |op, weight| {
        let test = binary(op, left.clone(), right.clone());
        binary(BinOp::Mul, test, Expr::Const(weight))
    };
    let order = binary(BinOp::Add, bit(BinOp::Lt, LESS), bit(BinOp::Gt, GREATER));
    let value = binary(BinOp::Add, order, bit(BinOp::Eq, EQUAL));
    let register = condition_register(cx, named.unwrap_or(0));
    cx.thread.assign(register, value, ins)
}

/// Which bit a branch tests, and whether it has to be set.
fn test(name: &str) -> Option<(i64, bool)> {
    match name.trim_end_matches(['+', '-']) {
        "BEQ" => Some((EQUAL, true)),
        "BNE" => Some((EQUAL, false)),
        "BLT" => Some((LESS, true)),
        "BGE" => Some((LESS, false)),
        "BGT" => Some((GREATER, true)),
        "BLE" => Some((GREATER, false)),
        _ => None,
    }
}

fn branch(cx: &mut Context<'_>, ins: &Instruction, (bit, set): (i64, bool)) -> Result<()> {
    let named = named_condition_register(ins.operand(0)?);
    let label = usize::from(named.is_some());
    ins.at_most(label + 1)?;
    let register = condition_register(cx, named.unwrap_or(0));
    let masked = binary(BinOp::BitAnd, Expr::Reg(register), Expr::Const(bit));
    let op = if set { BinOp::Ne } else { BinOp::Eq };
    let condition = binary(op, masked, Expr::Const(0));
    cx.thread.branch(Some(condition), ins.operand(label)?, ins)
}

fn moves(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(2)?;
    let dst = cx.thread.write(ins.operand(0)?)?;
    let source = ins.operand(1)?;
    let value = match ins.mnemonic.as_str() {
        "LI" => Expr::Const(source.number()?),
        "LIS" => Expr::Const(source.number()? << 16),
        name => {
            let value = cx.thread.read(source)?;
            match name {
                "NEG" => Expr::Unary(UnOp::Neg, value.into()),
                "NOT" => Expr::Unary(UnOp::BitNot, value.into()),
                "EXTSW" => signed(value),
                _ => value,
            }
        }
    };
    cx.thread.assign(dst, value, ins)
}

fn arithmetic(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(3)?;
    let name = ins.mnemonic.as_str();
    let (operation, immediate) = match name {
        "ADDI" | "SUBI" | "MULLI" | "ANDI" | "ORI" | "XORI" | "ANDI." => {
            let stem = name.trim_end_matches('.');
            (&stem[..3.min(stem.len() - 1)], true)
        }
        "ADDIS" => ("ADD", true),
        "SUBF" => ("RSB", false),
        "MULLW" | "MULLD" => ("MUL", false),
        "SLW" | "SRW" | "SRAW" => (shift(name), false),
        "SLWI" | "SRWI" | "SRAWI" => (shift(name), true),
        "ADD" | "SUB" | "AND" | "OR" | "XOR" | "NAND" | "NOR" | "ANDC" | "ORC" | "EQV" => {
            (name, false)
        }
        _ => return Err(ins.unknown()),
    };
    let dst = cx.thread.write(ins.operand(0)?)?;
    let left = match name {
        "ADDI" | "ADDIS" | "SUBI" => base(cx, ins.operand(1)?)?,
        _ => cx.thread.read(ins.operand(1)?)?,
    };
    let right = ins.operand(2)?;
    let right = match (immediate, name) {
        (true, "ADDIS") => Expr::Const(right.number()? << 16),
        (true, _) => Expr::Const(right.number()?),
        (false, _) => cx.thread.read(right)?,
    };
    if alu::shifts_too_far(operation, &right) {
        return Err(ins.unsupported("registers have 32 bits here"));
    }
    let value = alu::apply(operation, left, right).ok_or_else(|| ins.unknown())?;
    if name == "ANDI." {
        record(cx, ins, &value)?;
    }
    cx.thread.assign(dst, value, ins)
}

fn shift(name: &str) -> &'static str {
    if name.starts_with("SLW") {
        "SLL"
    } else if name.starts_with("SRW") {
        "SRL"
    } else {
        "SRA"
    }
}

/// Compares a result with 0.
fn record(cx: &mut Context<'_>, ins: &Instruction, value: &Expr) -> Result<()> {
    let bit = |op, weight| {
        let test = binary(op, value.clone(), Expr::Const(0));
        binary(BinOp::Mul, test, Expr::Const(weight))
    };
    let order = binary(BinOp::Add, bit(BinOp::Lt, LESS), bit(BinOp::Gt, GREATER));
    let flags = binary(BinOp::Add, order, bit(BinOp::Eq, EQUAL));
    let register = condition_register(cx, 0);
    cx.thread.assign(register, flags, ins)
}
