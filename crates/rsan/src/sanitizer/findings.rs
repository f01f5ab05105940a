//! Findings for people and for machines. The document has the form of `rsan/1` (docs/json.md); what only the sanitizer
//! knows is in `accesses`.

use super::log::{Findings, Logged, Side};
use super::symbols::{Frame, Symbols};
use rsan_report::Style;
use serde::Serialize;
use std::fmt::Write as _;

/// A finding with its stacks as functions and lines.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    /// `weak-behaviour` or `data-race`.
    kind: &'static str,
    property: &'static str,
    message: String,
    thread: Option<String>,
    location: Option<Location>,
    /// In how many runs it was found.
    runs: usize,
    address: String,
    size: u64,
    accesses: Vec<Access>,
}

#[derive(Debug, Serialize)]
struct Location {
    file: String,
    line: Option<u32>,
    column: Option<u32>,
}

/// An access of a finding.
#[derive(Debug, Serialize)]
struct Access {
    /// `access` (the one that was about to be made), `earlier`, `missed` or `stale`.
    role: &'static str,
    thread: Option<String>,
    operation: String,
    order: Option<String>,
    value: Option<String>,
    stack: Vec<Frame>,
    /// Where its thread was created.
    created: Option<Vec<Frame>>,
}

impl Access {
    fn new(role: &'static str, side: &Side, symbols: &mut Symbols) -> Self {
        Self {
            role,
            thread: side.thread.map(|thread| match thread {
                0 => "main thread".to_owned(),
                other => format!("thread {other}"),
            }),
            operation: side.operation.clone(),
            order: side.order.clone(),
            value: side.value.clone(),
            stack: symbols.stack(&side.stack),
            created: side.created.as_ref().map(|stack| symbols.stack(stack)),
        }
    }

    fn who(&self) -> &str {
        self.thread.as_deref().unwrap_or("the initial state")
    }

    /// ` at file:line`, or nothing.
    fn at(&self) -> String {
        let place = self.stack.first().and_then(Frame::place);
        place.map_or(String::new(), |place| format!(" at {place}"))
    }

    /// `store (release) of 1`
    fn what(&self) -> String {
        let order = self
            .order
            .as_ref()
            .map_or(String::new(), |o| format!(" ({o})"));
        let value = self
            .value
            .as_ref()
            .map_or(String::new(), |v| format!(" of {v}"));
        format!("{}{order}{value}", self.operation)
    }
}

impl Finding {
    fn new(logged: &Logged, runs: usize, symbols: &mut Symbols) -> Self {
        let (kind, property, address, size, accesses) = match logged {
            Logged::Race {
                address,
                size,
                access,
                earlier,
            } => {
                let accesses = vec![("access", access), ("earlier", earlier)];
                ("data-race", "race-freedom", address, *size, accesses)
            }
            Logged::Violation {
                address,
                size,
                access,
                missed,
                stale,
            } => {
                let accesses = vec![("access", access), ("missed", missed), ("stale", stale)];
                ("weak-behaviour", "robustness", address, *size, accesses)
            }
        };
        let accesses: Vec<_> = accesses
            .into_iter()
            .map(|(role, side)| Access::new(role, side, symbols))
            .collect();
        let first = accesses[0].stack.first();
        Self {
            kind,
            property,
            message: message(&accesses),
            thread: accesses[0].thread.clone(),
            location: first.and_then(|frame| {
                Some(Location {
                    file: frame.file.clone()?,
                    line: frame.line,
                    column: frame.column,
                })
            }),
            runs,
            address: address.clone(),
            size,
            accesses,
        }
    }

    /// Whether this is a data race.
    pub(crate) fn is_race(&self) -> bool {
        self.kind == "data-race"
    }

    /// The stacks of its accesses.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &[Frame]> {
        self.accesses.iter().map(|access| access.stack.as_slice())
    }

    /// As the sanitizers show it.
    fn text(&self, all_runs: usize, style: Style, text: &mut String) {
        let (bold, red, plain) = match style {
            Style::Color => ("\x1b[1m", "\x1b[1;31m", "\x1b[0m"),
            Style::Plain => ("", "", ""),
        };
        let title = match self.kind {
            "data-race" => "data race",
            _ => "not robust",
        };
        let _ = writeln!(text, "{red}{title}{plain}: {bold}{}{plain}", self.message);
        for access in &self.accesses {
            let memory = match access.role {
                "access" => format!(", {} bytes at {}", self.size, self.address),
                _ => String::new(),
            };
            let role = match access.role {
                "access" => "",
                "earlier" => "not ordered with: ",
                "missed" => "although before it: ",
                _ => "older write: ",
            };
            let by = access.thread.as_ref();
            let by = by.map_or(String::new(), |thread| format!(" by {thread}"));
            let _ = writeln!(text, "  {role}{}{by}{memory}", access.what());
            write_stack(&access.stack, text);
            if let Some(created) = &access.created {
                let _ = writeln!(text, "  {} was created", access.who());
                write_stack(created, text);
            }
        }
        let _ = writeln!(text, "  found in {} of {}", self.runs, runs(all_runs));
    }
}

/// `1 run`, `2 runs`
pub(crate) fn runs(number: usize) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} run{plural}")
}

fn write_stack(stack: &[Frame], text: &mut String) {
    for (number, frame) in stack.iter().enumerate() {
        let module = frame.module.as_deref().unwrap_or("?");
        let place = frame
            .place()
            .unwrap_or_else(|| format!("{module}+{}", frame.offset));
        let function = frame.function.as_deref().unwrap_or("??");
        let _ = writeln!(text, "    #{number} {function} {place}");
    }
}

/// One sentence.
fn message(accesses: &[Access]) -> String {
    let (access, other) = (&accesses[0], &accesses[1]);
    let Some(stale) = accesses.get(2) else {
        return format!(
            "the {} by {}{} and the {} by {}{} are not ordered by happens-before",
            access.operation,
            access.who(),
            access.at(),
            other.operation,
            other.who(),
            other.at()
        );
    };
    let verb = match access.operation.as_str() {
        "load" => "read",
        "store" => "be placed right after",
        _ => "read and replace",
    };
    let old = stale.value.as_deref().unwrap_or("an older value");
    let value = other
        .value
        .as_ref()
        .map_or(String::new(), |v| format!(" of {v}"));
    format!(
        "the {} by {}{} may {verb} {old} although the {}{value} by {}{} comes first in every sequentially consistent order",
        access.operation,
        access.who(),
        access.at(),
        other.operation,
        other.who(),
        other.at()
    )
}

/// Shows every finding with its stacks.
pub(crate) fn findings(logged: &Findings) -> Vec<Finding> {
    let mut symbols = Symbols::new();
    let mut all: Vec<_> = logged
        .iter()
        .map(|(finding, runs)| Finding::new(finding, runs, &mut symbols))
        .collect();
    // Inlined copies of the same code are the same to a reader of the source.
    all.dedup_by(|a, b| a.location.is_some() && a.message == b.message);
    all
}

/// All findings for people.
pub(crate) fn text(findings: &[Finding], runs: usize, style: Style) -> String {
    let mut text = String::new();
    for finding in findings {
        text.push('\n');
        finding.text(runs, style, &mut text);
    }
    text
}
