//! A program through an engine, over all schedules and all choices of writes.

use super::outcome::orders;
use super::{Memory, Name, Outcome};
use rsan_axioms::Stop;
use rsan_clocks::write_log::{Rules, SlotTable, ThreadState, VectorClock};
use rsan_model::{
    CasStrength, EvalError, Expr, Instr, Label, LocId, Pc, Program, ReadOrd, RegId, RmwOrd, Start,
    ThreadId, Value,
};
use std::collections::HashSet;

/// What is collected, and how the engine is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mode {
    /// Only the last write of each location, not the orders of all: what is left if the engine may forget.
    pub summary: bool,
    /// The engine is told after each step what all threads know.
    pub prune: bool,
    /// The engine is asked to show fewer executions, with this window ([`rsan_weak::Engine::set_window`]).
    pub window: Option<u64>,
    /// Schedules that differ in the order of accesses of one location are followed although they have the same graph.
    pub all_orders: bool,
}

/// What came of running a program.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The complete executions.
    pub outcomes: HashSet<Outcome>,
    /// Steps that were made.
    pub steps: u64,
    /// There was no time for the rest.
    pub cut: bool,
}

/// Where an execution is: two with the same state go on alike.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    pcs: Vec<Pc>,
    stops: Vec<Option<Stop>>,
    registers: Vec<Vec<Value>>,
    events: Vec<Vec<(Label, Option<Name>)>>,
    /// Threads of the seq_cst events, as they were executed.
    sc: Vec<usize>,
    /// Threads of the accesses of each location, if all orders are followed.
    accesses: Vec<Vec<usize>>,
}

#[derive(Clone)]
struct Run<M: Memory> {
    state: State,
    memory: M,
    locations: Vec<M::Location>,
    threads: Vec<Option<ThreadState>>,
    slots: SlotTable,
}

/// What a thread does with a write that it reads.
struct Choice<W> {
    write: W,
    source: Name,
    label: Label,
    sets: Vec<(RegId, Value)>,
}

struct Explorer<'p> {
    program: &'p Program,
    mode: Mode,
    most_steps: u64,
    seen: HashSet<State>,
    found: Exploration,
}

/// All executions of a program, which has no plain accesses, with an engine that knows no location yet. After so many steps it ends.
pub fn executions<M: Memory>(
    program: &Program,
    mut memory: M,
    mode: Mode,
    most_steps: u64,
) -> Exploration {
    let threads = program.threads.len();
    let initial = |t: &rsan_model::Thread| t.start == Start::Initial;
    let stops = program.threads.iter();
    let locations = program.locations.iter().enumerate();
    let mut run = Run {
        state: State {
            pcs: vec![Pc(0); threads],
            stops: stops
                .map(|t| (!initial(t)).then_some(Stop::NotStarted))
                .collect(),
            registers: program
                .threads
                .iter()
                .map(|t| t.initial_registers())
                .collect(),
            events: vec![Vec::new(); threads],
            sc: Vec::new(),
            accesses: vec![Vec::new(); program.locations.len()],
        },
        locations: locations.map(|(l, at)| memory.create(l, at.init)).collect(),
        memory,
        threads: vec![None; threads],
        slots: SlotTable::new(None),
    };
    let mut explorer = Explorer {
        program,
        mode,
        most_steps,
        seen: HashSet::new(),
        found: Exploration {
            outcomes: HashSet::new(),
            steps: 0,
            cut: false,
        },
    };
    for (t, thread) in program.threads.iter().enumerate() {
        if initial(thread) {
            let place = run.slots.assign(None, Rules::c20());
            run.threads[t] = Some(ThreadState::initial(ThreadId::new(t), place, Rules::c20()));
            explorer.local_steps(&mut run, t);
        }
    }
    explorer.explore(run);
    explorer.found
}

