//! Ctrl-C: the first one asks the search to stop, so that what was explored is still reported; the second one
//! ends the program.

use crate::session::eprint;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that becomes true when the user (or a supervisor) asks the program to end; when the system refuses the
/// handler, that is said and there is none.
pub(crate) fn stop_flag() -> Option<Arc<AtomicBool>> {
    register()
        .inspect_err(|error| eprint(&format!("error: cannot watch for Ctrl-C: {error}\n")))
        .ok()
}

fn register() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in the order of their registration: the first signal finds the flag unset and only sets
        // it; the next one finds it set and has its default effect.
        flag::register_conditional_default(signal, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
