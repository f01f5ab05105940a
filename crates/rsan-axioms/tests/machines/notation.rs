//! Programs of machines in a compact notation: `w x 1; full; r a y ‖ ...`.
//!
//! | operation | meaning |
//! |---|---|
//! | `w x 1`, `w.rel x 1` | store; `w x 1 @a`: the address depends on `a`, `w x 1 +a`: the value does |
//! | `r a x`, `r.acq`, `r.pc` | load into `a`, acquire, acquire as `ldapr`; `r b x @a`: the address depends on `a` |
//! | `lx a x`, `sx x 1` | load- and store-exclusive, with the same suffixes; `sx` succeeds; `try s x 1` may fail |
//! | `add a x 1`, `swap a x 1`, `add.acq.rel` | one instruction that reads and writes; `quiet x 1`: its result is not seen |
//! | `cas a x 0 1` | writes 1 if it reads 0 |
//! | `ctrl a` | a branch that depends on `a`; `pick c a b`: `c := a ? b : b` as a selection |
//! | `full`, `light`, `ww`, `ld`, `isync` | the machine's fences of that kind |

use rsan_model::machine::{
    Acquire, Fence, Kinds, Location, Machine, Op, Program, Strength, Thread, address,
};
use rsan_model::{
    Atom, BinOp, Condition, Expr, LocId, Observable, Prop, Quantifier, RegId, Register, Span,
    ThreadId,
};

/// Reads a program for a machine, and a condition like `0:a=1 1:b=0 x=2`.
pub(crate) fn program(text: &str, condition: &str, machine: Machine) -> Program {
    let mut reader = Reader {
        program: Program::new(text, machine),
        registers: Vec::new(),
        code: Vec::new(),
    };
    for thread in text.split('‖') {
        reader.thread(thread);
    }
    let atoms = condition.split_whitespace().map(|atom| reader.atom(atom));
    let prop = atoms.fold(Prop::True, |all, atom| {
        Prop::And(Box::new(all), Box::new(Prop::Atom(atom)))
    });
    reader.program.condition = Some(Condition {
        quantifier: Quantifier::Exists,
        prop,
    });
    reader.program
}

struct Reader {
    program: Program,
    registers: Vec<Register>,
    code: Vec<Op>,
}

impl Reader {
    fn thread(&mut self, text: &str) {
        let operations = text.split(';').map(str::trim).filter(|t| !t.is_empty());
        operations.for_each(|t| self.operation(t));
        let code = std::mem::take(&mut self.code);
        self.program.threads.push(Thread {
            name: format!("P{}", self.program.threads.len()),
            registers: std::mem::take(&mut self.registers),
            spans: vec![Span::default(); code.len()],
            origins: (0..code.len() as u32).collect(),
            code,
        });
    }

    fn operation(&mut self, text: &str) {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let depends = |words: &mut Vec<&str>, sign: char| {
            let found = words.iter().position(|w| w.starts_with(sign))?;
            Some(words.remove(found)[1..].to_owned())
        };
        let at = depends(&mut words, '@').map(|r| self.register(&r));
        let plus = depends(&mut words, '+').map(|r| self.register(&r));
        let marks: Vec<&str> = words[0].split('.').collect();
        let acquire = match () {
            () if marks.contains(&"acq") => Acquire::Sc,
            () if marks.contains(&"pc") => Acquire::Pc,
            () => Acquire::No,
        };
        let strength = Strength {
            acquire,
            release: marks.contains(&"rel"),
        };
        match marks[0] {
            "w" => {
                let (address, value) = (self.place(words[1], at), number(words[2], plus));
                self.code.push(Op::Store {
                    address,
                    value,
                    strength,
                });
            }
            "r" | "lx" => {
                let dst = self.register(words[1]);
                let address = self.place(words[2], at);
                self.code.push(Op::Load {
                    dst,
                    address,
                    strength,
                    exclusive: marks[0] == "lx",
                });
            }
            "sx" | "try" => {
                let fallible = marks[0] == "try";
                let status = self.register(if fallible { words[1] } else { "%status" });
                let rest = &words[usize::from(fallible)..];
                let (address, value) = (self.place(rest[1], at), number(rest[2], plus));
                self.code.push(Op::StoreExclusive {
                    status: Some(status),
                    on_success: 0,
                    address,
                    value,
                    strength,
                });
                if !fallible {
                    let succeeded = Expr::Unary(rsan_model::UnOp::Not, Expr::Reg(status).into());
                    self.code.push(Op::Await(succeeded));
                }
            }
            "ctrl" => {
                let condition = Expr::Reg(self.register(words[1]));
                let target = self.code.len() + 1;
                self.code.push(Op::Branch { condition, target });
            }
            "pick" => {
                let dst = self.register(words[1]);
                let [c, v] = [2, 3].map(|i| Expr::Reg(self.register(words[i])));
                let value = Expr::If(c.into(), v.clone().into(), v.into());
                self.code.push(Op::Assign { dst, value });
            }
            "add" | "swap" | "quiet" | "cas" => self.update(&marks, &words, strength, (at, plus)),
            fence => self.fence(fence),
        }
    }

