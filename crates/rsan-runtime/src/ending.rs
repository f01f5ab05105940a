//! The end of the process: the summary, and the exit status.
//!
//! `exit` and the return from `main` come to `at_exit`, `_exit`, `abort` and failed assertions to interceptors. Where every execution is explored, the end waits
//! until no other thread can go on ([`sched`]), so that others may come to an end of the process, too. A process that a signal ends, or
//! that executes another program, has no summary, and its findings do not change its status.

use crate::entry::{entries, interceptors};
use crate::finding::{Finding, Misuse, Operation, Side};
use crate::hooks;
use crate::options::{self, Options};
use crate::system::end_process;
use crate::thread::{self, enter};
use crate::{failing, journal, probe, real, report, sched, suppress, tls};
use libc::{c_char, c_int, c_uint};
use rsan_log::Manner;
use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

static SAID: AtomicBool = AtomicBool::new(false);

/// Says what there was, and returns the status that the process is to end with, if not its own.
fn sum_up() -> Option<c_int> {
    let options = options::current()?;
    sched::end_run();
    let (findings, suppressed) = (report::count(), suppress::count());
    // ORDERING: relaxed; a flag that is only ever set.
    if !SAID.swap(true, Ordering::Relaxed) {
        say(options, findings, suppressed);
    }
    // Who set it to 0 reads the log, and must learn that something is missing there.
    let status = match options.exitcode {
        0 if journal::lost() => Options::default().exitcode,
        given => given,
    };
    // The program may have a say in it, once.
    static FAILED: AtomicBool = AtomicBool::new(false);
    static ASKED: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed; the process ends in one thread.
    if !ASKED.swap(true, Ordering::Relaxed) {
        // ORDERING: relaxed, as above.
        FAILED.store(hooks::finalize(findings > 0), Ordering::Relaxed);
    }
    // ORDERING: relaxed, as above.
    (FAILED.load(Ordering::Relaxed) && status != 0).then_some(status)
}

fn say(options: &Options, findings: usize, suppressed: usize) {
    if options.stats {
        let [waits, questions, unsettled] = probe::counts();
        let text = format!(
            "rsan: {waits} weak accesses only wait ({questions} questions, {unsettled} without a fixed point)\n"
        );
        crate::output::write_to(2, text.as_bytes());
    }
    if options.summary && findings + suppressed > 0 {
        let s = if findings == 1 { "" } else { "s" };
        let more = match suppressed {
            0 => String::new(),
            number => format!(", {number} suppressed"),
        };
        let mut text = format!("rsan: {findings} finding{s}{more}\n");
        if options.text && findings > 0 {
            let name = std::env::args_os().next().unwrap_or_default();
            let name = crate::output::printable(&name.to_string_lossy());
            text += &format!(
                "rsan: `rsan run -- {name} ...` shows functions, lines and names of variables\n"
            );
        }
        crate::output::write_text(text.as_bytes());
    }
}

/// Reports threads that have ended, and that nobody joined or detached. Those that still run may be meant to.
fn look_for_leaks() {
    if sched::active() {
        return;
    }
    let Some(mut me) = enter().filter(|me| me.options.thread_leaks) else {
        return;
    };
    for (thread, site, [ended, running]) in thread::leaks() {
        let more = match running {
            0 => String::new(),
            _ => format!(", {running} more still run"),
        };
        let text = match ended {
            1 => format!("the thread has ended, and was neither joined nor detached{more}"),
            _ => format!("{ended} threads have ended, and were neither joined nor detached{more}"),
        };
        let finding = Finding::Misuse {
            what: Misuse::ThreadLeak(text.leak()),
            address: 0,
            bytes: 0,
            access: Side::plain(Some(thread), Operation::CreateThread, site),
            earlier: None,
        };
        report::report(&mut me, &finding);
    }
}

/// At the normal end of the process.
pub(crate) extern "C" fn at_exit() {
    look_for_leaks();
    if let Some(status) = sum_up() {
        // SAFETY: the program's output is not lost; other threads may go on until the process is gone.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        end_process(status);
    }
}

extern "C" fn at_once(status: c_int) -> ! {
    failing::exits(status);
    end_again(status);
    end_process(sum_up().unwrap_or(status))
}

unsafe extern "C-unwind" fn leave(status: c_int) -> ! {
    failing::exits(status);
    end_again(status);
    // SAFETY: the program's call.
    unsafe { real::exit(status) }
}

/// If another thread is about to end the process, and waits for the calling one, this is the end: it might have come first. That counts
/// if it is a failure.
fn end_again(status: c_int) {
    if !sched::is_ending() {
        return;
    }
    if status == 0 {
        sched::wait_for_others();
    }
    sched::end_early();
    end_process(status)
}

unsafe extern "C-unwind" fn give_up() -> ! {
    failing::fails(Manner::Abort);
    // SAFETY: the program's call.
    unsafe { real::abort() }
}

/// A text of the program; `None` if there is none.
///
/// # Safety
/// Null, or a C string that stays.
unsafe fn text(text: *const c_char) -> Option<Cow<'static, str>> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// An assertion fails.
///
/// # Safety
/// As [`text`].
unsafe fn disproved(
    condition: impl FnOnce() -> Option<Cow<'static, str>>,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) {
    let caller = tls::caller();
    // SAFETY: the caller's promise.
    let (condition, file, function) = unsafe { (condition(), text(file), text(function)) };
    // The texts' ends were looked for in between.
    tls::set_caller(caller);
    failing::fails(Manner::Assertion {
        text: condition.unwrap_or_default(),
        file: file.unwrap_or_default(),
        line,
        function,
    });
}

unsafe extern "C-unwind" fn assertion(
    condition: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    // SAFETY: the program's call.
    unsafe {
        disproved(|| text(condition), file, line, function);
        real::__assert_fail(condition, file, line, function)
    }
}

unsafe extern "C-unwind" fn assertion_anywhere(
    condition: *const c_char,
    file: *const c_char,
    line: c_int,
) -> ! {
    // SAFETY: the program's call.
    unsafe {
        disproved(|| text(condition), file, line as c_uint, std::ptr::null());
        real::__assert(condition, file, line)
    }
}

/// The program found that something has failed, by the number of its error.
unsafe extern "C-unwind" fn unexpected(
    error: c_int,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    let what = || Some(std::io::Error::from_raw_os_error(error).to_string().into());
    // SAFETY: the program's call.
    unsafe {
        disproved(what, file, line, function);
        real::__assert_perror_fail(error, file, line, function)
    }
}

interceptors! {
    abort => give_up;
    __assert_fail => assertion;
    __assert => assertion_anywhere;
    __assert_perror_fail => unexpected;
}

entries! {
    _exit => at_once;
    _Exit => at_once;
    exit => leave;
}