impl Explorer<'_> {
    fn explore<M: Memory>(&mut self, run: Run<M>) {
        if !self.seen.insert(run.state.clone()) {
            return;
        }
        if self.found.steps == self.most_steps {
            self.found.cut = true;
            return;
        }
        self.found.steps += 1;
        let mut must_move = false;
        for t in 0..self.program.threads.len() {
            if run.state.stops[t].is_none() {
                must_move |= !self.step(&run, t);
            }
        }
        if !must_move {
            self.complete(&run);
        }
    }

    fn instr<M: Memory>(&self, run: &Run<M>, t: usize) -> &Instr {
        self.program.threads[t].instr(run.state.pcs[t])
    }

    /// Makes the next step of a thread, in all ways; says whether the thread may wait there for ever.
    fn step<M: Memory>(&mut self, run: &Run<M>, t: usize) -> bool {
        let mut next = run.clone();
        match self.instr(run, t).clone() {
            Instr::Choose(targets) => {
                for to in targets {
                    let mut next = run.clone();
                    next.state.pcs[t] = to;
                    self.local_steps(&mut next, t);
                    self.explore(next);
                }
            }
            Instr::Fence(ord) => {
                let by = next.threads[t].as_mut().expect("it runs");
                next.memory.fence(by, ord);
                self.follow(next, t, Some((Label::Fence(ord), None)));
            }
            Instr::Spawn(child) => {
                let by = next.threads[t].as_mut().expect("it runs");
                let place = next.slots.assign(Some(by), Rules::c20());
                next.threads[child.index()] = Some(by.spawn(child, place, Rules::c20()));
                next.state.stops[child.index()] = None;
                self.local_steps(&mut next, child.index());
                self.follow(next, t, None);
            }
            Instr::Join(child) => {
                if run.state.stops[child.index()] != Some(Stop::Ended) {
                    return true;
                }
                let child = run.threads[child.index()].as_ref().expect("it has run");
                let by = next.threads[t].as_mut().expect("it runs");
                by.join(child, Rules::c20());
                self.follow(next, t, None);
            }
            Instr::Store { place, value, ord } => {
                let registers = &run.state.registers[t];
                let loc = place.resolve(registers).expect("it was evaluated before");
                let value = self.eval(&value, registers);
                let tag = run.next_name(t).tag();
                let by = next.threads[t].as_mut().expect("it runs");
                next.memory
                    .store(by, run.locations[loc.index()], (value, tag), ord);
                self.follow(next, t, Some((Label::Write { loc, value, ord }, None)));
            }
            instr => {
                for choice in self.choices(&mut next, t, &instr) {
                    self.read(next.clone(), t, choice);
                }
                return matches!(instr, Instr::Wait { .. } | Instr::Bcas { .. });
            }
        }
        false
    }

    fn read<M: Memory>(&mut self, mut next: Run<M>, t: usize, choice: Choice<M::Write>) {
        let Choice {
            write,
            source,
            label,
            sets,
        } = choice;
        let loc = label.loc().expect("an access");
        let at = next.locations[loc.index()];
        let tag = next.next_name(t).tag();
        let by = next.threads[t].as_mut().expect("it runs");
        match label {
            Label::Rmw { written, ord, .. } => {
                next.memory.update(by, at, write, (written, tag), ord)
            }
            Label::Read { ord, .. } => next.memory.read(by, at, write, ord),
            _ => unreachable!("reads and read-modify-writes"),
        }
        for (register, value) in sets {
            next.state.registers[t][register.index()] = value;
        }
        self.follow(next, t, Some((label, Some(source))));
    }

    /// Goes on after a step of a thread.
    fn follow<M: Memory>(
        &mut self,
        mut run: Run<M>,
        t: usize,
        event: Option<(Label, Option<Name>)>,
    ) {
        if let Some((label, source)) = event {
            if label.is_sc_access() || label.is_sc_fence() {
                run.state.sc.push(t);
            }
            if self.mode.all_orders
                && let Some(loc) = label.loc()
            {
                run.state.accesses[loc.index()].push(t);
            }
            run.state.events[t].push((label, source));
        }
        run.state.pcs[t].0 += 1;
        self.local_steps(&mut run, t);
        if self.mode.prune {
            let live = run.threads.iter().zip(&run.state.stops);
            let live = live.filter(|(_, stop)| stop.is_none());
            let known: Vec<&VectorClock> =
                live.filter_map(|(t, _)| Some(t.as_ref()?.hb())).collect();
            run.memory.prune(&rsan_weak::horizon(known));
        }
        self.explore(run);
    }

    /// What a reading instruction can read, and what comes of it.
    fn choices<M: Memory>(
        &self,
        run: &mut Run<M>,
        t: usize,
        instr: &Instr,
    ) -> Vec<Choice<M::Write>> {
        let registers = run.state.registers[t].clone();
        let place = instr.place().expect("an access");
        let loc = place.resolve(&registers).expect("it was evaluated before");
        let eval = |e: &Expr| self.eval(e, &registers);
        let mut ways = Ways { run, t, loc };
        let set = |dst: &Option<RegId>, value| dst.map(|r| (r, value));
        match instr {
            Instr::Load { dst, ord, .. } => ways.reads(*ord, |value| Some(vec![(*dst, value)])),
            Instr::Wait {
                dst, values, ord, ..
            } => {
                let values: Vec<Value> = values.iter().map(eval).collect();
                let passes = |value| values.contains(&value);
                ways.reads(*ord, |value| {
                    passes(value).then(|| set(dst, value).into_iter().collect())
                })
            }
            Instr::Rmw {
                dst,
                op,
                operand,
                ord,
                ..
            } => {
                let operand = operand.eval(&registers).expect("it was evaluated before");
                ways.updates(*ord, |value| {
                    let written = self.program.domain.wrap(op.apply(value, operand));
                    Some((written, set(dst, value).into_iter().collect()))
                })
            }
            Instr::Bcas {
                expected, new, ord, ..
            } => {
                let (expected, new) = (eval(expected), eval(new));
                ways.updates(*ord, |value| (value == expected).then(|| (new, Vec::new())))
            }
            Instr::Cas {
                dst,
                success,
                expected,
                new,
                ord,
                fail,
                strength,
                ..
            } => {
                let (expected, new) = (eval(expected), eval(new));
                let sets = |value, done| {
                    set(dst, value)
                        .into_iter()
                        .chain(set(success, done))
                        .collect()
                };
                let mut choices = ways.updates(*ord, |value| {
                    (value == expected).then(|| (new, sets(value, 1)))
                });
                choices.extend(ways.reads(*fail, |value| {
                    let fails = value != expected || *strength == CasStrength::Weak;
                    fails.then(|| sets(value, 0))
                }));
                choices
            }
            _ => unreachable!("{instr:?} does not read"),
        }
    }

    /// Runs local instructions of a thread.
    fn local_steps<M: Memory>(&mut self, run: &mut Run<M>, t: usize) {
        let before = run.state.stops[t];
        while run.state.stops[t].is_none() {
            match self.local_step(&mut run.state, t) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => run.state.stops[t] = Some(Stop::Trap(run.state.pcs[t], error)),
            }
        }
        if before.is_none() && run.state.stops[t] == Some(Stop::Ended) {
            run.slots
                .retire(run.threads[t].as_ref().expect("it has run"));
        }
    }

    /// One local instruction; whether there was one.
    fn local_step(&self, state: &mut State, t: usize) -> Result<bool, EvalError> {
        let (registers, pc) = (&mut state.registers[t], &mut state.pcs[t]);
        let mut to = Pc(pc.0 + 1);
        match self.program.threads[t].instr(*pc) {
            Instr::Assign { dst, value } => {
                registers[dst.index()] = self.program.domain.wrap(value.eval(registers)?);
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                to = if cond.eval(registers)? != 0 {
                    *then
                } else {
                    *otherwise
                };
            }
            Instr::Jump(target) => to = *target,
            Instr::Assert(e) if e.eval(registers)? == 0 => {
                state.stops[t] = Some(Stop::Assertion(*pc))
            }
            Instr::Assume(e) if e.eval(registers)? == 0 => {
                state.stops[t] = Some(Stop::Assumption(*pc))
            }
            Instr::Observe(e) => drop(e.eval(registers)?),
            Instr::Assert(_) | Instr::Assume(_) => {}
            Instr::Halt => state.stops[t] = Some(Stop::Ended),
            instr => {
                evaluate(instr, registers)?;
                return Ok(false);
            }
        }
        if state.stops[t].is_none() {
            *pc = to;
        }
        Ok(true)
    }

    fn eval(&self, e: &Expr, registers: &[Value]) -> Value {
        let value = e.eval(registers).expect("it was evaluated before");
        self.program.domain.wrap(value)
    }

    /// All threads have stopped, or wait: an outcome for each order of writes after which those that wait can't go on.
    fn complete<M: Memory>(&mut self, run: &Run<M>) {
        let source = |name: Name| match name {
            Name(0, _) => None,
            Name(t, i) => run.state.events[t as usize - 1][i as usize].1,
        };
        let orders = run.locations.iter();
        let orders = orders.map(|at| orders_of(run, *at, &source, !self.mode.summary));
        let orders: Vec<_> = orders.collect();
        let mut picked = vec![0; orders.len()];
        loop {
            let chosen: Vec<_> = orders
                .iter()
                .zip(&picked)
                .map(|(all, i)| &all[*i])
                .collect();
            self.outcome(run, &chosen);
            let more = |l: &usize| picked[*l] + 1 < orders[*l].len();
            let Some(l) = (0..orders.len()).find(more) else {
                return;
            };
            picked[l] += 1;
            picked[..l].fill(0);
        }
    }

    /// An outcome with these orders of writes, unless somebody could go on after the last ones.
    fn outcome<M: Memory>(&mut self, run: &Run<M>, orders: &[&(Vec<Name>, Value)]) {
        let mut stops = Vec::new();
        for t in 0..self.program.threads.len() {
            stops.push(match run.state.stops[t] {
                Some(stop) => stop,
                None if self.could_pass(run, t, orders) => return,
                None => Stop::Blocked(run.state.pcs[t]),
            });
        }
        self.found.outcomes.insert(Outcome {
            events: run.state.events.clone(),
            writes: orders.iter().map(|(order, _)| order.clone()).collect(),
            memory: orders.iter().map(|(_, value)| *value).collect(),
            registers: run.state.registers.clone(),
            stops,
        });
    }

    /// Whether a thread that waits could go on if it saw the last writes.
    fn could_pass<M: Memory>(
        &self,
        run: &Run<M>,
        t: usize,
        orders: &[&(Vec<Name>, Value)],
    ) -> bool {
        let registers = &run.state.registers[t];
        let instr = self.instr(run, t);
        let Some(place) = instr.place() else {
            return false;
        };
        let loc = place.resolve(registers).expect("it was evaluated before");
        let last = orders[loc.index()].1;
        match instr {
            Instr::Wait { values, .. } => values.iter().any(|e| self.eval(e, registers) == last),
            Instr::Bcas { expected, .. } => self.eval(expected, registers) == last,
            _ => unreachable!("{instr:?} does not wait"),
        }
    }
}

