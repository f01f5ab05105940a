//! One thread: each instruction becomes a few operations.

use crate::compile::assertion_name;
use crate::{After, Form, Rmw, Table};
use rsan_model::machine::{self, Op, Strength, address};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, Instr, LocId, Pc, Place, Program, ReadOrd, RegId, Register,
    RmwOp, RmwOrd, Span, Thread, ThreadId, WriteOrd,
};

/// Locations that tell about spawned threads, by thread.
pub(crate) struct Flags {
    /// Set by the spawn; `None` if the thread runs from the beginning.
    pub(crate) start: Vec<Option<LocId>>,
    /// Set by the thread when it ends; `None` if nobody joins it.
    pub(crate) end: Vec<Option<LocId>>,
}

/// A thread as the machine runs it.
pub(crate) fn lower(
    program: &Program,
    id: ThreadId,
    thread: &Thread,
    table: &Table,
    flags: &Flags,
    spurious: bool,
) -> machine::Thread {
    let mut lowering = Lowering {
        domain: program.domain,
        table,
        flags,
        spurious,
        registers: thread.registers.clone(),
        code: Vec::new(),
        origins: Vec::new(),
        origin: 0,
    };
    let behind = thread.code.len() as u32;
    if let Some(start) = flags.start[id.index()] {
        lowering.origin = behind;
        lowering.wait_for_flag(start);
    }
    // Until the positions of all instructions are known, a target is a program counter, marked.
    let mut starts = Vec::new();
    for (pc, instr) in thread.code.iter().enumerate() {
        starts.push(lowering.code.len());
        lowering.origin = pc as u32;
        lowering.instr(instr, Pc::new(pc));
        if lowering.code.len() == starts[pc] {
            // So that each instruction has a place.
            lowering.jump(Pc::new(pc + 1));
        }
    }
    starts.push(lowering.code.len());
    if let Some(end) = flags.end[id.index()] {
        lowering.origin = behind + 1;
        lowering.store(address_of(end), Expr::Const(1), WriteOrd::Release);
    }
    starts.push(lowering.code.len());
    for op in &mut lowering.code {
        resolve_targets(op, &starts);
    }
    let span = |&pc: &u32| {
        thread
            .spans
            .get(pc as usize)
            .copied()
            .unwrap_or(Span::default())
    };
    machine::Thread {
        name: thread.name.clone(),
        spans: lowering.origins.iter().map(span).collect(),
        registers: lowering.registers,
        code: lowering.code,
        origins: lowering.origins,
    }
}

/// Added to a program counter that stands for a target.
const MARK: usize = 1 << 40;
/// The target at which a thread tells that it has ended.
const END: usize = usize::MAX - 1;
/// The target behind that.
const DEAD: usize = usize::MAX;

