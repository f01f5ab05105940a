//! The cycle of a verifier's witness as a [`Shape`]: its events, and all that their threads do between them.
//!
//! Dependencies are those of the program: the thread is run once more, with the values of the witness, and each register
//! knows which reads its value was computed from.

use super::shape::{Act, At, Order, Shape, Step};
use rsan_model::{
    Edge, EventId, Expr, Graph, Instr, Label, Pc, Place, Program, RegId, RmwOrd, ThreadId, Value,
    Witness, WriteOrd,
};
use std::collections::{BTreeMap, BTreeSet};

/// Local steps of a thread after which it is not followed any further.
const FUEL: u32 = 10_000;

/// What has to be found for the weak behaviour of a witness; `None` if it has none that is understood.
pub(super) fn shape(program: &Program, witness: &Witness) -> Option<Shape> {
    let graph = &witness.graph;
    let cycle = cycle(graph, &witness.cycle)?;
    let mut builder = Builder {
        program,
        graph,
        shape: Shape::default(),
        steps: BTreeMap::new(),
    };
    let threads: BTreeSet<ThreadId> = cycle
        .iter()
        .filter_map(|(event, _)| graph.event(*event).thread)
        .collect();
    for thread in threads {
        let own = cycle.iter().map(|(event, _)| *event);
        let own = own.filter(|event| graph.event(*event).thread == Some(thread));
        let (first, last) = own.fold((None, None), |(first, last), event| {
            let first = first.map_or(event, |first: EventId| first.min(event));
            (Some(first), last.max(Some(event)))
        });
        builder.thread(thread, first?, last?)?;
    }
    let next = cycle.iter().cycle().skip(1);
    for ((from, edge), (to, _)) in cycle.iter().zip(next) {
        builder.want(*from, *edge, *to)?;
    }
    Some(builder.shape)
}

/// The cycle of the witness; if it needs the order of seq_cst fences, which is no order of accesses, another one.
fn cycle(graph: &Graph, known: &[(EventId, Edge)]) -> Option<Vec<(EventId, Edge)>> {
    if known.is_empty() {
        return None;
    }
    if known.iter().all(|(_, edge)| *edge != Edge::ScFence) {
        return Some(known.to_vec());
    }
    let relations = [
        (graph.po(), Edge::Po),
        (graph.asw(), Edge::Asw),
        (graph.rf(), Edge::Rf),
        (graph.mo(), Edge::Mo),
        (graph.fr(), Edge::Fr),
    ];
    let events = graph.sc_order().shortest_cycle()?;
    let next = events.iter().cycle().skip(1);
    let edges = events.iter().zip(next).map(|(from, to)| {
        let found = relations
            .iter()
            .find(|(order, _)| order.contains(*from, *to));
        found.map(|(_, edge)| (*from, *edge))
    });
    edges.collect()
}

struct Builder<'a> {
    program: &'a Program,
    graph: &'a Graph,
    shape: Shape,
    /// Where an event is in the shape.
    steps: BTreeMap<EventId, At>,
}

