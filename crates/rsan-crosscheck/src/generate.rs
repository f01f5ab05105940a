//! Random programs.

use crate::{Profile, Random, mutate};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Location, Model, Pc, Place,
    Program, ReadOrd, RegId, Register, RmwOp, RmwOrd, Span, Start, Thread, ThreadId, WriteOrd,
};

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) profile: Profile,
    pub(crate) model: Model,
    pub(crate) atomics: usize,
    pub(crate) plain: usize,
}

/// A random program for a model.
pub fn generate(random: &mut Random, profile: Profile, model: Model) -> Program {
    if profile == Profile::Litmus {
        return mutate::mutant(random, model);
    }
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
        let mut program = self.declarations();
        let longest = match self.profile {
            // So that a thread can be repeated.
            Profile::Twins => longest.min(total / threads),
            _ => longest,
        };
        let mut left = total;
        for t in 0..threads {
            let reserved = threads - t - 1;
            let length = self.random.between(2, longest).min(left - reserved);
            let thread = match program.threads.last() {
                Some(twin) if self.profile == Profile::Twins && self.random.chance(70) => {
                    twin.clone()
                }
                _ => self.thread(t, length),
            };
            left -= thread.code.len();
            program.threads.push(thread);
        }
        if self.profile == Profile::Spawning {
            self.add_spawns(&mut program);
        }
        program
    }

    /// A program with the locations, and no threads yet.
    pub(crate) fn declarations(&self) -> Program {
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
        initial_thread(t, registers, code)
    }

    /// `None` stands for a branch, whose targets are not known yet.
    pub(crate) fn instr(&mut self, index: usize, registers: usize) -> Option<Instr> {
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

    pub(crate) fn plain_access(&mut self, dst: RegId, registers: usize) -> Instr {
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

    pub(crate) fn branch(&mut self, at: usize, end: usize, registers: usize) -> Instr {
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

    pub(crate) fn small(&mut self) -> i64 {
        self.random.below(3) as i64
    }

    /// Mostly a constant, sometimes a register.
    pub(crate) fn operand(&mut self, registers: usize) -> Expr {
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

    pub(crate) fn read_ord(&mut self) -> ReadOrd {
        if self.is_sc() {
            return ReadOrd::SeqCst;
        }
        self.random.pick(&[ReadOrd::Relaxed, ReadOrd::Acquire])
    }

    pub(crate) fn write_ord(&mut self) -> WriteOrd {
        if self.is_sc() {
            return WriteOrd::SeqCst;
        }
        self.random.pick(&[WriteOrd::Relaxed, WriteOrd::Release])
    }

    pub(crate) fn rmw_ord(&mut self) -> RmwOrd {
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

    pub(crate) fn fence_ord(&mut self) -> FenceOrd {
        if (self.profile == Profile::Fences || self.random.chance(40)) && self.random.chance(70) {
            return FenceOrd::SeqCst;
        }
        self.random.pick(&FenceOrd::ALL)
    }
}

fn name(l: usize) -> String {
    ["x", "y", "z", "w", "v", "u"][l].to_owned()
}

/// Thread `t`, which runs from the beginning.
pub(crate) fn initial_thread(t: usize, registers: usize, code: Vec<Instr>) -> Thread {
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
