//! An operational TSO machine: memory, one store buffer per thread, one lock.
//!
//! It shares no rule with the search: witnesses are replayed on it, and a witness that it does not accept is a bug
//! of ours, not a finding.

use rsan_model::automata::{Automata, Op};
use rsan_model::{Domain, Expr, Value};
use std::collections::{BTreeMap, VecDeque};

/// A step of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A thread takes one of its transitions.
    Step {
        /// Who.
        thread: usize,
        /// Which.
        transition: usize,
    },
    /// The oldest store in a thread's buffer reaches memory.
    Flush {
        /// Whose.
        thread: usize,
    },
}

/// An access of memory, as it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: usize,
    /// By which transition.
    pub transition: usize,
    /// Where.
    pub address: Value,
    /// What was read, if it reads.
    pub read: Option<Value>,
    /// What was written, if it writes.
    pub written: Option<Value>,
    /// The event that wrote what was read; `None` for the initial value.
    pub from: Option<usize>,
    /// The number of the step in the computation.
    pub step: usize,
    /// The locked section that it belongs to: its number, which is that of no other section.
    pub section: Option<usize>,
}

/// The machine.
#[derive(Clone)]
pub(crate) struct Machine<'a> {
    automata: &'a Automata,
    pub(crate) states: Vec<u32>,
    pub(crate) regs: Vec<Vec<Value>>,
    /// Value and writer of each address that was written.
    memory: BTreeMap<Value, (Value, Option<usize>)>,
    /// Address, value and event of each delayed store, oldest first.
    buffers: Vec<VecDeque<(Value, Value, usize)>>,
    lock: Option<usize>,
    sections: usize,
    pub(crate) events: Vec<Event>,
    /// The writes of each address in the order in which they reached memory.
    pub(crate) order: BTreeMap<Value, Vec<usize>>,
    pub(crate) actions: Vec<Action>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(automata: &'a Automata) -> Self {
        let threads = &automata.threads;
        Self {
            automata,
            states: threads.iter().map(|t| t.initial.0).collect(),
            regs: threads
                .iter()
                .map(|t| t.registers.iter().map(|r| r.1).collect())
                .collect(),
            memory: automata
                .memory
                .iter()
                .map(|(a, v)| (*a, (*v, None)))
                .collect(),
            buffers: vec![VecDeque::new(); threads.len()],
            lock: None,
            sections: 0,
            events: Vec::new(),
            order: BTreeMap::new(),
            actions: Vec::new(),
        }
    }

    pub(crate) fn automata(&self) -> &'a Automata {
        self.automata
    }

    fn eval(&self, thread: usize, e: &Expr) -> Option<Value> {
        let n = e.eval(&self.regs[thread]).ok()?;
        Some(self.automata.domain.wrap(n))
    }

    fn address(&self, thread: usize, e: &Expr) -> Option<Value> {
        let n = e.eval(&self.regs[thread]).ok()?;
        Some(Domain::Int32.wrap(n))
    }

    pub(crate) fn accepts(&self, thread: usize, e: Option<&Expr>) -> bool {
        e.is_none_or(|e| e.eval(&self.regs[thread]).is_ok_and(|n| n != 0))
    }

    pub(crate) fn has_delayed(&self, thread: usize) -> bool {
        !self.buffers[thread].is_empty()
    }

    /// The oldest delayed store of a thread reaches memory; `None` if there is none or somebody else has the lock.
    pub(crate) fn flush(&mut self, thread: usize) -> Option<()> {
        if self.lock.is_some_and(|holder| holder != thread) {
            return None;
        }
        let (address, value, event) = self.buffers[thread].pop_front()?;
        self.memory.insert(address, (value, Some(event)));
        self.order.entry(address).or_default().push(event);
        self.actions.push(Action::Flush { thread });
        Some(())
    }

    /// A thread takes a transition; `None` if it cannot.
    pub(crate) fn step(&mut self, thread: usize, transition: usize) -> Option<()> {
        let step = &self.automata.threads[thread].transitions[transition];
        if step.from.0 != self.states[thread] {
            return None;
        }
        let shared = self.lock.is_none_or(|holder| holder == thread);
        if !shared && !step.op.is_local() && step.op != Op::Fence {
            return None;
        }
        if step.op.drains() && step.op != Op::Unlock && self.has_delayed(thread) {
            return None;
        }
        self.execute(thread, transition, &step.op)?;
        self.states[thread] = step.to.0;
        self.actions.push(Action::Step { thread, transition });
        Some(())
    }

    fn execute(&mut self, thread: usize, transition: usize, op: &Op) -> Option<()> {
        match op {
            Op::Read { reg, addr, accept } => {
                let address = self.address(thread, addr)?;
                let (value, from) = self.look(thread, address);
                self.regs[thread][reg.index()] = value;
                self.accepts(thread, accept.as_ref()).then_some(())?;
                self.note(thread, transition, address, (Some(value), None), from);
            }
            Op::Write { addr, value } => {
                let address = self.address(thread, addr)?;
                let value = self.eval(thread, value)?;
                let event = self.note(thread, transition, address, (None, Some(value)), None);
                self.buffers[thread].push_back((address, value, event));
            }
            Op::Update {
                reg,
                addr,
                accept,
                value,
            } => {
                let address = self.address(thread, addr)?;
                let (old, from) = self.look(thread, address);
                if let Some(reg) = reg {
                    self.regs[thread][reg.index()] = old;
                }
                self.accepts(thread, accept.as_ref()).then_some(())?;
                let written = match value {
                    Some(value) => Some(self.eval(thread, value)?),
                    None => None,
                };
                let event = self.note(thread, transition, address, (Some(old), written), from);
                if let Some(written) = written {
                    self.memory.insert(address, (written, Some(event)));
                    self.order.entry(address).or_default().push(event);
                }
            }
            Op::Lock => {
                self.lock.is_none().then_some(())?;
                self.lock = Some(thread);
                self.sections += 1;
            }
            Op::Unlock => {
                while self.has_delayed(thread) {
                    self.flush(thread)?;
                }
                self.lock = None;
            }
            Op::Assign { reg, value } => {
                self.regs[thread][reg.index()] = self.eval(thread, value)?;
            }
            Op::Check(e) | Op::Assert(e) | Op::Bounds(e) => {
                self.accepts(thread, Some(e)).then_some(())?;
            }
            Op::Fence | Op::Noop => {}
        }
        Some(())
    }

    /// What a thread sees at an address: its own newest delayed store, or memory.
    fn look(&self, thread: usize, address: Value) -> (Value, Option<usize>) {
        let own = self.buffers[thread].iter().rev().find(|s| s.0 == address);
        match own {
            Some(&(_, value, event)) => (value, Some(event)),
            None => self.memory.get(&address).copied().unwrap_or_default(),
        }
    }

    fn note(
        &mut self,
        thread: usize,
        transition: usize,
        address: Value,
        (read, written): (Option<Value>, Option<Value>),
        from: Option<usize>,
    ) -> usize {
        self.events.push(Event {
            thread,
            transition,
            address,
            read,
            written,
            from,
            step: self.actions.len(),
            section: (self.lock == Some(thread)).then_some(self.sections),
        });
        self.events.len() - 1
    }
}
