//! What a thread can do next.
//!
//! Between two steps that others can notice a thread runs alone: a step is one shared operation and what follows
//! inside the thread. Operations under the lock are steps of their own, but only the holder moves meanwhile.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config, Mark, Touch, Touched, get, set};
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
pub(crate) enum Role {
    /// Any thread under SC.
    Normal,
    /// A thread other than the attacker, during an attack.
    Helper,
    /// The attacker has stores in its buffer, so it passes no fence.
    Attacker,
}

impl Compiled<'_> {
    /// The range of a thread's registers in [`Config::regs`].
    pub(crate) fn registers(&self, thread: usize) -> std::ops::Range<usize> {
        let threads = &self.automata.threads;
        let start = threads[..thread].iter().map(|t| t.registers.len()).sum();
        start..start + threads[thread].registers.len()
    }

    pub(crate) fn register_count(&self) -> usize {
        let threads = &self.automata.threads;
        threads.iter().map(|t| t.registers.len()).sum()
    }

    pub(crate) fn transition(&self, thread: usize, transition: u32) -> &Transition {
        &self.automata.threads[thread].transitions[transition as usize]
    }

    pub(crate) fn value(&self, e: &Expr, regs: &[Value]) -> Result<Value, EvalError> {
        e.eval(regs).map(|n| self.automata.domain.wrap(n))
    }

    /// Whether an expression holds; one without a value does not, and the fault is found by the step that uses it.
    fn holds(&self, e: &Expr, regs: &[Value]) -> bool {
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
        role: Role,
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
            if role == Role::Attacker && me.fenced[pc as usize] {
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
                let rest = (pc, self.forget_dead(thread, pc, regs));
                if !rests.contains(&rest) {
                    rests.push(rest);
                }
            }
        }
        // A thread that only runs around in itself for ever stands still, for the others.
        if rests.is_empty() && role != Role::Attacker {
            let (pc, regs) = seen.swap_remove(0);
            rests.push((pc, self.forget_dead(thread, pc, regs)));
        }
        Ok(rests)
    }

    /// One step inside a thread, if it can be made.
    pub(crate) fn local_step(
        &self,
        thread: usize,
        transition: u32,
        regs: &[Value],
        role: Role,
    ) -> Result<Option<Local>, Trouble> {
        let step = self.transition(thread, transition);
        let mut regs = regs.to_vec();
        let fault = |kind| match role {
            Role::Normal => Err(Trouble::Fault(thread, transition, kind)),
            Role::Helper | Role::Attacker => Ok(None),
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
            Op::Fence if role == Role::Attacker => return Ok(None),
            _ => {}
        }
        Ok(Some((step.to.0, regs)))
    }

    fn forget_dead(&self, thread: usize, pc: u32, mut regs: Vec<Value>) -> Vec<Value> {
        let live = &self.threads[thread].live[pc as usize];
        for (reg, live) in regs.iter_mut().zip(live) {
            if !live {
                *reg = 0;
            }
        }
        regs
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
    fn settle(
        &self,
        config: Config,
        thread: usize,
        role: Role,
        found: &mut dyn FnMut(Config),
    ) -> Result<(), Trouble> {
        let range = self.registers(thread);
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
    fn shared_step(
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
                    .value(addr, &config.regs[range.clone()])
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
                let at = self.value(addr, regs).map_err(fault)?;
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
                    .value(addr, &config.regs[range.clone()])
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

    /// The attacks that start at a configuration: the thread delays a store.
    pub(crate) fn start_attack(
        &self,
        config: &Config,
        thread: usize,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config, Attack),
    ) -> Result<(), Trouble> {
        if config.lock != 0 {
            return Ok(());
        }
        let pc = config.pcs[thread] as usize;
        for &transition in &self.threads[thread].leaving[pc].shared {
            if !self.threads[thread].attacks[transition as usize] {
                continue;
            }
            let Some((at, value)) = self.delayed(config, thread, transition) else {
                continue;
            };
            let target = addresses.number(at);
            let mut attack = Attack {
                target,
                reached: 0,
                buffer: Vec::new(),
                marks: Vec::new(),
            };
            set(&mut attack.buffer, target, Some(value));
            let mut after = config.clone();
            after.pcs[thread] = self.transition(thread, transition).to.0;
            self.settle(after, thread, Role::Attacker, &mut |config| {
                found(transition, config, attack.clone());
            })?;
        }
        Ok(())
    }

    /// Address and value of a store.
    fn delayed(&self, config: &Config, thread: usize, transition: u32) -> Option<(Value, Value)> {
        let Op::Write { addr, value } = &self.transition(thread, transition).op else {
            return None;
        };
        let regs = &config.regs[self.registers(thread)];
        Some((self.value(addr, regs).ok()?, self.value(value, regs).ok()?))
    }

    /// The attacker goes on, delaying all its stores.
    pub(crate) fn attacker_step(
        &self,
        config: &Config,
        attack: &Attack,
        thread: usize,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config, Attack),
    ) -> Result<(), Trouble> {
        if config.lock != 0 {
            return Ok(());
        }
        let pc = config.pcs[thread] as usize;
        for &transition in &self.threads[thread].leaving[pc].shared {
            let mut after = config.clone();
            let mut attack = attack.clone();
            let range = self.registers(thread);
            let step = self.transition(thread, transition);
            match &step.op {
                Op::Write { .. } => {
                    let Some((at, value)) = self.delayed(config, thread, transition) else {
                        continue;
                    };
                    set(&mut attack.buffer, addresses.number(at), Some(value));
                }
                Op::Read { reg, addr, accept } => {
                    let regs = &mut after.regs[range];
                    let Ok(at) = self.value(addr, regs) else {
                        continue;
                    };
                    let at = addresses.number(at);
                    let early = get(&attack.buffer, at);
                    regs[reg.index()] = early.unwrap_or(get(&config.memory, at));
                    if accept.as_ref().is_some_and(|e| !self.holds(e, regs)) {
                        continue;
                    }
                    if early.is_none() {
                        let mark: Mark = get(&attack.marks, at);
                        let fixed = mark.fixed.max(Touch::Read);
                        set(&mut attack.marks, at, Mark { fixed, ..mark });
                    }
                }
                _ => continue,
            }
            after.pcs[thread] = step.to.0;
            self.settle(after, thread, Role::Attacker, &mut |config| {
                found(transition, config, attack.clone());
            })?;
        }
        Ok(())
    }

    /// A thread other than the attacker acts, if what it does comes after a load of the attacker. `found` is told
    /// whether the attack succeeds by it.
    pub(crate) fn helper_step(
        &self,
        config: &Config,
        attack: &Attack,
        thread: usize,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config, Attack, bool),
    ) -> Result<(), Trouble> {
        let pc = config.pcs[thread] as usize;
        for &transition in &self.threads[thread].leaving[pc].shared {
            let mut after = config.clone();
            let mut memory = Watched {
                addresses,
                attack: attack.clone(),
                hit: false,
            };
            let done = self.shared_step(&mut after, thread, transition, &mut memory);
            // What fails only because of the attack is no fault of the program.
            let done = !matches!(done, Err(Trouble::Fault(..)) | Ok(false));
            if !done {
                continue;
            }
            let Watched { attack, hit, .. } = memory;
            self.settle(after, thread, Role::Helper, &mut |config| {
                found(transition, config, attack.clone(), hit);
            })?;
        }
        Ok(())
    }
}

