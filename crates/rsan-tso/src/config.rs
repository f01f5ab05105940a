//! Configurations: where the threads are, what memory holds, and what an attack has done so far.

use crate::mutation::{Mutant, Mutation};
use rsan_model::Value;
use std::collections::HashMap;

/// The addresses met so far, numbered in the order of discovery.
#[derive(Clone, Default)]
pub(crate) struct Addresses {
    pub(crate) values: Vec<Value>,
    numbers: HashMap<Value, usize>,
}

impl Addresses {
    pub(crate) fn number(&mut self, address: Value) -> usize {
        let next = self.values.len();
        let number = *self.numbers.entry(address).or_insert(next);
        if number == next {
            self.values.push(address);
        }
        number
    }
}

/// A configuration of the program without store buffers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Config {
    /// 0, or the thread that holds the lock plus one.
    pub(crate) lock: usize,
    pub(crate) pcs: Vec<u32>,
    /// The registers of all threads, one after the other.
    pub(crate) regs: Vec<Value>,
    /// By number of address; what is beyond the end is 0.
    pub(crate) memory: Vec<Value>,
    /// The threads with a store that nothing drained yet, as bits; only kept where triangular races are looked for.
    pub(crate) stored: u64,
}

/// The element of a table whose missing elements are the default.
pub(crate) fn get<T: Copy + Default>(table: &[T], at: usize) -> T {
    table.get(at).copied().unwrap_or_default()
}

/// Sets it.
pub(crate) fn set<T: Clone + Default>(table: &mut Vec<T>, at: usize, value: T) {
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    table[at] = value;
}

impl Config {
    pub(crate) fn may_access(&self, thread: usize) -> bool {
        self.lock == 0 || self.lock == thread + 1
    }

    /// As numbers, the same for equal configurations.
    pub(crate) fn encode(&self, numbers: &mut Vec<Value>) {
        numbers.clear();
        let stored = self.stored != 0;
        numbers.push((self.lock * 2 + usize::from(stored)) as Value);
        if stored {
            numbers.extend([self.stored as u32 as Value, (self.stored >> 32) as Value]);
        }
        numbers.extend(self.pcs.iter().map(|pc| *pc as Value));
        numbers.extend(&self.regs);
        let used = self.memory.iter().rposition(|v| *v != 0);
        numbers.extend(&self.memory[..used.map_or(0, |last| last + 1)]);
    }

    pub(crate) fn decode(numbers: &[Value], threads: usize, regs: usize) -> Self {
        let (lock, rest) = (numbers[0] as usize, &numbers[1..]);
        let (stored, rest) = match lock % 2 {
            0 => (0, rest),
            _ => (
                u64::from(rest[0] as u32) | u64::from(rest[1] as u32) << 32,
                &rest[2..],
            ),
        };
        let (pcs, rest) = rest.split_at(threads);
        let (regs, memory) = rest.split_at(regs);
        Self {
            lock: lock / 2,
            pcs: pcs.iter().map(|pc| *pc as u32).collect(),
            regs: regs.to_vec(),
            memory: memory.to_vec(),
            stored,
        }
    }
}

/// How the accesses of an address so far concern the attack: by whom a later access comes after a load of the attacker.
///
/// `fixed` are accesses that come after such a load; `tentative` are those of a thread that holds the lock and is not
/// known to yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub(crate) fixed: Touch,
    pub(crate) tentative: Touch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Touch {
    #[default]
    None,
    Read,
    Written,
}

impl Touch {
    /// Whether an access comes after one of these.
    fn precedes(self, writes: bool, mutation: Mutation) -> bool {
        let writes = writes && !mutation.breaks(Mutant::WritesNotAfterReads)
            || mutation.breaks(Mutant::ReadsAfterReads);
        self == Self::Written || writes && self == Self::Read
    }

    fn decode(number: Value) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Read,
            _ => Self::Written,
        }
    }
}

/// What happened since the attacker delayed its first store.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Attack {
    /// The number of the first delayed store's address.
    pub(crate) target: usize,
    /// The thread that holds the lock has closed the cycle: once it gives the lock back the store can reach memory.
    pub(crate) closed: bool,
    /// The threads that acted after a load of the attacker, as bits.
    pub(crate) reached: u64,
    /// The newest delayed store to each address.
    pub(crate) buffer: Vec<Option<Value>>,
    pub(crate) marks: Vec<Mark>,
}

