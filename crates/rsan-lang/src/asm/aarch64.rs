//! Instructions of AArch64.
//!
//! Source: Arm Architecture Reference Manual for A-profile, C6 (base instructions).

use super::alu;
use super::flags;
use super::operand::{Instruction, Operand, Shape};
use super::thread::{Context, Known, binary, signed, unsigned};
use crate::diagnostic::Result;
use rsan_model::machine::{Acquire, Fence, Kinds, Op, Strength};
use rsan_model::{BinOp, Expr, RegId, UnOp};

mod atomics;

/// A register by its name; `W1` and `X1` are one.
pub(super) fn register(word: &str) -> Option<Known> {
    if word.contains('%') {
        return super::symbolic(word);
    }
    let upper = word.to_ascii_uppercase();
    match upper.as_str() {
        "WZR" | "XZR" => return Some(Known::Zero),
        "SP" | "WSP" => return Some(Known::Plain("SP".to_owned())),
        _ => {}
    }
    let number = upper.strip_prefix(['W', 'X'])?;
    let plain = number.len() <= 2 && number.parse::<u8>().is_ok_and(|n| n <= 30);
    plain.then(|| Known::Plain(format!("X{number}")))
}

/// Adds what an instruction does.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let name = ins.mnemonic.as_str();
    match name {
        "NOP" | "HINT" | "PRFM" => Ok(()),
        "RET" => cx.thread.end(ins),
        "MOV" | "MOVZ" | "MOVN" | "MOVK" | "MVN" | "NEG" | "SXTW" | "UXTW" => moves(cx, ins),
        "CMP" | "CMN" | "TST" | "CCMP" => compare(cx, ins),
        "MADD" | "MSUB" | "MNEG" => multiply(cx, ins),
        "B" => cx.thread.branch(None, ins.operand(0)?, ins),
        "CBZ" | "CBNZ" | "TBZ" | "TBNZ" => test_and_branch(cx, ins),
        "CSEL" | "CSINC" | "CSINV" | "CSNEG" | "CSET" | "CSETM" | "CINC" | "CINV" | "CNEG" => {
            select(cx, ins)
        }
        "DMB" | "DSB" => {
            let kinds = barrier(ins)?;
            if name == "DSB" && kinds == Kinds::Writes {
                let message = "`DSB ST` orders writes before everything that follows, which no fence here does";
                return Err(ins.unsupported(message));
            }
            cx.thread.fence(Fence::Dmb(kinds), ins)
        }
        "ISB" => cx.thread.fence(Fence::Isb, ins),
        _ => {
            if let Some(condition) = branch_condition(cx, name) {
                return cx.thread.branch(Some(condition), ins.operand(0)?, ins);
            }
            if arithmetic(cx, ins)? || atomics::lower(cx, ins)? {
                return Ok(());
            }
            Err(ins.unknown())
        }
    }
}

/// The register that holds the flags.
fn flags_register(cx: &mut Context<'_>) -> RegId {
    cx.thread.hidden("flags")
}

/// The condition of `B.EQ` or `BEQ`.
fn branch_condition(cx: &mut Context<'_>, name: &str) -> Option<Expr> {
    let code = name.strip_prefix("B.").or_else(|| name.strip_prefix('B'))?;
    let flags = Expr::Reg(flags_register(cx));
    flags::holds(code, &flags)
}

/// A condition that is an operand.
fn condition(cx: &mut Context<'_>, operand: &Operand) -> Result<Expr> {
    let flags = Expr::Reg(flags_register(cx));
    let code = operand.word().map(str::to_ascii_uppercase);
    code.and_then(|code| flags::holds(&code, &flags))
        .ok_or_else(|| operand.expected("a condition such as `EQ`"))
}

