//! Any number of copies of each thread.
//!
//! # What it decides
//! Whether all instances of a program, with any number of copies of each of its threads, are robust against TSO. Sound and
//! complete when memory and registers take finitely many values; otherwise it may end with a limit.
//!
//! # How
//! Copies of a thread in the same local state are interchangeable, so a configuration is memory, a few threads that are told
//! apart (the holder of the lock, the attacker), and *how many* copies are in each local state. Every thread starts with
//! as many copies as anybody may want (`ω`). Such systems are well-structured: the coverability tree of Karp and Miller
//! (1969) is finite. A node that has at least as many copies everywhere as an ancestor with the same rest can repeat what led
//! there, so the states that grew get `ω` copies; a node that another one covers is not continued. An attack that succeeds
//! anywhere in the tree succeeds in some instance, and vice versa. The smallest such instance is then found by trying them in
//! the order of their size.

use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config};
use crate::fences::FenceSet;
use crate::limits::{Limits, Stats, Watch};
use crate::prefilter::{Attackable, Prefilter};
use crate::steps::{FaultKind, Trouble};
use crate::{Verdict, robustness};
use rsan_model::automata::{Automata, Automaton};
use rsan_model::{Reason, Value};
use std::collections::{BTreeMap, HashMap};

/// What is known of all instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllInstances {
    /// Every instance is robust.
    Robust,
    /// This one is not, and none with fewer threads.
    Violation(Box<Instance>),
    /// Some instance fails under SC already.
    Fault(FaultKind),
    /// Not decided.
    Unknown(Reason),
}

/// An instance that is not robust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// How many copies of each thread it has.
    pub copies: Vec<usize>,
    /// The instance as a program of its own.
    pub automata: Automata,
    /// What shows that it is not robust.
    pub computation: crate::Computation,
}

/// So many that it does not matter how many.
const MANY: u32 = u32::MAX;

/// A thread of some template in some local state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Copy {
    template: usize,
    pc: u32,
    regs: Vec<Value>,
    /// It acted after a load of the attacker.
    reached: bool,
}

type Counts = BTreeMap<Copy, u32>;

/// Everything of a configuration but the numbers of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    memory: Vec<Value>,
    holder: Option<Copy>,
    attack: Option<(Copy, Attack)>,
}

struct Node {
    rest: usize,
    counts: Counts,
    parent: Option<usize>,
}

/// Whether every instance is robust against TSO.
pub fn all_instances(automata: &Automata, limits: &Limits<'_>) -> (AllInstances, Stats) {
    let compiled = Compiled::new(automata);
    let prefilter = Prefilter::for_templates(automata);
    let threads = 0..automata.threads.len();
    let mut tree = Tree {
        compiled: &compiled,
        attackers: threads
            .map(|t| prefilter.attackable(t, &FenceSet::default()))
            .collect(),
        addresses: Addresses::default(),
        rests: Vec::new(),
        numbers: HashMap::new(),
        known: Vec::new(),
        nodes: Vec::new(),
    };
    let watch = Watch::new(limits);
    if !compiled.may_fail && tree.attackers.iter().all(Attackable::is_harmless) {
        return (AllInstances::Robust, Stats::default());
    }
    let answer = match tree.explore(&watch) {
        Ok(false) => AllInstances::Robust,
        Ok(true) => smallest(automata, limits, &watch),
        Err(Stop::Limit(reason)) => AllInstances::Unknown(reason),
        Err(Stop::Trouble(Trouble::Fault(_, _, kind))) => AllInstances::Fault(kind),
        Err(Stop::Trouble(Trouble::TooLarge)) => AllInstances::Unknown(Reason::TooLarge(
            "a thread has too many states between two accesses".to_owned(),
        )),
    };
    let attacks = |n: &&Node| tree.rests[n.rest].attack.is_some();
    let attack_states = tree.nodes.iter().filter(attacks).count() as u64;
    let stats = Stats {
        states: tree.nodes.len() as u64 - attack_states,
        attack_states,
        memory: 0,
        elapsed: watch.began.elapsed(),
    };
    (answer, stats)
}

