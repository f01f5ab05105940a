//! A compact notation for tests: one line per program, and nothing that is not an instruction.
//!
//! ```text
//! init x=1: st.rel x 2; ld.acq r0 y || fadd.ar r0 y 1; bne r0 0 1; ld.rlx r1 x
//! ```
//!
//! Threads are separated by `||` or `‖`, instructions by `;`. Operands are integers or the registers `r0`, `r1`, ...;
//! every other name is a location, declared by its use, 0 unless `init` says otherwise. `_` instead of a
//! register drops the value.
//!
//! | instruction | meaning |
//! | --- | --- |
//! | `ld.M r x` `st.M x v` | load, store |
//! | `xchg.M r x v` `fadd` `fsub` `fand` `for` `fxor` | read-modify-write |
//! | `scas.S.F r x e n` `wcas.S.F r x e n` | strong and weak compare-and-swap with the orders of success and failure; `r` gets the value read |
//! | `wait.M x v ...` `bcas.M x e n` | block until x holds one of the values, or `e` |
//! | `fence.M` | fence |
//! | `nld r d` `nst d v` | non-atomic; a location that is accessed only this way is plain |
//! | `beq r v k` `bne r v k` | skip `k` instructions if `r` is (not) `v` |
//! | `spawn t` `join t` | thread `t`, counted from 0, does not start by itself |
//!
//! The modes are `rlx`, `acq`, `rel`, `ar` (or `acqrel`) and `sc`.
//!
//! The notation of docs/theory/litmus.md, N1 and N2. Values are C's `int`.
//! Invariant: register `rN` has index N, so [`print()`] and [`parse()`] are inverse to each other.

mod operand;
mod print;

use crate::cursor::{Cursor, Name};
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::lexer::{Comments, Dialect, Kind};
use crate::limits;
use crate::lower::too_many;
pub use print::{NotMini, print};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, Instr, LocId, LocKind, Pc, Place, Program, RegId, Register,
    RmwOp, Source, Span, Start, Thread, ThreadId,
};
use std::collections::HashMap;

const DIALECT: Dialect = Dialect {
    puncts: &["||", "‖", ";", ".", "-", "=", ":"],
    comments: Comments::Line,
    octal: false,
};

/// Highest register number.
const LAST_REGISTER: u32 = 255;

/// The read-modify-write instructions.
const RMWS: &[(&str, RmwOp)] = &[
    ("xchg", RmwOp::Exchange),
    ("fadd", RmwOp::Add),
    ("fsub", RmwOp::Sub),
    ("fand", RmwOp::And),
    ("for", RmwOp::Or),
    ("fxor", RmwOp::Xor),
];

struct Parser<'a> {
    cur: Cursor<'a>,
    program: Program,
    locations: HashMap<&'a str, LocId>,
    /// The threads that `spawn` and `join` name, and where.
    spawned: Vec<(ThreadId, Span)>,
    joined: Vec<(ThreadId, Span)>,
}

/// Reads a program in the compact notation.
///
/// # Errors
/// When the text is not one.
pub fn parse(source: &Source) -> std::result::Result<Program, Diagnostics> {
    crate::check_size(source)?;
    let mut parser = Parser {
        cur: Cursor::new(&source.text, 0, DIALECT)?,
        program: Program::new(crate::stem(&source.name), Domain::Int32),
        locations: HashMap::new(),
        spawned: Vec::new(),
        joined: Vec::new(),
    };
    parser.file()?;
    parser.program.source = Some(source.clone());
    Ok(parser.program)
}