fn orders_of<M: Memory>(
    run: &Run<M>,
    at: M::Location,
    source: &dyn Fn(Name) -> Option<Name>,
    whole: bool,
) -> Vec<(Vec<Name>, Value)> {
    orders(&run.memory, at, source, whole)
}

/// Everything that an instruction computes before its access.
fn evaluate(instr: &Instr, registers: &[Value]) -> Result<(), EvalError> {
    if let Some(place) = instr.place() {
        place.resolve(registers)?;
    }
    let operands: Vec<&Expr> = match instr {
        Instr::Store { value, .. } => vec![value],
        Instr::Rmw { operand, .. } => vec![operand],
        Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => vec![expected, new],
        Instr::Wait { values, .. } => values.iter().collect(),
        _ => Vec::new(),
    };
    operands
        .into_iter()
        .try_for_each(|e| e.eval(registers).map(drop))
}

impl Mode {
    /// The engine may forget what it likes, and does so at once.
    pub fn forgetting(window: Option<u64>) -> Self {
        Self {
            summary: true,
            prune: true,
            window,
            all_orders: false,
        }
    }
}

impl<M: Memory> Run<M> {
    /// The name of the next event of a thread.
    fn next_name(&self, t: usize) -> Name {
        Name(t as u32 + 1, self.state.events[t].len() as u32)
    }
}

