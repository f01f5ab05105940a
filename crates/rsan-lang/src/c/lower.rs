//! From expression trees to instructions.
//!
//! Operands are evaluated from left to right (C leaves the order open), and each access to shared memory becomes
//! one instruction whose result waits in a register. `&&`, `||` and `?:` become branches when their operands
//! access memory or change something, and stay expressions otherwise.

use super::Parser;
use super::call::{Want, gives_truth};
use super::decl::Symbol;
use super::expr::{Ast, Node};
use super::target::Target;
use crate::diagnostic::{Diagnostic, Result};
use crate::lower::{Label, may_fail};
use rsan_model::{BinOp, Expr, Instr, RegId, Span, UnOp};

impl<'a> Parser<'a> {
    /// Evaluates, and gives the value as a function of registers.
    pub(super) fn value(&mut self, e: &Ast<'a>) -> Result<Expr> {
        match &e.node {
            Node::Int(n) => literal(*n, e.span),
            Node::Name(name) => self.variable(name, e.span),
            Node::Unary(op, operand) => Ok(Expr::Unary(*op, self.value(operand)?.into())),
            Node::Deref(_) | Node::Index(..) => {
                let target = self.target(e)?;
                self.read(target, e.span)
            }
            Node::AddressOf(_) => Err(self.no_pointers(e.span)),
            Node::Binary(op, l, r) => {
                let l = self.value(l)?;
                Ok(binary(*op, l, self.value(r)?))
            }
            Node::And(l, r) if e.is_pure() => {
                let (l, r) = (self.value(l)?, self.value(r)?);
                Ok(lazy_and(l, r))
            }
            Node::Or(l, r) if e.is_pure() => {
                let (l, r) = (self.value(l)?, self.value(r)?);
                Ok(lazy_or(l, r))
            }
            Node::Conditional(c, t, o) if e.is_pure() => {
                let (c, t, o) = (self.value(c)?, self.value(t)?, self.value(o)?);
                Ok(Expr::If(c.into(), t.into(), o.into()))
            }
            Node::And(..) | Node::Or(..) | Node::Conditional(..) => {
                let result = self.body.code.temp(e.span)?;
                self.value_into(e, result, false, e.span)?;
                Ok(Expr::Reg(result))
            }
            Node::Assign(op, l, r) => self.assign(*op, l, r, e.span),
            Node::Step { op, prefix, target } => self.step(*op, *prefix, target, e.span),
            Node::Call(name, arguments) => {
                self.call_function(*name, arguments, e.span, Want::Value)
            }
            Node::Comma(l, r) => {
                self.effect(l)?;
                self.value(r)
            }
        }
    }

    /// Evaluates for the effects only.
    pub(super) fn effect(&mut self, e: &Ast<'a>) -> Result<()> {
        match &e.node {
            Node::Call(name, arguments) => {
                self.call_function(*name, arguments, e.span, Want::Nothing)?;
            }
            Node::Step { op, target, .. } => {
                self.step(*op, true, target, e.span)?;
            }
            Node::Comma(l, r) => {
                self.effect(l)?;
                self.effect(r)?;
            }
            _ => {
                self.value(e)?;
            }
        }
        Ok(())
    }

    /// Evaluates into a register; `span` is the statement that asks for it.
    pub(super) fn value_into(
        &mut self,
        e: &Ast<'a>,
        register: RegId,
        boolean: bool,
        span: Span,
    ) -> Result<()> {
        match &e.node {
            Node::Call(name, arguments) if !boolean || gives_truth(name.text) => {
                let want = Want::In(register);
                self.call_function(*name, arguments, e.span, want)?;
                return Ok(());
            }
            Node::Deref(_) | Node::Index(..) if !boolean => {
                if let Target::Shared(place) = self.target(e)? {
                    let dst = register;
                    return self.body.code.emit(Instr::PlainLoad { dst, place }, e.span);
                }
            }
            Node::And(..) | Node::Or(..) if !e.is_pure() => {
                let (yes, no, end) = self.three_labels();
                self.condition(e, yes, no)?;
                self.body.code.bind(yes);
                self.body.code.assign(register, Expr::Const(1), span)?;
                self.body.code.jump(end, span)?;
                self.body.code.bind(no);
                self.body.code.assign(register, Expr::Const(0), span)?;
                self.body.code.bind(end);
                return Ok(());
            }
            Node::Conditional(c, t, o) if !e.is_pure() => {
                let (yes, no, end) = self.three_labels();
                self.condition(c, yes, no)?;
                self.body.code.bind(yes);
                self.value_into(t, register, boolean, span)?;
                self.body.code.jump(end, span)?;
                self.body.code.bind(no);
                self.value_into(o, register, boolean, span)?;
                self.body.code.bind(end);
                return Ok(());
            }
            _ => {}
        }
        let value = self.value(e)?;
        self.body.code.assign(register, truth(value, boolean), span)
    }

