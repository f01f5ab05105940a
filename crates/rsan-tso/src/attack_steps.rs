//! What the attacker and its helpers can do next.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config, Mark, Touch, get, set};
use crate::memory::Watched;
use crate::mutation::Mutant;
use crate::prefilter::Attackable;
use crate::steps::{Role, Trouble};
use rsan_model::Value;
use rsan_model::automata::Op;

impl Compiled<'_> {
    /// The attacks that start at a configuration: the thread delays a store.
    pub(crate) fn start_attack(
        &self,
        config: &Config,
        attacker: &Attackable,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config, &Attack),
    ) -> Result<(), Trouble> {
        let thread = attacker.thread;
        for &transition in self.attacker_steps(config, thread) {
            if !attacker.starts[transition as usize] {
                continue;
            }
            let Some((at, value)) = self.delayed(config, thread, transition) else {
                continue;
            };
            let target = addresses.number(at);
            let mut attack = Attack {
                target,
                closed: false,
                reached: 0,
                buffer: Vec::new(),
                marks: Vec::new(),
            };
            set(&mut attack.buffer, target, Some(value));
            self.attacked(config.clone(), &attack, attacker, transition, found)?;
        }
        Ok(())
    }

    /// The shared steps of the attacker: none while the lock is taken.
    fn attacker_steps(&self, config: &Config, thread: usize) -> &[u32] {
        let pc = config.pcs[thread] as usize;
        match config.lock {
            0 => &self.threads[thread].leaving[pc].shared,
            _ => &[],
        }
    }

    /// The attacker has made this step; `found` is told what it can come to before its next shared one.
    fn attacked(
        &self,
        mut after: Config,
        attack: &Attack,
        attacker: &Attackable,
        transition: u32,
        found: &mut dyn FnMut(u32, Config, &Attack),
    ) -> Result<(), Trouble> {
        let thread = attacker.thread;
        after.pcs[thread] = self.transition(thread, transition).to.0;
        let role = Role::Attacker(&attacker.fenced);
        self.settle(after, thread, role, &mut |config| {
            found(transition, config, attack);
        })
    }

    /// Address and value of a store.
    fn delayed(&self, config: &Config, thread: usize, transition: u32) -> Option<(Value, Value)> {
        let Op::Write { addr, value } = &self.transition(thread, transition).op else {
            return None;
        };
        let regs = &config.regs[self.registers(thread)];
        Some((
            self.address(addr, regs).ok()?,
            self.value(value, regs).ok()?,
        ))
    }

    /// The attacker goes on, delaying all its stores.
    pub(crate) fn attacker_step(
        &self,
        config: &Config,
        attack: &Attack,
        attacker: &Attackable,
        addresses: &mut Addresses,
        found: &mut dyn FnMut(u32, Config, &Attack),
    ) -> Result<(), Trouble> {
        let thread = attacker.thread;
        for &transition in self.attacker_steps(config, thread) {
            let mut after = config.clone();
            let mut attack = attack.clone();
            let range = self.registers(thread);
            match &self.transition(thread, transition).op {
                Op::Write { .. } => {
                    let Some((at, value)) = self.delayed(config, thread, transition) else {
                        continue;
                    };
                    let at = addresses.number(at);
                    let older = get(&attack.buffer, at).is_some();
                    if !older || !self.mutation.breaks(Mutant::OlderStoreIsSeen) {
                        set(&mut attack.buffer, at, Some(value));
                    }
                }
                Op::Read { reg, addr, accept } => {
                    let regs = &mut after.regs[range];
                    let Ok(at) = self.address(addr, regs) else {
                        continue;
                    };
                    let at = addresses.number(at);
                    let early = get(&attack.buffer, at)
                        .filter(|_| !self.mutation.breaks(Mutant::AttackerForgetsItsStores));
                    regs[reg.index()] = early.unwrap_or(get(&config.memory, at));
                    if accept.as_ref().is_some_and(|e| !self.holds(e, regs)) {
                        continue;
                    }
                    let counts = early.is_none() || self.mutation.breaks(Mutant::EarlyLoadsCount);
                    if counts && !self.mutation.breaks(Mutant::LoadsLeaveNoMark) {
                        let mark: Mark = get(&attack.marks, at);
                        let fixed = mark.fixed.max(Touch::Read);
                        set(&mut attack.marks, at, Mark { fixed, ..mark });
                    }
                }
                _ => continue,
            }
            self.attacked(after, &attack, attacker, transition, found)?;
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
        found: &mut dyn FnMut(u32, Config, &Attack, bool),
    ) -> Result<(), Trouble> {
        let pc = config.pcs[thread] as usize;
        for &transition in &self.threads[thread].leaving[pc].shared {
            if !self.may_be_after(config, attack, (thread, transition), addresses) {
                continue;
            }
            let mut after = config.clone();
            let mut memory = Watched {
                addresses,
                attack: attack.clone(),
                hit: false,
                mutation: self.mutation,
            };
            let done = self.shared_step(&mut after, thread, transition, &mut memory);
            // What fails only because of the attack is no fault of the program.
            let done = !matches!(done, Err(Trouble::Fault(..)) | Ok(false));
            if !done {
                continue;
            }
            let Watched { attack, hit, .. } = memory;
            self.settle(after, thread, Role::Helper, &mut |config| {
                found(transition, config, &attack, hit);
            })?;
        }
        Ok(())
    }

    /// Whether a step of a helper may come after a load of the attacker; most do not, and what they would do need not be found out.
    fn may_be_after(
        &self,
        config: &Config,
        attack: &Attack,
        (thread, transition): (usize, u32),
        addresses: &mut Addresses,
    ) -> bool {
        let (addr, writes) = match &self.transition(thread, transition).op {
            Op::Read { addr, .. } => (addr, false),
            Op::Write { addr, .. } => (addr, true),
            Op::Update { addr, value, .. } => {
                let only_reads = self.mutation.breaks(Mutant::UpdatesOnlyRead);
                (addr, value.is_some() && !only_reads)
            }
            _ => return true,
        };
        if config.lock == thread + 1 {
            return true;
        }
        let regs = &config.regs[self.registers(thread)];
        let Ok(at) = self.address(addr, regs) else {
            return false;
        };
        let at = addresses.number(at);
        attack.is_after(thread, at, writes, self.mutation)
    }
}
