//! A program through an engine, over all schedules and all choices of writes.

use super::choices::Choice;
use super::{Memory, Name, Outcome};
use rsan_axioms::Stop;
use rsan_clocks::write_log::{Rules, SlotTable, ThreadState, VectorClock};
use rsan_model::{Expr, Instr, Label, Pc, Program, Start, ThreadId, Value};
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
    /// Only last writes are read, and what the engine says of the others ([`Memory::leaves_sc`]) is compared with the axioms. Needs
    /// all orders, and programs that create no threads.
    pub interleavings: bool,
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
    /// Of interleavings: older writes that could be read, and how many of them leave sequential consistency.
    pub older: (u64, u64),
    /// Of these, one of which the engine says the opposite.
    pub wrong: Option<Label>,
}

/// Where an execution is: two with the same state go on alike.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    pub(super) pcs: Vec<Pc>,
    pub(super) stops: Vec<Option<Stop>>,
    pub(super) registers: Vec<Vec<Value>>,
    pub(super) events: Vec<Vec<(Label, Option<Name>)>>,
    /// Threads of the seq_cst events, as they were executed.
    pub(super) sc: Vec<usize>,
    /// Threads of the accesses of each location, if all orders are followed.
    pub(super) accesses: Vec<Vec<usize>>,
}

#[derive(Clone)]
pub(super) struct Run<M: Memory> {
    pub(super) state: State,
    pub(super) memory: M,
    pub(super) locations: Vec<M::Location>,
    pub(super) threads: Vec<Option<ThreadState>>,
    pub(super) slots: SlotTable,
}

pub(super) struct Explorer<'p> {
    pub(super) program: &'p Program,
    pub(super) mode: Mode,
    pub(super) most_steps: u64,
    pub(super) seen: HashSet<State>,
    pub(super) found: Exploration,
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
            older: (0, 0),
            wrong: None,
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

    pub(super) fn instr<M: Memory>(&self, run: &Run<M>, t: usize) -> &Instr {
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
                    if self.mode.interleavings && self.is_older(&next, t, &choice) {
                        continue;
                    }
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

    pub(super) fn eval(&self, e: &Expr, registers: &[Value]) -> Value {
        let value = e.eval(registers).expect("it was evaluated before");
        self.program.domain.wrap(value)
    }
}

impl Mode {
    /// The engine may forget what it likes, and does so at once.
    pub fn forgetting(window: Option<u64>) -> Self {
        Self {
            summary: true,
            prune: true,
            window,
            ..Self::default()
        }
    }
}

impl<M: Memory> Run<M> {
    /// The name of the next event of a thread.
    pub(super) fn next_name(&self, t: usize) -> Name {
        Name(t as u32 + 1, self.state.events[t].len() as u32)
    }
}
