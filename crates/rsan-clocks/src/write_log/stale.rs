//! Every way in which an access can be weak, not only the newest: what a runtime needs that asks the program what
//! it would do with each stale value (docs/theory/write-log.md, W11).
//!
//! A write `p` is stale for an access when it lies between the oldest in the thread's reach and the newest that
//! every SC order puts before the access (the numbers of [`crate::Bounds`]), and suits the access. Taking a write
//! needs that no read-modify-write follows it directly.

use super::location::LocationState;
use super::rules::Rules;
use super::thread::ThreadState;
use crate::{Access, Timestamp};
use rsan_model::{CasStrength, Value};

/// An old write, and what an access may do with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StaleWrite {
    /// The write, by its position in the modification order.
    pub write: Timestamp,
    /// The access may read it and write nothing: a load, a wait that passes, a compare-and-swap that fails.
    pub reads: bool,
    /// The access may write directly after it: a store, a read-modify-write, a compare-and-swap that succeeds.
    pub follows: bool,
}

impl StaleWrite {
    /// What an access may do with a write of some value that it can reach, or not, depending on whether it is seq_cst;
    /// `extensible` says that no read-modify-write follows the write. `None` if nothing.
    pub(crate) fn of(
        (write, value): (Timestamp, Value),
        access: &Access<'_>,
        extensible: bool,
        reach: impl Fn(bool) -> bool,
    ) -> Option<Self> {
        let (reads, follows) = match *access {
            Access::Load(ord) => (reach(ord.is_sc()), false),
            Access::Store(ord) => (false, extensible && reach(ord.is_sc())),
            Access::Rmw(ord) => (false, extensible && reach(ord.is_sc())),
            Access::Wait { values, ord } => (values.contains(&value) && reach(ord.is_sc()), false),
            Access::Bcas { expected, ord } => {
                let follows = value == expected && extensible && reach(ord.is_sc());
                (false, follows)
            }
            Access::Cas {
                expected,
                ord,
                fail,
                strength,
            } => {
                let fails = value != expected || strength == CasStrength::Weak;
                let follows = value == expected && extensible && reach(ord.is_sc());
                (fails && reach(fail.is_sc()), follows)
            }
        };
        (reads || follows).then_some(Self {
            write,
            reads,
            follows,
        })
    }
}

impl LocationState {
    /// All stale writes for an access that the thread is about to make, newest first. Empty exactly when
    /// [`LocationState::check`] has nothing to say; otherwise the first is the one that it names.
    pub fn stale(
        &self,
        thread: &ThreadState,
        access: &Access<'_>,
        rules: Rules,
    ) -> Vec<StaleWrite> {
        let lower = [false, true].map(|sc| self.lower_bound(thread, sc, rules));
        let missed = self.sc_bound(thread, rules);
        let older = (0..self.records.len()).filter(|&i| self.timestamp(i) < missed);
        let stale = older.rev().filter_map(|index| {
            let next = self.records.get(index + 1);
            let extensible = next.is_none_or(|next| !next.is_rmw());
            let reach = |sc: bool| self.timestamp(index) >= lower[usize::from(sc)];
            let write = (self.timestamp(index), self.records[index].value);
            StaleWrite::of(write, access, extensible, reach)
        });
        stale.collect()
    }
}
