//! Random programs.

use crate::Random;
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Location, Model, Pc, Place,
    Program, ReadOrd, RegId, Register, RmwOp, RmwOrd, Span, Start, Thread, ThreadId, WriteOrd,
};

/// What random programs are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// All operations and orders, 2 or 3 threads.
    Mix,
    /// Longer threads.
    Big,
    /// Mostly waits, blocking and other compare-and-swaps, on few locations.
    Values,
    /// Many SC fences.
    Fences,
    /// Many seq_cst accesses (C20 only).
    SeqCst,
    /// seq_cst accesses only, but for a few (C20 only).
    Saturated,
    /// Plain accesses between atomics.
    Plain,
    /// A thread that creates and joins others.
    Spawning,
    /// Four threads.
    Wide,
    /// Threads with equal code.
    Twins,
}

impl Profile {
    /// The profiles that make sense for a model.
    pub fn of(model: Model) -> &'static [Self] {
        const WITHOUT: &[Profile] = &[
            Profile::Mix,
            Profile::Big,
            Profile::Values,
            Profile::Fences,
            Profile::Plain,
            Profile::Spawning,
            Profile::Wide,
            Profile::Twins,
        ];
        const WITH: &[Profile] = &[
            Profile::Mix,
            Profile::Big,
            Profile::Values,
            Profile::Fences,
            Profile::SeqCst,
            Profile::Saturated,
            Profile::Plain,
            Profile::Spawning,
            Profile::Wide,
            Profile::Twins,
        ];
        if model.has_sc_accesses() {
            WITH
        } else {
            WITHOUT
        }
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mix => "mix",
            Self::Big => "big",
            Self::Values => "values",
            Self::Fences => "fences",
            Self::SeqCst => "seq-cst",
            Self::Saturated => "saturated",
            Self::Plain => "plain",
            Self::Spawning => "spawning",
            Self::Wide => "wide",
            Self::Twins => "twins",
        }
    }

    /// Fewest and most threads, most instructions of a thread, and of all.
    fn size(self) -> (usize, usize, usize, usize) {
        match self {
            Self::Big => (2, 3, 5, 11),
            Self::Wide => (4, 4, 3, 9),
            Self::Twins => (3, 4, 3, 9),
            Self::Spawning => (2, 3, 4, 9),
            _ => (2, 3, 4, 9),
        }
    }

    /// Weights of: load, store, RMW, weak CAS, strong CAS, wait, BCAS, fence, branch, plain, assert.
    fn weights(self) -> [usize; 11] {
        match self {
            Self::Values => [14, 22, 10, 8, 16, 14, 12, 4, 2, 0, 1],
            Self::Fences => [26, 26, 8, 1, 2, 2, 2, 32, 2, 0, 1],
            Self::SeqCst => [32, 32, 10, 3, 5, 4, 3, 8, 2, 0, 1],
            Self::Saturated => [34, 34, 12, 3, 5, 3, 3, 4, 2, 0, 0],
            Self::Plain => [18, 18, 8, 2, 3, 4, 4, 10, 4, 30, 1],
            Self::Twins => [24, 24, 8, 2, 3, 4, 4, 10, 4, 16, 1],
            _ => [28, 28, 12, 3, 6, 6, 5, 9, 3, 0, 1],
        }
    }

    /// Percentage of accesses that are seq_cst.
    fn sc(self, model: Model) -> usize {
        match self {
            _ if !model.has_sc_accesses() => 0,
            Self::SeqCst => 55,
            Self::Saturated => 93,
            Self::Fences => 10,
            _ => 22,
        }
    }
}

struct Generator<'r> {
    random: &'r mut Random,
    profile: Profile,
    model: Model,
    atomics: usize,
    plain: usize,
}

/// A random program for a model.
pub fn generate(random: &mut Random, profile: Profile, model: Model) -> Program {
    let few = profile == Profile::Values || random.chance(50);
    let mut generator = Generator {
        atomics: if few {
            random.between(1, 2)
        } else {
            random.between(2, 4)
        },
        plain: if matches!(profile, Profile::Plain | Profile::Twins) {
            random.between(1, 2)
        } else {
            0
        },
        random,
        profile,
        model,
    };
    generator.program()
}

