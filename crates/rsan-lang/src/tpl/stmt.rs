//! Statements: read and lowered in one go.

use super::{KEYWORDS, Parser};
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::lower::Label;
use rsan_model::{Expr, FenceOrd, Instr, Span};
use std::collections::HashMap;

/// A label of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelState {
    label: Label,
    bound: bool,
    /// Where it is first named.
    span: Span,
}

impl<'a> Parser<'a> {
    /// Statements up to the `}` that belongs to `open`, and that.
    pub(super) fn statements(&mut self, open: Span) -> Result<()> {
        self.cur.enter()?;
        while !self.cur.eat("}") {
            if self.cur.at_end() {
                return Err(Diagnostic::new(open, "this block is not closed"));
            }
            self.statement()?;
        }
        self.cur.leave();
        Ok(())
    }

    fn block(&mut self) -> Result<()> {
        let open = self.cur.expect("{")?;
        self.statements(open)
    }

    /// Reports each label that was used and is nowhere.
    pub(super) fn report_unbound_labels(
        &mut self,
        labels: &HashMap<&'a str, LabelState>,
    ) -> Result<()> {
        let mut missing: Vec<_> = labels.iter().filter(|(_, state)| !state.bound).collect();
        missing.sort_by_key(|(_, state)| state.span);
        for (name, state) in missing {
            self.report(Diagnostic::new(
                state.span,
                format!("there is no label `{name}` in this thread"),
            ))?;
        }
        Ok(())
    }

    fn label(&mut self, name: Name<'a>) -> LabelState {
        let code = &mut self.body.code;
        *self
            .body
            .labels
            .entry(name.text)
            .or_insert_with(|| LabelState {
                label: code.label(),
                bound: false,
                span: name.span,
            })
    }

    fn statement(&mut self) -> Result<()> {
        while self.cur.at_nth(1, ":") {
            self.label_definition()?;
            if self.cur.at("}") {
                return Ok(());
            }
        }
        let start = self.cur.here();
        match self.cur.word() {
            Some("if") => self.if_statement(start),
            Some("while") => self.while_statement(start),
            Some("goto") => self.goto_statement(start),
            Some("oneof") => self.oneof_statement(start),
            Some("fence") => self.fence_statement(start),
            Some("lock" | "unlock") => self.lock_statement(start),
            Some("skip") => {
                self.cur.bump();
                self.end_of_statement(start).map(drop)
            }
            Some("assert" | "assume" | "verify") => self.check_statement(start),
            Some("CAS" | "FADD" | "exchange" | "wait" | "BCAS") => self.operation(None, start),
            Some(_) if self.cur.at_nth(1, ".") => self.access_statement(start),
            Some(_) if self.cur.at_nth(1, "=") => self.assignment(start),
            _ => Err(self.cur.unexpected("a statement")),
        }
    }

    /// Takes the `;`, and gives the span of the whole statement.
    fn end_of_statement(&mut self, start: Span) -> Result<Span> {
        self.cur.expect(";")?;
        Ok(self.cur.since(start))
    }

    /// Takes the `;` and appends the instruction that the statement is.
    pub(super) fn finish(&mut self, instr: Instr, start: Span) -> Result<()> {
        let span = self.end_of_statement(start)?;
        self.body.code.emit(instr, span)
    }

    fn label_definition(&mut self) -> Result<()> {
        let name = self.cur.name("a label")?;
        self.cur.expect(":")?;
        let state = self.label(name);
        if KEYWORDS.contains(&name.text) {
            return Err(Diagnostic::new(
                name.span,
                format!("`{}` is a keyword", name.text),
            ));
        }
        if state.bound {
            let error = format!("label `{}` is defined twice", name.text);
            return self.report(Diagnostic::new(name.span, error));
        }
        self.body.code.bind(state.label);
        let state = LabelState {
            bound: true,
            ..state
        };
        self.body.labels.insert(name.text, state);
        Ok(())
    }

    fn condition(&mut self) -> Result<(Expr, Span)> {
        self.cur.expect("(")?;
        let start = self.cur.here();
        let e = self.tested()?;
        let span = self.cur.since(start);
        self.cur.expect(")")?;
        Ok((e, span))
    }

    fn if_statement(&mut self, start: Span) -> Result<()> {
        self.cur.bump();
        let (condition, span) = self.condition()?;
        let then = self.body.code.label();
        let otherwise = self.body.code.label();
        if self.cur.eat_word("goto") {
            let name = self.cur.name("a label")?;
            let to = self.label(name).label;
            self.cur.expect(";")?;
            self.body.code.branch(condition, to, otherwise, span)?;
            self.body.code.bind(otherwise);
            return Ok(());
        }
        self.body.code.branch(condition, then, otherwise, span)?;
        self.body.code.bind(then);
        self.block()?;
        if self.cur.eat_word("else") {
            let end = self.body.code.label();
            self.body.code.jump(end, start)?;
            self.body.code.bind(otherwise);
            self.block()?;
            self.body.code.bind(end);
        } else {
            self.body.code.bind(otherwise);
        }
        Ok(())
    }

    fn while_statement(&mut self, start: Span) -> Result<()> {
        self.cur.bump();
        let head = self.body.code.here();
        let body = self.body.code.label();
        let end = self.body.code.label();
        let (condition, span) = self.condition()?;
        self.body.code.branch(condition, body, end, span)?;
        self.body.code.bind(body);
        self.block()?;
        self.body.code.jump(head, start)?;
        self.body.code.bind(end);
        Ok(())
    }

    fn goto_statement(&mut self, start: Span) -> Result<()> {
        self.cur.bump();
        let name = self.cur.name("a label")?;
        let to = self.label(name).label;
        let span = self.end_of_statement(start)?;
        self.body.code.jump(to, span)
    }

    /// `oneof ( { } { } );`
    fn oneof_statement(&mut self, start: Span) -> Result<()> {
        let keyword = self.cur.bump().span;
        self.cur.expect("(")?;
        let choice = self.body.code.choose(keyword)?;
        let end = self.body.code.label();
        loop {
            self.body.code.add_choice(choice);
            self.block()?;
            self.body.code.jump(end, start)?;
            if !self.cur.at("{") {
                break;
            }
        }
        self.cur.expect(")")?;
        self.cur.expect(";")?;
        self.body.code.bind(end);
        Ok(())
    }

    fn fence_statement(&mut self, start: Span) -> Result<()> {
        self.cur.bump();
        let mut ord = FenceOrd::SeqCst;
        if self.cur.eat("(") {
            ord = match self.cur.word() {
                Some("acq") => FenceOrd::Acquire,
                Some("rel") => FenceOrd::Release,
                Some("acq_rel") => FenceOrd::AcqRel,
                Some("seq_cst" | "upd") => FenceOrd::SeqCst,
                _ => return Err(self.cur.unexpected("acq, rel, acq_rel, seq_cst or upd")),
            };
            self.cur.bump();
            self.cur.expect(")")?;
        }
        self.finish(Instr::Fence(ord), start)
    }

    fn check_statement(&mut self, start: Span) -> Result<()> {
        let keyword = self.cur.name("a statement")?.text;
        let instr = match keyword {
            "assert" => Instr::Assert(self.condition()?.0),
            "assume" => Instr::Assume(self.condition()?.0),
            _ => {
                self.cur.expect("(")?;
                let observed = self.expression()?;
                self.cur.expect(")")?;
                Instr::Observe(observed)
            }
        };
        self.finish(instr, start)
    }
}
