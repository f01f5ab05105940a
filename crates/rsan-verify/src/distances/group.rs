//! Which registers and locations hold values that are only moved and compared with each other.

use crate::facts::Facts;
use rsan_model::{BinOp, Domain, Expr, Instr, LocId, Pc, Place, Program, RegId, RmwOp, ThreadId};

/// Constants that are added, at most.
const LARGEST: i64 = 1 << 12;

/// Registers and locations whose values are moved between them, and compared with each other.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) locations: Vec<bool>,
    /// Per thread and register.
    pub(super) registers: Vec<Vec<bool>>,
    /// The first register of each thread, among those of all.
    pub(super) bases: Vec<usize>,
}

/// Where a value comes from: a register, among those of all threads, or a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Register(usize),
    Location(usize),
}

/// The first number that is no value.
pub(super) fn end(domain: Domain) -> i64 {
    match domain {
        Domain::Int32 => 1 << 31,
        Domain::Modulo(m) => i64::from(m),
    }
}

impl Group {
    /// The group of a location, if the program does nothing else with its values, and they change.
    pub(super) fn of(program: &Program, facts: &Facts, loc: LocId) -> Option<Self> {
        let threads = program.threads.iter();
        let mut base = 0;
        let mut group = Self {
            locations: vec![false; program.locations.len()],
            registers: (threads.clone())
                .map(|t| vec![false; t.registers.len()])
                .collect(),
            bases: threads
                .map(|t| {
                    base += t.registers.len();
                    base - t.registers.len()
                })
                .collect(),
        };
        group.locations[loc.index()] = true;
        while group.spread(program) {}
        let allowed = program.instructions().all(|(t, pc, instr)| {
            group.allows(t, instr)
                && (!group.is_ignored(t, instr) || is_quiet(program, facts, t, pc))
        });
        let changes = |(t, _, i): (ThreadId, _, &Instr)| group.step(t, i).is_some_and(|s| s.1 != 0);
        let moves = program.instructions().any(changes);
        (allowed && moves && group.starts_well(program, facts)).then_some(group)
    }

    /// Takes in what is moved or compared together with something of the group; says whether there was anything.
    fn spread(&mut self, program: &Program) -> bool {
        let mut changed = false;
        for (t, _, instr) in program.instructions() {
            let t = t.index();
            for (locations, registers) in linked(instr) {
                let any = locations.iter().any(|l| self.locations[l.index()])
                    || registers.iter().any(|r| self.registers[t][r.index()]);
                if !any {
                    continue;
                }
                let locations = locations.iter().map(|l| l.index());
                let registers = registers.iter().map(|r| r.index());
                changed |= locations.fold(false, |new, l| {
                    !std::mem::replace(&mut self.locations[l], true) | new
                });
                let own = &mut self.registers[t];
                changed |=
                    registers.fold(false, |new, r| !std::mem::replace(&mut own[r], true) | new);
            }
        }
        changed
    }

    /// Whether all values of the group are initial ones of its locations, or were moved there from these.
    fn starts_well(&self, program: &Program, facts: &Facts) -> bool {
        let inside = |(loc, &is): (&rsan_model::Location, &bool)| {
            !is || (0..end(program.domain)).contains(&i64::from(loc.init))
        };
        let unused = |(t, registers): (usize, &Vec<bool>)| {
            let first = facts.pcs[t].first();
            first.is_none_or(|pc| pc.live.iter().all(|r| !registers[r.index()]))
        };
        program.locations.iter().zip(&self.locations).all(inside)
            && self.registers.iter().enumerate().all(unused)
    }

    fn has(&self, t: ThreadId, r: RegId) -> bool {
        self.registers[t.index()][r.index()]
    }

    /// A register of the group and what is added to it.
    pub(super) fn moved(&self, t: ThreadId, e: &Expr) -> Option<(RegId, i64)> {
        moved(e).filter(|&(r, _)| self.has(t, r))
    }

    /// Whether the instruction does nothing to values of the group but what F21 allows.
    fn allows(&self, t: ThreadId, instr: &Instr) -> bool {
        let mut writes = false;
        instr.for_each_written_reg(&mut |r| writes |= self.has(t, r));
        match instr {
            Instr::Branch { cond: e, .. } | Instr::Assume(e) | Instr::Observe(e) => {
                self.is_unmoved(t, e) || is_total(e)
            }
            Instr::Assert(e) => self.is_unmoved(t, e),
            Instr::Assign { value, .. } if writes => self.moved(t, value).is_some(),
            Instr::Assign { value, .. } => self.is_unmoved(t, value),
            _ => match instr.place() {
                None => true,
                Some(Place::Loc(l)) if self.locations[l.index()] => self.allows_access(t, instr),
                Some(place) if writes || place.candidates().any(|l| self.locations[l.index()]) => {
                    false
                }
                Some(_) => self.reads_nothing(t, instr),
            },
        }
    }

