//! Findings: each distinct one once, at once, as text and as a JSON line.
//!
//! Two findings are the same if the same two instructions are involved. The text goes to standard error. With
//! `log=PATH` each finding is also appended to the file as one line:
//!
//! ```text
//! {"schema":"rsan-runtime/1","pid":N,"kind":"race"|"violation","address":"0x…","size":N,
//!  "access":SIDE,                   the access that was about to be made
//!  "earlier":SIDE                   race: the other access
//!  "missed":SIDE,"stale":SIDE}      violation: the write that every SC order puts before the access, and the
//!                                   older one that the access may read or follow
//! SIDE = {"thread":N|null,"created":FRAMES|null,"operation":"…","order":"…"|null,"value":"N"|null,"stack":FRAMES}
//! FRAMES = [{"module":"path"|null,"offset":"0x…"},…]      innermost first
//! ```
//!
//! A frame's offset is an address in the module's file (what `addr2line -e module` takes) that lies in the call
//! instruction. A thread is `null` for the initial value; a stack is empty where nothing is known.

use crate::journal;
use crate::lock::Lock;
use crate::modules::{self, Module};
use crate::stack::{Node, Site};
use crate::thread::{self, Body};
use rsan_model::ThreadId;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What makes findings distinct: the kind, and two addresses of code.
pub type Key = (bool, usize, usize);

static REPORTED: Lock<Option<HashSet<Key>>> = Lock::new(None);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static OUTPUT: Lock<()> = Lock::new(());

/// The locks of this module, for fork.
pub(crate) fn locks() -> [&'static crate::lock::RawLock; 2] {
    [REPORTED.raw(), OUTPUT.raw()]
}

/// How many distinct findings there were.
pub fn count() -> usize {
    // ORDERING: relaxed; a statistic.
    COUNT.load(Ordering::Relaxed)
}

/// An access in a finding.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Who; `None` for the initial value.
    pub thread: Option<ThreadId>,
    /// What.
    pub operation: &'static str,
    /// Memory order of an atomic access.
    pub order: Option<&'static str>,
    /// The value written.
    pub value: Option<u128>,
    /// Where.
    pub site: Site,
}

impl Side {
    /// A side of a race.
    pub fn plain(thread: Option<ThreadId>, operation: &'static str, site: Site) -> Self {
        Self {
            thread,
            operation,
            order: None,
            value: None,
            site,
        }
    }
}

/// Something to report.
#[derive(Clone, Copy, Debug)]
pub enum Finding {
    /// Two accesses race.
    Race {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The later access.
        access: Side,
        /// The earlier one.
        earlier: Side,
    },
    /// An access can be weak.
    Violation {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The access.
        access: Side,
        /// The write that every SC order puts before it.
        missed: Side,
        /// The older write that it may read or follow.
        stale: Side,
    },
}

impl Finding {
    fn key(&self) -> Key {
        match self {
            Self::Race {
                access, earlier, ..
            } => {
                let (a, b) = (access.site.pc, earlier.site.pc);
                (false, a.min(b), a.max(b))
            }
            Self::Violation { access, missed, .. } => (true, access.site.pc, missed.site.pc),
        }
    }
}

