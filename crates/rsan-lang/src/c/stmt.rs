//! Statements: read and lowered in one go.

use super::Parser;
use super::decl::{Local, Type};
use super::expr::Ast;
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::Label;
use rsan_model::{Expr, Instr, RegId, Span};

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    on_break: Label,
    on_continue: Label,
}

impl<'a> Parser<'a> {
    /// `{ ... }`
    pub(super) fn block(&mut self) -> Result<()> {
        let open = self.cur.expect("{")?;
        self.open_scope();
        while !self.cur.at("}") {
            if self.cur.at_end() {
                return Err(Diagnostic::new(open, "this block is not closed"));
            }
            self.statement()?;
        }
        self.close_scope();
        self.cur.expect("}")?;
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        self.cur.enter()?;
        let start = self.cur.here();
        match self.cur.word() {
            Some("if") => self.if_statement()?,
            Some("while") => self.while_statement()?,
            Some("do") => self.do_statement()?,
            Some("for") => self.for_statement()?,
            Some("break" | "continue") => self.jump_statement()?,
            Some("return") => self.return_statement()?,
            Some(word @ ("goto" | "switch" | "case" | "default")) => {
                return Err(Diagnostic::new(start, format!("`{word}` is not supported"))
                    .with_help("use if, while, do, for, break and continue"));
            }
            Some(_) if self.at_type(0) => self.declaration()?,
            _ if self.cur.at("{") => self.block()?,
            _ if self.cur.eat(";") => {}
            _ => {
                let e = self.expression()?;
                self.cur.expect(";")?;
                let lowered = self.effect(&e);
                self.recover(lowered)?;
            }
        }
        self.cur.leave();
        Ok(())
    }

    /// Ends a full expression. An error in its meaning is noted and reading goes on; `Err` when it should not.
    fn recover(&mut self, lowered: Result<()>) -> Result<()> {
        self.body.code.release_temps();
        let Err(error) = lowered else {
            return Ok(());
        };
        if self.body.code.is_full() || self.errors.len() + 1 >= limits::ERRORS {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }

    /// A statement in a scope of its own: the body of a loop, or one side of an `if`.
    fn substatement(&mut self) -> Result<()> {
        self.open_scope();
        self.statement()?;
        self.close_scope();
        Ok(())
    }

    fn parenthesized(&mut self) -> Result<Ast<'a>> {
        self.cur.expect("(")?;
        let e = self.expression()?;
        self.cur.expect(")")?;
        Ok(e)
    }

    fn branch_on(&mut self, e: &Ast<'a>, then: Label, otherwise: Label) -> Result<()> {
        let lowered = self.condition(e, then, otherwise);
        self.recover(lowered)
    }

    fn if_statement(&mut self) -> Result<()> {
        let end = self.body.code.label();
        let start = self.cur.here();
        while self.cur.eat_word("if") {
            let condition = self.parenthesized()?;
            let then = self.body.code.label();
            let otherwise = self.body.code.label();
            self.branch_on(&condition, then, otherwise)?;
            self.body.code.bind(then);
            self.substatement()?;
            if self.cur.eat_word("else") {
                self.body.code.jump(end, start)?;
                self.body.code.bind(otherwise);
                if !self.cur.at_word("if") {
                    self.substatement()?;
                    break;
                }
            } else {
                self.body.code.bind(otherwise);
                break;
            }
        }
        self.body.code.bind(end);
        Ok(())
    }

    fn loop_body(&mut self, on_break: Label, on_continue: Label) -> Result<()> {
        self.body.loops.push(Loop {
            on_break,
            on_continue,
        });
        self.substatement()?;
        self.body.loops.pop();
        Ok(())
    }

    fn while_statement(&mut self) -> Result<()> {
        let keyword = self.cur.bump().span;
        let condition = self.parenthesized()?;
        let head = self.body.code.here();
        let body = self.body.code.label();
        let end = self.body.code.label();
        self.branch_on(&condition, body, end)?;
        self.body.code.bind(body);
        self.loop_body(end, head)?;
        self.body.code.jump(head, keyword)?;
        self.body.code.bind(end);
        Ok(())
    }

    fn do_statement(&mut self) -> Result<()> {
        self.cur.bump();
        let head = self.body.code.here();
        let test = self.body.code.label();
        let end = self.body.code.label();
        self.loop_body(end, test)?;
        if !self.cur.eat_word("while") {
            return Err(self.cur.unexpected("`while`"));
        }
        let condition = self.parenthesized()?;
        self.cur.expect(";")?;
        self.body.code.bind(test);
        self.branch_on(&condition, head, end)?;
        self.body.code.bind(end);
        Ok(())
    }

