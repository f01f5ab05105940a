//! Builds graphs event by event; the module above says in which order and why.

use super::execution::last_value;
use super::reach::Reach;
use super::thread::{Code, Op, Phase, Read, ThreadState};
use super::{Execution, Stop, Visitor};
use crate::models::Rules;
use crate::{Error, Limits, Summary, races};
use rsan_model::{
    Event, EventId, FenceOrd, Graph, Instr, Label, LocId, MAX_EVENTS, Model, Pc, Program, RegId,
    ThreadId, Value,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Why the enumeration ends before its end.
enum Halt {
    Visitor,
    Graphs,
    Error(Error),
}

/// An event about to be added.
struct Addition<'a> {
    label: Label,
    /// Comes right before it in the same thread, as part of the same instruction.
    lead: Option<Label>,
    /// The write it reads.
    rf: Option<EventId>,
    /// Its place in the modification order.
    position: Option<usize>,
    /// The registers it sets.
    sets: &'a [(RegId, Value)],
}

impl Addition<'_> {
    fn of(label: Label) -> Self {
        Self {
            label,
            lead: None,
            rf: None,
            position: None,
            sets: &[],
        }
    }
}

/// What makes a complete execution: its graph, final registers and ends of threads.
type Visited = (Graph, Vec<Vec<Value>>, Vec<Stop>);

/// A graph under construction, and the threads that make it.
pub(super) struct Builder<'p, 'v> {
    program: &'p Program,
    model: Model,
    rules: &'static Rules,
    limits: Limits,
    reach: Reach,
    visitor: &'v mut dyn Visitor,
    graph: Graph,
    threads: Vec<ThreadState>,
    visited: Option<HashSet<Visited>>,
    summary: Summary,
    /// How often a graph was extended.
    extended: u64,
}

/// How many graphs are extended before the visitor is asked again whether to go on.
const TICK: u64 = 16;

impl<'p, 'v> Builder<'p, 'v> {
    /// Starts from the initial writes.
    pub(super) fn new(
        program: &'p Program,
        model: Model,
        limits: &Limits,
        visitor: &'v mut dyn Visitor,
    ) -> Self {
        let has_choice = program
            .instructions()
            .any(|(_, _, i)| matches!(i, Instr::Choose(_)));
        Self {
            program,
            model,
            rules: Rules::of(model),
            limits: *limits,
            reach: Reach::new(program),
            visitor,
            graph: Graph::initial(program.locations.iter().map(|l| l.init)),
            threads: Vec::new(),
            visited: has_choice.then(HashSet::new),
            summary: Summary::default(),
            extended: 0,
        }
    }

    /// Builds everything, or as much as the limits and the visitor allow.
    pub(super) fn run(mut self) -> Result<Summary, Error> {
        match self.start() {
            Ok(()) => {}
            Err(Halt::Visitor) => self.summary.stopped = true,
            Err(Halt::Graphs) => self.summary.cut.graphs = true,
            Err(Halt::Error(error)) => return Err(error),
        }
        Ok(self.summary)
    }

