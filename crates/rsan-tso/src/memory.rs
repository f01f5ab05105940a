//! How the steps of a thread reach memory: directly, or watched by an attack.

use crate::config::{Addresses, Attack, Config, Touched, get, set};
use crate::mutation::{Mutant, Mutation};
use rsan_model::Value;

/// How shared operations reach memory. An access that is not to be made returns `None` or `false`.
pub(crate) trait Memory {
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
pub(crate) struct Direct<'a> {
    pub(crate) addresses: &'a mut Addresses,
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
pub(crate) struct Watched<'a> {
    pub(crate) addresses: &'a mut Addresses,
    pub(crate) attack: Attack,
    /// Whether the access closes the cycle.
    pub(crate) hit: bool,
    pub(crate) mutation: Mutation,
}

impl Watched<'_> {
    fn touch(&mut self, config: &Config, thread: usize, at: usize, writes: bool) -> bool {
        let locked = config.lock == thread + 1;
        match self.attack.touch(thread, at, writes, locked, self.mutation) {
            Touched::Unrelated => false,
            Touched::After => true,
            Touched::Target => {
                let overlooked = if writes {
                    Mutant::WritesDoNotClose
                } else {
                    Mutant::ReadsDoNotClose
                };
                let early = self.mutation.breaks(Mutant::ClosedBeforeUnlock);
                if !self.mutation.breaks(overlooked) {
                    self.attack.closed = locked;
                    self.hit = !locked || early;
                }
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
        let writes = writes && !self.mutation.breaks(Mutant::UpdatesOnlyRead);
        self.touch(config, thread, at, writes)
            .then(|| get(&config.memory, at))
    }

    fn update_write(&mut self, config: &mut Config, at: Value, value: Value) {
        set(&mut config.memory, self.addresses.number(at), value);
    }

    /// A section that has nothing to do with the attack could as well have come before it.
    fn unlock(&mut self, thread: usize) -> bool {
        self.hit = self.attack.closed;
        self.attack.reached >> thread & 1 != 0
    }
}