    fn three_labels(&mut self) -> (Label, Label, Label) {
        let code = &mut self.body.code;
        (code.label(), code.label(), code.label())
    }

    /// Goes to `then` when the value is not 0, else to `otherwise`.
    pub(super) fn condition(&mut self, e: &Ast<'a>, then: Label, otherwise: Label) -> Result<()> {
        match &e.node {
            Node::Unary(UnOp::Not, operand) => self.condition(operand, otherwise, then),
            Node::And(l, r) if !e.is_pure() => {
                let both = self.body.code.label();
                self.condition(l, both, otherwise)?;
                self.body.code.bind(both);
                self.condition(r, then, otherwise)
            }
            Node::Or(l, r) if !e.is_pure() => {
                let neither = self.body.code.label();
                self.condition(l, then, neither)?;
                self.body.code.bind(neither);
                self.condition(r, then, otherwise)
            }
            _ => {
                let value = self.value(e)?;
                self.body.code.branch(value, then, otherwise, e.span)
            }
        }
    }

    /// The value of a local variable.
    pub(super) fn variable(&self, name: &str, span: Span) -> Result<Expr> {
        match self.lookup(name) {
            Some(Symbol::Local(local)) if local.len.is_none() => Ok(Expr::Reg(local.base)),
            Some(Symbol::Local(_)) => Err(Diagnostic::new(
                span,
                format!("`{name}` is an array, not a value"),
            )),
            Some(Symbol::Shared(_)) => Err(Diagnostic::new(
                span,
                format!("`{name}` is a pointer to shared memory, not a value"),
            )
            .with_help(format!(
                "read it with `atomic_load({name})`, or with `*{name}` when it is not atomic"
            ))),
            None => Err(self.undeclared(name, span)),
        }
    }

    /// The error for a name that nobody declared.
    pub(super) fn undeclared(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::new(span, format!("`{name}` is not declared"));
        if self.shared.contains_key(name) {
            error
                .with_help("shared locations are pointer parameters of each process that uses them")
        } else {
            error
        }
    }

    fn assign(
        &mut self,
        op: Option<BinOp>,
        left: &Ast<'a>,
        right: &Ast<'a>,
        span: Span,
    ) -> Result<Expr> {
        let target = self.target(left)?;
        if let (None, Target::Register { register, boolean }) = (op, &target) {
            self.value_into(right, *register, *boolean, span)?;
            return Ok(Expr::Reg(*register));
        }
        let value = match op {
            None => self.value(right)?,
            Some(op) => {
                let old = self.read(target.clone(), left.span)?;
                binary(op, old, self.value(right)?)
            }
        };
        self.write(target, value, span)
    }

    fn step(&mut self, op: BinOp, prefix: bool, target: &Ast<'a>, span: Span) -> Result<Expr> {
        let place = self.target(target)?;
        let mut old = self.read(place.clone(), target.span)?;
        let is_temp = matches!(place, Target::Shared(_));
        if !prefix && !is_temp {
            let kept = self.body.code.temp(span)?;
            self.body.code.assign(kept, old, span)?;
            old = Expr::Reg(kept);
        }
        let new = self.write(place, binary(op, old.clone(), Expr::Const(1)), span)?;
        Ok(if prefix { new } else { old })
    }
}

/// A literal, if it is an `int`.
fn literal(n: i64, span: Span) -> Result<Expr> {
    match i32::try_from(n) {
        Ok(_) => Ok(Expr::Const(n)),
        Err(_) => Err(Diagnostic::new(span, "this number does not fit in 32 bits")),
    }
}

/// An operator applied.
pub(super) fn binary(op: BinOp, l: Expr, r: Expr) -> Expr {
    Expr::Binary(op, l.into(), r.into())
}

/// The value, made 0 or 1 for a `bool`.
pub(super) fn truth(value: Expr, boolean: bool) -> Expr {
    if boolean {
        binary(BinOp::Ne, value, Expr::Const(0))
    } else {
        value
    }
}

/// `l && r`; `r` is left alone when `l` is 0, if that can be noticed.
fn lazy_and(l: Expr, r: Expr) -> Expr {
    if may_fail(&r) {
        Expr::If(l.into(), truth(r, true).into(), Expr::Const(0).into())
    } else {
        binary(BinOp::And, l, r)
    }
}

/// `l || r`; `r` is left alone when `l` is not 0, if that can be noticed.
fn lazy_or(l: Expr, r: Expr) -> Expr {
    if may_fail(&r) {
        Expr::If(l.into(), Expr::Const(1).into(), truth(r, true).into())
    } else {
        binary(BinOp::Or, l, r)
    }
}
