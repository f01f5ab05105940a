//! Assembly litmus tests in herd's syntax: AArch64, ARM, X86, X86_64, RISCV and PPC.
//!
//! What it decides: nothing; it turns text into a [`Program`] of a machine that means the same, or says what is wrong with it.
//!
//! Source: the tests of herd and diy (<https://github.com/herd/herdtools7>), the architectures' manuals for the instructions.
//!
//! Deviations:
//! - Registers and locations hold 32 bits; a number that does not fit is refused. Accesses of 32 and of 64 bits are accesses of
//!   a whole location, smaller ones and those inside a location are refused.
//! - There are no arrays, no instructions as data, no page tables, no faults.
//!
//! Invariants: a register that an instruction reads is mentioned by the expression of its operation, whether the value depends on it or
//! not; a choice between registers (`csel`) is [`Expr::If`](rsan_model::Expr::If), and nothing
//! else is. Flags are one hidden register.
//!
//! Cost: linear in the text.

mod aarch64;
mod alu;
mod arm;
mod condition;
mod flags;
mod init;
mod operand;
mod ppc;
mod riscv;
#[cfg(test)]
mod tests;
mod thread;
mod x86;

use crate::cursor::Cursor;
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::lexer::{Comments, Dialect};
use crate::limits;
use crate::lower::too_many;
use crate::{check_size, header};
use init::InitialRegister;
use rsan_model::machine::{Location, Machine, Program};
use rsan_model::{LocId, Source, Span};
use std::collections::HashMap;
use thread::{Context, Known, Thread};

const DIALECT: Dialect = Dialect {
    puncts: &[
        "/\\", "\\/", "&&", "||", "==", "!=", "<>", "=>", "+", "-", "*", "&", "~", "!", "<", ">",
        "=", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "|", "#", "$", "%", "@", "'",
        "/", "\\",
    ],
    comments: Comments::Litmus,
    octal: false,
};

/// An assembler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arch {
    Aarch64,
    Arm,
    X86,
    X86_64,
    Riscv,
    Ppc,
}

impl Arch {
    const ALL: [Self; 6] = [
        Self::Aarch64,
        Self::Arm,
        Self::X86,
        Self::X86_64,
        Self::Riscv,
        Self::Ppc,
    ];

    /// The first word of its tests.
    fn name(self) -> &'static str {
        match self {
            Self::Aarch64 => "AArch64",
            Self::Arm => "ARM",
            Self::X86 => "X86",
            Self::X86_64 => "X86_64",
            Self::Riscv => "RISCV",
            Self::Ppc => "PPC",
        }
    }

    fn machine(self) -> Machine {
        match self {
            Self::Aarch64 => Machine::Armv8,
            Self::Arm => Machine::Armv7,
            Self::X86 | Self::X86_64 => Machine::X86,
            Self::Riscv => Machine::Riscv,
            Self::Ppc => Machine::Power,
        }
    }

    /// The architecture of a test.
    fn of(text: &str) -> Option<Self> {
        let (_, word) = header::language(text)?;
        Self::ALL.into_iter().find(|arch| arch.name() == word)
    }

    /// The register that is spelled so, if there is one.
    fn register(self, word: &str) -> Option<Known> {
        match self {
            Self::Aarch64 => aarch64::register(word),
            Self::Arm => arm::register(word),
            Self::X86 | Self::X86_64 => x86::register(word),
            Self::Riscv => riscv::register(word),
            Self::Ppc => ppc::register(word),
        }
    }
}

/// A register that the test gives a name of its own: `%x0`, `X%P0_x`.
fn symbolic(word: &str) -> Option<Known> {
    let name = word.split_once('%')?.1;
    Some(Known::Plain(format!("%{name}")))
}

/// Whether a text is an assembly litmus test, by how it begins.
pub(crate) fn is_assembly(text: &str) -> bool {
    Arch::of(text).is_some()
}

/// Reads an assembly litmus test.
///
/// # Errors
/// When it is not one.
pub(crate) fn parse(source: &Source) -> std::result::Result<Program, Diagnostics> {
    check_size(source)?;
    let Some(arch) = Arch::of(&source.text) else {
        let names = Arch::ALL.map(Arch::name).join(", ");
        return Err(Diagnostic::new(
            Span::new(0, 0),
            format!("expected the header of a litmus test for one of {names}"),
        )
        .into());
    };
    let header = header::read(&source.text)?;
    let mut parser = Parser {
        arch,
        cur: Cursor::new(&source.text, header.end, DIALECT)?,
        program: Program::new(header.name, arch.machine()),
        locations: Locations::default(),
        threads: Vec::new(),
        initial_registers: Vec::new(),
        errors: Vec::new(),
    };
    let result = parser.test();
    parser.errors.extend(result.err());
    let Parser {
        mut program,
        errors,
        threads,
        locations,
        ..
    } = parser;
    Diagnostics::check(errors, ())?;
    program.locations = locations.list;
    for (number, thread) in threads.into_iter().enumerate() {
        program.threads.push(thread.finish(number)?);
    }
    program.source = Some(source.clone());
    Ok(program)
}

