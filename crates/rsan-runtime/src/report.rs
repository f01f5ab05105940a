//! Findings: each distinct one once, at once, as text and as a JSON line.
//!
//! Two findings are the same if the same two instructions are involved. The text goes to standard error. With
//! `log=PATH` each finding is also appended to the file as one line:
//!
//! ```text
//! {"schema":"rsan-runtime/1","pid":N,"kind":"race"|"violation"|"misuse"|"inversion","address":"0x…","size":N,
//!  "memory":MEMORY|null,            what is at the address
//!  "access":SIDE,                   the access that was about to be made
//!  "earlier":SIDE                   race: the other access; misuse: what makes it one, if that is known
//!  "what":"…","text":"…"|null       misuse: its name (`Misuse::name`), and what that does not say
//!  "missed":SIDE,"stale":SIDE,      violation: the write that every SC order puts before the access, and the
//!                                   older one that the access may read or follow
//!  "wait":"…"|null,                 violation: what the program does with the old value, or why that is not known
//!  "chain":CHAIN|null               violation: the accesses that force the order, from the missed write to the
//!                                   access, if they are known
//!  "locks":[SIDE+{"address":"0x…","memory":MEMORY|null},…]     inversion: the locks that were taken, each while the one before it was held, and
//!                                   the first one while the last was
//!  "step":N}                        steps of the run until then, if its schedule is ours
//! {"schema":"rsan-runtime/1","pid":N,"kind":"deadlock","cycle":true|false,    they wait for each other, or every thread waits
//!  "threads":[{"thread":N,"name":"…"|null,"operation":"…","joins":N|null,"memory":MEMORY|null,"held_by":N|null,"holds":[HELD,…],"stack":FRAMES},…]}
//! CHAIN = {"fences_known":true|false,"links":[LINK,…]}      whether all fences in between are among the links
//! LINK = {"thread":N,"operation":"…","order":"…","address":"0x…"|null,"memory":MEMORY|null,"stack":FRAMES,
//!         "edge":"po"|"rf"|"mo"|"fr"|"asw"|"sw"|null}      to the next link
//! SIDE = {"thread":N|null,"name":"…"|null,"created":FRAMES|null,"operation":"…","order":"…"|null,"value":"N"|null,"function":"…"|null,"stack":FRAMES,
//!         "held":[HELD,…]|null,"slept":FRAMES|null}      the locks that its thread had; where it slept after the earlier access of a race
//! HELD = {"address":"0x…","memory":MEMORY|null,"mode":"read"|"write","stack":FRAMES}      where it was taken
//! MEMORY = {"kind":"global","module":"path","offset":"0x…"}
//!        | {"kind":"heap","start":"0x…","size":N,"allocated":CONTEXT|null,"freed":CONTEXT|null}
//!        | {"kind":"descriptor","number":N,"created":CONTEXT}
//!        | {"kind":"stack"|"tls","thread":N}
//! CONTEXT = {"thread":N,"stack":FRAMES}
//! FRAMES = [{"module":"path"|null,"offset":"0x…"},…]      innermost first
//! ```
//!
//! A frame's offset is an address in the module's file (what `addr2line -e module` takes) that lies in the call
//! instruction; the function is one of libc that makes the access there. A thread is `null` for the initial value; a stack is empty where nothing is known.

mod foreign;
mod json;
mod text;

pub(crate) use json::stack as json_stack;

use crate::benign;
use crate::finding::{Finding, Key, Waiting};
use crate::hooks;
use crate::journal;
use crate::lock::Lock;
use crate::modules;
use crate::options::Options;
use crate::output::{write_text, write_to};
use crate::stack::{Site, frames};
use crate::suppress;
use crate::system::keeping_errno;
use crate::tables::Set;
use crate::thread::{self, Body};
use crate::upcall::{answers, upcalls};
use std::sync::atomic::{AtomicUsize, Ordering};

static REPORTED: Lock<Option<Set<Key>>> = Lock::new(None);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static OUTPUT: Lock<()> = Lock::new(());
/// What could not be decided, and where.
static UNDECIDED: Lock<Option<Set<(usize, String)>>> = Lock::new(None);

