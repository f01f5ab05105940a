//! Whether a program does on a weaker machine only what it does on a stronger one, by enumeration.
//!
//! # What it decides
//!
//! A program is *M-K robust* if every execution that the machine `K` allows is one that `M` allows (docs/theory/port.md,
//! P1). The two may run different instructions for the same source, so executions are compared as shapes (`shape.rs`): the
//! reads and writes of the source's instructions, which write each read sees, and the order of the writes of each location.
//! Fences, and the reads that belong to a write of the same instruction, are no part of it: what such a read sees is
//! the write before its own.
//!
//! Threads may also stop where they wait, and before they go back in a loop (P2): what a thread did until then is an
//! execution, too, even if it can never go on.
//!
//! `Robust` is a proof up to the bound of loops, and then the answer is not `Robust` but [`Verdict::Cut`]; a violation is one
//! whatever was cut.
//!
//! # How
//!
//! An SC execution is one of every machine. So `K`'s executions are enumerated, and the shapes kept that SC forbids. If
//! `M` is SC, or x86 with the same instructions, that execution itself is checked against `M`; otherwise `M`'s executions
//! are enumerated, and the shapes that they have are struck out. What stays is a violation.
//!
//! # Cost
//!
//! That of two or three enumerations; memory for the shapes that SC forbids.

mod cycle;
mod shape;
mod stop;

pub use stop::{Side, insert_fence};

use crate::Limits;
use crate::machine::{Candidate, Error, consistent, executions_until};
use cycle::forbidden_cycle;
use rsan_model::machine::{Machine, Program};
use rsan_model::{Edge, EventId, Reason};
use shape::Shape;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use stop::with_stops;

/// Whether every execution on the weaker machine is one on the stronger machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is.
    Robust,
    /// It is not.
    Violation(Box<Witness>),
    /// None was found that is not, but not all were looked at.
    Cut(Reason),
}

/// An execution of the weaker machine that the stronger one does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The execution, of the program compiled for the weaker machine. A thread may have stopped where it waits.
    pub execution: Candidate,
    /// A cycle of program order and communication in it: each edge leads to the event of the next element, the last one
    /// to the first. Without events that only fence. SC forbids it; if `M` is x86 and there is one without an edge from a write to a
    /// later read, it is such a one.
    pub cycle: Vec<(EventId, Edge)>,
}

/// What a search did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// What it found.
    pub verdict: Verdict,
    /// Executions of the weaker machine that were looked at.
    pub executions: u64,
}

/// Whether the program `on_k`, on machine `k`, does only what `on_m` does on machine `m`. Both come from the same source:
/// equal origins are the same instruction. `halt` is asked every few executions, with the memory in bytes that is used.
///
/// # Errors
/// As [`executions_until`].
pub fn robust(
    on_k: &Program,
    k: Machine,
    on_m: &Program,
    m: Machine,
    limits: &Limits,
    halt: &mut dyn FnMut(u64) -> Option<Reason>,
) -> Result<Answer, Error> {
    let (on_k, on_m) = (with_stops(on_k), with_stops(on_m));
    // Of these two, no axiom asks for dependencies, which each machine sees in its own way.
    let same = m == Machine::X86 && on_k.threads == on_m.threads;
    let direct = m == Machine::Sc || same;
    let mut search = Search {
        k,
        m,
        on_k: &on_k,
        limits,
        halt,
        executions: 0,
        kept: 0,
    };
    let (verdict, executions) = if direct {
        let (witness, cut) = search.first(&mut |e| !is_sc(e) && consistent(m, e).is_err())?;
        (search.verdict(witness, cut), search.executions)
    } else {
        let (shapes, cut) = search.weak_shapes()?;
        let executions = search.executions;
        let verdict = search.strike_out(shapes, cut, &on_m)?;
        (verdict, executions)
    };
    Ok(Answer {
        verdict,
        executions,
    })
}

