//! Puts traces together, and what the memory does with them: steps 1, 3 and 5 of the [enumeration](super).

use super::candidate::{Access, Candidate, Dependencies, Event, Kind};
use super::location::{Choice, Memo, Projection, steps_of};
use super::thread::{Step, Trace, Traces, Values, Walker};
use super::{Error, Rules, armv7, armv8, coherent, power, riscv, sc, x86};
use crate::{Limits, Summary};
use rsan_model::machine::{Machine, Program, Strength};
use rsan_model::{EventId, EventSet, LocId, MAX_EVENTS, Reason, Relation, ThreadId, Value};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;

/// What wants the executions.
type Visit<'v> = &'v mut dyn FnMut(&Candidate) -> ControlFlow<()>;

/// Calls `visit` for every execution of the program that `machine` allows, each one once.
///
/// # Errors
/// Accesses outside of all locations, expressions without a value, too many events.
pub fn executions(
    program: &Program,
    machine: Machine,
    limits: &Limits,
    visit: Visit<'_>,
) -> Result<Summary, Error> {
    executions_until(program, machine, limits, &mut |_| None, visit)
}

/// The same until `halt` gives a reason to end. It is asked often, with the memory in bytes that is in use.
///
/// # Errors
/// As [`executions`].
pub fn executions_until(
    program: &Program,
    machine: Machine,
    limits: &Limits,
    halt: &mut dyn FnMut(u64) -> Option<Reason>,
    visit: Visit<'_>,
) -> Result<Summary, Error> {
    let ticker = Ticker::new(halt);
    match machine {
        Machine::Sc => enumerate::<sc::Sc>(program, machine, limits, ticker, visit),
        Machine::X86 => enumerate::<x86::X86>(program, machine, limits, ticker, visit),
        Machine::Armv8 => enumerate::<armv8::Armv8>(program, machine, limits, ticker, visit),
        Machine::Armv7 => enumerate::<armv7::Armv7>(program, machine, limits, ticker, visit),
        Machine::Riscv => enumerate::<riscv::Riscv>(program, machine, limits, ticker, visit),
        Machine::Power => enumerate::<power::Power>(program, machine, limits, ticker, visit),
    }
}

/// Asks every now and then whether to go on.
pub(super) struct Ticker<'h> {
    halt: &'h mut dyn FnMut(u64) -> Option<Reason>,
    ticks: u32,
    memory: u64,
}

/// Why an enumeration ends before its end.
pub(super) enum Abort {
    /// Somebody wants it.
    Stopped,
    /// The program is wrong.
    Error(Error),
}

impl<'h> Ticker<'h> {
    const PERIOD: u32 = 256;

    fn new(halt: &'h mut dyn FnMut(u64) -> Option<Reason>) -> Self {
        Self {
            halt,
            ticks: 0,
            memory: 0,
        }
    }

    /// A bit of work is done, for which so many bytes are kept for a while.
    pub(super) fn tick(&mut self, bytes: u64) -> Result<(), Abort> {
        self.memory += bytes;
        self.ticks += 1;
        if self.ticks.is_multiple_of(Self::PERIOD) && (self.halt)(self.memory).is_some() {
            return Err(Abort::Stopped);
        }
        Ok(())
    }
}

fn enumerate<R: Rules>(
    program: &Program,
    machine: Machine,
    limits: &Limits,
    mut ticker: Ticker<'_>,
    visit: Visit<'_>,
) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    let limits = Limits {
        max_events: limits.max_events.min(MAX_EVENTS),
        ..*limits
    };
    match build::<R>(
        (program, machine, &limits),
        &mut ticker,
        visit,
        &mut summary,
    ) {
        Ok(()) => Ok(summary),
        Err(Abort::Stopped) => {
            summary.stopped |= !summary.cut.graphs;
            Ok(summary)
        }
        Err(Abort::Error(error)) => Err(error),
    }
}

fn build<R: Rules>(
    (program, machine, limits): (&Program, Machine, &Limits),
    ticker: &mut Ticker<'_>,
    visit: Visit<'_>,
    summary: &mut Summary,
) -> Result<(), Abort> {
    let traces = all_traces(program, machine, limits, ticker)?;
    summary.cut.unrolled = traces.iter().any(|t| t.cut);
    let (memos, projections) = project(program, &traces, ticker)?;
    let mut builder = Builder {
        program,
        possible: possible_writes(&traces),
        traces: &traces,
        projections,
        memos,
        chosen: Vec::new(),
        limits: *limits,
        summary,
        ticker,
        visit,
    };
    builder.threads::<R>()
}

