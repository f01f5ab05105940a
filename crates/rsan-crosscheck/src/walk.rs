//! One sequentially consistent run, step by step, with the write log beside it: what a sanitizer must find when a
//! program makes these very steps.
//!
//! A step is an instruction that others can notice; local computation runs along, as in `rsan emit-c --scheduled`.
//! Only accesses that are made are checked, not those that a thread could make.

use crate::interleave::Attempt;
use rsan_clocks::write_log::{C20, Options, WriteLog};
use rsan_clocks::{Access, AccessKind, Effect, Monitor, Observer, Race, RaceMonitor, Violation};
use rsan_model::{
    CasStrength, EvalError, Expr, Instr, LocId, LocKind, Pc, Program, ReadOrd, Start, ThreadId,
    Value,
};
use std::fmt;

/// A step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// Who makes it.
    pub thread: ThreadId,
    /// Which way a choice goes; 0 for other instructions, [`POLL`] for a look at what is waited for.
    pub way: usize,
}

/// A step that waits on: a spin loop fails another iteration.
pub const POLL: usize = usize::MAX;

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.thread.0)?;
        if self.way > 0 && self.way != POLL {
            write!(f, ".{}", self.way)?;
        }
        Ok(())
    }
}

/// What is checked when a wait or a blocking compare-and-swap passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocking {
    /// It is one operation.
    Whole,
    /// It is a loop around a load or a compare-and-swap, like any other.
    Loop,
}

/// What the monitor says about a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Finding {
    /// The access can be weak.
    Weak {
        /// Who makes it.
        thread: ThreadId,
        /// Where in its code.
        pc: Pc,
        /// What it can miss, and see instead.
        violation: Violation,
    },
    /// The access races.
    Race(Race),
}

/// Why a run cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// After a race it has no meaning.
    Race,
    /// An assertion failed, or an expression has no value.
    Failure,
    /// A thread computes for ever without a step.
    Divergence,
}

/// Local instructions between two steps; more are taken for an endless loop.
const LOCAL_STEPS: usize = 10_000;

/// A run up to some step.
#[derive(Clone, Debug)]
pub struct Walk<'p> {
    program: &'p Program,
    blocking: Blocking,
    /// Where each thread is; `None` when it does not run: not spawned yet, ended, or stopped.
    pcs: Vec<Option<Pc>>,
    ended: Vec<bool>,
    regs: Vec<Vec<Value>>,
    memory: Vec<Value>,
    /// How often each location was written.
    writes: Vec<usize>,
    /// How often the location had been written when each thread last failed an iteration on it.
    polled: Vec<Option<usize>>,
    /// Spawned threads, in order.
    spawned: Vec<ThreadId>,
    log: WriteLog<C20>,
    end: Option<End>,
}

impl<'p> Walk<'p> {
    /// The beginning of a run.
    pub fn new(program: &'p Program, blocking: Blocking) -> Self {
        let threads = &program.threads;
        let initial = |t: &ThreadId| threads[t.index()].start == Start::Initial;
        let started: Vec<ThreadId> = (0..threads.len())
            .map(ThreadId::new)
            .filter(initial)
            .collect();
        let mut walk = Self {
            program,
            blocking,
            pcs: vec![None; threads.len()],
            ended: vec![false; threads.len()],
            regs: threads.iter().map(|t| t.initial_registers()).collect(),
            memory: program.locations.iter().map(|l| l.init).collect(),
            writes: vec![0; program.locations.len()],
            polled: vec![None; threads.len()],
            spawned: Vec::new(),
            log: WriteLog::new(program.locations.iter().map(|l| l.init), Options::default()),
            end: None,
        };
        for t in &started {
            walk.log.start(*t);
        }
        for t in started {
            walk.pcs[t.index()] = Some(Pc(0));
            walk.local_steps(t);
        }
        walk
    }

    /// Why the run is over although threads could move.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The values of the locations.
    pub fn memory(&self) -> &[Value] {
        &self.memory
    }

    /// The final values of a thread's registers, if it has reached its end.
    pub fn registers(&self, thread: ThreadId) -> Option<&[Value]> {
        self.ended[thread.index()].then(|| &*self.regs[thread.index()])
    }

    /// The threads that were there or were created, in this order.
    pub fn creation_order(&self) -> Vec<ThreadId> {
        let threads = self.program.threads.iter().enumerate();
        let initial = threads.filter(|(_, thread)| thread.start == Start::Initial);
        let initial = initial.map(|(t, _)| ThreadId::new(t));
        initial.chain(self.spawned.iter().copied()).collect()
    }

    /// Where a thread is before its next step.
    pub fn pc(&self, thread: ThreadId) -> Option<Pc> {
        self.pcs[thread.index()]
    }

