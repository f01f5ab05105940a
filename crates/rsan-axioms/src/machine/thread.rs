//! All traces of one thread, when a load may see any value of its location's set.

use super::taint::Taint;
use super::ticker::{Abort, Ticker};
use super::{Access, Error, Kind};
use rsan_model::machine::{Machine, Op, Program, Strength, location_at};
use rsan_model::{Domain, EvalError, EventId, EventSet, Expr, LocId, RegId, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a thread does, from its beginning to its end.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Trace {
    /// Its events, in program order.
    pub(super) steps: Vec<Step>,
    /// Its registers at the end.
    pub(super) registers: Vec<Value>,
    /// Why it goes no further; `None` at the end of the code.
    pub(super) fault: Option<Error>,
}

impl Trace {
    /// How many bytes it takes.
    fn size(&self) -> u64 {
        let steps = self.steps.len() * size_of::<Step>();
        let registers = self.registers.len() * size_of::<Value>();
        (size_of::<Self>() + steps + registers) as u64
    }

    /// What it accesses, with which values: few different traces have the same.
    fn accesses(&self) -> Vec<(usize, Option<(LocId, Value)>)> {
        let of_step = |step: &Step| match step.kind {
            Kind::Read(a) | Kind::Write(a) => (step.op, Some((a.loc, a.value))),
            Kind::Fence(_) => (step.op, None),
        };
        self.steps.iter().map(of_step).collect()
    }
}

/// An event of a trace. Taints and `rmw` are indices of the trace.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    /// The operation.
    pub(super) op: usize,
    /// What it does.
    pub(super) kind: Kind,
    /// What the address depends on.
    pub(super) addr: Taint,
    /// What the stored value depends on; for a load, by what choices what it may see of its own thread was made.
    pub(super) data: Taint,
    /// What branches before it depend on.
    pub(super) ctrl: Taint,
    /// For the write of an update: its read.
    pub(super) rmw: Option<usize>,
    /// For a write: what a load of it depends on where dependencies pass through memory (ARMv8).
    memory: Taint,
}

/// How often a thread may take a backward jump on which neither memory nor chance decides.
const COUNTED: u32 = 1_000;

/// The values that each location may hold.
pub(super) type Values = Vec<BTreeSet<Value>>;

/// Runs a thread in all ways.
pub(super) struct Walker<'p> {
    pub(super) program: &'p Program,
    pub(super) thread: usize,
    pub(super) machine: Machine,
    pub(super) values: &'p Values,
    pub(super) unroll: u32,
    pub(super) max_events: usize,
}

/// The traces of a thread.
pub(super) struct Traces {
    /// Each once.
    pub(super) all: Vec<Trace>,
    /// Whether some were cut off at the bound of loops.
    pub(super) cut: bool,
}

/// A thread on its way.
#[derive(Clone)]
struct State {
    pc: usize,
    registers: Vec<Value>,
    taints: Vec<Taint>,
    ctrl: Taint,
    steps: Vec<Step>,
    /// The exclusive load that a store-exclusive may belong to, and its location.
    reservation: Option<(LocId, usize)>,
    backward_jumps: BTreeMap<usize, u32>,
}

/// How a run goes on after an operation.
enum Next {
    /// With the next operation.
    On,
    /// In each of these ways.
    Each(Vec<State>),
    /// Not at all: what is waited for does not hold.
    Dropped,
    /// Only in these ways: others have too many iterations.
    Cut(Vec<State>),
}

