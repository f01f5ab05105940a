//! The log of a run: what its processes say of themselves, in the form that the runtime documents in its `journal` module,
//! and their findings.

use super::log::Address;
use rsan_model::Model;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A log, read.
#[derive(Default)]
pub(crate) struct Record {
    /// Processes that ran with the runtime.
    pub(crate) processes: BTreeSet<u32>,
    /// Their command lines, as far as they are known.
    pub(crate) commands: BTreeMap<u32, String>,
    /// Why the runtime ended a process: the first one.
    pub(crate) fatal: Option<Fatal>,
    /// What the first process was judged by.
    pub(crate) model: Option<Model>,
    /// Findings that the runtime left out.
    pub(crate) suppressed: usize,
    /// Modules that are not instrumented, of processes with a race.
    pub(crate) foreign: BTreeSet<String>,
    /// Whether a process whose schedule is ours made another one.
    pub(crate) forked: bool,
    /// Why this run is no part of a proof.
    pub(crate) undecided: Vec<Undecided>,
    /// Where a thread was that did not do what was planned, innermost first.
    pub(crate) diverged: Vec<Address>,
    /// The other lines: findings.
    pub(crate) findings: String,
}

/// Why the runtime ended a process.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Fatal {
    pub(crate) message: String,
    /// Where the program does what the runtime refuses, innermost first.
    pub(crate) stack: Vec<Address>,
}

/// Something that the runtime could not decide.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Undecided {
    pub(crate) message: String,
    /// Where, innermost first.
    pub(crate) stack: Vec<Address>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Start {
        pid: u32,
        model: String,
        #[serde(default)]
        command: String,
    },
    Suppressed,
    Foreign {
        modules: Vec<String>,
    },
    Forked,
    Undecided(Undecided),
    Diverged {
        stack: Vec<Address>,
    },
    Fatal {
        message: String,
    },
    Refused {
        message: String,
        stack: Vec<Address>,
    },
    #[serde(other)]
    Other,
}

impl Record {
    /// Reads a log.
    pub(crate) fn new(log: &str) -> Self {
        let mut record = Self::default();
        for line in log.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Start {
                    pid,
                    model,
                    command,
                }) => {
                    record.processes.insert(pid);
                    record.commands.insert(pid, command);
                    record.model = record.model.or_else(|| model.parse().ok());
                }
                Ok(Line::Suppressed) => record.suppressed += 1,
                Ok(Line::Foreign { modules }) => record.foreign.extend(modules),
                Ok(Line::Forked) => record.forked = true,
                Ok(Line::Undecided(undecided)) => record.undecided.push(undecided),
                Ok(Line::Diverged { stack }) => record.diverged = stack,
                Ok(Line::Fatal { message }) => {
                    let stack = Vec::new();
                    record.fatal.get_or_insert(Fatal { message, stack });
                }
                Ok(Line::Refused { message, stack }) => {
                    record.fatal.get_or_insert(Fatal { message, stack });
                }
                Ok(Line::Other) | Err(_) => {
                    record.findings.push_str(line);
                    record.findings.push('\n');
                }
            }
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_processes_are_told_from_findings() {
        let log = r#"{"schema":"rsan-runtime/1","pid":7,"kind":"start","program":"/a","model":"rc20"}
{"schema":"rsan-runtime/1","pid":7,"kind":"race","address":"0x1"}
{"schema":"rsan-runtime/1","pid":7,"kind":"suppressed"}
{"schema":"rsan-runtime/1","pid":7,"kind":"foreign","modules":["libz.so.1"]}
{"schema":"rsan-runtime/1","pid":7,"kind":"undecided","message":"no room","stack":[{"module":"m","offset":"0x1"}]}
{"schema":"rsan-runtime/1","pid":7,"kind":"fatal","message":"out of memory"}
{"schema":"rsan-ru"#;
        let record = Record::new(log);
        assert_eq!(record.suppressed, 1);
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
        let findings: Vec<_> = record.findings.lines().collect();
        assert_eq!(findings.len(), 2);
        assert!(findings[0].contains("race") && findings[1] == "{\"schema\":\"rsan-ru");
    }
}
