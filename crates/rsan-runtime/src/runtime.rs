//! Start, end and fork.

use crate::options::Options;
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
    let text = std::env::var("RSAN_OPTIONS").ok();
    let text = text.or_else(inherited::options).unwrap_or_default();
    let (options, complaints) = Options::parse(&text);
    report::write_to(2, complaints.as_bytes());
    if options.help {
        report::write_to(2, Options::table().as_bytes());
    }
    if !options.server.is_empty() {
        allocator::economise();
    }
    let options = Box::leak(Box::new(options));
    // ORDERING: release, with the acquire in `options`.
    OPTIONS.store(options, Ordering::Release);
    suppress::start(options);
    journal::start(options);
    #[cfg(not(test))]
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        report::die(&["internal error, please report it: ", &text]);
    }));
    shadow::start();
    heap::start();
    crate::intercept::memory::start();
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
extern "C" fn before_fork() {
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
extern "C" fn in_child() {
    after_fork();
    thread::end_others();
    deadlock::reset();
    sched::end_in_child();
    report::reset_count();
    suppress::reset_count();
}

/// In the parent, which may be the last to say so: the child is ended with the run.
extern "C" fn in_parent() {
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
        thread::attach();
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
