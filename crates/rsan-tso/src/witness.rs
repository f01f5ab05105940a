//! From a successful attack to a TSO computation, replayed step by step on the operational machine.

use crate::attacker::Success;
use crate::fences::FencePlace;
use crate::machine::{Action, Event, Machine};
use crate::trace::Trace;
use rsan_model::Edge;
use rsan_model::automata::{Automata, Op, StateId};

/// A TSO computation whose trace no SC computation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// The thread whose stores are delayed.
    pub attacker: usize,
    /// All steps, those inside threads and the flushes included.
    pub actions: Vec<Action>,
    /// The accesses.
    pub events: Vec<Event>,
    /// The first delayed store, in `events`.
    pub delayed: usize,
    /// The load that it is delayed past, in `events`.
    pub overtaken: usize,
    /// The cycle that SC forbids: each edge from the event of its element to that of the next, the last one back to the first.
    pub cycle: Vec<(usize, Edge)>,
    /// The control states of the attacker between the two: a fence in any of them, and nowhere else, forbids this computation.
    pub between: Vec<FencePlace>,
}

/// Local configurations looked at while a path inside a thread is searched.
const MAX_PATHS: usize = 100_000;

/// What a step of the plan is.
#[derive(Clone, Copy)]
struct Planned {
    thread: usize,
    transition: usize,
    /// A store that stays in the buffer.
    delay: bool,
}

/// Replays an attack.
///
/// # Panics
/// When the machine does not accept it: a bug in the search.
pub(crate) fn computation(automata: &Automata, success: &Success) -> Computation {
    let mut plan = Vec::new();
    let steps = success.before.iter().map(|s| (s, false));
    let steps = steps.chain(success.attack.iter().map(|s| (s, true)));
    for (&(thread, transition), attacking) in steps {
        plan.push(Planned {
            thread,
            transition: transition as usize,
            delay: attacking && thread == success.attacker,
        });
    }
    let mut machine = follow(Machine::new(automata), &plan, &mut 0)
        .expect("the TSO machine can make the steps of an attack");
    let before = success.before.len();
    while machine.has_delayed(success.attacker) {
        let flushed = machine.flush(success.attacker);
        assert!(flushed.is_some(), "the attacker can empty its buffer");
    }
    describe(automata, &machine, success, before)
}

/// Replays steps under SC; for faults. The last thread is left where it stands.
pub(crate) fn sc_run(automata: &Automata, path: &[(usize, u32)]) -> (Vec<Action>, Vec<Event>) {
    let plan: Vec<Planned> = path
        .iter()
        .map(|&(thread, transition)| Planned {
            thread,
            transition: transition as usize,
            delay: false,
        })
        .collect();
    let machine = follow(Machine::new(automata), &plan, &mut 0)
        .expect("the TSO machine can make the steps of an SC run");
    (machine.actions, machine.events)
}

/// Makes the planned steps, with whatever a thread does inside itself between them.
fn follow<'a>(
    mut machine: Machine<'a>,
    mut plan: &[Planned],
    tried: &mut usize,
) -> Option<Machine<'a>> {
    let mut seen: Vec<(u32, Vec<i32>)> = Vec::new();
    while let Some((first, rest)) = plan.split_first() {
        *tried += 1;
        let step = &machine.automata().threads[first.thread].transitions[first.transition];
        let here = machine.states[first.thread] == step.from.0;
        match (here, machine.transitions(first.thread).as_slice()) {
            (true, []) => {
                make(&mut machine, first)?;
                (plan, seen) = (rest, Vec::new());
            }
            (false, [only]) => {
                let place = (
                    machine.states[first.thread],
                    machine.regs[first.thread].clone(),
                );
                if seen.contains(&place) || *tried > MAX_PATHS {
                    return None;
                }
                seen.push(place);
                machine.step(first.thread, *only)?;
            }
            (false, []) => return None,
            _ => return choose(machine, first, rest, tried),
        }
    }
    Some(machine)
}

/// Makes a planned step.
fn make(machine: &mut Machine<'_>, step: &Planned) -> Option<()> {
    machine.step(step.thread, step.transition)?;
    let locked = machine.events.last().is_some_and(|e| e.section.is_some());
    if !step.delay && !locked && machine.has_delayed(step.thread) {
        machine.flush(step.thread)?;
    }
    Some(())
}

