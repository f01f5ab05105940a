//! The log of a run, read: what its processes say of themselves, and their findings.

use rsan_log::{Address, Entry, Event, Failure, Finding, Line, Memory, Side, Stack};
use rsan_model::Model;
use rsan_report::document::Process;
use std::collections::{BTreeMap, BTreeSet};

/// A log, read.
#[derive(Default)]
pub(crate) struct Record {
    /// Processes that ran with the runtime.
    pub(crate) processes: BTreeSet<u32>,
    /// Why the runtime ended a process: the first one.
    pub(crate) fatal: Option<Fatal>,
    /// How the program failed, as far as it could say: its first process, if several ran.
    pub(crate) failed: Option<Failure<'static>>,
    /// What the first process was judged by.
    pub(crate) model: Option<Model>,
    /// Findings that the runtime left out.
    pub(crate) suppressed: usize,
    /// Modules that are not instrumented, of processes with a race.
    pub(crate) foreign: BTreeSet<String>,
    /// Whether a process under controlled scheduling made another one.
    pub(crate) forked: bool,
    /// Stale reads of a weak run that explains them.
    pub(crate) stale: Vec<StaleRead>,
    /// Accesses of a weak run that explains itself.
    pub(crate) accesses: Vec<Accessed>,
    /// Why this run is no part of a proof.
    pub(crate) undecided: Vec<Undecided>,
    /// Where a thread was that did not do what was planned, innermost first.
    pub(crate) diverged: Stack<'static>,
    pub(crate) findings: Vec<Logged>,
    /// Lines that could not be read: a process that was killed may have left its last line incomplete.
    pub(crate) unreadable: usize,
}

/// A finding of a process.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) process: Process,
    pub(crate) finding: Finding<'static>,
    /// Steps of the run until then, under controlled scheduling.
    pub(crate) step: Option<u64>,
}

/// A read of a weak run that did not read the last write.
#[derive(Debug)]
pub(crate) struct StaleRead {
    /// Steps of the run before it.
    pub(crate) step: u64,
    pub(crate) address: Address,
    /// In bytes.
    pub(crate) size: u64,
    pub(crate) memory: Option<Memory<'static>>,
    pub(crate) access: Side<'static>,
    /// The write that it read.
    pub(crate) read: Side<'static>,
    /// The last one that it could have read.
    pub(crate) last: Side<'static>,
}

/// An atomic access, or a fence, of a weak run.
#[derive(Debug)]
pub(crate) struct Accessed {
    /// Steps of the run before it.
    pub(crate) step: u64,
    pub(crate) memory: Option<Memory<'static>>,
    /// Where, innermost first.
    pub(crate) stack: Stack<'static>,
}

/// Why the runtime ended a process.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Fatal {
    pub(crate) message: String,
    /// Where the program does what the runtime refuses, innermost first.
    pub(crate) stack: Stack<'static>,
}

/// Something that the runtime could not decide.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Undecided {
    pub(crate) message: String,
    /// Where, innermost first.
    pub(crate) stack: Stack<'static>,
}

impl Record {
    /// Reads a log.
    pub(crate) fn new(log: &str) -> Self {
        let mut record = Self::default();
        let mut commands = BTreeMap::new();
        let (mut first, mut failures) = (None, BTreeMap::new());
        for line in log.lines() {
            let Ok(Line { pid, entry }) = line.parse() else {
                record.unreadable += 1;
                continue;
            };
            match entry {
                Entry::Finding { finding, step } => record.findings.push(Logged {
                    process: Process { pid, command: None },
                    finding: *finding,
                    step,
                }),
                Entry::Event(Event::Start { command, model, .. }) => {
                    record.processes.insert(pid);
                    first.get_or_insert(pid);
                    commands.insert(pid, command.into_owned());
                    record.model.get_or_insert(model);
                }
                Entry::Event(Event::Failed { failure }) => {
                    // A run from a snapshot does not say that it starts.
                    first.get_or_insert(pid);
                    failures.entry(pid).or_insert(failure);
                }
                Entry::Event(event) => record.note(event),
            }
        }
        record.failed = first.and_then(|first| failures.remove(&first));
        for Logged { process, .. } in &mut record.findings {
            process.command = commands.get(&process.pid).cloned();
        }
        record
    }

