//! Readings of a clock, and loops that are bounded only to keep it small (docs/theory/finite.md, F16).
//!
//! A *clock* is a location that every store moves on by one. Values that come from it, *readings*, are copied, stored in
//! other locations and waited for, and nothing else. Then nothing depends on the numbers: a reading is the present one, the
//! next one, or an old one, and which old one does not matter. A *budget* is a register that does nothing but count and
//! decide branches; such a branch goes both ways. Both add behaviour, so no failure that is found this way counts; but
//! when there is none, there is none.

mod writes;

use crate::facts::Facts;
use crate::state::State;
use rsan_model::{BinOp, Domain, Expr, Instr, LocId, Pc, Place, Program, RegId, ThreadId, Value};
pub(crate) use writes::most;
use writes::most_writes;

/// A clock of a program, its readings, and the budgets of the threads.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    clock: LocId,
    /// What it shows at first; smaller values are no readings.
    initial: Value,
    /// Per location: whether it holds readings.
    locations: Vec<bool>,
    /// The registers that hold readings, and the first register of their thread.
    registers: Vec<usize>,
    /// The budgets, with the value that stands for all of them.
    budgets: Vec<(usize, Value)>,
    pcs: Vec<Vec<AtPc>>,
}

/// What is known about an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct AtPc {
    /// A branch that asks for a budget.
    open: bool,
    /// What it does depends on the clock.
    asks: bool,
    /// It adds one to this register, a reading.
    advances: Option<usize>,
}

impl Clocks {
    /// The first clock of a program.
    pub(crate) fn new(program: &Program, facts: &Facts) -> Option<Self> {
        if program.locations.len() > 64 || facts.has_spawn || facts.has_join {
            return None;
        }
        let clocks = (0..program.locations.len()).map(LocId::new);
        let (clock, readings) = clocks
            .filter_map(|l| Some((l, Readings::of(program, l)?)))
            .next()?;
        if !stays_in_domain(program, facts, clock) {
            return None;
        }
        let bases = bases(program);
        let mut budgets = Vec::new();
        let mut pcs = Vec::new();
        for (t, thread) in program.threads.iter().enumerate() {
            let own: Vec<RegId> = (0..thread.registers.len())
                .map(RegId::new)
                .filter(|&r| is_budget(&thread.code, r))
                .collect();
            let initial = |r: &RegId| (bases[t] + r.index(), thread.registers[r.index()].init);
            budgets.extend(own.iter().map(initial));
            let at = |pc| readings.at(thread.instr(Pc::new(pc)), t, bases[t], &own);
            pcs.push((0..=thread.code.len()).map(at).collect());
        }
        let registers = (bases.iter().zip(&readings.registers))
            .flat_map(|(base, regs)| (0..regs.len()).filter(|&r| regs[r]).map(move |r| base + r));
        Some(Self {
            clock,
            initial: program.locations[clock.index()].init,
            registers: registers.collect(),
            locations: readings.locations,
            budgets,
            pcs,
        })
    }

    /// The locations whose values are readings, as bits.
    pub(crate) fn readings(&self) -> u64 {
        let locations = self.locations.iter().enumerate();
        locations.fold(0, |set, (l, &is)| set | u64::from(is) << l)
    }

    /// Whether a write does something else than to move the clock on by one.
    #[inline]
    pub(crate) fn refuted(&self, loc: LocId, old: Value, new: Value) -> bool {
        loc == self.clock && new != old + 1
    }

    /// Whether the instruction computes the next reading from another one than the present one.
    #[inline]
    pub(crate) fn advances_late<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        let advances = self.pcs[t.index()][pc.index()].advances;
        advances.is_some_and(|r| s.regs[r] != s.memory[self.clock.index()])
    }

    /// Forgets the numbers: old readings become the first one, the present one the second, the next one the third.
    pub(crate) fn simplify<const W: usize>(&self, s: &mut State<W>) {
        let (now, initial) = (s.memory[self.clock.index()], self.initial);
        let short = |v: &mut Value| {
            if *v >= initial {
                *v = if *v < now {
                    initial
                } else {
                    initial + 1 + (*v - now)
                };
            }
        };
        for (value, _) in s
            .memory
            .iter_mut()
            .zip(&self.locations)
            .filter(|(_, is)| **is)
        {
            short(value);
        }
        self.registers.iter().for_each(|&r| short(&mut s.regs[r]));
        self.budgets
            .iter()
            .for_each(|&(r, value)| s.regs[r] = value);
    }

    /// Whether a branch may go both ways.
    #[inline]
    pub(crate) fn is_open(&self, t: ThreadId, pc: Pc) -> bool {
        self.pcs[t.index()][pc.index()].open
    }

    /// The clock, as a bit, if it matters for what the instruction does.
    pub(crate) fn asked_at(&self, t: usize, pc: usize) -> u64 {
        u64::from(self.pcs[t][pc].asks) << self.clock.index()
    }
}

