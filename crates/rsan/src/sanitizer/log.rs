//! What a run's processes logged: one JSON line per finding, in the form that the runtime documents in its `report`
//! module. The same finding of several runs is one.

use rsan_report::document::Process;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A finding as logged.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Logged {
    /// Two accesses race.
    Race {
        address: String,
        size: u64,
        memory: Option<Memory>,
        access: Side,
        earlier: Side,
    },
    /// An access can be weak.
    Violation {
        address: String,
        size: u64,
        memory: Option<Memory>,
        access: Side,
        missed: Box<Side>,
        stale: Box<Side>,
        /// What the program does with the old value, if that was asked.
        wait: Option<String>,
        chain: Option<Chain>,
    },
    /// Memory is used after its end, or a lock wrongly.
    Misuse {
        address: String,
        size: u64,
        memory: Option<Memory>,
        access: Side,
        /// What makes it wrong: the free, the destruction...
        earlier: Option<Side>,
        /// Its name.
        what: Misuse,
        /// What the name does not say.
        text: Option<String>,
    },
    /// Threads wait for ever.
    Deadlock {
        /// For each other; otherwise every thread waits.
        #[serde(default)]
        cycle: bool,
        threads: Vec<Waiting>,
    },
    /// Locks are taken in orders that can end in a deadlock.
    Inversion {
        address: String,
        memory: Option<Memory>,
        /// Each is taken while the one before it is held, and the first one while the last is.
        locks: Vec<Taken>,
    },
}

/// A lock that was taken while another one was held.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Taken {
    #[serde(flatten)]
    pub(crate) side: Side,
    pub(crate) address: String,
    pub(crate) memory: Option<Memory>,
}

/// A lock that a thread has.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Held {
    pub(crate) address: String,
    pub(crate) memory: Option<Memory>,
    /// `read` or `write`.
    pub(crate) mode: String,
    /// Where it was taken.
    pub(crate) stack: Vec<Address>,
}

/// How memory or a lock is misused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Misuse {
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    UseAfterReturn,
    #[serde(rename = "descriptor-race")]
    Descriptor,
    SignalUnsafeCall,
    SignalErrno,
    #[serde(rename = "lock-misuse")]
    Lock,
    ThreadLeak,
}

/// A thread that waits for ever.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) thread: u32,
    #[serde(default)]
    pub(crate) name: Option<String>,
    pub(crate) operation: String,
    /// The thread whose end it waits for.
    pub(crate) joins: Option<u32>,
    /// Who has the lock that it waits for.
    #[serde(default)]
    pub(crate) held_by: Option<u32>,
    #[serde(default)]
    pub(crate) holds: Vec<Held>,
    /// What it waits for otherwise.
    pub(crate) memory: Option<Memory>,
    /// Innermost first.
    pub(crate) stack: Vec<Address>,
}

/// The accesses that force the order of a violation.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chain {
    /// All fences between the accesses are among the links.
    pub(crate) fences_known: bool,
    pub(crate) links: Vec<Link>,
}

/// A step of a chain.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Link {
    pub(crate) thread: u32,
    pub(crate) operation: String,
    pub(crate) order: String,
    pub(crate) address: Option<String>,
    pub(crate) memory: Option<Memory>,
    pub(crate) stack: Vec<Address>,
    pub(crate) edge: Option<String>,
}

/// What is at an address.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Memory {
    /// A variable: a module and an address in its file.
    Global { module: String, offset: String },
    /// A block of the allocator.
    Heap {
        start: String,
        size: u64,
        allocated: Option<Context>,
        freed: Option<Context>,
    },
    /// The stack of a thread.
    Stack { thread: u32 },
    /// A file descriptor.
    Descriptor {
        number: u64,
        created: Option<Context>,
    },
    /// Thread-local storage.
    Tls { thread: u32 },
}

/// Who did something with a block, and where.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Context {
    pub(crate) thread: u32,
    pub(crate) stack: Vec<Address>,
}

/// An access.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Side {
    /// None for the initial value.
    pub(crate) thread: Option<u32>,
    /// What the program calls the thread.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Where the thread was created.
    pub(crate) created: Option<Vec<Address>>,
    pub(crate) operation: String,
    pub(crate) order: Option<String>,
    pub(crate) value: Option<String>,
    /// The function of libc that makes it.
    pub(crate) function: Option<String>,
    /// Innermost first.
    pub(crate) stack: Vec<Address>,
    /// The locks that the thread had, if that is known.
    #[serde(default)]
    pub(crate) held: Option<Vec<Held>>,
    /// Where the thread slept between the other access and this one.
    #[serde(default)]
    pub(crate) slept: Option<Vec<Address>>,
}

/// An instruction: a module and an address in its file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) module: Option<String>,
    pub(crate) offset: String,
}

/// What makes findings distinct: the kind and the two instructions, or those at which threads wait.
type Key = (u8, Vec<Option<Address>>);

/// The kind of inversions in a [`Key`]: after all misuses.
const INVERSION: u8 = 100;