    fn note(&mut self, event: Event<'static>) {
        let fatal = match event {
            Event::Start { .. } | Event::Failed { .. } => None,
            Event::Suppressed => {
                self.suppressed += 1;
                None
            }
            Event::Foreign { modules } => {
                self.foreign.extend(modules.into_iter().map(Into::into));
                None
            }
            Event::Forked => {
                self.forked = true;
                None
            }
            Event::Undecided { message, stack } => {
                let message = message.into_owned();
                self.undecided.push(Undecided { message, stack });
                None
            }
            Event::Stale {
                step,
                address,
                size,
                memory,
                access,
                read,
                last,
            } => {
                self.stale.push(StaleRead {
                    step,
                    address,
                    size,
                    memory,
                    access: *access,
                    read: *read,
                    last: *last,
                });
                None
            }
            Event::Access {
                step,
                memory,
                stack,
            } => {
                self.accesses.push(Accessed {
                    step,
                    memory,
                    stack,
                });
                None
            }
            Event::Diverged { stack } => {
                self.diverged = stack;
                None
            }
            Event::Fatal { message } => Some((message, Vec::new())),
            Event::Refused { message, stack } => Some((message, stack)),
        };
        if let Some((message, stack)) = fatal {
            let message = message.into_owned();
            self.fatal.get_or_insert(Fatal { message, stack });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsan_log::{Frame, Manner, Operation};

    /// A race of the writes at two places.
    pub(crate) fn race(first: u64, second: u64) -> Logged {
        let side = |offset| Side {
            thread: Some(1),
            name: None,
            created: None,
            operation: Operation::Write,
            order: None,
            value: None,
            function: None,
            stack: vec![Frame {
                module: Some("m".into()),
                offset: Address(offset),
            }],
            held: None,
            slept: None,
        };
        Logged {
            process: Process {
                pid: 7,
                command: None,
            },
            finding: Finding::Race {
                address: Address(1),
                size: 4,
                memory: None,
                access: side(first),
                earlier: side(second),
                chain: None,
            },
            step: None,
        }
    }

    #[test]
    fn a_log_says_who_ran_and_what_was_found() {
        let place = Frame {
            module: None,
            offset: Address(1),
        };
        let failed = |manner| {
            let failure = Failure {
                manner,
                thread: Some(1),
                name: None,
                stack: Vec::new(),
            };
            Event::Failed { failure }.into()
        };
        let entries: Vec<Entry> = vec![
            Entry::Finding {
                finding: Box::new(race(1, 2).finding),
                step: Some(3),
            },
            Event::Start {
                program: "/a".into(),
                command: "./a -x".into(),
                model: Model::Rc20,
            }
            .into(),
            failed(Manner::Abort),
            failed(Manner::Exit { status: 1 }),
            Event::Suppressed.into(),
            Event::Foreign {
                modules: vec!["libz.so.1".into()],
            }
            .into(),
            Event::Undecided {
                message: "no room".into(),
                stack: vec![place],
            }
            .into(),
            Event::Fatal {
                message: "out of memory".into(),
            }
            .into(),
        ];
        let lines = entries
            .into_iter()
            .map(|entry| format!("{}\n", Line { pid: 7, entry }));
        let log: String = lines.chain(["{\"schema\":\"rsan-ru".to_owned()]).collect();
        let record = Record::new(&log);
        let failed = record.failed.expect("it fails");
        assert_eq!(failed.manner, Manner::Abort, "the cause comes first");
        assert_eq!((record.suppressed, record.unreadable), (1, 1));
        assert!(record.foreign.contains("libz.so.1"));
        let undecided = record.undecided.iter();
        let undecided: Vec<_> = undecided.map(|u| (&*u.message, u.stack.len())).collect();
        assert_eq!(undecided, [("no room", 1)]);
        assert_eq!(record.processes.into_iter().collect::<Vec<_>>(), [7]);
        assert_eq!(record.model, Some(Model::Rc20));
        let fatal = record.fatal.expect("there is one");
        assert_eq!(
            (fatal.message.as_str(), fatal.stack.len()),
            ("out of memory", 0)
        );
        let [found] = record.findings.as_slice() else {
            panic!("one finding");
        };
        assert_eq!(found.process.command.as_deref(), Some("./a -x"));
        assert_eq!(found.step, Some(3));
    }
}
