//! Programs for all machines.

use rsan_model::machine::{
    Acquire, Fence, Kinds, Location, Machine, Op, Program, Strength, Thread, address,
};
use rsan_model::{BinOp, Expr, LocId, Observable, RegId, Register, Span, ThreadId, UnOp, Value};
use std::fmt;

/// A program by what its parts are for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of locations; all start with 0.
    pub locations: usize,
    /// The threads.
    pub threads: Vec<Vec<Item>>,
}

/// A part of a thread. Each read and read-modify-write sets a register of its own, numbered from 0 in the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A load.
    Read {
        /// Where.
        loc: usize,
        /// Its order.
        acquire: Acquire,
        /// What it depends on.
        source: Option<Source>,
    },
    /// A store.
    Write {
        /// Where.
        loc: usize,
        /// What.
        value: Value,
        /// Its order.
        release: bool,
        /// What it depends on.
        source: Option<Source>,
    },
    /// An exchange.
    Swap {
        /// Where.
        loc: usize,
        /// What.
        value: Value,
        /// Order of its read.
        acquire: Acquire,
        /// Order of its write.
        release: bool,
        /// Whether it is one instruction where the machine has such.
        single: bool,
    },
    /// A fence.
    Fence(Barrier),
}

/// What an access depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// A register that an earlier read sets.
    pub register: usize,
    /// How.
    pub kind: Dependency,
}

/// How an access depends on a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependency {
    /// Its address.
    Addr,
    /// Its value; for writes.
    Data,
    /// A branch before it.
    Ctrl,
    /// A branch, and `isb` or `isync`.
    CtrlIsync,
}

/// A fence by what it orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// Everything.
    Full,
    /// Everything but a write and a later read.
    Light,
    /// Reads, and everything after them.
    Loads,
    /// Writes.
    Stores,
}

impl Shape {
    /// Number of registers that reads of a thread set.
    pub fn registers(&self, thread: usize) -> usize {
        let sets = |item: &&Item| matches!(item, Item::Read { .. } | Item::Swap { .. });
        self.threads[thread].iter().filter(sets).count()
    }

    /// Whether some item satisfies `f`.
    pub fn has(&self, f: impl Fn(&Item) -> bool) -> bool {
        self.threads.iter().flatten().any(f)
    }

    /// The program for a machine; all registers of reads and all locations are observed.
    pub fn compile(&self, machine: Machine) -> Program {
        let mut program = Program::new("shape", machine);
        program.locations = (0..self.locations)
            .map(|loc| Location {
                name: name(loc),
                init: 0,
            })
            .collect();
        for (t, items) in self.threads.iter().enumerate() {
            let mut code = Code {
                machine,
                ops: Vec::new(),
                next: 0,
                status: RegId::new(self.registers(t)),
            };
            items.iter().for_each(|item| code.item(item));
            let register = |r| Register {
                name: format!("r{r}"),
                init: 0,
            };
            program.threads.push(Thread {
                name: format!("P{t}"),
                registers: (0..=self.registers(t)).map(register).collect(),
                spans: vec![Span::default(); code.ops.len()],
                origins: (0..code.ops.len() as u32).collect(),
                code: code.ops,
            });
        }
        program.observed = self.observed();
        program
    }

    /// The registers of reads, then the locations.
    pub fn observed(&self) -> Vec<Observable> {
        let registers = (0..self.threads.len()).flat_map(|t| {
            let register = move |r| Observable::Reg(ThreadId::new(t), RegId::new(r));
            (0..self.registers(t)).map(register)
        });
        let locations = (0..self.locations).map(|l| Observable::Loc(LocId::new(l)));
        registers.chain(locations).collect()
    }

    /// The program in the compact notation of C's operations, with relaxed accesses and seq_cst fences for full ones.
    pub fn as_c(&self) -> String {
        let names: Vec<String> = (0..self.locations).map(|l| name(l) + "=0").collect();
        let threads = self.threads.iter().map(|items| {
            let mut next = 0..;
            let mut register = || next.next().expect("numbers do not end");
            let parts = items.iter().filter_map(|item| match *item {
                Item::Read { loc, .. } => Some(format!("ld.rlx r{} {}", register(), name(loc))),
                Item::Write { loc, value, .. } => Some(format!("st.rlx {} {value}", name(loc))),
                Item::Swap { loc, value, .. } => {
                    Some(format!("xchg.rlx r{} {} {value}", register(), name(loc)))
                }
                Item::Fence(Barrier::Full) => Some("fence.sc".to_owned()),
                Item::Fence(_) => None,
            });
            parts.collect::<Vec<_>>().join("; ")
        });
        let threads: Vec<String> = threads.collect();
        format!("init {}: {}", names.join(" "), threads.join(" ‖ "))
    }
}

