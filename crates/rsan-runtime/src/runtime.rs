//! Start, end and fork.

use crate::hooks::default_options;
use crate::options::{self, Options};
#[cfg(not(test))]
use crate::system::system_call;
use crate::upcall::answers;
use crate::{
    allocator, ending, fork, heap, inherited, journal, mapping, sched, shadow, suppress, thread,
};
#[cfg(not(test))]
use libc::c_int;
use libc::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

answers! {
    "rsan_up_start" thread::start_runtime => start;
}

const NOT_STARTED: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);

/// Leaves a trace in the list of mappings by which `rsan run` tells that this process, or the one that it is a copy of, is awake.
#[cfg(not(test))]
fn mark_process() {
    let name = c"rsan-awake";
    // SAFETY: an empty file in memory, mapped without access, and closed.
    unsafe {
        let close = libc::MFD_CLOEXEC as usize;
        let file = system_call(
            libc::SYS_memfd_create,
            [name.as_ptr() as usize, close, 0, 0, 0, 0],
        );
        if let Ok(file) = usize::try_from(file) {
            let shared = libc::MAP_SHARED as usize;
            system_call(
                libc::SYS_mmap,
                [0, 1, libc::PROT_NONE as usize, shared, file, 0],
            );
            system_call(libc::SYS_close, [file, 0, 0, 0, 0, 0]);
        }
    }
}

/// Starts the runtime, if that was not done yet. Returns when it is started.
pub fn start() {
    // ORDERING: acquire, with the release at the end of the first call.
    if STATE.load(Ordering::Acquire) == STARTED {
        return;
    }
    // ORDERING: acquire-release; one caller wins, the others wait.
    let first = STATE.compare_exchange(NOT_STARTED, STARTING, Ordering::AcqRel, Ordering::Acquire);
    if first.is_err() {
        // ORDERING: acquire, as above.
        while STATE.load(Ordering::Acquire) != STARTED {
            crate::system::give_way();
        }
        return;
    }
    crate::real::start(crate::intercept::TABLES);
    crate::intercept::control::start();
    crate::intercept::processes::start();
    let given = std::env::var("RSAN_OPTIONS").ok();
    let text = settings(is_privileged(), given, inherited::options);
    let tsan = std::env::var("TSAN_OPTIONS")
        .ok()
        .filter(|_| !is_privileged());
    let tsan = tsan.unwrap_or_default();
    let (options, complaints) = Options::parse(&[], &text);
    crate::output::write_to(2, complaints.as_bytes());
    if options.server.is_empty() {
        mapping::start();
    } else {
        // Many runs from a snapshot: what a run maps is given back at its end.
        allocator::economise();
    }
    journal::start(&options);
    #[cfg(not(test))]
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        crate::fatal::die(&["internal error, please report it: ", &text]);
    }));
    #[cfg(not(test))]
    mark_process();
    shadow::start();
    heap::start();
    crate::intercept::copies::start();
    // The program's own functions are called from here on, and may be instrumented.
    let (options, _) = Options::parse(&[&default_options(), &tsan], &text);
    if options.help {
        crate::output::write_to(2, Options::table().as_bytes());
    }
    let options = options::set(options);
    crate::output::set_path(&options.text_path);
    suppress::start(options);
    crate::modules::start();
    thread::start(options);
    let mut key = 0;
    // SAFETY: plain registrations of functions that live as long as the process.
    let failed = unsafe {
        crate::real::pthread_key_create(&raw mut key, end_of_thread as *const () as usize) != 0
            || !fork::start()
            || libc::atexit(ending::at_exit) != 0
    };
    if failed {
        crate::fatal::die(&["cannot register with libc"]);
    }
    thread::set_key(key);
    // ORDERING: release, with the acquires above.
    STATE.store(STARTED, Ordering::Release);
}

/// Whether the program has rights that its caller has not: it is `setuid`, `setgid` or has capabilities of its file.
fn is_privileged() -> bool {
    // SAFETY: no memory is touched.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The text of the settings. Whoever starts a privileged program must not make it read or write files: such a program takes
/// none from outside.
fn settings(
    privileged: bool,
    given: Option<String>,
    inherited: impl FnOnce() -> Option<String>,
) -> String {
    match privileged {
        true => String::new(),
        false => given.or_else(inherited).unwrap_or_default(),
    }
}

/// Called at the end of a thread; lets the other destructors go first.
unsafe extern "C" fn end_of_thread(rounds: *mut c_void) {
    if !thread::is_last_round(rounds as usize) {
        return;
    }
    // The destructors may have been scheduled.
    sched::move_home();
    if let Some(number) = crate::intercept::threads::finish_thread() {
        sched::ended(number);
    }
}

/// The loader starts the runtime with the library.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: unsafe extern "C" fn(c_int, Texts, Texts) = {
    unsafe extern "C" fn at_load(_: c_int, argv: Texts, environment: Texts) {
        if !crate::awake::is_awake() {
            return;
        }
        thread::attach();
        // Files whose functions at the start are not called, as those that a linker left out, are instrumented, too.
        crate::callers::note();
        crate::hooks::initialized();
        if options::current().is_some_and(Options::owns_schedule) {
            // SAFETY: glibc's loader passes what `main` gets.
            unsafe { crate::intercept::steady::restart(argv, environment) };
        }
    }
    at_load
};

/// C strings, up to a null pointer.
#[cfg(not(test))]
type Texts = *const *const libc::c_char;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_privileged_program_takes_no_settings() {
        let given = || Some("log=/etc/passwd".to_owned());
        assert_eq!(settings(false, given(), || None), "log=/etc/passwd");
        assert_eq!(settings(false, None, given), "log=/etc/passwd");
        assert_eq!(settings(true, given(), given), "");
        assert_eq!(settings(true, None, given), "");
    }
}