impl Builder<'_> {
    /// Adds what a thread does from one event to another.
    fn thread(&mut self, thread: ThreadId, first: EventId, last: EventId) -> Option<()> {
        let graph = self.graph;
        let number = self.shape.threads.len();
        let mut run = Run::new(self.program, thread);
        let mut steps: Vec<Step> = Vec::new();
        // The step that reads for an event, if it is part of the shape.
        let mut reads: BTreeMap<EventId, usize> = BTreeMap::new();
        let own = graph
            .ids()
            .filter(|e| graph.event(*e).thread == Some(thread));
        for event in own.take_while(|event| *event <= last) {
            let label = graph.label(event);
            let mut decided = BTreeSet::new();
            let depends = match label {
                Label::Begin | Label::End => Dependencies::default(),
                _ => {
                    run = run.until(graph.event(event).pc, &mut { FUEL })?;
                    decided = std::mem::take(&mut run.decided);
                    let depends = run.dependencies();
                    run.step(event, label)?;
                    depends
                }
            };
            if event < first {
                continue;
            }
            let known = |events: &BTreeSet<EventId>| -> Vec<usize> {
                events
                    .iter()
                    .filter_map(|e| reads.get(e).copied())
                    .collect()
            };
            let branch = known(&decided);
            if !branch.is_empty() {
                steps.push(Step {
                    address: branch,
                    ..Step::new(Act::Branch, RmwOrd::Relaxed, 0)
                });
            }
            let locations = graph.locations() as u32;
            let mut own = steps_of(label, thread, locations);
            if let [access] = own.as_mut_slice() {
                access.address = known(&depends.address);
                access.value = known(&depends.value);
            }
            let start = steps.len();
            steps.extend(own);
            let accesses = start..steps.len();
            let mut accesses = accesses.filter(|index| steps[*index].act != Act::Fence);
            let at = accesses.next().unwrap_or(start);
            self.steps.insert(event, (number, at));
            if label.is_read() {
                reads.insert(event, at);
            }
        }
        self.shape.threads.push(steps);
        Some(())
    }

    /// Adds an edge of the cycle. What the initial state has a part in is true anyway or never.
    fn want(&mut self, from: EventId, edge: Edge, to: EventId) -> Option<()> {
        let order = match edge {
            Edge::Po => return Some(()),
            Edge::Asw | Edge::Rf => Order::Rf,
            Edge::Mo => Order::Mo,
            Edge::Fr => Order::Fr,
            Edge::ScFence => return None,
        };
        let (from, to) = (self.steps.get(&from)?, self.steps.get(&to)?);
        self.shape.wanted.push((*from, order, *to));
        Some(())
    }
}

/// What an event is. The creation and the end of threads are flags between full fences: that is what systems do at least.
fn steps_of(label: Label, thread: ThreadId, locations: u32) -> Vec<Step> {
    let relaxed = RmwOrd::Relaxed;
    let begins = |thread: ThreadId| locations + 2 * thread.0;
    let ends = |thread: ThreadId| begins(thread) + 1;
    let give = |flag| vec![Step::full_fence(), Step::new(Act::Store, relaxed, flag)];
    let take = |flag| vec![Step::new(Act::Load, relaxed, flag), Step::full_fence()];
    let location = label.loc().map_or(0, |loc| loc.0);
    let one = |act, order| vec![Step::new(act, order, location)];
    match label {
        Label::Init { .. } => Vec::new(),
        Label::Read { ord, .. } => one(Act::Load, RmwOrd::from_halves(ord, WriteOrd::Relaxed)),
        Label::Write { ord, .. } => {
            let read = rsan_model::ReadOrd::Relaxed;
            one(Act::Store, RmwOrd::from_halves(read, ord))
        }
        Label::Rmw { ord, .. } => one(Act::Rmw, ord),
        Label::PlainRead { .. } => one(Act::PlainLoad, relaxed),
        Label::PlainWrite { .. } => one(Act::PlainStore, relaxed),
        Label::Fence(ord) => {
            let order = match ord {
                rsan_model::FenceOrd::Acquire => RmwOrd::Acquire,
                rsan_model::FenceOrd::Release => RmwOrd::Release,
                rsan_model::FenceOrd::AcqRel => RmwOrd::AcqRel,
                rsan_model::FenceOrd::SeqCst => RmwOrd::SeqCst,
            };
            one(Act::Fence, order)
        }
        Label::Spawn(child) => give(begins(child)),
        Label::Begin => take(begins(thread)),
        Label::End => give(ends(thread)),
        Label::Join(child) => take(ends(child)),
    }
}

/// From which reads something was computed.
#[derive(Clone, Default)]
struct Dependencies {
    address: BTreeSet<EventId>,
    value: BTreeSet<EventId>,
}