fn name(loc: usize) -> String {
    ["x", "y", "z", "u", "v", "w"]
        .get(loc)
        .map_or_else(|| format!("x{loc}"), |&n| n.to_owned())
}

/// A thread as it is translated.
struct Code {
    machine: Machine,
    ops: Vec<Op>,
    next: usize,
    status: RegId,
}

impl Code {
    fn item(&mut self, item: &Item) {
        match *item {
            Item::Read {
                loc,
                acquire,
                source,
            } => {
                let address = self.place(loc, source);
                let dst = self.register();
                self.ops.push(Op::Load {
                    dst,
                    address,
                    strength: reading(acquire),
                    exclusive: false,
                });
            }
            Item::Write {
                loc,
                value,
                release,
                source,
            } => {
                let address = self.place(loc, source);
                let data = source.filter(|s| s.kind == Dependency::Data);
                self.ops.push(Op::Store {
                    address,
                    value: depending(value, data),
                    strength: writing(release),
                });
            }
            Item::Swap { .. } => self.swap(item),
            Item::Fence(barrier) => {
                let fences = fences(barrier, self.machine).iter();
                self.ops.extend(fences.map(|&f| Op::Fence(f)));
            }
        }
    }

    fn swap(&mut self, item: &Item) {
        let Item::Swap {
            loc,
            value,
            acquire,
            release,
            single,
        } = *item
        else {
            unreachable!("a swap")
        };
        let dst = self.register();
        let place = || Expr::Const(i64::from(address(LocId::new(loc))));
        let value = Expr::Const(i64::from(value));
        let both = Strength { acquire, release };
        let (read, write) = match self.machine {
            Machine::Riscv => (both, both),
            _ => (reading(acquire), writing(release)),
        };
        let instruction = match self.machine {
            Machine::Sc | Machine::X86 => true,
            Machine::Armv8 | Machine::Riscv => single,
            Machine::Armv7 | Machine::Power => false,
        };
        if instruction {
            self.ops.push(Op::Update {
                dst,
                returns: true,
                address: place(),
                condition: None,
                value,
                read,
                write,
            });
            return;
        }
        self.ops.push(Op::Load {
            dst,
            address: place(),
            strength: reading(acquire),
            exclusive: true,
        });
        self.ops.push(Op::StoreExclusive {
            status: Some(self.status),
            on_success: 0,
            address: place(),
            value,
            strength: writing(release),
        });
        let succeeded = Expr::Unary(UnOp::Not, Expr::Reg(self.status).into());
        self.ops.push(Op::Await(succeeded));
    }

    fn register(&mut self) -> RegId {
        self.next += 1;
        RegId::new(self.next - 1)
    }

    /// The address of a location, after the branch that the access depends on.
    fn place(&mut self, loc: usize, source: Option<Source>) -> Expr {
        if let Some(Source { register, kind }) = source
            && matches!(kind, Dependency::Ctrl | Dependency::CtrlIsync)
        {
            let condition = Expr::Reg(RegId::new(register));
            let target = self.ops.len() + 1;
            self.ops.push(Op::Branch { condition, target });
            let isync = match self.machine {
                Machine::Armv8 | Machine::Armv7 => Some(Fence::Isb),
                Machine::Power => Some(Fence::Isync),
                Machine::Sc | Machine::X86 | Machine::Riscv => None,
            };
            let isync = isync.filter(|_| kind == Dependency::CtrlIsync);
            self.ops.extend(isync.map(Op::Fence));
        }
        let addr = source.filter(|s| s.kind == Dependency::Addr);
        depending(address(LocId::new(loc)), addr)
    }
}

fn reading(acquire: Acquire) -> Strength {
    Strength {
        acquire,
        release: false,
    }
}

