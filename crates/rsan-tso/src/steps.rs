//! What a thread can do next.
//!
//! Between two steps that others can notice a thread runs alone: a step is one shared operation and what follows
//! inside the thread. Operations under the lock are steps of their own, but only the holder moves meanwhile.

use crate::compiled::{Compiled, address};
use crate::config::{Addresses, Config, set};
use crate::memory::{Direct, Memory};
use crate::mutation::Mutant;
use rsan_model::automata::{Op, Transition};
use rsan_model::{EvalError, Expr, Value};

/// Most configurations of one thread between two shared operations.
const MAX_LOCAL: usize = 10_000;

/// Why a run cannot go on as the program's author meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An assertion failed.
    Assertion,
    /// An array index is out of bounds.
    Bounds,
    /// An expression has no value.
    Eval(EvalError),
}

/// What ends an exploration early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The program fails, at this transition of this thread.
    Fault(usize, u32, FaultKind),
    /// A thread has too many configurations between two shared operations.
    TooLarge,
}

/// A configuration of one thread.
pub(crate) type Local = (u32, Vec<Value>);

/// Who is moving. What fails during an attack is no fault of the program under SC: the thread stops there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role<'a> {
    /// Any thread under SC.
    Normal,
    /// A thread other than the attacker, during an attack.
    Helper,
    /// The attacker has stores in its buffer, so it passes no fence: neither those of the program nor those that were put in
    /// its control states.
    Attacker(&'a [bool]),
}

