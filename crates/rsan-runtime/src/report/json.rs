//! A finding as a line of JSON, in the form that [`super`] documents.

use super::{Finding, Side, Waiting, call_sites, frames};
use crate::chain::Chain;
use crate::heap;
use crate::held::Then;
use crate::memory::Memory;
use crate::modules::Module;
use crate::order::Taken;
use crate::sched;
use crate::thread;
use rsan_model::ThreadId;
use std::fmt::Write as _;

/// The line.
pub(super) fn line(finding: &Finding, chain: Option<&Chain>, modules: &[Module]) -> String {
    let kind = match finding {
        Finding::Race { .. } => "race",
        Finding::Violation { .. } => "violation",
        Finding::Misuse { .. } => "misuse",
        Finding::Inversion { .. } => "inversion",
    };
    let (address, bytes) = finding.extent();
    let mut line = format!(
        "{{\"schema\":\"rsan-runtime/1\",\"pid\":{},\"kind\":\"{kind}\",\"address\":\"{address:#x}\",\"size\":{bytes},\"memory\":",
        std::process::id()
    );
    memory(&mut line, Memory::at(address, modules), modules);
    if let Finding::Inversion { taken } = finding {
        locks(&mut line, taken, &finding.sides(), modules);
    } else {
        for (name, side) in finding.sides() {
            let _ = write!(line, ",\"{name}\":");
            json_side(&mut line, &side, modules);
            line.push('}');
        }
    }
    if let Finding::Violation { wait, .. } = finding {
        let wait = wait.text().map_or("null".to_owned(), |text| quote(&text));
        let _ = write!(line, ",\"wait\":{wait}");
    }
    if let Finding::Race { .. } | Finding::Violation { .. } = finding {
        line.push_str(",\"chain\":");
        json_chain(&mut line, chain, modules);
    }
    if let Some(step) = sched::steps() {
        let _ = write!(line, ",\"step\":{step}");
    }
    if let Finding::Misuse { what, .. } = finding {
        let text = what.text().map_or("null".to_owned(), quote);
        let name = quote(&what.name().to_string_lossy());
        let _ = write!(line, ",\"what\":{name},\"text\":{text}");
    }
    line.push_str("}\n");
    line
}

/// The line of a deadlock.
pub(super) fn deadlock(threads: &[Waiting], cycle: bool, modules: &[Module]) -> String {
    let pid = std::process::id();
    let mut line = format!(
        "{{\"schema\":\"rsan-runtime/1\",\"pid\":{pid},\"kind\":\"deadlock\",\"cycle\":{cycle},\"threads\":["
    );
    let number = |thread: Option<ThreadId>| thread.map_or("null".to_owned(), |t| t.0.to_string());
    for (index, waiting) in threads.iter().enumerate() {
        let name = json_name(Some(waiting.thread));
        let comma = if index == 0 { "" } else { "," };
        let (thread, operation) = (waiting.thread.0, quote(waiting.operation));
        let _ = write!(
            line,
            "{comma}{{\"thread\":{thread},\"name\":{name},\"operation\":{operation},\"joins\":{},\"held_by\":{},\"memory\":",
            number(waiting.joins),
            number(waiting.held_by)
        );
        let at = waiting
            .address
            .map_or(Memory::Unknown, |address| Memory::at(address, modules));
        memory(&mut line, at, modules);
        line.push_str(",\"holds\":");
        json_held(&mut line, &waiting.holds, modules);
        line.push_str(",\"stack\":");
        json_frames(&mut line, &frames(waiting.site, modules));
        line.push('}');
    }
    line.push_str("]}\n");
    line
}

fn json_chain(line: &mut String, chain: Option<&Chain>, modules: &[Module]) {
    let Some(chain) = chain else {
        line.push_str("null");
        return;
    };
    let known = chain.fences_known;
    let _ = write!(line, "{{\"fences_known\":{known},\"links\":[");
    for (index, link) in chain.links.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (step, operation) = (&link.step, quote(link.step.act.name()));
        let order = quote(&step.order.to_string());
        let thread = step.thread.0;
        let _ = write!(
            line,
            "{comma}{{\"thread\":{thread},\"operation\":{operation},\"order\":{order},\"address\":"
        );
        match link.address {
            Some(address) => {
                let _ = write!(line, "\"{address:#x}\",\"memory\":");
                memory(line, Memory::at(address, modules), modules);
            }
            None => line.push_str("null,\"memory\":null"),
        }
        line.push_str(",\"stack\":");
        json_frames(line, &frames(step.place.site(), modules));
        let last = index + 1 == chain.links.len();
        let edge = if last {
            "null".to_owned()
        } else {
            quote(link.edge.name())
        };
        let _ = write!(line, ",\"edge\":{edge}}}");
    }
    line.push_str("]}");
}