/// Writes the finding, unless it is known. No lock of a location may be held.
pub fn report(me: &mut Body, finding: &Finding) {
    let key = finding.key();
    if !me.reported.insert(key) || !REPORTED.lock().get_or_insert_default().insert(key) {
        return;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let modules = modules::modules();
    let text = text(finding, &modules);
    let line = json(finding, &modules);
    {
        let _one_at_a_time = OUTPUT.lock();
        let logged = journal::append(line.as_bytes());
        if me.options.text || !logged {
            write_to(2, text.as_bytes());
        }
    }
    crate::abi::query::announce(finding);
    if me.options.halt_on_error {
        // SAFETY: ends the process.
        unsafe { libc::_exit(me.options.exitcode) }
    }
}

/// Ends the process because the runtime cannot go on.
pub fn die(message: &[&str]) -> ! {
    write_to(2, b"rsan: ");
    for part in message {
        write_to(2, part.as_bytes());
    }
    write_to(2, b"\n");
    journal::fatal(message);
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Ends the process because there is no memory for something of the runtime.
pub fn out_of_memory(what: &str) -> ! {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is filled in.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    let hint = if limit.rlim_cur == libc::RLIM_INFINITY {
        ""
    } else {
        "; the address space is limited (ulimit -v), and rsan needs much of it"
    };
    die(&["out of memory for ", what, hint])
}

/// Writes everything, without a buffer; what cannot be written is lost.
pub fn write_to(file: i32, bytes: &[u8]) {
    let _ = journal::quietly(|| journal::write_all(file, bytes));
}

fn text(finding: &Finding, modules: &[Module]) -> String {
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
        } => {
            title(&mut text, "data race");
            let place = format!(" of {bytes} bytes at {address:#x}");
            write_side(&mut text, access, &place, modules);
            let _ = writeln!(text, "  is not ordered with");
            write_side(&mut text, earlier, " of the same memory", modules);
        }
        Finding::Violation {
            address,
            bytes,
            access,
            missed,
            stale,
        } => {
            title(&mut text, "not robust: an access can go back in time");
            let place = format!(" of {bytes} bytes at {address:#x}");
            write_side(&mut text, access, &place, modules);
            let verb = if access.operation == "load" {
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
        }
    }
    text.push_str("==================\n");
    text
}

fn write_side(text: &mut String, side: &Side, what: &str, modules: &[Module]) {
    let thread = side
        .thread
        .map_or("before the run".to_owned(), |t| format!("thread {t}"));
    let order = side
        .order
        .map_or(String::new(), |order| format!(" ({order})"));
    let _ = writeln!(text, "  {thread}: {}{order}{what}", side.operation);
    for (number, (module, offset)) in frames(side.site, modules).iter().enumerate() {
        let module = module.unwrap_or("?");
        let _ = writeln!(text, "    #{number} {module}+{offset:#x}");
    }
}

/// The stack of a site as modules and offsets, innermost first.
fn frames(site: Site, modules: &[Module]) -> Vec<(Option<&str>, usize)> {
    if site.pc == 0 && site.node == Node::UNKNOWN {
        return Vec::new();
    }
    // The first function of every thread is one of this library.
    let this = modules::find(modules, frames as *const () as usize).map(|found| found.0.bias);
    let mut frames = Vec::new();
    for pc in site.stack().into_iter().filter(|pc| *pc != 0) {
        let call = pc.saturating_sub(1);
        match modules::find(modules, call) {
            Some((module, _)) if Some(module.bias) == this => {}
            Some((module, offset)) => frames.push((Some(module.path.as_str()), offset)),
            None => frames.push((None, call)),
        }
    }
    frames
}

fn json(finding: &Finding, modules: &[Module]) -> String {
    let (kind, address, bytes) = match finding {
        Finding::Race { address, bytes, .. } => ("race", address, bytes),
        Finding::Violation { address, bytes, .. } => ("violation", address, bytes),
    };
    let mut line = format!(
        "{{\"schema\":\"rsan-runtime/1\",\"pid\":{},\"kind\":\"{kind}\",\"address\":\"{address:#x}\",\"size\":{bytes}",
        std::process::id()
    );
    let sides: &[(&str, &Side)] = match finding {
        Finding::Race {
            access, earlier, ..
        } => &[("access", access), ("earlier", earlier)],
        Finding::Violation {
            access,
            missed,
            stale,
            ..
        } => &[("access", access), ("missed", missed), ("stale", stale)],
    };
    for (name, side) in sides {
        let _ = write!(line, ",\"{name}\":");
        json_side(&mut line, side, modules);
    }
    line.push_str("}\n");
    line
}

fn json_side(line: &mut String, side: &Side, modules: &[Module]) {
    let thread = side.thread.map_or("null".to_owned(), |t| t.0.to_string());
    let created = side
        .thread
        .and_then(thread::info)
        .and_then(|info| info.created);
    let order = side.order.map_or("null".to_owned(), quote);
    let value = side.value.map_or("null".to_owned(), |v| format!("\"{v}\""));
    let _ = write!(line, "{{\"thread\":{thread},\"created\":");
    match created {
        Some((_, site)) => json_frames(line, site, modules),
        None => line.push_str("null"),
    }
    let operation = quote(side.operation);
    let _ = write!(
        line,
        ",\"operation\":{operation},\"order\":{order},\"value\":{value},\"stack\":"
    );
    json_frames(line, side.site, modules);
    line.push('}');
}

fn json_frames(line: &mut String, site: Site, modules: &[Module]) {
    line.push('[');
    for (index, (module, offset)) in frames(site, modules).into_iter().enumerate() {
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
