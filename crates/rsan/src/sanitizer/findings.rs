//! Findings with functions, lines and names. The document has the form of `rsan/1` (docs/json.md); what only the
//! sanitizer knows is in `memory` and `accesses`.
//!
//! The same two places in the source are one finding, whatever the instructions, the runs and the threads.

use super::chain::{self, Link, Repair};
use super::log::{
    self, Distinct, Findings, Held, Logged, Misuse as Freed, Process, Side, Taken, Waiting,
};
use super::memory::Memory;
use super::misuse;
use super::names::Names;
use super::sentence;
use super::symbols::{Frame, Symbols, place_of};
use rsan_model::Model;
use serde::Serialize;
use std::collections::BTreeSet;

/// A finding with its stacks as functions and lines.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    /// `weak-behaviour`, `data-race`, `deadlock`, `lock-order-inversion`, or the name of a misuse of memory, a lock or a thread.
    pub(super) kind: &'static str,
    pub(super) property: &'static str,
    pub(super) message: String,
    pub(super) thread: Option<String>,
    pub(super) location: Option<Location>,
    /// In how many runs it was found.
    pub(super) runs: usize,
    /// Not for deadlocks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) address: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) size: u64,
    pub(super) memory: Option<Memory>,
    pub(super) accesses: Vec<Access>,
    /// Weak behaviours: what the program does with the old value, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wait: Option<String>,
    /// Weak behaviours: the old value is the one that is read anyway.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) same_value: bool,
    /// Weak behaviours: what forces the order, the missed write first; null if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chain: Option<Vec<Link>>,
    /// The smallest change that forbids the outcome in this shape of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repair: Option<Repair>,
    /// The first run that showed it, if the schedule was ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schedule: Option<Recorded>,
    /// Who showed it, if the program has several processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<Process>,
    #[serde(skip)]
    in_runs: BTreeSet<usize>,
}

/// A run that can be made again.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Recorded {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    pub(super) file: String,
    #[serde(skip)]
    pub(super) command: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize)]
pub(super) struct Location {
    pub(super) file: String,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

/// An access of a finding.
#[derive(Debug, Serialize)]
pub(super) struct Access {
    /// `access` (the one that was about to be made), `earlier`, `missed`, `stale`, `waiting` or `lock`.
    pub(super) role: &'static str,
    pub(super) thread: Option<String>,
    /// What the program calls the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) operation: String,
    pub(super) order: Option<String>,
    pub(super) value: Option<String>,
    pub(super) stack: Vec<Frame>,
    /// Where its thread was created.
    pub(super) created: Option<Vec<Frame>>,
    /// What a thread of a deadlock waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waits_for: Option<String>,
    /// Who has the lock that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held_by: Option<String>,
    /// The lock that is taken, in an inversion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lock: Option<String>,
    /// The locks that its thread had, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<Vec<HeldLock>>,
    /// Where its thread slept between the other access of a race and this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) slept: Option<Vec<Frame>>,
}

/// A lock that a thread has.
#[derive(Debug, Serialize)]
pub(super) struct HeldLock {
    pub(super) lock: String,
    /// `read` or `write`.
    pub(super) mode: String,
    /// Where it was taken.
    pub(super) stack: Vec<Frame>,
}

impl HeldLock {
    fn new(held: &Held, resolver: &mut Resolver) -> Self {
        Self {
            lock: place_name(held.memory.as_ref(), &held.address, resolver),
            mode: held.mode.clone(),
            stack: resolver.symbols.stack(&held.stack),
        }
    }

