//! Instructions of x86, in both assemblers' syntax.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. As herd, `X86` tests have Intel's order of operands
//! (destination first), `X86_64` tests AT&T's (destination last).

use super::alu;
use super::flags;
use super::operand::{Instruction, Operand, Shape};
use super::thread::{Context, Known, binary};
use crate::diagnostic::Result;
use rsan_model::machine::{Fence, Op, Strength, address};
use rsan_model::{BinOp, Expr, RegId, UnOp};

/// In which order operands are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// Destination first.
    Intel,
    /// Destination last.
    Att,
}

/// A register by its name; `%` may stand before it, `EAX` and `RAX` are one.
pub(super) fn register(word: &str) -> Option<Known> {
    let bare = word.strip_prefix('%').unwrap_or(word).to_ascii_uppercase();
    const NAMES: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];
    if let Some(name) = bare.strip_prefix(['E', 'R']) {
        if NAMES.contains(&name) {
            return Some(Known::Plain(format!("R{name}")));
        }
        let number = name.strip_suffix('D').unwrap_or(name);
        let new = number.parse::<u8>().is_ok_and(|n| (8..16).contains(&n));
        if bare.starts_with('R') && new && !number.starts_with('0') {
            return Some(Known::Plain(format!("R{number}")));
        }
    }
    None
}

/// A place that an instruction reads or writes.
enum Place {
    Register(RegId),
    Memory(Expr),
}

/// Adds what an instruction does.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction, syntax: Syntax) -> Result<()> {
    let (locked, name) = match ins.mnemonic.strip_prefix("LOCK ") {
        Some(name) => (true, name),
        None => (false, ins.mnemonic.as_str()),
    };
    let mut ordered = ins.clone();
    if syntax == Syntax::Att {
        ordered.operands.reverse();
    }
    let name = stem(name).ok_or_else(|| ins.unknown())?;
    let ins = &ordered;
    match name {
        "NOP" | "ENDBR64" => Ok(()),
        // x86 orders all that these order, without them.
        "LFENCE" | "SFENCE" => Ok(()),
        "MFENCE" => cx.thread.fence(Fence::Mfence, ins),
        "RET" => cx.thread.end(ins),
        "JMP" => cx.thread.branch(None, ins.operand(0)?, ins),
        "MOV" => mov(cx, ins),
        "XCHG" => exchange(cx, ins),
        "XADD" => exchange_and_add(cx, ins, locked),
        "CMPXCHG" => compare_exchange(cx, ins, locked),
        "CMP" | "TEST" => compare(cx, ins, name),
        _ if name.starts_with('J') => {
            let condition = condition(cx, &name[1..]).ok_or_else(|| ins.unknown())?;
            cx.thread.branch(Some(condition), ins.operand(0)?, ins)
        }
        _ if name.starts_with("CMOV") => {
            let condition = condition(cx, &name[4..]).ok_or_else(|| ins.unknown())?;
            let value = value(cx, ins, 1)?;
            let Place::Register(dst) = place(cx, ins.operand(0)?)? else {
                return Err(ins.operands[0].expected("a register"));
            };
            let chosen = Expr::If(condition.into(), value.into(), Expr::Reg(dst).into());
            cx.thread.assign(dst, chosen, ins)
        }
        _ => arithmetic(cx, ins, name, locked),
    }
}

/// The instruction without the suffix that says how wide it is.
fn stem(name: &str) -> Option<&str> {
    const NAMES: [&str; 23] = [
        "NOP", "ENDBR64", "LFENCE", "SFENCE", "MFENCE", "RET", "JMP", "MOV", "XCHG", "XADD",
        "CMPXCHG", "CMP", "TEST", "ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC", "NEG", "NOT",
        "SHL",
    ];
    let known = |name: &str| {
        let jump = name.strip_prefix('J').or_else(|| name.strip_prefix("CMOV"));
        NAMES.contains(&name) || jump.is_some_and(|c| arm_condition(c).is_some())
    };
    if known(name) {
        return Some(name);
    }
    let stem = name.strip_suffix(['L', 'Q'])?;
    known(stem).then_some(stem)
}

/// The condition of a jump in Arm's terms.
fn arm_condition(code: &str) -> Option<&'static str> {
    Some(match code {
        "E" | "Z" => "EQ",
        "NE" | "NZ" => "NE",
        "AE" | "NB" | "NC" => "CS",
        "B" | "C" | "NAE" => "CC",
        "A" | "NBE" => "HI",
        "BE" | "NA" => "LS",
        "L" | "NGE" => "LT",
        "GE" | "NL" => "GE",
        "LE" | "NG" => "LE",
        "G" | "NLE" => "GT",
        "S" => "MI",
        "NS" => "PL",
        "O" => "VS",
        "NO" => "VC",
        _ => return None,
    })
}

fn condition(cx: &mut Context<'_>, code: &str) -> Option<Expr> {
    let flags = Expr::Reg(cx.thread.hidden("flags"));
    flags::holds(arm_condition(code)?, &flags)
}