fn memory(line: &mut String, memory: Memory<'_>, modules: &[Module]) {
    match memory {
        Memory::Global { module, offset } => {
            let module = quote(module);
            let _ = write!(
                line,
                "{{\"kind\":\"global\",\"module\":{module},\"offset\":\"{offset:#x}\"}}"
            );
        }
        Memory::Heap(block) => {
            let _ = write!(
                line,
                "{{\"kind\":\"heap\",\"start\":\"{:#x}\",\"size\":{},\"allocated\":",
                block.start, block.size
            );
            context(line, block.allocated, modules);
            line.push_str(",\"freed\":");
            context(line, block.freed, modules);
            line.push('}');
        }
        Memory::Descriptor(descriptor) => {
            let number = descriptor.number;
            let _ = write!(
                line,
                "{{\"kind\":\"descriptor\",\"number\":{number},\"created\":"
            );
            context(line, Some(descriptor.created), modules);
            line.push('}');
        }
        Memory::Stack(thread) => {
            let _ = write!(line, "{{\"kind\":\"stack\",\"thread\":{}}}", thread.0);
        }
        Memory::ThreadLocal(thread) => {
            let _ = write!(line, "{{\"kind\":\"tls\",\"thread\":{}}}", thread.0);
        }
        Memory::Unknown => line.push_str("null"),
    }
}

fn context(line: &mut String, context: Option<heap::Context>, modules: &[Module]) {
    let Some(heap::Context { thread, node }) = context else {
        line.push_str("null");
        return;
    };
    let _ = write!(line, "{{\"thread\":{},\"stack\":", thread.0);
    json_frames(line, &call_sites(node.stack(), modules));
    line.push('}');
}

fn json_side(line: &mut String, side: &Side, modules: &[Module]) {
    let thread = side.thread.map_or("null".to_owned(), |t| t.0.to_string());
    let created = side
        .thread
        .and_then(thread::info)
        .and_then(|info| info.created);
    let order = side.order.map_or("null".to_owned(), quote);
    let value = side.value.map_or("null".to_owned(), |v| format!("\"{v}\""));
    let name = json_name(side.thread);
    let _ = write!(line, "{{\"thread\":{thread},\"name\":{name},\"created\":");
    match created {
        Some((_, site)) => json_frames(line, &frames(site, modules)),
        None => line.push_str("null"),
    }
    let operation = quote(side.operation);
    let function = side.function.name().map_or("null".to_owned(), quote);
    let _ = write!(
        line,
        ",\"operation\":{operation},\"order\":{order},\"value\":{value},\"function\":{function},\"stack\":"
    );
    json_frames(line, &frames(side.site, modules));
    line.push_str(",\"held\":");
    match side.holding.locks(side.thread) {
        Some(locks) => json_held(line, &locks, modules),
        None => line.push_str("null"),
    }
    line.push_str(",\"slept\":");
    match side.slept {
        Some(site) => json_frames(line, &frames(site, modules)),
        None => line.push_str("null"),
    }
}

/// The locks of an inversion.
fn locks(line: &mut String, taken: &[Taken], sides: &[(&str, Side)], modules: &[Module]) {
    line.push_str(",\"locks\":[");
    for (index, (taken, (_, side))) in taken.iter().zip(sides).enumerate() {
        line.push_str(if index == 0 { "" } else { "," });
        json_side(line, side, modules);
        let _ = write!(line, ",\"address\":\"{:#x}\",\"memory\":", taken.lock);
        memory(line, Memory::at(taken.lock, modules), modules);
        line.push('}');
    }
    line.push(']');
}

/// Locks that a thread has.
fn json_held(line: &mut String, locks: &[Then], modules: &[Module]) {
    line.push('[');
    for (index, &(lock, mode, pc)) in locks.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(line, "{comma}{{\"address\":\"{lock:#x}\",\"memory\":");
        memory(line, Memory::at(lock, modules), modules);
        let _ = write!(line, ",\"mode\":\"{}\",\"stack\":", mode.name());
        json_frames(line, &call_sites(vec![pc], modules));
        line.push('}');
    }
    line.push(']');
}

/// A thread's name, or null.
fn json_name(thread: Option<ThreadId>) -> String {
    let name = thread.and_then(thread::name);
    name.map_or("null".to_owned(), |name| quote(&name))
}

/// A stack.
pub(crate) fn stack(frames: &[(Option<&str>, usize)]) -> String {
    let mut text = String::new();
    json_frames(&mut text, frames);
    text
}

fn json_frames(line: &mut String, frames: &[(Option<&str>, usize)]) {
    line.push('[');
    for (index, (module, offset)) in frames.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let module = module.map_or("null".to_owned(), quote);
        let _ = write!(
            line,
            "{comma}{{\"module\":{module},\"offset\":\"{offset:#x}\"}}"
        );
    }
    line.push(']');
}

/// A JSON string.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quote("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    }
}
