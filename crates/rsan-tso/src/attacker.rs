//! The exploration of one thread's attacks.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config, set};
use crate::limits::Watch;
use crate::prefilter::Attackable;
use crate::space::{Space, Step};
use crate::steps::Trouble;
use crate::store::{Origin, Store};
use rsan_model::{Reason, Value};

/// Shared steps of a successful attack, each a thread and a transition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Success {
    pub(crate) attacker: usize,
    /// Under SC, before the first delayed store.
    pub(crate) before: Vec<Step>,
    /// From the first delayed store to the access that closes the cycle.
    pub(crate) attack: Vec<Step>,
}

/// Why an exploration was left.
#[derive(Clone, Debug)]
pub(crate) enum Leave {
    Trouble(Trouble),
    Limit(Reason),
}

impl From<Trouble> for Leave {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Reason> for Leave {
    fn from(reason: Reason) -> Self {
        Self::Limit(reason)
    }
}

/// Configurations between two looks at the limits.
const LOOK: usize = 256;

pub(crate) struct Attacker<'a> {
    compiled: &'a Compiled<'a>,
    pub(crate) role: Attackable,
    addresses: Addresses,
    pub(crate) states: Store,
    expanded: usize,
    /// The SC configurations before this one were looked at.
    pub(crate) looked: usize,
    /// What it told the watch of its memory.
    told: u64,
}

impl<'a> Attacker<'a> {
    pub(crate) fn new(compiled: &'a Compiled<'a>, role: Attackable) -> Self {
        Self {
            compiled,
            role,
            addresses: Addresses::default(),
            states: Store::default(),
            expanded: 0,
            looked: 0,
            told: 0,
        }
    }

    /// It is not needed any more.
    pub(crate) fn forget(&mut self, watch: &Watch<'_>) {
        watch.tell(0, &mut self.told);
    }

    /// Whether nothing is left to do up to an SC configuration.
    pub(crate) fn is_done(&self, upto: usize) -> bool {
        self.role.is_harmless() || self.looked >= upto && self.expanded == self.states.len()
    }

    /// Goes on with the attacks from the SC configurations before `upto`, until about `budget` states are expanded.
    pub(crate) fn look(
        &mut self,
        space: &Space<'_>,
        upto: usize,
        budget: usize,
        watch: &Watch<'_>,
    ) -> Result<Option<Success>, Leave> {
        let end = self.expanded + budget;
        loop {
            if let Some((state, last)) = self.expand(end, watch)? {
                return Ok(Some(self.success(space, state, last)));
            }
            if self.expanded >= end || self.looked >= upto {
                return Ok(None);
            }
            if self.looked.is_multiple_of(LOOK) {
                watch.check()?;
            }
            self.start(space, self.looked as u32)?;
            self.looked += 1;
        }
    }

    /// The same from one SC configuration, without looking back at what the budget left.
    pub(crate) fn sample(
        &mut self,
        space: &Space<'_>,
        number: usize,
        budget: usize,
        watch: &Watch<'_>,
    ) -> Result<Option<Success>, Leave> {
        self.expanded = self.states.len();
        self.start(space, number as u32)?;
        let found = self.expand(self.expanded + budget, watch)?;
        Ok(found.map(|(state, last)| self.success(space, state, last)))
    }

    fn start(&mut self, space: &Space<'_>, number: u32) -> Result<(), Leave> {
        let mut code = Vec::new();
        let mut config = space.config(number, &mut code);
        let pc = config.pcs[self.role.thread] as usize;
        let leaving = &self.compiled.threads[self.role.thread].leaving[pc].shared;
        if !leaving.iter().any(|t| self.role.starts[*t as usize]) {
            return Ok(());
        }
        let memory = std::mem::take(&mut config.memory);
        for (at, value) in memory.into_iter().enumerate() {
            let at = self.addresses.number(space.addresses.values[at]);
            set(&mut config.memory, at, value);
        }
        let states = &mut self.states;
        self.compiled.start_attack(
            &config,
            &self.role,
            &mut self.addresses,
            &mut |transition, config, attack| {
                attack.encode(&config, &mut code);
                let origin = Origin {
                    parent: number,
                    thread: START,
                    transition,
                };
                states.insert(&code, origin);
            },
        )?;
        Ok(())
    }

    /// Expands states that are not yet, up to number `end`; returns one from which a step closes the cycle.
    fn expand(&mut self, end: usize, watch: &Watch<'_>) -> Result<Option<(u32, Step)>, Leave> {
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        let (mut numbers, mut code) = (Vec::new(), Vec::new());
        while self.expanded < self.states.len().min(end) {
            if self.expanded.is_multiple_of(LOOK) {
                watch.tell(self.states.memory(), &mut self.told);
                watch.check()?;
            }
            let parent = self.expanded as u32;
            self.expanded += 1;
            self.states.read(parent, &mut numbers);
            let (config, attack) = Attack::decode(&numbers, threads, regs);
            for thread in (0..threads).filter(|t| config.may_access(*t)) {
                let hit = self.expand_one(parent, &config, &attack, thread, &mut code)?;
                if let Some(transition) = hit {
                    return Ok(Some((parent, (thread, transition))));
                }
            }
        }
        Ok(None)
    }

    /// Adds what follows by steps of one thread; returns a transition that closes the cycle.
    fn expand_one(
        &mut self,
        parent: u32,
        config: &Config,
        attack: &Attack,
        thread: usize,
        code: &mut Vec<Value>,
    ) -> Result<Option<u32>, Leave> {
        let (compiled, states) = (self.compiled, &mut self.states);
        let mut add = |transition, config: &Config, attack: &Attack| {
            attack.encode(config, code);
            states.insert(code, Origin::new(parent, thread, transition));
        };
        let addresses = &mut self.addresses;
        let mut hit = None;
        if thread == self.role.thread {
            compiled.attacker_step(config, attack, &self.role, addresses, &mut |t, c, a| {
                add(t, &c, &a);
            })?;
        } else {
            compiled.helper_step(config, attack, thread, addresses, &mut |t, c, a, closed| {
                add(t, &c, &a);
                if closed && hit.is_none() {
                    hit = Some(t);
                }
            })?;
        }
        Ok(hit)
    }

    fn success(&self, space: &Space<'_>, state: u32, last: Step) -> Success {
        let mut attack = vec![last];
        let mut at = state;
        let before = loop {
            let origin = self.states.origin(at);
            if origin.thread == START {
                attack.push((self.role.thread, origin.transition));
                break space.path(origin.parent);
            }
            attack.push((usize::from(origin.thread), origin.transition));
            at = origin.parent;
        };
        attack.reverse();
        Success {
            attacker: self.role.thread,
            before,
            attack,
        }
    }
}

/// In the origin of an attack's first state, whose parent is an SC configuration.
const START: u16 = u16::MAX;