/// The traces of all threads, with all values that a location can have.
fn all_traces(
    program: &Program,
    machine: Machine,
    limits: &Limits,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<Traces>, Abort> {
    let mut values: Values = program
        .locations
        .iter()
        .map(|l| BTreeSet::from([l.init]))
        .collect();
    let mut rounds = 0;
    loop {
        let memory = ticker.memory;
        let traces = (0..program.threads.len())
            .map(|thread| {
                let walker = Walker {
                    program,
                    thread,
                    machine,
                    values: &values,
                    unroll: limits.unroll,
                    max_events: limits.max_events,
                };
                walker.traces(ticker)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut more = values.clone();
        let mut writes = 0;
        for of_thread in &traces {
            let count = |t: &Trace| written(t).count();
            writes += of_thread.all.iter().map(count).max().unwrap_or(0);
            for (loc, value) in of_thread.all.iter().flat_map(written) {
                more[loc.index()].insert(value);
            }
        }
        if more == values || rounds > writes {
            return Ok(traces);
        }
        ticker.memory = memory;
        values = more;
        rounds += 1;
    }
}

/// What a trace writes.
fn written(trace: &Trace) -> impl Iterator<Item = (LocId, Value)> {
    trace.steps.iter().filter_map(|s| match s.kind {
        Kind::Write(a) => Some((a.loc, a.value)),
        _ => None,
    })
}

/// For each thread what it and those after it may write.
fn possible_writes(traces: &[Traces]) -> Vec<BTreeSet<(LocId, Value)>> {
    let mut possible = vec![BTreeSet::new(); traces.len() + 1];
    for t in (0..traces.len()).rev() {
        let own = traces[t].all.iter().flat_map(written);
        possible[t] = possible[t + 1].iter().copied().chain(own).collect();
    }
    possible
}

/// For each location what is known about it, and for each thread, trace and location the number of the projection.
#[expect(clippy::type_complexity, reason = "a table of numbers")]
fn project(
    program: &Program,
    traces: &[Traces],
    ticker: &mut Ticker<'_>,
) -> Result<(Vec<Memo>, Vec<Vec<Vec<u32>>>), Abort> {
    let locations = program.locations.len();
    let mut different = vec![vec![Vec::new(); traces.len()]; locations];
    let mut numbers = Vec::with_capacity(traces.len());
    for (t, of_thread) in traces.iter().enumerate() {
        let mut known: Vec<HashMap<Projection, u32>> = vec![HashMap::new(); locations];
        let mut of_traces = Vec::with_capacity(of_thread.all.len());
        for trace in &of_thread.all {
            ticker.tick((locations * size_of::<u32>()) as u64)?;
            let number = |loc: usize| {
                let projection = Projection::new(trace, LocId::new(loc));
                let next = known[loc].len() as u32;
                *known[loc].entry(projection).or_insert_with_key(|p| {
                    different[loc][t].push(p.clone());
                    next
                })
            };
            of_traces.push((0..locations).map(number).collect());
        }
        numbers.push(of_traces);
    }
    let memos = program.locations.iter().zip(different);
    let memos = memos.map(|(l, projections)| Memo::new(l.init, projections));
    Ok((memos.collect(), numbers))
}

/// A combination of traces on its way to executions.
struct Builder<'p, 's, 'h> {
    program: &'p Program,
    traces: &'p [Traces],
    /// What the threads from each one on may write.
    possible: Vec<BTreeSet<(LocId, Value)>>,
    /// For each thread, trace and location which projection of the thread it is.
    projections: Vec<Vec<Vec<u32>>>,
    /// For each location what is known about it.
    memos: Vec<Memo>,
    /// The traces of the first threads.
    chosen: Vec<usize>,
    limits: Limits,
    summary: &'s mut Summary,
    ticker: &'s mut Ticker<'h>,
    visit: Visit<'s>,
}

impl<'p> Builder<'p, '_, '_> {
    /// All traces of the next thread, and so on.
    fn threads<R: Rules>(&mut self) -> Result<(), Abort> {
        self.ticker.tick(0)?;
        let traces: &'p [Traces] = self.traces;
        let Some(next) = traces.get(self.chosen.len()) else {
            return self.combination::<R>();
        };
        for trace in 0..next.all.len() {
            self.chosen.push(trace);
            if self.may_read_all() {
                self.threads::<R>()?;
            }
            self.chosen.pop();
        }
        Ok(())
    }

    /// The chosen traces.
    fn chosen(&self) -> impl Iterator<Item = &'p Trace> {
        let traces: &'p [Traces] = self.traces;
        let chosen = traces.iter().zip(&self.chosen);
        chosen.map(|(of_thread, &index)| &of_thread.all[index])
    }

    /// Whether every value that is read is written, initially or by a chosen trace or one that is still to be chosen. When all
    /// are chosen, their locations find that out.
    fn may_read_all(&self) -> bool {
        let later = &self.possible[self.chosen.len()];
        if later.is_empty() {
            return true;
        }
        self.chosen().flat_map(|t| &t.steps).all(|step| {
            let Kind::Read(read) = step.kind else {
                return true;
            };
            let wanted = (read.loc, read.value);
            self.program.locations[read.loc.index()].init == read.value
                || later.contains(&wanted)
                || self.chosen().any(|t| written(t).any(|w| w == wanted))
        })
    }

    /// All that the memory can do with the chosen traces.
    fn combination<R: Rules>(&mut self) -> Result<(), Abort> {
        let memory = self.ticker.memory;
        let mut choices = Vec::with_capacity(self.memos.len());
        let mut key = Vec::with_capacity(self.chosen.len());
        for (loc, memo) in self.memos.iter_mut().enumerate() {
            let numbers = self.projections.iter().zip(&self.chosen);
            key.clear();
            key.extend(numbers.map(|(of_thread, &trace)| of_thread[trace][loc]));
            let of_location = memo.choices(&key, self.ticker)?;
            if of_location.is_empty() {
                self.ticker.memory = memory;
                return Ok(());
            }
            choices.push((LocId::new(loc), of_location));
        }
        let mut candidate = self.skeleton()?;
        choices.retain(|(loc, _)| candidate.events.iter().any(|e| initial(e) == Some(*loc)));
        // The fewer choices, the earlier: then most of the product is never built.
        choices.sort_by_key(|(_, c)| c.len());
        let choices: Vec<Chosen> = choices
            .into_iter()
            .map(|(loc, of_location)| Chosen {
                loc,
                events: self.events_of(loc, &candidate),
                choices: of_location,
            })
            .collect();
        let local = R::local(&candidate);
        self.product::<R>(&mut candidate, &local, &choices)?;
        self.ticker.memory = memory;
        Ok(())
    }

    /// The events that access a location, as its choices count them.
    fn events_of(&self, loc: LocId, candidate: &Candidate) -> Vec<EventId> {
        let first = |e: &Event| initial(e) == Some(loc);
        let first = candidate.events.iter().position(first).expect("it is used");
        let mut events = vec![EventId::new(first)];
        let mut base = candidate.events.iter().map_while(initial).count();
        for trace in self.chosen() {
            events.extend(steps_of(trace, loc).map(|(index, ..)| EventId::new(base + index)));
            base += trace.steps.len();
        }
        events
    }

    /// All choices for the first location, and so on.
    fn product<R: Rules>(
        &mut self,
        candidate: &mut Candidate,
        local: &R::Local,
        choices: &[Chosen],
    ) -> Result<(), Abort> {
        let Some((location, rest)) = choices.split_first() else {
            return self.complete::<R>(candidate, local);
        };
        let (rf, co) = (candidate.rf.clone(), candidate.co.clone());
        for choice in location.choices.iter() {
            self.ticker.tick(0)?;
            self.summary.graphs += 1;
            location.apply(choice, candidate);
            let com = candidate.communication();
            if R::check(candidate, local, &com).is_ok() {
                self.product::<R>(candidate, local, rest)?;
            }
            candidate.rf.clone_from(&rf);
            candidate.co.clone_from(&co);
        }
        Ok(())
    }

    /// An execution that the machine allows.
    fn complete<R: Rules>(&mut self, candidate: &Candidate, local: &R::Local) -> Result<(), Abort> {
        let com = candidate.communication();
        debug_assert_eq!(
            coherent(candidate, &com),
            Ok(()),
            "built location by location"
        );
        debug_assert_eq!(
            R::check(candidate, local, &com),
            Ok(()),
            "checked on the way"
        );
        if let Some(fault) = self.chosen().find_map(|t| t.fault.clone()) {
            return Err(Abort::Error(fault));
        }
        if self.summary.executions == self.limits.max_graphs {
            self.summary.cut.graphs = true;
            return Err(Abort::Stopped);
        }
        self.summary.executions += 1;
        match (self.visit)(candidate) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Abort::Stopped),
        }
    }

    /// The candidate without `rf` and `co`.
    fn skeleton(&self) -> Result<Candidate, Abort> {
        let used: BTreeSet<LocId> = self.chosen().flat_map(locations).collect();
        let steps: usize = self.chosen().map(|t| t.steps.len()).sum();
        let n = used.len() + steps;
        if n > self.limits.max_events {
            let max_events = self.limits.max_events;
            return Err(Abort::Error(Error::TooLarge { max_events }));
        }
        let empty = Relation::new(n);
        let none = Dependencies {
            addr: empty.clone(),
            data: empty.clone(),
            ctrl: empty.clone(),
        };
        let mut candidate = Candidate {
            events: used.iter().map(|&loc| self.initial_write(loc)).collect(),
            po: empty.clone(),
            deps: none.clone(),
            pick: none,
            rmw: empty.clone(),
            amo: empty.clone(),
            rf: empty.clone(),
            co: empty,
            registers: self.chosen().map(|t| t.registers.clone()).collect(),
            memory: self.program.locations.iter().map(|l| l.init).collect(),
        };
        for (t, trace) in self.chosen().enumerate() {
            let base = candidate.events.len();
            for (index, step) in trace.steps.iter().enumerate() {
                self.add(&mut candidate, t, (base, index), step);
            }
        }
        Ok(candidate)
    }

    fn initial_write(&self, loc: LocId) -> Event {
        Event {
            thread: None,
            op: 0,
            origin: 0,
            kind: Kind::Write(Access {
                loc,
                value: self.program.locations[loc.index()].init,
                strength: Strength::default(),
                exclusive: false,
                update: false,
                returns: true,
            }),
        }
    }

    /// Adds event `index` of a thread whose first event is `base`.
    fn add(&self, c: &mut Candidate, t: usize, (base, index): (usize, usize), step: &Step) {
        let e = EventId::new(base + index);
        c.events.push(Event {
            thread: Some(ThreadId::new(t)),
            op: step.op,
            origin: self.program.threads[t].origins[step.op],
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
            if step.kind_is_update() {
                c.amo.add(read, e);
            }
        }
    }
}