    /// Whether an access of another location depends on nothing but differences of values of the group.
    fn reads_nothing(&self, t: ThreadId, instr: &Instr) -> bool {
        match instr {
            Instr::Store {
                place: Place::Loc(_),
                value,
                ..
            } => self.is_unmoved(t, value),
            _ => {
                let mut reads = false;
                instr.for_each_read_reg(&mut |r| reads |= self.has(t, r));
                !reads
            }
        }
    }

    /// The same for an access of a location of the group.
    fn allows_access(&self, t: ThreadId, instr: &Instr) -> bool {
        let copied = |e: &Expr| self.moved(t, e).is_some_and(|(_, by)| by == 0);
        let into = |dst: &Option<RegId>| dst.is_none_or(|r| self.has(t, r));
        match instr {
            Instr::Load { dst, .. } => self.has(t, *dst),
            Instr::Store { value, .. } => self.moved(t, value).is_some(),
            Instr::Rmw { dst, .. } => into(dst) && self.step(t, instr).is_some(),
            Instr::Cas {
                dst,
                success,
                expected,
                new,
                ..
            } => {
                into(dst)
                    && success.is_none_or(|r| !self.has(t, r))
                    && copied(expected)
                    && self.moved(t, new).is_some()
            }
            Instr::Bcas { expected, new, .. } => copied(expected) && self.moved(t, new).is_some(),
            Instr::Wait { dst, values, .. } => into(dst) && values.iter().all(copied),
            _ => false,
        }
    }

    /// What an instruction computes for the group: a value of it, plus a constant.
    pub(super) fn step(&self, t: ThreadId, instr: &Instr) -> Option<(Source, i64)> {
        let register = |e: &Expr| {
            let (r, by) = self.moved(t, e)?;
            Some((Source::Register(self.bases[t.index()] + r.index()), by))
        };
        let location = || match instr.place() {
            Some(Place::Loc(l)) if self.locations[l.index()] => Some(l.index()),
            _ => None,
        };
        match instr {
            Instr::Assign { dst, value } if self.has(t, *dst) => register(value),
            Instr::Store { value: e, .. }
            | Instr::Cas { new: e, .. }
            | Instr::Bcas { new: e, .. }
            | Instr::Rmw {
                op: RmwOp::Exchange,
                operand: e,
                ..
            } => location().and_then(|_| register(e)),
            Instr::Rmw { op, operand, .. } => {
                let n = operand.as_const().filter(|n| n.abs() <= LARGEST)?;
                let by = match op {
                    RmwOp::Add => n,
                    RmwOp::Sub => -n,
                    _ => return None,
                };
                Some((Source::Location(location()?), by))
            }
            _ => None,
        }
    }

    /// By how much all instructions together decrease a value, each executed once.
    pub(super) fn decrease(&self, program: &Program) -> i64 {
        let steps = program.instructions();
        let by = steps.filter_map(|(t, _, instr)| Some(-self.step(t, instr)?.1));
        by.filter(|&by| by > 0).sum::<i64>().min(LARGEST)
    }

    /// Whether the value of the expression stays as it is when the same number is added to all values of the group.
    pub(super) fn is_unmoved(&self, t: ThreadId, e: &Expr) -> bool {
        use BinOp::{BitAnd, Eq, Ge, Gt, Le, Lt, Ne, Sub};
        match e {
            Expr::Const(_) => true,
            Expr::Reg(r) => !self.has(t, *r),
            Expr::Element { .. } => {
                let mut reads = false;
                e.for_each_reg(&mut |r| reads |= self.has(t, r));
                !reads
            }
            Expr::Unary(_, e) => self.is_unmoved(t, e),
            // As slices have it (F19).
            Expr::Binary(BitAnd, left, right)
                if matches!((&**left, &**right), (Expr::Reg(_), Expr::Const(0))) =>
            {
                true
            }
            Expr::Binary(Eq | Ne | Lt | Le | Gt | Ge | Sub, left, right)
                if self.moved(t, left).is_some() && self.moved(t, right).is_some() =>
            {
                true
            }
            Expr::Binary(_, left, right) => self.is_unmoved(t, left) && self.is_unmoved(t, right),
            Expr::If(c, then, otherwise) => {
                [c, then, otherwise].iter().all(|e| self.is_unmoved(t, e))
            }
        }
    }

    fn is_ignored(&self, t: ThreadId, instr: &Instr) -> bool {
        matches!(instr, Instr::Assume(e) if !self.is_unmoved(t, e))
    }
}