impl Generator<'_> {
    fn program(&mut self) -> Program {
        let (fewest, most, longest, total) = self.profile.size();
        let threads = self.random.between(fewest, most);
        let mut program = Program::new("random", Domain::Int32);
        for l in 0..self.atomics + self.plain {
            let plain = l >= self.atomics;
            program.locations.push(Location {
                name: if plain {
                    format!("d{}", l - self.atomics)
                } else {
                    name(l)
                },
                kind: if plain {
                    LocKind::Plain
                } else {
                    LocKind::Atomic
                },
                init: 0,
            });
        }
        let mut left = total;
        for t in 0..threads {
            let reserved = threads - t - 1;
            let length = self.random.between(2, longest).min(left - reserved);
            left -= length;
            match program.threads.last() {
                Some(twin) if self.profile == Profile::Twins && self.random.chance(70) => {
                    let twin = twin.clone();
                    left = (left + length)
                        .saturating_sub(twin.code.len())
                        .max(reserved);
                    program.threads.push(twin);
                }
                _ => program.threads.push(self.thread(t, length)),
            }
        }
        if self.profile == Profile::Spawning {
            self.add_spawns(&mut program);
        }
        program
    }

    fn thread(&mut self, t: usize, length: usize) -> Thread {
        let registers = length.max(1);
        let mut code = Vec::new();
        let mut branches = Vec::new();
        for i in 0..length {
            if let Some(instr) = self.instr(i, registers) {
                code.push(instr);
            } else {
                branches.push(code.len());
                code.push(Instr::Halt);
            }
        }
        let end = code.len();
        for at in branches {
            code[at] = self.branch(at, end, registers);
        }
        Thread {
            name: format!("P{t}"),
            start: Start::Initial,
            registers: (0..registers)
                .map(|r| Register {
                    name: format!("r{r}"),
                    init: 0,
                })
                .collect(),
            spans: vec![Span::default(); code.len()],
            code,
        }
    }

    /// `None` stands for a branch, whose targets are not known yet.
    fn instr(&mut self, index: usize, registers: usize) -> Option<Instr> {
        let place = Place::Loc(LocId::new(self.random.below(self.atomics)));
        let dst = RegId::new(index);
        let some = Some(dst);
        Some(match self.random.weighted(&self.profile.weights()) {
            0 => Instr::Load {
                dst,
                place,
                ord: self.read_ord(),
            },
            1 => Instr::Store {
                place,
                value: self.operand(registers),
                ord: self.write_ord(),
            },
            2 => Instr::Rmw {
                dst: some,
                place,
                op: self
                    .random
                    .pick(&[RmwOp::Add, RmwOp::Exchange, RmwOp::Add, RmwOp::Or]),
                operand: Expr::Const(self.small()),
                ord: self.rmw_ord(),
            },
            kind @ (3 | 4) => Instr::Cas {
                dst: some,
                success: None,
                place,
                expected: self.operand(registers),
                new: self.operand(registers),
                ord: self.rmw_ord(),
                fail: self.read_ord(),
                strength: if kind == 3 {
                    CasStrength::Weak
                } else {
                    CasStrength::Strong
                },
            },
            5 => Instr::Wait {
                dst: some,
                place,
                values: (0..self.random.between(1, 2))
                    .map(|_| self.operand(registers))
                    .collect(),
                ord: self.read_ord(),
            },
            6 => Instr::Bcas {
                place,
                expected: self.operand(registers),
                new: self.operand(registers),
                ord: self.rmw_ord(),
            },
            7 => Instr::Fence(self.fence_ord()),
            8 => return None,
            9 => self.plain_access(dst, registers),
            _ => Instr::Assert(Expr::Binary(
                BinOp::Ne,
                Expr::Reg(RegId::new(self.random.below(registers))).into(),
                Expr::Const(3).into(),
            )),
        })
    }

    fn plain_access(&mut self, dst: RegId, registers: usize) -> Instr {
        let place = Place::Loc(LocId::new(self.atomics + self.random.below(self.plain)));
        if self.random.chance(50) {
            Instr::PlainLoad { dst, place }
        } else {
            Instr::PlainStore {
                place,
                value: self.operand(registers),
            }
        }
    }

    fn branch(&mut self, at: usize, end: usize, registers: usize) -> Instr {
        let op = if self.random.chance(50) {
            BinOp::Eq
        } else {
            BinOp::Ne
        };
        Instr::Branch {
            cond: Expr::Binary(
                op,
                Expr::Reg(RegId::new(self.random.below(registers))).into(),
                Expr::Const(self.small()).into(),
            ),
            then: Pc::new(self.random.between(at + 1, end)),
            otherwise: Pc::new(at + 1),
        }
    }

    /// Makes thread 0 create the others somewhere, and perhaps join them.
    fn add_spawns(&mut self, program: &mut Program) {
        let straight = |t: &Thread| !t.code.iter().any(|i| matches!(i, Instr::Branch { .. }));
        if !straight(&program.threads[0]) {
            return;
        }
        for child in 1..program.threads.len() {
            program.threads[child].start = Start::Spawned;
            let child = ThreadId::new(child);
            let parent = &mut program.threads[0];
            let at = self.random.between(0, parent.code.len());
            parent.code.insert(at, Instr::Spawn(child));
            if self.random.chance(60) {
                let at = self.random.between(at + 1, parent.code.len());
                parent.code.insert(at, Instr::Join(child));
            }
            parent.spans = vec![Span::default(); parent.code.len()];
        }
    }

    fn small(&mut self) -> i64 {
        self.random.below(3) as i64
    }

    /// Mostly a constant, sometimes a register.
    fn operand(&mut self, registers: usize) -> Expr {
        if self.random.chance(15) {
            Expr::Reg(RegId::new(self.random.below(registers)))
        } else {
            Expr::Const(self.small())
        }
    }

    fn is_sc(&mut self) -> bool {
        let percent = self.profile.sc(self.model);
        self.random.chance(percent)
    }

    fn read_ord(&mut self) -> ReadOrd {
        if self.is_sc() {
            return ReadOrd::SeqCst;
        }
        self.random.pick(&[ReadOrd::Relaxed, ReadOrd::Acquire])
    }

    fn write_ord(&mut self) -> WriteOrd {
        if self.is_sc() {
            return WriteOrd::SeqCst;
        }
        self.random.pick(&[WriteOrd::Relaxed, WriteOrd::Release])
    }

    fn rmw_ord(&mut self) -> RmwOrd {
        if self.is_sc() {
            return RmwOrd::SeqCst;
        }
        self.random.pick(&[
            RmwOrd::Relaxed,
            RmwOrd::Acquire,
            RmwOrd::Release,
            RmwOrd::AcqRel,
        ])
    }

    fn fence_ord(&mut self) -> FenceOrd {
        if self.profile == Profile::Fences || self.random.chance(40) {
            if self.random.chance(70) {
                return FenceOrd::SeqCst;
            }
        }
        self.random.pick(&FenceOrd::ALL)
    }
}

fn name(l: usize) -> String {
    ["x", "y", "z", "w"][l].to_owned()
}
