//! Enumerates the consistent graphs of a program, each complete one exactly once.
//!
//! # How
//!
//! In a consistent graph `po ∪ asw ∪ rf` is acyclic (and under RC20 and RA, `f`'s `rf` is part of it), so its
//! events can be put one after another such that everything an event depends on is there before it: its
//! thread's earlier events, the write it reads, the `Spawn` of a `Begin`, the `End` of a `Join`. Every model
//! here is closed under taking such prefixes: leaving out an event on which no other depends only removes edges.
//! Of the possible orders we build one, the **canonical** order: always the lowest-numbered thread whose next
//! event has what it depends on.
//!
//! Going forward, a thread that comes to a read does not know whether the write it will see is there already.
//! So that is a decision: it reads one of the writes that are there, or it is **passed over** until another
//! write of the location arrives, and then decides between that one and waiting on. A graph determines all these
//! decisions, hence it is built at most once; and all decisions are tried, hence it is built. A read that is
//! passed over for ever has no complete execution, except for the blocking operations (wait, blocking CAS).
//!
//! A write takes any place in `mo`. An RMW takes the place after the write it reads, all others violate
//! atomicity. After each event the axioms are checked from scratch.
//!
//! # What is complete
//!
//! Every thread has ended, or stopped at an assertion, an assumption or a trap, or is blocked: a join of a thread
//! that has not ended, or a blocking read whose location's *last* write in `mo` does not let it pass (other
//! writes may: the thread came too late for them). This is what an SC run calls blocked, and in weak models it is
//! memory fairness: a read that is repeated for ever eventually sees the last write.
//! Executions with a thread cut off by [`Limits::unroll`] are not complete; the summary says that there are some.
//!
//! # Cost
//!
//! Time exponential in the number of events, memory linear in it, unless the program has [`Instr::Choose`]:
//! then the complete executions are remembered, since two ways of choosing may give the same one.

mod builder;
mod execution;
mod reach;
mod thread;

pub use execution::{Execution, Stop};

use crate::{Error, Limits, Summary};
use builder::Builder;
use rsan_model::{Graph, Instr, Model, Pc, Program, Start, ThreadId};
use std::ops::ControlFlow;

/// Calls `visit` for every consistent complete execution of the program, each one once.
///
/// Two executions differ when their graphs, their final registers or the ends of their threads do. Under RC20
/// and RA the order of the SC fences is part of the graph.
///
/// # Errors
/// seq_cst accesses under a model without them, spawns that make no sense, and executions with more events than
/// the limit allows.
pub fn executions(
    program: &Program,
    model: Model,
    limits: &Limits,
    visit: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    struct Complete<'v>(&'v mut dyn FnMut(&Execution) -> ControlFlow<()>);
    impl Visitor for Complete<'_> {
        fn complete(&mut self, execution: &Execution) -> ControlFlow<()> {
            (self.0)(execution)
        }
    }
    enumerate(program, model, limits, &mut Complete(visit))
}

/// What wants to know about the graphs that are built.
pub(crate) trait Visitor {
    /// A consistent graph of a prefix of the program; the last event is new.
    fn prefix(&mut self, _graph: &Graph) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// An assertion failed in some consistent graph.
    fn assertion_failed(&mut self, _thread: ThreadId, _pc: Pc) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Asked every now and then, with the memory in bytes that the executions take which are remembered.
    fn go_on(&mut self, _memory: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A consistent complete execution.
    fn complete(&mut self, execution: &Execution) -> ControlFlow<()>;
}

/// Builds all consistent graphs of `program`.
pub(crate) fn enumerate(
    program: &Program,
    model: Model,
    limits: &Limits,
    visitor: &mut dyn Visitor,
) -> Result<Summary, Error> {
    refuse(program, model)?;
    let program = program.for_model(model);
    Builder::new(&program, model, limits, visitor).run()
}

/// What can be refused by looking at the program.
fn refuse(program: &Program, model: Model) -> Result<(), Error> {
    for (thread, pc, instr) in program.instructions() {
        if instr.is_sc_access() && !model.has_sc_accesses() {
            return Err(Error::ScAccess { thread, pc });
        }
        if let Instr::Spawn(t) | Instr::Join(t) = instr
            && program.threads[t.index()].start != Start::Spawned
        {
            return Err(Error::BadSpawn { thread, pc });
        }
    }
    Ok(())
}
