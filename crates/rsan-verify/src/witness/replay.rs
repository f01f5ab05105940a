//! A schedule executed once more, with events.

use crate::machine::{Executed, How};
use rsan_clocks::location_clocks::{C20, LocationClocks, Rc20};
use rsan_clocks::{AccessKind, Bounds, Effect, Observer};
use rsan_model::{
    Event, EventId, Expr, Graph, Instr, Label, LocId, Model, Pc, Program, RegId, Start, Step,
    ThreadId, Value,
};

/// The run so far.
pub(super) struct Replay<'p> {
    pub(super) program: &'p Program,
    pub(super) graph: Graph,
    pub(super) schedule: Vec<Step>,
    registers: Vec<Vec<Value>>,
    memory: Vec<Value>,
    /// For each thread and register, the load that wrote it last, and the two last writes that it could
    /// have seen then.
    loaded: Vec<Vec<Option<EventId>>>,
    /// For each event, the last write of its location when it happened.
    pub(super) latest: Vec<Option<EventId>>,
    /// How far back each thread may still read; loads that are stale teach it nothing.
    reach: Box<dyn Reach>,
}

/// The part of a monitor that says what is within reach.
trait Reach: Observer + Bounds {}
impl<M: Observer + Bounds> Reach for M {}

impl<'p> Replay<'p> {
    pub(super) fn new(program: &'p Program, model: Model) -> Self {
        let graph = Graph::initial(program.locations.iter().map(|l| l.init));
        let inits = || program.locations.iter().map(|l| l.init);
        let reach: Box<dyn Reach> = match model {
            Model::C20 => Box::new(LocationClocks::<C20>::new(inits())),
            _ => Box::new(LocationClocks::<Rc20>::new(inits())),
        };
        Self {
            program,
            reach,
            latest: vec![None; graph.len()],
            graph,
            schedule: Vec::new(),
            registers: program
                .threads
                .iter()
                .map(|t| t.initial_registers())
                .collect(),
            memory: program.locations.iter().map(|l| l.init).collect(),
            loaded: program
                .threads
                .iter()
                .map(|t| vec![None; t.registers.len()])
                .collect(),
        }
    }

    /// Executes one instruction of a schedule that is known to succeed.
    pub(super) fn execute(&mut self, executed: Executed) {
        let Executed { thread, pc, how } = executed;
        let instr = self.program.threads[thread.index()].instr(pc);
        self.begin(thread);
        match instr {
            Instr::Assign { dst, value } => {
                let value = self.value(thread, value);
                self.set(thread, *dst, value, None);
            }
            Instr::Fence(ord) => {
                self.reach.fence(thread, *ord);
                self.push(thread, pc, Label::Fence(*ord));
            }
            Instr::Spawn(child) => {
                self.reach.spawn(thread, *child);
                self.push(thread, pc, Label::Spawn(*child));
            }
            Instr::Join(child) => {
                self.reach.exit(*child);
                self.reach.join(thread, *child);
                self.push_unscheduled(*child, Label::End);
                self.push(thread, pc, Label::Join(*child));
            }
            Instr::Branch { .. }
            | Instr::Jump(_)
            | Instr::Choose(_)
            | Instr::Assert(_)
            | Instr::Assume(_)
            | Instr::Observe(_)
            | Instr::Halt => {}
            _ => self.access(thread, pc, instr, how),
        }
    }

    /// A spawned thread begins with an event of its own.
    pub(super) fn begin(&mut self, thread: ThreadId) {
        let spawned = self.program.threads[thread.index()].start == Start::Spawned;
        if spawned
            && !self
                .graph
                .ids()
                .any(|e| self.graph.event(e).thread == Some(thread))
        {
            self.push_unscheduled(thread, Label::Begin);
        }
    }

    fn access(&mut self, thread: ThreadId, pc: Pc, instr: &Instr, how: How) {
        let loc = self.location(thread, instr);
        let old = self.memory[loc.index()];
        let label = self.label(thread, instr, loc, old, how == How::Spuriously);
        let event = self.push(thread, pc, label);
        let order = self.graph.modification_order(loc);
        let last = order[order.len() - 1];
        let position = order.len();
        if label.is_read() {
            self.graph.set_rf(event, last);
        }
        if let Some(new) = label.value_written() {
            self.graph.insert_mo(event, loc, position);
            self.memory[loc.index()] = new;
        }
        if how == How::Stale {
            let Label::Read { ord, .. } = label else {
                unreachable!("only loads may be stale");
            };
            let oldest = self.reach.lower_bound(thread, loc, ord.is_sc());
            self.make_stale(event, oldest.index());
        } else {
            self.note(thread, loc, label);
        }
        match instr {
            Instr::Load { dst, .. } => self.set(thread, *dst, old, Some(event)),
            Instr::PlainLoad { dst, .. } => self.set(thread, *dst, old, None),
            Instr::Rmw { dst: Some(dst), .. } | Instr::Wait { dst: Some(dst), .. } => {
                self.set(thread, *dst, old, None);
            }
            Instr::Cas { dst, success, .. } => {
                if let Some(dst) = dst {
                    self.set(thread, *dst, old, None);
                }
                if let Some(success) = success {
                    self.set(thread, *success, Value::from(label.is_rmw()), None);
                }
            }
            _ => {}
        }
    }