impl Walker<'_> {
    /// All traces, in a fixed order.
    pub(super) fn traces(&self, ticker: &mut Ticker<'_>) -> Result<Traces, Abort> {
        let thread = &self.program.threads[self.thread];
        let mut open = vec![State {
            pc: 0,
            registers: thread.registers.iter().map(|r| r.init).collect(),
            taints: vec![Taint::default(); thread.registers.len()],
            ctrl: Taint::default(),
            steps: Vec::new(),
            reservation: None,
            backward_jumps: BTreeMap::new(),
        }];
        let has_choice = thread.code.iter().any(|op| matches!(op, Op::Choose { .. }));
        let (mut all, mut cut) = (Vec::new(), false);
        let mut known: HashMap<_, Vec<usize>> = HashMap::new();
        while let Some(mut state) = open.pop() {
            let fault = loop {
                ticker.tick(0)?;
                if state.pc >= thread.code.len() {
                    break None;
                }
                if state.steps.len() > self.max_events {
                    let max_events = self.max_events;
                    return Err(Abort::Error(Error::TooLarge { max_events }));
                }
                match self.operation(&mut state) {
                    Ok(Next::On) => {}
                    Ok(Next::Each(states)) => {
                        open.extend(states.into_iter().rev());
                        break Some(None);
                    }
                    Ok(Next::Dropped) => break Some(None),
                    Ok(Next::Cut(states)) => {
                        cut = true;
                        open.extend(states.into_iter().rev());
                        break Some(None);
                    }
                    Err(error) => break Some(Some(error)),
                }
            };
            let fault = match fault {
                Some(None) => continue,
                Some(Some(error)) => Some(error),
                None => None,
            };
            let trace = Trace {
                steps: state.steps,
                registers: state.registers,
                fault,
            };
            if has_choice {
                let similar = known.entry(trace.accesses()).or_default();
                if similar.iter().any(|&index| all[index] == trace) {
                    continue;
                }
                similar.push(all.len());
            }
            ticker.tick(trace.size())?;
            all.push(trace);
        }
        Ok(Traces { all, cut })
    }

    /// One operation.
    fn operation(&self, state: &mut State) -> Result<Next, Error> {
        let pc = state.pc;
        state.pc += 1;
        match &self.program.threads[self.thread].code[pc] {
            Op::Assign { dst, value } => {
                let taint = self.taint(state, pc, value)?;
                let value = self.value(state, pc, value)?;
                state.set(*dst, value, taint);
            }
            Op::Fence(fence) => {
                state.push(pc, Kind::Fence(*fence), [Taint::default(); 2]);
            }
            Op::Branch { condition, target } => {
                let taint = self.taint(state, pc, condition)?;
                state.ctrl = state.ctrl.join(taint);
                if self.value(state, pc, condition)? != 0 {
                    // A loop that nothing decides but the thread itself ends by itself, or never.
                    let bound = if taint.is_empty() {
                        COUNTED
                    } else {
                        self.unroll
                    };
                    return Ok(state.jump(pc, *target, bound));
                }
            }
            Op::Jump { target } => return Ok(state.jump(pc, *target, self.unroll)),
            Op::Choose { targets } => return Ok(self.choose(state, pc, targets)),
            Op::Await(condition) => {
                state.ctrl = state.ctrl.join(self.taint(state, pc, condition)?);
                if self.value(state, pc, condition)? == 0 {
                    return Ok(Next::Dropped);
                }
            }
            Op::Store {
                address,
                value,
                strength,
            } => {
                let loc = self.location(state, pc, address)?;
                let taints = [
                    self.taint(state, pc, address)?,
                    self.taint(state, pc, value)?,
                ];
                let value = self.value(state, pc, value)?;
                let write = access(loc, value, *strength);
                state.push(pc, Kind::Write(write), taints);
            }
            Op::Load { .. } => return self.load(state, pc),
            Op::StoreExclusive { .. } => return self.store_exclusive(state, pc),
            Op::Update { .. } => return self.update(state, pc),
        }
        Ok(Next::On)
    }

    fn choose(&self, state: &State, pc: usize, targets: &[usize]) -> Next {
        let (mut ways, mut cut) = (Vec::new(), false);
        for &target in targets {
            // Each way counts its own jumps.
            let mut way = state.clone();
            match way.jump(pc, target, self.unroll) {
                Next::Cut(_) => cut = true,
                _ => ways.push(way),
            }
        }
        match cut {
            true => Next::Cut(ways),
            false => Next::Each(ways),
        }
    }

    fn load(&self, state: &State, pc: usize) -> Result<Next, Error> {
        let Op::Load {
            dst,
            address,
            strength,
            exclusive,
        } = &self.program.threads[self.thread].code[pc]
        else {
            unreachable!("a load")
        };
        let loc = self.location(state, pc, address)?;
        let addr = self.taint(state, pc, address)?;
        let mut ways = Vec::new();
        for &value in &self.values[loc.index()] {
            let mut way = state.clone();
            let read = Access {
                exclusive: *exclusive,
                ..access(loc, value, *strength)
            };
            let index = self.read(&mut way, pc, read, addr, *dst);
            if *exclusive {
                way.reservation = Some((loc, index));
            }
            ways.push(way);
        }
        Ok(Next::Each(ways))
    }

    /// Adds a read that sets a register.
    fn read(&self, state: &mut State, pc: usize, read: Access, addr: Taint, dst: RegId) -> usize {
        // Arm's dependencies go through addresses of loads and through the thread's own stores.
        let (through, memory) = match self.machine {
            Machine::Armv8 => (addr, state.last_write(read.loc)),
            _ => (Taint::default(), Taint::default()),
        };
        let index = state.push(pc, Kind::Read(read), [addr, memory.picked()]);
        let taint = Taint::of(only(index)).join(through).join(memory);
        state.set(dst, read.value, taint);
        index
    }

    fn store_exclusive(&self, state: &State, pc: usize) -> Result<Next, Error> {
        let Op::StoreExclusive {
            status,
            on_success,
            address,
            value,
            strength,
        } = &self.program.threads[self.thread].code[pc]
        else {
            unreachable!("a store-exclusive")
        };
        let loc = self.location(state, pc, address)?;
        let taints = [
            self.taint(state, pc, address)?,
            self.taint(state, pc, value)?,
        ];
        let value = self.value(state, pc, value)?;
        let mut ways = Vec::new();
        if let Some((reserved, read)) = state.reservation
            && reserved == loc
        {
            let mut way = state.clone();
            way.reservation = None;
            let write = Access {
                exclusive: true,
                ..access(loc, value, *strength)
            };
            let index = way.push(pc, Kind::Write(write), taints);
            way.steps[index].rmw = Some(read);
            if let Some(status) = status {
                // Only on RISC-V does what the status decides depend on the store.
                let taint = match self.machine {
                    Machine::Riscv => Taint::of(only(index)),
                    _ => Taint::CHANCE,
                };
                way.set(*status, *on_success, taint);
            }
            ways.push(way);
        }
        let mut way = state.clone();
        way.reservation = None;
        if let Some(status) = status {
            way.set(*status, 1 - on_success, Taint::CHANCE);
        }
        ways.push(way);
        Ok(Next::Each(ways))
    }

    fn update(&self, state: &State, pc: usize) -> Result<Next, Error> {
        let Op::Update {
            dst,
            returns,
            address,
            condition,
            value,
            read,
            write,
        } = &self.program.threads[self.thread].code[pc]
        else {
            unreachable!("an update")
        };
        let loc = self.location(state, pc, address)?;
        let addr = self.taint(state, pc, address)?;
        let mut ways = Vec::new();
        for &seen in &self.values[loc.index()] {
            let mut way = state.clone();
            let access = |value, strength: &Strength| Access {
                update: true,
                returns: *returns,
                ..access(loc, value, *strength)
            };
            let index = self.read(&mut way, pc, access(seen, read), addr, *dst);
            let (mut writes, mut chosen) = (true, Taint::default());
            if let Some(condition) = condition {
                chosen = self.taint(&way, pc, condition)?.picking();
                writes = self.value(&way, pc, condition)? != 0;
            }
            if writes {
                let data = self.taint(&way, pc, value)?.join(chosen);
                let written = self.value(&way, pc, value)?;
                // On Arm the way from an instruction's read to its write is no data dependency.
                let from_others = match self.machine {
                    Machine::Armv8 => data.without(only(index)),
                    _ => data,
                };
                let step = way.push(pc, Kind::Write(access(written, write)), [addr, from_others]);
                way.steps[step].rmw = Some(index);
                way.steps[step].memory = addr.join(data);
            }
            ways.push(way);
        }
        Ok(Next::Each(ways))
    }

    fn value(&self, state: &State, op: usize, expr: &Expr) -> Result<Value, Error> {
        let value = expr.eval(&state.registers);
        Ok(Domain::Int32.wrap(value.map_err(|e| self.eval_error(op, e))?))
    }

    fn taint(&self, state: &State, op: usize, expr: &Expr) -> Result<Taint, Error> {
        Taint::of_expr(expr, &state.registers, &state.taints, self.machine)
            .map_err(|e| self.eval_error(op, e))
    }

    fn location(&self, state: &State, op: usize, address: &Expr) -> Result<LocId, Error> {
        let address = self.value(state, op, address)?;
        let found = location_at(address, self.program.locations.len());
        found.ok_or(Error::NoLocation {
            thread: ThreadId::new(self.thread),
            op,
            address: i64::from(address),
        })
    }

    fn eval_error(&self, op: usize, error: EvalError) -> Error {
        let thread = ThreadId::new(self.thread);
        Error::Eval { thread, op, error }
    }
}