    /// `` `m` taken at file:line``
    pub(super) fn text(&self) -> String {
        let read = if self.mode == "read" { " (read)" } else { "" };
        let place = place_of(&self.stack).and_then(Frame::place);
        let at = place.map_or(String::new(), |place| format!(" taken at {place}"));
        format!("{}{read}{at}", self.lock)
    }
}

/// What people call the memory at an address.
fn place_name(memory: Option<&log::Memory>, address: &str, resolver: &mut Resolver) -> String {
    let memory = memory.map(|memory| Memory::new(memory, address, resolver).place(address));
    memory.unwrap_or_else(|| address.to_owned())
}

/// How a thread is named.
pub(super) fn thread_name(thread: u32) -> String {
    match thread {
        0 => "main thread".to_owned(),
        other => format!("thread {other}"),
    }
}

impl Access {
    fn new(role: &'static str, side: &Side, resolver: &mut Resolver) -> Self {
        let held = side.held.as_ref().map(|all| held_locks(all, resolver));
        let symbols = &mut resolver.symbols;
        Self {
            role,
            thread: side.thread.map(thread_name),
            name: side.name.clone(),
            operation: side.operation.clone(),
            order: side.order.clone(),
            value: side.value.clone(),
            stack: Frame::of_libc(side.function.as_deref())
                .into_iter()
                .chain(symbols.stack(&side.stack))
                .collect(),
            created: side.created.as_ref().map(|stack| symbols.stack(stack)),
            waits_for: None,
            held_by: None,
            lock: None,
            held,
            slept: side.slept.as_ref().map(|stack| symbols.stack(stack)),
        }
    }

    /// A thread of a deadlock.
    fn waiting(waiting: &Waiting, resolver: &mut Resolver) -> Self {
        let memory = waiting.memory.as_ref();
        let memory = memory.map(|memory| Memory::new(memory, "memory", resolver).place("memory"));
        let joins = waiting.joins;
        Self {
            role: "waiting",
            thread: Some(thread_name(waiting.thread)),
            name: waiting.name.clone(),
            operation: waiting.operation.clone(),
            order: None,
            value: None,
            stack: resolver.symbols.stack(&waiting.stack),
            created: None,
            waits_for: joins
                .map(|thread| format!("the end of {}", thread_name(thread)))
                .or(memory),
            held_by: waiting.held_by.map(thread_name),
            lock: None,
            held: Some(held_locks(&waiting.holds, resolver)),
            slept: None,
        }
    }

    /// A lock that was taken while another one was held.
    fn taken(taken: &Taken, resolver: &mut Resolver) -> Self {
        let lock = place_name(taken.memory.as_ref(), &taken.address, resolver);
        Self {
            lock: Some(lock),
            ..Self::new("lock", &taken.side, resolver)
        }
    }

    /// The thread, with the name that the program has for it.
    pub(super) fn who(&self) -> Option<String> {
        let thread = self.thread.as_ref()?;
        Some(match &self.name {
            Some(name) => format!("{thread} '{name}'"),
            None => thread.clone(),
        })
    }

    fn location(&self) -> Option<Location> {
        let frame = place_of(&self.stack)?;
        Some(Location {
            file: frame.file.clone()?,
            line: frame.line,
            column: frame.column,
        })
    }

