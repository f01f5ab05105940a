//! A finding for people, with addresses only; `rsan run` shows it better.

use crate::finding::{Finding, Operation, Side, Waiting};
use crate::heap;
use crate::held::{Mode, Then};
use crate::memory::Memory;
use crate::modules::Module;
use crate::output::printable;
use crate::stack::{call_sites, frames};
use crate::thread;
use rsan_log::Frame;
use rsan_model::ThreadId;
use std::fmt::Write as _;

/// The text, between two rules.
pub(super) fn text(finding: &Finding, modules: &[Module]) -> String {
    let mut text = String::new();
    let title = |text: &mut String, what: &str| {
        let _ = writeln!(
            text,
            "==================\n==rsan: {what} (pid {})",
            std::process::id()
        );
    };
    match finding {
        Finding::Race {
            address,
            bytes,
            access,
            earlier,
            ..
        } => {
            title(&mut text, "data race");
            let place = format!(" of {bytes} bytes at {address:#x}");
            write_side(&mut text, access, &place, modules);
            let _ = writeln!(text, "  is not ordered with");
            write_side(&mut text, earlier, " of the same memory", modules);
            write_memory(&mut text, *address, modules);
        }
        Finding::Violation {
            address,
            bytes,
            access,
            missed,
            stale,
            wait,
            search: _,
        } => {
            title(&mut text, "not robust: an access can go back in time");
            let place = format!(" of {bytes} bytes at {address:#x}");
            write_side(&mut text, access, &place, modules);
            let verb = if matches!(access.operation, Operation::Load | Operation::Wait) {
                "may read"
            } else {
                "may read or overwrite"
            };
            let old = stale
                .value
                .map_or("an older value".to_owned(), |v| v.to_string());
            let _ = writeln!(
                text,
                "  {verb} {old}, although this write comes first in every sequentially consistent order:"
            );
            let value = missed.value.map_or(String::new(), |v| format!(" of {v}"));
            write_side(&mut text, missed, &value, modules);
            if finding.is_of_same_value() {
                let _ = writeln!(
                    text,
                    "  which is the value that it reads anyway, but without the newer write's order: what it does next may miss what came before that write"
                );
            }
            if let Some(wait) = wait {
                let _ = writeln!(text, "  with {old} the program {wait}");
            }
            write_memory(&mut text, *address, modules);
        }
        Finding::Misuse {
            what,
            address,
            bytes,
            access,
            earlier,
        } => {
            let name = what.kind();
            let more = what
                .text()
                .map_or(String::new(), |more| format!(": {more}"));
            title(&mut text, &format!("{name}{more}"));
            let place = match bytes {
                _ if *address == 0 => String::new(),
                0 => format!(" at {address:#x}"),
                _ => format!(" of {bytes} bytes at {address:#x}"),
            };
            write_side(&mut text, access, &place, modules);
            if let Some(earlier) = earlier {
                let _ = writeln!(text, "  after");
                write_side(&mut text, earlier, "", modules);
            }
            write_memory(&mut text, *address, modules);
        }
        Finding::Inversion { taken } => {
            title(&mut text, "lock order inversion: a potential deadlock");
            for (taken, (_, side)) in taken.iter().zip(finding.sides()) {
                let place = format!(" at {:#x}", taken.lock);
                write_side(&mut text, &side, &place, modules);
            }
        }
    }
    text.push_str("==================\n");
    text
}

/// The text of a deadlock, between two rules.
pub(super) fn deadlock(threads: &[Waiting], cycle: bool, modules: &[Module]) -> String {
    let pid = std::process::id();
    let what = match cycle {
        true => "threads wait for each other",
        false => "every thread waits",
    };
    let mut text = format!("==================\n==rsan: deadlock: {what} (pid {pid})\n");
    for waiting in threads {
        let what = match (waiting.joins, waiting.address) {
            (Some(joins), _) => format!("waits for the end of {}", name(joins)),
            (None, Some(address)) => format!("waits ({}) at {address:#x}", waiting.operation),
            (None, None) => format!("waits ({})", waiting.operation),
        };
        let by = waiting
            .held_by
            .map_or(String::new(), |by| format!(", which {} has", name(by)));
        let _ = writeln!(text, "  {} {what}{by}", name(waiting.thread));
        write_frames(&mut text, &frames(waiting.site, modules));
        write_held(&mut text, &waiting.holds, modules);
    }
    text.push_str("==================\n");
    text
}

