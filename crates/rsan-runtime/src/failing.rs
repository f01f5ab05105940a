//! How the program fails: said in the log before it is gone.
//!
//! Failed assertions, `abort` and `exit` come by their interceptors, the status of `main` by who called it. Under controlled scheduling
//! a handler stands for the signals that end a program, as long as the program leaves them alone: it says which one came, and where, and
//! then lets the system do what it does. Of several things that a process says, the first one is the cause.
//!
//! A fault inside the runtime (an atomic access to an address that is not there) may come while the thread holds a lock of a location, so
//! nothing here asks for one. What it does ask for (the log, memory, the tree of stacks) touches no address of the program's.

use crate::entry::SCHEDULED;
use crate::stack::{Node, Site, frames};
use crate::system::{keeping_errno, system_call};
use crate::tls::{self, PROBING};
use crate::{fatal, journal, modules, options, real, thread, unwind};
use libc::{c_int, c_void, siginfo_t};
use rsan_log::{Address, Event, Failure, Manner};
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Set when it is said how this process fails.
static SAID: AtomicBool = AtomicBool::new(false);

/// Whether it is to be said how this process fails. Processes that a run under controlled scheduling has made are no part of it.
fn is_wanted() -> bool {
    // ORDERING: relaxed; set while there is one thread.
    let is_part = |owned: bool| !owned || SCHEDULED.load(Ordering::Relaxed);
    let wanted = options::current().filter(|options| options.announce);
    wanted.is_some_and(|options| is_part(options.owns_schedule()))
        && !fatal::is_dying()
        // ORDERING: relaxed; a flag that is only ever set.
        && !SAID.load(Ordering::Relaxed)
}

fn say(manner: Manner<'_>, thread: Option<ThreadId>, site: Site) {
    let modules = modules::modules();
    let failure = Failure {
        manner,
        thread: thread.map(|thread| thread.0),
        name: thread.and_then(thread::name).map(Into::into),
        stack: frames(site, &modules),
    };
    journal::say(Event::Failed { failure });
    // ORDERING: relaxed; see `is_wanted`.
    SAID.store(true, Ordering::Relaxed);
}

/// The calling thread is about to end the process by a call.
pub(crate) fn fails(manner: Manner<'_>) {
    let me = thread::current().filter(|_| is_wanted());
    let Some(mut me) = me.and_then(thread::Context::enter) else {
        return;
    };
    let site = unwind::complete(me.site());
    keeping_errno(|| say(manner, Some(me.state.id()), site));
}

/// The process is about to end with a status, by a call.
pub(crate) fn exits(status: c_int) {
    if let Some(manner) = failed_with(status) {
        fails(manner);
    }
}

/// `main` has returned.
pub(crate) fn returns(status: c_int) {
    let me = thread::current().filter(|_| is_wanted());
    if let Some(me) = me.and_then(thread::Context::enter)
        && let Some(manner) = failed_with(status)
    {
        say(manner, Some(me.state.id()), Site::default());
    }
}

/// How a process fails that ends with a status; the system keeps its last byte.
fn failed_with(status: c_int) -> Option<Manner<'static>> {
    let status = status as u32 & 0xff;
    (status != 0).then_some(Manner::Exit { status })
}

/// Signals that end a program, and that say what it does wrong.
const FATAL: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
];

/// Whether the handler stands for signals.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// What is done with one of the signals that the program leaves alone.
pub(crate) fn action(signal: c_int) -> Option<libc::sigaction> {
    // ORDERING: relaxed; set while there is one thread.
    let watched = WATCHING.load(Ordering::Relaxed) && FATAL.contains(&signal);
    watched.then(|| {
        // SAFETY: all zeroes is a valid value, which is filled in.
        let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
        action.sa_sigaction = handler();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        action
    })
}

/// The handler of these signals, as the system has it.
pub(crate) fn handler() -> usize {
    come as *const () as usize
}

/// Bytes of the stack of the handler: the thread may have no room left on its own.
const STACK: usize = 64 << 10;