    /// `file:line`, if known.
    pub(super) fn place(&self) -> Option<String> {
        place_of(&self.stack).and_then(Frame::place)
    }
}

fn held_locks(all: &[Held], resolver: &mut Resolver) -> Vec<HeldLock> {
    all.iter()
        .map(|held| HeldLock::new(held, resolver))
        .collect()
}

/// What is needed to show addresses as something that people know.
#[derive(Default)]
pub(super) struct Resolver {
    pub(super) symbols: Symbols,
    pub(super) names: Names,
    model: Option<Model>,
}

impl Finding {
    fn new(logged: &Logged, runs: &BTreeSet<usize>, resolver: &mut Resolver) -> Self {
        let (kind, property, common, accesses) = match logged {
            Logged::Race {
                address,
                size,
                memory,
                access,
                earlier,
                ..
            } => {
                let accesses = vec![("access", access), ("earlier", earlier)];
                let common = (address, size, memory);
                ("data-race", "race-freedom", common, accesses)
            }
            Logged::Violation {
                address,
                size,
                memory,
                access,
                missed,
                stale,
                ..
            } => {
                let accesses = vec![
                    ("access", access),
                    ("missed", &**missed),
                    ("stale", &**stale),
                ];
                let common = (address, size, memory);
                ("weak-behaviour", "robustness", common, accesses)
            }
            Logged::Misuse {
                address,
                size,
                memory,
                access,
                earlier,
                what,
                ..
            } => {
                let earlier = earlier.as_ref().map(|side| ("earlier", side));
                let accesses = std::iter::once(("access", access)).chain(earlier);
                let (kind, property) = misuse::names(*what);
                let common = (address, size, memory);
                (kind, property, common, accesses.collect())
            }
            Logged::Deadlock { cycle, threads } => {
                return Self::deadlock(*cycle, threads, runs, resolver);
            }
            Logged::Inversion {
                address,
                memory,
                locks,
            } => return Self::inversion((address, memory.as_ref()), locks, runs, resolver),
        };
        let (address, size, memory) = common;
        let memory = memory
            .as_ref()
            .map(|memory| Memory::new(memory, address, resolver));
        let mut accesses: Vec<_> = accesses
            .into_iter()
            .map(|(role, side)| Access::new(role, side, resolver))
            .collect();
        if let Some(memory) = &memory {
            for value in accesses
                .iter_mut()
                .filter_map(|access| access.value.as_mut())
            {
                *value = memory.value(value, *size);
            }
        }
        let (wait, logged_chain) = match logged {
            Logged::Violation { wait, chain, .. } => (wait.clone(), chain.as_ref()),
            Logged::Race { chain, .. } => (None, chain.as_ref()),
            _ => (None, None),
        };
        let links = logged_chain.map(|chain| chain::links(chain, resolver));
        let repair = logged_chain.zip(links.as_ref());
        let model = resolver.model.unwrap_or(Model::C20);
        let repair = repair.and_then(|(chain, links)| match logged {
            Logged::Race { .. } => chain::order_race(chain, links),
            _ => chain::repair(chain, links, model),
        });
        Self {
            kind,
            property,
            message: match logged {
                Logged::Misuse { what, text, .. } => {
                    let place = memory.as_ref().map(|memory| match what {
                        Freed::DoubleFree => memory.whole(address),
                        _ => memory.place(address),
                    });
                    let place = place.unwrap_or_else(|| address.clone());
                    misuse::message(*what, text.as_deref(), &accesses, &place)
                }
                _ => sentence::message(
                    &accesses,
                    logged.is_of_same_value(),
                    memory.as_ref(),
                    address,
                ),
            },
            thread: accesses[0].thread.clone(),
            location: accesses[0].location(),
            runs: runs.len(),
            address: match address.as_str() {
                "0x0" => String::new(),
                known => known.to_owned(),
            },
            size: *size,
            memory,
            accesses,
            wait,
            same_value: logged.is_of_same_value(),
            chain: links,
            repair,
            schedule: None,
            process: None,
            in_runs: runs.clone(),
        }
    }

    fn deadlock(
        cycle: bool,
        threads: &[Waiting],
        runs: &BTreeSet<usize>,
        resolver: &mut Resolver,
    ) -> Self {
        let threads = threads.iter();
        let accesses = threads.map(|waiting| Access::waiting(waiting, resolver));
        let message = match cycle {
            true => "threads wait for each other",
            false => "every thread waits",
        };
        Self::of_threads("deadlock", message.to_owned(), accesses.collect(), runs)
    }

    fn inversion(
        (address, memory): (&str, Option<&log::Memory>),
        locks: &[Taken],
        runs: &BTreeSet<usize>,
        resolver: &mut Resolver,
    ) -> Self {
        let memory = memory.map(|memory| Memory::new(memory, address, resolver));
        let locks = locks.iter().map(|taken| Access::taken(taken, resolver));
        let locks: Vec<_> = locks.collect();
        let message = sentence::inversion(&locks);
        Self {
            thread: locks.first().and_then(|lock| lock.thread.clone()),
            address: address.to_owned(),
            memory,
            ..Self::of_threads("lock-order-inversion", message, locks, runs)
        }
    }

    /// A finding about threads, not about an access to memory.
    fn of_threads(
        kind: &'static str,
        message: String,
        accesses: Vec<Access>,
        runs: &BTreeSet<usize>,
    ) -> Self {
        Self {
            kind,
            property: "deadlock-freedom",
            message,
            thread: None,
            location: accesses.first().and_then(Access::location),
            runs: runs.len(),
            address: String::new(),
            size: 0,
            memory: None,
            accesses,
            wait: None,
            same_value: false,
            chain: None,
            repair: None,
            schedule: None,
            process: None,
            in_runs: runs.clone(),
        }
    }

    /// Whether this is a data race.
    pub(crate) fn is_race(&self) -> bool {
        self.kind == "data-race"
    }

    /// Whether a descriptor is closed without an order.
    pub(super) fn is_of_descriptor(&self) -> bool {
        self.kind == "descriptor-race"
    }

