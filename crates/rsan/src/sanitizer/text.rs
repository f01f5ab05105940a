//! Findings for people, as the sanitizers show them.

use super::findings::{Access, Finding, HeldLock};
use super::memory::{Context, Memory};
use super::symbols::Frame;
use crate::printable::name;
use rsan_report::Style;
use std::fmt::Write as _;

/// The parts of a finding that have a colour.
struct Paint {
    title: &'static str,
    message: &'static str,
    access: &'static str,
    about: &'static str,
    end: &'static str,
}

impl Paint {
    fn new(style: Style) -> Self {
        match style {
            Style::Color => Self {
                title: "\x1b[1;31m",
                message: "\x1b[1m",
                access: "\x1b[1;34m",
                about: "\x1b[1;32m",
                end: "\x1b[0m",
            },
            Style::Plain => Self {
                title: "",
                message: "",
                access: "",
                about: "",
                end: "",
            },
        }
    }
}

/// All findings.
pub(crate) fn text(findings: &[Finding], runs: usize, style: Style) -> String {
    let mut text = String::new();
    for finding in findings {
        text.push('\n');
        write_finding(&mut text, finding, runs, &Paint::new(style));
    }
    text
}

fn write_finding(text: &mut String, finding: &Finding, all_runs: usize, paint: &Paint) {
    if finding.is_deadlock() {
        return write_deadlock(text, finding, all_runs, paint);
    }
    let kind = match finding.kind {
        "weak-behaviour" => "not robust".to_owned(),
        kind => kind.replace('-', " "),
    };
    let at = finding.accesses[0].place();
    let at = at.map_or(String::new(), |place| format!(" at {place}"));
    let _ = writeln!(
        text,
        "{}{kind}{at}{}: {}{}{}",
        paint.title, paint.end, paint.message, finding.message, paint.end
    );
    // A thread that was not joined has no other place than that of its creation.
    let accesses = finding
        .accesses
        .iter()
        .filter(|_| finding.kind != "thread-leak");
    for access in accesses {
        let what = title(finding, access);
        let _ = writeln!(text, "  {}{what}{}", paint.access, paint.end);
        write_stack(text, &access.stack);
        write_held(text, access);
        write_sleep(text, access, paint);
    }
    if finding.same_value {
        text.push_str(
            "  both writes have the same value, but only the newer one orders what comes next: accesses after this one may miss what was written before it\n",
        );
    }
    if let Some(wait) = &finding.wait {
        let _ = writeln!(text, "  with the older value the program {wait}");
    }
    if finding.is_weak() || finding.chain.is_some() {
        write_chain(text, finding, paint);
    }
    if let Some(memory) = &finding.memory {
        write_memory(text, memory, finding, paint);
    }
    write_threads(text, finding, paint);
    write_runs(text, finding, all_runs);
}

/// Every thread that waits, and what for.
fn write_deadlock(text: &mut String, finding: &Finding, all_runs: usize, paint: &Paint) {
    let _ = writeln!(
        text,
        "{}deadlock{}: {}{}{}",
        paint.title, paint.end, paint.message, finding.message, paint.end
    );
    for access in &finding.accesses {
        let thread = access.who().unwrap_or_default();
        let what = access.waits_for.as_deref();
        let what = what.map_or(String::new(), |what| format!(" for {what}"));
        let by = access.held_by.as_deref();
        let what = what + &by.map_or(String::new(), |by| format!(", which {by} holds"));
        let _ = writeln!(
            text,
            "  {}{thread} waits{what} ({}){}",
            paint.access, access.operation, paint.end
        );
        write_stack(text, &access.stack);
        write_held(text, access);
    }
    write_runs(text, finding, all_runs);
}

/// The locks that a thread had.
fn write_held(text: &mut String, access: &Access) {
    let locks = access.held.as_deref().unwrap_or_default();
    if !locks.is_empty() {
        let locks: Vec<_> = locks.iter().map(HeldLock::text).collect();
        let _ = writeln!(text, "    mutexes held: {}", locks.join(", "));
    }
}

/// Where a thread slept since the other access.
fn write_sleep(text: &mut String, access: &Access, paint: &Paint) {
    if let Some(stack) = &access.slept {
        let Paint { about, end, .. } = paint;
        let _ = writeln!(
            text,
            "  {about}in between it slept, which orders nothing{end}"
        );
        write_stack(text, stack);
    }
}

/// How often it was found, and how to see it again.
fn write_runs(text: &mut String, finding: &Finding, all_runs: usize) {
    if let Some(process) = &finding.process {
        let command = process.command.as_deref().unwrap_or_default();
        let command = match name(command) {
            none if none.is_empty() => String::new(),
            command => format!(": {command}"),
        };
        let _ = writeln!(text, "  in process {}{command}", process.pid);
    }
    let recorded = finding.schedule.as_ref();
    let first = recorded.and_then(|recorded| recorded.seed);
    let first = first.map_or(String::new(), |seed| format!(", first with seed {seed}"));
    let all = runs(all_runs);
    let _ = writeln!(text, "  found in {} of {all}{first}", finding.runs);
    if let Some(recorded) = recorded {
        let _ = writeln!(text, "  the same again: {}", recorded.command);
    }
}

