//! The accesses of a cycle, and what their threads do between them, as a straight-line program.

use rsan_model::{
    BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Location, Place, Program,
    RegId, Register, RmwOp, RmwOrd, Span, Start, Thread,
};
use std::collections::BTreeMap;

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Act {
    /// Not atomic.
    PlainLoad,
    /// Not atomic.
    PlainStore,
    Load,
    Store,
    Rmw,
    /// A compare-and-swap that finds another value.
    Failed,
    /// A compare-and-swap that finds its value, and fails nevertheless.
    Spurious,
    Fence,
    /// What follows depends on what [`Step::address`] names.
    Branch,
}

impl Act {
    /// Whether it reads a location.
    pub(crate) fn reads(self) -> bool {
        match self {
            Self::PlainLoad | Self::Load | Self::Rmw | Self::Failed | Self::Spurious => true,
            Self::PlainStore | Self::Store | Self::Fence | Self::Branch => false,
        }
    }

    /// Whether it writes a location.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::PlainStore | Self::Store | Self::Rmw)
    }
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Step {
    pub(crate) act: Act,
    /// Of it only the halves that apply count.
    pub(crate) order: RmwOrd,
    /// A number; fences and branches have none.
    pub(crate) location: u32,
    /// The steps of the thread from whose values its location was computed, or its decision.
    pub(crate) address: Vec<usize>,
    /// The same for the value that it writes.
    pub(crate) value: Vec<usize>,
}

impl Step {
    /// A step that depends on none.
    pub(crate) fn new(act: Act, order: RmwOrd, location: u32) -> Self {
        Self {
            act,
            order,
            location,
            address: Vec::new(),
            value: Vec::new(),
        }
    }

    /// A seq_cst fence.
    pub(crate) fn full_fence() -> Self {
        Self::new(Act::Fence, RmwOrd::SeqCst, 0)
    }
}

/// A thread and a step of it.
pub(crate) type At = (usize, usize);

/// How the memory orders two accesses of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Order {
    /// The second reads what the first writes.
    Rf,
    /// Both write, and the second does later.
    Mo,
    /// The first reads something older than what the second writes.
    Fr,
}

/// What has to be found: threads, and how the memory orders their accesses.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) threads: Vec<Vec<Step>>,
    pub(crate) wanted: Vec<(At, Order, At)>,
}

impl Shape {
    /// A step of it.
    pub(crate) fn step(&self, (thread, step): At) -> &Step {
        &self.threads[thread][step]
    }

    /// The same with locations numbered as they come: shapes that differ in names only are one.
    pub(crate) fn normal(mut self) -> Self {
        let mut numbers = BTreeMap::new();
        for step in self.threads.iter_mut().flatten() {
            let is_access = step.act.reads() || step.act.writes();
            let next = numbers.len() as u32;
            step.location = match is_access {
                true => *numbers.entry(step.location).or_insert(next),
                false => 0,
            };
        }
        self.wanted.sort_unstable();
        self.wanted.dedup();
        self
    }

    /// How many locations there are, as they are numbered.
    pub(crate) fn locations(&self) -> u32 {
        let steps = self.threads.iter().flatten();
        steps.map(|step| step.location + 1).max().unwrap_or(0)
    }

    /// In how many ways a thread may read at most: what each read finds is the initial value, or one that a step writes.
    pub(crate) fn ways(&self) -> u64 {
        let all = self.threads.iter().flatten();
        let writes = |location| {
            let there = |step: &&Step| step.act.writes() && step.location == location;
            1 + all.clone().filter(there).count() as u64
        };
        let thread = |steps: &Vec<Step>| {
            let reads = steps.iter().filter(|step| step.act.reads());
            let ways = reads.map(|step| writes(step.location));
            ways.fold(1, u64::saturating_mul)
        };
        self.threads.iter().map(thread).max().unwrap_or(0)
    }

    /// As a program in which every write writes another value and every step has a register; the number of an instruction is
    /// that of its step.
    pub(crate) fn program(&self) -> Program {
        let mut value = 0;
        let threads = self.threads.iter().map(|steps| {
            let code = steps.iter().enumerate().map(|(index, step)| {
                value += 1;
                step.instruction(value, RegId::new(index))
            });
            code.collect()
        });
        straight_line("cycle", self.locations(), threads)
    }
}

/// Threads without jumps over so many atomic locations; each instruction has a register of its number.
pub(crate) fn straight_line(
    name: &str,
    locations: u32,
    threads: impl Iterator<Item = Vec<Instr>>,
) -> Program {
    let mut program = Program::new(name, Domain::Int32);
    let location = |number| Location {
        name: format!("x{number}"),
        kind: LocKind::Atomic,
        init: 0,
    };
    program.locations = (0..locations).map(location).collect();
    for (number, code) in threads.enumerate() {
        let registers = (0..code.len()).map(|step| Register {
            name: format!("r{step}"),
            init: 0,
        });
        program.threads.push(Thread {
            name: format!("P{number}"),
            start: Start::Initial,
            registers: registers.collect(),
            spans: vec![Span::default(); code.len()],
            code,
        });
    }
    program
}

/// Nothing, computed from what these steps read.
fn nothing(steps: &[usize]) -> Expr {
    let terms = steps.iter().map(|step| {
        let register = || Box::new(Expr::Reg(RegId::new(*step)));
        Expr::Binary(BinOp::Sub, register(), register())
    });
    let sum = |sum, term| Expr::Binary(BinOp::Add, Box::new(sum), Box::new(term));
    terms.fold(Expr::Const(0), sum)
}

impl Step {
    fn place(&self) -> Place {
        let base = LocId(self.location);
        match self.address.as_slice() {
            [] => Place::Loc(base),
            steps => Place::Element {
                base,
                len: 1,
                index: nothing(steps),
            },
        }
    }

    fn instruction(&self, value: i64, dst: RegId) -> Instr {
        let place = self.place();
        let written = match self.value.as_slice() {
            [] => Expr::Const(value),
            steps => {
                let value = Box::new(Expr::Const(value));
                Expr::Binary(BinOp::Add, value, Box::new(nothing(steps)))
            }
        };
        match self.act {
            Act::PlainLoad => Instr::PlainLoad { dst, place },
            Act::PlainStore => Instr::PlainStore {
                place,
                value: written,
            },
            Act::Load => Instr::Load {
                dst,
                place,
                ord: self.order.read(),
            },
            Act::Store => Instr::Store {
                place,
                value: written,
                ord: self.order.write(),
            },
            Act::Rmw => Instr::Rmw {
                dst: Some(dst),
                place,
                op: RmwOp::Exchange,
                operand: written,
                ord: self.order,
            },
            Act::Failed | Act::Spurious => Instr::Cas {
                dst: Some(dst),
                success: None,
                place,
                // No step writes a negative value, and nobody writes where it is asked whether one fails spuriously.
                expected: Expr::Const(if self.act == Act::Failed { -1 } else { 0 }),
                new: written,
                ord: self.order,
                fail: self.order.read(),
                strength: CasStrength::Weak,
            },
            Act::Fence => Instr::Fence(match self.order {
                RmwOrd::Relaxed | RmwOrd::Acquire => FenceOrd::Acquire,
                RmwOrd::Release => FenceOrd::Release,
                RmwOrd::AcqRel => FenceOrd::AcqRel,
                RmwOrd::SeqCst => FenceOrd::SeqCst,
            }),
            Act::Branch => {
                let decides = Box::new(nothing(&self.address));
                Instr::Assume(Expr::Binary(BinOp::Eq, decides, Box::new(Expr::Const(0))))
            }
        }
    }
}
