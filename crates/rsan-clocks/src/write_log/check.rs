//! The check before an access: one scan of the log, newest write first (docs/theory/write-log.md, W10).
//!
//! The newest write that the thread knows is the oldest in its reach; the newest that every SC order puts
//! before the access must not be missed. The scan looks for a write between the two that suits the access.
//!
//! The oldest record kept is never taken as a missed write, only as a stale one: it is the initial write, or known
//! to every thread, or the log was cut there and nothing is claimed.

use super::location::LocationState;
use super::log::Reader;
use super::rules::Rules;
use super::thread::ThreadState;
use crate::mutation::Mutant;
use crate::{Access, Timestamp};
use rsan_model::{CasStrength, Value};

/// Two writes, by their positions in the modification order, that make an access weak; see [`crate::Violation`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Weakness {
    /// The newest write that every SC order puts before the access.
    pub missed: Timestamp,
    /// The newest older one that the access may take.
    pub stale: Timestamp,
}

/// The orders that an access may turn out to have, as far as a check cares: is it seq_cst when it succeeds,
/// and, for a compare-and-swap, when it fails.
#[derive(Clone, Copy)]
struct Labels {
    sc: bool,
    fail_sc: Option<bool>,
}

impl Labels {
    fn of(access: &Access<'_>, rules: Rules) -> Self {
        let (sc, fail_sc) = match *access {
            Access::Load(ord) | Access::Wait { ord, .. } => (ord.is_sc(), None),
            Access::Store(ord) => (ord.is_sc(), None),
            Access::Rmw(ord) | Access::Bcas { ord, .. } => (ord.is_sc(), None),
            Access::Cas { ord, fail, .. } => (ord.is_sc(), Some(fail.is_sc())),
        };
        let mut labels = Self {
            sc: sc && rules.sc_accesses,
            fail_sc: fail_sc.map(|sc| sc && rules.sc_accesses),
        };
        if rules.breaks(Mutant::CasSharesScBound) {
            labels.sc |= labels.fail_sc == Some(true);
            labels.fail_sc = labels.fail_sc.map(|_| labels.sc);
        }
        if rules.breaks(Mutant::CasFailureUsesSuccessOrder) {
            labels.fail_sc = labels.fail_sc.map(|_| labels.sc);
        }
        labels
    }

    fn all_sc(self, rules: Rules) -> bool {
        let failure = self.fail_sc != Some(false) || rules.breaks(Mutant::ScShortcutIgnoresFailure);
        self.sc && failure
    }
}

impl LocationState {
    /// Whether the access that the thread is about to make can be weak.
    #[inline]
    pub fn check(
        &self,
        thread: &ThreadState,
        access: &Access<'_>,
        rules: Rules,
    ) -> Option<Weakness> {
        if self.is_last_known(thread, rules) {
            debug_assert!(
                rules.mutation.is_some() || self.check_in_full(thread, access, rules).is_none(),
                "a shortcut says what the scan says"
            );
            return None;
        }
        self.check_in_full(thread, access, rules)
    }

    /// Whether the thread knows the last write, so that no access of it can be weak
    /// (docs/theory/shortcuts.md, Q1).
    #[inline]
    pub fn is_last_known(&self, thread: &ThreadState, rules: Rules) -> bool {
        let last = self.last_record().stamp();
        rules.fast_paths && thread.view.hb.get(last.slot) >= last.epoch
    }

    fn check_in_full(
        &self,
        thread: &ThreadState,
        access: &Access<'_>,
        rules: Rules,
    ) -> Option<Weakness> {
        let labels = Labels::of(access, rules);
        if self.is_surely_strong(thread, labels, rules) {
            debug_assert!(
                rules.mutation.is_some() || self.scan(thread, access, labels, rules).is_none(),
                "a shortcut says what the scan says"
            );
            return None;
        }
        let (missed, stale) = self.scan(thread, access, labels, rules)?;
        Some(Weakness {
            missed: self.timestamp(missed),
            stale: self.timestamp(stale),
        })
    }

    /// Common cases: the thread knows the last write by a seq_cst path and uses one (docs/theory/shortcuts.md, Q2), or
    /// everything so far was seq_cst (docs/theory/shortcuts.md, Q8).
    fn is_surely_strong(&self, thread: &ThreadState, labels: Labels, rules: Rules) -> bool {
        let all_sc = labels.all_sc(rules);
        if thread.saturated && all_sc {
            return true;
        }
        if !rules.fast_paths {
            return false;
        }
        let last = self.last_record().by();
        let (slot, epoch) = (last.stamp.slot, last.stamp.epoch);
        let sc_path = all_sc || rules.breaks(Mutant::ScShortcutForAll);
        sc_path && last.sc && thread.view.sc.access.accesses.get(slot) >= epoch
    }

