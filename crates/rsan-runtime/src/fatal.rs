//! The runtime cannot go on: what is said then, and the end.

use crate::output::write_to;
use crate::{hooks, journal};
use std::sync::atomic::{AtomicBool, Ordering};

static DYING: AtomicBool = AtomicBool::new(false);

/// Whether the runtime ends the process.
pub(crate) fn is_dying() -> bool {
    // ORDERING: relaxed; a flag that is only ever set.
    DYING.load(Ordering::Relaxed)
}

/// Ends the process because the runtime cannot go on.
pub fn die(message: &[&str]) -> ! {
    // ORDERING: relaxed; see `is_dying`.
    DYING.store(true, Ordering::Relaxed);
    write_to(2, b"rsan: ");
    for part in message {
        write_to(2, part.as_bytes());
    }
    write_to(2, b"\n");
    journal::fatal(message);
    hooks::dies();
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Ends the process because the system did not map memory for something of the runtime: the negative number of an error.
pub fn not_mapped(error: isize, what: &str) -> ! {
    let refused = [libc::EPERM, libc::EACCES, libc::ENOSYS];
    if refused.iter().any(|number| error == -(*number as isize)) {
        die(&[
            "the program's filter of system calls (seccomp) forbids mmap, which rsan needs for ",
            what,
        ]);
    }
    out_of_memory(what)
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
