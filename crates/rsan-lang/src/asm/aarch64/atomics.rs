//! Accesses to memory: plain, acquire and release, exclusive, and the atomic instructions of version 8.1.

use super::{Address, access, acquiring, address, releasing};
use crate::asm::alu;
use crate::asm::operand::Instruction;
use crate::asm::thread::{Context, binary};
use crate::diagnostic::Result;
use rsan_model::machine::{Acquire, Op, Strength};
use rsan_model::{BinOp, Expr};

/// Adds what an access does; whether the instruction is one.
pub(super) fn lower(cx: &mut Context<'_>, ins: &Instruction) -> Result<bool> {
    let plain = Strength::default();
    let (acquire, release) = (acquiring(Acquire::Sc), releasing(true));
    match ins.mnemonic.as_str() {
        "LDR" | "LDUR" | "LDTR" | "LDRSW" | "LDURSW" => load(cx, ins, plain, false),
        "LDAR" | "LDLAR" => load(cx, ins, acquire, false),
        "LDAPR" | "LDAPUR" => load(cx, ins, acquiring(Acquire::Pc), false),
        "LDXR" => load(cx, ins, plain, true),
        "LDAXR" => load(cx, ins, acquire, true),
        "STR" | "STUR" | "STTR" => store(cx, ins, plain),
        "STLR" | "STLUR" | "STLLR" => store(cx, ins, release),
        "STXR" => store_exclusive(cx, ins, plain),
        "STLXR" => store_exclusive(cx, ins, release),
        name => {
            let Some(atomic) = Atomic::of(name) else {
                return refuse(ins);
            };
            if atomic.operation == "CAS" {
                compare_and_swap(cx, ins, &atomic)
            } else {
                update(cx, ins, &atomic)
            }
        }
    }?;
    Ok(true)
}

/// Whether it is an access at all: those of parts of locations and of pairs have messages of their own.
fn refuse(ins: &Instruction) -> Result<bool> {
    let name = ins.mnemonic.as_str();
    let accesses = ["LD", "ST", "CAS", "SWP"];
    if !accesses.iter().any(|stem| name.starts_with(stem)) {
        return Ok(false);
    }
    let small = name.strip_suffix(['B', 'H']).is_some_and(|stem| {
        let access = [
            "LDR", "LDRS", "LDUR", "LDURS", "LDAR", "LDAPR", "LDAPUR", "LDXR", "LDAXR", "STR",
            "STUR", "STLR", "STLUR", "STXR", "STLXR",
        ];
        access.contains(&stem) || Atomic::of(stem).is_some()
    });
    if small {
        return Err(ins.mixed_size());
    }
    let pairs = [
        "LDP", "STP", "LDNP", "STNP", "LDPSW", "LDXP", "LDAXP", "STXP", "STLXP", "LDIAPP", "STILP",
    ];
    if pairs.contains(&name) || name.starts_with("CASP") {
        return Err(ins.unsupported(format!("`{name}`: accesses of pairs are not supported")));
    }
    Ok(false)
}

fn load(
    cx: &mut Context<'_>,
    ins: &Instruction,
    strength: Strength,
    exclusive: bool,
) -> Result<()> {
    let dst = cx.thread.write(ins.operand(0)?)?;
    let Address { value, write_back } = address(cx, ins, 1)?;
    let load = Op::Load {
        dst,
        address: value,
        strength,
        exclusive,
    };
    access(cx, ins, load, write_back)
}

fn store(cx: &mut Context<'_>, ins: &Instruction, strength: Strength) -> Result<()> {
    let value = cx.thread.read(ins.operand(0)?)?;
    let to = address(cx, ins, 1)?;
    let store = Op::Store {
        address: to.value,
        value,
        strength,
    };
    access(cx, ins, store, to.write_back)
}

fn store_exclusive(cx: &mut Context<'_>, ins: &Instruction, strength: Strength) -> Result<()> {
    let status = Some(cx.thread.write(ins.operand(0)?)?);
    let value = cx.thread.read(ins.operand(1)?)?;
    let to = address(cx, ins, 2)?;
    let store = Op::StoreExclusive {
        status,
        on_success: 0,
        address: to.value,
        value,
        strength,
    };
    access(cx, ins, store, to.write_back)
}

