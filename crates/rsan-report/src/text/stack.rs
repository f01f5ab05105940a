//! What is shown in full only: the accesses with their stacks, the memory, the threads.

use super::finding::{by, relation};
use crate::document::{Access, Context, Finding, Frame, Memory, Role as Part};
use crate::number::plural;
use crate::printable::name;
use crate::style::{Role, Style};
use std::fmt::Write;

/// Every access with its stack.
pub(super) fn accesses(out: &mut String, finding: &Finding, style: Style) {
    for access in &finding.accesses {
        let title = title(finding, access);
        let _ = writeln!(out, "  {}", style.paint(Role::Faint, &title));
        stack(out, &access.stack);
        if let Some(slept) = &access.slept {
            let head = "in between it slept, which orders nothing";
            let _ = writeln!(out, "  {}", style.paint(Role::Other, head));
            stack(out, slept);
        }
    }
}

/// `store (release) of 1 by main thread`
fn title(finding: &Finding, access: &Access) -> String {
    if let Some(what) = &access.waits_for {
        let held = access.held_by.as_ref();
        let held = held.map_or(String::new(), |by| format!(", which {by} holds"));
        let who = access.who().unwrap_or_default();
        return format!("{who} waits for {what}{held} ({})", access.operation);
    }
    if let Some(lock) = &access.lock {
        return format!("{} of {lock}{}", access.operation, by(access));
    }
    let memory = match (access.role, &finding.address, finding.size) {
        (Part::Access, Some(address), Some(size)) => {
            format!(", {} at {address}", plural(size, "byte"))
        }
        (Part::Access, Some(address), None) => format!(", at {address}"),
        _ => String::new(),
    };
    let order = access
        .order
        .as_ref()
        .map_or(String::new(), |order| format!(" ({order})"));
    // What a load reads is said where it matters.
    let value = match (access.role, &access.value) {
        (Part::Access, _) | (_, None) => String::new(),
        (_, Some(value)) => format!(" of {value}"),
    };
    let relation = relation(finding, access.role);
    format!(
        "{relation}{}{order}{value}{}{memory}",
        access.operation,
        by(access)
    )
}

/// What is at the address.
pub(super) fn memory(out: &mut String, memory: &Memory, finding: &Finding, style: Style) {
    let mut line = |what: String| {
        let _ = writeln!(out, "  {}", style.paint(Role::Other, &what));
    };
    let address = finding.address.as_deref().unwrap_or_default();
    match memory {
        Memory::Variable {
            name: variable,
            module,
            offset,
        } => line(match variable {
            Some(variable) => format!("the memory is the variable `{}`", name(variable)),
            None => format!("the memory is a variable at {}+{offset}", name(module)),
        }),
        Memory::Heap {
            size,
            offset,
            allocated,
            freed,
            ..
        } => {
            line(format!("{offset} bytes inside a block of {size} bytes"));
            context(out, "allocated", allocated.as_ref(), style);
            context(out, "freed", freed.as_ref(), style);
        }
        Memory::Descriptor { number, created } => {
            line(format!("descriptor {number}"));
            context(out, "created", created.as_ref(), style);
        }
        Memory::Stack { thread } => line(format!("the memory is on the stack of {thread}")),
        Memory::ThreadLocal { thread } => {
            line(format!("{address} is in {thread}'s thread-local storage"));
        }
    }
}

fn context(out: &mut String, what: &str, context: Option<&Context>, style: Style) {
    if let Some(Context {
        thread,
        stack: frames,
    }) = context
    {
        let head = format!("{what} by {thread}");
        let _ = writeln!(out, "  {}", style.paint(Role::Other, &head));
        stack(out, frames);
    }
}

/// Where the threads were created, each once.
pub(super) fn threads(out: &mut String, finding: &Finding, style: Style) {
    let mut shown = Vec::new();
    for access in &finding.accesses {
        let (Some(thread), Some(created)) = (&access.thread, &access.created) else {
            continue;
        };
        if !shown.contains(&thread) {
            let head = format!("{} was created", access.who().unwrap_or_default());
            let _ = writeln!(out, "  {}", style.paint(Role::Other, &head));
            stack(out, created);
            shown.push(thread);
        }
    }
}

/// The frames; those of a library that follow each other are one line.
fn stack(out: &mut String, frames: &[Frame]) {
    let mut number = 0;
    while let Some(frame) = frames.get(number) {
        let of_library = |other: &&Frame| frame.library.is_some() && other.library == frame.library;
        let folded = frames[number..].iter().take_while(of_library).count();
        if let (Some(library), 2..) = (&frame.library, folded) {
            let _ = writeln!(
                out,
                "    #{number} {} in {}",
                plural(folded as u64, "frame"),
                name(library)
            );
            number += folded;
            continue;
        }
        let place = frame.at();
        let place = place.map_or(String::new(), |place| format!(" {place}"));
        let function = name(frame.function.as_deref().unwrap_or("??"));
        let _ = writeln!(out, "    #{number} {function}{place}");
        number += 1;
    }
}
