//! Copies of the process: all locks are taken before and given back after, so that the child finds everything as it is
//! between two operations.

use crate::intercept::{lifetime, locks::annotated, processes};
use crate::system::{ALL_SIGNALS, block_signals};
use crate::upcall::answers;
use crate::{
    abi, allocator, benign, deadlock, descriptor, horizon, journal, location, model, order, output,
    owners, probe, report, sched, shadow, stack, suppress, thread, trail,
};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

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
    row!("sched::places::PLACES" => sched::places::lock),
    row!("sched::lent::THREADS" => sched::lent::lock),
    row!("sched::waits::ARRIVED" => sched::waits::lock),
    row!("sched::meetings::BARRIERS" => sched::meetings::lock),
    row!("sched::scopes::SCOPES" => sched::scopes::lock),
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
    row!("allocator::CLASSES" "allocator::LARGE" "allocator::RESERVE" => allocator::lock_all, allocator::unlock_all),
];

/// Who has all locks: what `pthread_self` says, which is the same in the child; 0 if nobody has.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// How many more forks the owner has begun: a program may tell of a system call that is noticed by itself, too.
static NESTED: AtomicU32 = AtomicU32::new(0);
/// The signals that were blocked before the fork.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

// ORDERING of all three: relaxed; whoever writes them has the locks, and nobody else can take himself for the owner.

/// Takes all locks. Signals wait until they are given back: a handler would find them taken, by its own thread.
fn before_fork() {
    // SAFETY: no arguments.
    let me = unsafe { libc::pthread_self() } as usize;
    if OWNER.load(Ordering::Relaxed) == me {
        NESTED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let blocked = block_signals(ALL_SIGNALS);
    LOCKS.iter().for_each(|row| (row.lock)());
    OWNER.store(me, Ordering::Relaxed);
    BLOCKED.store(blocked, Ordering::Relaxed);
}

/// Gives them back, the last one first: what others need to be unlocked was locked after them. The signals that were blocked before;
/// `None` if the fork is part of another one.
fn after_fork() -> Option<u64> {
    let nested = NESTED.load(Ordering::Relaxed);
    if nested > 0 {
        NESTED.store(nested - 1, Ordering::Relaxed);
        return None;
    }
    OWNER.store(0, Ordering::Relaxed);
    let blocked = BLOCKED.load(Ordering::Relaxed);
    LOCKS.iter().rev().for_each(|row| (row.unlock)());
    Some(blocked)
}

/// In the child: what the parent found is the parent's.
fn in_child() {
    let Some(blocked) = after_fork() else {
        return;
    };
    thread::end_others();
    deadlock::reset();
    descriptor::forget_all();
    sched::end_in_child();
    report::reset_count();
    suppress::reset_count();
    block_signals(blocked);
}

/// In the parent, which may be the last to say so: the child is ended with the run.
fn in_parent() {
    let Some(blocked) = after_fork() else {
        return;
    };
    if sched::active() {
        journal::say(rsan_log::Event::Forked);
    }
    block_signals(blocked);
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

    /// Locks in values. Those of blocks are taken with the slabs; that of a round of a barrier, which has two owners, is held for a
    /// moment by a thread that leaves the barrier, and nobody comes to that round again; a stack of the scheduler is made under
    /// its lock.
    const IN_VALUES: &[&str] = &[
        "location::block::lock",
        "location::sync::round",
        "sched::switch::stack",
        "sync::clock",
    ];

    const TYPES: [&str; 5] = ["Lock<", "RawLock", "Mutex", "OnceLock", "LazyLock"];

    fn has_lock(type_: &str) -> bool {
        TYPES.iter().any(|name| type_.contains(name))
    }

    /// The statics of a file whose type has a lock in it.
    fn statics(source: &Source) -> impl Iterator<Item = String> {
        source.code.split("static ").skip(1).filter_map(|item| {
            let (name, rest) = item.split_once(':')?;
            let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let (type_, _) = rest.split_once('=')?;
            (is_name && has_lock(type_)).then(|| format!("{}::{name}", source.module))
        })
    }

    /// The same for fields of structures.
    fn fields(source: &Source) -> impl Iterator<Item = String> {
        source.code.lines().filter_map(|line| {
            let (name, type_) = line.trim().strip_suffix(',')?.split_once(": ")?;
            let name = name.rsplit(' ').next()?;
            let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let is_type = !type_.contains(['(', '&']) && !type_.contains("Lock::");
            let is_field = is_name && is_type && has_lock(type_);
            is_field.then(|| format!("{}::{name}", source.module))
        })
    }

    fn set<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> BTreeSet<String> {
        names.into_iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_lock_has_a_row() {
        let sources = sources();
        let found: BTreeSet<String> = sources.iter().flat_map(statics).collect();
        let rows = LOCKS.iter().flat_map(|row| row.statics);
        assert_eq!(found, set(rows.chain(MADE_AT_THE_START)));
        let own = |source: &&Source| source.module != "lock";
        let found: BTreeSet<String> = sources.iter().filter(own).flat_map(fields).collect();
        assert_eq!(found, set(IN_VALUES));
    }

    #[test]
    fn locks_are_found_in_whatever_form() {
        let source = Source {
            module: "a".to_owned(),
            code: "pub(super) static B:\n    Lock<u8> = c();\nstatic D: &'static str = \"\";\n"
                .to_owned()
                + "static E: [RawLock; 2] = f();\nstruct G {\n    pub(crate) h: Option<Lock<u8>>,\n    i: u8,\n}\n",
        };
        assert_eq!(statics(&source).collect::<Vec<_>>(), ["a::B", "a::E"]);
        assert_eq!(fields(&source).collect::<Vec<_>>(), ["a::h"]);
    }
}
