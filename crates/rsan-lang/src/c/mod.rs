//! C litmus tests: herd's C dialect, with loops, arrays, assertions and blocking operations added.
//!
//! What it decides: nothing; it turns text into a [`Program`] that means the same, or says what is wrong with it.
//!
//! Source: the `C` tests of herd (<https://github.com/herd/herdtools7>), ISO C11 7.17 for the operations.
//!
//! Deviations:
//! - As in herd, `*x` is a plain access even when `x` is an `atomic_int*` (in ISO C it would be seq_cst), and an
//!   atomic operation on an `int*` is accepted and makes the location atomic.
//! - All integer types compute as 32-bit signed integers; narrower and unsigned types are refused.
//! - Operands are evaluated from left to right; locals without an initial value start at 0.
//! - `memory_order_consume` is acquire, as in every compiler.
//! - Pointers are parameters and operands of `&`, never values; there are no structures, no `goto`, no `switch`.
//!
//! Invariants: a location has one entry in [`Program::locations`] however many processes name it; the registers of a
//! process keep their source names, temporaries and shadowed variables have a `%` in theirs.
//!
//! Cost: linear in the text, but for arrays that are indexed at run time (one assignment per element).

mod call;
mod condition;
mod decl;
mod expr;
mod init;
mod lower;
mod order;
mod stmt;
mod target;

use crate::cursor::{Cursor, Name};
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::lexer::{Comments, Dialect};
use crate::limits;
use crate::lower::{Builder, too_many};
use decl::{Shared, Symbol};
pub(crate) use init::process_number;
use rsan_model::{Domain, Program, RegId, Source, Span, Value};
use std::collections::HashMap;
use stmt::Loop;

const DIALECT: Dialect = Dialect {
    puncts: &[
        "<<=", ">>=", "/\\", "\\/", "->", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "<<",
        ">>", "<>", "=>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%",
        "&", "|", "^", "~", "!", "<", ">", "=", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{",
        "}",
    ],
    comments: Comments::Litmus,
    octal: true,
};

/// The initial value of a register: process, where it is named, register, value.
type InitialRegister<'a> = ((usize, Span), Name<'a>, Value);

/// The reader's state.
struct Parser<'a> {
    cur: Cursor<'a>,
    program: Program,
    shared: HashMap<&'a str, Shared>,
    initial_registers: Vec<InitialRegister<'a>>,
    /// Errors after which reading went on.
    errors: Vec<Diagnostic>,
    /// The process that is being read.
    body: Body<'a>,
}

/// A process in the making.
#[derive(Default)]
struct Body<'a> {
    code: Builder,
    /// The names of each open scope, innermost last.
    scopes: Vec<Vec<&'a str>>,
    /// Who each name is, innermost last.
    names: HashMap<&'a str, Vec<Symbol>>,
    /// Registers of variables whose scope has ended, by name and length.
    retired: HashMap<(&'a str, Option<u32>), RegId>,
    loops: Vec<Loop>,
}

/// Reads a C litmus test.
///
/// # Errors
/// When it is not one.
pub(crate) fn parse(source: &Source) -> std::result::Result<Program, Diagnostics> {
    let header = crate::header::read_c(&source.text)?;
    let mut parser = Parser {
        cur: Cursor::new(&source.text, header.end, DIALECT)?,
        program: Program::new(header.name, Domain::Int32),
        shared: HashMap::new(),
        initial_registers: Vec::new(),
        errors: Vec::new(),
        body: Body::default(),
    };
    let result = parser.test();
    let mut errors = parser.errors;
    errors.extend(result.err());
    Diagnostics::check(errors, parser.program)
}

impl Parser<'_> {
    fn test(&mut self) -> Result<()> {
        self.initial_state()?;
        while self.at_process() {
            self.process()?;
        }
        if self.program.threads.is_empty() {
            return Err(self
                .cur
                .unexpected("a process such as `P0 (atomic_int* x) { ... }`"));
        }
        if let Some((thread, span)) = self.unknown_process() {
            return Err(Diagnostic::new(
                span,
                format!("there is no process P{thread}"),
            ));
        }
        self.final_condition()
    }

    fn at_process(&self) -> bool {
        let named = |n| self.cur.word_at(n).and_then(process_number).is_some();
        named(0) || self.cur.at_word("void") && named(1)
    }

    /// `P0 (parameters) { body }`
    fn process(&mut self) -> Result<()> {
        self.cur.eat_word("void");
        let name = self.cur.name("a process")?;
        let number = self.program.threads.len();
        if number == limits::THREADS {
            return Err(too_many(name.span, "processes", limits::THREADS));
        }
        if process_number(name.text) != Some(number) {
            return Err(Diagnostic::new(
                name.span,
                format!("expected process P{number}, found `{}`", name.text),
            )
            .with_help("processes are numbered from P0 in the order of the text"));
        }
        self.body = Body::default();
        self.open_scope();
        self.parameters()?;
        self.block()?;
        self.close_scope();
        let mut body = std::mem::take(&mut self.body);
        for ((thread, span), register, value) in &self.initial_registers {
            if *thread != number {
                continue;
            }
            match body.code.find_register(register.text) {
                Some(found) => body.code.set_initial(found, *value),
                None => {
                    return Err(Diagnostic::new(
                        span.to(register.span),
                        format!("P{number} has no register `{}`", register.text),
                    ));
                }
            }
        }
        let name = format!("P{number}");
        self.program.threads.push(if self.errors.is_empty() {
            body.code.finish(name)
        } else {
            body.code.abandon(name)
        });
        Ok(())
    }

    /// A process that the initial state names and that does not exist.
    fn unknown_process(&self) -> Option<(usize, Span)> {
        self.initial_registers
            .iter()
            .map(|(process, ..)| *process)
            .find(|(number, _)| *number >= self.program.threads.len())
    }
}