/// `SY`, `ISHLD`, …; nothing is `SY`.
pub(super) fn barrier(ins: &Instruction) -> Result<Kinds> {
    ins.at_most(1)?;
    let Some(operand) = ins.operands.first() else {
        return Ok(Kinds::All);
    };
    let option = operand.word().map(str::to_ascii_uppercase);
    match option.as_deref() {
        Some("SY" | "ISH" | "NSH" | "OSH") => Ok(Kinds::All),
        Some("LD" | "ISHLD" | "NSHLD" | "OSHLD") => Ok(Kinds::Reads),
        Some("ST" | "ISHST" | "NSHST" | "OSHST") => Ok(Kinds::Writes),
        _ => Err(operand.expected("a barrier's option such as `SY`, `LD` or `ISHST`")),
    }
}

/// The last source: a number or a register, shifted or extended if another operand says so. `n` is its place.
pub(super) fn second(cx: &mut Context<'_>, ins: &Instruction, n: usize) -> Result<Expr> {
    let operand = ins.operand(n)?;
    let value = match operand.kind {
        Shape::Number(_) => Expr::Const(operand.number()?),
        _ => cx.thread.read(operand)?,
    };
    ins.at_most(n + 2)?;
    match ins.operands.get(n + 1) {
        None => Ok(value),
        Some(modifier) => modify(value, &modifier.kind)
            .ok_or_else(|| modifier.expected("a shift or an extension such as `LSL #2` or `SXTW`")),
    }
}

/// A value shifted or extended.
pub(super) fn modify(value: Expr, modifier: &Shape) -> Option<Expr> {
    let (name, amount) = match modifier {
        Shape::Word(word) => (word.to_ascii_uppercase(), 0),
        Shape::Shift(name, amount) => (name.clone(), *amount),
        _ => return None,
    };
    let amount = (0..32).contains(&amount).then_some(Expr::Const(amount))?;
    let value = match name.as_str() {
        "LSL" | "UXTX" | "SXTX" => value,
        "LSR" | "ASR" => return alu::apply(&name, value, amount),
        "SXTW" => signed(value),
        "UXTW" => unsigned(value),
        "UXTH" => binary(BinOp::BitAnd, value, Expr::Const(0xffff)),
        "UXTB" => binary(BinOp::BitAnd, value, Expr::Const(0xff)),
        "SXTH" => sign_extended(value, 48),
        "SXTB" => sign_extended(value, 56),
        _ => return None,
    };
    Some(if amount == Expr::Const(0) {
        value
    } else {
        binary(BinOp::Shl, value, amount)
    })
}

/// The value without its upper `bits`, which become copies of the highest bit that is left.
fn sign_extended(value: Expr, bits: i64) -> Expr {
    let shifted = binary(BinOp::Shl, value, Expr::Const(bits));
    binary(BinOp::Shr, shifted, Expr::Const(bits))
}

fn moves(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let source = second(cx, ins, 1)?;
    let not = |e: Expr| Expr::Unary(UnOp::BitNot, e.into());
    let value = match ins.mnemonic.as_str() {
        "MOVN" | "MVN" => not(source),
        "NEG" => Expr::Unary(UnOp::Neg, source.into()),
        "SXTW" => signed(source),
        "UXTW" => unsigned(source),
        "MOVK" => {
            let shift = match ins.operands.get(2).map(|o| &o.kind) {
                Some(Shape::Shift(_, amount)) => *amount,
                _ => 0,
            };
            let kept = Expr::Const(!(0xffff_i64 << shift));
            let kept = binary(BinOp::BitAnd, Expr::Reg(dst), kept);
            binary(BinOp::BitOr, kept, source)
        }
        _ => source,
    };
    cx.thread.assign(dst, value, ins)
}