impl Step {
    fn kind_is_update(&self) -> bool {
        matches!(self.kind, Kind::Write(a) if a.update)
    }
}

fn locations(trace: &Trace) -> impl Iterator<Item = LocId> {
    trace.steps.iter().filter_map(|s| match s.kind {
        Kind::Read(a) | Kind::Write(a) => Some(a.loc),
        Kind::Fence(_) => None,
    })
}

/// The location of an initial write.
fn initial(event: &Event) -> Option<LocId> {
    event.thread.is_none().then(|| event.loc()).flatten()
}

/// A location of a combination.
struct Chosen {
    loc: LocId,
    /// Its accesses, as `choices` count them.
    events: Vec<EventId>,
    choices: Rc<[Choice]>,
}

impl Chosen {
    /// Adds the location's `rf` and `co`, and its final value.
    fn apply(&self, choice: &Choice, candidate: &mut Candidate) {
        let event = |id: usize| self.events[id];
        for (i, &before) in choice.order.iter().enumerate() {
            for &after in &choice.order[i + 1..] {
                candidate.co.add(event(before), event(after));
            }
        }
        for &(write, read) in &choice.reads {
            candidate.rf.add(event(write), event(read));
        }
        let last = event(choice.order[choice.order.len() - 1]);
        let access = candidate.events[last.index()].access();
        candidate.memory[self.loc.index()] = access.expect("a write").value;
    }
}
