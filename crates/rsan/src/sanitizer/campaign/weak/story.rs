//! How a finding of a weak run comes about: its stale reads, where they and the writes are, and whether the run is sequentially
//! consistent. A second run by the same schedule says it.

use super::super::execution::Execution;
use super::super::pool::Worker;
use super::Weak;
use crate::machines::Machines;
use crate::sanitizer::convert::{About, Resolver};
use crate::sanitizer::cycle;
use crate::sanitizer::record::{Accessed, StaleRead};
use crate::sanitizer::sentence::at;
use rsan_log::Address;
use rsan_model::Model;
use rsan_report::document::{
    Access, CycleEdge, Edge, Event, Execution as Shown, Finding, Frame, OnMachine, Related, Role,
    Stale, Thread,
};
use rsan_report::number::plural;
use rsan_schedule::sequential::{Relation, Sequential, judge};
use rsan_schedule::{Choice, Kind, ReadsFrom, Request as Run, Schedule, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Stale reads that are told in words.
const TOLD: usize = 3;
/// Stale reads that are events of the execution that is shown.
const SHOWN: usize = 20;

/// How a run comes about.
pub(in super::super) struct Story {
    because: Vec<String>,
    /// Where the stale reads are, and what they miss.
    related: Vec<Related>,
    execution: Option<Shown>,
    /// Which machines can show the cycle.
    machines: Vec<OnMachine>,
}

/// Makes the run of a schedule again, and says how it comes about; `None` if it does not come about again.
pub(super) fn tell(
    worker: &mut Worker<'_>,
    schedule: &Schedule,
    weak: Weak,
    limit: u64,
) -> Option<Story> {
    let file = worker.keep(schedule)?;
    let run = weak.run(Run {
        limit: Some(limit),
        explain: true,
        ..Choice::Replay(file).into()
    });
    Story::of(&worker.run(run).ok()?)
}

/// A stale read in words.
struct Told {
    /// The read, the write that it read, and the last one.
    accesses: Vec<Access>,
    place: String,
}

impl Story {
    /// That of a run that explains itself; `None` if it did not follow its schedule.
    pub(in super::super) fn of(execution: &Execution) -> Option<Self> {
        let same = execution.header.diverged == 0 && execution.is_complete();
        same.then(|| Self::new(execution))
    }

    fn new(execution: &Execution) -> Self {
        let steps = &execution.trace.steps;
        let reads = &execution.record.stale;
        let mut resolver = Resolver::new(Model::C20);
        let told: Vec<_> = reads.iter().map(|read| told(read, &mut resolver)).collect();
        let sequential = judge(steps);
        let mut because = sentences(&told);
        because.extend(verdict(&sequential, !reads.is_empty()));
        let mut places = Places::default();
        for access in &execution.record.accesses {
            places.see(access, steps, &mut resolver);
        }
        for (read, told) in reads.iter().zip(&told) {
            places.learn(read, told, steps);
        }
        let cycle = match &sequential {
            Sequential::No(cycle) => cycle::of_run(steps, cycle),
            Sequential::Yes | Sequential::Unknown => None,
        };
        Self {
            machines: cycle.map_or_else(Vec::new, |cycle| Machines::default().of(cycle)),
            because,
            related: told.iter().take(TOLD).flat_map(related).collect(),
            execution: shown(steps, reads, &sequential, &places),
        }
    }

    /// Adds it to a finding of the run.
    pub(in super::super) fn add_to(&self, finding: &mut Finding) {
        finding.because.extend(self.because.iter().cloned());
        finding.related.extend(self.related.iter().cloned());
        // What would order the accesses of a race says more.
        if finding.execution.is_none() {
            finding.execution = self.execution.clone();
            finding.machines = self.machines.clone();
        }
    }
}

fn told(read: &StaleRead, resolver: &mut Resolver) -> Told {
    let about = About::new(read.address, read.size, read.memory.as_ref(), resolver);
    let sides = [
        (Role::Access, &read.access),
        (Role::Stale, &read.read),
        (Role::Missed, &read.last),
    ];
    Told {
        accesses: about.accesses(sides, resolver),
        place: about.place(),
    }
}

/// What the stale reads are, and why they may be.
fn sentences(all: &[Told]) -> Vec<String> {
    let mut sentences: Vec<_> = all.iter().take(TOLD).map(sentence).collect();
    let more = all.len().saturating_sub(TOLD);
    if more > 0 {
        sentences.push(format!("and {} more", plural(more as u64, "stale read")));
    }
    if !all.is_empty() {
        let stores = if all.len() == 1 {
            "the newer store"
        } else {
            "the newer stores"
        };
        sentences.push(format!(
            "C++20 allows that: neither happens-before nor the order of seq_cst operations nor coherence puts {stores} first"
        ));
    }
    sentences
}

/// ``thread 2 reads the stale value 0 of `x` at a.c:5, although thread 1 has stored 1 at a.c:3``
fn sentence(told: &Told) -> String {
    let [access, read, last] = told.accesses.as_slice() else {
        return String::new();
    };
    let value = |access: &Access| access.value.clone().unwrap_or_else(|| "a value".to_owned());
    let (who, place) = (access.subject(), &told.place);
    let stale = match read.thread {
        None => format!("the initial value {}", value(read)),
        Some(_) => format!("the stale value {}", value(read)),
    };
    format!(
        "{who} reads {stale} of {place}{}, although {} has stored {}{}",
        at(access),
        last.subject(),
        value(last),
        at(last)
    )
}

/// The places of a stale read and of the write that it misses.
fn related(told: &Told) -> Vec<Related> {
    let [access, read, last] = told.accesses.as_slice() else {
        return Vec::new();
    };
    let value = |access: &Access| access.value.clone().unwrap_or_default();
    let reads = format!("{} reads {} here", access.subject(), value(read));
    let stores = format!("although {} has stored {}", last.subject(), value(last));
    let places = [(access, reads), (last, stores)].into_iter();
    let places = places.filter_map(|(access, message)| {
        let location = access.place()?;
        Some(Related { message, location })
    });
    places.collect()
}

/// Whether weak memory is needed.
fn verdict(sequential: &Sequential, has_stale: bool) -> Option<String> {
    let text = match sequential {
        Sequential::Yes => "also without weak memory: this execution is sequentially consistent",
        Sequential::No(_) => "only with weak memory: this execution is not sequentially consistent",
        Sequential::Unknown if has_stale => {
            "whether this execution is sequentially consistent was not decided"
        }
        Sequential::Unknown => return None,
    };
    Some(text.to_owned())
}

/// Where the steps of a run are, and what objects are called, as far as the run said.
#[derive(Default)]
struct Places {
    stacks: BTreeMap<usize, Vec<Frame>>,
    names: BTreeMap<u64, String>,
}

impl Places {
    fn see(&mut self, access: &Accessed, steps: &[Step], resolver: &mut Resolver) {
        let number = access.step as usize;
        let Some(step) = steps.get(number) else {
            return;
        };
        let stack = resolver.symbols.stack(&access.stack);
        self.stacks.insert(number, stack);
        let memory = access.memory.as_ref();
        if memory.is_some() && step.op.kind.is_access() {
            let about = About::new(Address(step.op.object), 0, memory, resolver);
            self.call(step, about.place());
        }
    }

    /// Addresses differ from run to run.
    fn call(&mut self, step: &Step, place: String) {
        if place.starts_with('`') {
            self.names.insert(step.op.object, place);
        }
    }

    fn learn(&mut self, read: &StaleRead, told: &Told, steps: &[Step]) {
        let number = read.step as usize;
        let Some(step) = steps.get(number) else {
            return;
        };
        let [access, from, last] = told.accesses.as_slice() else {
            return;
        };
        self.call(step, told.place.clone());
        let last_write = missed(steps, number);
        let read_from = match step.from {
            ReadsFrom::Step(from) => Some(from as usize),
            ReadsFrom::Initial | ReadsFrom::Unsaid => None,
        };
        let known = [
            (Some(number), access),
            (read_from, from),
            (last_write, last),
        ];
        for (step, access) in known {
            if let Some(step) = step {
                self.stacks.insert(step, access.stack.clone());
            }
        }
    }

    /// What people call the object of a step; the same objects have the same name.
    fn name(&self, step: &Step, others: &[u64]) -> String {
        let object = step.op.object;
        let number = || others.iter().position(|other| *other == object);
        let known = self.names.get(&object).cloned();
        known.unwrap_or_else(|| format!("object {}", number().unwrap_or_default() + 1))
    }
}

/// The steps of the cycle, the stale reads, and the writes that belong to them.
fn shown(
    steps: &[Step],
    reads: &[StaleRead],
    sequential: &Sequential,
    places: &Places,
) -> Option<Shown> {
    let cycle: &[(usize, Relation)] = match sequential {
        Sequential::No(cycle) => cycle,
        Sequential::Yes | Sequential::Unknown => &[],
    };
    let mut wanted: BTreeSet<usize> = cycle.iter().map(|(step, _)| *step).collect();
    let stale = reads.iter().map(|read| read.step as usize).take(SHOWN);
    for read in stale.filter(|read| *read < steps.len()) {
        wanted.insert(read);
        wanted.extend(missed(steps, read));
        if let ReadsFrom::Step(from) = steps[read].from {
            wanted.insert(from as usize);
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let number_of = |step: &usize| wanted.range(..step).count() as u32;
    let objects: BTreeSet<_> = wanted.iter().map(|step| steps[*step].op.object).collect();
    let unnamed = objects
        .into_iter()
        .filter(|object| !places.names.contains_key(object));
    let unnamed: Vec<_> = unnamed.collect();
    let rf = wanted.iter().filter_map(|read| match steps[*read].from {
        ReadsFrom::Step(from) if wanted.contains(&(from as usize)) => {
            Some((number_of(&(from as usize)), number_of(read)))
        }
        _ => None,
    });
    let stale = wanted.iter().find(|step| steps[**step].stale);
    let stale = stale.and_then(|read| {
        let missed = missed(steps, *read)?;
        let write = match steps[*read].from {
            ReadsFrom::Step(from) => Some(number_of(&(from as usize))),
            ReadsFrom::Initial | ReadsFrom::Unsaid => None,
        };
        Some(Stale {
            access: number_of(read),
            missed: number_of(&missed),
            write,
            value: steps[*read].read.try_into().ok(),
        })
    });
    Some(Shown {
        rf: rf.collect(),
        cycle: cycle
            .iter()
            .map(|(step, relation)| CycleEdge {
                event: number_of(step),
                edge: edge(*relation),
            })
            .collect(),
        stale,
        events: wanted
            .iter()
            .map(|step| {
                event(&steps[*step], places.stacks.get(step), &|step| {
                    places.name(step, &unnamed)
                })
            })
            .collect(),
        ..Shown::default()
    })
}

/// The last write of the object of a read before it.
fn missed(steps: &[Step], read: usize) -> Option<usize> {
    let object = steps[read].op.object;
    steps[..read]
        .iter()
        .rposition(|step| step.writes && step.op.object == object)
}

fn edge(relation: Relation) -> Edge {
    match relation {
        Relation::Po => Edge::Po,
        Relation::Asw => Edge::Asw,
        Relation::Sw => Edge::Sw,
        Relation::Rf => Edge::Rf,
        Relation::Mo => Edge::Mo,
        Relation::Fr => Edge::Fr,
    }
}

fn event(step: &Step, stack: Option<&Vec<Frame>>, name: &dyn Fn(&Step) -> String) -> Event {
    let kind = step.op.kind;
    let location = kind.is_access().then(|| name(step));
    let reads = kind.may_read() && kind.shows_value();
    let writes = step.writes && kind.shows_value();
    let order = match step.failure {
        Some(failure) if !step.writes => Some(failure.to_string()),
        _ => step.order.map(|order| order.to_string()),
    };
    let order = order.filter(|_| kind.shows_value() || kind == Kind::Fence);
    let what = location
        .as_ref()
        .map_or(String::new(), |name| format!(" {name}"));
    let values = match (reads, writes) {
        (true, true) => format!(" = {} to {}", step.read, step.wrote),
        (true, false) => format!(" = {}", step.read),
        (false, true) => format!(" = {}", step.wrote),
        (false, false) => String::new(),
    };
    let ordered = order
        .as_ref()
        .map_or(String::new(), |order| format!(" ({order})"));
    let known = |value: u64, is: bool| is.then(|| value.try_into().ok()).flatten();
    Event {
        thread: Some(Thread::of_run(step.thread.0)),
        line: None,
        column: None,
        operation: format!("{kind}{what}{values}{ordered}"),
        location,
        read: known(step.read, reads),
        written: known(step.wrote, writes),
        order,
        stack: stack.cloned().unwrap_or_default(),
    }
}