/// Where the readings of a clock may be: what the program does not tell apart by anything but the clock they come from.
struct Readings {
    locations: Vec<bool>,
    /// Per thread and register.
    registers: Vec<Vec<bool>>,
    initial: Value,
}

impl Readings {
    /// The readings of `clock`, if it may be one, and it may move.
    fn of(program: &Program, clock: LocId) -> Option<Self> {
        let threads = program.threads.iter();
        let mut readings = Self {
            locations: vec![false; program.locations.len()],
            registers: threads.map(|t| vec![false; t.registers.len()]).collect(),
            initial: program.locations[clock.index()].init,
        };
        readings.locations[clock.index()] = true;
        while readings.spread(program) {}
        let mut moves = false;
        for (t, _, instr) in program.instructions() {
            if !readings.allows(clock, t, instr) {
                return None;
            }
            moves |= readings.advanced(t, instr).is_some();
        }
        let small = |(loc, &is): (_, &bool)| {
            let loc: &rsan_model::Location = loc;
            !is || loc.init <= readings.initial
        };
        let registers = program.threads.iter().zip(&readings.registers);
        let start = registers.flat_map(|(thread, is)| thread.registers.iter().zip(is));
        let fits = program.locations.iter().zip(&readings.locations).all(small)
            && start
                .into_iter()
                .all(|(r, is)| !is || r.init <= readings.initial);
        (moves && fits).then_some(readings)
    }

    /// Takes in what readings are copied to, in one step; says whether there was anything.
    fn spread(&mut self, program: &Program) -> bool {
        let mut changed = false;
        let mut take = |is: &mut bool, now: bool| {
            changed |= now && !*is;
            *is |= now;
        };
        for (t, _, instr) in program.instructions() {
            let t = t.index();
            let from = |e: &Expr, regs: &[bool]| {
                let mut any = false;
                e.for_each_reg(&mut |r| any |= regs[r.index()]);
                any
            };
            match instr {
                Instr::Load { dst, place, .. } => {
                    let any = place.candidates().any(|l| self.locations[l.index()]);
                    take(&mut self.registers[t][dst.index()], any);
                }
                Instr::Wait {
                    dst, place, values, ..
                } => {
                    let any = values.iter().any(|v| from(v, &self.registers[t]));
                    for l in place.candidates() {
                        take(&mut self.locations[l.index()], any);
                    }
                    let any = place.candidates().any(|l| self.locations[l.index()]);
                    if let Some(dst) = dst {
                        take(&mut self.registers[t][dst.index()], any);
                    }
                }
                Instr::Store { place, value, .. } => {
                    let any = from(value, &self.registers[t]);
                    for l in place.candidates() {
                        take(&mut self.locations[l.index()], any);
                    }
                }
                Instr::Assign { dst, value } => {
                    let any = from(value, &self.registers[t]);
                    take(&mut self.registers[t][dst.index()], any);
                }
                _ => {}
            }
        }
        changed
    }

    /// Whether the instruction does nothing to readings but what F16 allows.
    fn allows(&self, clock: LocId, t: ThreadId, instr: &Instr) -> bool {
        let held = |place: &Place| place.candidates().any(|l| self.locations[l.index()]);
        let is = |r: RegId| self.registers[t.index()][r.index()];
        let copied = |e: &Expr| match e {
            Expr::Reg(r) => is(*r),
            e => e
                .as_const()
                .is_some_and(|c| c < i64::from(self.initial) && c >= 0),
        };
        let mut reads = false;
        instr.for_each_read_reg(&mut |r| reads |= is(r));
        match instr {
            Instr::Load {
                dst,
                place: place @ Place::Loc(_),
                ..
            } => held(place) == is(*dst),
            Instr::Wait {
                dst,
                place: place @ Place::Loc(_),
                values,
                ..
            } if held(place) => dst.is_none_or(is) && values.iter().all(copied),
            Instr::Store {
                place: Place::Loc(l),
                value,
                ..
            } if self.locations[l.index()] => {
                let next = self.advanced(t, instr).is_some();
                *l == clock && (next || matches!(value, Expr::Reg(_)) && copied(value))
                    || *l != clock && copied(value)
            }
            Instr::Assign { dst, value } if is(*dst) => {
                copied(value) || self.advanced(t, instr).is_some()
            }
            other => {
                let mut writes = false;
                other.for_each_written_reg(&mut |r| writes |= is(r));
                !reads && !writes && !other.place().is_some_and(held)
            }
        }
    }