struct Search<'p> {
    k: Machine,
    m: Machine,
    on_k: &'p Program,
    limits: &'p Limits,
    halt: &'p mut dyn FnMut(u64) -> Option<Reason>,
    executions: u64,
    /// Memory of what is kept, in bytes.
    kept: u64,
}

/// Whether SC allows an execution: faster than [`consistent`], which asks again what every machine demands.
fn is_sc(execution: &Candidate) -> bool {
    let mut order = execution.po.union(&execution.rf).union(&execution.co);
    for (write, read) in execution.rf.pairs() {
        let later = execution.co.successors(write);
        later.iter().for_each(|w| order.add(read, w));
    }
    let sc = order.is_acyclic();
    debug_assert_eq!(sc, consistent(Machine::Sc, execution).is_ok());
    sc
}

/// What was not looked at.
type Cut = Option<Reason>;

impl Search<'_> {
    /// Visits the executions of a program.
    fn each(
        &mut self,
        program: &Program,
        machine: Machine,
        visit: &mut dyn FnMut(&Candidate, &mut u64) -> ControlFlow<()>,
    ) -> Result<Cut, Error> {
        let mut halted = None;
        let kept = std::cell::Cell::new(self.kept);
        let halt = &mut *self.halt;
        let mut executions = 0;
        let summary = executions_until(
            program,
            machine,
            self.limits,
            &mut |memory| {
                halted = halt(memory + kept.get());
                halted.clone()
            },
            &mut |e| {
                executions += 1;
                let mut bytes = kept.get();
                let next = visit(e, &mut bytes);
                kept.set(bytes);
                next
            },
        )?;
        self.kept = kept.get();
        self.executions = executions;
        Ok(halted.or_else(|| summary.cut.reason(self.limits)))
    }

    /// The first execution of the weaker machine that is wanted.
    fn first(
        &mut self,
        wanted: &mut dyn FnMut(&Candidate) -> bool,
    ) -> Result<(Option<Candidate>, Cut), Error> {
        let mut found = None;
        let cut = self.each(self.on_k, self.k, &mut |execution, _| {
            if !wanted(execution) {
                return ControlFlow::Continue(());
            }
            found = Some(execution.clone());
            ControlFlow::Break(())
        })?;
        Ok((found, cut))
    }

    fn verdict(&self, witness: Option<Candidate>, cut: Cut) -> Verdict {
        match (witness, cut) {
            (Some(execution), _) => Verdict::Violation(Box::new(Witness {
                cycle: forbidden_cycle(&execution, self.m),
                execution,
            })),
            (None, Some(reason)) => Verdict::Cut(reason),
            (None, None) => Verdict::Robust,
        }
    }

    /// The shapes of the executions of the weaker machine that SC forbids.
    fn weak_shapes(&mut self) -> Result<(BTreeSet<Shape>, Cut), Error> {
        let mut shapes = BTreeSet::new();
        let cut = self.each(self.on_k, self.k, &mut |execution, kept| {
            if !is_sc(execution) {
                let shape = Shape::of(execution);
                let bytes = shape.bytes();
                if shapes.insert(shape) {
                    *kept += bytes;
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok((shapes, cut))
    }

    /// Strikes out what the stronger machine does, too.
    fn strike_out(
        &mut self,
        mut shapes: BTreeSet<Shape>,
        cut: Cut,
        on_m: &Program,
    ) -> Result<Verdict, Error> {
        if shapes.is_empty() {
            return Ok(self.verdict(None, cut));
        }
        let not_all = self.each(on_m, self.m, &mut |execution, _| {
            if !is_sc(execution) {
                shapes.remove(&Shape::of(execution));
            }
            match shapes.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        match not_all {
            _ if shapes.is_empty() => Ok(self.verdict(None, cut)),
            // Both programs were cut at the same number of iterations of the same loops.
            None | Some(Reason::LoopBound(_)) => {
                let (witness, stopped) =
                    self.first(&mut |execution| shapes.contains(&Shape::of(execution)))?;
                Ok(self.verdict(witness, stopped.or(cut)))
            }
            Some(reason) => Ok(Verdict::Cut(reason)),
        }
    }
}