impl Compiled<'_> {
    /// The range of a thread's registers in [`Config::regs`].
    pub(crate) fn registers(&self, thread: usize) -> std::ops::Range<usize> {
        self.bases[thread]..self.bases[thread + 1]
    }

    pub(crate) fn register_count(&self) -> usize {
        self.bases[self.automata.threads.len()]
    }

    pub(crate) fn transition(&self, thread: usize, transition: u32) -> &Transition {
        &self.automata.threads[thread].transitions[transition as usize]
    }

    pub(crate) fn value(&self, e: &Expr, regs: &[Value]) -> Result<Value, EvalError> {
        e.eval(regs).map(|n| self.automata.domain.wrap(n))
    }

    pub(crate) fn address(&self, e: &Expr, regs: &[Value]) -> Result<Value, EvalError> {
        e.eval(regs).map(address)
    }

    /// Whether an expression holds; one without a value does not, and the fault is found by the step that uses it.
    pub(crate) fn holds(&self, e: &Expr, regs: &[Value]) -> bool {
        e.eval(regs).is_ok_and(|n| n != 0)
    }

    /// The initial configurations: every thread runs up to its first shared operation.
    pub(crate) fn initial(&self, addresses: &mut Addresses) -> Result<Vec<Config>, Trouble> {
        let threads = &self.automata.threads;
        let mut config = Config {
            lock: 0,
            pcs: threads.iter().map(|t| t.initial.0).collect(),
            regs: Vec::new(),
            memory: Vec::new(),
            stored: 0,
        };
        for thread in threads {
            config.regs.extend(thread.registers.iter().map(|r| r.1));
        }
        for &(address, value) in &self.automata.memory {
            set(&mut config.memory, addresses.number(address), value);
        }
        let mut configs = vec![config];
        for thread in 0..threads.len() {
            let mut next = Vec::new();
            for config in configs {
                self.settle(config, thread, Role::Normal, &mut |config| {
                    next.push(config)
                })?;
            }
            configs = next;
        }
        Ok(configs)
    }

    /// All places where a thread can come to rest that starts in `from` and does nothing shared.
    pub(crate) fn closure(
        &self,
        thread: usize,
        from: Local,
        role: Role<'_>,
    ) -> Result<Vec<Local>, Trouble> {
        let me = &self.threads[thread];
        let mut seen = vec![from];
        let mut rests: Vec<Local> = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            if next == MAX_LOCAL {
                return Err(Trouble::TooLarge);
            }
            let (pc, regs) = seen[next].clone();
            next += 1;
            if matches!(role, Role::Attacker(fenced) if fenced[pc as usize]) {
                continue;
            }
            let leaving = &me.leaving[pc as usize];
            let mut moved = false;
            for &transition in &leaving.local {
                if let Some(after) = self.local_step(thread, transition, &regs, role)? {
                    moved = true;
                    if !seen.contains(&after) {
                        seen.push(after);
                    }
                }
            }
            if !leaving.shared.is_empty() || !moved {
                let mut rest = (pc, regs);
                self.forget_dead(thread, pc, &mut rest.1);
                if !rests.contains(&rest) {
                    rests.push(rest);
                }
            }
        }
        // A thread that only runs around in itself for ever stands still, for the others.
        if rests.is_empty() && !matches!(role, Role::Attacker(_)) {
            let (pc, mut regs) = seen.swap_remove(0);
            self.forget_dead(thread, pc, &mut regs);
            rests.push((pc, regs));
        }
        Ok(rests)
    }

    /// One step inside a thread, if it can be made.
    pub(crate) fn local_step(
        &self,
        thread: usize,
        transition: u32,
        regs: &[Value],
        role: Role<'_>,
    ) -> Result<Option<Local>, Trouble> {
        let step = self.transition(thread, transition);
        let mut regs = regs.to_vec();
        let fault = |kind| match role {
            Role::Normal => Err(Trouble::Fault(thread, transition, kind)),
            Role::Helper | Role::Attacker(_) => Ok(None),
        };
        match &step.op {
            Op::Assign { reg, value } => match self.value(value, &regs) {
                Ok(value) => regs[reg.index()] = value,
                Err(error) => return fault(FaultKind::Eval(error)),
            },
            Op::Check(e) => match e.eval(&regs) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) => return fault(FaultKind::Eval(error)),
            },
            Op::Assert(e) if !self.holds(e, &regs) => return fault(FaultKind::Assertion),
            Op::Bounds(e) if !self.holds(e, &regs) => return fault(FaultKind::Bounds),
            Op::Fence
                if matches!(role, Role::Attacker(_))
                    && !self.mutation.breaks(Mutant::AttackerPassesFences) =>
            {
                return Ok(None);
            }
            _ => {}
        }
        Ok(Some((step.to.0, regs)))
    }

    fn forget_dead(&self, thread: usize, pc: u32, regs: &mut [Value]) {
        let live = &self.threads[thread].live[pc as usize];
        for (reg, live) in regs.iter_mut().zip(live) {
            if !live || self.mutation.breaks(Mutant::RegistersForgotten) {
                *reg = 0;
            }
        }
    }

    /// Calls `found` for each configuration that a shared step of `thread` and what follows inside it lead to.
    pub(crate) fn step(
        &self,
        config: &Config,
        thread: usize,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config),
    ) -> Result<(), Trouble> {
        let pc = config.pcs[thread] as usize;
        for &transition in &self.threads[thread].leaving[pc].shared {
            let mut after = config.clone();
            let mut memory = Direct { addresses };
            if self.shared_step(&mut after, thread, transition, &mut memory)? {
                self.settle(after, thread, Role::Normal, &mut |config| {
                    found(transition, config);
                })?;
            }
        }
        Ok(())
    }

    /// The thread runs on alone.
    pub(crate) fn settle(
        &self,
        mut config: Config,
        thread: usize,
        role: Role<'_>,
        found: &mut dyn FnMut(Config),
    ) -> Result<(), Trouble> {
        let range = self.registers(thread);
        let pc = config.pcs[thread];
        if self.threads[thread].leaving[pc as usize].local.is_empty() {
            if !matches!(role, Role::Attacker(fenced) if fenced[pc as usize]) {
                self.forget_dead(thread, pc, &mut config.regs[range]);
                found(config);
            }
            return Ok(());
        }
        let local = (config.pcs[thread], config.regs[range.clone()].to_vec());
        for (pc, regs) in self.closure(thread, local, role)? {
            let mut after = config.clone();
            after.pcs[thread] = pc;
            after.regs[range.clone()].copy_from_slice(&regs);
            found(after);
        }
        Ok(())
    }

    /// A shared operation of a thread without delayed stores. Says whether it can be made.
    pub(crate) fn shared_step(
        &self,
        config: &mut Config,
        thread: usize,
        transition: u32,
        memory: &mut dyn Memory,
    ) -> Result<bool, Trouble> {
        if !config.may_access(thread) {
            return Ok(false);
        }
        let step = self.transition(thread, transition);
        let range = self.registers(thread);
        let fault = |error| Trouble::Fault(thread, transition, FaultKind::Eval(error));
        match &step.op {
            Op::Read { reg, addr, accept } => {
                let at = self
                    .address(addr, &config.regs[range.clone()])
                    .map_err(fault)?;
                let value = memory.read(config, thread, at);
                let Some(value) = value else { return Ok(false) };
                config.regs[range.start + reg.index()] = value;
                let regs = &config.regs[range];
                if accept.as_ref().is_some_and(|e| !self.holds(e, regs)) {
                    return Ok(false);
                }
            }
            Op::Write { addr, value } => {
                let regs = &config.regs[range];
                let at = self.address(addr, regs).map_err(fault)?;
                let value = self.value(value, regs).map_err(fault)?;
                if !memory.write(config, thread, at, value) {
                    return Ok(false);
                }
            }
            Op::Update {
                reg,
                addr,
                accept,
                value,
            } => {
                let at = self
                    .address(addr, &config.regs[range.clone()])
                    .map_err(fault)?;
                let Some(old) = memory.update_read(config, thread, at, value.is_some()) else {
                    return Ok(false);
                };
                if let Some(reg) = reg {
                    config.regs[range.start + reg.index()] = old;
                }
                let regs = &config.regs[range];
                if accept.as_ref().is_some_and(|e| !self.holds(e, regs)) {
                    return Ok(false);
                }
                if let Some(value) = value {
                    let value = self.value(value, regs).map_err(fault)?;
                    memory.update_write(config, at, value);
                }
            }
            Op::Lock if config.lock != 0 => return Ok(false),
            Op::Lock => config.lock = thread + 1,
            Op::Unlock => {
                if !memory.unlock(thread) {
                    return Ok(false);
                }
                config.lock = 0;
            }
            Op::Fence => {}
            Op::Assign { .. } | Op::Check(_) | Op::Assert(_) | Op::Bounds(_) | Op::Noop => {
                unreachable!("not a shared operation")
            }
        }
        config.pcs[thread] = step.to.0;
        Ok(true)
    }
}