fn writing(release: bool) -> Strength {
    Strength {
        acquire: Acquire::No,
        release,
    }
}

/// A number, which depends on a register if there is one.
fn depending(n: Value, source: Option<Source>) -> Expr {
    let n = Expr::Const(i64::from(n));
    match source {
        None => n,
        Some(Source { register, .. }) => {
            let r = || Box::new(Expr::Reg(RegId::new(register)));
            let zero = Expr::Binary(BinOp::BitXor, r(), r());
            Expr::Binary(BinOp::Add, n.into(), zero.into())
        }
    }
}

/// The machine's fences of a kind.
fn fences(barrier: Barrier, machine: Machine) -> &'static [Fence] {
    const ALL: Fence = Fence::Dmb(Kinds::All);
    const LOADS: Fence = Fence::Dmb(Kinds::Reads);
    const STORES: Fence = Fence::Dmb(Kinds::Writes);
    const fn riscv(before: Kinds, after: Kinds) -> Fence {
        Fence::Riscv { before, after }
    }
    match (barrier, machine) {
        (_, Machine::Sc) => &[],
        (Barrier::Full, Machine::X86) => &[Fence::Mfence],
        (_, Machine::X86) => &[],
        (Barrier::Full, Machine::Armv8) => &[ALL],
        (Barrier::Light, Machine::Armv8) => &[LOADS, STORES],
        (Barrier::Loads, Machine::Armv8) => &[LOADS],
        (Barrier::Stores, Machine::Armv8 | Machine::Armv7) => &[STORES],
        (_, Machine::Armv7) => &[ALL],
        (Barrier::Full, Machine::Riscv) => const { &[riscv(Kinds::All, Kinds::All)] },
        (Barrier::Light, Machine::Riscv) => &[Fence::RiscvTso],
        (Barrier::Loads, Machine::Riscv) => const { &[riscv(Kinds::Reads, Kinds::All)] },
        (Barrier::Stores, Machine::Riscv) => const { &[riscv(Kinds::Writes, Kinds::Writes)] },
        (Barrier::Full, Machine::Power) => &[Fence::Sync],
        (Barrier::Light | Barrier::Loads, Machine::Power) => &[Fence::Lwsync],
        (Barrier::Stores, Machine::Power) => &[Fence::Eieio],
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (t, items) in self.threads.iter().enumerate() {
            let mut next = 0;
            let texts: Vec<String> = items.iter().map(|i| text(i, &mut next)).collect();
            let separator = if t == 0 { "" } else { " ‖ " };
            write!(f, "{separator}{}", texts.join("; "))?;
        }
        Ok(())
    }
}

/// An item; `next` is the register that it sets, if it sets one.
fn text(item: &Item, next: &mut usize) -> String {
    let acquire = |a| match a {
        Acquire::No => "",
        Acquire::Pc => ".pc",
        Acquire::Sc => ".acq",
    };
    let release = |r| if r { ".rel" } else { "" };
    let source = |s: Option<Source>| match s {
        None => String::new(),
        Some(Source { register, kind }) => match kind {
            Dependency::Addr => format!(" addr r{register}"),
            Dependency::Data => format!(" data r{register}"),
            Dependency::Ctrl => format!(" ctrl r{register}"),
            Dependency::CtrlIsync => format!(" ctrlisync r{register}"),
        },
    };
    let register = |next: &mut usize| {
        *next += 1;
        *next - 1
    };
    match *item {
        Item::Read {
            loc,
            acquire: a,
            source: s,
        } => format!(
            "r{} r{} {}{}",
            acquire(a),
            register(next),
            name(loc),
            source(s)
        ),
        Item::Write {
            loc,
            value,
            release: r,
            source: s,
        } => format!("w{} {} {value}{}", release(r), name(loc), source(s)),
        Item::Swap {
            loc,
            value,
            acquire: a,
            release: r,
            single,
        } => {
            let kind = if single { "swap" } else { "exclusive" };
            let set = register(next);
            format!(
                "{kind}{}{} r{set} {} {value}",
                acquire(a),
                release(r),
                name(loc)
            )
        }
        Item::Fence(barrier) => format!("{barrier:?}").to_lowercase(),
    }
}
