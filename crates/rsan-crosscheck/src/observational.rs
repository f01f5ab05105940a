//! Observational robustness by its definition, on complete execution graphs.
//!
//! **Decides**, for loop-free programs without choices: whether every consistent complete execution becomes
//! sequentially consistent when only loads whose value has no influence are made to read something else.
//!
//! **Source**: POPL 2021 (docs/theory/finite.md, F13). A load has no influence when its register is not used before it is
//! overwritten or the thread ends; every use counts, also the copy to another register, as in the published tool.
//!
//! Whether such loads can be *redirected* to make the graph sequentially consistent needs no search: it is possible
//! iff `po ∪ asw ∪ rf ∪ mo ∪ fr` without the `rf` and `fr` edges of those loads is acyclic. If it is, take any total
//! order that extends it and let each of them read the last write before it. If it is not, no choice helps,
//! since redirecting only adds edges.
//!
//! **Deviation of the search**: the state-space search lets such a load read the last write of its own run, and keeps
//! the `fr` edges of that. It is sound, as the paper claims, but not complete: see `tests/observational.rs`.
//!
//! **Cost**: that of enumerating all executions.

use rsan_axioms::{Error, Execution, Limits, executions, sc_order};
use rsan_model::{EventId, EventSet, Graph, Instr, Label, Model, Pc, Program, ThreadId, Value};
use std::ops::ControlFlow;

/// Whether the program is observationally robust; `None` when it is too large or has choices. Races and assertions
/// are not looked at.
///
/// # Errors
/// As [`executions`].
pub fn observational(
    program: &Program,
    model: Model,
    limits: &Limits,
) -> Result<Option<bool>, Error> {
    let mut instrs = program.instructions();
    if instrs.any(|(_, _, i)| matches!(i, Instr::Choose(_))) {
        return Ok(None);
    }
    let mut robust = true;
    let summary = executions(program, model, limits, &mut |execution| {
        let free = without_influence(program, execution);
        let graph = redirected(execution.graph, free);
        robust = sc_order(model, &graph).is_acyclic();
        if robust {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    let complete = summary.cut.reason(limits).is_none();
    Ok((complete || !robust).then_some(robust))
}

/// The graph without the `rf` edges of these reads.
fn redirected(graph: &Graph, free: EventSet) -> Graph {
    let initial = graph.ids().filter_map(|e| match graph.label(e) {
        Label::Init { value, .. } => Some(value),
        _ => None,
    });
    let mut result = Graph::initial(initial);
    for e in graph.ids().skip(result.len()) {
        result.push(*graph.event(e));
        if let Some(write) = graph.reads_from(e).filter(|_| !free.contains(e)) {
            result.set_rf(e, write);
        }
    }
    for loc in (0..graph.locations()).map(rsan_model::LocId::new) {
        let order = graph.modification_order(loc).iter().enumerate();
        order
            .skip(1)
            .for_each(|(position, &w)| result.insert_mo(w, loc, position));
    }
    result
}

/// The loads whose value is not used in this execution.
fn without_influence(program: &Program, execution: &Execution<'_>) -> EventSet {
    let graph = execution.graph;
    let mut loads = EventSet::EMPTY;
    let mut used = EventSet::EMPTY;
    for t in 0..program.threads.len() {
        let replay = Replay::new(program, ThreadId::new(t));
        let events = graph.ids().filter(|&e| {
            let event = graph.event(e);
            event.thread == Some(replay.thread) && !matches!(event.label, Label::Begin | Label::End)
        });
        let events: Vec<EventId> = events.collect();
        let (thread_loads, thread_used) = replay.run(graph, &events);
        loads = loads.union(thread_loads);
        used = used.union(thread_used);
    }
    loads.minus(used)
}

/// One thread of an execution, run again along its events.
struct Replay<'p> {
    program: &'p Program,
    thread: ThreadId,
    registers: Vec<Value>,
    /// The load that each register's value comes from.
    origin: Vec<Option<EventId>>,
    loads: EventSet,
    used: EventSet,
}

impl<'p> Replay<'p> {
    fn new(program: &'p Program, thread: ThreadId) -> Self {
        let registers = program.threads[thread.index()].initial_registers();
        Self {
            program,
            thread,
            origin: vec![None; registers.len()],
            registers,
            loads: EventSet::EMPTY,
            used: EventSet::EMPTY,
        }
    }

    /// The loads of the thread, and those whose value is used.
    fn run(mut self, graph: &Graph, events: &[EventId]) -> (EventSet, EventSet) {
        let thread = &self.program.threads[self.thread.index()];
        let mut events = events.iter().copied();
        let mut next = Some(Pc(0));
        while let Some(pc) = next {
            let instr = thread.instr(pc);
            // Also of the instruction at which the thread ends: a wait that blocks, an assertion that fails.
            instr.for_each_read_reg(&mut |r| {
                if let Some(load) = self.origin[r.index()] {
                    self.used.insert(load);
                }
            });
            next = if makes_event(instr) {
                events.next().map(|event| {
                    assert_eq!(graph.event(event).pc, pc, "the replay follows the graph");
                    self.event(instr, event, graph.label(event));
                    Pc(pc.0 + 1)
                })
            } else {
                self.local(instr, pc)
            };
        }
        (self.loads, self.used)
    }

    fn event(&mut self, instr: &Instr, event: EventId, label: Label) {
        instr.for_each_written_reg(&mut |r| {
            self.registers[r.index()] = label.value_read().unwrap_or_default();
            self.origin[r.index()] = None;
        });
        match instr {
            Instr::Load { dst, .. } => {
                self.loads.insert(event);
                self.origin[dst.index()] = Some(event);
            }
            Instr::Cas {
                success: Some(success),
                ..
            } => self.registers[success.index()] = Value::from(label.is_rmw()),
            _ => {}
        }
    }

    /// Executes an instruction without event; `None` when the thread ends there.
    fn local(&mut self, instr: &Instr, pc: Pc) -> Option<Pc> {
        let next = Some(Pc(pc.0 + 1));
        let eval = |e: &rsan_model::Expr| e.eval(&self.registers).ok();
        match instr {
            Instr::Assign { dst, value } => {
                let value = self.program.domain.wrap(eval(value)?);
                self.registers[dst.index()] = value;
                self.origin[dst.index()] = None;
                next
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => Some(if eval(cond)? != 0 { *then } else { *otherwise }),
            Instr::Jump(to) => Some(*to),
            Instr::Assert(e) | Instr::Assume(e) => next.filter(|_| eval(e) != Some(0)),
            Instr::Observe(_) => next,
            _ => None,
        }
    }
}

fn makes_event(instr: &Instr) -> bool {
    instr.place().is_some() || matches!(instr, Instr::Fence(_) | Instr::Spawn(_) | Instr::Join(_))
}
