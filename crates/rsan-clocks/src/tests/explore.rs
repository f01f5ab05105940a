//! All SC runs of a small program, with monitors in step.

use super::forms::{Demand, Variant, queries};
use super::machine::{Event, Machine};
use super::program::{Op, Operand, Program, REGISTERS, single};
use crate::{Access, AccessKind, Effect};
use rsan_model::{LocId, ThreadId, Value};

/// A state of a program, with monitors.
#[derive(Clone)]
struct State<'p> {
    program: &'p Program,
    machine: Machine,
    threads: Vec<ThreadStatus>,
}

#[derive(Clone)]
struct ThreadStatus {
    pc: usize,
    registers: [Value; REGISTERS],
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    NotStarted,
    Running,
    Ended,
    Joined,
}

/// A step that a thread can make.
#[derive(Clone, Copy)]
enum Move {
    Access(LocId, Effect, Value, usize),
    Local,
}

impl<'p> State<'p> {
    fn new(program: &'p Program, reference: Variant, subjects: &[(Demand, Variant)]) -> Self {
        let mut state = Self {
            program,
            machine: Machine::new(program.locations(), reference, subjects),
            threads: Vec::new(),
        };
        let threads = (0..program.threads.len()).map(ThreadId::new);
        for thread in threads.clone() {
            let spawned = program.is_spawned(thread);
            let phase = if spawned {
                Phase::NotStarted
            } else {
                Phase::Running
            };
            state.threads.push(ThreadStatus {
                pc: 0,
                registers: [0; REGISTERS],
                phase,
            });
            if !spawned {
                state.tell(Event::Start(thread));
            }
        }
        threads.for_each(|thread| state.settle(thread));
        state
    }

    /// Tells the monitors something that is no access.
    fn tell(&mut self, event: Event) {
        self.machine.tell(event).expect("there is no race");
    }

    fn pending(&self, thread: ThreadId) -> Option<Op> {
        let status = &self.threads[thread.index()];
        let code = &self.program.threads[thread.index()];
        (status.phase == Phase::Running).then(|| code.get(status.pc).copied())?
    }

    /// Executes branches, and ends the thread when its code is done.
    fn settle(&mut self, thread: ThreadId) {
        let code = &self.program.threads[thread.index()];
        let status = &mut self.threads[thread.index()];
        if status.phase != Phase::Running {
            return;
        }
        while let Some(&Op::Branch {
            reg,
            value,
            equal,
            skip,
        }) = code.get(status.pc)
        {
            let taken = (status.registers[reg] == value) == equal;
            status.pc += 1 + if taken { skip } else { 0 };
        }
        if status.pc >= code.len() {
            status.phase = Phase::Ended;
            self.tell(Event::Exit(thread));
        }
    }

    /// The access that a thread is about to make.
    fn access(&self, thread: ThreadId) -> Option<(LocId, Access<'static>, Operand, usize)> {
        match self.pending(thread)? {
            Op::Access {
                loc,
                access,
                operand,
                dst,
            } => Some((loc, access, operand, dst)),
            Op::WaitReg { loc, reg, ord } => {
                let values = single(self.threads[thread.index()].registers[reg]);
                Some((loc, Access::Wait { values, ord }, Operand::Value(0), 0))
            }
            _ => None,
        }
    }

    fn moves(&self, thread: ThreadId) -> Vec<Move> {
        if let Some((loc, access, operand, dst)) = self.access(thread) {
            let all = self.machine.outcomes(loc, &access, operand);
            let step = |(effect, read)| Move::Access(loc, effect, read, dst);
            return all.into_iter().map(step).collect();
        }
        match self.pending(thread) {
            None => Vec::new(),
            Some(Op::Join(child)) if self.threads[child.index()].phase != Phase::Ended => {
                Vec::new()
            }
            Some(_) => vec![Move::Local],
        }
    }