    fn update(
        &mut self,
        marks: &[&str],
        words: &[&str],
        strength: Strength,
        (at, plus): (Option<RegId>, Option<RegId>),
    ) {
        let quiet = marks[0] == "quiet";
        let dst = self.register(if quiet { "%unseen" } else { words[1] });
        let rest = &words[usize::from(!quiet)..];
        let operand = number(rest[rest.len() - 1], plus);
        let sum = Expr::Binary(BinOp::Add, Expr::Reg(dst).into(), operand.clone().into());
        let expected = || number(rest[2], None);
        let same = |e: Expr| Expr::Binary(BinOp::Eq, Expr::Reg(dst).into(), e.into());
        let riscv = self.program.machine == Machine::Riscv;
        let address = self.place(rest[1], at);
        self.code.push(Op::Update {
            dst,
            returns: !quiet,
            address,
            condition: (marks[0] == "cas").then(|| same(expected())),
            value: match marks[0] {
                "swap" | "cas" => operand,
                _ => sum,
            },
            read: Strength {
                release: strength.release && riscv,
                ..strength
            },
            write: match riscv {
                true => strength,
                false => Strength {
                    acquire: Acquire::No,
                    ..strength
                },
            },
        });
    }

    fn fence(&mut self, name: &str) {
        let riscv = |before, after| Fence::Riscv { before, after };
        let (all, reads, writes) = (Kinds::All, Kinds::Reads, Kinds::Writes);
        let fences = match (name, self.program.machine) {
            (_, Machine::Sc) => vec![],
            ("full", Machine::X86) => vec![Fence::Mfence],
            (_, Machine::X86) => vec![],
            ("full", Machine::Armv8 | Machine::Armv7) => vec![Fence::Dmb(all)],
            ("full", Machine::Riscv) => vec![riscv(all, all)],
            ("full", Machine::Power) => vec![Fence::Sync],
            ("light", Machine::Armv8) => vec![Fence::Dmb(reads), Fence::Dmb(writes)],
            ("light", Machine::Armv7) => vec![Fence::Dmb(all)],
            ("light", Machine::Riscv) => vec![Fence::RiscvTso],
            ("light" | "ld", Machine::Power) => vec![Fence::Lwsync],
            ("ww", Machine::Armv8 | Machine::Armv7) => vec![Fence::Dmb(writes)],
            ("ww", Machine::Riscv) => vec![riscv(writes, writes)],
            ("ww", Machine::Power) => vec![Fence::Eieio],
            ("ld", Machine::Armv8) => vec![Fence::Dmb(reads)],
            ("ld", Machine::Armv7) => vec![Fence::Dmb(all)],
            ("ld", Machine::Riscv) => vec![riscv(reads, all)],
            ("isync", Machine::Armv8 | Machine::Armv7) => vec![Fence::Isb],
            ("isync", Machine::Riscv) => vec![Fence::RiscvI],
            ("isync", Machine::Power) => vec![Fence::Isync],
            other => panic!("unknown operation {other:?}"),
        };
        self.code.extend(fences.into_iter().map(Op::Fence));
    }

    fn place(&mut self, name: &str, depends: Option<RegId>) -> Expr {
        number(&address(self.location(name)).to_string(), depends)
    }

    fn location(&mut self, name: &str) -> LocId {
        let known = self.program.locations.iter().position(|l| l.name == name);
        LocId::new(known.unwrap_or_else(|| {
            let (name, init) = (name.to_owned(), 0);
            self.program.locations.push(Location { name, init });
            self.program.locations.len() - 1
        }))
    }

    fn register(&mut self, name: &str) -> RegId {
        let known = self.registers.iter().position(|r| r.name == name);
        RegId::new(known.unwrap_or_else(|| {
            let (name, init) = (name.to_owned(), 0);
            self.registers.push(Register { name, init });
            self.registers.len() - 1
        }))
    }

    fn atom(&mut self, text: &str) -> Atom {
        let (what, value) = text.split_once('=').expect("what=value");
        let observable = match what.split_once(':') {
            None => Observable::Loc(self.location(what)),
            Some((thread, name)) => {
                let t: usize = thread.parse().expect("the number of a thread");
                let registers = &self.program.threads[t].registers;
                let r = registers.iter().position(|r| r.name == name);
                let r = r.unwrap_or_else(|| panic!("no register {what}"));
                Observable::Reg(ThreadId::new(t), RegId::new(r))
            }
        };
        Atom::Is(observable, value.parse().expect("a value"))
    }
}

/// A number, which depends on a register if there is one.
fn number(text: &str, depends: Option<RegId>) -> Expr {
    let n = Expr::Const(text.parse().expect("a number"));
    match depends {
        None => n,
        Some(r) => {
            let r = || Box::new(Expr::Reg(r));
            let zero = Expr::Binary(BinOp::BitXor, r(), r());
            Expr::Binary(BinOp::Add, n.into(), zero.into())
        }
    }
}
