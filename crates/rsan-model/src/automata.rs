//! Programs for TSO: threads as automata over a memory that maps integers to integers (Trencher's form).
//!
//! This is the form that `rsan-tso` works on. Memory orders do not exist here: what they mean on x86 is settled when a
//! [`Program`](crate::Program) is translated. Addresses are values, so that they can be computed.

use crate::{Domain, Expr, RegId, Source, Span, Value};

/// A control state of one thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateId(pub u32);

impl StateId {
    /// The index as a `usize`, for slices.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A program as automata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automata {
    /// Its name.
    pub name: String,
    /// Where it was read from; `None` for programs that were built in memory.
    pub source: Option<Source>,
    /// How values wrap.
    pub domain: Domain,
    /// The threads.
    pub threads: Vec<Automaton>,
    /// Addresses that do not start with 0, and what they start with.
    pub memory: Vec<(Value, Value)>,
    /// Names of addresses, for reports; in the order of the addresses.
    pub names: Vec<(Value, String)>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Its control states; [`StateId`] indexes here.
    pub states: Vec<ControlState>,
    /// Where it starts.
    pub initial: StateId,
    /// Its registers and their initial values; [`RegId`] indexes here.
    pub registers: Vec<(String, Value)>,
    /// What it can do.
    pub transitions: Vec<Transition>,
}

/// A control state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlState {
    /// Its name.
    pub name: String,
    /// Whether a fence can be put there: not in the middle of one instruction of a source program.
    pub fenceable: bool,
}

/// A step from one control state to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// From where.
    pub from: StateId,
    /// To where.
    pub to: StateId,
    /// What it does.
    pub op: Op,
    /// Where it stands in the source.
    pub span: Span,
}

/// What a transition does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Reads memory. With `accept`, only a value that makes it non-zero (evaluated with the new register) lets it pass.
    Read {
        /// Receives the value.
        reg: RegId,
        /// From where.
        addr: Expr,
        /// Which values it waits for.
        accept: Option<Expr>,
    },
    /// Writes memory, through the store buffer.
    Write {
        /// Where.
        addr: Expr,
        /// What.
        value: Expr,
    },
    /// A locked instruction: reads and, with `value`, writes one address, with the store buffer empty.
    Update {
        /// Receives the value read.
        reg: Option<RegId>,
        /// Where.
        addr: Expr,
        /// Which values it waits for, evaluated with the new register.
        accept: Option<Expr>,
        /// What is written, evaluated with the new register.
        value: Option<Expr>,
    },
    /// Passes when the store buffer is empty.
    Fence,
    /// Passes when the store buffer is empty and nobody holds the lock; until [`Op::Unlock`] nobody else accesses memory.
    Lock,
    /// Empties the store buffer and gives the lock back.
    Unlock,
    /// Local computation.
    Assign {
        /// Receives the value.
        reg: RegId,
        /// The value.
        value: Expr,
    },
    /// Passes when the expression is not 0.
    Check(Expr),
    /// Fails when the expression is 0: an assertion.
    Assert(Expr),
    /// Fails when the expression is 0: an array index out of bounds.
    Bounds(Expr),
    /// Nothing.
    Noop,
}

impl Op {
    /// Whether it neither accesses memory nor depends on what other threads do.
    pub fn is_local(&self) -> bool {
        matches!(
            self,
            Self::Assign { .. } | Self::Check(_) | Self::Assert(_) | Self::Bounds(_) | Self::Noop
        )
    }

    /// Whether it passes only with an empty store buffer.
    pub fn drains(&self) -> bool {
        matches!(
            self,
            Self::Fence | Self::Lock | Self::Unlock | Self::Update { .. }
        )
    }
}

impl Automaton {
    /// The transitions that leave a control state.
    pub fn leaving(&self, state: StateId) -> impl Iterator<Item = (usize, &Transition)> {
        let all = self.transitions.iter().enumerate();
        all.filter(move |(_, t)| t.from == state)
    }
}

impl Automata {
    /// The name of an address, for reports.
    pub fn address_name(&self, address: Value) -> String {
        match self.names.iter().find(|(a, _)| *a == address) {
            Some((_, name)) => name.clone(),
            None => format!("[{address}]"),
        }
    }
}
