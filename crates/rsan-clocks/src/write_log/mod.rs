//! The monitor to run on real programs: vector clocks over threads, and a short log of writes per location.
//!
//! **Decides** the same question as [`crate::location_clocks`], with the same answer (sound and complete), at a
//! cost that does not depend on the number of locations. With a cap on the length of logs or with forced
//! reuse of slots it stays sound, that is, every violation it reports is one.
//!
//! **Source**: docs/theory/write-log.md, W1 to W17; our own, from the location clocks of RSAN (PLDI 2025). The rules are in
//! `access.rs` and `fence.rs`, what is left out because its result is known in docs/theory/shortcuts.md, Q1 to Q14.
//! What a thread knows of another one, in happens-before or in hbSC, is a prefix of its events, so a vector clock
//! describes it; what it knows of a location can then be read off a log of `(thread, epoch)` stamps.
//!
//! **Notation**
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | C, R, pC | `hb` of [`View`]: now, released, pending | happens-before |
//! | S, WS, MS | `sc_past`, `write_past`, `access_past` | hbSC: what every SC order puts before the thread's next event, the last write, any access |
//! | q, f, e | [`ScView`]: `access`, `fence`, `eco` | seq_cst events before: for seq_cst accesses, for all, for the next SC fence |
//! | (a, f) | [`ScSet`] | a set of seq_cst events |
//! | M, W | `any`, `last_write` | what accesses of a location carry |
//! | wtag, mown, qown | `message_is`, `past_owner()`, `owner` | whose publication a state is equal to |
//! | fver, fpub | `fence_version`, `published` | which state of `f` a location has seen |
//! | sat | `saturated` | only seq_cst accesses so far |
//!
//! **Deviations** from the location clocks, none with an effect on verdicts of exact logs:
//! 1. The initial write counts as seq_cst. It is known to all either way; it saves reader entries.
//! 2. The oldest record kept is never taken as the missed write, so that a report can show the stale one. With a
//!    cap this takes one record more (`forms_agree_in_long_runs_under_c20`, which demands the loads' witnesses).
//! 3. Epochs stop in the last generation instead of wrapping, and nothing is concluded there
//!    (`overflow_of_epochs_raises_no_false_alarm`).
//!
//! **Invariants**: `hb`, and all parts of all sets, are within `sc_past`; `fence` is within `access`; the
//! thread's own entries of `hb` and `sc_past` are its epoch; the same for messages and locations.
//! `assert_invariants` checks them in the tests.
//!
//! **Cost**: O(threads) per event at worst, O(1) for the common ones; a check looks at the writes that the thread
//! does not know. Memory per location: three clocks, the log, and five more sets once seq_cst is mixed with others.
//!
//! A runtime keeps a [`ThreadState`] in each thread and a [`LocationState`] under each location's lock, and calls their
//! methods itself; [`WriteLog`] is the sequential driver of the same.

mod access;
mod ahead;
mod check;
mod epoch;
mod fence;
mod location;
mod log;
mod message;
mod monitor;
mod prune;
mod repeat;
mod rules;
mod saturation;
mod sc_part;
mod slots;
mod stale;
mod sync_clock;
mod thread;
mod view;

#[cfg(test)]
mod tests;

pub use ahead::{Ahead, Taken};
pub use check::Weakness;
pub use epoch::{Epoch, Slot, Stamp, VectorClock, Version};
pub use fence::ReservedLocation;
pub use location::LocationState;
pub use log::NOTE_BITS;
pub use monitor::{C20, LogModel, Options, Rc20, WriteLog};
pub use rules::Rules;
pub use slots::{Assignment, Owners, SlotCounts, SlotTable};
pub use stale::StaleWrite;
pub use sync_clock::SyncClock;
pub use thread::{Knowledge, ThreadState};
pub use view::{Observation, ScSet, ScView, View};
