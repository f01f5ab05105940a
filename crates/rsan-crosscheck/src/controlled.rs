//! A program under a scheduler that asks a strategy of `rsan-schedule` before every step, as the runtime does.

use rsan_axioms::{Limits, Stop, executions};
use rsan_model::{
    CasStrength, EvalError, Event, EventId, Expr, Graph, Instr, LocId, Model, Pc, Program, Start,
    ThreadId, Value,
};
use rsan_schedule::End;
use rsan_schedule::explore::{Pending, Trace};
use rsan_schedule::{Candidate, Kind, Op, Reading, Step, Strategy};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// An execution graph, without values and orders: what two runs have in common that are the same execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shape {
    /// By thread of the program: its events.
    threads: BTreeMap<usize, Vec<Seen>>,
    /// By location: its writes in modification order.
    mo: BTreeMap<LocId, Vec<Place>>,
}

/// The kind of an event, its location, and what it reads (`None`: the initial write, or nothing).
type Seen = (&'static str, Option<LocId>, Option<Place>);

/// The thread and the number of an event in it.
type Place = (usize, usize);

impl Shape {
    /// The sequentially consistent executions of a program, as the oracle counts them; `None` when they are more than the
    /// limits allow.
    pub fn all(program: &Program, limits: &Limits) -> Option<BTreeSet<Self>> {
        let mut shapes = BTreeSet::new();
        let summary = executions(program, Model::Sc, limits, &mut |execution| {
            shapes.insert(Self::of(execution.graph));
            ControlFlow::Continue(())
        });
        summary.ok()?.cut.reason(limits).is_none().then_some(shapes)
    }

    /// The shape of a graph of the oracle.
    pub fn of(graph: &Graph) -> Self {
        let mut shape = Self::default();
        let mut places: BTreeMap<EventId, Place> = BTreeMap::new();
        for e in graph.ids() {
            if let Event {
                thread: Some(t), ..
            } = graph.event(e)
            {
                let events = shape.threads.entry(t.index()).or_default();
                places.insert(e, (t.index(), events.len()));
                events.push((graph.label(e).kind(), graph.label(e).loc(), None));
            }
        }
        for (e, &(t, i)) in &places {
            let source = graph.reads_from(*e).and_then(|w| places.get(&w));
            shape.threads.get_mut(&t).expect("its thread")[i].2 = source.copied();
        }
        for loc in (0..graph.locations()).map(LocId::new) {
            let writes = graph.modification_order(loc)[1..].iter();
            let writes: Vec<Place> = writes.map(|w| places[w]).collect();
            if !writes.is_empty() {
                shape.mo.insert(loc, writes);
            }
        }
        shape
    }

    fn push(&mut self, t: usize, kind: &'static str, loc: Option<LocId>) {
        let reads = matches!(kind, "read" | "rmw");
        let last = loc.and_then(|loc| self.mo.get(&loc)?.last().copied());
        let events = self.threads.entry(t).or_default();
        let place = (t, events.len());
        events.push((kind, loc, last.filter(|_| reads)));
        if let (Some(loc), "write" | "rmw") = (loc, kind) {
            self.mo.entry(loc).or_default().push(place);
        }
    }
}

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Unborn,
    Begins,
    At(Pc),
    Ends,
    Stopped(Stop),
}

/// A program that is run. Choices are not for it.
#[derive(Clone, Debug)]
pub struct Controlled<'p> {
    program: &'p Program,
    phases: Vec<Phase>,
    regs: Vec<Vec<Value>>,
    memory: Vec<Value>,
    /// By thread of the program: its number in this run.
    numbers: Vec<Option<u32>>,
    steps: Vec<Step>,
    shape: Shape,
    /// What waits is tried, and tried again when it may pass; otherwise it is not ready before it passes.
    attempts: bool,
    /// By thread: its attempt failed.
    failed: Vec<bool>,
    /// The compare-and-swap that comes next fails for no reason.
    fails: bool,
}

/// Whether it may fail for no reason.
fn is_weak(instr: &Instr) -> bool {
    let weak = CasStrength::Weak;
    matches!(instr, Instr::Cas { strength, .. } if *strength == weak)
}

/// More steps that nobody notices are an endless loop.
const LOCAL_STEPS: usize = 100_000;

