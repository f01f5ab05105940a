//! What the atomics of C become on each architecture.
//!
//! [`compile`] turns a program into one for a machine by the [table](Table) of its [`Target`]: which instructions and fences
//! stand for each operation and order, as the compilers have it. The tables are data, one per row of the published ones.
//!
//! # What is kept
//!
//! - Dependencies are those of the text, as in a litmus test: an expression that mentions a register depends on what the
//!   register was loaded with, even where a compiler could compute the value without it (`x ^ x`).
//! - A read-modify-write by exclusive accesses is its last, successful attempt: earlier ones change nothing.
//! - An operation that blocks (wait, blocking compare-and-swap, assume) only has the executions in which it goes on.
//! - A failed assertion ends its thread and is told by a register of its own, see [`assertions`].
//! - A thread that is spawned first waits for a flag that the spawn sets, and a join waits for one that the thread sets at its
//!   end. Both are a release store and an acquire load: what C promises.
//! - Registers and locations keep their numbers; further ones come behind them, with names that no source has.
//! - An access outside of its array has address 0, which is no location.
//!
//! # Sources
//!
//! - P. Sewell et al., *C/C++11 mappings to processors* (the table of x86, Power and ARMv7); M. Batty, K. Memarian, S. Owens,
//!   S. Sarkar, P. Sewell, *Clarifying and compiling C/C++ concurrency* (POPL 2012), for Power.
//! - Arm, *Architecture Reference Manual for A-profile*: `ldar`, `ldapr`, `stlr`, and the atomics of version 8.1.
//! - *The RISC-V Instruction Set Manual*, table A.6.

mod compile;
mod lower;
mod table;
mod target;

pub use compile::{Unsupported, assertions, compile};
pub use table::{After, Form, Load, Rmw, Store, Table};
pub use target::{PowerAcquire, PowerSync, Rmws, Target, X86Store};