/// Why the tree was left.
enum Stop {
    Trouble(Trouble),
    Limit(Reason),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

struct Tree<'a> {
    compiled: &'a Compiled<'a>,
    /// Each template as attacker.
    attackers: Vec<Attackable>,
    addresses: Addresses,
    rests: Vec<Rest>,
    numbers: HashMap<Vec<Value>, usize>,
    /// The nodes with each rest.
    known: Vec<Vec<usize>>,
    nodes: Vec<Node>,
}

impl Tree<'_> {
    /// Builds the tree; says whether an attack succeeds.
    fn explore(&mut self, watch: &Watch<'_>) -> Result<bool, Stop> {
        let mut counts = Counts::new();
        let mut memory = Vec::new();
        for config in self.compiled.initial(&mut self.addresses)? {
            for template in 0..config.pcs.len() {
                counts.insert(self.copy(&config, template, false), MANY);
            }
            memory = config.memory;
        }
        let rest = Rest {
            memory,
            holder: None,
            attack: None,
        };
        self.add(&rest, counts, None);
        let (mut next, mut told) = (0, 0);
        while next < self.nodes.len() {
            if next.is_multiple_of(64) {
                // An estimate.
                let used = (self.nodes.len() + self.rests.len()) as u64 * 1024;
                watch.tell(used, &mut told);
                watch.check().map_err(Stop::Limit)?;
            }
            if self.expand(next)? {
                return Ok(true);
            }
            next += 1;
        }
        Ok(false)
    }

    fn copy(&self, config: &Config, template: usize, reached: bool) -> Copy {
        Copy {
            template,
            pc: config.pcs[template],
            regs: config.regs[self.compiled.registers(template)].to_vec(),
            reached,
        }
    }

    /// A configuration in which one copy acts; the others do not matter for its step.
    fn config(&self, rest: &Rest, actor: &Copy) -> Config {
        let threads = self.compiled.automata.threads.len();
        let mut config = Config {
            lock: 0,
            pcs: vec![0; threads],
            regs: vec![0; self.compiled.register_count()],
            memory: rest.memory.clone(),
            stored: 0,
        };
        if rest.holder.is_some() {
            config.lock = actor.template + 1;
        }
        config.pcs[actor.template] = actor.pc;
        let range = self.compiled.registers(actor.template);
        config.regs[range].copy_from_slice(&actor.regs);
        config
    }

    /// Adds what follows a node; says whether an attack succeeds.
    fn expand(&mut self, node: usize) -> Result<bool, Stop> {
        let rest = self.rests[self.nodes[node].rest].clone();
        let actors: Vec<Copy> = match &rest.holder {
            Some(holder) => vec![holder.clone()],
            None => self.nodes[node].counts.keys().cloned().collect(),
        };
        let mut found: Vec<(Rest, Copy, Option<Copy>)> = Vec::new();
        let mut hit = false;
        for actor in actors {
            let config = self.config(&rest, &actor);
            match &rest.attack {
                None => self.sc_steps(&rest, &config, &actor, &mut found)?,
                Some((attacker, attack)) => {
                    let attack = attack.clone();
                    let attacker = attacker.clone();
                    hit |= self.helper_steps(&config, &actor, &attacker, &attack, &mut found)?;
                }
            }
        }
        if let (Some((attacker, attack)), None) = (&rest.attack, &rest.holder) {
            self.attacker_steps(&rest, attacker, attack, node)?;
        }
        for (rest, actor, after) in found {
            let mut counts = self.nodes[node].counts.clone();
            if self.rests[self.nodes[node].rest].holder.is_none() {
                take(&mut counts, &actor);
            }
            if let Some(after) = after {
                put(&mut counts, after);
            }
            self.add(&rest, counts, Some(node));
        }
        Ok(hit)
    }

    /// What a copy can do under SC, and the attacks that it can start.
    fn sc_steps(
        &mut self,
        rest: &Rest,
        config: &Config,
        actor: &Copy,
        found: &mut Vec<(Rest, Copy, Option<Copy>)>,
    ) -> Result<(), Stop> {
        let (compiled, template) = (self.compiled, actor.template);
        let mut after = Vec::new();
        compiled.step(config, template, &mut self.addresses, &mut |_, config| {
            after.push(config);
        })?;
        for config in after {
            let copy = self.copy(&config, template, false);
            let held = config.lock != 0;
            let rest = Rest {
                memory: trimmed(config.memory),
                holder: held.then(|| copy.clone()),
                attack: None,
            };
            found.push((rest, actor.clone(), (!held).then_some(copy)));
        }
        if rest.holder.is_some() {
            return Ok(());
        }
        let mut started = Vec::new();
        let attacker = &self.attackers[template];
        compiled.start_attack(config, attacker, &mut self.addresses, &mut |_, c, a| {
            started.push((c, a));
        })?;
        for (config, attack) in started {
            let attacker = self.copy(&config, template, false);
            let rest = Rest {
                memory: rest.memory.clone(),
                holder: None,
                attack: Some((attacker, attack)),
            };
            found.push((rest, actor.clone(), None));
        }
        Ok(())
    }

    fn attacker_steps(
        &mut self,
        rest: &Rest,
        attacker: &Copy,
        attack: &Attack,
        node: usize,
    ) -> Result<(), Stop> {
        let config = self.config(rest, attacker);
        let (compiled, template) = (self.compiled, attacker.template);
        let mut after = Vec::new();
        let addresses = &mut self.addresses;
        let role = &self.attackers[template];
        compiled.attacker_step(&config, attack, role, addresses, &mut |_, c, a| {
            after.push((c, a));
        })?;
        for (config, attack) in after {
            let attacker = self.copy(&config, template, false);
            let rest = Rest {
                memory: rest.memory.clone(),
                holder: None,
                attack: Some((attacker, attack)),
            };
            let counts = self.nodes[node].counts.clone();
            self.add(&rest, counts, Some(node));
        }
        Ok(())
    }

    /// What a copy other than the attacker can do during an attack; says whether the attack succeeds by it.
    fn helper_steps(
        &mut self,
        config: &Config,
        actor: &Copy,
        attacker: &Copy,
        attack: &Attack,
        found: &mut Vec<(Rest, Copy, Option<Copy>)>,
    ) -> Result<bool, Stop> {
        let (compiled, template) = (self.compiled, actor.template);
        let mut attack = attack.clone();
        attack.reached = u64::from(actor.reached) << template;
        let mut after = Vec::new();
        let mut hit = false;
        let addresses = &mut self.addresses;
        compiled.helper_step(
            config,
            &attack,
            template,
            addresses,
            &mut |_, c, a, closed| {
                hit |= closed;
                after.push((c, a));
            },
        )?;
        for (config, mut attack) in after {
            let reached = attack.reached != 0;
            attack.reached = 0;
            let copy = self.copy(&config, template, reached);
            let held = config.lock != 0;
            let rest = Rest {
                memory: trimmed(config.memory),
                holder: held.then(|| copy.clone()),
                attack: Some((attacker.clone(), attack)),
            };
            found.push((rest, actor.clone(), (!held).then_some(copy)));
        }
        Ok(hit)
    }

    /// Adds a node, unless one is there that covers it.
    fn add(&mut self, rest: &Rest, mut counts: Counts, parent: Option<usize>) {
        let number = self.number(rest);
        // Karp and Miller's acceleration.
        let mut ancestor = parent;
        while let Some(at) = ancestor {
            let node = &self.nodes[at];
            if node.rest == number && covers(&counts, &node.counts) {
                for (copy, count) in &mut counts {
                    if *count > node.counts.get(copy).copied().unwrap_or(0) {
                        *count = MANY;
                    }
                }
            }
            ancestor = node.parent;
        }
        let covered = |node: &usize| covers(&self.nodes[*node].counts, &counts);
        if self.known[number].iter().any(covered) {
            return;
        }
        self.known[number].push(self.nodes.len());
        self.nodes.push(Node {
            rest: number,
            counts,
            parent,
        });
    }

    fn number(&mut self, rest: &Rest) -> usize {
        let code = code(rest);
        let next = self.rests.len();
        let number = *self.numbers.entry(code).or_insert(next);
        if number == next {
            self.rests.push(rest.clone());
            self.known.push(Vec::new());
        }
        number
    }
}

