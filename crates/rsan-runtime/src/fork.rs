//! Copies of the process: all locks are taken before and given back after, so that the child finds everything as it is
//! between two operations.

use crate::intercept::{lifetime, locks::annotated, processes};
use crate::upcall::answers;
use crate::{
    abi, allocator, benign, deadlock, descriptor, horizon, journal, location, model, order, output,
    owners, probe, report, sched, shadow, stack, suppress, thread, trail,
};

/// Locks that are taken and given back together.
struct Row {
    /// Which statics they are in: `module::NAME`. A test compares these with the sources.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test"))]
    statics: &'static [&'static str],
    lock: fn(),
    unlock: fn(),
}

/// A row for a function that returns a lock, and one for a function that returns several.
macro_rules! row {
    ($($name:literal)+ => $locks:path) => {
        Row {
            statics: &[$($name),+],
            lock: || $locks().lock(),
            unlock: || $locks().unlock(),
        }
    };
    ($($name:literal)+ => each $locks:path) => {
        Row {
            statics: &[$($name),+],
            lock: || $locks().iter().for_each(|lock| lock.lock()),
            unlock: || $locks().iter().for_each(|lock| lock.unlock()),
        }
    };
    ($($name:literal)+ => $lock:path, $unlock:path) => {
        Row {
            statics: &[$($name),+],
            lock: $lock,
            unlock: $unlock,
        }
    };
}

/// All locks, in the order in which they are taken everywhere.
const LOCKS: &[Row] = &[
    row!("abi::libatomic::BY_ADDRESS" => each abi::libatomic::locks),
    row!("sched::STATE" => sched::lock),
    row!("sched::lent::THREADS" => sched::lent::lock),
    row!("sched::waits::ARRIVED" => sched::waits::lock),
    row!("deadlock::TABLE" => deadlock::lock),
    row!("intercept::lifetime::KEPT" => lifetime::lock),
    row!("thread::registry::REGISTRY" => thread::registry_lock),
    row!("report::REPORTED" "report::OUTPUT" "report::UNDECIDED" => each report::locks),
    row!("output::OUTPUT" => output::lock),
    row!("suppress::FUNCTIONS" => suppress::lock),
    row!("journal::JOURNAL" => journal::lock),
    row!("probe::sites::SITES" => probe::lock),
    row!("benign::RANGES" => benign::lock),
    row!("intercept::locks::annotated::LOCKS" => annotated::lock),
    row!("location::slabs::SLABS" => location::lock_all, location::unlock_all),
    row!("order::GRAPH" => order::lock),
    row!("model::RESERVED" => model::lock),
    row!("stack::contexts::CONTEXTS" => stack::contexts_lock),
    row!("trail::RINGS" => trail::lock),
    row!("owners::ALL" => owners::lock),
    row!("stack::SPARE" => stack::spare_lock),
    row!("horizon::LIVE" => horizon::lock),
    row!("probe::exact::RELIED_ON" => probe::exact::lock),
    row!("location::messages::MESSAGES" => location::messages::lock),
    row!("shadow::kept::KEPT" => shadow::kept_lock),
    row!("allocator::CLASSES" "allocator::RESERVE" => allocator::lock_all, allocator::unlock_all),
];

/// Takes all locks.
fn before_fork() {
    LOCKS.iter().for_each(|row| (row.lock)());
}

/// Gives them back, the last one first: what others need to be unlocked was locked after them.
fn after_fork() {
    LOCKS.iter().rev().for_each(|row| (row.unlock)());
}

/// In the child: what the parent found is the parent's.
fn in_child() {
    after_fork();
    thread::end_others();
    deadlock::reset();
    descriptor::forget_all();
    sched::end_in_child();
    report::reset_count();
    suppress::reset_count();
}

/// In the parent, which may be the last to say so: the child is ended with the run.
fn in_parent() {
    after_fork();
    if sched::active() {
        journal::say(rsan_log::Event::Forked);
    }
}

answers! {
    "rsan_up_before_fork" processes::before_fork => before_fork;
    "rsan_up_in_child" processes::in_child => in_child;
    "rsan_up_in_parent" processes::in_parent => in_parent;
}

/// Lets libc tell of its own forks; false if it cannot.
pub(crate) fn start() -> bool {
    extern "C" fn before() {
        before_fork();
    }
    extern "C" fn parent() {
        in_parent();
    }
    extern "C" fn child() {
        in_child();
    }
    // SAFETY: a plain registration of functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{Source, sources};
    use std::collections::BTreeSet;

    /// Statics with a lock of the standard library, which is held while a value is made: none of them is made after the start.
    const MADE_AT_THE_START: &[&str] = &[
        "modules::EXECUTABLE",
        "real::ELSEWHERE",
        "sched::views::MARKS",
    ];

    const TYPES: [&str; 6] = [
        "Lock<", "RawLock", "Mutex", "RwLock", "OnceLock", "LazyLock",
    ];

    /// The statics of a file whose type has a lock in it.
    fn statics(source: &Source) -> impl Iterator<Item = String> {
        source.code.lines().filter_map(|line| {
            let (_, item) = line.split_once("static ")?;
            let (name, rest) = item.split_once(": ")?;
            let type_ = rest.split(" = ").next()?;
            let has_lock = TYPES.iter().any(|name| type_.contains(name));
            has_lock.then(|| format!("{}::{name}", source.module))
        })
    }

    #[test]
    fn every_lock_has_a_row() {
        let found: BTreeSet<String> = sources().iter().flat_map(statics).collect();
        let rows = LOCKS.iter().flat_map(|row| row.statics);
        let known: BTreeSet<String> = rows
            .chain(MADE_AT_THE_START)
            .map(|name| (*name).to_owned())
            .collect();
        assert_eq!(found, known);
    }
}