/// `store (release) of 1 by main thread`
fn title(finding: &Finding, access: &Access) -> String {
    let memory = match access.role {
        "access" if finding.is_of_descriptor() => String::new(),
        "access" if finding.kind.starts_with("signal") => String::new(),
        "access" if finding.size == 0 => format!(", at {}", finding.address),
        "access" => format!(", {} bytes at {}", finding.size, finding.address),
        _ => String::new(),
    };
    if let Some(lock) = &access.lock {
        let by = access.who().unwrap_or_default();
        return format!("{} of {lock} by {by}", access.operation);
    }
    let role = match access.role {
        "access" => "",
        "earlier" if finding.is_race() || finding.is_of_descriptor() => "not ordered with: ",
        "earlier" => "after: ",
        "missed" => "although before it: ",
        _ => "older write: ",
    };
    let part = |before: &str, text: &Option<String>, after: &str| {
        let text = text.as_ref();
        text.map_or(String::new(), |text| format!("{before}{text}{after}"))
    };
    let order = part(" (", &access.order, ")");
    // What a load reads is said where it matters.
    let value = match access.role {
        "access" => String::new(),
        _ => part(" of ", &access.value, ""),
    };
    let by = part(" by ", &access.who(), "");
    format!("{role}{}{order}{value}{by}{memory}", access.operation)
}

/// What forces the order, and what would forbid the outcome.
fn write_chain(text: &mut String, finding: &Finding, paint: &Paint) {
    let Paint { about, end, .. } = paint;
    let Some(links) = &finding.chain else {
        let _ = writeln!(text, "  {about}the accesses that force the order:{end} ...");
        return;
    };
    let _ = writeln!(text, "  {about}the accesses that force the order:{end}");
    let mut before = None;
    for link in links {
        let arrow = before.map_or("", |_| "-> ");
        let what = link.what().map_or(String::new(), |what| format!(" {what}"));
        let how = before.map_or("", connection);
        let place = link.place();
        let (operation, order, thread) = (&link.operation, &link.order, &link.thread);
        let order = match operation.as_str() {
            "begin" | "create thread" | "plain write" | "unlock" | "lock" => String::new(),
            _ => format!(" ({order})"),
        };
        let _ = writeln!(
            text,
            "    {arrow}{operation}{what}{order} at {place} by {thread}{how}"
        );
        before = link.edge.as_deref();
    }
    if let Some(repair) = &finding.repair {
        let _ = writeln!(
            text,
            "  {about}would be forbidden, in this shape of accesses, by:{end} {}",
            repair.message
        );
    }
}

/// How a step follows the one before it.
fn connection(edge: &str) -> &'static str {
    match edge {
        "po" => ", next in the same thread",
        "rf" => ", which reads it",
        "mo" => ", which overwrites it",
        "fr" => ", which overwrites what it read",
        "asw" => ", in the new thread",
        "sw" => ", after that",
        _ => "",
    }
}

fn write_memory(text: &mut String, memory: &Memory, finding: &Finding, paint: &Paint) {
    let mut line = |what: String| {
        let _ = writeln!(text, "  {}{what}{}", paint.about, paint.end);
    };
    match memory {
        Memory::Variable {
            name: variable,
            module,
            offset,
            ..
        } => {
            line(match variable {
                Some(variable) => format!("the memory is the variable `{}`", name(variable)),
                None => format!("the memory is a variable at {module}+{offset}"),
            });
        }
        Memory::Heap {
            size,
            offset,
            allocated,
            freed,
            ..
        } => {
            line(format!("{offset} bytes inside a block of {size} bytes"));
            write_context(text, "allocated", allocated.as_ref(), paint);
            write_context(text, "freed", freed.as_ref(), paint);
        }
        Memory::Descriptor { number, created } => {
            line(format!("descriptor {number}"));
            write_context(text, "created", created.as_ref(), paint);
        }
        Memory::Stack { thread } => line(format!("the memory is on the stack of {thread}")),
        Memory::ThreadLocal { thread } => {
            line(format!(
                "{} is in {thread}'s thread-local storage",
                finding.address
            ));
        }
    }
}

fn write_context(text: &mut String, what: &str, context: Option<&Context>, paint: &Paint) {
    if let Some(Context { thread, stack }) = context {
        let _ = writeln!(text, "  {}{what} by {thread}{}", paint.about, paint.end);
        write_stack(text, stack);
    }
}

/// Where the threads were created, each once.
fn write_threads(text: &mut String, finding: &Finding, paint: &Paint) {
    let mut shown = Vec::new();
    for access in &finding.accesses {
        let (Some(thread), Some(created)) = (&access.thread, &access.created) else {
            continue;
        };
        if !shown.contains(&thread) {
            let who = access.who().unwrap_or_default();
            let _ = writeln!(text, "  {}{who} was created{}", paint.about, paint.end);
            write_stack(text, created);
            shown.push(thread);
        }
    }
}

fn write_stack(text: &mut String, stack: &[Frame]) {
    for (number, frame) in stack.iter().enumerate() {
        let module = name(frame.module.as_deref().unwrap_or("?"));
        let offset = frame.offset.as_ref();
        let place = frame
            .place()
            .or_else(|| offset.map(|offset| format!("{module}+{offset}")))
            .map_or(String::new(), |place| format!(" {place}"));
        let function = name(frame.function.as_deref().unwrap_or("??"));
        let _ = writeln!(text, "    #{number} {function}{place}");
    }
}

/// `1 run`, `2 runs`
pub(crate) fn runs(number: usize) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} run{plural}")
}