    /// Tells the monitor what happened.
    fn note(&mut self, thread: ThreadId, loc: LocId, label: Label) {
        let effect = match label {
            Label::Read { ord, .. } => Effect::Read(ord),
            Label::Write { value, ord, .. } => Effect::Write { value, ord },
            Label::Rmw { written, ord, .. } => Effect::Rmw {
                value: written,
                ord,
            },
            Label::PlainWrite { value, .. } => return self.reach.plain_write(thread, loc, value),
            _ => return,
        };
        self.reach.apply(thread, loc, effect);
    }

    /// The label of an access that sees `old`.
    pub(super) fn label(
        &self,
        thread: ThreadId,
        instr: &Instr,
        loc: LocId,
        old: Value,
        spurious: bool,
    ) -> Label {
        match instr {
            Instr::Load { ord, .. } | Instr::Wait { ord, .. } => Label::Read {
                loc,
                value: old,
                ord: *ord,
            },
            Instr::Store { value, ord, .. } => Label::Write {
                loc,
                value: self.value(thread, value),
                ord: *ord,
            },
            Instr::Rmw {
                op, operand, ord, ..
            } => {
                let operand = i64::from(self.value(thread, operand));
                Label::Rmw {
                    loc,
                    read: old,
                    written: self.program.domain.wrap(op.apply(old, operand)),
                    ord: *ord,
                }
            }
            Instr::Cas { expected, fail, .. }
                if spurious || self.value(thread, expected) != old =>
            {
                Label::Read {
                    loc,
                    value: old,
                    ord: *fail,
                }
            }
            Instr::Cas { new, ord, .. } | Instr::Bcas { new, ord, .. } => Label::Rmw {
                loc,
                read: old,
                written: self.value(thread, new),
                ord: *ord,
            },
            Instr::PlainLoad { .. } => Label::PlainRead { loc, value: old },
            Instr::PlainStore { value, .. } => Label::PlainWrite {
                loc,
                value: self.value(thread, value),
            },
            _ => unreachable!("not an access"),
        }
    }

    /// Executes the access that a thread is about to make, and gives its event.
    pub(super) fn next_access(&mut self, thread: ThreadId, pc: Pc) -> EventId {
        self.execute(Executed {
            thread,
            pc,
            how: How::Normally,
        });
        EventId::new(self.graph.len() - 1)
    }

    /// The last access of this thread and kind to the location of `event`.
    pub(super) fn last_access(
        &self,
        event: EventId,
        thread: ThreadId,
        kind: AccessKind,
    ) -> EventId {
        let loc = self.graph.label(event).loc();
        let of_kind =
            |label: Label| label.is_plain() == kind.is_plain() && label.is_write() == kind.writes();
        let found = self.graph.ids().rev().find(|&e| {
            let Event {
                thread: who, label, ..
            } = *self.graph.event(e);
            e != event && who == Some(thread) && label.loc() == loc && of_kind(label)
        });
        found.expect("a race is with a recorded access")
    }

    /// The load that wrote the register last.
    pub(super) fn load_of(&self, thread: ThreadId, register: RegId) -> EventId {
        self.loaded[thread.index()][register.index()]
            .expect("only loads taint registers, and writing one again clears it")
    }

    /// The location that an access of the thread means.
    pub(super) fn location(&self, thread: ThreadId, instr: &Instr) -> LocId {
        let place = instr.place().expect("an access has a place");
        place
            .resolve(&self.registers[thread.index()])
            .expect("the search has evaluated it")
    }

    /// The value of an expression.
    pub(super) fn value(&self, thread: ThreadId, e: &Expr) -> Value {
        let value = e.eval(&self.registers[thread.index()]);
        self.program
            .domain
            .wrap(value.expect("the search has evaluated it"))
    }

    /// Adds an event of a thread, with a step of the schedule.
    pub(super) fn push(&mut self, thread: ThreadId, pc: Pc, label: Label) -> EventId {
        let last = label
            .loc()
            .and_then(|loc| self.graph.modification_order(loc).last().copied());
        self.latest.push(last);
        let thread_id = thread;
        let event = self.graph.push(Event {
            thread: Some(thread),
            pc,
            label,
        });
        self.schedule.push(Step {
            thread: thread_id,
            pc,
            event,
        });
        event
    }

    fn push_unscheduled(&mut self, thread: ThreadId, label: Label) {
        self.latest.push(None);
        self.graph.push(Event {
            thread: Some(thread),
            pc: Pc(0),
            label,
        });
    }

    fn set(&mut self, thread: ThreadId, r: RegId, value: Value, load: Option<EventId>) {
        self.registers[thread.index()][r.index()] = value;
        self.loaded[thread.index()][r.index()] = load;
    }
}
