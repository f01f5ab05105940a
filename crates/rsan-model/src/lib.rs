//! The vocabulary that every crate of rsan shares: memory orders, expressions, programs, execution
//! graphs and verdicts.
//!
//! This crate does no I/O, knows no syntax, and decides nothing: what a memory model allows is the business
//! of `rsan-axioms` (slow and obvious) and of `rsan-clocks` / `rsan-verify` (fast), which share only
//! what stands here.

pub mod automata;
mod condition;
mod expr;
mod graph;
mod ids;
mod instr;
pub mod machine;
mod model;
mod mutation;
mod order;
mod program;
mod relation;
mod source;
mod verdict;

pub use condition::{Atom, Condition, Observable, Prop, Quantifier};
pub use expr::{BinOp, Domain, EvalError, Expr, UnOp, Value};
pub use graph::{Event, Graph, Label};
pub use ids::{EventId, LocId, Pc, RegId, ThreadId};
pub use instr::{CasStrength, Instr, Place, RmwOp};
pub use model::Model;
pub use order::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};
pub use program::{LocKind, Location, Program, Register, Start, Thread, Track};
pub use relation::{EventSet, MAX_EVENTS, Relation};
pub use source::{Source, Span};
pub use verdict::{Edge, Fault, Reason, StaleAccess, Step, Verdict, Witness};
