//! Programs in the compact notation of the litmus tables: `st.rel x 1; ld.acq r0 y ‖ ...`.
//!
//! `op.mode args`; modes `na rlx acq rel ar sc`; `bne r v k` skips k instructions if r is not v, `beq` if it
//! is; `wcas`/`scas` take `.mode.failmode r x expected new`. An operand is a number or a register.

#![allow(dead_code, reason = "every test binary uses its own part")]

pub(crate) mod random;

use rsan_model::{
    Atom, BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Location, Observable,
    Pc, Place, Program, Prop, ReadOrd, RegId, Register, RmwOp, RmwOrd, Span, Start, Thread,
    ThreadId, Value, WriteOrd,
};

/// Reads a program; locations start at 0 and are numbered in order of appearance.
pub(crate) fn program(text: &str) -> Program {
    let mut reader = Reader {
        program: Program::new(text, Domain::Int32),
        registers: Vec::new(),
    };
    for thread in text.replace("||", "‖").split('‖') {
        reader.thread(thread);
    }
    reader.program
}

/// The location called `name`.
pub(crate) fn loc(program: &Program, name: &str) -> LocId {
    let found = program.locations.iter().position(|l| l.name == name);
    LocId::new(found.unwrap_or_else(|| panic!("no location {name}")))
}

/// The register called `name` of thread `t`.
pub(crate) fn reg(program: &Program, t: usize, name: &str) -> RegId {
    let registers = &program.threads[t].registers;
    let found = registers.iter().position(|r| r.name == name);
    RegId::new(found.unwrap_or_else(|| panic!("no register {name} in thread {t}")))
}

struct Reader {
    program: Program,
    registers: Vec<Register>,
}

impl Reader {
    fn thread(&mut self, text: &str) {
        let texts: Vec<&str> = text.split(';').map(str::trim).collect();
        let texts = texts.into_iter().filter(|t| !t.is_empty());
        let code: Vec<Instr> = texts.enumerate().map(|(pc, t)| self.instr(t, pc)).collect();
        self.program.threads.push(Thread {
            name: format!("P{}", self.program.threads.len()),
            start: Start::Initial,
            registers: std::mem::take(&mut self.registers),
            spans: vec![Span::default(); code.len()],
            code,
        });
    }

    fn instr(&mut self, text: &str, pc: usize) -> Instr {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ops: Vec<&str> = words[0].split('.').collect();
        let arg = |i: usize| {
            *words
                .get(i)
                .unwrap_or_else(|| panic!("operand missing: {text}"))
        };
        let mode = || ops[1];
        match ops[0] {
            "ld" if mode() == "na" => Instr::PlainLoad {
                dst: self.register(arg(1)),
                place: self.place(arg(2)),
            },
            "ld" => Instr::Load {
                dst: self.register(arg(1)),
                place: self.place(arg(2)),
                ord: read_ord(mode()),
            },
            "st" if mode() == "na" => Instr::PlainStore {
                place: self.place(arg(1)),
                value: self.operand(arg(2)),
            },
            "st" => Instr::Store {
                place: self.place(arg(1)),
                value: self.operand(arg(2)),
                ord: write_ord(mode()),
            },
            "fadd" | "xchg" => Instr::Rmw {
                dst: Some(self.register(arg(1))),
                place: self.place(arg(2)),
                op: if ops[0] == "fadd" {
                    RmwOp::Add
                } else {
                    RmwOp::Exchange
                },
                operand: self.operand(arg(3)),
                ord: rmw_ord(mode()),
            },
            "scas" | "wcas" => Instr::Cas {
                dst: Some(self.register(arg(1))),
                success: None,
                place: self.place(arg(2)),
                expected: self.operand(arg(3)),
                new: self.operand(arg(4)),
                ord: rmw_ord(mode()),
                fail: read_ord(ops[2]),
                strength: if ops[0] == "scas" {
                    CasStrength::Strong
                } else {
                    CasStrength::Weak
                },
            },
            "wait" => Instr::Wait {
                dst: None,
                place: self.place(arg(1)),
                values: vec![self.operand(arg(2))],
                ord: read_ord(mode()),
            },
            "bcas" => Instr::Bcas {
                place: self.place(arg(1)),
                expected: self.operand(arg(2)),
                new: self.operand(arg(3)),
                ord: rmw_ord(mode()),
            },
            "fence" => Instr::Fence(fence_ord(mode())),
            "bne" | "beq" => {
                let op = if ops[0] == "bne" {
                    BinOp::Ne
                } else {
                    BinOp::Eq
                };
                let (left, right) = (self.operand(arg(1)), self.operand(arg(2)));
                let skip: usize = arg(3).parse().expect("a number of instructions");
                Instr::Branch {
                    cond: Expr::Binary(op, left.into(), right.into()),
                    then: Pc::new(pc + 1 + skip),
                    otherwise: Pc::new(pc + 1),
                }
            }
            other => panic!("unknown operation {other}"),
        }
    }