    fn for_statement(&mut self) -> Result<()> {
        let keyword = self.cur.bump().span;
        self.open_scope();
        self.cur.expect("(")?;
        if self.at_type(0) {
            self.declaration()?;
        } else if !self.cur.eat(";") {
            let first = self.expression()?;
            self.cur.expect(";")?;
            let lowered = self.effect(&first);
            self.recover(lowered)?;
        }
        let head = self.body.code.here();
        let body = self.body.code.label();
        let next = self.body.code.label();
        let end = self.body.code.label();
        if !self.cur.at(";") {
            let condition = self.expression()?;
            self.branch_on(&condition, body, end)?;
        }
        self.cur.expect(";")?;
        let step = if self.cur.at(")") {
            None
        } else {
            Some(self.expression()?)
        };
        self.cur.expect(")")?;
        self.body.code.bind(body);
        self.loop_body(end, next)?;
        self.body.code.bind(next);
        if let Some(step) = step {
            let lowered = self.effect(&step);
            self.recover(lowered)?;
        }
        self.body.code.jump(head, keyword)?;
        self.body.code.bind(end);
        self.close_scope();
        Ok(())
    }

    fn jump_statement(&mut self) -> Result<()> {
        let keyword = self.cur.name("`break` or `continue`")?;
        let Some(innermost) = self.body.loops.last().copied() else {
            return Err(Diagnostic::new(
                keyword.span,
                format!("`{}` outside a loop", keyword.text),
            ));
        };
        let to = if keyword.text == "break" {
            innermost.on_break
        } else {
            innermost.on_continue
        };
        self.cur.expect(";")?;
        self.body.code.jump(to, keyword.span)
    }

    fn return_statement(&mut self) -> Result<()> {
        let keyword = self.cur.bump().span;
        if !self.cur.at(";") {
            return Err(Diagnostic::new(
                self.cur.here(),
                "a process returns no value",
            ));
        }
        self.cur.expect(";")?;
        self.body.code.emit(Instr::Halt, keyword)
    }

    /// `int r0 = e, r1, a[3] = {1, 2};`
    fn declaration(&mut self) -> Result<()> {
        let start = self.cur.here();
        let typ = self.type_specifier()?;
        if typ.atomic {
            return Err(Diagnostic::new(
                self.cur.since(start),
                "a local variable cannot be atomic",
            )
            .with_help("shared locations are pointer parameters of each process that uses them"));
        }
        loop {
            if self.cur.at("*") {
                return Err(self.no_pointers(self.cur.here()));
            }
            self.declarator(typ, start)?;
            if !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect(";")?;
        Ok(())
    }

    fn declarator(&mut self, typ: Type, start: Span) -> Result<()> {
        let name = self.cur.name("a variable")?;
        match self.array_length()? {
            None => {
                let local = self.declare_local(name, None, typ)?;
                if self.cur.eat("=") {
                    let value = self.assignment()?;
                    let span = self.cur.since(start);
                    let lowered = self.value_into(&value, local.base, local.boolean, span);
                    self.recover(lowered)
                } else {
                    self.clear(local, name.span)
                }
            }
            Some(len) => {
                let before = self.cur.here();
                let values = if self.cur.eat("=") {
                    Some(self.braced_list(Self::assignment)?)
                } else {
                    None
                };
                let given = values.as_ref().map_or(0, Vec::len);
                let len = self.checked_length(len, given, before)?;
                let local = self.declare_local(name, Some(len), typ)?;
                match values {
                    None => self.clear(local, name.span),
                    Some(values) => self.fill(local, &values, self.cur.since(start)),
                }
            }
        }
    }

    /// A variable without an initial value starts at 0, each time that its declaration is reached. At the start of
    /// a process registers are 0 (or what the initial state says) anyway.
    fn clear(&mut self, local: Local, span: Span) -> Result<()> {
        if local.fresh && self.body.scopes.len() <= OUTERMOST {
            return Ok(());
        }
        for offset in 0..local.len.unwrap_or(1) {
            let register = RegId(local.base.0 + offset);
            self.body.code.assign(register, Expr::Const(0), span)?;
        }
        Ok(())
    }

    fn fill(&mut self, local: Local, values: &[Ast<'a>], span: Span) -> Result<()> {
        for offset in 0..local.len.unwrap_or(1) {
            let register = RegId(local.base.0 + offset);
            let lowered = match values.get(offset as usize) {
                Some(value) => self.value_into(value, register, local.boolean, span),
                None => self.body.code.assign(register, Expr::Const(0), span),
            };
            self.recover(lowered)?;
        }
        Ok(())
    }
}

/// Scopes that are open at the top of a process: the parameters', and the body's.
const OUTERMOST: usize = 2;
