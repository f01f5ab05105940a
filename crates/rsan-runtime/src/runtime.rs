//! Start, end and fork.

use crate::abi::hooks::default_options;
use crate::options::Options;
#[cfg(not(test))]
use crate::system::system_call;
use crate::{
    allocator, benign, deadlock, ending, heap, horizon, inherited, journal, location, model, order,
    probe, report, sched, shadow, stack, suppress, thread, trail,
};
#[cfg(not(test))]
use libc::c_int;
use libc::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

const NOT_STARTED: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);
static OPTIONS: AtomicPtr<Options> = AtomicPtr::new(std::ptr::null_mut());
static KEY: AtomicU32 = AtomicU32::new(0);

/// Whether anything is to be seen: not known yet, no, or yes.
static AWAKE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ASLEEP: u8 = 1;
const AWAKE_NOW: u8 = 2;

/// Whether there is something to look at in this process. `rsan run` preloads the library: into programs that have nothing
/// to do with it, too. There it does only what it is called for, and takes no memory, until a library that was compiled for it
/// is loaded ([`wake`]).
pub(crate) fn is_awake() -> bool {
    // ORDERING: relaxed; whoever decides, decides alike.
    match AWAKE.load(Ordering::Relaxed) {
        UNKNOWN => decide(),
        state => state == AWAKE_NOW,
    }
}

#[cold]
fn decide() -> bool {
    let wanted = cfg!(test) || crate::symbols::is_wanted();
    let state = if wanted { AWAKE_NOW } else { ASLEEP };
    // ORDERING: relaxed; see `is_awake`. Nobody is told otherwise before.
    AWAKE.store(state, Ordering::Relaxed);
    wanted
}

/// Code that was compiled for the runtime is there.
pub(crate) fn wake() {
    // ORDERING: relaxed; see `is_awake`.
    AWAKE.store(AWAKE_NOW, Ordering::Relaxed);
}

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
    crate::real::resolve_all();
    crate::intercept::control::start();
    crate::intercept::processes::start();
    let given = std::env::var("RSAN_OPTIONS").ok();
    let text = settings(is_privileged(), given, inherited::options);
    let tsan = std::env::var("TSAN_OPTIONS")
        .ok()
        .filter(|_| !is_privileged());
    let tsan = tsan.unwrap_or_default();
    let (options, complaints) = Options::parse(&[], &text);
    report::write_to(2, complaints.as_bytes());
    if !options.server.is_empty() {
        allocator::economise();
    }
    journal::start(&options);
    #[cfg(not(test))]
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        report::die(&["internal error, please report it: ", &text]);
    }));
    #[cfg(not(test))]
    mark_process();
    shadow::start();
    heap::start();
    crate::intercept::memory::start();
    // The program's own functions are called from here on, and may be instrumented.
    let (options, _) = Options::parse(&[&default_options(), &tsan], &text);
    if options.help {
        report::write_to(2, Options::table().as_bytes());
    }
    let options = Box::leak(Box::new(options));
    // ORDERING: release, with the acquire in `options`.
    OPTIONS.store(options, Ordering::Release);
    report::set_path(&options.text_path);
    suppress::start(options);
    crate::modules::start();
    thread::start(options);
    let mut key = 0;
    // SAFETY: plain registrations of functions that live as long as the process.
    let failed = unsafe {
        libc::pthread_key_create(&raw mut key, Some(end_of_thread)) != 0
            || libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) != 0
            || libc::atexit(ending::at_exit) != 0
    };
    if failed {
        report::die(&["cannot register with libc"]);
    }
    // ORDERING: relaxed; published by the store below.
    KEY.store(key, Ordering::Relaxed);
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

/// The settings, if they are known yet.
pub(crate) fn options() -> Option<&'static Options> {
    // ORDERING: acquire, with the release in `start`.
    let options = OPTIONS.load(Ordering::Acquire);
    // SAFETY: null, or leaked by `start`.
    unsafe { options.as_ref() }
}

/// How many rounds of destructors a thread's end has left.
const ROUNDS: usize = 4;

