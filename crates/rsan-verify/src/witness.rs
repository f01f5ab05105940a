//! A failing schedule, replayed and explained.
//!
//! The search keeps packed states and parents only. A witness is made by finding the transitions between the states
//! on the way ([`schedule`]), executing them once more with events ([`Replay`]), and adding the access that goes
//! wrong ([`weak`]).
//!
//! The stale write that a report names is the newest one that suits the access: the monitor says that *some* write
//! from the lower bound on does, so the newest suitable one is at or above the bound.

mod replay;
mod weak;

use crate::machine::{Executed, FailureKind, Mobility, Scratch};
use crate::search::{Problem, Search};
use crate::state::State;
use crate::store::StateId;
use replay::Replay;
use rsan_model::{Edge, EventId, Fault, Label, Model, ThreadId, Witness};
use std::collections::VecDeque;

/// Explains why the state (or the initial one) fails.
pub(crate) fn explain<const W: usize>(
    search: &Search<'_, '_, W>,
    model: Model,
    state: Option<StateId>,
    problem: Problem,
) -> Witness {
    let mut replay = Replay::new(search.machine.program, model);
    let (log, problem) = schedule(search, state, problem);
    for executed in log {
        replay.execute(executed);
    }
    let mut cycle = Vec::new();
    let fault = match problem {
        Problem::Deadlock(blocked) => Fault::Deadlock { blocked },
        Problem::Step(failure) => {
            let (thread, pc) = (failure.thread, failure.pc);
            match failure.kind {
                FailureKind::Assertion => Fault::Assertion { thread, pc },
                FailureKind::Trap(error) => Fault::Trap { thread, pc, error },
                FailureKind::LocalLoop | FailureKind::NoCounter => {
                    unreachable!("a limit, not a fault")
                }
                FailureKind::Race(other, kind) => {
                    let second = replay.next_access(thread, pc);
                    let first = replay.last_access(second, other, kind);
                    Fault::Race { first, second }
                }
                FailureKind::Weak(weakness) => {
                    let access = replay.weak_access(thread, pc, weakness);
                    cycle = forbidden_cycle(&replay, model, access.access);
                    Fault::Weak(access)
                }
                FailureKind::Observed(register) => {
                    let access = replay.stale_load(thread, register);
                    cycle = forbidden_cycle(&replay, model, access.access);
                    Fault::Observed {
                        access,
                        user: (thread, pc),
                    }
                }
            }
        }
    };
    Witness {
        fault,
        schedule: replay.schedule,
        graph: replay.graph,
        cycle,
    }
}

/// What is executed on the way to a state, and in it before a step fails; and the problem, with the threads' own
/// names.
fn schedule<const W: usize>(
    search: &Search<'_, '_, W>,
    state: Option<StateId>,
    problem: Problem,
) -> (Vec<Executed>, Problem) {
    let machine = search.machine;
    let mut log = Vec::new();
    let Ok(initial) = machine.initial(&mut log) else {
        return (log, problem);
    };
    let Some(last) = state else {
        return (log, problem);
    };
    let mut path = vec![last];
    let mut child = last;
    while search.parent(child) != child {
        child = search.parent(child);
        path.push(child);
    }
    path.reverse();
    let mut walk = Walk::new(search, initial);
    for &id in &path[1..] {
        log.extend(walk.step_to(id));
    }
    let problem = walk.fail(&mut log);
    (log, problem)
}

/// A way through stored states, in which equal threads may have changed places, and who is who.
struct Walk<'s, 'm, 'a, const W: usize> {
    search: &'s Search<'m, 'a, W>,
    /// As the search saw it.
    state: State<W>,
    /// The own name of each thread of `state`.
    names: Vec<ThreadId>,
    scratch: Scratch<W>,
}

impl<'s, 'm, 'a, const W: usize> Walk<'s, 'm, 'a, W> {
    fn new(search: &'s Search<'m, 'a, W>, mut initial: State<W>) -> Self {
        let mut names: Vec<_> = (0..initial.pcs.len()).map(ThreadId::new).collect();
        let layout = &search.machine.layout;
        search.codec.canonicalise(layout, &mut initial, |a, b| {
            names.swap(a.index(), b.index());
        });
        let mut scratch = Scratch::new(&initial);
        scratch.recording = true;
        Self {
            search,
            state: initial,
            names,
            scratch,
        }
    }

    fn threads(&self) -> impl Iterator<Item = ThreadId> + use<W> {
        (0..self.names.len()).map(ThreadId::new)
    }

