//! A thread in the making: its registers, its operations, its labels.

use super::operand::{Instruction, Operand, Shape};
use super::{Arch, Locations};
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::machine::{self, Fence, Op, Strength};
use rsan_model::{BinOp, Expr, RegId, Register, Span, Value};
use std::collections::HashMap;

/// A register of an architecture, as its table knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// One that holds what was put into it, under the name that all its spellings share.
    Plain(String),
    /// One that is always 0.
    Zero,
}

/// A thread whose column is being read.
#[derive(Debug)]
pub(super) struct Thread {
    arch: Arch,
    registers: Vec<Register>,
    by_name: HashMap<String, RegId>,
    code: Vec<Op>,
    spans: Vec<Span>,
    origins: Vec<u32>,
    origin: u32,
    labels: HashMap<String, usize>,
    /// Operations whose target is the place of a label.
    unresolved: Vec<(usize, String, Span)>,
}

impl Thread {
    pub(super) fn new(arch: Arch) -> Self {
        Self {
            arch,
            registers: Vec::new(),
            by_name: HashMap::new(),
            code: Vec::new(),
            spans: Vec::new(),
            origins: Vec::new(),
            origin: 0,
            labels: HashMap::new(),
            unresolved: Vec::new(),
        }
    }

    /// A label stands here.
    pub(super) fn label(&mut self, name: &str, span: Span) -> Result<()> {
        match self.labels.insert(name.to_owned(), self.code.len()) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::new(
                span,
                format!("a second label `{name}` in this process"),
            )),
        }
    }

    /// The next instruction of the column begins.
    pub(super) fn next_instruction(&mut self) {
        self.origin += 1;
    }

    /// The register of this canonical name; `spelling` is how it is shown.
    pub(super) fn named(&mut self, canonical: &str, spelling: &str) -> RegId {
        if let Some(&found) = self.by_name.get(canonical) {
            return found;
        }
        let id = RegId::new(self.registers.len());
        self.registers.push(Register {
            name: spelling.to_owned(),
            init: 0,
        });
        self.by_name.insert(canonical.to_owned(), id);
        id
    }

    /// Whether the thread has this register.
    pub(super) fn find(&self, canonical: &str) -> Option<RegId> {
        self.by_name.get(canonical).copied()
    }

    /// Shows a register as it is written in the condition.
    pub(super) fn respell(&mut self, register: RegId, spelling: &str) {
        spelling.clone_into(&mut self.registers[register.index()].name);
    }

    /// Sets what a register holds at the beginning.
    pub(super) fn set_initial(&mut self, register: RegId, value: Value) {
        self.registers[register.index()].init = value;
    }

    /// A register that no source can name.
    pub(super) fn hidden(&mut self, name: &str) -> RegId {
        let name = format!("%{name}%");
        self.named(&name, &name)
    }

    /// The value of a register operand.
    pub(super) fn read(&mut self, operand: &Operand) -> Result<Expr> {
        match operand.word() {
            Some(word) => self.read_word(word, operand.span),
            None => Err(operand.expected("a register")),
        }
    }

    /// The value of the register that is spelled so.
    pub(super) fn read_word(&mut self, word: &str, span: Span) -> Result<Expr> {
        match self.known(word, span)? {
            Known::Zero => Ok(Expr::Const(0)),
            Known::Plain(canonical) => {
                Ok(Expr::Reg(self.named(&canonical, shown(&canonical, word))))
            }
        }
    }

    /// The register that receives a value; one that is always 0 lets it go.
    pub(super) fn write(&mut self, operand: &Operand) -> Result<RegId> {
        let Some(word) = operand.word() else {
            return Err(operand.expected("a register"));
        };
        Ok(match self.known(word, operand.span)? {
            Known::Zero => self.hidden("zero"),
            Known::Plain(canonical) => self.named(&canonical, shown(&canonical, word)),
        })
    }

    /// Whether an operand is a register that is always 0.
    pub(super) fn is_zero(&self, operand: &Operand) -> bool {
        let known = operand.word().and_then(|word| self.arch.register(word));
        known == Some(Known::Zero)
    }

    /// Whether an operand is a register.
    pub(super) fn is_register(&self, operand: &Operand) -> bool {
        operand
            .word()
            .is_some_and(|word| self.arch.register(word).is_some())
    }

    fn known(&self, word: &str, span: Span) -> Result<Known> {
        self.arch
            .register(word)
            .ok_or_else(|| Diagnostic::new(span, format!("expected a register, found `{word}`")))
    }

    /// Adds an operation of the instruction.
    pub(super) fn emit(&mut self, op: Op, ins: &Instruction) -> Result<()> {
        if self.code.len() == limits::INSTRUCTIONS {
            return Err(too_many(ins.span, "instructions", limits::INSTRUCTIONS));
        }
        self.code.push(op);
        self.spans.push(ins.span);
        self.origins.push(self.origin - 1);
        Ok(())
    }

    /// `dst := value`
    pub(super) fn assign(&mut self, dst: RegId, value: Expr, ins: &Instruction) -> Result<()> {
        self.emit(Op::Assign { dst, value }, ins)
    }

    /// A fence.
    pub(super) fn fence(&mut self, fence: Fence, ins: &Instruction) -> Result<()> {
        self.emit(Op::Fence(fence), ins)
    }

    /// A read that is not exclusive.
    pub(super) fn load(&mut self, dst: RegId, address: Expr, ins: &Instruction) -> Result<()> {
        let load = Op::Load {
            dst,
            address,
            strength: Strength::default(),
            exclusive: false,
        };
        self.emit(load, ins)
    }

    /// A write without an order of its own.
    pub(super) fn store(&mut self, address: Expr, value: Expr, ins: &Instruction) -> Result<()> {
        let store = Op::Store {
            address,
            value,
            strength: Strength::default(),
        };
        self.emit(store, ins)
    }

    /// Goes to a label, if `condition` is not 0; without one, always.
    pub(super) fn branch(
        &mut self,
        condition: Option<Expr>,
        label: &Operand,
        ins: &Instruction,
    ) -> Result<()> {
        let Shape::Word(name) = &label.kind else {
            return Err(label.expected("a label"));
        };
        let at = self.code.len();
        self.unresolved.push((at, name.clone(), label.span));
        let target = 0;
        self.emit(
            match condition {
                Some(condition) => Op::Branch { condition, target },
                None => Op::Jump { target },
            },
            ins,
        )
    }

    /// One of two ways to go on.
    pub(super) fn either(
        &mut self,
        ins: &Instruction,
        mut way: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let fork = self.code.len();
        self.emit(Op::Choose { targets: vec![] }, ins)?;
        way(self, 0)?;
        let jump = self.code.len();
        self.emit(Op::Jump { target: 0 }, ins)?;
        way(self, 1)?;
        let targets = vec![fork + 1, jump + 1];
        self.code[fork] = Op::Choose { targets };
        let target = self.code.len();
        self.code[jump] = Op::Jump { target };
        Ok(())
    }

    /// Ends the thread.
    pub(super) fn end(&mut self, ins: &Instruction) -> Result<()> {
        let target = usize::MAX;
        self.emit(Op::Jump { target }, ins)
    }

    /// The thread, when its column has been read.
    ///
    /// # Errors
    /// A branch to a label that does not stand in the column.
    pub(super) fn finish(mut self, number: usize) -> Result<machine::Thread> {
        let len = self.code.len();
        for (at, name, span) in &self.unresolved {
            let Some(&place) = self.labels.get(name) else {
                return Err(Diagnostic::new(
                    *span,
                    format!("P{number} has no label `{name}`"),
                ));
            };
            if let Op::Branch { target, .. } | Op::Jump { target } = &mut self.code[*at] {
                *target = place;
            }
        }
        for op in &mut self.code {
            if let Op::Jump { target } = op {
                *target = (*target).min(len);
            }
        }
        Ok(machine::Thread {
            name: format!("P{number}"),
            registers: self.registers,
            code: self.code,
            spans: self.spans,
            origins: self.origins,
        })
    }
}