/// The ways in which a thread can read a location.
struct Ways<'r, M: Memory> {
    run: &'r mut Run<M>,
    t: usize,
    loc: LocId,
}

impl<M: Memory> Ways<'_, M> {
    /// Loads of the values that `accept` has something to do with.
    fn reads(
        &mut self,
        ord: ReadOrd,
        accept: impl Fn(Value) -> Option<Vec<(RegId, Value)>>,
    ) -> Vec<Choice<M::Write>> {
        let Run {
            memory,
            threads,
            locations,
            ..
        } = &mut *self.run;
        let (loc, at) = (self.loc, locations[self.loc.index()]);
        let by = threads[self.t].as_mut().expect("it runs");
        let readable = memory.readable(by, at, ord);
        let choice = |id| {
            let known = memory.known(at, id);
            let value = known.value;
            Some(Choice {
                write: id,
                source: Name::of_tag(known.tag),
                sets: accept(value)?,
                label: Label::Read { loc, value, ord },
            })
        };
        readable.into_iter().filter_map(choice).collect()
    }

    /// Read-modify-writes of the values that `accept` has something to do with.
    fn updates(
        &mut self,
        ord: RmwOrd,
        accept: impl Fn(Value) -> Option<(Value, Vec<(RegId, Value)>)>,
    ) -> Vec<Choice<M::Write>> {
        let Run {
            memory,
            threads,
            locations,
            ..
        } = &mut *self.run;
        let (loc, at) = (self.loc, locations[self.loc.index()]);
        let by = threads[self.t].as_mut().expect("it runs");
        let updatable = memory.updatable(by, at, ord);
        let choice = |id| {
            let known = memory.known(at, id);
            let read = known.value;
            let (written, sets) = accept(read)?;
            Some(Choice {
                write: id,
                source: Name::of_tag(known.tag),
                sets,
                label: Label::Rmw {
                    loc,
                    read,
                    written,
                    ord,
                },
            })
        };
        updatable.into_iter().filter_map(choice).collect()
    }
}