impl<'p> Controlled<'p> {
    /// The program before its first step.
    pub fn new(program: &'p Program) -> Self {
        let threads = &program.threads;
        let mut run = Self {
            program,
            phases: vec![Phase::Unborn; threads.len()],
            regs: threads.iter().map(|t| t.initial_registers()).collect(),
            memory: program.locations.iter().map(|l| l.init).collect(),
            numbers: vec![None; threads.len()],
            steps: Vec::new(),
            shape: Shape::default(),
            attempts: false,
            failed: vec![false; threads.len()],
            fails: false,
        };
        let mut roots = 0;
        for (t, thread) in threads.iter().enumerate() {
            if thread.start == Start::Initial {
                run.numbers[t] = Some(roots);
                roots += 1;
                run.phases[t] = Phase::At(Pc(0));
                run.local_steps(t);
            }
        }
        run
    }

    /// The same, with operations that wait tried first, as the runtime does it: a failed attempt is a step, too.
    pub fn with_attempts(program: &'p Program) -> Self {
        Self {
            attempts: true,
            ..Self::new(program)
        }
    }

    /// Number of threads that run from the beginning.
    pub fn roots(program: &Program) -> u32 {
        let initial = |t: &&rsan_model::Thread| t.start == Start::Initial;
        program.threads.iter().filter(initial).count() as u32
    }

    /// Runs it to its end, or for so many steps.
    pub fn run(mut self, strategy: &mut dyn Strategy, length: usize) -> (Trace, Shape) {
        let end = loop {
            let mut ready: Vec<(Candidate, usize)> = Vec::new();
            for t in 0..self.phases.len() {
                if let Some((op, _)) = self.op(t)
                    && (self.is_enabled(t) || self.is_tried(t, op.kind))
                {
                    let thread = ThreadId(self.numbers[t].expect("it was created"));
                    ready.push((Candidate { thread, op }, t));
                }
            }
            ready.sort_unstable_by_key(|(c, _)| c.thread);
            if ready.is_empty() {
                break End::Ended;
            }
            if self.steps.len() == length {
                break End::CutOff;
            }
            let last = self.steps.last().map(|s| s.thread);
            let candidates: Vec<Candidate> = ready.iter().map(|(c, _)| *c).collect();
            let Some(chosen) = strategy.choose(&candidates, last) else {
                break End::Ended;
            };
            let (Candidate { thread, op }, t) = ready[chosen];
            let place = 0;
            let reading = Reading { thread, op, place };
            self.fails = self.may_fail(t) && strategy.fails(&reading);
            let step = match self.is_enabled(t) {
                true => self.step(t, thread, op),
                false => self.attempt(t, thread, op),
            };
            strategy.stepped(&step);
            self.steps.push(step);
        };
        let pending = |t: usize| {
            let (op, expected) = self.op(t)?;
            let thread = ThreadId(self.numbers[t]?);
            Some(Pending {
                thread,
                op,
                expected,
            })
        };
        let threads = 0..self.phases.len();
        let mut pending: Vec<Pending> = threads.filter_map(pending).collect();
        if self.attempts {
            pending.retain(|p| p.op.kind == Kind::WaitAny);
        }
        pending.sort_unstable_by_key(|p| p.thread);
        let trace = Trace {
            steps: self.steps,
            pending,
            end,
            overwrites: false,
        };
        (trace, self.shape)
    }

    fn eval(&self, t: usize, e: &Expr) -> Result<Value, EvalError> {
        Ok(self.program.domain.wrap(e.eval(&self.regs[t])?))
    }

    /// What the thread is about to do, if it runs, and the value that it compares with.
    fn op(&self, t: usize) -> Option<(Op, u64)> {
        let pc = match self.phases[t] {
            Phase::Unborn | Phase::Stopped(_) => return None,
            Phase::Begins => return Some((Op::bare(Kind::Begin), 0)),
            Phase::Ends => return Some((Op::bare(Kind::End), 0)),
            Phase::At(pc) => pc,
        };
        let instr = self.program.threads[t].instr(pc);
        let eval = |e: &Expr| self.eval(t, e).expect("it was evaluated before") as u64;
        let (kind, expected) = match instr {
            Instr::Load { .. } | Instr::PlainLoad { .. } => (Kind::Load, 0),
            Instr::Store { .. } | Instr::PlainStore { .. } => (Kind::Store, 0),
            Instr::Rmw { .. } => (Kind::Update, 0),
            Instr::Cas { expected, .. } => (Kind::Compare, eval(expected)),
            Instr::Wait { values, .. } if values.len() > 1 => (Kind::WaitAny, 0),
            Instr::Wait { values, .. } => (Kind::Wait, eval(&values[0])),
            Instr::Bcas { expected, .. } => (Kind::WaitUpdate, eval(expected)),
            Instr::Fence(_) => (Kind::Fence, 0),
            Instr::Spawn(_) => (Kind::Spawn, 0),
            Instr::Join(_) => (Kind::Join, 0),
            _ => unreachable!("local steps were made before"),
        };
        let Some(place) = instr.place() else {
            return Some((Op::bare(kind), 0));
        };
        let loc = place
            .resolve(&self.regs[t])
            .expect("it was resolved before");
        let address = 0x1000 + 8 * u64::from(loc.0);
        Some((Op::new(kind, address, 4), expected))
    }