    /// Makes a step; an error says that a race detector disagrees.
    fn step(&mut self, thread: ThreadId, step: Move) -> Result<(), String> {
        let event = match (step, self.pending(thread)) {
            (Move::Access(loc, effect, read, dst), _) => {
                self.threads[thread.index()].registers[dst] = read;
                Event::Access(thread, loc, effect)
            }
            (Move::Local, Some(Op::Fence(ord))) => Event::Fence(thread, ord),
            (Move::Local, Some(Op::Plain { loc, write: true })) => {
                Event::Plain(thread, loc, AccessKind::PlainWrite)
            }
            (Move::Local, Some(Op::Plain { loc, write: false })) => {
                Event::Plain(thread, loc, AccessKind::PlainRead)
            }
            (Move::Local, Some(Op::Init { loc, value })) => Event::Init(thread, loc, value),
            (Move::Local, Some(Op::Spawn(child))) => {
                self.threads[child.index()].phase = Phase::Running;
                Event::Spawn(thread, child)
            }
            (Move::Local, Some(Op::Join(child))) => {
                self.threads[child.index()].phase = Phase::Joined;
                Event::Join(thread, child)
            }
            (Move::Local, op) => panic!("{op:?} is no local step"),
        };
        self.machine.tell(event)?;
        self.threads[thread.index()].pc += 1;
        if let Event::Spawn(_, child) = event {
            self.settle(child);
        }
        self.settle(thread);
        Ok(())
    }

    fn running(&self) -> Vec<ThreadId> {
        let running = |i: &usize| self.threads[*i].phase == Phase::Running;
        let indices = (0..self.threads.len()).filter(running);
        indices.map(ThreadId::new).collect()
    }

    /// Prunes some logs, not the same ones in every state.
    fn prune(&mut self) {
        let steps = self.machine.steps();
        for loc in self.machine.locations() {
            for (i, (_, subject)) in self.machine.subjects.iter_mut().enumerate() {
                if (steps + i + loc.index()).is_multiple_of(3) {
                    subject.prune(loc);
                }
            }
        }
    }
}

/// What all runs of a program showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Runs {
    /// Runs with a violation, according to the reference.
    pub(super) flagged: u64,
    /// All maximal runs.
    pub(super) all: u64,
}

/// Compares forms in every state of every run, and says in how many states. Forms that prune are pruned now
/// and then.
pub(super) fn compare_everywhere(
    program: &Program,
    reference: Variant,
    subjects: &[(Demand, Variant)],
) -> Result<u64, String> {
    compare_everywhere_about(&queries(), program, reference, subjects)
}

/// The same, asking about these accesses.
pub(super) fn compare_everywhere_about(
    queries: &[Access<'static>],
    program: &Program,
    reference: Variant,
    subjects: &[(Demand, Variant)],
) -> Result<u64, String> {
    let mutated = subjects.iter().any(|(_, variant)| variant.mutant.is_some());
    let mut count = 0;
    let mut states = vec![State::new(program, reference, subjects)];
    while let Some(mut state) = states.pop() {
        count += 1;
        let threads = state.running();
        state.prune();
        let in_program = |difference| format!("{difference}\nin {}", program.text);
        // Numbers are compared in every state, each query in every third.
        let some: Vec<_> = queries
            .iter()
            .skip(count as usize % 3)
            .step_by(3)
            .copied()
            .collect();
        let compared = state.machine.compare(&threads, &some);
        compared.map_err(in_program)?;
        if !mutated {
            state.machine.assert_invariants();
        }
        for thread in threads {
            for step in state.moves(thread) {
                let mut next = state.clone();
                next.step(thread, step).map_err(in_program)?;
                states.push(next);
            }
        }
    }
    Ok(count)
}

/// Counts the maximal runs, and those in which the form reports a violation.
pub(super) fn count_runs(program: &Program, form: Variant) -> Runs {
    let mut runs = Runs::default();
    let mut states = vec![(State::new(program, form, &[]), false)];
    while let Some((state, mut flagged)) = states.pop() {
        let mut maximal = true;
        for thread in state.running() {
            if let Some((loc, access, ..)) = state.access(thread) {
                flagged |= state
                    .machine
                    .reference
                    .check(thread, loc, &access)
                    .is_some();
            }
        }
        for thread in state.running() {
            for step in state.moves(thread) {
                let mut next = state.clone();
                next.step(thread, step)
                    .expect("a single form agrees with itself");
                states.push((next, flagged));
                maximal = false;
            }
        }
        if maximal {
            runs.all += 1;
            runs.flagged += u64::from(flagged);
        }
    }
    runs
}
