//! The exploration of one thread's attacks.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config, set};
use crate::limits::Watch;
use crate::prefilter::Attackable;
use crate::space::{Space, Step};
use crate::steps::Trouble;
use crate::store::{Origin, Store};
use rsan_model::{Reason, Value};
use std::collections::VecDeque;
use std::ops::Range;

/// Shared steps of a successful attack, each a thread and a transition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Success {
    pub(crate) attacker: usize,
    /// Under SC, before the first delayed store.
    pub(crate) before: Vec<Step>,
    /// From the first delayed store to the access that closes the cycle.
    pub(crate) attack: Vec<Step>,
}

impl Success {
    /// The same by a thread that is like the attacker: the two are exchanged.
    pub(crate) fn by(&self, thread: usize) -> Self {
        let exchanged = |t: usize| match t {
            t if t == thread => self.attacker,
            t if t == self.attacker => thread,
            t => t,
        };
        let steps = |steps: &[Step]| {
            steps
                .iter()
                .map(|(t, step)| (exchanged(*t), *step))
                .collect()
        };
        Self {
            attacker: thread,
            before: steps(&self.before),
            attack: steps(&self.attack),
        }
    }
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

/// States that follow one SC configuration and are looked at at once; more of them wait until the others had their turn.
const SAMPLE: usize = 128;

/// What an attacker is to do in its turn.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) space: &'a Space<'a>,
    /// The SC configurations from which attacks begin: those before this one,
    pub(crate) upto: usize,
    /// and these, first.
    pub(crate) walked: &'a [u32],
    /// States to be expanded, about.
    pub(crate) budget: usize,
    /// Whether to go on with what waits.
    pub(crate) deep: bool,
    pub(crate) watch: &'a Watch<'a>,
}

/// Where no attack begins that succeeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clean {
    /// In so many SC configurations, the first ones.
    configurations: usize,
    /// In so many of those that walks have found, perhaps; they are looked at again when their turn comes among all others.
    walked: usize,
}

impl Clean {
    /// What either of the two says.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            configurations: self.configurations.max(other.configurations),
            walked: self.walked.max(other.walked),
        }
    }
}

pub(crate) struct Attacker<'a> {
    compiled: &'a Compiled<'a>,
    pub(crate) role: Attackable,
    addresses: Addresses,
    pub(crate) states: Store,
    /// The SC configurations before this one were looked at, and so many of those that walks have found.
    looked: usize,
    walked: usize,
    /// How many states it has expanded.
    expanded: usize,
    /// States that wait to be expanded, each with the number of SC configurations that were looked at to the end before.
    waiting: VecDeque<(Range<usize>, usize)>,
    /// An exploration was left, by an attack or otherwise, when so many SC configurations were looked at to the end.
    left: usize,
    /// What it told the watch of its memory.
    told: u64,
}

impl<'a> Attacker<'a> {
    /// With what is known already.
    pub(crate) fn new(compiled: &'a Compiled<'a>, role: Attackable, clean: Clean) -> Self {
        Self {
            compiled,
            role,
            addresses: Addresses::default(),
            states: Store::default(),
            looked: clean.configurations,
            walked: clean.walked,
            expanded: 0,
            waiting: VecDeque::new(),
            left: usize::MAX,
            told: 0,
        }
    }

    /// It is not needed any more.
    pub(crate) fn forget(&mut self, watch: &Watch<'_>) {
        watch.tell(0, &mut self.told);
    }

    /// Whether nothing is left to do up to an SC configuration.
    pub(crate) fn is_done(&self, upto: usize) -> bool {
        self.role.is_harmless() || self.looked >= upto && self.waiting.is_empty()
    }

    pub(crate) fn clean(&self) -> Clean {
        let waiting = self.waiting.iter().map(|(_, clean)| *clean).min();
        let waiting = waiting.unwrap_or(usize::MAX);
        Clean {
            configurations: self.looked.min(self.left).min(waiting),
            // The last one may have led to an attack.
            walked: self.walked.saturating_sub(1),
        }
    }

    /// How many SC configurations it has not looked at.
    pub(crate) fn behind(&self, upto: usize) -> usize {
        upto.saturating_sub(self.looked)
    }

    /// Goes on with the attacks.
    pub(crate) fn take(&mut self, turn: &Turn<'_>) -> Result<Option<Success>, Leave> {
        let mut budget = turn.budget;
        while budget > 0 {
            let looked = self.looked;
            let (start, waiting) = if let Some(number) = turn.walked.get(self.walked) {
                self.walked += 1;
                (Some(*number), None)
            } else if self.looked < turn.upto {
                self.looked += 1;
                (Some(looked as u32), None)
            } else if let (true, Some(waiting)) = (turn.deep, self.waiting.pop_front()) {
                (None, Some(waiting))
            } else {
                break;
            };
            let clean = waiting.as_ref().map_or(looked, |(_, clean)| *clean);
            // Until it is known that nothing is left.
            let left = self.left;
            self.left = left.min(clean);
            let first = self.states.len();
            if let Some(number) = start {
                self.start(turn.space, number)?;
            }
            let (range, most) = match waiting {
                Some((range, _)) => (range, budget),
                None => (first..self.states.len(), SAMPLE),
            };
            if self.looked.is_multiple_of(LOOK) {
                turn.watch.check()?;
            }
            let before = self.expanded;
            if let Some((state, last)) = self.expand(range, (most, clean), turn.watch)? {
                return Ok(Some(self.success(turn.space, state, last)));
            }
            self.left = left;
            budget = budget.saturating_sub((self.expanded - before).max(1));
        }
        Ok(None)
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

    /// Expands states and those that follow them, `most` of them; the rest waits, after `clean` SC configurations. Returns one
    /// from which a step closes the cycle.
    fn expand(
        &mut self,
        mut range: Range<usize>,
        (most, clean): (usize, usize),
        watch: &Watch<'_>,
    ) -> Result<Option<(u32, Step)>, Leave> {
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        let (mut numbers, mut code) = (Vec::new(), Vec::new());
        let (mut config, mut attack) = (Config::default(), Attack::default());
        let mut added = self.states.len();
        for done in 0.. {
            if range.is_empty() {
                range = added..self.states.len();
                added = range.end;
            }
            if range.is_empty() {
                break;
            }
            if done == most {
                let rest = [range, added..self.states.len()].into_iter();
                let rest = rest.filter(|range| !range.is_empty());
                self.waiting.extend(rest.map(|range| (range, clean)));
                break;
            }
            if (done + 1).is_multiple_of(LOOK) {
                watch.tell(self.states.memory(), &mut self.told);
                watch.check()?;
            }
            let parent = range.start as u32;
            range.start += 1;
            self.expanded += 1;
            self.states.read(parent, &mut numbers);
            Attack::decode(&numbers, (threads, regs), &mut config, &mut attack);
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
                add(t, &c, a);
            })?;
        } else {
            compiled.helper_step(config, attack, thread, addresses, &mut |t, c, a, closed| {
                add(t, &c, a);
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