/// How shared operations reach memory. An access that is not to be made returns `None` or `false`.
trait Memory {
    fn read(&mut self, config: &Config, thread: usize, at: Value) -> Option<Value>;
    fn write(&mut self, config: &mut Config, thread: usize, at: Value, value: Value) -> bool;
    fn update_read(
        &mut self,
        config: &Config,
        thread: usize,
        at: Value,
        writes: bool,
    ) -> Option<Value>;
    fn update_write(&mut self, config: &mut Config, at: Value, value: Value);
    fn unlock(&mut self, thread: usize) -> bool;
}

/// Under SC.
struct Direct<'a> {
    addresses: &'a mut Addresses,
}

impl Memory for Direct<'_> {
    fn read(&mut self, config: &Config, _: usize, at: Value) -> Option<Value> {
        Some(get(&config.memory, self.addresses.number(at)))
    }

    fn write(&mut self, config: &mut Config, _: usize, at: Value, value: Value) -> bool {
        set(&mut config.memory, self.addresses.number(at), value);
        true
    }

    fn update_read(&mut self, config: &Config, thread: usize, at: Value, _: bool) -> Option<Value> {
        self.read(config, thread, at)
    }

    fn update_write(&mut self, config: &mut Config, at: Value, value: Value) {
        set(&mut config.memory, self.addresses.number(at), value);
    }

    fn unlock(&mut self, _: usize) -> bool {
        true
    }
}

/// During an attack, for threads other than the attacker.
struct Watched<'a> {
    addresses: &'a mut Addresses,
    attack: Attack,
    hit: bool,
}

impl Watched<'_> {
    fn touch(&mut self, config: &Config, thread: usize, at: usize, writes: bool) -> bool {
        let locked = config.lock == thread + 1;
        match self.attack.touch(thread, at, writes, locked) {
            Touched::Unrelated => false,
            Touched::After => true,
            Touched::Target => {
                self.hit = true;
                true
            }
        }
    }
}

impl Memory for Watched<'_> {
    fn read(&mut self, config: &Config, thread: usize, at: Value) -> Option<Value> {
        self.update_read(config, thread, at, false)
    }

    fn write(&mut self, config: &mut Config, thread: usize, at: Value, value: Value) -> bool {
        let at = self.addresses.number(at);
        let made = self.touch(config, thread, at, true);
        set(&mut config.memory, at, value);
        made
    }

    fn update_read(
        &mut self,
        config: &Config,
        thread: usize,
        at: Value,
        writes: bool,
    ) -> Option<Value> {
        let at = self.addresses.number(at);
        self.touch(config, thread, at, writes)
            .then(|| get(&config.memory, at))
    }

    fn update_write(&mut self, config: &mut Config, at: Value, value: Value) {
        set(&mut config.memory, self.addresses.number(at), value);
    }

    /// A section that has nothing to do with the attack could as well have come before it.
    fn unlock(&mut self, thread: usize) -> bool {
        self.attack.reached >> thread & 1 != 0
    }
}