/// A rest as numbers, the same for equal ones.
fn code(rest: &Rest) -> Vec<Value> {
    let mut code = Vec::new();
    let mut numbers = Vec::new();
    let copy = |copy: Option<&Copy>, code: &mut Vec<Value>| match copy {
        None => code.push(-1),
        Some(copy) => {
            code.extend([
                copy.template as Value,
                copy.pc as Value,
                copy.reached.into(),
            ]);
            code.extend(&copy.regs);
        }
    };
    copy(rest.holder.as_ref(), &mut code);
    let config = Config {
        lock: 0,
        pcs: Vec::new(),
        regs: Vec::new(),
        memory: rest.memory.clone(),
        stored: 0,
    };
    match &rest.attack {
        None => {
            code.push(-2);
            config.encode(&mut numbers);
        }
        Some((attacker, attack)) => {
            copy(Some(attacker), &mut code);
            attack.encode(&config, &mut numbers);
        }
    }
    code.extend(numbers);
    code
}

fn trimmed(mut memory: Vec<Value>) -> Vec<Value> {
    while memory.last() == Some(&0) {
        memory.pop();
    }
    memory
}

fn covers(more: &Counts, less: &Counts) -> bool {
    less.iter()
        .all(|(copy, count)| more.get(copy).is_some_and(|n| n >= count))
}

