//! Triangular races (Owens, ECOOP 2010): a load races with a store of another thread, and its own thread has stored
//! before it without emptying its buffer since.
//!
//! A program without triangular races is robust in a strong sense: TSO shows no state that SC does not. The property is one of
//! SC runs: a configuration in which one thread is about to load an address with such a store behind it, and another is about to write the
//! address, under the lock or not. Threads under the lock count with what they do there.

use crate::compiled::Compiled;
use crate::config::{Addresses, Config};
use crate::machine::{Action, Event};
use crate::search::{LOOK, Limits, Stats, Watch, path};
use crate::steps::Trouble;
use crate::store::{Origin, Store};
use crate::{Fault, Outcome, Verdict, witness};
use rsan_model::automata::{Automata, Op};
use rsan_model::{Reason, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A triangular race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriangularRace {
    /// The thread that has stored and is about to load.
    pub reader: usize,
    /// The thread that is about to write.
    pub writer: usize,
    /// Where.
    pub address: Value,
    /// The SC run up to there.
    pub actions: Vec<Action>,
    /// Its accesses.
    pub events: Vec<Event>,
}

/// Whether a program is free of triangular races.
pub fn triangular_races(automata: &Automata, limits: &Limits<'_>) -> Outcome {
    let compiled = Compiled::with_visible_fences(automata);
    let began = Instant::now();
    let mut search = Search {
        compiled: &compiled,
        addresses: Addresses::default(),
        states: Store::default(),
        expanded: 0,
    };
    let memory = AtomicU64::new(0);
    let watch = Watch {
        limits,
        began,
        memory: &memory,
    };
    let verdict = search.run(&watch).unwrap_or_else(|trouble| match trouble {
        Trouble::TooLarge => Verdict::Unknown(Reason::TooLarge(
            "a thread has too many states between two accesses".to_owned(),
        )),
        Trouble::Fault(thread, transition, kind) => {
            let steps = match search.states.len() {
                0 => Vec::new(),
                _ => path(&search.states, search.expanded as u32),
            };
            let at = (thread, transition);
            Verdict::Fault(Box::new(Fault::new(automata, &steps, at, kind)))
        }
    });
    Outcome {
        verdict,
        stats: Stats {
            states: search.states.len() as u64,
            attack_states: 0,
            memory: search.states.memory(),
            elapsed: began.elapsed(),
        },
    }
}

struct Search<'a> {
    compiled: &'a Compiled<'a>,
    addresses: Addresses,
    states: Store,
    expanded: usize,
}

impl Search<'_> {
    fn run(&mut self, watch: &Watch<'_>) -> Result<Verdict, Trouble> {
        let threads = self.compiled.automata.threads.len();
        let regs = self.compiled.register_count();
        let (mut numbers, mut code) = (Vec::new(), Vec::new());
        for config in self.compiled.initial(&mut self.addresses)? {
            encode(&config, 0, &mut code);
            self.states.insert(&code, Origin::ROOT);
        }
        while self.expanded < self.states.len() {
            if self.expanded.is_multiple_of(LOOK) {
                // ORDERING: relaxed; nobody else looks.
                watch.memory.store(self.states.memory(), Ordering::Relaxed);
                if let Some(reason) = watch.check() {
                    return Ok(Verdict::Unknown(reason));
                }
            }
            let parent = self.expanded as u32;
            self.states.read(parent, &mut numbers);
            let stored = u64::from(numbers[0] as u32) | u64::from(numbers[1] as u32) << 32;
            let config = Config::decode(&numbers[2..], threads, regs);
            if let Some((reader, writer, address)) = self.race(&config, stored) {
                let steps = path(&self.states, parent);
                let (actions, events) = witness::sc_run(self.compiled.automata, &steps);
                return Ok(Verdict::TriangularRace(Box::new(TriangularRace {
                    reader,
                    writer,
                    address,
                    actions,
                    events,
                })));
            }
            for thread in 0..threads {
                if !config.may_access(thread) {
                    continue;
                }
                let (compiled, states) = (self.compiled, &mut self.states);
                compiled.step(&config, thread, &mut self.addresses, &mut |t, after| {
                    let stored = match &compiled.transition(thread, t).op {
                        Op::Write { .. } if config.lock == 0 => stored | 1 << thread,
                        op if op.drains() => stored & !(1 << thread),
                        _ => stored,
                    };
                    encode(&after, stored, &mut code);
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
        Ok(Verdict::Robust)
    }

    /// Reader, writer and address of a race in a configuration.
    fn race(&self, config: &Config, stored: u64) -> Option<(usize, usize, Value)> {
        let threads = 0..self.compiled.automata.threads.len();
        for reader in threads.clone().filter(|t| stored >> t & 1 != 0) {
            for address in self.about_to(config, reader, false) {
                for writer in threads.clone().filter(|t| *t != reader) {
                    let free = config.may_access(writer);
                    if free && self.about_to(config, writer, true).contains(&address) {
                        return Some((reader, writer, address));
                    }
                }
            }
        }
        None
    }

    /// The addresses that a thread can load, or write, next.
    fn about_to(&self, config: &Config, thread: usize, write: bool) -> Vec<Value> {
        let regs = &config.regs[self.compiled.registers(thread)];
        let pc = config.pcs[thread] as usize;
        let shared = &self.compiled.threads[thread].leaving[pc].shared;
        let addresses = shared.iter().filter_map(|&t| {
            let addr = match &self.compiled.transition(thread, t).op {
                Op::Read { addr, .. } if !write => addr,
                Op::Write { addr, .. } if write => addr,
                Op::Update {
                    addr,
                    value: Some(_),
                    ..
                } if write => addr,
                _ => return None,
            };
            self.compiled.value(addr, regs).ok()
        });
        addresses.collect()
    }
}

fn encode(config: &Config, stored: u64, code: &mut Vec<Value>) {
    config.encode(code);
    code.splice(0..0, [stored as u32 as Value, (stored >> 32) as Value]);
}
