//! The execution of a verifier's witness, with all that its threads did.
//!
//! Dependencies are those of the program: the thread is run once more, with the values of the witness, and each register
//! knows which reads its value was computed from.

use super::exact::Execution;
use super::shape::{Act, At, Step};
use rsan_model::{
    EventId, Expr, FenceOrd, Graph, Instr, Label, LocId, Pc, Place, Program, RegId, RmwOrd,
    ThreadId, Value, Witness,
};
use std::collections::{BTreeMap, BTreeSet};

/// Local steps of a thread after which it is not followed any further.
const FUEL: u32 = 10_000;

/// The execution of a witness; `None` if it is sequentially consistent, or the program cannot be followed.
pub(super) fn execution(program: &Program, witness: &Witness) -> Option<Execution> {
    let graph = &witness.graph;
    // Without the order of seq_cst fences, which is none of accesses, nothing may be left of the cycle.
    if witness.cycle.is_empty() || graph.sc_order().is_acyclic() {
        return None;
    }
    let mut builder = Builder {
        program,
        graph,
        execution: Execution::default(),
        steps: BTreeMap::new(),
    };
    let threads = graph.ids().filter_map(|event| graph.event(event).thread);
    for thread in threads.collect::<BTreeSet<ThreadId>>() {
        builder.thread(thread)?;
    }
    builder.memory();
    Some(builder.execution)
}

struct Builder<'a> {
    program: &'a Program,
    graph: &'a Graph,
    execution: Execution,
    /// Where an event is in it.
    steps: BTreeMap<EventId, At>,
}

impl Builder<'_> {
    /// Adds what a thread does.
    fn thread(&mut self, thread: ThreadId) -> Option<()> {
        let graph = self.graph;
        let number = self.execution.shape.threads.len();
        let mut run = Run::new(self.program, thread);
        let mut steps: Vec<Step> = Vec::new();
        // The steps of events that read.
        let mut reads: BTreeMap<EventId, usize> = BTreeMap::new();
        let own = graph.ids();
        for event in own.filter(|event| graph.event(*event).thread == Some(thread)) {
            let label = graph.label(event);
            let mut decided = BTreeSet::new();
            let mut failed = None;
            let depends = match label {
                Label::Begin | Label::End => Dependencies::default(),
                _ => {
                    run = run.until(graph.event(event).pc, &mut { FUEL })?;
                    decided = std::mem::take(&mut run.decided);
                    let depends = run.dependencies();
                    failed = run.failed(label);
                    run.step(event, label)?;
                    depends
                }
            };
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
                if let Some((act, order)) = failed {
                    (access.act, access.order) = (act, order);
                }
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
        self.execution.shape.threads.push(steps);
        Some(())
    }

    /// Adds what the memory does.
    fn memory(&mut self) {
        let (graph, steps) = (self.graph, &self.steps);
        let asw = graph.asw();
        let seen = graph
            .ids()
            .filter_map(|read| Some((graph.reads_from(read)?, read)));
        for (write, read) in seen.chain(asw.pairs()) {
            if let (Some(write), Some(read)) = (steps.get(&write), steps.get(&read)) {
                self.execution.reads.insert(*read, *write);
            }
        }
        let is_flag = |event: &EventId| matches!(graph.label(*event), Label::Spawn(_) | Label::End);
        let flags = graph.ids().filter(is_flag);
        let orders = (0..graph.locations()).map(LocId::new);
        let orders = orders.flat_map(|loc| graph.modification_order(loc).iter().copied());
        for event in orders.chain(flags) {
            if let Some(at) = steps.get(&event) {
                let location = self.execution.shape.step(*at).location;
                let writes = self.execution.writes.entry(location).or_default();
                writes.push(*at);
            }
        }
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
        Label::Read { ord, .. } => one(Act::Load, ord.into()),
        Label::Write { ord, .. } => one(Act::Store, ord.into()),
        Label::Rmw { ord, .. } => one(Act::Rmw, ord),
        Label::PlainRead { .. } => one(Act::PlainLoad, relaxed),
        Label::PlainWrite { .. } => one(Act::PlainStore, relaxed),
        Label::Fence(ord) => {
            let order = match ord {
                FenceOrd::Acquire => RmwOrd::Acquire,
                FenceOrd::Release => RmwOrd::Release,
                FenceOrd::AcqRel => RmwOrd::AcqRel,
                FenceOrd::SeqCst => RmwOrd::SeqCst,
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

    /// The compare-and-swap that fails, and its order.
    fn failed(&self, label: Label) -> Option<(Act, RmwOrd)> {
        let (
            Instr::Cas {
                expected,
                ord,
                fail,
                ..
            },
            Label::Read { value, .. },
        ) = (self.instr(), label)
        else {
            return None;
        };
        let expected = self.program.domain.wrap(expected.eval(&self.values).ok()?);
        let act = match expected == value {
            true => Act::Spurious,
            false => Act::Failed,
        };
        let is_stronger = fail.acquires() && !ord.acquires();
        let order = match is_stronger {
            true => RmwOrd::from_halves(*fail, ord.write()),
            false => *ord,
        };
        Some((act, order))
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