fn place(cx: &mut Context<'_>, operand: &Operand) -> Result<Place> {
    let inside = match &operand.kind {
        Shape::Word(_) if cx.thread.is_register(operand) => {
            return cx.thread.write(operand).map(Place::Register);
        }
        Shape::Parens { offset: 0, inside } => inside,
        Shape::Brackets { parts, .. } => match parts.as_slice() {
            [(Shape::Word(inside), _)] => inside,
            _ => return Err(operand.expected("a location such as `[x]`")),
        },
        _ => return Err(operand.expected("a register or a location")),
    };
    if register(inside).is_some() {
        return cx.thread.read_word(inside, operand.span).map(Place::Memory);
    }
    let location = cx.locations.named(inside, operand.span)?;
    Ok(Place::Memory(Expr::Const(i64::from(address(location)))))
}

/// The value of an operand; one in memory is loaded.
fn value(cx: &mut Context<'_>, ins: &Instruction, n: usize) -> Result<Expr> {
    let operand = ins.operand(n)?;
    match &operand.kind {
        Shape::Number(_) => operand.number().map(Expr::Const),
        Shape::AddressOf(name) => {
            let location = cx.locations.named(name, operand.span)?;
            Ok(Expr::Const(i64::from(address(location))))
        }
        _ => {
            let place = place(cx, operand)?;
            read(cx, ins, &place)
        }
    }
}

/// What a place holds; for memory, a load.
fn read(cx: &mut Context<'_>, ins: &Instruction, place: &Place) -> Result<Expr> {
    match place {
        Place::Register(register) => Ok(Expr::Reg(*register)),
        Place::Memory(address) => {
            let loaded = cx.thread.hidden("loaded");
            cx.thread.load(loaded, address.clone(), ins)?;
            Ok(Expr::Reg(loaded))
        }
    }
}

fn write(cx: &mut Context<'_>, ins: &Instruction, place: Place, value: Expr) -> Result<()> {
    match place {
        Place::Register(register) => cx.thread.assign(register, value, ins),
        Place::Memory(address) => cx.thread.store(address, value, ins),
    }
}

fn mov(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(2)?;
    let to = place(cx, ins.operand(0)?)?;
    if let (Place::Register(dst), Ok(Place::Memory(address))) = (&to, place(cx, ins.operand(1)?)) {
        return cx.thread.load(*dst, address, ins);
    }
    let value = value(cx, ins, 1)?;
    write(cx, ins, to, value)
}

/// Reads and writes at once; without `LOCK` as a load and a store. The old value is in the hidden register `old`.
fn modify(
    cx: &mut Context<'_>,
    ins: &Instruction,
    address: Expr,
    condition: Option<Expr>,
    value: Expr,
    locked: bool,
) -> Result<()> {
    let old = cx.thread.hidden("old");
    if locked {
        let update = Op::Update {
            dst: old,
            returns: true,
            address,
            condition,
            value,
            read: Strength::default(),
            write: Strength::default(),
        };
        return cx.thread.emit(update, ins);
    }
    cx.thread.load(old, address.clone(), ins)?;
    // What is not exchanged is written back.
    let value = match condition {
        None => value,
        Some(condition) => Expr::If(condition.into(), value.into(), Expr::Reg(old).into()),
    };
    cx.thread.store(address, value, ins)
}

/// `XCHG`: with memory it is locked by itself.
fn exchange(cx: &mut Context<'_>, ins: &Instruction) -> Result<()> {
    ins.at_most(2)?;
    let old = cx.thread.hidden("old");
    match (place(cx, ins.operand(0)?)?, place(cx, ins.operand(1)?)?) {
        (Place::Register(a), Place::Register(b)) => {
            cx.thread.assign(old, Expr::Reg(a), ins)?;
            cx.thread.assign(a, Expr::Reg(b), ins)?;
            cx.thread.assign(b, Expr::Reg(old), ins)
        }
        (Place::Memory(address), Place::Register(register))
        | (Place::Register(register), Place::Memory(address)) => {
            modify(cx, ins, address, None, Expr::Reg(register), true)?;
            cx.thread.assign(register, Expr::Reg(old), ins)
        }
        (Place::Memory(_), Place::Memory(_)) => Err(ins.unsupported("two places in memory")),
    }
}

/// `XADD destination, register`
fn exchange_and_add(cx: &mut Context<'_>, ins: &Instruction, locked: bool) -> Result<()> {
    ins.at_most(2)?;
    let old = cx.thread.hidden("old");
    let Place::Register(operand) = place(cx, ins.operand(1)?)? else {
        return Err(ins.operands[1].expected("a register"));
    };
    let sum = binary(BinOp::Add, Expr::Reg(old), Expr::Reg(operand));
    match place(cx, ins.operand(0)?)? {
        Place::Memory(address) => modify(cx, ins, address, None, sum, locked)?,
        Place::Register(dst) => {
            cx.thread.assign(old, Expr::Reg(dst), ins)?;
            cx.thread.assign(dst, sum, ins)?;
        }
    }
    let carry = flags::of_addition(&Expr::Reg(old), &Expr::Reg(operand));
    set_flags(cx, ins, flags::with_carry_complemented(carry))?;
    cx.thread.assign(operand, Expr::Reg(old), ins)
}

