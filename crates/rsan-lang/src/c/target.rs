//! What stands on the left of an assignment or under `&`: locals, elements of arrays, shared locations.

use super::Parser;
use super::decl::{Local, Shared, Symbol};
use super::expr::{Ast, Node};
use super::lower::{binary, truth};
use crate::diagnostic::{Diagnostic, Result};
use rsan_model::{BinOp, Expr, Instr, LocId, Place, RegId, Span};

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A local variable; `bool` ones hold 0 or 1.
    Register { register: RegId, boolean: bool },
    /// An element of a local array, chosen at run time.
    Element { base: RegId, len: u32, index: Expr },
    /// Shared memory.
    Shared(Place),
}

impl<'a> Parser<'a> {
    /// What an expression on the left of `=`, or under `&`, means.
    pub(super) fn target(&mut self, e: &Ast<'a>) -> Result<Target> {
        match &e.node {
            Node::Name(name) => match self.lookup(name) {
                Some(Symbol::Local(local)) if local.len.is_none() => Ok(Target::Register {
                    register: local.base,
                    boolean: local.boolean,
                }),
                Some(Symbol::Shared(_)) => Err(Diagnostic::new(
                    e.span,
                    format!("`{name}` is a pointer to shared memory"),
                )
                .with_help(format!("`*{name}` is the location itself"))),
                _ => Err(self
                    .variable(name, e.span)
                    .expect_err("scalars are handled above")),
            },
            Node::Deref(pointer) => match &pointer.node {
                Node::AddressOf(inner) => self.target(inner),
                _ => self.place(pointer).map(Target::Shared),
            },
            Node::Index(array, index) => self.element(array, index, e.span),
            _ => Err(Diagnostic::new(
                e.span,
                "this is neither a variable nor a shared location",
            )),
        }
    }

    /// The shared location that a pointer expression means: `x`, `&a[i]`, `a + i`, or (short for `&a[i]`) `a[i]`.
    pub(super) fn place(&mut self, e: &Ast<'a>) -> Result<Place> {
        match &e.node {
            Node::Name(name) => match self.lookup(name) {
                Some(Symbol::Shared(shared)) => Ok(Place::Loc(shared.base)),
                Some(Symbol::Local(_)) => Err(Diagnostic::new(
                    e.span,
                    format!("`{name}` is a local variable, not a shared location"),
                )),
                None => Err(self.undeclared(name, e.span)),
            },
            Node::Binary(BinOp::Add, array, index) => match self.element(array, index, e.span)? {
                Target::Shared(place) => Ok(place),
                _ => Err(self.no_pointers(e.span)),
            },
            Node::AddressOf(inner) => match self.target(inner)? {
                Target::Shared(place) => Ok(place),
                _ => Err(Diagnostic::new(
                    e.span,
                    "this is the address of a local variable, not a shared location",
                )),
            },
            Node::Index(array, index) => match self.element(array, index, e.span)? {
                Target::Shared(place) => Ok(place),
                _ => Err(Diagnostic::new(
                    e.span,
                    "this is an element of a local array, not a shared location",
                )),
            },
            _ => Err(Diagnostic::new(e.span, "this is not a shared location")
                .with_help("write the name of a pointer parameter, or `&a[i]`")),
        }
    }

    fn element(&mut self, array: &Ast<'a>, index: &Ast<'a>, span: Span) -> Result<Target> {
        let Node::Name(name) = &array.node else {
            return Err(Diagnostic::new(array.span, "this is not an array"));
        };
        let symbol = self
            .lookup(name)
            .ok_or_else(|| self.undeclared(name, array.span))?;
        let index = self.value(index)?;
        let (Symbol::Local(Local { len, .. }) | Symbol::Shared(Shared { len, .. })) = symbol;
        if len.is_none() && (matches!(symbol, Symbol::Local(_)) || index != Expr::Const(0)) {
            return Err(Diagnostic::new(
                array.span,
                format!("`{name}` is not an array"),
            ));
        }
        let len = len.unwrap_or(1);
        let offset = match index.as_const() {
            Some(n) => match u32::try_from(n) {
                Ok(offset) if offset < len => Some(offset),
                _ => {
                    return Err(Diagnostic::new(
                        span,
                        format!("index {n} is outside an array of {len} elements"),
                    ));
                }
            },
            None => None,
        };
        Ok(match (symbol, offset) {
            (Symbol::Local(local), Some(offset)) => Target::Register {
                register: RegId(local.base.0 + offset),
                boolean: local.boolean,
            },
            (Symbol::Local(local), None) => Target::Element {
                base: local.base,
                len,
                index,
            },
            (Symbol::Shared(shared), Some(offset)) => {
                Target::Shared(Place::Loc(LocId(shared.base.0 + offset)))
            }
            (Symbol::Shared(shared), None) => Target::Shared(Place::Element {
                base: shared.base,
                len,
                index,
            }),
        })
    }

    /// The value that a target holds.
    pub(super) fn read(&mut self, target: Target, span: Span) -> Result<Expr> {
        Ok(match target {
            Target::Register { register, .. } => Expr::Reg(register),
            Target::Element { base, len, index } => Expr::Element {
                base,
                len,
                index: index.into(),
            },
            Target::Shared(place) => {
                let dst = self.body.code.temp(span)?;
                self.body.code.emit(Instr::PlainLoad { dst, place }, span)?;
                Expr::Reg(dst)
            }
        })
    }

    /// Puts a value into a target, and gives the value back.
    pub(super) fn write(&mut self, target: Target, value: Expr, span: Span) -> Result<Expr> {
        match target {
            Target::Register { register, boolean } => {
                let value = truth(value, boolean);
                self.body.code.assign(register, value, span)?;
                Ok(Expr::Reg(register))
            }
            Target::Element { base, len, index } => {
                self.write_element(base, len, index, value, span)
            }
            Target::Shared(place) => {
                let kept = value.clone();
                let store = Instr::PlainStore { place, value };
                self.body.code.emit(store, span)?;
                Ok(kept)
            }
        }
    }

    /// `array[index] = value` with an index that is known only at run time: every element is assigned, all but
    /// one their own value. Reading the element first makes a wild index fail.
    fn write_element(
        &mut self,
        base: RegId,
        len: u32,
        index: Expr,
        value: Expr,
        span: Span,
    ) -> Result<Expr> {
        let index = self.in_register(index, span)?;
        let value = self.in_register(value, span)?;
        let checked = self.body.code.temp(span)?;
        let element = Expr::Element {
            base,
            len,
            index: index.clone().into(),
        };
        self.body.code.assign(checked, element, span)?;
        for offset in 0..len {
            let register = RegId(base.0 + offset);
            let is_it = binary(BinOp::Eq, index.clone(), Expr::Const(offset.into()));
            let kept = Expr::Reg(register);
            let new = Expr::If(is_it.into(), value.clone().into(), kept.into());
            self.body.code.assign(register, new, span)?;
        }
        Ok(value)
    }

    /// The value in a temporary of its own, unless it is a constant.
    fn in_register(&mut self, value: Expr, span: Span) -> Result<Expr> {
        if matches!(value, Expr::Const(_)) {
            return Ok(value);
        }
        let register = self.body.code.temp(span)?;
        self.body.code.assign(register, value, span)?;
        Ok(Expr::Reg(register))
    }
}