    /// The reading to which the instruction adds one.
    fn advanced(&self, t: ThreadId, instr: &Instr) -> Option<RegId> {
        let (Instr::Assign { value, .. } | Instr::Store { value, .. }) = instr else {
            return None;
        };
        match value {
            Expr::Binary(BinOp::Add, left, right) => match (&**left, &**right) {
                (Expr::Reg(r), Expr::Const(1)) | (Expr::Const(1), Expr::Reg(r)) => Some(*r),
                _ => None,
            },
            _ => None,
        }
        .filter(|r| self.registers[t.index()][r.index()])
    }

    fn at(&self, instr: &Instr, t: usize, base: usize, budgets: &[RegId]) -> AtPc {
        let advances = self
            .advanced(ThreadId::new(t), instr)
            .map(|r| base + r.index());
        let mut open = false;
        if let Instr::Branch { cond, .. } = instr {
            cond.for_each_reg(&mut |r| open |= budgets.contains(&r));
        }
        let waits = match instr {
            Instr::Wait { place, .. } => place.candidates().any(|l| self.locations[l.index()]),
            _ => false,
        };
        AtPc {
            open,
            asks: waits || advances.is_some(),
            advances,
        }
    }
}

/// Whether a clock that is only ever moved on by one never leaves the range of values.
fn stays_in_domain(program: &Program, facts: &Facts, clock: LocId) -> bool {
    let writes: Option<u64> = (0..program.threads.len())
        .map(|t| most_writes(program, facts, ThreadId::new(t), clock))
        .sum();
    let largest = match program.domain {
        Domain::Int32 => i64::from(Value::MAX),
        Domain::Modulo(m) => i64::from(m) - 1,
    };
    // In a search it is never further than three from its first value.
    let initial = i64::from(program.locations[clock.index()].init);
    writes.is_some_and(|n| initial >= 0 && initial.saturating_add_unsigned(n.max(3)) <= largest)
}

/// Whether the register does nothing but count in steps of a fixed size, and decide branches.
fn is_budget(code: &[Instr], register: RegId) -> bool {
    let mut counts = false;
    let fits = |instr: &Instr| {
        let (mut read, mut written) = (false, false);
        instr.for_each_read_reg(&mut |r| read |= r == register);
        instr.for_each_written_reg(&mut |r| written |= r == register);
        match instr {
            Instr::Assign { value, .. } if written => {
                counts |= read;
                !read || is_step(value, register)
            }
            Instr::Branch { cond, .. } => !read || is_total(cond),
            _ => !read && !written,
        }
    };
    code.iter().all(fits) && counts
}

/// Whether the expression is the register, more or less a constant.
fn is_step(e: &Expr, register: RegId) -> bool {
    match e {
        Expr::Binary(BinOp::Add | BinOp::Sub, left, right) => {
            matches!(**left, Expr::Reg(r) if r == register) && matches!(**right, Expr::Const(_))
        }
        _ => false,
    }
}

/// Whether the expression has a value, whatever those of registers are.
fn is_total(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Reg(_) => true,
        Expr::Element { .. } => false,
        Expr::Unary(_, e) => is_total(e),
        Expr::Binary(BinOp::Div | BinOp::Rem, ..) => false,
        Expr::Binary(_, left, right) => is_total(left) && is_total(right),
        Expr::If(c, then, otherwise) => is_total(c) && is_total(then) && is_total(otherwise),
    }
}

/// The first register of each thread.
fn bases(program: &Program) -> Vec<usize> {
    let mut next = 0;
    let base = |t: &rsan_model::Thread| {
        next += t.registers.len();
        next - t.registers.len()
    };
    program.threads.iter().map(base).collect()
}
