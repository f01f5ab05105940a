//! A combination of traces as a candidate: events, program order and dependencies.

use super::candidate::{Access, Candidate, Dependencies, Event, Kind};
use super::thread::{Step, Trace};
use rsan_model::machine::{Program, Strength};
use rsan_model::{EventId, EventSet, LocId, Relation, ThreadId};
use std::collections::BTreeSet;

/// The candidate of these traces, one of each thread, without `rf` and `co`; `None` when it has more than `max_events` events.
pub(super) fn skeleton(
    program: &Program,
    traces: &[&Trace],
    max_events: usize,
) -> Option<Candidate> {
    let used: BTreeSet<LocId> = traces.iter().flat_map(|t| locations(t)).collect();
    let steps: usize = traces.iter().map(|t| t.steps.len()).sum();
    let n = used.len() + steps;
    if n > max_events {
        return None;
    }
    let empty = Relation::new(n);
    let none = Dependencies {
        addr: empty.clone(),
        data: empty.clone(),
        ctrl: empty.clone(),
    };
    let mut candidate = Candidate {
        events: used
            .iter()
            .map(|&loc| initial_write(program, loc))
            .collect(),
        po: empty.clone(),
        deps: none.clone(),
        pick: none,
        rmw: empty.clone(),
        amo: empty.clone(),
        rf: empty.clone(),
        co: empty,
        registers: traces.iter().map(|t| t.registers.clone()).collect(),
        memory: program.locations.iter().map(|l| l.init).collect(),
    };
    for (t, trace) in traces.iter().enumerate() {
        let base = candidate.events.len();
        for (index, step) in trace.steps.iter().enumerate() {
            let origin = program.threads[t].origins[step.op];
            add(&mut candidate, (t, origin), (base, index), step);
        }
    }
    Some(candidate)
}

fn initial_write(program: &Program, loc: LocId) -> Event {
    Event {
        thread: None,
        op: 0,
        origin: 0,
        kind: Kind::Write(Access {
            loc,
            value: program.locations[loc.index()].init,
            strength: Strength::default(),
            exclusive: false,
            update: false,
            returns: true,
        }),
    }
}

/// Adds event `index` of thread `t`, whose first event is `base`.
fn add(c: &mut Candidate, (t, origin): (usize, u32), (base, index): (usize, usize), step: &Step) {
    let e = EventId::new(base + index);
    c.events.push(Event {
        thread: Some(ThreadId::new(t)),
        op: step.op,
        origin,
        kind: step.kind,
    });
    (base..base + index).for_each(|before| c.po.add(EventId::new(before), e));
    let add = |r: &mut Relation, sources: EventSet| {
        let sources = sources.iter();
        sources.for_each(|s| r.add(EventId::new(base + s.index()), e));
    };
    add(&mut c.deps.addr, step.addr.value);
    add(&mut c.deps.data, step.data.value);
    add(&mut c.deps.ctrl, step.ctrl.value);
    add(&mut c.pick.addr, step.addr.pick);
    add(&mut c.pick.data, step.data.pick);
    add(&mut c.pick.ctrl, step.ctrl.pick);
    if let Some(read) = step.rmw {
        let read = EventId::new(base + read);
        c.rmw.add(read, e);
        if matches!(step.kind, Kind::Write(a) if a.update) {
            c.amo.add(read, e);
        }
    }
}

fn locations(trace: &Trace) -> impl Iterator<Item = LocId> {
    trace.steps.iter().filter_map(|s| match s.kind {
        Kind::Read(a) | Kind::Write(a) => Some(a.loc),
        Kind::Fence(_) => None,
    })
}

/// The location of an initial write.
pub(super) fn initial(event: &Event) -> Option<LocId> {
    event.thread.is_none().then(|| event.loc()).flatten()
}
