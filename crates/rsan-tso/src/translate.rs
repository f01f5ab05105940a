//! Programs as automata: what C compiles to on x86.
//!
//! Loads and stores are `mov`, read-modify-writes and seq_cst stores are locked instructions (a compare-and-swap that
//! fails, too), a seq_cst fence is `mfence`, every other fence is nothing. Creating a thread is a locked write that the
//! new thread waits for, and its last act is a store that whoever joins it waits for: `rsan-axioms` has the same in its
//! axioms of TSO. Non-atomic accesses are loads and stores like others.

use rsan_model::automata::{Automata, Automaton, ControlState, Op, StateId, Transition};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, Instr, Pc, Place, Program, RegId, RmwOp, Span, Start, Thread,
    ThreadId, UnOp, Value, WriteOrd,
};

impl From<&Program> for Translated {
    fn from(program: &Program) -> Self {
        let threads = (0..program.threads.len()).map(|t| Builder::new(program, t).build());
        let (threads, places): (Vec<_>, Vec<_>) = threads.unzip();
        let locations = program.locations.iter().enumerate();
        let names = locations.clone().map(|(i, l)| (i as Value, l.name.clone()));
        let memory = locations
            .filter(|(_, l)| l.init != 0)
            .map(|(i, l)| (i as Value, l.init));
        let mut names: Vec<(Value, String)> = names.collect();
        for (t, thread) in program.threads.iter().enumerate() {
            names.push((started(program, t), format!("start of {}", thread.name)));
            names.push((ended(program, t), format!("end of {}", thread.name)));
        }
        names.sort_by_key(|n| n.0);
        let automata = Automata {
            name: program.name.clone(),
            source: program.source.clone(),
            domain: program.domain,
            threads,
            memory: memory.collect(),
            names,
        };
        Self { automata, places }
    }
}

/// A program as automata, and the way back.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The automata.
    pub automata: Automata,
    /// For each thread and control state the instruction that begins there, if one does.
    pub places: Vec<Vec<Option<Pc>>>,
}

/// The address that says that a thread was started.
fn started(program: &Program, thread: usize) -> Value {
    (program.locations.len() + 2 * thread) as Value
}

/// The address that says that a thread has ended.
fn ended(program: &Program, thread: usize) -> Value {
    started(program, thread) + 1
}