/// From now on the handler stands for the signals that the program leaves alone. Only the calling kernel thread gets a stack for it.
pub(crate) fn watch() {
    // ORDERING: relaxed; there is one thread.
    if WATCHING.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: all zeroes are valid values, which are filled in; the memory and the handler stay as long as the process.
    unsafe {
        let mut old = std::mem::zeroed::<libc::stack_t>();
        if libc::sigaltstack(std::ptr::null(), &raw mut old) == 0
            && old.ss_flags & libc::SS_DISABLE != 0
        {
            let stack = Box::leak(vec![0u128; STACK / size_of::<u128>()].into_boxed_slice());
            let mut new = std::mem::zeroed::<libc::stack_t>();
            (new.ss_sp, new.ss_size) = (stack.as_mut_ptr().cast(), STACK);
            libc::sigaltstack(&raw const new, std::ptr::null_mut());
        }
        for signal in FATAL {
            let mut old = std::mem::zeroed::<libc::sigaction>();
            let is_known = real::sigaction(signal, std::ptr::null(), &raw mut old) == 0;
            if let Some(ours) = action(signal)
                && is_known
                && old.sa_sigaction == libc::SIG_DFL
            {
                real::sigaction(signal, &raw const ours, std::ptr::null_mut());
            }
        }
    }
}

/// How often the handler was called: a second time if it failed itself.
static CALLS: AtomicU32 = AtomicU32::new(0);
/// The first signal, the address that belongs to it, and where the thread was.
static FIRST: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

pub(crate) unsafe extern "C" fn come(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: what the system passes to a handler.
    let (is_fault, address, pc) = unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let pc = registers[libc::REG_RIP as usize] as usize;
        ((*info).si_code > 0, (*info).si_addr() as usize, pc)
    };
    // ORDERING: relaxed, as all accesses here: the process ends, and who comes second says nothing.
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    if calls == 0 {
        let address = if is_fault { address } else { 0 };
        for (word, value) in FIRST.iter().zip([signal as usize, address, pc]) {
            // ORDERING: relaxed, as above.
            word.store(value, Ordering::Relaxed);
        }
    }
    let context = thread::current();
    // A signal that somebody sent may have come anywhere in the runtime.
    let interrupts = !is_fault && context.is_none_or(thread::Context::is_busy);
    if calls < 2 && !interrupts && tls::context_word() != PROBING && is_wanted() {
        // ORDERING: relaxed, as above.
        let [number, address, pc] = FIRST.each_ref().map(|word| word.load(Ordering::Relaxed));
        let manner = Manner::Signal {
            number: number as u32,
            address: is_fault.then_some(Address::from(address)),
        };
        let thread = context.map(|context| context.number_at_end());
        say(manner, thread, place(context, pc, calls == 0));
    }
    go_on(signal, is_fault);
}

/// Where the thread was: its real stack, or, if that cannot be looked at, the calls that were announced.
fn place(context: Option<&'static thread::Context>, pc: usize, is_intact: bool) -> Site {
    let caller = tls::caller();
    // There is no code: it came there by a wrong address, after it called the runtime last.
    let is_lost = modules::find(&modules::modules(), pc).is_none();
    let real = || unwind::interrupted(pc).filter(|_| is_intact);
    if let Some(real) = (!is_lost).then(real).flatten() {
        return real;
    }
    // As if it was a call: its place is that of the instruction before.
    let pc = if is_lost { caller } else { pc + 1 };
    match context {
        Some(context) => context.stack().site(pc),
        None => Site {
            node: Node::UNKNOWN,
            pc,
        },
    }
}

/// The system does what it does with a signal that nobody handles: at once, or when the thread does the same again.
fn go_on(signal: c_int, is_fault: bool) {
    // SAFETY: all zeroes is a valid value: the signal's own action.
    unsafe {
        let action = std::mem::zeroed::<libc::sigaction>();
        real::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
    if !is_fault {
        // SAFETY: no arguments; and then a signal for this thread.
        unsafe {
            let [process, thread] =
                [libc::SYS_getpid, libc::SYS_gettid].map(|call| system_call(call, [0; 6]) as usize);
            system_call(
                libc::SYS_tgkill,
                [process, thread, signal as usize, 0, 0, 0],
            );
        }
    }
}