/// `ADD`, `EORS` and the like; whether it is one.
fn arithmetic(cx: &mut Context<'_>, ins: &Instruction) -> Result<bool> {
    let name = ins.mnemonic.as_str();
    let known = |name| alu::apply(name, Expr::Const(0), Expr::Const(0)).is_some();
    let (operation, sets_flags) = match name.strip_suffix('S') {
        Some(stem @ ("ADD" | "SUB" | "AND" | "BIC")) => (stem, true),
        _ if matches!(name, "OR" | "XOR" | "RSB" | "SLT") => return Ok(false),
        _ => (name, false),
    };
    if !known(operation) {
        return Ok(false);
    }
    let dst = cx.thread.write(ins.operand(0)?)?;
    let left = cx.thread.read(ins.operand(1)?)?;
    let right = second(cx, ins, 2)?;
    if alu::shifts_too_far(operation, &right) {
        return Err(ins.unsupported("registers have 32 bits here"));
    }
    let value = alu::apply(operation, left.clone(), right.clone());
    let value = value.ok_or_else(|| ins.unknown())?;
    if sets_flags {
        set_flags(cx, ins, operation, &left, &right, &value)?;
    }
    cx.thread.assign(dst, value, ins)?;
    Ok(true)
}

/// Sets the flags for an arithmetic instruction.
pub(super) fn set_flags(
    cx: &mut Context<'_>,
    ins: &Instruction,
    operation: &str,
    left: &Expr,
    right: &Expr,
    value: &Expr,
) -> Result<()> {
    let flags = flags_register(cx);
    let result = match operation {
        "ADD" => flags::of_addition(left, right),
        "SUB" => flags::of_subtraction(left, right),
        _ => flags::of_result(value),
    };
    cx.thread.assign(flags, result, ins)
}

/// `CMP`, `CMN`, `TST` and `CCMP`.
pub(super) fn compare(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let left = cx.thread.read(ins.operand(0)?)?;
    if ins.mnemonic == "CCMP" {
        let right = ins.operand(1)?;
        let right = match right.kind {
            Shape::Number(_) => Expr::Const(right.number()?),
            _ => cx.thread.read(right)?,
        };
        let otherwise = Expr::Const(ins.operand(2)?.number()?);
        let condition = condition(cx, ins.operand(3)?)?;
        let compared = flags::of_subtraction(&left, &right);
        let flags = flags_register(cx);
        let value = Expr::If(condition.into(), compared.into(), otherwise.into());
        return cx.thread.assign(flags, value, ins);
    }
    let right = second(cx, ins, 1)?;
    let operation = match ins.mnemonic.as_str() {
        "CMP" => "SUB",
        "CMN" => "ADD",
        _ => "AND",
    };
    let value = binary(BinOp::BitAnd, left.clone(), right.clone());
    set_flags(cx, ins, operation, &left, &right, &value)
}

fn multiply(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let left = cx.thread.read(ins.operand(1)?)?;
    let right = cx.thread.read(ins.operand(2)?)?;
    let product = binary(BinOp::Mul, left, right);
    let value = match ins.mnemonic.as_str() {
        "MADD" => binary(BinOp::Add, cx.thread.read(ins.operand(3)?)?, product),
        "MSUB" => binary(BinOp::Sub, cx.thread.read(ins.operand(3)?)?, product),
        _ => Expr::Unary(UnOp::Neg, product.into()),
    };
    cx.thread.assign(dst, value, ins)
}

fn test_and_branch(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let value = cx.thread.read(ins.operand(0)?)?;
    let (value, label) = if ins.mnemonic.starts_with('T') {
        let bit = ins.operand(1)?.number()?;
        let shifted = binary(BinOp::Shr, value, Expr::Const(bit));
        let bit = binary(BinOp::BitAnd, shifted, Expr::Const(1));
        (bit, ins.operand(2)?)
    } else {
        (value, ins.operand(1)?)
    };
    let op = if ins.mnemonic.ends_with("NZ") {
        BinOp::Ne
    } else {
        BinOp::Eq
    };
    let condition = binary(op, value, Expr::Const(0));
    cx.thread.branch(Some(condition), label, ins)
}