impl Attack {
    /// Both as numbers, the same for equal ones.
    pub(crate) fn encode(&self, config: &Config, numbers: &mut Vec<Value>) {
        numbers.clear();
        numbers.push(config.lock as Value);
        numbers.push((self.target * 2 + usize::from(self.closed)) as Value);
        numbers.push(self.reached as u32 as Value);
        numbers.push((self.reached >> 32) as Value);
        numbers.extend(config.pcs.iter().map(|pc| *pc as Value));
        numbers.extend(&config.regs);
        let all = config
            .memory
            .len()
            .max(self.buffer.len())
            .max(self.marks.len());
        let is_used = |a: &usize| {
            get(&config.memory, *a) != 0
                || get(&self.buffer, *a).is_some()
                || get(&self.marks, *a) != Mark::default()
        };
        let used = (0..all).rev().find(is_used).map_or(0, |last| last + 1);
        for a in 0..used {
            let mark = get(&self.marks, a);
            let delayed = get(&self.buffer, a);
            let flags = mark.fixed as Value * 3 + mark.tentative as Value;
            numbers.push(get(&config.memory, a));
            numbers.push(flags * 2 + Value::from(delayed.is_some()));
            numbers.extend(delayed);
        }
    }

    /// Both from numbers, into what is there already.
    pub(crate) fn decode(
        numbers: &[Value],
        (threads, regs): (usize, usize),
        config: &mut Config,
        attack: &mut Self,
    ) {
        let (pcs, rest) = numbers[4..].split_at(threads);
        let (regs, rest) = rest.split_at(regs);
        config.lock = numbers[0] as usize;
        config.pcs.clear();
        config.pcs.extend(pcs.iter().map(|pc| *pc as u32));
        config.regs.clear();
        config.regs.extend(regs);
        config.memory.clear();
        attack.target = numbers[1] as usize / 2;
        attack.closed = numbers[1] % 2 != 0;
        attack.reached = u64::from(numbers[2] as u32) | u64::from(numbers[3] as u32) << 32;
        attack.buffer.clear();
        attack.marks.clear();
        let mut rest = rest.iter().copied();
        while let (Some(value), Some(flags)) = (rest.next(), rest.next()) {
            config.memory.push(value);
            let delayed = (flags % 2 == 1).then(|| rest.next()).flatten();
            attack.buffer.push(delayed);
            attack.marks.push(Mark {
                fixed: Touch::decode(flags / 6),
                tentative: Touch::decode(flags / 2 % 3),
            });
        }
    }

    /// Whether an access of a thread other than the attacker comes after a load of the attacker, whatever else the thread did
    /// under the lock.
    pub(crate) fn is_after(
        &self,
        thread: usize,
        at: usize,
        writes: bool,
        mutation: Mutation,
    ) -> bool {
        self.reached >> thread & 1 != 0 || get(&self.marks, at).fixed.precedes(writes, mutation)
    }

    /// A thread other than the attacker accesses an address. Says what that means.
    pub(crate) fn touch(
        &mut self,
        thread: usize,
        at: usize,
        writes: bool,
        locked: bool,
        mutation: Mutation,
    ) -> Touched {
        let mut mark = get(&self.marks, at);
        let touch = if writes { Touch::Written } else { Touch::Read };
        let known = self.reached >> thread & 1 != 0;
        if self.is_after(thread, at, writes, mutation) {
            mark.fixed = mark.fixed.max(touch);
            set(&mut self.marks, at, mark);
            if locked || !mutation.breaks(Mutant::ReachedThreadsForgotten) {
                self.reached |= 1 << thread;
            }
            let promoted = !known && locked && self.promote(mutation);
            return if at == self.target || promoted {
                Touched::Target
            } else {
                Touched::After
            };
        }
        if !locked || mutation.breaks(Mutant::SectionsBeginAfterLoads) {
            return Touched::Unrelated;
        }
        mark.tentative = mark.tentative.max(touch);
        set(&mut self.marks, at, mark);
        Touched::After
    }

    /// The thread that holds the lock is known to come after a load; so is all that it did under the lock, which is one
    /// step for the others. Says whether the target is among it.
    fn promote(&mut self, mutation: Mutation) -> bool {
        if mutation.breaks(Mutant::SectionsNotPromoted) {
            return false;
        }
        let hit = get(&self.marks, self.target).tentative != Touch::None;
        for mark in &mut self.marks {
            mark.fixed = mark.fixed.max(mark.tentative);
            mark.tentative = Touch::None;
        }
        hit && !mutation.breaks(Mutant::PromotedTargetOverlooked)
    }
}

/// What an access of a helper means for an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// It does not come after a load of the attacker: it could as well have come before the attack.
    Unrelated,
    /// It does, or may turn out to at a later access under the same lock.
    After,
    /// It does, and accesses the address of the delayed store: the cycle is closed.
    Target,
}
