//! The log of a run: what its processes say of themselves, in the form that the runtime documents in its `journal` module,
//! and their findings.

use serde::Deserialize;
use std::collections::BTreeSet;

/// A log, read.
#[derive(Default)]
pub(crate) struct Record {
    /// Processes that ran with the runtime.
    pub(crate) processes: BTreeSet<u32>,
    /// Why the runtime ended a process: the first one.
    pub(crate) fatal: Option<String>,
    /// Findings that the runtime left out.
    pub(crate) suppressed: usize,
    /// The other lines: findings.
    pub(crate) findings: String,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Start {
        pid: u32,
    },
    Suppressed,
    Fatal {
        message: String,
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
                Ok(Line::Start { pid }) => {
                    record.processes.insert(pid);
                }
                Ok(Line::Suppressed) => record.suppressed += 1,
                Ok(Line::Fatal { message }) => {
                    record.fatal.get_or_insert(message);
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
        let log = r#"{"schema":"rsan-runtime/1","pid":7,"kind":"start","program":"/a"}
{"schema":"rsan-runtime/1","pid":7,"kind":"race","address":"0x1"}
{"schema":"rsan-runtime/1","pid":7,"kind":"suppressed"}
{"schema":"rsan-runtime/1","pid":7,"kind":"fatal","message":"out of memory"}
{"schema":"rsan-ru"#;
        let record = Record::new(log);
        assert_eq!(record.suppressed, 1);
        assert_eq!(record.processes.into_iter().collect::<Vec<_>>(), [7]);
        assert_eq!(record.fatal.as_deref(), Some("out of memory"));
        let findings: Vec<_> = record.findings.lines().collect();
        assert_eq!(findings.len(), 2);
        assert!(findings[0].contains("race") && findings[1] == "{\"schema\":\"rsan-ru");
    }
}