fn resolve_targets(op: &mut Op, starts: &[usize]) {
    let (dead, end) = (starts.len() - 1, starts.len() - 2);
    let resolve = |target: &mut usize| match *target {
        DEAD => *target = starts[dead],
        END => *target = starts[end],
        pc if pc >= MARK => *target = starts[(pc - MARK).min(end)],
        _ => {}
    };
    match op {
        Op::Branch { target, .. } | Op::Jump { target } => resolve(target),
        Op::Choose { targets } => targets.iter_mut().for_each(resolve),
        Op::Assign { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::StoreExclusive { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Await(_) => {}
    }
}

struct Lowering<'p> {
    domain: Domain,
    table: &'p Table,
    flags: &'p Flags,
    spurious: bool,
    registers: Vec<Register>,
    code: Vec<Op>,
    origins: Vec<u32>,
    origin: u32,
}

impl Lowering<'_> {
    fn push(&mut self, op: Op) {
        self.code.push(op);
        self.origins.push(self.origin);
    }

    fn fence(&mut self, fence: Option<machine::Fence>) {
        if let Some(fence) = fence {
            self.push(Op::Fence(fence));
        }
    }

    /// A register that no source names.
    fn temporary(&mut self) -> RegId {
        let id = RegId::new(self.registers.len());
        self.named(format!("<{id}>"));
        id
    }

    fn named(&mut self, name: String) -> RegId {
        self.registers.push(Register { name, init: 0 });
        RegId::new(self.registers.len() - 1)
    }

    fn assign(&mut self, dst: RegId, value: Expr) {
        self.push(Op::Assign { dst, value });
    }

    /// The value of an expression once it is in a register or a location.
    fn wrapped(&self, value: &Expr) -> Expr {
        match self.domain {
            Domain::Int32 => value.clone(),
            Domain::Modulo(m) => {
                let m = || Expr::Const(i64::from(m));
                let rest = binary(BinOp::Rem, value.clone(), m());
                binary(BinOp::Rem, binary(BinOp::Add, rest, m()), m())
            }
        }
    }

    /// The same, evaluated now: for comparisons with values in memory, and before a register changes.
    fn evaluated(&mut self, value: &Expr) -> Expr {
        if let Expr::Const(n) = value {
            return Expr::Const(i64::from(self.domain.wrap(*n)));
        }
        let register = self.temporary();
        let value = self.wrapped(value);
        self.assign(register, value);
        Expr::Reg(register)
    }

    fn instr(&mut self, instr: &Instr, pc: Pc) {
        match instr {
            Instr::Load { dst, place, ord } => self.load(*dst, address_at(place), *ord),
            Instr::PlainLoad { dst, place } => {
                self.load(*dst, address_at(place), ReadOrd::Relaxed);
            }
            Instr::Store { place, value, ord } => {
                let value = self.wrapped(value);
                self.store(address_at(place), value, *ord);
            }
            Instr::PlainStore { place, value } => {
                let value = self.wrapped(value);
                self.store(address_at(place), value, WriteOrd::Relaxed);
            }
            Instr::Rmw { .. } => self.rmw(instr),
            Instr::Cas { .. } => self.cas(instr),
            Instr::Wait { .. } => self.wait(instr),
            Instr::Bcas { .. } => self.blocking_cas(instr),
            Instr::Fence(ord) => self.fence(self.table.fence(*ord)),
            Instr::Assign { dst, value } => {
                let value = self.wrapped(value);
                self.assign(*dst, value);
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                self.push(Op::Branch {
                    condition: cond.clone(),
                    target: target(*then),
                });
                if otherwise.0 != pc.0 + 1 {
                    self.jump(*otherwise);
                }
            }
            Instr::Jump(to) => self.jump(*to),
            Instr::Choose(targets) => {
                let targets = targets.iter().map(|&to| target(to)).collect();
                self.push(Op::Choose { targets });
            }
            Instr::Assert(e) => self.assert(e, pc),
            Instr::Assume(e) => self.push(Op::Await(e.clone())),
            Instr::Observe(_) => {}
            Instr::Spawn(other) => {
                let flag =
                    self.flags.start[other.index()].expect("only spawned threads are spawned");
                self.store(address_of(flag), Expr::Const(1), WriteOrd::Release);
            }
            Instr::Join(other) => {
                let flag =
                    self.flags.end[other.index()].expect("a thread that is joined has a flag");
                self.wait_for_flag(flag);
            }
            Instr::Halt => self.push(Op::Jump { target: END }),
        }
    }

    fn jump(&mut self, to: Pc) {
        self.push(Op::Jump { target: target(to) });
    }

    /// A failed one ends the thread without telling those who join it.
    fn assert(&mut self, e: &Expr, pc: Pc) {
        let failed = self.named(assertion_name(pc));
        self.push(Op::Branch {
            condition: e.clone(),
            target: target(Pc(pc.0 + 1)),
        });
        self.assign(failed, Expr::Const(1));
        self.push(Op::Jump { target: DEAD });
    }

    fn load(&mut self, dst: RegId, address: Expr, ord: ReadOrd) {
        let row = self.table.load(ord);
        self.fence(row.before);
        self.push(Op::Load {
            dst,
            address,
            strength: row.strength,
            exclusive: false,
        });
        self.after(dst, row.after);
    }

    fn after(&mut self, read: RegId, after: After) {
        let fence = match after {
            After::Nothing => return,
            After::Fence(fence) => fence,
            After::BranchAndFence(fence) => {
                let target = self.code.len() + 1;
                self.push(Op::Branch {
                    condition: Expr::Reg(read),
                    target,
                });
                fence
            }
        };
        self.push(Op::Fence(fence));
    }

    fn store(&mut self, address: Expr, value: Expr, ord: WriteOrd) {
        let row = self.table.store(ord);
        self.fence(row.before);
        let strength = row.strength;
        if row.exchange {
            let dst = self.temporary();
            self.push(Op::Update {
                dst,
                returns: false,
                address,
                condition: None,
                value,
                read: Strength::default(),
                write: strength,
            });
        } else {
            self.push(Op::Store {
                address,
                value,
                strength,
            });
        }
        self.fence(row.after);
    }

    fn wait_for_flag(&mut self, flag: LocId) {
        let seen = self.temporary();
        self.load(seen, address_of(flag), ReadOrd::Acquire);
        self.push(Op::Await(Expr::Reg(seen)));
    }

    fn wait(&mut self, instr: &Instr) {
        let Instr::Wait {
            dst,
            place,
            values,
            ord,
        } = instr
        else {
            unreachable!("a wait");
        };
        let values: Vec<Expr> = values.iter().map(|v| self.evaluated(v)).collect();
        let seen = self.temporary();
        self.load(seen, address_at(place), *ord);
        let passes = values
            .into_iter()
            .map(|v| binary(BinOp::Eq, Expr::Reg(seen), v))
            .reduce(|a, b| binary(BinOp::Or, a, b));
        self.push(Op::Await(passes.unwrap_or(Expr::Const(0))));
        if let Some(dst) = dst {
            self.assign(*dst, Expr::Reg(seen));
        }
    }

    fn rmw(&mut self, instr: &Instr) {
        let Instr::Rmw {
            dst,
            place,
            op,
            operand,
            ord,
        } = instr
        else {
            unreachable!("a read-modify-write");
        };
        let row = self.table.rmw(*ord);
        let old = self.temporary();
        let value = self.wrapped(&new_value(*op, old, operand));
        self.fence(row.before);
        self.update(&row, old, &address_at(place), None, value);
        self.after(old, row.after);
        if let Some(dst) = dst {
            self.assign(*dst, Expr::Reg(old));
        }
    }

    /// Reads and writes; by exclusives, the attempt that succeeds. With a `condition` it writes only if that holds, and by
    /// exclusives has no executions otherwise.
    fn update(&mut self, row: &Rmw, old: RegId, at: &Expr, condition: Option<Expr>, value: Expr) {
        let address = at.clone();
        match row.form {
            Form::Instruction => self.push(Op::Update {
                dst: old,
                returns: true,
                address,
                condition,
                value,
                read: row.read,
                write: row.write,
            }),
            Form::Exclusives(success) => {
                self.load_exclusive(row, old, at);
                if let Some(condition) = condition {
                    self.push(Op::Await(condition));
                }
                let done = self.store_exclusive(row, success, at, value);
                self.push(Op::Await(done));
            }
        }
    }

    fn load_exclusive(&mut self, row: &Rmw, dst: RegId, at: &Expr) {
        self.push(Op::Load {
            dst,
            address: at.clone(),
            strength: row.read,
            exclusive: true,
        });
    }

    /// Whether it succeeded.
    fn store_exclusive(&mut self, row: &Rmw, success: i32, at: &Expr, value: Expr) -> Expr {
        let status = self.temporary();
        self.push(Op::StoreExclusive {
            status: Some(status),
            on_success: success,
            address: at.clone(),
            value,
            strength: row.write,
        });
        binary(
            BinOp::Eq,
            Expr::Reg(status),
            Expr::Const(i64::from(success)),
        )
    }

    fn blocking_cas(&mut self, instr: &Instr) {
        let Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } = instr
        else {
            unreachable!("a blocking compare-and-swap");
        };
        let row = self.table.cas(*ord);
        let expected = self.evaluated(expected);
        let new = self.wrapped(new);
        let old = self.temporary();
        let found = binary(BinOp::Eq, Expr::Reg(old), expected);
        self.fence(row.before);
        self.update(&row, old, &address_at(place), Some(found.clone()), new);
        if row.form == Form::Instruction {
            self.push(Op::Await(found));
        }
        self.after(old, row.after);
    }

    fn cas(&mut self, instr: &Instr) {
        let Instr::Cas {
            place,
            expected,
            new,
            strength,
            ord,
            fail,
            dst,
            success,
        } = instr
        else {
            unreachable!("a compare-and-swap");
        };
        let row = self.table.cas(merged(*ord, *fail));
        let at = address_at(place);
        let expected = self.evaluated(expected);
        let new = self.wrapped(new);
        let old = self.temporary();
        let done = self.temporary();
        let found = binary(BinOp::Eq, Expr::Reg(old), expected);
        let weak = *strength == CasStrength::Weak;
        self.fence(row.before);
        match row.form {
            Form::Instruction => {
                self.cas_instruction(&row, (old, done), &at, found, new, weak && self.spurious);
                self.after(old, row.after);
            }
            Form::Exclusives(status) => {
                self.load_exclusive(&row, old, &at);
                let to_fail = self.branch_later(negated(found));
                let stored = self.store_exclusive(&row, status, &at, new);
                let also_to_fail = if weak {
                    Some(self.branch_later(negated(stored)))
                } else {
                    self.push(Op::Await(stored));
                    None
                };
                self.assign(done, Expr::Const(1));
                if fail.acquires() {
                    let skip = self.jump_later();
                    self.land(to_fail);
                    also_to_fail.into_iter().for_each(|at| self.land(at));
                    self.assign(done, Expr::Const(0));
                    self.land(skip);
                    self.after(old, row.after);
                } else {
                    self.after(old, row.after);
                    let skip = self.jump_later();
                    self.land(to_fail);
                    also_to_fail.into_iter().for_each(|at| self.land(at));
                    self.assign(done, Expr::Const(0));
                    self.land(skip);
                }
            }
        }
        if let Some(success) = success {
            self.assign(*success, Expr::Reg(done));
        }
        if let Some(dst) = dst {
            self.assign(*dst, Expr::Reg(old));
        }
    }

    /// A compare-and-swap that is one instruction, with registers for the old value and for success. With `spurious` it may fail
    /// although the value is there.
    fn cas_instruction(
        &mut self,
        row: &Rmw,
        (old, done): (RegId, RegId),
        at: &Expr,
        found: Expr,
        new: Expr,
        spurious: bool,
    ) {
        let choice = self.code.len();
        if spurious {
            self.push(Op::Choose {
                targets: vec![choice + 1],
            });
        }
        self.update(row, old, at, Some(found.clone()), new.clone());
        self.assign(done, found);
        if spurious {
            let skip = self.jump_later();
            let other = self.code.len();
            if let Op::Choose { targets } = &mut self.code[choice] {
                targets.push(other);
            }
            self.update(row, old, at, Some(Expr::Const(0)), new);
            self.assign(done, Expr::Const(0));
            self.land(skip);
        }
    }

    /// A branch whose target is the next [`Lowering::land`].
    fn branch_later(&mut self, condition: Expr) -> usize {
        self.push(Op::Branch {
            condition,
            target: 0,
        });
        self.code.len() - 1
    }

    fn jump_later(&mut self) -> usize {
        self.push(Op::Jump { target: 0 });
        self.code.len() - 1
    }

    /// The jump at this index leads here.
    fn land(&mut self, at: usize) {
        let here = self.code.len();
        if let Op::Branch { target, .. } | Op::Jump { target } = &mut self.code[at] {
            *target = here;
        }
    }
}