impl Logged {
    /// How much a finding says: whether the value tells, and whether the order is explained.
    fn content(&self) -> (bool, bool) {
        let chain = matches!(self, Self::Violation { chain: Some(_), .. });
        (!self.is_of_same_value(), chain)
    }

    /// Whether a load may read an older write, but of the value that it reads anyway.
    pub(crate) fn is_of_same_value(&self) -> bool {
        match self {
            Self::Race { .. }
            | Self::Deadlock { .. }
            | Self::Inversion { .. }
            | Self::Misuse { .. } => false,
            Self::Violation { access, stale, .. } => {
                access.operation == "load" && access.value.is_some() && access.value == stale.value
            }
        }
    }

    fn key(&self) -> Key {
        let place = |side: &Side| side.stack.first().cloned();
        match self {
            Self::Race {
                access, earlier, ..
            } => {
                let (a, b) = (place(access), place(earlier));
                (0, vec![a.clone().min(b.clone()), a.max(b)])
            }
            Self::Violation { access, missed, .. } => (1, vec![place(access), place(missed)]),
            Self::Misuse {
                access,
                earlier,
                what,
                ..
            } => {
                let earlier = earlier.as_ref().and_then(place);
                (3 + *what as u8, vec![place(access), earlier])
            }
            Self::Deadlock { threads, .. } => {
                let stacks = threads.iter().map(|waiting| waiting.stack.first().cloned());
                (2, stacks.collect())
            }
            Self::Inversion { locks, .. } => {
                let mut places: Vec<_> = locks.iter().map(|taken| place(&taken.side)).collect();
                places.sort();
                (INVERSION, places)
            }
        }
    }
}

/// Who wrote a line.
#[derive(Deserialize)]
struct Writer {
    pid: Option<u32>,
}

/// A distinct finding.
pub(crate) struct Distinct {
    pub(crate) logged: Logged,
    /// The runs that had it.
    pub(crate) runs: BTreeSet<usize>,
    /// The process that showed what is kept of it.
    pub(crate) process: Option<Process>,
}

/// The distinct findings of all runs.
#[derive(Default)]
pub(crate) struct Findings {
    found: BTreeMap<Key, Distinct>,
    /// The command lines of the processes of the run that is added next.
    commands: BTreeMap<u32, String>,
    /// Lines that could not be read.
    pub(crate) unreadable: usize,
}

impl Findings {
    /// Adds the log of a run, and says whether something in it is new. A process that was killed may have left its last
    /// line incomplete.
    pub(crate) fn add(&mut self, run: usize, log: &str) -> bool {
        let before = self.found.len();
        for line in log.lines() {
            match serde_json::from_str::<Logged>(line) {
                Ok(logged) => {
                    let process = self.writer(line);
                    let entry = self.found.entry(logged.key());
                    let known = entry.or_insert_with(|| Distinct {
                        logged: logged.clone(),
                        runs: BTreeSet::new(),
                        process: process.clone(),
                    });
                    if logged.content() > known.logged.content() {
                        known.logged = logged;
                        known.process = process;
                    }
                    known.runs.insert(run);
                }
                Err(_) => self.unreadable += 1,
            }
        }
        self.found.len() > before
    }

    /// Says what the processes of the run are that is added next.
    pub(crate) fn know(&mut self, commands: BTreeMap<u32, String>) {
        self.commands = commands;
    }

    /// The process that wrote a line.
    fn writer(&self, line: &str) -> Option<Process> {
        let pid = serde_json::from_str::<Writer>(line).ok()?.pid?;
        let command = self.commands.get(&pid).cloned();
        Some(Process { pid, command })
    }

    /// The findings, in an order that does not depend on the runs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Distinct> {
        self.found.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(first: &str, second: &str) -> String {
        let side = |offset: &str| {
            format!(
                r#"{{"thread":1,"created":null,"operation":"write","order":null,"value":null,"stack":[{{"module":"m","offset":"{offset}"}}]}}"#
            )
        };
        format!(
            r#"{{"schema":"rsan-runtime/1","pid":1,"kind":"race","address":"0x1","size":4,"access":{},"earlier":{}}}"#,
            side(first),
            side(second)
        )
    }

    #[test]
    fn the_same_pair_is_one_finding_whatever_its_order() {
        let mut findings = Findings::default();
        findings.add(
            0,
            &format!("{}\n{}\n", race("0x1", "0x2"), race("0x1", "0x2")),
        );
        findings.add(1, &race("0x2", "0x1"));
        findings.add(2, &race("0x2", "0x3"));
        let runs: Vec<_> = findings.iter().map(|found| found.runs.len()).collect();
        assert_eq!((runs, findings.unreadable), (vec![2, 1], 0));
    }

    #[test]
    fn an_incomplete_line_is_counted() {
        let mut findings = Findings::default();
        findings.add(0, &format!("{}\n{{\"kind\":\"ra", race("0x1", "0x2")));
        assert_eq!((findings.iter().count(), findings.unreadable), (1, 1));
    }
}
