//! Values that decide nothing (docs/theory/finite.md, F19).
//!
//! A value *decides* when a branch, an address, a wait or a compare-and-swap asks for it, or when it goes where such a
//! value is. What is left only shows in assertions. A search for weak behaviour does without it: this module makes
//! the program that computes nothing else. Its assertions are gone, so they are another search's.

use rsan_model::{BinOp, Expr, Instr, LocId, Place, Program, RegId, RmwOp, ThreadId, Value};

/// Which values of a program decide something.
struct Deciding {
    locations: Vec<bool>,
    /// Per thread and register.
    registers: Vec<Vec<bool>>,
    changed: bool,
}

/// The program without the values that decide nothing; `None` when all do. `uses` says whether it matters that a
/// register is used, even if its value is not (F13).
pub(crate) fn sliced(program: &Program, uses: bool) -> Option<Program> {
    let deciding = Deciding::of(program);
    let mut slice = program.clone();
    let mut forgets = false;
    for (t, thread) in slice.threads.iter_mut().enumerate() {
        for instr in &mut thread.code {
            forgets |= deciding.reduce(program, ThreadId::new(t), instr, uses);
        }
    }
    forgets.then_some(slice)
}

impl Deciding {
    fn of(program: &Program) -> Self {
        let threads = program.threads.iter();
        let mut deciding = Self {
            locations: vec![false; program.locations.len()],
            registers: threads.map(|t| vec![false; t.registers.len()]).collect(),
            changed: true,
        };
        while deciding.changed {
            deciding.changed = false;
            for (t, _, instr) in program.instructions() {
                deciding.note(t, instr);
            }
        }
        deciding
    }

    fn note(&mut self, t: ThreadId, instr: &Instr) {
        if let Some(place) = instr.place() {
            place.for_each_reg(&mut |r| self.take_register(t, r));
        }
        match instr {
            Instr::Branch { cond: e, .. } | Instr::Assume(e) => self.take(t, e),
            Instr::Wait { values, place, .. } => {
                values.iter().for_each(|v| self.take(t, v));
                self.take_place(place);
            }
            Instr::Cas {
                expected,
                new,
                place,
                ..
            }
            | Instr::Bcas {
                expected,
                new,
                place,
                ..
            } => {
                self.take(t, expected);
                self.take(t, new);
                self.take_place(place);
            }
            Instr::Load { dst, place, .. } | Instr::PlainLoad { dst, place } => {
                if self.registers[t.index()][dst.index()] {
                    self.take_place(place);
                }
            }
            Instr::Rmw {
                dst,
                place,
                operand,
                ..
            } => {
                if dst.is_some_and(|r| self.registers[t.index()][r.index()]) || self.holds(place) {
                    self.take_place(place);
                    self.take(t, operand);
                }
            }
            Instr::Store { place, value, .. } | Instr::PlainStore { place, value } => {
                if self.holds(place) {
                    self.take_place(place);
                    self.take(t, value);
                }
            }
            Instr::Assign { dst, value } => {
                if self.registers[t.index()][dst.index()] {
                    self.take(t, value);
                }
            }
            Instr::Fence(_)
            | Instr::Jump(_)
            | Instr::Choose(_)
            | Instr::Assert(_)
            | Instr::Observe(_)
            | Instr::Spawn(_)
            | Instr::Join(_)
            | Instr::Halt => {}
        }
    }

    fn take(&mut self, t: ThreadId, e: &Expr) {
        e.for_each_reg(&mut |r| self.take_register(t, r));
    }

    fn take_register(&mut self, t: ThreadId, r: RegId) {
        let decides = &mut self.registers[t.index()][r.index()];
        self.changed |= !*decides;
        *decides = true;
    }

    fn take_place(&mut self, place: &Place) {
        for loc in place.candidates() {
            self.changed |= !self.locations[loc.index()];
            self.locations[loc.index()] = true;
        }
    }

    /// Whether some value there decides something; then all do that share an access with it.
    fn holds(&self, place: &Place) -> bool {
        place.candidates().any(|l| self.locations[l.index()])
    }

    /// Takes out of an instruction what decides nothing; says whether that makes states equal.
    fn reduce(&self, program: &Program, t: ThreadId, instr: &mut Instr, uses: bool) -> bool {
        let nothing = |e: &Expr, value: Value| without_value(e, value, uses);
        let init = |loc: LocId| program.locations[loc.index()].init;
        match instr {
            Instr::Assert(e) | Instr::Observe(e) => {
                let mut reads = false;
                e.for_each_reg(&mut |r| reads |= !self.registers[t.index()][r.index()]);
                *instr = Instr::Observe(nothing(e, 0));
                reads
            }
            Instr::Assign { dst, value } if !self.registers[t.index()][dst.index()] => {
                *value = nothing(value, 0);
                false
            }
            Instr::Store { place, value, .. } | Instr::PlainStore { place, value }
                if !self.holds(place) =>
            {
                // Locations of an array may begin with different values; then some value is stored there.
                let first = init(place.candidates().next().expect("a place means something"));
                let same = value.as_const() == Some(i64::from(first));
                *value = nothing(value, first);
                !same
            }
            Instr::Rmw {
                place, op, operand, ..
            } if !self.holds(place) => {
                *op = RmwOp::Add;
                *operand = nothing(operand, 0);
                true
            }
            _ => false,
        }
    }
}

/// An expression with this value, which reads the registers of `e` if that matters.
fn without_value(e: &Expr, value: Value, uses: bool) -> Expr {
    let mut sum = Expr::Const(i64::from(value));
    if uses {
        let binary = |op, l: Expr, r: Expr| Expr::Binary(op, l.into(), r.into());
        e.for_each_reg(&mut |r| {
            let zero = binary(BinOp::BitAnd, Expr::Reg(r), Expr::Const(0));
            sum = binary(BinOp::Add, zero, sum.clone());
        });
    }
    sum
}

/// Whether each location may ever have another value than at first.
pub(crate) fn changing(program: &Program) -> Vec<bool> {
    let mut changing = vec![false; program.locations.len()];
    for (_, _, instr) in program.instructions() {
        let places = instr.place().into_iter().flat_map(|p| p.candidates());
        for loc in places {
            let init = i64::from(program.locations[loc.index()].init);
            changing[loc.index()] |= match instr {
                Instr::Store { value, .. } | Instr::PlainStore { value, .. } => {
                    constant(value) != Some(init)
                }
                Instr::Rmw { op, operand, .. } => *op != RmwOp::Add || constant(operand) != Some(0),
                other => other.may_write(),
            };
        }
    }
    changing
}

/// The value of an expression, where that is plain to see; [`without_value`] makes such ones.
fn constant(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Binary(BinOp::BitAnd, _, r) if **r == Expr::Const(0) => Some(0),
        Expr::Binary(BinOp::Add, l, r) => Some(constant(l)?.wrapping_add(constant(r)?)),
        _ => None,
    }
}