fn target(pc: Pc) -> usize {
    MARK + pc.index()
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, a.into(), b.into())
}

fn negated(e: Expr) -> Expr {
    Expr::Unary(rsan_model::UnOp::Not, e.into())
}

fn address_of(loc: LocId) -> Expr {
    Expr::Const(i64::from(address(loc)))
}

/// The address of a place; of an element outside of its array, 0.
fn address_at(place: &Place) -> Expr {
    let (base, len, index) = match place {
        Place::Loc(loc) => return address_of(*loc),
        Place::Element { base, len, index } => (*base, *len, index),
    };
    if let Some(n) = index.as_const() {
        let inside = (0..i64::from(len)).contains(&n);
        return if inside {
            address_of(LocId(base.0 + n as u32))
        } else {
            Expr::Const(0)
        };
    }
    let stride = Expr::Const(i64::from(address(LocId(1)) - address(LocId(0))));
    let element = binary(
        BinOp::Add,
        address_of(base),
        binary(BinOp::Mul, index.clone(), stride),
    );
    let inside = binary(
        BinOp::And,
        binary(BinOp::Ge, index.clone(), Expr::Const(0)),
        binary(BinOp::Lt, index.clone(), Expr::Const(i64::from(len))),
    );
    Expr::If(inside.into(), element.into(), Expr::Const(0).into())
}

/// What a read-modify-write writes.
fn new_value(op: RmwOp, old: RegId, operand: &Expr) -> Expr {
    let op = match op {
        RmwOp::Exchange => return operand.clone(),
        RmwOp::Add => BinOp::Add,
        RmwOp::Sub => BinOp::Sub,
        RmwOp::And => BinOp::BitAnd,
        RmwOp::Or => BinOp::BitOr,
        RmwOp::Xor => BinOp::BitXor,
    };
    binary(op, Expr::Reg(old), operand.clone())
}

/// The order that a compare-and-swap is done with: the weakest that is at least that of success and that of failure.
fn merged(ord: RmwOrd, fail: ReadOrd) -> RmwOrd {
    match (ord, fail) {
        (RmwOrd::SeqCst, _) | (_, ReadOrd::SeqCst) => RmwOrd::SeqCst,
        (ord, ReadOrd::Relaxed) => ord,
        (RmwOrd::Relaxed | RmwOrd::Acquire, ReadOrd::Acquire) => RmwOrd::Acquire,
        (RmwOrd::Release | RmwOrd::AcqRel, ReadOrd::Acquire) => RmwOrd::AcqRel,
    }
}