    fn is_enabled(&self, t: usize) -> bool {
        let Phase::At(pc) = self.phases[t] else {
            return true;
        };
        match self.program.threads[t].instr(pc) {
            Instr::Join(child) => self.phases[child.index()] == Phase::Stopped(Stop::Ended),
            Instr::Wait { values, .. } => {
                let old = self.memory[self.location(t, pc).index()];
                values.iter().any(|v| self.eval(t, v) == Ok(old))
            }
            Instr::Bcas { expected, .. } => {
                let old = self.memory[self.location(t, pc).index()];
                self.eval(t, expected) == Ok(old)
            }
            _ => true,
        }
    }

    /// Whether it is tried though it has to wait.
    fn is_tried(&self, t: usize, kind: Kind) -> bool {
        self.attempts && !self.failed[t] && kind != Kind::WaitAny
    }

    /// Whether it is about to make a weak compare-and-swap that would succeed.
    fn may_fail(&self, t: usize) -> bool {
        let Phase::At(pc) = self.phases[t] else {
            return false;
        };
        let instr = self.program.threads[t].instr(pc);
        let Instr::Cas { expected, .. } = instr else {
            return false;
        };
        let old = self.memory[self.location(t, pc).index()];
        is_weak(instr) && self.eval(t, expected) == Ok(old)
    }

    fn location(&self, t: usize, pc: Pc) -> LocId {
        let place = self.program.threads[t].instr(pc).place();
        let place = place.expect("an access has a place");
        place
            .resolve(&self.regs[t])
            .expect("it was resolved before")
    }

    /// Tries what has to wait.
    fn attempt(&mut self, t: usize, thread: ThreadId, op: Op) -> Step {
        self.failed[t] = true;
        let mut step = Step::new(thread, op);
        step.writes = false;
        if let Phase::At(pc) = self.phases[t] {
            match self.program.threads[t].instr(pc) {
                Instr::Join(child) => {
                    step.child = ThreadId(self.numbers[child.index()].unwrap_or(u32::MAX));
                }
                _ => step.read = self.memory[self.location(t, pc).index()] as u64,
            }
        }
        step.expected = self.op(t).map_or(0, |(_, expected)| expected);
        step
    }

    fn step(&mut self, t: usize, thread: ThreadId, op: Op) -> Step {
        // Whoever failed may try again.
        if op.kind.may_write() || op.kind == Kind::End {
            self.failed.fill(false);
        }
        let mut step = Step::new(thread, op);
        let pc = match self.phases[t] {
            Phase::At(pc) => pc,
            Phase::Begins => {
                self.shape.push(t, "begin", None);
                self.phases[t] = Phase::At(Pc(0));
                self.local_steps(t);
                return step;
            }
            Phase::Ends => {
                self.shape.push(t, "end", None);
                self.phases[t] = Phase::Stopped(Stop::Ended);
                return step;
            }
            phase => unreachable!("{phase:?} has no step"),
        };
        let program = self.program;
        match program.threads[t].instr(pc) {
            Instr::Fence(_) => self.shape.push(t, "fence", None),
            Instr::Spawn(child) => {
                let next = 1 + self.numbers.iter().flatten().max().copied().unwrap_or(0);
                self.numbers[child.index()] = Some(next);
                self.phases[child.index()] = Phase::Begins;
                step.child = ThreadId(next);
                self.shape.push(t, "create", None);
            }
            Instr::Join(child) => {
                let number = self.numbers[child.index()];
                step.child = ThreadId(number.expect("it has ended"));
                self.shape.push(t, "join", None);
            }
            access => self.access(t, access, self.location(t, pc), &mut step),
        }
        self.phases[t] = Phase::At(Pc(pc.0 + 1));
        self.local_steps(t);
        step
    }