struct Builder<'a> {
    program: &'a Program,
    thread: &'a Thread,
    number: usize,
    states: Vec<ControlState>,
    transitions: Vec<Transition>,
    /// A register of the translation's own.
    scratch: RegId,
    span: Span,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, number: usize) -> Self {
        let thread = &program.threads[number];
        let states = (0..=thread.code.len()).map(|pc| ControlState {
            name: format!("@{pc}"),
            fenceable: true,
        });
        Self {
            program,
            thread,
            number,
            states: states.collect(),
            transitions: Vec::new(),
            scratch: RegId::new(thread.registers.len()),
            span: Span::default(),
        }
    }

    fn build(mut self) -> (Automaton, Vec<Option<Pc>>) {
        let mut registers: Vec<(String, Value)> = self
            .thread
            .registers
            .iter()
            .map(|r| (r.name.clone(), r.init))
            .collect();
        registers.push(("%".to_owned(), 0));
        for pc in 0..self.thread.code.len() {
            self.span = self.thread.spans[pc];
            self.instr(Pc::new(pc), &self.thread.code[pc]);
        }
        let mut initial = StateId(0);
        if self.thread.start == Start::Spawned {
            self.span = Span::default();
            initial = self.fresh();
            let begin = self.wait_for_one(started(self.program, self.number));
            self.add(initial, StateId(0), begin);
            let halt = StateId(self.thread.code.len() as u32);
            let last = self.fresh();
            let end = Op::Write {
                addr: constant(ended(self.program, self.number)),
                value: Expr::Const(1),
            };
            self.add(halt, last, end);
        }
        let is_code = |s: usize| s < self.thread.code.len();
        let places = (0..self.states.len()).map(|s| is_code(s).then(|| Pc::new(s)));
        let places = places.collect();
        let automaton = Automaton {
            name: self.thread.name.clone(),
            states: self.states,
            initial,
            registers,
            transitions: self.transitions,
        };
        (automaton, places)
    }

    fn fresh(&mut self) -> StateId {
        let number = self.states.len();
        self.states.push(ControlState {
            name: format!("@{number}"),
            fenceable: false,
        });
        StateId(number as u32)
    }

    fn add(&mut self, from: StateId, to: StateId, op: Op) {
        self.transitions.push(Transition {
            from,
            to,
            op,
            span: self.span,
        });
    }

    fn instr(&mut self, pc: Pc, instr: &Instr) {
        let (from, next) = (StateId(pc.0), StateId(pc.0 + 1));
        match instr {
            Instr::Load { dst, place, .. } | Instr::PlainLoad { dst, place } => {
                let (from, addr) = self.address(from, place);
                let reg = *dst;
                let accept = None;
                self.add(from, next, Op::Read { reg, addr, accept });
            }
            Instr::Store {
                place,
                value,
                ord: WriteOrd::SeqCst,
            } => self.update(from, next, place, None, None, Some(value.clone())),
            Instr::Store { place, value, .. } | Instr::PlainStore { place, value } => {
                let (from, addr) = self.address(from, place);
                let value = value.clone();
                self.add(from, next, Op::Write { addr, value });
            }
            Instr::Rmw {
                dst,
                place,
                op,
                operand,
                ..
            } => self.rmw(from, next, *dst, place, *op, operand),
            Instr::Cas { .. } => self.cas(from, next, instr),
            Instr::Wait {
                dst, place, values, ..
            } => {
                let reg = dst.unwrap_or(self.scratch);
                let accept = self.is_one_of(values);
                let (from, addr) = self.address(from, place);
                let scratch = self.scratch;
                let read = Op::Read {
                    reg: scratch,
                    addr,
                    accept: Some(accept),
                };
                self.then_move(from, next, read, &[(reg, Expr::Reg(scratch))]);
            }
            Instr::Bcas {
                place,
                expected,
                new,
                ..
            } => {
                let accept = self.is(expected);
                self.update(from, next, place, None, Some(accept), Some(new.clone()));
            }
            Instr::Fence(ord) if ord.is_sc() => self.add(from, next, Op::Fence),
            Instr::Fence(_) | Instr::Observe(_) => self.add(from, next, Op::Noop),
            Instr::Assign { dst, value } => {
                let (reg, value) = (*dst, value.clone());
                self.add(from, next, Op::Assign { reg, value });
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                self.add(from, StateId(then.0), Op::Check(cond.clone()));
                let not = Expr::Unary(UnOp::Not, Box::new(cond.clone()));
                self.add(from, StateId(otherwise.0), Op::Check(not));
            }
            Instr::Jump(to) => self.add(from, StateId(to.0), Op::Noop),
            Instr::Choose(to) => to
                .iter()
                .for_each(|to| self.add(from, StateId(to.0), Op::Noop)),
            Instr::Assert(e) => self.add(from, next, Op::Assert(e.clone())),
            Instr::Assume(e) => self.add(from, next, Op::Check(e.clone())),
            Instr::Spawn(child) => self.spawn(from, next, *child),
            Instr::Join(child) => {
                let wait = self.wait_for_one(ended(self.program, child.index()));
                self.add(from, next, wait);
            }
            Instr::Halt => {
                let end = StateId(self.thread.code.len() as u32);
                self.add(from, end, Op::Noop);
            }
        }
    }

    fn spawn(&mut self, from: StateId, next: StateId, child: ThreadId) {
        let start = Op::Update {
            reg: None,
            addr: constant(started(self.program, child.index())),
            accept: None,
            value: Some(Expr::Const(1)),
        };
        self.add(from, next, start);
    }

    fn wait_for_one(&self, address: Value) -> Op {
        Op::Read {
            reg: self.scratch,
            addr: constant(address),
            accept: Some(Expr::Reg(self.scratch)),
        }
    }

    /// The address of a place, and the state after the check of its bounds.
    fn address(&mut self, from: StateId, place: &Place) -> (StateId, Expr) {
        match place {
            Place::Loc(loc) => (from, Expr::Const(loc.0.into())),
            Place::Element { base, len, index } => {
                let at_least = binary(BinOp::Le, Expr::Const(0), index.clone());
                let below = binary(BinOp::Lt, index.clone(), Expr::Const((*len).into()));
                let checked = self.fresh();
                let inside = binary(BinOp::And, at_least, below);
                self.add(from, checked, Op::Bounds(inside));
                let addr = binary(BinOp::Add, Expr::Const(base.0.into()), index.clone());
                (checked, addr)
            }
        }
    }

    /// The scratch register has the value of an expression.
    fn is(&self, expected: &Expr) -> Expr {
        self.is_one_of(std::slice::from_ref(expected))
    }

    /// The scratch register has one of these values.
    fn is_one_of(&self, values: &[Expr]) -> Expr {
        values
            .iter()
            .map(|value| binary(BinOp::Eq, Expr::Reg(self.scratch), self.wrapped(value)))
            .reduce(|a, b| binary(BinOp::Or, a, b))
            .unwrap_or(Expr::Const(0))
    }

    /// An expression whose value is wrapped as those of registers and memory are.
    fn wrapped(&self, e: &Expr) -> Expr {
        let domain = self.program.domain;
        match (e, domain) {
            (Expr::Const(n), _) => Expr::Const(domain.wrap(*n).into()),
            (Expr::Reg(_) | Expr::Element { .. }, _) => e.clone(),
            (_, Domain::Int32) => {
                let high = binary(BinOp::Shl, e.clone(), Expr::Const(32));
                binary(BinOp::Shr, high, Expr::Const(32))
            }
            (_, Domain::Modulo(m)) => {
                let m = || Expr::Const(m.into());
                let signed = binary(BinOp::Rem, e.clone(), m());
                binary(BinOp::Rem, binary(BinOp::Add, signed, m()), m())
            }
        }
    }

    /// A locked instruction that reads into the scratch register.
    fn update(
        &mut self,
        from: StateId,
        next: StateId,
        place: &Place,
        dst: Option<RegId>,
        accept: Option<Expr>,
        value: Option<Expr>,
    ) {
        let moves: Vec<(RegId, Expr)> = dst
            .map(|dst| (dst, Expr::Reg(self.scratch)))
            .into_iter()
            .collect();
        let (from, op) = self.locked(from, place, accept, value);
        self.then_move(from, next, op, &moves);
    }

    fn locked(
        &mut self,
        from: StateId,
        place: &Place,
        accept: Option<Expr>,
        value: Option<Expr>,
    ) -> (StateId, Op) {
        let (from, addr) = self.address(from, place);
        let reg = Some(self.scratch);
        let op = Op::Update {
            reg,
            addr,
            accept,
            value,
        };
        (from, op)
    }

    /// An operation, and then assignments to registers.
    fn then_move(&mut self, from: StateId, to: StateId, op: Op, moves: &[(RegId, Expr)]) {
        let mut ops: Vec<Op> = vec![op];
        for (reg, value) in moves.iter().filter(|m| m.0 != self.scratch) {
            let (reg, value) = (*reg, value.clone());
            ops.push(Op::Assign { reg, value });
        }
        let mut at = from;
        let last = ops.len() - 1;
        for (i, op) in ops.into_iter().enumerate() {
            let next = if i == last { to } else { self.fresh() };
            self.add(at, next, op);
            at = next;
        }
    }

    fn rmw(
        &mut self,
        from: StateId,
        next: StateId,
        dst: Option<RegId>,
        place: &Place,
        op: RmwOp,
        operand: &Expr,
    ) {
        let old = Expr::Reg(self.scratch);
        let operand = operand.clone();
        let value = match op {
            RmwOp::Exchange => operand,
            RmwOp::Add => binary(BinOp::Add, old, operand),
            RmwOp::Sub => binary(BinOp::Sub, old, operand),
            RmwOp::And => binary(BinOp::BitAnd, old, operand),
            RmwOp::Or => binary(BinOp::BitOr, old, operand),
            RmwOp::Xor => binary(BinOp::BitXor, old, operand),
        };
        self.update(from, next, place, dst, None, Some(value));
    }

    fn cas(&mut self, from: StateId, next: StateId, instr: &Instr) {
        let Instr::Cas {
            dst,
            success,
            place,
            expected,
            new,
            strength,
            ..
        } = instr
        else {
            unreachable!("called for a compare-and-swap");
        };
        let scratch = self.scratch;
        let moves = |flag: i64| {
            let mut moves = Vec::new();
            moves.extend(dst.map(|dst| (dst, Expr::Reg(scratch))));
            moves.extend(success.map(|reg| (reg, Expr::Const(flag))));
            moves
        };
        let same = self.is(expected);
        let (at, op) = self.locked(from, place, Some(same.clone()), Some(new.clone()));
        self.then_move(at, next, op, &moves(1));
        let other = match strength {
            CasStrength::Strong => Some(Expr::Unary(UnOp::Not, Box::new(same))),
            CasStrength::Weak => None,
        };
        let (at, op) = self.locked(from, place, other, None);
        self.then_move(at, next, op, &moves(0));
    }
}

fn constant(value: Value) -> Expr {
    Expr::Const(value.into())
}

fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}