/// `CMPXCHG destination, register`: compares with `RAX`.
fn compare_exchange(cx: &mut Context<'_>, ins: &Instruction, locked: bool) -> Result<()> {
    ins.at_most(2)?;
    let accumulator = cx.thread.named("RAX", "RAX");
    let old = cx.thread.hidden("old");
    let Place::Register(new) = place(cx, ins.operand(1)?)? else {
        return Err(ins.operands[1].expected("a register"));
    };
    let same = binary(BinOp::Eq, Expr::Reg(accumulator), Expr::Reg(old));
    match place(cx, ins.operand(0)?)? {
        Place::Memory(address) => modify(cx, ins, address, Some(same), Expr::Reg(new), locked)?,
        Place::Register(dst) => {
            cx.thread.assign(old, Expr::Reg(dst), ins)?;
            let chosen = Expr::If(same.into(), Expr::Reg(new).into(), Expr::Reg(old).into());
            cx.thread.assign(dst, chosen, ins)?;
        }
    }
    let compared = flags::of_subtraction(&Expr::Reg(accumulator), &Expr::Reg(old));
    set_flags(cx, ins, compared)?;
    cx.thread.assign(accumulator, Expr::Reg(old), ins)
}

fn set_flags(cx: &mut Context<'_>, ins: &Instruction, value: Expr) -> Result<()> {
    let flags = cx.thread.hidden("flags");
    cx.thread.assign(flags, value, ins)
}

fn compare(cx: &mut Context<'_>, ins: &Instruction, name: &str) -> Result<()> {
    ins.at_most(2)?;
    let left = value(cx, ins, 0)?;
    let right = value(cx, ins, 1)?;
    let result = if name == "CMP" {
        flags::of_subtraction(&left, &right)
    } else {
        let both = binary(BinOp::BitAnd, left, right);
        flags::with_carry_complemented(flags::of_result(&both))
    };
    set_flags(cx, ins, result)
}

/// `ADD destination, source`, `INC destination` and the like.
fn arithmetic(cx: &mut Context<'_>, ins: &Instruction, name: &str, locked: bool) -> Result<()> {
    let unary = matches!(name, "INC" | "DEC" | "NEG" | "NOT");
    ins.at_most(if unary { 1 } else { 2 })?;
    let source = match name {
        "INC" | "DEC" => Expr::Const(1),
        "NEG" | "NOT" => Expr::Const(0),
        _ => value(cx, ins, 1)?,
    };
    let target = place(cx, ins.operand(0)?)?;
    let old = cx.thread.hidden("old");
    let result = |old: Expr| match name {
        "INC" => alu::apply("ADD", old, source.clone()),
        "DEC" => alu::apply("SUB", old, source.clone()),
        "NEG" => Some(Expr::Unary(UnOp::Neg, old.into())),
        "NOT" => Some(Expr::Unary(UnOp::BitNot, old.into())),
        "SHL" => alu::apply("LSL", old, source.clone()),
        _ => alu::apply(name, old, source.clone()),
    };
    let operand = match target {
        Place::Register(register) => Expr::Reg(register),
        Place::Memory(_) => Expr::Reg(old),
    };
    let value = result(operand.clone()).ok_or_else(|| ins.unknown())?;
    let set = changed_flags(cx, name, &operand, &source, &value);
    match target {
        // The flags are those of the old value.
        Place::Register(register) => {
            if let Some(set) = set {
                set_flags(cx, ins, set)?;
            }
            cx.thread.assign(register, value, ins)
        }
        Place::Memory(address) => {
            modify(cx, ins, address, None, value, locked)?;
            match set {
                Some(set) => set_flags(cx, ins, set),
                None => Ok(()),
            }
        }
    }
}

/// The flags that an instruction sets, if it sets any.
fn changed_flags(
    cx: &mut Context<'_>,
    name: &str,
    old: &Expr,
    source: &Expr,
    value: &Expr,
) -> Option<Expr> {
    let before = Expr::Reg(cx.thread.hidden("flags"));
    Some(match name {
        "NOT" => return None,
        "ADD" => flags::with_carry_complemented(flags::of_addition(old, source)),
        "SUB" => flags::of_subtraction(old, source),
        "NEG" => flags::of_subtraction(&Expr::Const(0), old),
        "INC" => flags::with_carry_of(flags::of_addition(old, source), before),
        "DEC" => flags::with_carry_of(flags::of_subtraction(old, source), before),
        _ => flags::with_carry_complemented(flags::of_result(value)),
    })
}
