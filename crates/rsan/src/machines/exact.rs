//! Whether a machine allows one execution of which everything is known.
//!
//! The events of a straight-line program and their dependencies do not depend on values. So the oracle makes them once, of a program in
//! which no step reads what another one writes, and the accesses then get their locations, what they read, and their order.

use super::shape::{At, Shape};
use rsan_axioms::Limits;
use rsan_axioms::machine::{Candidate, Event, Kind, consistent, executions};
use rsan_mapping::{Target, compile};
use rsan_model::{EventId, LocId, Relation, ThreadId};
use rsan_report::document::Shows;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Everything that the memory did.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Execution {
    pub(super) shape: Shape,
    /// The write that a step reads; what is not here reads the initial value.
    pub(super) reads: BTreeMap<At, At>,
    /// The writes of each location, in order.
    pub(super) writes: BTreeMap<u32, Vec<At>>,
}

impl Execution {
    /// The same with locations numbered as they come.
    pub(super) fn normal(self) -> Self {
        let shape = self.shape.normal();
        let renamed = self.writes.into_values().filter_map(|writes| {
            let first = *writes.first()?;
            Some((shape.step(first).location, writes))
        });
        let writes = renamed.collect();
        Self {
            writes,
            shape,
            reads: self.reads,
        }
    }
}

/// Whether the machine allows it. The locations are numbered as they come.
pub(super) fn shows(target: &Target, execution: &Execution) -> Shows {
    let mut candidate = match events(target, &execution.shape) {
        Ok(Some(candidate)) => candidate,
        Ok(None) => return Shows::No,
        Err(Undecided) => return Shows::Unknown,
    };
    for event in &mut candidate.events {
        let place = at(event);
        if let (Kind::Read(access) | Kind::Write(access), Some(place)) = (&mut event.kind, place) {
            access.loc = LocId(execution.shape.step(place).location);
        }
    }
    connect(&mut candidate, execution);
    match consistent(target.machine, &candidate) {
        Ok(()) => Shows::Yes,
        Err(_) => Shows::No,
    }
}

/// The oracle, or the table of instructions, cannot say.
struct Undecided;

/// The events of the shape: each step that writes does so at a location of its own, behind those of the shape. `None` if a
/// compare-and-swap cannot fail as it does.
fn events(target: &Target, shape: &Shape) -> Result<Option<Candidate>, Undecided> {
    let mut apart = shape.clone();
    let locations = shape.locations();
    let steps = apart.threads.iter_mut().flatten();
    for (step, own) in steps.filter(|step| step.act.writes()).zip(locations..) {
        step.location = own;
    }
    let program = compile(&apart.program(), target).map_err(|_| Undecided)?;
    let mut found = None;
    let mut visit = |candidate: &Candidate| {
        let mut writes = candidate.events.iter().filter(|event| event.is_write());
        let only_reads = |at: At| shape.step(at).act.reads() && !shape.step(at).act.writes();
        if writes.any(|event| at(event).is_some_and(only_reads)) {
            return ControlFlow::Continue(());
        }
        found = Some(candidate.clone());
        ControlFlow::Break(())
    };
    let limits = Limits::default();
    let visited = executions(&program, target.machine, &limits, &mut visit);
    match visited {
        Ok(summary) if found.is_some() || summary.cut.reason(&limits).is_none() => Ok(found),
        Ok(_) | Err(_) => Err(Undecided),
    }
}

/// The step that makes an event.
fn at(event: &Event) -> Option<At> {
    let thread = event.thread.map(ThreadId::index)?;
    Some((thread, event.origin as usize))
}

/// Sets what is read, and the order of the writes.
fn connect(candidate: &mut Candidate, execution: &Execution) {
    let events = &candidate.events;
    let (mut rf, mut co) = (Relation::new(events.len()), Relation::new(events.len()));
    let find = |is: &dyn Fn(&Event) -> bool| events.iter().position(is).map(EventId::new);
    let write_of = |step: At| find(&|event| event.is_write() && at(event) == Some(step));
    for location in 0..execution.shape.locations() {
        let is_here = |event: &Event| event.loc() == Some(LocId(location));
        let initial = find(&|event| event.thread.is_none() && is_here(event));
        let steps = execution.writes.get(&location).into_iter().flatten();
        let writes = steps.filter_map(|step| write_of(*step));
        let order: Vec<_> = initial.into_iter().chain(writes).collect();
        for (index, first) in order.iter().enumerate() {
            let later = order[index + 1..].iter();
            later.for_each(|second| co.add(*first, *second));
        }
        for (read, event) in events.iter().enumerate() {
            let Some(step) = at(event).filter(|_| event.is_read() && is_here(event)) else {
                continue;
            };
            let read = EventId::new(read);
            let from = match execution.shape.step(step).act.reads() {
                true => execution.reads.get(&step).and_then(|from| write_of(*from)),
                // A store that is an exchange reads what it overwrites.
                false => {
                    let own = write_of(step);
                    let place = order.iter().position(|write| Some(*write) == own);
                    place.and_then(|place| order.get(place.wrapping_sub(1)).copied())
                }
            };
            if let Some(write) = from.or(initial) {
                rf.add(write, read);
            }
        }
    }
    (candidate.rf, candidate.co) = (rf, co);
}