/// An atomic instruction by its name: `LDADDAL`, `STSET`, `SWPA`, `CASL`.
struct Atomic<'n> {
    operation: &'n str,
    /// Whether it has a register for what it reads.
    returns: bool,
    acquire: bool,
    release: bool,
}

impl<'n> Atomic<'n> {
    fn of(name: &'n str) -> Option<Self> {
        const OPERATIONS: [&str; 8] = ["ADD", "CLR", "EOR", "SET", "SMAX", "SMIN", "UMAX", "UMIN"];
        let (rest, returns) = match (name.strip_prefix("LD"), name.strip_prefix("ST")) {
            (Some(rest), _) => (rest, true),
            (_, Some(rest)) => (rest, false),
            _ => (name, true),
        };
        let bare = rest.len() == name.len();
        let named = |op: &&str| rest.starts_with(*op);
        let operation = if bare {
            ["CAS", "SWP"].into_iter().find(|op| named(op))?
        } else {
            OPERATIONS.into_iter().find(|op| named(op))?
        };
        let (acquire, release) = match &rest[operation.len()..] {
            "" => (false, false),
            "A" if returns => (true, false),
            "L" => (false, true),
            "AL" if returns => (true, true),
            _ => return None,
        };
        Some(Self {
            operation: &rest[..operation.len()],
            returns,
            acquire,
            release,
        })
    }

    /// The orders of its read and write. What goes to the zero register is not acquired.
    fn strengths(&self, returns: bool) -> (Strength, Strength) {
        let acquire = if self.acquire && returns {
            Acquire::Sc
        } else {
            Acquire::No
        };
        (acquiring(acquire), releasing(self.release))
    }
}

/// `LDADD Ws,Wt,[Xn]`, `STADD Ws,[Xn]`, `SWP Ws,Wt,[Xn]`
fn update(cx: &mut Context<'_>, ins: &Instruction, atomic: &Atomic<'_>) -> Result<()> {
    let operand = cx.thread.read(ins.operand(0)?)?;
    let to = address(cx, ins, if atomic.returns { 2 } else { 1 })?;
    let returns = atomic.returns && !cx.thread.is_zero(ins.operand(1)?);
    let old = cx.thread.hidden("old");
    let value = alu::atomic(atomic.operation, Expr::Reg(old), operand);
    let (read, write) = atomic.strengths(returns);
    let update = Op::Update {
        dst: old,
        returns,
        address: to.value,
        condition: None,
        value: value.ok_or_else(|| ins.unknown())?,
        read,
        write,
    };
    cx.thread.emit(update, ins)?;
    if !returns {
        return Ok(());
    }
    let dst = cx.thread.write(ins.operand(1)?)?;
    cx.thread.assign(dst, Expr::Reg(old), ins)
}

/// `CAS Ws,Wt,[Xn]`. `Ws` gets what was read. Where that is what it holds, a processor may as well leave it alone: what follows
/// then depends on `Ws` itself, and on the read only as far as that chooses ([`Expr::If`]). Both are tried.
fn compare_and_swap(cx: &mut Context<'_>, ins: &Instruction, atomic: &Atomic<'_>) -> Result<()> {
    let expected = cx.thread.read(ins.operand(0)?)?;
    let value = cx.thread.read(ins.operand(1)?)?;
    let to = address(cx, ins, 2)?;
    let returns = !cx.thread.is_zero(ins.operand(0)?);
    let old = cx.thread.hidden("old");
    let same = binary(BinOp::Eq, Expr::Reg(old), expected.clone());
    let (read, write) = atomic.strengths(returns);
    let update = Op::Update {
        dst: old,
        returns,
        address: to.value,
        condition: Some(same.clone()),
        value,
        read,
        write,
    };
    cx.thread.emit(update, ins)?;
    if !returns {
        return Ok(());
    }
    let dst = cx.thread.write(ins.operand(0)?)?;
    cx.thread.either(ins, |thread, way| {
        let left_alone = Expr::If(
            same.clone().into(),
            expected.clone().into(),
            Expr::Reg(old).into(),
        );
        let value = [Expr::Reg(old), left_alone][way].clone();
        thread.assign(dst, value, ins)
    })
}