/// The locations of a test: each name that is one.
#[derive(Default, Debug)]
struct Locations {
    list: Vec<Location>,
    by_name: HashMap<String, LocId>,
}

impl Locations {
    /// The location of this name; one that was not declared holds 0.
    fn named(&mut self, name: &str, span: Span) -> Result<LocId> {
        if let Some(&found) = self.by_name.get(name) {
            return Ok(found);
        }
        if self.list.len() == limits::LOCATIONS {
            return Err(too_many(span, "locations", limits::LOCATIONS));
        }
        let id = LocId::new(self.list.len());
        self.list.push(Location {
            name: name.to_owned(),
            init: 0,
        });
        self.by_name.insert(name.to_owned(), id);
        Ok(id)
    }
}

/// The reader's state.
struct Parser<'a> {
    arch: Arch,
    cur: Cursor<'a>,
    program: Program,
    locations: Locations,
    threads: Vec<Thread>,
    initial_registers: Vec<InitialRegister>,
    /// Errors after which reading went on.
    errors: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn test(&mut self) -> Result<()> {
        self.initial_state()?;
        self.columns()?;
        while !self.at_condition() {
            self.row()?;
        }
        self.set_initial_registers()?;
        self.final_condition()
    }

    /// `P0 | P1 ;`
    fn columns(&mut self) -> Result<()> {
        loop {
            let number = self.threads.len();
            let name = self.cur.name("a process such as `P0`")?;
            if number == limits::THREADS {
                return Err(too_many(name.span, "processes", limits::THREADS));
            }
            if name.text != format!("P{number}") {
                return Err(Diagnostic::new(
                    name.span,
                    format!("expected process P{number}, found `{}`", name.text),
                ));
            }
            if self.cur.at(":") || self.cur.at(".") {
                return Err(Diagnostic::new(
                    self.cur.here(),
                    "processes with annotations are not supported",
                ));
            }
            self.threads.push(Thread::new(self.arch));
            if !self.cur.eat("|") {
                self.cur.expect(";")?;
                return Ok(());
            }
        }
    }

    fn at_condition(&self) -> bool {
        let word = self.cur.word();
        let keyword = matches!(
            word,
            Some("exists" | "forall" | "locations" | "filter" | "not")
        );
        keyword && !self.cur.at_nth(1, ":") || self.cur.at("~") || self.cur.at_end()
    }

    /// One row of the table: a cell for each process; cells at the end may be missing.
    fn row(&mut self) -> Result<()> {
        let mut column = 0;
        loop {
            if column == self.threads.len() {
                return Err(Diagnostic::new(
                    self.cur.here(),
                    format!("this row has more than {column} cells"),
                ));
            }
            self.cell(column)?;
            column += 1;
            if !self.cur.eat("|") {
                self.cur.expect(";")?;
                return Ok(());
            }
        }
    }

    /// Labels, and an instruction.
    fn cell(&mut self, column: usize) -> Result<()> {
        while self.cur.word().is_some() && self.cur.at_nth(1, ":") {
            let name = self.cur.name("a label")?;
            self.cur.expect(":")?;
            self.threads[column].label(name.text, name.span)?;
        }
        if operand::at_cell_end(&self.cur) {
            return Ok(());
        }
        let instruction = operand::instruction(&mut self.cur)?;
        let context = &mut Context {
            thread: &mut self.threads[column],
            locations: &mut self.locations,
        };
        context.thread.next_instruction();
        let lowered = match self.arch {
            Arch::Aarch64 => aarch64::lower(context, &instruction),
            Arch::Arm => arm::lower(context, &instruction),
            Arch::X86 => x86::lower(context, &instruction, x86::Syntax::Intel),
            Arch::X86_64 => x86::lower(context, &instruction, x86::Syntax::Att),
            Arch::Riscv => riscv::lower(context, &instruction),
            Arch::Ppc => ppc::lower(context, &instruction),
        };
        // What is wrong with one instruction says nothing of the others.
        match lowered {
            Err(error) if self.errors.len() + 1 < limits::ERRORS => {
                self.errors.push(error);
                Ok(())
            }
            lowered => lowered,
        }
    }
}
