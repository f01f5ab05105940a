//! The execution graph of the C program that a machine's execution is one of.

use rsan_axioms::machine::{Candidate, Event as MachineEvent};
use rsan_model::{Event, EventId, Expr, Graph, Instr, Label, Pc, Program, ThreadId, Value};
use std::collections::VecDeque;

/// Runs the program along an execution of what it was compiled to, without spawns, joins and choices.
///
/// # Panics
/// When the execution is none of the program: that is an error of the compilation.
pub(super) fn replay(program: &Program, execution: &Candidate) -> Graph {
    let initial = program.locations.iter().map(|l| l.init);
    let mut replay = Replay {
        program,
        execution,
        graph: Graph::initial(initial),
        event_of: vec![None; execution.events.len()],
    };
    for (event, of) in execution.events.iter().zip(&mut replay.event_of) {
        if event.thread.is_none() {
            *of = event.loc().map(|loc| EventId::new(loc.index()));
        }
    }
    for t in 0..program.threads.len() {
        replay.thread(ThreadId::new(t));
    }
    replay.communication();
    replay.graph
}

struct Replay<'p> {
    program: &'p Program,
    execution: &'p Candidate,
    graph: Graph,
    /// The event of the graph for each event of the execution.
    event_of: Vec<Option<EventId>>,
}

/// One thread's accesses that are still to come.
struct Accesses<'p> {
    execution: &'p Candidate,
    left: VecDeque<usize>,
}

impl Accesses<'_> {
    fn peek(&self, pc: Pc) -> Option<(usize, &MachineEvent)> {
        let &next = self.left.front()?;
        let event = &self.execution.events[next];
        (event.origin == pc.0).then_some((next, event))
    }

    fn is_update(&self, index: usize) -> bool {
        let read = EventId::new(index);
        !self.execution.rmw.successors(read).is_empty()
    }

    fn read(&mut self, pc: Pc) -> Option<(usize, Value)> {
        let (index, event) = self.peek(pc)?;
        let value = event.access().filter(|_| event.is_read())?.value;
        self.left.pop_front();
        Some((index, value))
    }

    fn write(&mut self, pc: Pc) -> Option<(usize, Value)> {
        let (index, event) = self.peek(pc)?;
        let value = event.access().filter(|_| event.is_write())?.value;
        self.left.pop_front();
        Some((index, value))
    }
}

impl Replay<'_> {
    fn thread(&mut self, id: ThreadId) {
        let thread = &self.program.threads[id.index()];
        let events = self.execution.events.iter().enumerate();
        let own = events.filter(|(_, e)| e.thread == Some(id) && e.access().is_some());
        let mut accesses = Accesses {
            execution: self.execution,
            left: own.map(|(index, _)| index).collect(),
        };
        let mut registers = thread.initial_registers();
        let mut pc = Pc(0);
        while let Some(instr) = thread.code.get(pc.index()) {
            let value = |e: &Expr| e.eval(&registers).expect("random programs have no traps");
            let mut next = Pc(pc.0 + 1);
            match instr {
                Instr::Branch {
                    cond,
                    then,
                    otherwise,
                } => next = if value(cond) != 0 { *then } else { *otherwise },
                Instr::Jump(to) => next = *to,
                Instr::Halt => break,
                Instr::Assert(e) | Instr::Assume(e) if value(e) == 0 => break,
                Instr::Assert(_) | Instr::Assume(_) | Instr::Observe(_) => {}
                Instr::Assign { dst, value: e } => {
                    let value = self.program.domain.wrap(value(e));
                    registers[dst.index()] = value;
                }
                Instr::Fence(ord) => {
                    self.push(id, pc, Label::Fence(*ord), &[]);
                }
                _ => self.access(id, pc, instr, &mut registers, &mut accesses),
            }
            pc = next;
        }
        assert!(accesses.left.is_empty(), "{id} did more than its program");
    }

    fn access(
        &mut self,
        id: ThreadId,
        pc: Pc,
        instr: &Instr,
        registers: &mut [Value],
        accesses: &mut Accesses<'_>,
    ) {
        let place = instr.place().expect("an access");
        let loc = place
            .resolve(registers)
            .expect("random programs have no traps");
        if let Instr::Store { .. } | Instr::PlainStore { .. } = instr {
            // The read of an exchange that only stores.
            if accesses
                .peek(pc)
                .is_some_and(|(i, e)| e.is_read() && accesses.is_update(i))
            {
                accesses.left.pop_front();
            }
            let (write, value) = accesses.write(pc).expect("a store writes");
            let label = match instr {
                Instr::Store { ord, .. } => Label::Write {
                    loc,
                    value,
                    ord: *ord,
                },
                _ => Label::PlainWrite { loc, value },
            };
            self.push(id, pc, label, &[write]);
            return;
        }
        let (read, value) = accesses.read(pc).expect("what is no store reads");
        let written = match accesses.is_update(read) {
            true => accesses.write(pc),
            false => None,
        };
        let rmw = |ord, written| Label::Rmw {
            loc,
            read: value,
            written,
            ord,
        };
        let atomic = |ord| Label::Read { loc, value, ord };
        let (label, dst) = match (instr, written) {
            (Instr::PlainLoad { dst, .. }, None) => (Label::PlainRead { loc, value }, Some(*dst)),
            (Instr::Load { dst, ord, .. }, None) => (atomic(*ord), Some(*dst)),
            (Instr::Wait { dst, ord, .. }, None) => (atomic(*ord), *dst),
            (Instr::Cas { dst, fail, .. }, None) => (atomic(*fail), *dst),
            (Instr::Cas { dst, ord, .. } | Instr::Rmw { dst, ord, .. }, Some((_, new))) => {
                (rmw(*ord, new), *dst)
            }
            (Instr::Bcas { ord, .. }, Some((_, new))) => (rmw(*ord, new), None),
            _ => panic!("{instr:?} does not read and write {written:?}"),
        };
        if let Instr::Cas {
            success: Some(success),
            ..
        } = instr
        {
            registers[success.index()] = Value::from(written.is_some());
        }
        if let Some(dst) = dst {
            registers[dst.index()] = value;
        }
        let written = written.map(|(index, _)| index);
        let events: Vec<usize> = std::iter::once(read).chain(written).collect();
        self.push(id, pc, label, &events);
    }

    fn push(&mut self, thread: ThreadId, pc: Pc, label: Label, of: &[usize]) {
        let event = self.graph.push(Event {
            thread: Some(thread),
            pc,
            label,
        });
        for &index in of {
            self.event_of[index] = Some(event);
        }
    }

    fn communication(&mut self) {
        for (write, read) in self.execution.rf.pairs() {
            let (write, read) = (self.event_of[write.index()], self.event_of[read.index()]);
            if let (Some(write), Some(read)) = (write, read) {
                self.graph.set_rf(read, write);
            }
        }
        let mut writes: Vec<EventId> = self.execution.writes().iter().collect();
        writes.sort_by_key(|&w| std::cmp::Reverse(self.execution.co.successors(w).len()));
        for write in writes {
            let event = &self.execution.events[write.index()];
            if event.thread.is_none() {
                continue;
            }
            let (Some(loc), Some(id)) = (event.loc(), self.event_of[write.index()]) else {
                continue;
            };
            let position = self.graph.modification_order(loc).len();
            self.graph.insert_mo(id, loc, position);
        }
    }
}