    fn access(&mut self, t: usize, instr: &Instr, loc: LocId, step: &mut Step) {
        let old = self.memory[loc.index()];
        let domain = self.program.domain;
        let eval = |e: &Expr| self.eval(t, e).expect("it was evaluated before");
        let written = match instr {
            Instr::Store { value, .. } | Instr::PlainStore { value, .. } => Some(eval(value)),
            Instr::Rmw { op, operand, .. } => {
                Some(domain.wrap(op.apply(old, i64::from(eval(operand)))))
            }
            Instr::Cas { expected, new, .. } => {
                (eval(expected) == old && !self.fails).then(|| eval(new))
            }
            Instr::Bcas { new, .. } => Some(eval(new)),
            _ => None,
        };
        let reads = step.op.kind.may_read();
        step.read = old as u64;
        step.wrote = written.unwrap_or_default() as u64;
        step.writes = written.is_some();
        step.spurious = self.fails;
        step.may_fail = is_weak(instr);
        if let Instr::Cas { expected, .. } | Instr::Bcas { expected, .. } = instr {
            step.expected = eval(expected) as u64;
        } else if let Instr::Wait { values, .. } = instr {
            step.expected = eval(&values[0]) as u64;
        }
        let kind = match (reads, written.is_some()) {
            (true, true) => "rmw",
            (true, false) => "read",
            (false, _) => "write",
        };
        self.shape.push(t, kind, Some(loc));
        let regs = &mut self.regs[t];
        instr.for_each_written_reg(&mut |r| regs[r.index()] = old);
        if let Instr::Cas {
            success: Some(r), ..
        } = instr
        {
            regs[r.index()] = Value::from(written.is_some());
        }
        if let Some(value) = written {
            self.memory[loc.index()] = value;
        }
    }

    /// Runs `t` up to its next step, or to its end.
    fn local_steps(&mut self, t: usize) {
        for _ in 0..LOCAL_STEPS {
            let Phase::At(pc) = self.phases[t] else {
                return;
            };
            match self.local_step(t, pc) {
                Ok(None) => return,
                Ok(Some(phase)) => self.phases[t] = phase,
                Err(error) => self.phases[t] = Phase::Stopped(Stop::Trap(pc, error)),
            }
        }
        panic!("a loop without a step");
    }

    /// Makes a step that nobody notices, if the next one is.
    fn local_step(&mut self, t: usize, pc: Pc) -> Result<Option<Phase>, EvalError> {
        let next = Phase::At(Pc(pc.0 + 1));
        let thread = &self.program.threads[t];
        Ok(Some(match thread.instr(pc) {
            Instr::Assign { dst, value } => {
                let value = self.eval(t, value)?;
                self.regs[t][dst.index()] = value;
                next
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => Phase::At(if cond.eval(&self.regs[t])? != 0 {
                *then
            } else {
                *otherwise
            }),
            Instr::Jump(to) => Phase::At(*to),
            Instr::Assert(e) if e.eval(&self.regs[t])? == 0 => Phase::Stopped(Stop::Assertion(pc)),
            Instr::Assume(e) if e.eval(&self.regs[t])? == 0 => Phase::Stopped(Stop::Assumption(pc)),
            Instr::Observe(e) => e.eval(&self.regs[t]).map(|_| next)?,
            Instr::Assert(_) | Instr::Assume(_) => next,
            Instr::Halt => match thread.start {
                Start::Initial => Phase::Stopped(Stop::Ended),
                Start::Spawned => Phase::Ends,
            },
            instr => {
                self.operands(t, instr)?;
                return Ok(None);
            }
        }))
    }

    /// Evaluates what the instruction needs, so that a trap is noticed before it is made.
    fn operands(&self, t: usize, instr: &Instr) -> Result<(), EvalError> {
        if let Some(place) = instr.place() {
            place.resolve(&self.regs[t])?;
        }
        match instr {
            Instr::Store { value, .. } | Instr::PlainStore { value, .. } => {
                self.eval(t, value).map(drop)
            }
            Instr::Rmw { operand, .. } => self.eval(t, operand).map(drop),
            Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => {
                self.eval(t, expected)?;
                self.eval(t, new).map(drop)
            }
            Instr::Wait { values, .. } => values.iter().try_for_each(|v| self.eval(t, v).map(drop)),
            _ => Ok(()),
        }
    }
}