fn write_side(text: &mut String, side: &Side, what: &str, modules: &[Module]) {
    let thread = side.thread.map_or("before the run".to_owned(), name);
    let order = side
        .order
        .map_or(String::new(), |order| format!(" ({order})"));
    let _ = writeln!(text, "  {thread}: {}{order}{what}", side.operation);
    let function = side.function.name();
    if let Some(function) = function {
        let _ = writeln!(text, "    #0 {function}");
    }
    let first = usize::from(function.is_some());
    write_frames_from(first, text, &frames(side.site, modules));
    write_held(
        text,
        &side.holding.locks(side.thread).unwrap_or_default(),
        modules,
    );
    if let Some(site) = side.slept {
        let _ = writeln!(text, "  only ordered by its sleep");
        write_frames(text, &frames(site, modules));
    }
}

/// Locks that a thread has.
fn write_held(text: &mut String, locks: &[Then], modules: &[Module]) {
    for &(lock, mode, pc) in locks {
        let read = match mode {
            Mode::Read => ", for reading",
            Mode::Write => "",
        };
        let _ = writeln!(text, "   has the lock {lock:#x}{read}, taken at");
        write_frames(text, &call_sites(vec![pc], modules));
    }
}

fn write_memory(text: &mut String, address: usize, modules: &[Module]) {
    match Memory::at(address, modules) {
        Memory::Global { module, offset } => {
            let module = printable(module);
            let _ = writeln!(text, "  the memory is a variable at {module}+{offset:#x}");
        }
        Memory::Heap(block) => {
            let (inside, size) = (address - block.start, block.size);
            let _ = writeln!(text, "  {inside} bytes inside a block of {size} bytes");
            write_context(text, "allocated", block.allocated, modules);
            write_context(text, "freed", block.freed, modules);
        }
        Memory::Descriptor(descriptor) => {
            let _ = writeln!(text, "  the descriptor {}", descriptor.number);
            write_context(text, "created", Some(descriptor.created), modules);
        }
        Memory::Stack(thread) => {
            let _ = writeln!(text, "  the memory is on the stack of {}", name(thread));
        }
        Memory::ThreadLocal(thread) => {
            let thread = name(thread);
            let _ = writeln!(text, "  the memory is a thread-local variable of {thread}");
        }
        Memory::Unknown => {}
    }
}

fn write_context(
    text: &mut String,
    what: &str,
    context: Option<heap::Context>,
    modules: &[Module],
) {
    if let Some(heap::Context { thread, node }) = context {
        let _ = writeln!(text, "  {what} by {}", name(thread));
        write_frames(text, &call_sites(node.stack(), modules));
    }
}

fn name(thread: ThreadId) -> String {
    match thread::name(thread) {
        Some(name) => format!("thread {thread} '{name}'"),
        None => format!("thread {thread}"),
    }
}

/// A stack.
pub(super) fn stack(frames: &[Frame<'_>]) -> String {
    let mut text = String::new();
    write_frames(&mut text, frames);
    text
}

fn write_frames(text: &mut String, frames: &[Frame<'_>]) {
    write_frames_from(0, text, frames);
}

fn write_frames_from(first: usize, text: &mut String, frames: &[Frame<'_>]) {
    for (number, Frame { module, offset }) in (first..).zip(frames) {
        let module = printable(module.as_deref().unwrap_or("?"));
        let _ = writeln!(text, "    #{number} {module}+{offset}");
    }
}