/// A thread that is run once more.
#[derive(Clone)]
struct Run<'a> {
    program: &'a Program,
    thread: ThreadId,
    pc: Pc,
    values: Vec<Value>,
    /// Of each register, the reads that its value was computed from.
    sources: Vec<BTreeSet<EventId>>,
    /// The reads that branches since the last event depended on.
    decided: BTreeSet<EventId>,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program, thread: ThreadId) -> Self {
        let values = program.threads[thread.index()].initial_registers();
        Self {
            program,
            thread,
            pc: Pc(0),
            sources: vec![BTreeSet::new(); values.len()],
            values,
            decided: BTreeSet::new(),
        }
    }

    fn instr(&self) -> &'a Instr {
        self.program.threads[self.thread.index()].instr(self.pc)
    }

    /// Does what is local until the instruction that makes the next event.
    fn until(mut self, next: Pc, fuel: &mut u32) -> Option<Self> {
        loop {
            *fuel = fuel.checked_sub(1)?;
            let after = Pc(self.pc.0 + 1);
            match self.instr() {
                Instr::Assign { dst, value } => {
                    let wrapped = self.program.domain.wrap(value.eval(&self.values).ok()?);
                    self.sources[dst.index()] = self.of(value);
                    self.values[dst.index()] = wrapped;
                    self.pc = after;
                }
                Instr::Branch {
                    cond,
                    then,
                    otherwise,
                } => {
                    let taken = cond.eval(&self.values).ok()? != 0;
                    let sources = self.of(cond);
                    self.decided.extend(sources);
                    self.pc = if taken { *then } else { *otherwise };
                }
                Instr::Assert(cond) | Instr::Assume(cond) => {
                    let sources = self.of(cond);
                    self.decided.extend(sources);
                    self.pc = after;
                }
                Instr::Observe(_) => self.pc = after,
                Instr::Jump(to) => self.pc = *to,
                Instr::Choose(targets) => {
                    let mut ways = targets.iter().map(|target| Self {
                        pc: *target,
                        ..self.clone()
                    });
                    return ways.find_map(|way| way.until(next, fuel));
                }
                Instr::Halt => return None,
                Instr::Load { .. }
                | Instr::Store { .. }
                | Instr::Rmw { .. }
                | Instr::Cas { .. }
                | Instr::Wait { .. }
                | Instr::Bcas { .. }
                | Instr::PlainLoad { .. }
                | Instr::PlainStore { .. }
                | Instr::Fence(_)
                | Instr::Spawn(_)
                | Instr::Join(_) => return (self.pc == next).then_some(self),
            }
        }
    }

    /// The reads that an expression was computed from.
    fn of(&self, expr: &Expr) -> BTreeSet<EventId> {
        let mut sources = BTreeSet::new();
        expr.for_each_reg(&mut |register: RegId| {
            sources.extend(self.sources[register.index()].iter().copied());
        });
        sources
    }

    fn of_place(&self, place: &Place) -> BTreeSet<EventId> {
        let mut sources = BTreeSet::new();
        place.for_each_reg(&mut |register: RegId| {
            sources.extend(self.sources[register.index()].iter().copied());
        });
        sources
    }

    /// What the instruction depends on that makes the next event.
    fn dependencies(&self) -> Dependencies {
        let instr = self.instr();
        Dependencies {
            address: instr
                .place()
                .map(|place| self.of_place(place))
                .unwrap_or_default(),
            value: match instr {
                Instr::Store { value, .. } | Instr::PlainStore { value, .. } => self.of(value),
                Instr::Rmw { operand, .. } => self.of(operand),
                Instr::Cas { new, .. } | Instr::Bcas { new, .. } => self.of(new),
                _ => BTreeSet::new(),
            },
        }
    }

    /// Makes the event.
    fn step(&mut self, event: EventId, label: Label) -> Option<()> {
        let instr = self.instr();
        self.pc = Pc(self.pc.0 + 1);
        let read = label.value_read();
        let mut set = |register: Option<RegId>, value: Value| {
            if let Some(register) = register {
                self.values[register.index()] = value;
                self.sources[register.index()] = BTreeSet::from([event]);
            }
        };
        match instr {
            Instr::Load { dst, .. } | Instr::PlainLoad { dst, .. } => set(Some(*dst), read?),
            Instr::Rmw { dst, .. } => set(*dst, read?),
            Instr::Wait { dst, .. } => {
                set(*dst, read?);
                self.decided.insert(event);
            }
            Instr::Cas { dst, success, .. } => {
                set(*dst, read?);
                set(*success, Value::from(label.is_rmw()));
                self.decided.insert(event);
            }
            Instr::Bcas { .. } => {
                self.decided.insert(event);
            }
            _ => {}
        }
        Some(())
    }
}
