//! The coverability tree of a program with any number of copies of each thread.

use crate::attacker::Leave;
use crate::compiled::Compiled;
use crate::config::{Addresses, Attack, Config};
use crate::limits::Watch;
use crate::prefilter::Attackable;
use rsan_model::Value;
use std::collections::{BTreeMap, HashMap};

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

pub(super) struct Tree<'a> {
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

impl<'a> Tree<'a> {
    pub(super) fn new(compiled: &'a Compiled<'a>, attackers: Vec<Attackable>) -> Self {
        Self {
            compiled,
            attackers,
            addresses: Addresses::default(),
            rests: Vec::new(),
            numbers: HashMap::new(),
            known: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// How many nodes it has, without an attack and with one.
    pub(super) fn size(&self) -> (u64, u64) {
        let attacks = |n: &&Node| self.rests[n.rest].attack.is_some();
        let attacks = self.nodes.iter().filter(attacks).count();
        ((self.nodes.len() - attacks) as u64, attacks as u64)
    }

    /// Builds the tree; says whether an attack succeeds.
    pub(super) fn explore(&mut self, watch: &Watch<'_>) -> Result<bool, Leave> {
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
                watch.check().map_err(Leave::Limit)?;
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
    fn expand(&mut self, node: usize) -> Result<bool, Leave> {
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
    ) -> Result<(), Leave> {
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
            started.push((c, a.clone()));
        })?;
        for (config, attack) in started {
            let rest = self.attacked(rest, &config, template, attack);
            found.push((rest, actor.clone(), None));
        }
        Ok(())
    }

    /// The others of an attack, beside an attacker in this state.
    fn attacked(&self, rest: &Rest, config: &Config, template: usize, attack: Attack) -> Rest {
        let attacker = self.copy(config, template, false);
        Rest {
            memory: rest.memory.clone(),
            holder: None,
            attack: Some((attacker, attack)),
        }
    }

    fn attacker_steps(
        &mut self,
        rest: &Rest,
        attacker: &Copy,
        attack: &Attack,
        node: usize,
    ) -> Result<(), Leave> {
        let config = self.config(rest, attacker);
        let (compiled, template) = (self.compiled, attacker.template);
        let mut after = Vec::new();
        let addresses = &mut self.addresses;
        let role = &self.attackers[template];
        compiled.attacker_step(&config, attack, role, addresses, &mut |_, c, a| {
            after.push((c, a.clone()));
        })?;
        for (config, attack) in after {
            let rest = self.attacked(rest, &config, template, attack);
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
    ) -> Result<bool, Leave> {
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
                after.push((c, a.clone()));
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
