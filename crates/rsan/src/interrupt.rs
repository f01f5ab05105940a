//! Ctrl-C, and other signals that ask for an end: the first one asks the search to stop, so that what was explored is still
//! reported; the second one ends the program. Supervisors send a signal to a process and to its group: what comes at once is one request.

use crate::session::eprint;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Nobody asks twice within this time.
const AT_ONCE: Duration = Duration::from_millis(300);

/// A flag that becomes true when the user (or a supervisor) asks the program to end; when the system refuses the
/// handler, that is said and there is none.
pub(crate) fn stop_flag() -> Option<Arc<AtomicBool>> {
    register()
        .inspect_err(|error| eprint(&format!("error: cannot watch for Ctrl-C: {error}\n")))
        .ok()
}

fn register() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // `nohup`, and shells in the background, have these ignored.
    let ignored = ignored();
    let wanted = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    let more = [SIGHUP, SIGQUIT].into_iter().filter(wanted);
    let all: Vec<_> = [SIGINT, SIGTERM].into_iter().chain(more).collect();
    let asked = asked(&all)?.unwrap_or_else(|| Arc::clone(&stop));
    for signal in all {
        // Handlers run in the order of their registration. Once it is known that the user asked, the next signal has its default effect.
        flag::register_conditional_default(signal, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    // A file that may not become larger is an error of whoever writes it.
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(stop)
}

/// A flag that becomes true when the first of the signals is no longer news; none if there is no thread to wait for that.
fn asked(all: &[i32]) -> io::Result<Option<Arc<AtomicBool>>> {
    let mut signals = Signals::new(all)?;
    let asked = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&asked);
    let watch = move || {
        if signals.forever().next().is_some() {
            thread::sleep(AT_ONCE);
            theirs.store(true, Ordering::Relaxed);
        }
    };
    let started = thread::Builder::new().spawn(watch);
    Ok(started.is_ok().then_some(asked))
}

/// The signals that this process was started to ignore, a bit for each; none if the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0))
}