/// Asks libc to tell when the calling thread ends.
pub(crate) fn notice_end_of_thread() {
    wait_round(ROUNDS);
}

fn wait_round(rounds: usize) {
    // ORDERING: relaxed; set before any context exists.
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key was created; the value is a number and never followed.
    unsafe { libc::pthread_setspecific(key, rounds as *const c_void) };
}

/// Called at the end of a thread; lets the other destructors go first.
unsafe extern "C" fn end_of_thread(rounds: *mut c_void) {
    let rounds = rounds as usize;
    if rounds > 1 {
        wait_round(rounds - 1);
    } else if let Some(number) = finish_thread() {
        sched::ended(number);
    }
}

/// The calling thread is done, but for what libc does; its number, if it is scheduled.
pub(crate) fn finish_thread() -> Option<rsan_model::ThreadId> {
    crate::intercept::locks::end_of_thread();
    let number = sched::number();
    thread::finish();
    deadlock::thread_ended();
    number
}

/// The order in which locks are taken everywhere: registry, reports, log, blocks, contexts, memory.
pub(crate) extern "C" fn before_fork() {
    crate::abi::libatomic::locks()
        .iter()
        .for_each(|lock| lock.lock());
    sched::lock().lock();
    sched::lent::lock().lock();
    sched::waits::lock().lock();
    deadlock::lock().lock();
    crate::intercept::lifetime::lock().lock();
    thread::registry_lock().lock();
    report::locks().iter().for_each(|lock| lock.lock());
    suppress::lock().lock();
    journal::lock().lock();
    probe::lock().lock();
    benign::lock().lock();
    crate::intercept::locks::annotated::lock().lock();
    location::lock_all();
    order::lock().lock();
    model::lock().lock();
    stack::contexts_lock().lock();
    trail::lock().lock();
    thread::owners::lock().lock();
    stack::spare_lock().lock();
    horizon::lock().lock();
    probe::inner_locks().iter().for_each(|lock| lock.lock());
    crate::race::kept_lock().lock();
    allocator::lock_all();
}

/// In the child: what the parent found is the parent's.
pub(crate) extern "C" fn in_child() {
    after_fork();
    thread::end_others();
    deadlock::reset();
    crate::descriptor::forget_all();
    sched::end_in_child();
    report::reset_count();
    suppress::reset_count();
}

/// In the parent, which may be the last to say so: the child is ended with the run.
pub(crate) extern "C" fn in_parent() {
    after_fork();
    if sched::active() {
        journal::forked();
    }
}

/// In the parent and in the child.
extern "C" fn after_fork() {
    allocator::unlock_all();
    probe::inner_locks().iter().for_each(|lock| lock.unlock());
    crate::race::kept_lock().unlock();
    horizon::lock().unlock();
    stack::spare_lock().unlock();
    thread::owners::lock().unlock();
    trail::lock().unlock();
    stack::contexts_lock().unlock();
    model::lock().unlock();
    order::lock().unlock();
    location::unlock_all();
    crate::intercept::locks::annotated::lock().unlock();
    benign::lock().unlock();
    probe::lock().unlock();
    journal::lock().unlock();
    suppress::lock().unlock();
    report::locks().iter().for_each(|lock| lock.unlock());
    thread::registry_lock().unlock();
    crate::intercept::lifetime::lock().unlock();
    deadlock::lock().unlock();
    sched::waits::lock().unlock();
    sched::lent::lock().unlock();
    sched::lock().unlock();
    crate::abi::libatomic::locks()
        .iter()
        .for_each(|lock| lock.unlock());
}

/// The loader starts the runtime with the library.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: unsafe extern "C" fn(c_int, Texts, Texts) = {
    unsafe extern "C" fn at_load(_: c_int, argv: Texts, environment: Texts) {
        if !is_awake() {
            return;
        }
        thread::attach();
        crate::abi::hooks::initialized();
        if options().is_some_and(Options::owns_schedule) {
            // SAFETY: glibc's loader passes what `main` gets.
            unsafe { sched::steady::restart(argv, environment) };
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