/// A register, and what is added to it.
pub(super) fn moved(e: &Expr) -> Option<(RegId, i64)> {
    let (r, by) = match e {
        Expr::Reg(r) => (*r, 0),
        Expr::Binary(BinOp::Add, left, right) => match (&**left, &**right) {
            (Expr::Reg(r), Expr::Const(n)) | (Expr::Const(n), Expr::Reg(r)) => (*r, *n),
            _ => return None,
        },
        Expr::Binary(BinOp::Sub, left, right) => match (&**left, &**right) {
            (Expr::Reg(r), Expr::Const(n)) => (*r, n.checked_neg()?),
            _ => return None,
        },
        _ => return None,
    };
    (-LARGEST..=LARGEST).contains(&by).then_some((r, by))
}

/// The sets of locations and registers among which the instruction moves values, or which it compares.
fn linked(instr: &Instr) -> Vec<(Vec<LocId>, Vec<RegId>)> {
    let mut sets = Vec::new();
    let of = |e: &Expr, into: &mut Vec<RegId>| e.for_each_reg(&mut |r| into.push(r));
    match instr {
        Instr::Branch { cond: e, .. } | Instr::Assume(e) | Instr::Assert(e) | Instr::Observe(e) => {
            compared(e, &mut sets);
        }
        Instr::Assign { dst, value } => {
            compared(value, &mut sets);
            sets.extend(moved(value).map(|(r, _)| (Vec::new(), vec![*dst, r])));
        }
        _ => {}
    }
    if let Some(place) = instr.place() {
        let mut registers = Vec::new();
        match instr {
            Instr::Load { dst, .. } | Instr::PlainLoad { dst, .. } => registers.push(*dst),
            Instr::Store { value, .. } | Instr::PlainStore { value, .. } => {
                registers.extend(moved(value).map(|(r, _)| r));
                compared(value, &mut sets);
            }
            Instr::Rmw {
                dst, op, operand, ..
            } => {
                registers.extend(dst);
                if *op == RmwOp::Exchange {
                    of(operand, &mut registers);
                }
            }
            Instr::Cas {
                dst, expected, new, ..
            } => {
                registers.extend(dst);
                of(expected, &mut registers);
                of(new, &mut registers);
            }
            Instr::Bcas { expected, new, .. } => {
                of(expected, &mut registers);
                of(new, &mut registers);
            }
            Instr::Wait { dst, values, .. } => {
                registers.extend(dst);
                values.iter().for_each(|v| of(v, &mut registers));
            }
            _ => {}
        }
        sets.push((place.candidates().collect(), registers));
    }
    sets
}

/// The pairs of registers that an expression compares or subtracts.
fn compared(e: &Expr, sets: &mut Vec<(Vec<LocId>, Vec<RegId>)>) {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne, Sub};
    match e {
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Element { index: e, .. } | Expr::Unary(_, e) => compared(e, sets),
        Expr::Binary(op, left, right) => {
            if let (Eq | Ne | Lt | Le | Gt | Ge | Sub, Some((a, _)), Some((b, _))) =
                (op, moved(left), moved(right))
            {
                sets.push((Vec::new(), vec![a, b]));
            }
            compared(left, sets);
            compared(right, sets);
        }
        Expr::If(c, then, otherwise) => {
            [c, then, otherwise]
                .into_iter()
                .for_each(|e| compared(e, sets));
        }
    }
}

/// Whether the expression has a value, whatever those of registers are.
fn is_total(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Reg(_) => true,
        Expr::Element { .. } | Expr::Binary(BinOp::Div | BinOp::Rem, ..) => false,
        Expr::Unary(_, e) => is_total(e),
        Expr::Binary(_, left, right) => is_total(left) && is_total(right),
        Expr::If(c, then, otherwise) => [c, then, otherwise].into_iter().all(|e| is_total(e)),
    }
}

/// Whether what a thread does after this instruction up to its next rest shows to nobody else.
fn is_quiet(program: &Program, facts: &Facts, t: ThreadId, pc: Pc) -> bool {
    let thread = &program.threads[t.index()];
    let end = thread.code.len();
    let mut seen = vec![false; end + 1];
    let mut todo = vec![pc.index() + 1];
    while let Some(at) = todo.pop().map(|at| at.min(end)) {
        if std::mem::replace(&mut seen[at], true) || facts.pcs[t.index()][at].rests() {
            continue;
        }
        match thread.instr(Pc::new(at)) {
            Instr::Halt | Instr::Choose(_) => {}
            instr @ (Instr::Assign { .. }
            | Instr::Branch { .. }
            | Instr::Jump(_)
            | Instr::Assert(_)
            | Instr::Assume(_)
            | Instr::Observe(_)
            | Instr::Fence(_)) => {
                todo.extend(instr.successors(Pc::new(at)).iter().map(|to| to.index()));
            }
            _ => return false,
        }
    }
    true
}