    fn code(&self, t: usize) -> Code<'p> {
        Code {
            thread: &self.program.threads[t],
            domain: self.program.domain,
            unroll: self.limits.unroll,
        }
    }

    fn start(&mut self) -> Result<(), Halt> {
        self.room_for(0)?;
        self.threads = (0..self.program.threads.len())
            .map(|t| ThreadState::new(self.code(t)))
            .collect();
        for t in 0..self.threads.len() {
            self.note_stop(t)?;
        }
        self.extend()
    }

    /// Builds every consistent graph that has the present one as a canonical prefix.
    fn extend(&mut self) -> Result<(), Halt> {
        if self.extended.is_multiple_of(TICK) {
            obey(self.visitor.go_on(self.memory()))?;
        }
        self.extended += 1;
        if (0..self.threads.len()).any(|t| self.is_hopeless(t)) {
            return Ok(());
        }
        let Some((t, op)) = self.next_op() else {
            return self.finish();
        };
        match op {
            Op::Begin => self.add(t, &Addition::of(Label::Begin)),
            Op::End => self.add(t, &Addition::of(Label::End)),
            Op::Join(child) => self.add(t, &Addition::of(Label::Join(child))),
            Op::Spawn(child) => self.spawn(t, child),
            Op::Fence(ord) => self.fence(t, ord),
            Op::Choose(targets) => self.choose(t, &targets),
            Op::Write { loc, label } => {
                for position in 1..=self.graph.modification_order(loc).len() {
                    let position = Some(position);
                    let addition = Addition {
                        position,
                        ..Addition::of(label)
                    };
                    self.add(t, &addition)?;
                }
                Ok(())
            }
            Op::Read { loc, read } => self.read(t, loc, &read),
        }
    }

    /// About how many bytes the executions take that are remembered.
    fn memory(&self) -> u64 {
        let registers = self.threads.iter().map(|t| t.registers.len());
        let words = 4 * self.graph.len() + registers.sum::<usize>() + 4 * self.threads.len();
        let one = size_of::<Visited>() + words * size_of::<Value>();
        let visited = self.visited.as_ref().map_or(0, HashSet::len);
        (one * visited) as u64
    }

    /// The operation of the lowest-numbered thread that can do one.
    fn next_op(&self) -> Option<(usize, Op)> {
        self.threads.iter().enumerate().find_map(|(t, thread)| {
            let Phase::Ready(op) = &thread.phase else {
                return None;
            };
            let able = match op {
                Op::Join(child) => self.has_ended(*child),
                Op::Read { loc, .. } => {
                    let order = self.graph.modification_order(*loc);
                    order.iter().any(|&w| self.is_new_to(t, w))
                }
                Op::Fence(ord) if self.is_ordered(*ord) => {
                    let fences = self.graph.select(Label::is_sc_fence);
                    thread.passed_over.is_none() || fences.iter().any(|f| self.is_new_to(t, f))
                }
                _ => true,
            };
            able.then(|| (t, op.clone()))
        })
    }

    /// Whether the pending read of `t` has not yet been passed over for this event.
    fn is_new_to(&self, t: usize, event: EventId) -> bool {
        event.index() >= self.threads[t].passed_over.unwrap_or(0)
    }

    fn has_ended(&self, t: ThreadId) -> bool {
        matches!(self.threads[t.index()].phase, Phase::Stopped(Stop::Ended))
    }

    /// Whether a fence takes its place in the order of SC fences.
    fn is_ordered(&self, ord: FenceOrd) -> bool {
        ord.is_sc() && self.rules.fences_are_ordered
    }

    fn spawn(&mut self, t: usize, child: ThreadId) -> Result<(), Halt> {
        if !matches!(self.threads[child.index()].phase, Phase::Unborn) {
            return Err(Halt::Error(Error::BadSpawn {
                thread: ThreadId::new(t),
                pc: self.threads[t].pc,
            }));
        }
        let unborn = self.threads[child.index()].clone();
        self.threads[child.index()].phase = Phase::Ready(Op::Begin);
        let result = self.add(t, &Addition::of(Label::Spawn(child)));
        self.threads[child.index()] = unborn;
        result
    }

    /// An SC fence of an ordered model is an RMW of `f`: it comes after the last one, or after one yet to come.
    fn fence(&mut self, t: usize, ord: FenceOrd) -> Result<(), Halt> {
        self.add(t, &Addition::of(Label::Fence(ord)))?;
        if self.is_ordered(ord) {
            self.pass_over(t)?;
        }
        Ok(())
    }

    fn choose(&mut self, t: usize, targets: &[Pc]) -> Result<(), Halt> {
        for &to in targets {
            let before = self.threads[t].clone();
            let code = self.code(t);
            self.threads[t].choose(to, code);
            self.note_stop(t)?;
            self.extend()?;
            self.threads[t] = before;
        }
        Ok(())
    }

    fn read(&mut self, t: usize, loc: LocId, read: &Read) -> Result<(), Halt> {
        let writes: Vec<EventId> = self.graph.modification_order(loc).to_vec();
        for (i, &write) in writes.iter().enumerate() {
            let Some(value) = self.graph.label(write).value_written() else {
                unreachable!("only writes are in mo");
            };
            if !self.is_new_to(t, write) {
                continue;
            }
            for response in read.responses(loc, value, self.program.domain) {
                let locked = response.failed_cas && self.rules.failed_cas_is_locked;
                let addition = Addition {
                    label: response.label,
                    lead: locked.then_some(Label::Fence(FenceOrd::SeqCst)),
                    rf: Some(write),
                    position: response.label.is_rmw().then_some(i + 1),
                    sets: &response.sets,
                };
                self.add(t, &addition)?;
            }
        }
        self.pass_over(t)
    }

    /// Lets the pending read of `t` wait for a write that is not there yet.
    fn pass_over(&mut self, t: usize) -> Result<(), Halt> {
        let before = self.threads[t].passed_over.replace(self.graph.len());
        self.extend()?;
        self.threads[t].passed_over = before;
        Ok(())
    }

    /// Whether `t` waits for a write that cannot come, though it is not allowed to block.
    fn is_hopeless(&self, t: usize) -> bool {
        let thread = &self.threads[t];
        let loc = match &thread.phase {
            Phase::Ready(Op::Read { loc, read }) if !read.may_block() => *loc,
            Phase::Ready(Op::Fence(_)) => Reach::fence_location(self.program),
            _ => return false,
        };
        let Some(since) = thread.passed_over else {
            return false;
        };
        let arrived = |e: EventId| e.index() >= since;
        let has_arrived = match &thread.phase {
            Phase::Ready(Op::Read { loc, .. }) => self
                .graph
                .modification_order(*loc)
                .iter()
                .any(|&w| arrived(w)),
            _ => self.graph.select(Label::is_sc_fence).iter().any(arrived),
        };
        !has_arrived && !self.may_still_be_written(t, loc)
    }

    fn may_still_be_written(&self, by_others_than: usize, loc: LocId) -> bool {
        self.threads.iter().enumerate().any(|(u, other)| {
            u != by_others_than
                && matches!(other.phase, Phase::Unborn | Phase::Ready(_))
                && self.reach.may_write(u, other.pc, loc)
        })
    }

    /// Adds an event of `t`, and goes on if the graph is consistent with it.
    fn add(&mut self, t: usize, addition: &Addition<'_>) -> Result<(), Halt> {
        self.room_for(1 + usize::from(addition.lead.is_some()))?;
        let event = |label, pc| Event {
            thread: Some(ThreadId::new(t)),
            pc,
            label,
        };
        let pc = self.threads[t].pc;
        if let Some(lead) = addition.lead {
            self.graph.push(event(lead, pc));
        }
        let id = self.graph.push(event(addition.label, pc));
        if let Some(write) = addition.rf {
            self.graph.set_rf(id, write);
        }
        if let (Some(position), Some(loc)) = (addition.position, addition.label.loc()) {
            self.graph.insert_mo(id, loc, position);
        }
        if (self.rules.consistent)(&self.graph).is_ok() {
            self.go_on(t, addition.sets)?;
        }
        self.graph.pop();
        if addition.lead.is_some() {
            self.graph.pop();
        }
        Ok(())
    }

    /// After an event of `t` was added: its effect on the thread, and what can follow.
    fn go_on(&mut self, t: usize, sets: &[(RegId, Value)]) -> Result<(), Halt> {
        if self.summary.graphs == self.limits.max_graphs {
            return Err(Halt::Graphs);
        }
        self.summary.graphs += 1;
        obey(self.visitor.prefix(&self.graph))?;
        let before = self.threads[t].clone();
        for &(register, value) in sets {
            self.threads[t].registers[register.index()] = value;
        }
        let code = self.code(t);
        self.threads[t].finish_op(code);
        self.note_stop(t)?;
        self.extend()?;
        self.threads[t] = before;
        Ok(())
    }

    /// Reports an assertion or a cut that has just stopped `t`.
    fn note_stop(&mut self, t: usize) -> Result<(), Halt> {
        match self.threads[t].phase {
            Phase::Cut => self.summary.cut.unrolled = true,
            Phase::Stopped(Stop::Assertion(pc)) => {
                obey(self.visitor.assertion_failed(ThreadId::new(t), pc))?;
            }
            Phase::Stopped(_) | Phase::Unborn | Phase::Ready(_) => {}
        }
        Ok(())
    }

    fn room_for(&self, events: usize) -> Result<(), Halt> {
        let max_events = self.limits.max_events.min(MAX_EVENTS);
        if self.graph.len() + events > max_events {
            return Err(Halt::Error(Error::TooLarge { max_events }));
        }
        Ok(())
    }

    /// No thread can go on: visits the execution if it is complete.
    fn finish(&mut self) -> Result<(), Halt> {
        let stops: Option<Vec<Stop>> = self.threads.iter().map(|t| self.stop_of(t)).collect();
        let Some(stops) = stops else {
            return Ok(());
        };
        let registers: Vec<Vec<Value>> = self.threads.iter().map(|t| t.registers.clone()).collect();
        if let Some(visited) = &mut self.visited {
            let key = (self.graph.clone(), registers.clone(), stops.clone());
            if !visited.insert(key) {
                return Ok(());
            }
        }
        self.summary.executions += 1;
        obey(self.visitor.complete(&Execution {
            graph: &self.graph,
            registers: &registers,
            stops: &stops,
            racy: !races(self.model, &self.graph).is_empty(),
        }))
    }

    /// How the thread has come to its end, if it has.
    fn stop_of(&self, thread: &ThreadState) -> Option<Stop> {
        match &thread.phase {
            Phase::Stopped(stop) => Some(*stop),
            Phase::Unborn => Some(Stop::NotStarted),
            Phase::Cut => None,
            Phase::Ready(Op::Join(_)) => Some(Stop::Blocked(thread.pc)),
            Phase::Ready(Op::Read { loc, read }) if read.may_block() => {
                let last = last_value(&self.graph, *loc);
                let passes = !read.responses(*loc, last, self.program.domain).is_empty();
                (!passes).then_some(Stop::Blocked(thread.pc))
            }
            Phase::Ready(_) => None,
        }
    }
}

fn obey(flow: ControlFlow<()>) -> Result<(), Halt> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Halt::Visitor),
    }
}
