//! The accesses of a finding of a program that was run: who, what, with which locks, and where from.

use super::markup::Text;
use crate::document::{Access, Context, Finding, Frame, HeldLock, LockMode, Memory, Role};
use crate::number::plural;
use std::fmt::Write;

/// A card for each access, with its stacks folded, and what is known of the memory.
pub(super) fn cards(out: &mut String, finding: &Finding) {
    if !finding.accesses.is_empty() {
        out.push_str("<div class=\"cards\">\n");
        for access in &finding.accesses {
            card(out, access);
        }
        out.push_str("</div>\n");
    }
    memory(out, finding);
}

fn words_of_role(role: Role) -> &'static str {
    match role {
        Role::Access => "this access",
        Role::Earlier => "the earlier one",
        Role::Missed => "the write that it misses",
        Role::Stale => "the stale value",
        Role::Waiting => "waits",
        Role::Lock => "takes a lock",
    }
}

fn card(out: &mut String, access: &Access) {
    let _ = write!(
        out,
        "<div class=\"card\"><h4>{}</h4><dl class=\"facts\">",
        Text(words_of_role(access.role))
    );
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", Text(value));
        }
    };
    fact("thread", access.who());
    fact("operation", Some(access.operation.clone()));
    fact("order", access.order.clone());
    fact("value", access.value.clone());
    fact("lock", access.lock.clone());
    fact("waits for", access.waits_for.clone());
    let holder = access.held_by.as_ref();
    fact("held by", holder.map(ToString::to_string));
    out.push_str("</dl>");
    locks(out, access.held.as_deref());
    stack(out, "stack", &access.stack);
    for (name, frames) in [
        ("thread created at", &access.created),
        ("slept before, at", &access.slept),
    ] {
        if let Some(frames) = frames {
            stack(out, name, frames);
        }
    }
    out.push_str("</div>\n");
}

fn locks(out: &mut String, held: Option<&[HeldLock]>) {
    let Some(held) = held else { return };
    if held.is_empty() {
        out.push_str("<p class=\"muted\">holds no lock</p>");
        return;
    }
    for lock in held {
        let mode = match lock.mode {
            LockMode::Read => "shared",
            LockMode::Write => "exclusively",
        };
        let name = format!("holds {} ({mode}), taken at", lock.lock);
        stack(out, &name, &lock.stack);
    }
}

/// A stack, folded; frames of libraries are one line, and what stands in it is in its title.
fn stack(out: &mut String, name: &str, frames: &[Frame]) {
    if frames.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<details class=\"stack\"><summary>{} <span class=\"muted\">{}</span></summary><ol>",
        Text(name),
        plural(frames.len() as u64, "frame")
    );
    for frame in frames {
        let class = if frame.library.is_some() {
            " class=\"library\""
        } else {
            ""
        };
        let function = frame.function.as_deref().unwrap_or("?");
        let _ = write!(out, "<li{class}><code>{}</code>", Text(function));
        if let Some(place) = frame.place() {
            let _ = write!(
                out,
                " <span class=\"at\">{}</span>",
                Text(place.file_line_column())
            );
        } else if let Some(module) = &frame.module {
            let offset = frame.offset.as_deref().map(|offset| format!("+{offset}"));
            let _ = write!(
                out,
                " <span class=\"at\">{}{}</span>",
                Text(module),
                Text(offset.unwrap_or_default())
            );
        }
        if let Some(library) = &frame.library {
            let _ = write!(out, " <span class=\"muted\">in {}</span>", Text(library));
        }
        out.push_str("</li>");
    }
    out.push_str("</ol></details>");
}

fn memory(out: &mut String, finding: &Finding) {
    let Some(memory) = &finding.memory else {
        return;
    };
    let address = finding.address.as_deref().unwrap_or("an unknown address");
    let _ = write!(
        out,
        "<div class=\"memory\"><p>Memory: {}",
        super::markup::Prose(&memory.place(address))
    );
    if let Some(size) = finding.size {
        let _ = write!(out, ", {}", plural(size, "byte"));
    }
    out.push_str("</p>");
    let contexts: &[(&str, Option<&Context>)] = match memory {
        Memory::Heap {
            allocated, freed, ..
        } => &[("allocated", allocated.as_ref()), ("freed", freed.as_ref())],
        Memory::Descriptor { created, .. } => &[("created", created.as_ref())],
        Memory::Variable { .. } | Memory::Stack { .. } | Memory::ThreadLocal { .. } => &[],
    };
    for (what, context) in contexts {
        if let Some(context) = context {
            let name = format!("{what} by {}", context.thread);
            stack(out, &name, &context.stack);
        }
    }
    out.push_str("</div>\n");
}