fn take(counts: &mut Counts, copy: &Copy) {
    match counts.get_mut(copy) {
        Some(count) if *count == MANY => {}
        Some(count) if *count > 1 => *count -= 1,
        _ => {
            counts.remove(copy);
        }
    }
}

fn put(counts: &mut Counts, copy: Copy) {
    let count = counts.entry(copy).or_insert(0);
    if *count != MANY {
        *count += 1;
    }
}

/// The smallest instance that is not robust; there is one.
fn smallest(automata: &Automata, limits: &Limits<'_>, watch: &Watch<'_>) -> AllInstances {
    for size in 2.. {
        for copies in splits(size, automata.threads.len()) {
            let instance = instantiate(automata, &copies);
            match robustness(&instance, &FenceSet::default(), limits).verdict {
                Verdict::Robust | Verdict::TriangularRace(_) | Verdict::Deadlock(_) => {}
                Verdict::Violation(computation) => {
                    return AllInstances::Violation(Box::new(Instance {
                        copies,
                        automata: instance,
                        computation: *computation,
                    }));
                }
                Verdict::Fault(fault) => return AllInstances::Fault(fault.kind),
                Verdict::Unknown(reason) => return AllInstances::Unknown(reason),
            }
            if let Err(reason) = watch.check() {
                return AllInstances::Unknown(reason);
            }
        }
    }
    unreachable!("sizes do not end")
}

/// The ways to have `size` copies of `templates` threads.
fn splits(size: usize, templates: usize) -> Vec<Vec<usize>> {
    if templates <= 1 {
        return vec![vec![size; templates]];
    }
    let mut all = Vec::new();
    for first in (0..=size).rev() {
        for mut rest in splits(size - first, templates - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// A program with so many copies of each thread.
pub fn instantiate(automata: &Automata, copies: &[usize]) -> Automata {
    let mut instance = automata.clone();
    instance.threads = Vec::new();
    for (thread, copies) in automata.threads.iter().zip(copies) {
        for number in 1..=*copies {
            let name = match *copies {
                1 => thread.name.clone(),
                _ => format!("{}#{number}", thread.name),
            };
            instance.threads.push(Automaton {
                name,
                ..thread.clone()
            });
        }
    }
    instance
}