impl State {
    fn set(&mut self, register: RegId, value: Value, taint: Taint) {
        self.registers[register.index()] = value;
        self.taints[register.index()] = taint;
    }

    /// Adds an event; its index.
    fn push(&mut self, op: usize, kind: Kind, [addr, data]: [Taint; 2]) -> usize {
        self.steps.push(Step {
            op,
            kind,
            addr,
            data,
            ctrl: self.ctrl,
            rmw: None,
            memory: addr.join(data),
        });
        self.steps.len() - 1
    }

    /// What the thread's last store to a location depends on.
    fn last_write(&self, loc: LocId) -> Taint {
        let writes = self.steps.iter().rev();
        let mut own = writes.filter(|s| matches!(s.kind, Kind::Write(a) if a.loc == loc));
        own.next().map_or(Taint::default(), |s| s.memory)
    }

    /// Goes to `target`; a backward jump too many ends the run.
    fn jump(&mut self, from: usize, target: usize, unroll: u32) -> Next {
        if target <= from {
            let count = self.backward_jumps.entry(from).or_default();
            if *count == unroll {
                return Next::Cut(Vec::new());
            }
            *count += 1;
        }
        self.pc = target;
        Next::On
    }
}

fn access(loc: LocId, value: Value, strength: Strength) -> Access {
    Access {
        loc,
        value,
        strength,
        exclusive: false,
        update: false,
        returns: true,
    }
}

fn only(index: usize) -> EventSet {
    std::iter::once(EventId::new(index)).collect()
}