/// The number in `r3`.
fn register_number(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('r')?;
    let canonical = digits == "0" || !digits.is_empty() && !digits.starts_with('0');
    (canonical && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().unwrap_or(u32::MAX))
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> Result<()> {
        if self.cur.at_word("init") {
            self.cur.bump();
            self.initial_values()?;
        }
        loop {
            let thread = self.thread()?;
            self.program.threads.push(thread);
            if !self.cur.eat("||") && !self.cur.eat("‖") {
                break;
            }
            if self.program.threads.len() == limits::THREADS {
                return Err(too_many(self.cur.here(), "threads", limits::THREADS));
            }
        }
        if !self.cur.at_end() {
            return Err(self.cur.unexpected("`;` or `||`"));
        }
        self.check_threads()?;
        self.settle_kinds();
        Ok(())
    }

    /// `x=1 y=2:`
    fn initial_values(&mut self) -> Result<()> {
        while !self.cur.eat(":") {
            let loc = self.location()?;
            self.cur.expect("=")?;
            let value = self.cur.int32("a number")?;
            self.program.locations[loc.index()].init = value;
        }
        Ok(())
    }

    fn thread(&mut self) -> Result<Thread> {
        let mut thread = Thread {
            name: format!("P{}", self.program.threads.len()),
            start: Start::Initial,
            registers: Vec::new(),
            code: Vec::new(),
            spans: Vec::new(),
        };
        while self.cur.peek().kind == Kind::Word {
            let start = self.cur.here();
            if thread.code.len() == limits::INSTRUCTIONS {
                let what = "instructions in a thread";
                return Err(too_many(start, what, limits::INSTRUCTIONS));
            }
            let instr = self.instruction(Pc::new(thread.code.len()))?;
            thread.code.push(instr);
            thread.spans.push(self.cur.since(start));
            if !self.cur.eat(";") {
                break;
            }
        }
        for (instr, span) in thread.code.iter().zip(&thread.spans) {
            let beyond = instr
                .successors(Pc(0))
                .iter()
                .any(|pc| pc.index() > thread.code.len());
            if beyond {
                return Err(Diagnostic::new(*span, "this skips more than there is"));
            }
        }
        let mut registers = 0;
        for instr in &thread.code {
            let mut count = |r: RegId| registers = registers.max(r.0 + 1);
            instr.for_each_read_reg(&mut count);
            instr.for_each_written_reg(&mut count);
        }
        thread.registers = (0..registers)
            .map(|r| Register {
                name: format!("r{r}"),
                init: 0,
            })
            .collect();
        Ok(thread)
    }

    fn instruction(&mut self, pc: Pc) -> Result<Instr> {
        let name = self.cur.name("an instruction")?;
        let rmw = RMWS.iter().find(|(text, _)| *text == name.text);
        Ok(match name.text {
            "ld" => {
                let ord = self.read_mode()?;
                let dst = self.register()?;
                let place = self.place()?;
                Instr::Load { dst, place, ord }
            }
            "st" => {
                let ord = self.write_mode()?;
                let place = self.place()?;
                let value = self.operand()?;
                Instr::Store { place, value, ord }
            }
            "nld" => Instr::PlainLoad {
                dst: self.register()?,
                place: self.place()?,
            },
            "nst" => Instr::PlainStore {
                place: self.place()?,
                value: self.operand()?,
            },
            "fence" => Instr::Fence(self.fence_mode()?),
            "scas" => self.cas(CasStrength::Strong)?,
            "wcas" => self.cas(CasStrength::Weak)?,
            "bcas" => Instr::Bcas {
                ord: self.rmw_mode()?,
                place: self.place()?,
                expected: self.operand()?,
                new: self.operand()?,
            },
            "wait" => self.wait()?,
            "beq" => self.branch(BinOp::Eq, pc)?,
            "bne" => self.branch(BinOp::Ne, pc)?,
            "spawn" | "join" => self.spawn_or_join(name)?,
            _ => match rmw {
                Some((_, op)) => Instr::Rmw {
                    op: *op,
                    ord: self.rmw_mode()?,
                    dst: self.optional_register()?,
                    place: self.place()?,
                    operand: self.operand()?,
                },
                None => {
                    let error = format!("unknown instruction `{}`", name.text);
                    return Err(Diagnostic::new(name.span, error));
                }
            },
        })
    }

    fn cas(&mut self, strength: CasStrength) -> Result<Instr> {
        Ok(Instr::Cas {
            ord: self.rmw_mode()?,
            fail: self.read_mode()?,
            dst: self.optional_register()?,
            success: None,
            place: self.place()?,
            expected: self.operand()?,
            new: self.operand()?,
            strength,
        })
    }

    fn wait(&mut self) -> Result<Instr> {
        let ord = self.read_mode()?;
        let place = self.place()?;
        let mut values = vec![self.operand()?];
        while self.cur.at("-") || matches!(self.cur.peek().kind, Kind::Int(_) | Kind::Word) {
            values.push(self.operand()?);
        }
        Ok(Instr::Wait {
            dst: None,
            place,
            values,
            ord,
        })
    }

    fn branch(&mut self, op: BinOp, pc: Pc) -> Result<Instr> {
        let register = self.register()?;
        let value = self.operand()?;
        let start = self.cur.here();
        let skip = self.cur.int32("how many instructions to skip")?;
        let skip = u32::try_from(skip)
            .map_err(|_| Diagnostic::new(self.cur.since(start), "branches go forward"))?;
        Ok(Instr::Branch {
            cond: Expr::Binary(op, Expr::Reg(register).into(), value.into()),
            then: Pc((pc.0 + 1).saturating_add(skip)),
            otherwise: Pc(pc.0 + 1),
        })
    }

    fn spawn_or_join(&mut self, name: Name<'a>) -> Result<Instr> {
        let start = self.cur.here();
        let number = self.cur.int32("a thread's number")?;
        let span = self.cur.since(start);
        let thread = u32::try_from(number).map(ThreadId);
        match thread {
            Ok(thread) if thread.index() != self.program.threads.len() => {
                Ok(if name.text == "spawn" {
                    self.spawned.push((thread, span));
                    Instr::Spawn(thread)
                } else {
                    self.joined.push((thread, span));
                    Instr::Join(thread)
                })
            }
            _ => Err(Diagnostic::new(span, "this is not another thread")),
        }
    }

    fn check_threads(&mut self) -> Result<()> {
        for (thread, span) in &self.spawned {
            match self.program.threads.get_mut(thread.index()) {
                Some(found) => found.start = Start::Spawned,
                None => return Err(Diagnostic::new(*span, "there is no such thread")),
            }
        }
        for (thread, span) in &self.joined {
            match self.program.threads.get(thread.index()) {
                Some(found) if found.start == Start::Spawned => {}
                Some(_) => return Err(Diagnostic::new(*span, "nobody spawns this thread")),
                None => return Err(Diagnostic::new(*span, "there is no such thread")),
            }
        }
        Ok(())
    }

    /// Locations that only non-atomic instructions access are plain.
    fn settle_kinds(&mut self) {
        let plain = plain_locations(&self.program);
        for (location, plain) in self.program.locations.iter_mut().zip(plain) {
            location.kind = if plain {
                LocKind::Plain
            } else {
                LocKind::Atomic
            };
        }
    }
}

/// For each location, whether it is accessed, and only by non-atomic instructions.
fn plain_locations(program: &Program) -> Vec<bool> {
    let mut accessed = vec![false; program.locations.len()];
    let mut atomically = accessed.clone();
    for (_, _, instr) in program.instructions() {
        for loc in instr.place().into_iter().flat_map(Place::candidates) {
            accessed[loc.index()] = true;
            atomically[loc.index()] |= instr.is_atomic_access();
        }
    }
    accessed
        .iter()
        .zip(atomically)
        .map(|(accessed, atomically)| *accessed && !atomically)
        .collect()
}