    /// Goes to the successor that the store knows as `id`, and gives what is executed on the way.
    fn step_to(&mut self, id: StateId) -> Vec<Executed> {
        let (machine, codec) = (self.search.machine, self.search.codec);
        let target = self.search.words(id);
        let mut step = None;
        for t in self.threads() {
            let mut out = |next: &mut State<W>, executed: &[Executed]| {
                let mut names = self.names.clone();
                codec.canonicalise(&machine.layout, next, |a, b| {
                    names.swap(a.index(), b.index());
                });
                let mut words = Vec::new();
                let packed = codec.pack(&machine.layout, next, &mut words);
                if step.is_none() && packed.is_ok() && words == target {
                    step = Some((names, executed.to_vec()));
                }
            };
            let expanded = machine.expand(&self.state, t, &mut self.scratch, &mut out);
            expanded.expect("a state with a successor does not fail");
        }
        let (names, mut executed) = step.expect("every stored state is a successor of its parent");
        self.rename(&mut executed);
        self.names = names;
        codec.unpack(&machine.layout, target, &mut self.state);
        executed
    }

    /// What is wrong with the state; what is executed before it fails goes to the log.
    fn fail(mut self, log: &mut Vec<Executed>) -> Problem {
        let machine = self.search.machine;
        let mut blocked = Vec::new();
        for t in self.threads() {
            match machine.expand(&self.state, t, &mut self.scratch, &mut |_, _| {}) {
                Ok(Mobility::Blocked(pc)) => blocked.push((self.name(t), pc)),
                Ok(Mobility::Free | Mobility::Ended) => {}
                Err(mut failure) => {
                    let mut executed = std::mem::take(&mut self.scratch.log);
                    self.rename(&mut executed);
                    log.append(&mut executed);
                    failure.thread = self.name(failure.thread);
                    if let FailureKind::Race(other, _) = &mut failure.kind {
                        *other = self.name(*other);
                    }
                    return Problem::Step(failure);
                }
            }
        }
        blocked.sort_unstable();
        Problem::Deadlock(blocked)
    }

    fn name(&self, thread: ThreadId) -> ThreadId {
        self.names[thread.index()]
    }

    fn rename(&self, executed: &mut [Executed]) {
        for e in executed {
            e.thread = self.name(e.thread);
        }
    }
}

/// A shortest cycle of `po ∪ asw ∪ rf ∪ mo ∪ fr` (and the order of SC fences, where the model has one) through
/// the event.
fn forbidden_cycle(replay: &Replay<'_>, model: Model, through: EventId) -> Vec<(EventId, Edge)> {
    let graph = &replay.graph;
    let mut reached: Vec<Option<(EventId, Edge)>> = vec![None; graph.len()];
    let mut queue = VecDeque::from([through]);
    while let Some(from) = queue.pop_front() {
        for to in graph.ids() {
            let Some(edge) = edge(replay, model, from, to) else {
                continue;
            };
            if reached[to.index()].is_some() {
                continue;
            }
            reached[to.index()] = Some((from, edge));
            if to == through {
                let mut cycle = Vec::new();
                let mut at = through;
                while let Some((from, edge)) = reached[at.index()] {
                    cycle.push((from, edge));
                    at = from;
                    if at == through {
                        break;
                    }
                }
                cycle.reverse();
                return cycle;
            }
            queue.push_back(to);
        }
    }
    Vec::new()
}

/// The edge from `a` to `b`, if there is one; the kinds in the order in which a reader would prefer them.
fn edge(replay: &Replay<'_>, model: Model, a: EventId, b: EventId) -> Option<Edge> {
    let graph = &replay.graph;
    if a == b {
        return None;
    }
    let (ea, eb) = (graph.event(a), graph.event(b));
    eb.thread?;
    if ea.thread == eb.thread && a < b {
        return Some(Edge::Po);
    }
    if graph.reads_from(b) == Some(a) {
        return Some(Edge::Rf);
    }
    if let (Some(x), Some(y)) = (ea.label.loc(), eb.label.loc())
        && x == y
        && eb.label.is_write()
    {
        let position = |e: EventId| graph.modification_order(x).iter().position(|&w| w == e);
        let after = position(b);
        if let Some(write) = graph.reads_from(a)
            && position(write) < after
        {
            return Some(Edge::Fr);
        }
        if ea.label.is_write() && position(a) < after {
            return Some(Edge::Mo);
        }
    }
    match (ea.label, eb.label) {
        (Label::Spawn(child), Label::Begin) if eb.thread == Some(child) => Some(Edge::Asw),
        (Label::End, Label::Join(child)) if ea.thread == Some(child) => Some(Edge::Asw),
        (x, y) if model != Model::C20 && x.is_sc_fence() && y.is_sc_fence() && a < b => {
            Some(Edge::ScFence)
        }
        _ => None,
    }
}