/// Makes the planned steps where a thread can go several ways inside itself.
fn choose<'a>(
    machine: Machine<'a>,
    first: &Planned,
    rest: &[Planned],
    tried: &mut usize,
) -> Option<Machine<'a>> {
    // Ways inside the thread to the state that the step leaves, shortest first.
    let mut open = vec![machine];
    let mut seen: Vec<(u32, Vec<i32>)> = Vec::new();
    let mut next = 0;
    while next < open.len() {
        let here = open[next].clone();
        next += 1;
        *tried += 1;
        if *tried > MAX_PATHS {
            return None;
        }
        let place = (here.states[first.thread], here.regs[first.thread].clone());
        if seen.contains(&place) {
            continue;
        }
        seen.push(place);
        open.extend(inside(&here, first.thread));
        let mut after = here;
        if make(&mut after, first).is_some()
            && let Some(done) = follow(after, rest, tried)
        {
            return Some(done);
        }
    }
    None
}

/// The machine after each possible step inside a thread.
fn inside<'a>(machine: &Machine<'a>, thread: usize) -> Vec<Machine<'a>> {
    let steps = machine.transitions(thread);
    let mut after = Vec::new();
    for transition in steps {
        let mut machine = machine.clone();
        if machine.step(thread, transition).is_some() {
            after.push(machine);
        }
    }
    after
}

impl Machine<'_> {
    /// The transitions inside a thread that it can make in its present state.
    fn transitions(&self, thread: usize) -> Vec<usize> {
        let automaton = &self.automata().threads[thread];
        let leaving = automaton.leaving(StateId(self.states[thread]));
        let passes = |op: &Op| match op {
            Op::Check(e) | Op::Assert(e) | Op::Bounds(e) => self.accepts(thread, Some(e)),
            Op::Fence => !self.has_delayed(thread),
            op => op.is_local(),
        };
        leaving
            .filter(|(_, t)| passes(&t.op))
            .map(|(i, _)| i)
            .collect()
    }
}

fn describe(
    automata: &Automata,
    machine: &Machine<'_>,
    success: &Success,
    before: usize,
) -> Computation {
    let trace = Trace::of(machine);
    let shared_before = machine.events.iter().position(|e| {
        e.thread == success.attacker && is_first_delayed(machine, e, success, before)
    });
    let delayed = shared_before.expect("the delayed store is an event");
    let attacker = Some(success.attacker);
    let loads = machine.events.iter().enumerate().skip(delayed + 1);
    let (overtaken, way) = loads
        .filter(|(_, e)| Some(e.thread) == attacker && e.read.is_some())
        .find_map(|(i, _)| Some((i, trace.way(i, delayed, attacker)?)))
        .expect("the trace of a successful attack has a cycle");
    let mut cycle = vec![(delayed, Edge::Po)];
    cycle.extend(way);
    let steps = machine.events[delayed].step..machine.events[overtaken].step;
    let between = machine.actions[steps]
        .iter()
        .filter_map(|action| match *action {
            Action::Step { thread, transition } if Some(thread) == attacker => {
                let state = automata.threads[thread].transitions[transition].to;
                Some(FencePlace { thread, state })
            }
            _ => None,
        });
    let mut between: Vec<FencePlace> = between.collect();
    between.sort_unstable();
    between.dedup();
    Computation {
        attacker: success.attacker,
        actions: machine.actions.clone(),
        events: machine.events.clone(),
        delayed,
        overtaken,
        cycle,
        between,
    }
}

/// Whether an event is the attack's first step: the shared steps before it are as many as those before the attack.
fn is_first_delayed(
    machine: &Machine<'_>,
    event: &Event,
    success: &Success,
    before: usize,
) -> bool {
    let automata = machine.automata();
    let shared = machine.actions[..event.step].iter().filter(|action| {
        matches!(action, Action::Step { thread, transition }
            if !crate::compiled::is_inside(&automata.threads[*thread].transitions[*transition].op))
    });
    let (thread, transition) = success.attack[0];
    shared.count() == before && event.thread == thread && event.transition == transition as usize
}