/// The conditional selects. The result depends on the register that is chosen, and on the flags only in so far as they choose it
/// (the architecture's pick dependency): that is what [`Expr::If`] stands for.
fn select(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let name = ins.mnemonic.as_str();
    let (then, otherwise, condition_at) = match name {
        "CSET" => (Expr::Const(1), Expr::Const(0), 1),
        "CSETM" => (Expr::Const(-1), Expr::Const(0), 1),
        "CINC" | "CINV" | "CNEG" => {
            let value = cx.thread.read(ins.operand(1)?)?;
            (changed(name, value.clone()), value, 2)
        }
        _ => {
            let then = cx.thread.read(ins.operand(1)?)?;
            let otherwise = cx.thread.read(ins.operand(2)?)?;
            (then, changed(name, otherwise), 3)
        }
    };
    ins.at_most(condition_at + 1)?;
    let condition = condition(cx, ins.operand(condition_at)?)?;
    let value = Expr::If(condition.into(), then.into(), otherwise.into());
    cx.thread.assign(dst, value, ins)
}

/// What the select of this name does to the value that it takes.
fn changed(name: &str, value: Expr) -> Expr {
    if name.ends_with("INC") {
        binary(BinOp::Add, value, Expr::Const(1))
    } else if name.ends_with("INV") {
        Expr::Unary(UnOp::BitNot, value.into())
    } else if name.ends_with("NEG") {
        Expr::Unary(UnOp::Neg, value.into())
    } else {
        value
    }
}

/// An order that an instruction's suffix gives.
fn acquiring(acquire: Acquire) -> Strength {
    Strength {
        acquire,
        release: false,
    }
}

/// Plain, or with release.
fn releasing(release: bool) -> Strength {
    Strength {
        acquire: Acquire::No,
        release,
    }
}

/// An address, and what its register holds afterwards if the instruction changes it.
pub(super) struct Address {
    pub(super) value: Expr,
    pub(super) write_back: Option<(RegId, Expr)>,
}

/// The address in operand `n`, and the number behind it, which is added to the register afterwards.
pub(super) fn address(cx: &mut Context<'_>, ins: &Instruction, n: usize) -> Result<Address> {
    let operand = ins.operand(n)?;
    let Shape::Brackets { parts, write_back } = &operand.kind else {
        return Err(operand.expected("a place in memory such as `[X1]`"));
    };
    let word = |part: Option<&(Shape, _)>| match part {
        Some((Shape::Word(word), span)) => Some((word.clone(), *span)),
        _ => None,
    };
    let Some((base, span)) = word(parts.first()) else {
        return Err(operand.expected("a place in memory such as `[X1]`"));
    };
    let base_value = cx.thread.read_word(&base, span)?;
    let value = match parts.get(1) {
        None => base_value.clone(),
        Some((Shape::Number(0), _)) if parts.len() == 2 => base_value.clone(),
        Some((Shape::Number(_), _)) if parts.len() == 2 => return Err(ins.mixed_size()),
        offset => {
            let Some((offset, span)) = word(offset) else {
                return Err(operand.expected("a place in memory such as `[X1,W2,SXTW]`"));
            };
            let offset = cx.thread.read_word(&offset, span)?;
            let offset = match parts.get(2) {
                None => Some(offset),
                Some((modifier, _)) => modify(offset, modifier),
            };
            let offset = offset.ok_or_else(|| operand.expected("an extension such as `SXTW`"))?;
            binary(BinOp::Add, base_value.clone(), offset)
        }
    };
    ins.at_most(n + 2)?;
    let write_back = match (ins.operands.get(n + 1), base_value) {
        (Some(by), Expr::Reg(register)) if !write_back => {
            let sum = binary(BinOp::Add, Expr::Reg(register), Expr::Const(by.number()?));
            Some((register, sum))
        }
        (Some(by), _) => return Err(by.expected("nothing more")),
        (None, _) => None,
    };
    Ok(Address { value, write_back })
}

/// Emits an access, and the change of the address register after it.
pub(super) fn access(
    cx: &mut Context<'_>,
    ins: &Instruction,
    op: Op,
    write_back: Option<(RegId, Expr)>,
) -> Result<()> {
    cx.thread.emit(op, ins)?;
    match write_back {
        Some((register, value)) => cx.thread.assign(register, value, ins),
        None => Ok(()),
    }
}
