//! The search: all SC configurations, and from each of them all attacks.
//!
//! SC configurations are found breadth first, in batches; after each batch every thread, as attacker, continues its own
//! exploration from the new ones, the attackers side by side on several cores. So a short attack is found soon, and the
//! answer does not depend on the number of workers: of one batch, the first thread's attack counts.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config};
use crate::steps::{FaultKind, Trouble};
use crate::store::{Origin, Store};
use rsan_model::{Reason, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What may end a search without an answer, and how many cores it uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Give up when the states take this much memory, in bytes.
    pub memory: Option<u64>,
    /// Give up after this time.
    pub time: Option<Duration>,
    /// Worker threads; 0 is one per core.
    pub workers: usize,
    /// Give up when this becomes true.
    pub stop: Option<&'a AtomicBool>,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// SC configurations.
    pub states: u64,
    /// Configurations of attacks.
    pub attack_states: u64,
    /// Bytes used by them.
    pub memory: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// A shared step: a thread and one of its transitions.
pub(crate) type Step = (usize, u32);

/// How a search ends.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// An attack succeeds.
    Attack(Box<Success>),
    /// The program fails under SC: after this configuration, at this transition.
    Fault {
        path: Vec<Step>,
        thread: usize,
        transition: u32,
        kind: FaultKind,
    },
    Unknown(Reason),
}

/// Shared steps of a successful attack, each a thread and a transition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Success {
    pub(crate) attacker: usize,
    /// Under SC, before the first delayed store.
    pub(crate) before: Vec<Step>,
    /// From the first delayed store to the access that closes the cycle.
    pub(crate) attack: Vec<Step>,
}

/// SC configurations between two looks at the attacks.
const BATCH: usize = 2048;

/// Configurations between two looks at the limits.
pub(crate) const LOOK: usize = 256;

pub(crate) struct Search<'a> {
    pub(crate) compiled: &'a Compiled<'a>,
    limits: &'a Limits<'a>,
    began: Instant,
    pub(crate) addresses: Addresses,
    pub(crate) states: Store,
    expanded: usize,
}

/// Watches the limits.
pub(crate) struct Watch<'a> {
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) began: Instant,
    /// Memory of everybody.
    pub(crate) memory: &'a AtomicU64,
}

impl Watch<'_> {
    pub(crate) fn check(&self) -> Option<Reason> {
        // ORDERING: relaxed; hints only.
        if self.limits.stop.is_some_and(|s| s.load(Ordering::Relaxed)) {
            return Some(Reason::Interrupted);
        }
        if self.limits.time.is_some_and(|t| self.began.elapsed() > t) {
            return Some(Reason::TimeLimit);
        }
        let used = self.memory.load(Ordering::Relaxed);
        if self.limits.memory.is_some_and(|m| used > m) {
            return Some(Reason::MemoryLimit);
        }
        None
    }
}

/// Why an exploration was left.
enum Leave {
    Trouble(Trouble),
    Limit(Reason),
}

impl From<Trouble> for Leave {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl<'a> Search<'a> {
    pub(crate) fn new(compiled: &'a Compiled<'a>, limits: &'a Limits<'a>) -> Self {
        Self {
            compiled,
            limits,
            began: Instant::now(),
            addresses: Addresses::default(),
            states: Store::default(),
            expanded: 0,
        }
    }

    /// Looks for attacks. The second value is what it cost.
    pub(crate) fn run(&mut self) -> (Found, Stats) {
        let threads = self.compiled.automata.threads.len();
        let mut attackers: Vec<Attacker<'_>> = (0..threads)
            .filter(|t| self.compiled.threads[*t].attacks.contains(&true))
            .map(|t| Attacker::new(self.compiled, t))
            .collect();
        let memory = AtomicU64::new(0);
        let found = self.explore(&mut attackers, &memory);
        let attack_states = attackers.iter().map(|a| a.states.len() as u64).sum();
        let stats = Stats {
            states: self.states.len() as u64,
            attack_states,
            memory: self.states.memory() + attackers.iter().map(|a| a.states.memory()).sum::<u64>(),
            elapsed: self.began.elapsed(),
        };
        (found, stats)
    }

