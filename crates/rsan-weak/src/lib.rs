//! Weak memory as it is executed: which writes a load may read, under C++20.
//!
//! An [`Engine`] follows one execution, event by event. Before a read it says which writes may be read; the caller chooses one, and
//! tells. The modification order is not chosen when a write is made: it is a set of constraints, which grows when something is
//! observed, so no choice has to be taken back. Happens-before is that of the threads' own clocks
//! ([`rsan_clocks::write_log::ThreadState`]), which locks, creation and joining of threads change as everywhere else.
//!
//! # What is executed
//! The executions of C++20 in which `po ∪ rf ∪ S` has no cycle, where S is the order in which seq_cst accesses and fences are executed
//! (docs/theory/weak.md, E1): no load reads a write that is made later (load buffering), and no execution is shown whose S contradicts
//! `po ∪ rf`. Nothing else is shown, and nothing of it is left out (E4); `rsan-crosscheck` compares it with the axioms.
//!
//! # Source
//! W. Luo, B. Demsky: *C11Tester: a race detector for C/C++ atomics*, ASPLOS 2021: modification order as constraints with clock vectors, prior
//! sets, no rollback. The rules for seq_cst are those of C++20, with S the order of execution (docs/theory/weak.md, E2):
//!
//! For a new access x of a location, let y range over earlier accesses of it, and let w(y) be the write that y is, or read. If y is one of the
//! following, w(y) must come before, or be, the write that x is or reads:
//! 1. y happens before x;
//! 2. x is seq_cst, and y is seq_cst, or y happens before a seq_cst fence that was executed before x;
//! 3. a seq_cst fence F happens before x, and y is a seq_cst access executed before F, or y happens before a seq_cst fence
//!    executed before F.
//!
//! # Memory
//! Writes that nobody can read any more are forgotten if the caller says what all live threads know ([`Engine::prune`]); with a window
//! ([`Engine::set_window`]) old ones are forgotten in any case. Forgetting gives other writes new numbers, at the beginning of an access: in
//! [`Engine::readable`], [`Engine::updatable`] and [`Engine::store`], if there was another event since the last of these calls.
//!
//! # Cost
//! An access costs O(slots) for what binds it, and O(writes that are kept) for the choices of a load. With up to five slots it allocates
//! only the list of choices.
//!
//! ```
//! use rsan_clocks::write_log::{Rules, SlotTable, ThreadState};
//! use rsan_model::{ReadOrd, ThreadId, WriteOrd};
//! use rsan_weak::Engine;
//!
//! let mut slots = SlotTable::new(None);
//! let mut thread = |id| ThreadState::initial(ThreadId(id), slots.assign(None, Rules::c20()), Rules::c20());
//! let (mut left, mut right) = (thread(0), thread(1));
//! let mut engine = Engine::default();
//! let x = engine.location(8, || 0);
//! engine.store(&mut left, x, 1, WriteOrd::Relaxed, 17);
//! // The right thread may read the initial value, or what the left one wrote.
//! let writes = engine.readable(&mut right, x, ReadOrd::Relaxed);
//! let values: Vec<_> = writes.iter().map(|write| engine.write(x, *write).value).collect();
//! assert_eq!(values, [0, 1]);
//! engine.read(&mut right, x, writes[1], ReadOrd::Relaxed);
//! assert_eq!(engine.readable(&mut right, x, ReadOrd::Relaxed).len(), 1);
//! ```

mod engine;
mod fences;
mod location;
mod mutation;
mod names;
mod order;
mod prune;

#[cfg(test)]
mod tests;

pub use engine::{Engine, LocationId, horizon};
pub use location::{Write, WriteId};