/// The locks of this module, for fork.
pub(crate) fn locks() -> [&'static crate::lock::RawLock; 3] {
    [REPORTED.raw(), OUTPUT.raw(), UNDECIDED.raw()]
}

/// Starts counting again.
pub(crate) fn reset_count() {
    // ORDERING: relaxed; a statistic.
    COUNT.store(0, Ordering::Relaxed);
}

/// How many distinct findings there were.
pub fn count() -> usize {
    // ORDERING: relaxed; a statistic.
    COUNT.load(Ordering::Relaxed)
}

/// Whether a finding was written already.
pub fn is_known(me: &Body, finding: &Finding) -> bool {
    let key = finding.key();
    let everywhere = || {
        REPORTED
            .lock()
            .as_ref()
            .is_some_and(|all| all.contains(&key))
    };
    me.reported.contains(&key) || everywhere()
}

/// Writes the finding, unless it is known. No lock of a location may be held.
pub fn report(me: &mut Body, finding: &Finding) {
    keeping_errno(|| write_finding(me, finding));
}

fn write_finding(me: &mut Body, finding: &Finding) {
    if benign::covers(me, finding) {
        return;
    }
    let key = finding.key();
    if !me.reported.insert(key) || !REPORTED.lock().get_or_insert_default().insert(key) {
        return;
    }
    let modules = modules::modules();
    if suppress::suppresses(finding, &modules) {
        if me.options.announce {
            journal::suppressed();
        }
        return;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let chain = finding.chain();
    let text = text::text(finding, &modules);
    let line = json::line(finding, chain.as_ref(), &modules);
    {
        let _one_at_a_time = OUTPUT.lock();
        let logged = journal::append(line.as_bytes());
        if me.options.text || !logged {
            write_text(text.as_bytes());
        }
    }
    if matches!(finding, Finding::Race { .. }) {
        let text = foreign::announce(&modules, me.options);
        if me.options.text {
            write_to(2, text.as_bytes());
        }
    }
    announce(finding);
    if me.options.halt_on_error {
        hooks::dies();
        crate::system::end_process(me.options.exitcode);
    }
}

/// Writes that threads cannot go on: they wait for each other (`cycle`), or every thread waits. False if that is suppressed.
pub(crate) fn deadlock(threads: &[Waiting], cycle: bool) -> bool {
    let modules = modules::modules();
    if suppress::suppresses_deadlock(threads, &modules) {
        journal::suppressed();
        return false;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let _one_at_a_time = OUTPUT.lock();
    let logged = journal::append(json::deadlock(threads, cycle, &modules).as_bytes());
    if !logged || crate::options::current().is_some_and(|options| options.text) {
        write_text(text::deadlock(threads, cycle, &modules).as_bytes());
    }
    true
}

/// Says that something could not be decided at a place, once for each place and reason. An exploration that claims proofs
/// is undecided then; without [`Options::exact`] nothing is said.
pub(crate) fn undecided(me: &Body, site: Site, why: &str) {
    undecided_with(me.options, site, why);
}

upcalls! {
    /// Tells the program of a finding, if it wants to know.
    "rsan_up_announce" fn announce(finding: &Finding);
    /// Steps of the run so far, if its schedule is ours.
    "rsan_up_steps" fn steps() -> Option<u64>;
}

answers! {
    "rsan_up_undecided" thread::undecided => undecided_with;
}

/// The same where there is no thread to ask.
fn undecided_with(options: &Options, site: Site, why: &str) {
    if !options.exact {
        return;
    }
    let key = (site.pc, why.to_owned());
    if UNDECIDED.lock().get_or_insert_default().insert(key) {
        let modules = modules::modules();
        journal::undecided(why, &json_stack(&frames(site, &modules)));
    }
}

/// Prints a stack.
pub(crate) fn print_stack(site: Site) {
    let modules = modules::modules();
    write_text(text::stack(&frames(site, &modules)).as_bytes());
}