    fn explore(&mut self, attackers: &mut [Attacker<'_>], memory: &AtomicU64) -> Found {
        if let Err(leave) = self.begin() {
            return self.left(leave);
        }
        loop {
            let watch = Watch {
                limits: self.limits,
                began: self.began,
                memory,
            };
            let start = self.expanded;
            // The configuration in which the program fails is looked at after the attacks of those before it.
            let expanded = self.expand_batch(&watch);
            let attacks = self.attack_batch(attackers, start, memory);
            match (attacks, expanded) {
                (Ok(None), Ok(true)) => {}
                (Ok(None), Ok(false)) => return Found::Nothing,
                (Ok(None), Err(leave)) => return self.left(leave),
                (Ok(Some(success)), _) => return Found::Attack(Box::new(success)),
                (Err(leave), _) => return self.left(leave),
            }
        }
    }

    fn left(&self, leave: Leave) -> Found {
        match leave {
            Leave::Limit(reason) => Found::Unknown(reason),
            Leave::Trouble(Trouble::TooLarge) => Found::Unknown(Reason::TooLarge(
                "a thread has too many states between two accesses".to_owned(),
            )),
            Leave::Trouble(Trouble::Fault(thread, transition, kind)) => {
                // Faults are met while the state at `expanded` is expanded, or at the very beginning.
                let path = if self.states.len() == 0 {
                    Vec::new()
                } else {
                    path(&self.states, self.expanded as u32)
                };
                Found::Fault {
                    path,
                    thread,
                    transition,
                    kind,
                }
            }
        }
    }

    fn begin(&mut self) -> Result<(), Leave> {
        let mut numbers = Vec::new();
        for config in self.compiled.initial(&mut self.addresses)? {
            config.encode(&mut numbers);
            self.states.insert(&numbers, Origin::ROOT);
        }
        Ok(())
    }

    /// Expands up to [`BATCH`] configurations; says whether any are left.
    fn expand_batch(&mut self, watch: &Watch<'_>) -> Result<bool, Leave> {
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        let (mut numbers, mut code) = (Vec::new(), Vec::new());
        for done in 0..BATCH {
            if self.expanded == self.states.len() {
                return Ok(false);
            }
            if done.is_multiple_of(LOOK)
                && let Some(reason) = watch.check()
            {
                return Err(Leave::Limit(reason));
            }
            let parent = self.expanded as u32;
            self.states.read(parent, &mut numbers);
            let config = Config::decode(&numbers, threads, regs);
            for thread in 0..threads {
                if !config.may_access(thread) {
                    continue;
                }
                let (compiled, states) = (self.compiled, &mut self.states);
                compiled.step(&config, thread, &mut self.addresses, &mut |t, after| {
                    after.encode(&mut code);
                    let origin = Origin {
                        parent,
                        thread: thread as u16,
                        transition: t,
                    };
                    states.insert(&code, origin);
                })?;
            }
            self.expanded += 1;
        }
        Ok(self.expanded < self.states.len())
    }

    /// All attackers look at the configurations from number `start` on that were expanded.
    fn attack_batch(
        &self,
        attackers: &mut [Attacker<'_>],
        start: usize,
        memory: &AtomicU64,
    ) -> Result<Option<Success>, Leave> {
        let range = start..self.states.len().min(self.expanded + 1);
        let workers = match self.limits.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let watch = Watch {
            limits: self.limits,
            began: self.began,
            memory,
        };
        let small = range.len() < LOOK || workers == 1 || attackers.len() < 2;
        let mut results = Vec::new();
        if small {
            for attacker in &mut *attackers {
                let result = attacker.run(self, range.clone(), &watch);
                let done = !matches!(result, Ok(None));
                results.push(result);
                if done {
                    break;
                }
            }
        } else {
            for group in attackers.chunks_mut(workers) {
                let found: Vec<_> = std::thread::scope(|scope| {
                    let (watch, search) = (&watch, self);
                    let handles: Vec<_> = group
                        .iter_mut()
                        .map(|attacker| {
                            let range = range.clone();
                            scope.spawn(move || attacker.run(search, range, watch))
                        })
                        .collect();
                    let joined = handles.into_iter().map(|h| h.join());
                    joined
                        .map(|r| r.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                        .collect()
                });
                let done = found.iter().any(|r| !matches!(r, Ok(None)));
                results.extend(found);
                if done {
                    break;
                }
            }
        }
        let used: u64 = attackers.iter().map(|a| a.states.memory()).sum();
        // ORDERING: relaxed; a hint.
        memory.store(used + self.states.memory(), Ordering::Relaxed);
        let mut limit = None;
        for result in results {
            match result {
                Ok(None) => {}
                Ok(Some(success)) => return Ok(Some(success)),
                Err(leave) => limit = limit.or(Some(leave)),
            }
        }
        limit.map_or(Ok(None), Err)
    }
}

/// The exploration of one thread's attacks.
struct Attacker<'a> {
    compiled: &'a Compiled<'a>,
    thread: usize,
    addresses: Addresses,
    states: Store,
    expanded: usize,
}

impl<'a> Attacker<'a> {
    fn new(compiled: &'a Compiled<'a>, thread: usize) -> Self {
        Self {
            compiled,
            thread,
            addresses: Addresses::default(),
            states: Store::default(),
            expanded: 0,
        }
    }

    /// Continues from the SC configurations in `range`.
    fn run(
        &mut self,
        search: &Search<'_>,
        range: std::ops::Range<usize>,
        watch: &Watch<'_>,
    ) -> Result<Option<Success>, Leave> {
        let mut numbers = Vec::new();
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        for (done, number) in range.enumerate() {
            search.states.read(number as u32, &mut numbers);
            let mut config = Config::decode(&numbers, threads, regs);
            let memory = std::mem::take(&mut config.memory);
            for (at, value) in memory.into_iter().enumerate() {
                let at = self.addresses.number(search.addresses.values[at]);
                crate::config::set(&mut config.memory, at, value);
            }
            self.start(&config, number as u32)?;
            if let Some((state, last)) = self.expand(watch)? {
                return Ok(Some(self.success(search, state, last)));
            }
            if done.is_multiple_of(LOOK)
                && let Some(reason) = watch.check()
            {
                return Err(Leave::Limit(reason));
            }
        }
        Ok(None)
    }

    fn start(&mut self, config: &Config, number: u32) -> Result<(), Leave> {
        let mut code = Vec::new();
        let (states, thread) = (&mut self.states, self.thread);
        self.compiled.start_attack(
            config,
            thread,
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

    /// Expands all states that are not yet; returns one from which a step, given as thread and transition, closes the
    /// cycle.
    fn expand(&mut self, watch: &Watch<'_>) -> Result<Option<(u32, Step)>, Leave> {
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        let (mut numbers, mut code) = (Vec::new(), Vec::new());
        while self.expanded < self.states.len() {
            if self.expanded.is_multiple_of(LOOK)
                && let Some(reason) = watch.check()
            {
                return Err(Leave::Limit(reason));
            }
            let parent = self.expanded as u32;
            self.expanded += 1;
            self.states.read(parent, &mut numbers);
            let (config, attack) = Attack::decode(&numbers, threads, regs);
            let mut hit = None;
            for thread in 0..threads {
                if !config.may_access(thread) {
                    continue;
                }
                self.expand_one(parent, &config, &attack, thread, &mut code, &mut hit)?;
                if let Some(transition) = hit {
                    return Ok(Some((parent, (thread, transition))));
                }
            }
        }
        Ok(None)
    }

    fn expand_one(
        &mut self,
        parent: u32,
        config: &Config,
        attack: &Attack,
        thread: usize,
        code: &mut Vec<Value>,
        hit: &mut Option<u32>,
    ) -> Result<(), Leave> {
        let (compiled, states) = (self.compiled, &mut self.states);
        let mut add = |transition, config: &Config, attack: &Attack| {
            attack.encode(config, code);
            let origin = Origin {
                parent,
                thread: thread as u16,
                transition,
            };
            states.insert(code, origin);
        };
        let addresses = &mut self.addresses;
        if thread == self.thread {
            compiled.attacker_step(config, attack, thread, addresses, &mut |t, c, a| {
                add(t, &c, &a);
            })?;
        } else {
            compiled.helper_step(config, attack, thread, addresses, &mut |t, c, a, closed| {
                add(t, &c, &a);
                if closed && hit.is_none() {
                    *hit = Some(t);
                }
            })?;
        }
        Ok(())
    }

    fn success(&self, search: &Search<'_>, state: u32, last: Step) -> Success {
        let mut attack = vec![last];
        let mut at = state;
        let before = loop {
            let origin = self.states.origin(at);
            if origin.thread == START {
                attack.push((self.thread, origin.transition));
                break path(&search.states, origin.parent);
            }
            attack.push((usize::from(origin.thread), origin.transition));
            at = origin.parent;
        };
        attack.reverse();
        Success {
            attacker: self.thread,
            before,
            attack,
        }
    }
}

/// In the origin of an attack's first state, whose parent is an SC configuration.
const START: u16 = u16::MAX;

/// The steps that lead to a state.
pub(crate) fn path(states: &Store, state: u32) -> Vec<Step> {
    let mut path = Vec::new();
    let mut at = state;
    loop {
        let origin = states.origin(at);
        if origin.parent == Origin::NONE {
            path.reverse();
            return path;
        }
        path.push((usize::from(origin.thread), origin.transition));
        at = origin.parent;
    }
}
