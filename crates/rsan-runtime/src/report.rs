//! Findings: each distinct one once, at once, as text and in the log.
//!
//! The text goes to standard error. With `log=PATH` each finding is also appended to the file as a line ([`rsan_log`], which
//! says when two findings are the same).

mod foreign;
mod logged;
mod text;

use crate::benign;
use crate::finding::{Finding, Key, StaleRead, Waiting};
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
use rsan_log::Event;
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
    if !me.reported.insert(key.clone()) || !REPORTED.lock().get_or_insert_default().insert(key) {
        return;
    }
    let modules = modules::modules();
    if suppress::suppresses(finding, &modules) {
        if me.options.announce {
            journal::say(Event::Suppressed);
        }
        return;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let chain = finding.chain();
    let text = text::text(finding, &modules);
    let entry = logged::entry(finding, chain.as_ref(), &modules);
    {
        let _one_at_a_time = OUTPUT.lock();
        let logged = journal::say(entry);
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
        journal::say(Event::Suppressed);
        return false;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let _one_at_a_time = OUTPUT.lock();
    let logged = journal::say(logged::deadlock(threads, cycle, &modules));
    if !logged || crate::options::current().is_some_and(|options| options.text) {
        write_text(text::deadlock(threads, cycle, &modules).as_bytes());
    }
    true
}

/// Writes that a load of a weak run read another write than the last one.
pub(crate) fn stale(read: &StaleRead) {
    let modules = modules::modules();
    let _one_at_a_time = OUTPUT.lock();
    journal::say(logged::stale(read, &modules));
}

/// Writes where an access of a weak run is, which has made so many steps before it.
pub(crate) fn accessed(step: u64, address: usize, site: Site) {
    let modules = modules::modules();
    let _one_at_a_time = OUTPUT.lock();
    journal::say(logged::accessed(step, address, site, &modules));
}

/// Says that something could not be decided at a place, once for each place and reason. An exploration that claims proofs
/// is undecided then; without [`Options::exact`] nothing is said.
pub(crate) fn undecided(me: &Body, site: Site, why: &str) {
    undecided_with(me.options, site, why);
}

upcalls! {
    /// Tells the program of a finding, if it wants to know.
    "rsan_up_announce" fn announce(finding: &Finding);
    /// Steps of the run so far, under controlled scheduling.
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
        journal::say(Event::Undecided {
            message: why.into(),
            stack: frames(site, &modules),
        });
    }
}

/// Prints a stack.
pub(crate) fn print_stack(site: Site) {
    let modules = modules::modules();
    write_text(text::stack(&frames(site, &modules)).as_bytes());
}