    /// Indices of the missed and of the stale write.
    fn scan(
        &self,
        thread: &ThreadState,
        access: &Access<'_>,
        labels: Labels,
        rules: Rules,
    ) -> Option<(usize, usize)> {
        let implied = |sc: bool| thread.saturated && sc;
        let mut open = !implied(labels.sc);
        let mut fail_open = labels.fail_sc.is_some_and(|sc| !implied(sc));
        let reads = self.records.reads();
        let mut readers = reads.len();
        let mut missed = None;
        for index in (1..self.records.len()).rev() {
            let record = &self.records[index];
            if let Some(missed) = missed
                && self.has_stale_value(access, index, open, fail_open, rules)
            {
                return Some((missed, index));
            }
            let first = self.first_reader(index, readers);
            let known = |sc: bool| {
                let seen = reads[first..readers].iter().map(Reader::by);
                thread.knows(record.by(), sc, rules)
                    || !rules.breaks(Mutant::ReadersIgnored)
                        && seen.into_iter().any(|by| thread.knows(by, sc, rules))
            };
            open = open && !known(labels.sc);
            fail_open = fail_open && labels.fail_sc.is_some_and(|sc| !known(sc));
            readers = first;
            if !open && !fail_open {
                return None;
            }
            if missed.is_none() && rules.includes(&thread.sc_past, record.stamp()) {
                missed = Some(index);
            }
            let fits = match *access {
                Access::Load(_) => true,
                Access::Store(_) | Access::Rmw(_) => {
                    !record.is_rmw() || rules.breaks(Mutant::WritesIgnoreBlocks)
                }
                Access::Cas { strength, .. } => strength == CasStrength::Weak && fail_open,
                Access::Wait { .. } | Access::Bcas { .. } => false,
            };
            if let (Some(missed), true) = (missed, fits) {
                return Some((missed, index - 1));
            }
        }
        let missed = missed?;
        let stale = self.has_stale_value(access, 0, open, fail_open, rules);
        stale.then_some((missed, 0))
    }

    /// Whether the value of a record, which is older than a missed write, makes the access weak.
    fn has_stale_value(
        &self,
        access: &Access<'_>,
        index: usize,
        open: bool,
        fail_open: bool,
        rules: Rules,
    ) -> bool {
        let value = self.records[index].value;
        let next = self.records.get(index + 1);
        let extensible =
            next.is_none_or(|next| !next.is_rmw()) || rules.breaks(Mutant::ValuesIgnoreBlocks);
        let succeeds = |expected: Value| open && value == expected && extensible;
        match *access {
            Access::Load(_) | Access::Store(_) | Access::Rmw(_) => false,
            Access::Wait { values, .. } => values.contains(&value),
            Access::Bcas { expected, .. } => succeeds(expected),
            Access::Cas {
                expected,
                strength: CasStrength::Weak,
                ..
            } => succeeds(expected),
            Access::Cas {
                expected,
                strength: CasStrength::Strong,
                ..
            } => succeeds(expected) || fail_open && value != expected,
        }
    }

    /// Where the reader entries of a record begin, which end at `end`.
    fn first_reader(&self, index: usize, end: usize) -> usize {
        let write = self.timestamp(index);
        let entries = self.records.reads()[..end].iter().rev();
        end - entries.take_while(|read| read.write == write).count()
    }

    /// The oldest write in the reach of an access that is seq_cst or not.
    pub fn lower_bound(&self, thread: &ThreadState, sc: bool, rules: Rules) -> Timestamp {
        let sc = sc && rules.sc_accesses;
        let knows = |by| thread.knows(by, sc, rules);
        self.newest_known(knows)
    }

    /// The newest write with an observation that `knows` accepts.
    pub(super) fn newest_known(&self, knows: impl Fn(super::Observation) -> bool) -> Timestamp {
        let reads = self.records.reads();
        let mut readers = reads.len();
        for index in (1..self.records.len()).rev() {
            let first = self.first_reader(index, readers);
            let seen = reads[first..readers].iter().map(Reader::by);
            if knows(self.records[index].by()) || seen.into_iter().any(&knows) {
                return self.timestamp(index);
            }
            readers = first;
        }
        self.timestamp(0)
    }

    /// The newest write that every SC order puts before the thread's next event.
    pub fn sc_bound(&self, thread: &ThreadState, rules: Rules) -> Timestamp {
        let ordered = |&i: &usize| rules.includes(&thread.sc_past, self.records[i].stamp());
        let index = (1..self.records.len()).rev().find(ordered);
        self.timestamp(index.unwrap_or(0))
    }
}