    fn register(&mut self, name: &str) -> RegId {
        let found = self.registers.iter().position(|r| r.name == name);
        RegId::new(found.unwrap_or_else(|| {
            self.registers.push(Register {
                name: name.to_owned(),
                init: 0,
            });
            self.registers.len() - 1
        }))
    }

    fn place(&mut self, name: &str) -> Place {
        let locations = &mut self.program.locations;
        let found = locations.iter().position(|l| l.name == name);
        Place::Loc(LocId::new(found.unwrap_or_else(|| {
            locations.push(Location {
                name: name.to_owned(),
                kind: LocKind::Atomic,
                init: 0,
            });
            locations.len() - 1
        })))
    }

    fn operand(&mut self, text: &str) -> Expr {
        match text.parse::<Value>() {
            Ok(n) => Expr::Const(n.into()),
            Err(_) => Expr::Reg(self.register(text)),
        }
    }
}

fn read_ord(text: &str) -> ReadOrd {
    match text {
        "rlx" => ReadOrd::Relaxed,
        "acq" => ReadOrd::Acquire,
        "sc" => ReadOrd::SeqCst,
        _ => panic!("not an order of reads: {text}"),
    }
}

fn write_ord(text: &str) -> WriteOrd {
    match text {
        "rlx" => WriteOrd::Relaxed,
        "rel" => WriteOrd::Release,
        "sc" => WriteOrd::SeqCst,
        _ => panic!("not an order of writes: {text}"),
    }
}

fn rmw_ord(text: &str) -> RmwOrd {
    match text {
        "rlx" => RmwOrd::Relaxed,
        "acq" => RmwOrd::Acquire,
        "rel" => RmwOrd::Release,
        "ar" | "acqrel" => RmwOrd::AcqRel,
        "sc" => RmwOrd::SeqCst,
        _ => panic!("not an order of RMWs: {text}"),
    }
}

fn fence_ord(text: &str) -> FenceOrd {
    match text {
        "acq" => FenceOrd::Acquire,
        "rel" => FenceOrd::Release,
        "ar" | "acqrel" => FenceOrd::AcqRel,
        "sc" => FenceOrd::SeqCst,
        _ => panic!("not an order of fences: {text}"),
    }
}

/// Reads a conjunction like `0:r0=1 & x=2`.
pub(crate) fn conjunction(program: &Program, text: &str) -> Prop {
    let atoms = text.split('&').map(|atom| {
        let (what, value) = atom.split_once('=').expect("observable=value");
        let what = what.trim();
        let observable = match what.split_once(':') {
            Some((t, r)) => {
                let t: usize = t.parse().expect("a thread number");
                Observable::Reg(ThreadId::new(t), reg(program, t, r))
            }
            None => Observable::Loc(loc(program, what)),
        };
        let value = value.trim().parse().expect("a value");
        Prop::Atom(Atom::Is(observable, value))
    });
    atoms
        .reduce(|p, q| Prop::And(p.into(), q.into()))
        .unwrap_or(Prop::True)
}