/// Where instructions go: the thread of the column, and the locations that they may name.
pub(super) struct Context<'c> {
    /// The thread.
    pub(super) thread: &'c mut Thread,
    /// The locations of the test.
    pub(super) locations: &'c mut Locations,
}

/// How a register is shown: as it is written, but `%eax` without the mark that only symbolic registers keep.
fn shown<'w>(canonical: &str, word: &'w str) -> &'w str {
    if canonical.starts_with('%') {
        word
    } else {
        word.trim_start_matches('%')
    }
}

/// A binary operator applied.
pub(super) fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, left.into(), right.into())
}

/// The value as an unsigned one of 32 bits.
pub(super) fn unsigned(e: Expr) -> Expr {
    binary(BinOp::BitAnd, e, Expr::Const(0xffff_ffff))
}

/// The value as a signed one of 32 bits.
pub(super) fn signed(e: Expr) -> Expr {
    let shifted = binary(BinOp::Shl, e, Expr::Const(32));
    binary(BinOp::Shr, shifted, Expr::Const(32))
}

/// `left` if `condition` is 1, `right` if it is 0; the value depends on all three, as that of an arithmetic instruction.
pub(super) fn blend(condition: Expr, left: Expr, right: Expr) -> Expr {
    let not = binary(BinOp::BitXor, condition.clone(), Expr::Const(1));
    let left = binary(BinOp::Mul, condition, left);
    binary(BinOp::Add, left, binary(BinOp::Mul, not, right))
}
