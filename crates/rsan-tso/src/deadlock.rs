//! Deadlocks: SC configurations in which no thread can move and some have not ended.
//!
//! TSO adds none: a thread with a full buffer can empty it, and then stands where a thread under SC does, if the program is robust.

use crate::compiled::Compiled;
use crate::config::Config;
use crate::exhaust::exhaust;
use crate::limits::Limits;
use crate::machine::{Action, Event};
use crate::space::plain;
use crate::steps::Role;
use crate::{Outcome, Verdict, witness};
use rsan_model::automata::{Automata, StateId};

/// A deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The threads that have not ended, and where each stands.
    pub blocked: Vec<(usize, StateId)>,
    /// The SC run up to there.
    pub actions: Vec<Action>,
    /// Its accesses.
    pub events: Vec<Event>,
}

/// Whether a program is free of deadlocks under SC. A thread has ended in a control state that nothing leaves, and one that was
/// never started is not waited for.
pub fn deadlocks(automata: &Automata, limits: &Limits<'_>) -> Outcome {
    let compiled = Compiled::new(automata);
    exhaust(&compiled, limits, plain, &|look| {
        if look.moved != Some(false) {
            return None;
        }
        let blocked = blocked(&compiled, look.config)?;
        let (actions, events) = witness::sc_run(automata, &look.path());
        Some(Verdict::Deadlock(Box::new(Deadlock {
            blocked,
            actions,
            events,
        })))
    })
}

/// The threads that wait for ever where no shared step is possible, unless one of them runs around in itself.
fn blocked(compiled: &Compiled<'_>, config: &Config) -> Option<Vec<(usize, StateId)>> {
    let mut blocked = Vec::new();
    for (thread, automaton) in compiled.automata.threads.iter().enumerate() {
        if can_run(compiled, config, thread) {
            return None;
        }
        let state = StateId(config.pcs[thread]);
        let ended = automaton.leaving(state).next().is_none();
        // Only the translation has such initial states: the thread waits to be started.
        let started = state != automaton.initial || automaton.states[state.index()].fenceable;
        if !ended && started {
            blocked.push((thread, state));
        }
    }
    (!blocked.is_empty()).then_some(blocked)
}

/// Whether a thread can do something inside itself.
fn can_run(compiled: &Compiled<'_>, config: &Config, thread: usize) -> bool {
    let leaving = &compiled.threads[thread].leaving[config.pcs[thread] as usize];
    let regs = &config.regs[compiled.registers(thread)];
    let can = |t: &u32| {
        let step = compiled.local_step(thread, *t, regs, Role::Helper);
        step.is_ok_and(|after| after.is_some())
    };
    leaving.local.iter().any(can)
}