    /// The instruction that a thread would execute with its next step.
    pub fn next(&self, thread: ThreadId) -> Option<&'p Instr> {
        let pc = self.pcs[thread.index()]?;
        Some(self.program.threads[thread.index()].instr(pc))
    }

    /// The steps that can be made now.
    pub fn enabled(&self) -> Vec<Step> {
        if self.end.is_some() {
            return Vec::new();
        }
        let threads = (0..self.pcs.len()).map(ThreadId::new);
        threads
            .flat_map(|thread| (0..self.ways(thread)).map(move |way| Step { thread, way }))
            .collect()
    }

    /// The steps that wait on, and that can make a difference: a thread that has looked at a location learns nothing
    /// more until it is written again.
    pub fn polls(&self) -> Vec<Step> {
        let threads = (0..self.pcs.len()).map(ThreadId::new);
        let blocked = threads.filter(|t| self.end.is_none() && self.can_poll(*t));
        blocked.map(|thread| Step { thread, way: POLL }).collect()
    }

    fn can_poll(&self, t: ThreadId) -> bool {
        match self.next(t) {
            Some(instr @ (Instr::Wait { .. } | Instr::Bcas { .. })) => {
                self.attempt(t, instr).is_ok_and(|(loc, attempt)| {
                    attempt.effects().next().is_none()
                        && self.polled[t.index()] != Some(self.writes[loc.index()])
                })
            }
            _ => false,
        }
    }

    /// Looks at what is waited for.
    fn poll(&mut self, t: ThreadId, pc: Pc, instr: &Instr) -> Vec<Finding> {
        let Ok((loc, attempt)) = self.attempt(t, instr) else {
            return Vec::new();
        };
        let access = self.seen_as(attempt.access());
        let violation = self.log.check(t, loc, &access);
        let ord = match instr {
            Instr::Wait { ord, .. } => *ord,
            _ => ReadOrd::Relaxed,
        };
        self.polled[t.index()] = Some(self.writes[loc.index()]);
        self.log.apply(t, loc, Effect::Read(ord));
        self.findings(t, pc, loc, violation, Effect::Read(ord))
    }

    /// In how many ways a thread can go on.
    fn ways(&self, t: ThreadId) -> usize {
        match self.next(t) {
            None => 0,
            Some(Instr::Choose(targets)) => targets.len(),
            Some(Instr::Join(child)) => usize::from(self.ended[child.index()]),
            Some(instr @ (Instr::Wait { .. } | Instr::Bcas { .. })) => match self.attempt(t, instr)
            {
                Ok((_, attempt)) => attempt.effects().count(),
                Err(_) => 1,
            },
            Some(_) => 1,
        }
    }

    /// Makes a step that is enabled; returns what the monitor says about it.
    ///
    /// # Panics
    /// When the thread does not run.
    pub fn step(&mut self, step: Step) -> Vec<Finding> {
        let t = step.thread;
        let pc = self.pcs[t.index()].expect("the step is enabled");
        let instr = self.program.threads[t.index()].instr(pc);
        if step.way == POLL {
            return self.poll(t, pc, instr);
        }
        self.polled[t.index()] = None;
        self.pcs[t.index()] = Some(Pc(pc.0 + 1));
        let found = match instr {
            Instr::Choose(targets) => {
                self.pcs[t.index()] = Some(targets[step.way]);
                Vec::new()
            }
            Instr::Fence(ord) => {
                self.log.fence(t, *ord);
                Vec::new()
            }
            Instr::Spawn(child) => {
                self.log.spawn(t, *child);
                self.spawned.push(*child);
                self.pcs[child.index()] = Some(Pc(0));
                self.local_steps(*child);
                Vec::new()
            }
            Instr::Join(child) => {
                self.log.join(t, *child);
                Vec::new()
            }
            Instr::PlainLoad { .. } | Instr::PlainStore { .. } => self.plain(t, instr),
            _ => self.access(t, pc, instr),
        };
        if found.iter().any(|f| matches!(f, Finding::Race(_))) {
            self.end = Some(End::Race);
        }
        if self.end.is_none() {
            self.local_steps(t);
        }
        found
    }

    fn eval(&self, t: ThreadId, e: &Expr) -> Result<Value, EvalError> {
        let value = e.eval(&self.regs[t.index()])?;
        Ok(self.program.domain.wrap(value))
    }

    fn attempt(&self, t: ThreadId, instr: &Instr) -> Result<(LocId, Attempt), EvalError> {
        let regs = &self.regs[t.index()];
        let loc = instr
            .place()
            .expect("an access has a place")
            .resolve(regs)?;
        // Operands are evaluated first, so that the closure below has nothing to report.
        match instr {
            Instr::Store { value, .. } => self.eval(t, value).map(drop)?,
            Instr::Rmw { operand, .. } => self.eval(t, operand).map(drop)?,
            Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => {
                self.eval(t, expected)?;
                self.eval(t, new)?;
            }
            Instr::Wait { values, .. } => {
                for value in values {
                    self.eval(t, value)?;
                }
            }
            _ => {}
        }
        let eval = |e: &Expr| self.eval(t, e).expect("it was evaluated before");
        let old = self.memory[loc.index()];
        Ok((loc, Attempt::new(instr, old, eval, self.program.domain)))
    }

    fn access(&mut self, t: ThreadId, pc: Pc, instr: &Instr) -> Vec<Finding> {
        let Ok((loc, attempt)) = self.attempt(t, instr) else {
            self.end = Some(End::Failure);
            return Vec::new();
        };
        let violation = self.log.check(t, loc, &self.seen_as(attempt.access()));
        let effect = attempt.effects().next().expect("the step is enabled");
        self.execute(t, loc, instr, effect);
        self.findings(t, pc, loc, violation, effect)
    }

    /// The access as a sanitizer sees it.
    fn seen_as<'a>(&self, access: Access<'a>) -> Access<'a> {
        match (access, self.blocking) {
            (Access::Wait { ord, .. }, Blocking::Loop) => Access::Load(ord),
            (Access::Bcas { expected, ord }, Blocking::Loop) => Access::Cas {
                expected,
                ord,
                fail: ReadOrd::Relaxed,
                strength: CasStrength::Strong,
            },
            (access, _) => access,
        }
    }

    /// What there is to say about an access that was made.
    fn findings(
        &mut self,
        thread: ThreadId,
        pc: Pc,
        loc: LocId,
        violation: Option<Violation>,
        effect: Effect,
    ) -> Vec<Finding> {
        let weak = violation.map(|violation| Finding::Weak {
            thread,
            pc,
            violation,
        });
        let race = self.log.race(thread, loc, effect.access_kind());
        weak.into_iter().chain(race.map(Finding::Race)).collect()
    }

    fn execute(&mut self, t: ThreadId, loc: LocId, instr: &Instr, effect: Effect) {
        let old = self.memory[loc.index()];
        if let Some(value) = effect.value_written() {
            self.memory[loc.index()] = value;
            self.writes[loc.index()] += 1;
        }
        let regs = &mut self.regs[t.index()];
        instr.for_each_written_reg(&mut |r| regs[r.index()] = old);
        if let Instr::Cas {
            success: Some(r), ..
        } = instr
        {
            regs[r.index()] = Value::from(effect.is_rmw());
        }
        self.log.apply(t, loc, effect);
    }

    fn plain(&mut self, t: ThreadId, instr: &Instr) -> Vec<Finding> {
        let place = instr.place().expect("an access has a place");
        let (Ok(loc), Ok(value)) = (place.resolve(&self.regs[t.index()]), self.stored(t, instr))
        else {
            self.end = Some(End::Failure);
            return Vec::new();
        };
        let kind = match (instr, value) {
            (Instr::PlainLoad { dst, .. }, _) => {
                self.regs[t.index()][dst.index()] = self.memory[loc.index()];
                AccessKind::PlainRead
            }
            (_, value) => {
                let value = value.unwrap_or(0);
                self.memory[loc.index()] = value;
                self.writes[loc.index()] += 1;
                if self.program.locations[loc.index()].kind == LocKind::Atomic {
                    self.log.plain_write(t, loc, value);
                }
                AccessKind::PlainWrite
            }
        };
        let race = self.log.race(t, loc, kind);
        race.map(Finding::Race).into_iter().collect()
    }

    fn stored(&self, t: ThreadId, instr: &Instr) -> Result<Option<Value>, EvalError> {
        match instr {
            Instr::PlainStore { value, .. } => self.eval(t, value).map(Some),
            _ => Ok(None),
        }
    }

    /// Runs `t` up to its next step, or to its end.
    fn local_steps(&mut self, t: ThreadId) {
        for _ in 0..LOCAL_STEPS {
            match self.local_step(t) {
                Ok(true) => {}
                Ok(false) => return,
                Err(end) => {
                    self.end = Some(end);
                    return;
                }
            }
        }
        self.end = Some(End::Divergence);
    }

    /// Makes a step that nobody notices, if the next one is.
    fn local_step(&mut self, t: ThreadId) -> Result<bool, End> {
        let Some(pc) = self.pcs[t.index()] else {
            return Ok(false);
        };
        let truth = |e: &Expr| {
            let value = e.eval(&self.regs[t.index()]);
            value.map(|n| n != 0).map_err(|_| End::Failure)
        };
        let next = Some(Pc(pc.0 + 1));
        let next = match self.program.threads[t.index()].instr(pc) {
            Instr::Assign { dst, value } => {
                let value = self.eval(t, value).map_err(|_| End::Failure)?;
                self.regs[t.index()][dst.index()] = value;
                next
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => Some(if truth(cond)? { *then } else { *otherwise }),
            Instr::Jump(to) => Some(*to),
            Instr::Assert(e) if !truth(e)? => return Err(End::Failure),
            Instr::Assert(_) => next,
            Instr::Assume(e) => next.filter(|_| truth(e) == Ok(true)),
            Instr::Observe(e) => truth(e).map(|_| next)?,
            Instr::Halt => {
                self.ended[t.index()] = true;
                self.log.exit(t);
                None
            }
            _ => return Ok(false),
        };
        self.pcs[t.index()] = next;
        Ok(true)
    }
}
