//! Triangular races (Owens, ECOOP 2010): a load races with a store of another thread, and its own thread has stored
//! before it without emptying its buffer since.
//!
//! A program without triangular races is robust in a strong sense: TSO shows no state that SC does not. The property is one of
//! SC runs: a configuration in which one thread is about to load an address with such a store behind it, and another is about to write the
//! address, under the lock or not. Threads under the lock count with what they do there.

use crate::compiled::Compiled;
use crate::config::Config;
use crate::exhaust::exhaust;
use crate::limits::{Limits, Stats};
use crate::machine::{Action, Event};
use crate::prefilter::has_no_triangle;
use crate::space::Step;
use crate::{Outcome, Verdict, witness};
use rsan_model::Value;
use rsan_model::automata::{Automata, Op};

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
    if !compiled.may_fail && has_no_triangle(automata) {
        return Outcome {
            verdict: Verdict::Robust,
            stats: Stats::default(),
        };
    }
    exhaust(&compiled, limits, stored, &|look| {
        let (reader, writer, address) = race(&compiled, look.config)?;
        let (actions, events) = witness::sc_run(automata, &look.path());
        Some(Verdict::TriangularRace(Box::new(TriangularRace {
            reader,
            writer,
            address,
            actions,
            events,
        })))
    })
}

/// Keeps who has stored without a fence since.
fn stored(compiled: &Compiled<'_>, before: &Config, step: Step, after: &mut Config) {
    let (thread, transition) = step;
    after.stored = match &compiled.transition(thread, transition).op {
        Op::Write { .. } if before.lock == 0 => before.stored | 1 << thread,
        op if op.drains() => before.stored & !(1 << thread),
        _ => before.stored,
    };
}

/// Reader, writer and address of a race in a configuration.
fn race(compiled: &Compiled<'_>, config: &Config) -> Option<(usize, usize, Value)> {
    let threads = 0..compiled.automata.threads.len();
    for reader in threads.clone().filter(|t| config.stored >> t & 1 != 0) {
        for address in about_to(compiled, config, reader, false) {
            for writer in threads.clone().filter(|t| *t != reader) {
                let free = config.may_access(writer);
                if free && about_to(compiled, config, writer, true).contains(&address) {
                    return Some((reader, writer, address));
                }
            }
        }
    }
    None
}

/// The addresses that a thread can load, or write, next.
fn about_to(compiled: &Compiled<'_>, config: &Config, thread: usize, write: bool) -> Vec<Value> {
    let regs = &config.regs[compiled.registers(thread)];
    let pc = config.pcs[thread] as usize;
    let shared = &compiled.threads[thread].leaving[pc].shared;
    let addresses = shared.iter().filter_map(|&t| {
        let addr = match &compiled.transition(thread, t).op {
            Op::Read { addr, .. } if !write => addr,
            Op::Write { addr, .. } if write => addr,
            Op::Update {
                addr,
                value: Some(_),
                ..
            } if write => addr,
            _ => return None,
        };
        compiled.address(addr, regs).ok()
    });
    addresses.collect()
}