    /// Whether every thread waits.
    pub(crate) fn is_deadlock(&self) -> bool {
        self.kind == "deadlock"
    }

    /// Whether locks are taken in orders that can end in a deadlock.
    pub(crate) fn is_inversion(&self) -> bool {
        self.kind == "lock-order-inversion"
    }

    /// Whether an access can be weak.
    pub(crate) fn is_weak(&self) -> bool {
        self.kind == "weak-behaviour"
    }

    /// The first run that had it.
    pub(super) fn first_run(&self) -> usize {
        self.in_runs.first().copied().unwrap_or_default()
    }

    /// What it is, in a form that other builds of the same source have in common.
    pub(super) fn label(&self) -> String {
        let places = self.places().unwrap_or_default();
        format!("{} {}", self.kind, places.join(" "))
    }

    /// The stacks of its accesses.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &[Frame]> {
        self.accesses.iter().map(|access| access.stack.as_slice())
    }

    /// The name of the variable that it is about.
    pub(crate) fn variable(&self) -> Option<&str> {
        match self.memory.as_ref()? {
            Memory::Variable { name, .. } => name.as_deref(),
            Memory::Heap { .. }
            | Memory::Stack { .. }
            | Memory::ThreadLocal { .. }
            | Memory::Descriptor { .. } => None,
        }
    }

    /// The places of its first two accesses, or of all threads that wait, as far as they are known; those of a weak behaviour in
    /// their order.
    fn known_places(&self) -> Vec<Option<String>> {
        let of_all = self.is_deadlock() || self.is_inversion();
        let count = match of_all {
            true => self.accesses.len(),
            false => 2,
        };
        let places = self.accesses.iter().take(count).map(Access::place);
        let mut places: Vec<_> = places.collect();
        if self.is_race() || self.is_of_descriptor() || of_all {
            places.sort();
        }
        places
    }

    /// The same if all are known.
    fn places(&self) -> Option<Vec<String>> {
        self.known_places().into_iter().collect()
    }

    /// Whether it is a race with an access whose record was overwritten.
    fn lacks_a_place(&self) -> bool {
        self.is_race() && self.accesses.iter().any(|access| access.stack.is_empty())
    }

    /// Takes over the runs of the same finding, and shows the one of which more is known.
    fn merge(&mut self, mut other: Self) {
        let known = |finding: &Self| {
            let explained = (finding.repair.is_some(), finding.chain.is_some());
            (!finding.lacks_a_place(), !finding.same_value, explained)
        };
        if known(&other) > known(self) {
            std::mem::swap(self, &mut other);
        }
        self.in_runs.append(&mut other.in_runs);
        self.runs = self.in_runs.len();
    }

    /// Whether two findings are one: of the same kind, at the same places. A race that lacks a place is the same as one about the
    /// same memory that has the other place.
    fn is_same(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        if !self.lacks_a_place() && !other.lacks_a_place() {
            return self.places().is_some_and(|p| Some(p) == other.places());
        }
        let (mine, theirs) = (self.known_places(), other.known_places());
        let mut known = mine.iter().flatten();
        self.variable() == other.variable()
            && known.any(|place| theirs.contains(&Some(place.clone())))
    }
}

/// Every distinct finding against a model, with its stacks.
pub(crate) fn findings(logged: &Findings, model: Model) -> Vec<Finding> {
    let mut resolver = Resolver {
        model: Some(model),
        ..Resolver::default()
    };
    let found = logged.iter();
    let found = found.map(|distinct| {
        let Distinct {
            logged,
            runs,
            process,
        } = distinct;
        let mut finding = Finding::new(logged, runs, &mut resolver);
        finding.process = process.clone();
        finding
    });
    merged(found.collect())
}

/// Each finding once.
fn merged(mut found: Vec<Finding>) -> Vec<Finding> {
    // The complete ones first, so that the others find them.
    found.sort_by_key(Finding::lacks_a_place);
    let mut all: Vec<Finding> = Vec::new();
    for finding in found {
        match all.iter_mut().find(|known| known.is_same(&finding)) {
            Some(known) => known.merge(finding),
            None => all.push(finding),
        }
    }
    all.sort_by_key(|finding| finding.same_value);
    all
}

#[cfg(test)]
mod tests;
