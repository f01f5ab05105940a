//! The machines of `rsan-axioms` against each other, against the models of C, and against what is known of critical cycles.
//!
//! - [`Shape`]: a program that every machine can run, with fences and orders by what they are for.
//! - [`random_shape`]: a random one. [`Cycle`]: a cycle of conflicts as `diy` makes them, with the condition that shows it and, for
//!   multi-copy-atomic machines, whether it can happen.
//! - [`compare_machines`]: many of them, each checked by [`disagreement`] and [`cycle_disagreement`].
//!
//! What must hold of the final states, with fences for fences:
//!
//! | what | of programs |
//! |---|---|
//! | SC within every machine | all |
//! | SC and x86 as the models SC and TSO of C | all |
//! | x86 within ARMv8 and RISC-V | all, with acquires as `ldapr` |
//! | x86 within Power | all |
//! | x86 and ARMv8 within ARMv7 | with full fences and fences of stores (a lighter one is `dmb` on ARMv7) |
//! | Power within ARMv7 | with full fences only |
//! | ARMv8 within RISC-V | without read-modify-writes (RISC-V orders forwarding from them) |
//! | RISC-V within ARMv8 | without them, `ldar` and `isb`, which RISC-V does not have |
//! | every machine as SC | with a full fence between any two accesses; ARMv8 also with `ldar` and `stlr` only |
//! | ARMv8 and RISC-V as x86 | with a fence between any two accesses that lets reads overtake writes; without read-modify-writes and `ldar` |
//! | any machine within itself | with a fence, an order or a dependency less |
//!
//! ARMv8 is not within Power, which keeps a read before a later read of the same location where that decides a branch.

mod compare;
mod cycle;
mod random;
mod shape;

pub use compare::{MachineTally, compare_machines, cycle_disagreement, disagreement};
pub use cycle::Cycle;
pub use random::random_shape;
pub use shape::{Barrier, Dependency, Item, Shape, Source};
