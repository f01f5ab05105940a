//! Threads that libc has made before the snapshot, for runs that need some.
//!
//! Most of the time of a thread that does a few steps is that of its creation and its end in the kernel, though another
//! kernel thread carries it anyway (see `switch`). So the process that is copied has some threads of libc that wait where
//! the program's function would be called. A copy has their stacks, their thread-local memory and what libc knows of them,
//! but no kernel threads: that is what a thread of the program needs to be carried. It gets a kernel thread of its own when
//! it has to have one, that is for calls that may wait for something outside the program.
//!
//! At its end libc would destroy thread-local objects and the values of keys, which `keys` does instead, and end the kernel thread.
//! Beyond that all that matters is that whoever joins the thread finds that it has ended, and its result. Where more would be left
//! (robust locks...), or where threads are looked at by their kernel threads, none are lent: see [`UNSUITABLE`].

use super::keys;
use super::switch::{self, Carrier, Saved};
use super::wait_until_settled;
use crate::imports;
use crate::lock::Lock;
use crate::modules::{self, Module};
use crate::real;
use crate::system::system_call;
use crate::tls::{self, ABSENT};
use libc::{c_void, pthread_attr_t, pthread_t};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A thread to lend.
#[derive(Debug)]
pub(crate) struct Lent {
    /// Where it waits, with the kernel thread that it has in the process that is copied.
    pub(super) saved: Saved,
    settled: AtomicU32,
    carrier: Box<Carrier>,
    handle: pthread_t,
    /// Which of them it is.
    place: usize,
    /// Where libc has the number of its kernel thread, which is 0 when it has ended.
    pub(super) number: *mut u32,
    /// Its lowest address, and its end.
    stack: [usize; 2],
    /// What it does when it is lent.
    work: unsafe extern "C-unwind" fn(&mut Lent, usize),
    argument: usize,
    /// What it returned; `None` if it has ended in another way, of which libc knows.
    result: Option<*mut c_void>,
}

/// Those that can be lent, and those that were.
#[derive(Debug)]
struct Threads {
    free: Vec<*mut Lent>,
    used: Vec<*mut Lent>,
    /// How many there were.
    made: usize,
}

// SAFETY: who has the lock looks at those that do not run.
unsafe impl Send for Threads {}

static THREADS: Lock<Threads> = Lock::new(Threads {
    free: Vec::new(),
    used: Vec::new(),
    made: 0,
});

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    THREADS.raw()
}

/// Programs that import one of these need threads as libc makes and ends them.
const UNSUITABLE: &[&CStr] = &[
    c"clone",
    c"dlmopen",
    c"dlopen",
    c"pthread_attr_setaffinity_np",
    c"pthread_attr_setsigmask_np",
    c"pthread_cancel",
    c"pthread_getaffinity_np",
    c"pthread_getcpuclockid",
    c"pthread_getname_np",
    c"pthread_getschedparam",
    c"pthread_kill",
    c"pthread_mutexattr_setprotocol",
    c"pthread_mutexattr_setrobust",
    c"pthread_setaffinity_np",
    c"pthread_setattr_default_np",
    c"pthread_setschedparam",
    c"pthread_setschedprio",
    c"pthread_sigqueue",
];

/// Libraries that import some of them for what does not matter here: libc's own, and ours.
const EXEMPT: &[&str] = &[
    "/ld-linux",
    "/libc.so",
    "/libgcc_s.so",
    "/libm.so",
    "/libpthread.so",
    "/librsan_runtime.so",
];

fn is_suitable(module: &Module) -> bool {
    EXEMPT.iter().any(|name| module.path.contains(name))
        || !imports::imports_any(module, UNSUITABLE)
}

/// Makes threads that can be lent; false if the program cannot have such threads, or the system does not let us.
pub(super) fn prepare(count: usize) -> bool {
    if !switch::is_cheap() || !keys::is_ready() || !modules::modules().iter().all(is_suitable) {
        return false;
    }
    // Records that are used together share a page.
    let records: Vec<_> = (0..count).map(Lent::new).collect();
    records.into_iter().all(add)
}

fn add(lent: Box<Lent>) -> bool {
    let lent = Box::into_raw(lent);
    let mut handle = 0;
    // SAFETY: a routine with the argument that it expects, which stays; the real function, so that nobody sees the thread.
    let result =
        unsafe { real::pthread_create(&raw mut handle, std::ptr::null(), wait, lent.cast()) };
    if result != 0 {
        return false;
    }
    // SAFETY: the thread does not write this field, and comes to rest before the others are read.
    let number = unsafe {
        wait_until_settled(&raw const (*lent).settled);
        (*lent).handle = handle;
        (*lent).number
    };
    let known = !number.is_null();
    let mut threads = THREADS.lock();
    threads.made += 1;
    if known {
        threads.free.push(lent);
    }
    known
}

unsafe extern "C-unwind" fn unused(_: &mut Lent, _: usize) {}

/// The first function of the threads: they wait, and go on in copies, as threads of the program.
unsafe extern "C-unwind" fn wait(lent: *mut c_void) -> *mut c_void {
    // What libc does here is not the program's.
    tls::set_context_word(ABSENT);
    let lent = lent.cast::<Lent>();
    // SAFETY: from `add`, which looks at it when the thread has come to rest.
    unsafe {
        (*lent).stack = own_stack().unwrap_or_default();
        if (*lent).stack != [0; 2] {
            (*lent).number = own_number();
        }
        let carrier = &raw const *(*lent).carrier;
        switch::lie_down(&raw mut (*lent).saved, carrier, &raw const (*lent).settled);
        let (work, argument) = ((*lent).work, (*lent).argument);
        work(&mut *lent, argument);
    }
    std::ptr::null_mut()
}

/// Where the system would note the end of the calling kernel thread: libc's number of it. Null if it does not say.
fn own_number() -> *mut u32 {
    let mut place = std::ptr::null_mut::<u32>();
    let arguments = [
        libc::PR_GET_TID_ADDRESS as usize,
        &raw mut place as usize,
        0,
        0,
        0,
        0,
    ];
    // SAFETY: a place for the answer; no arguments.
    let (told, number) = unsafe {
        let told = system_call(libc::SYS_prctl, arguments);
        (told, system_call(libc::SYS_gettid, [0; 6]))
    };
    // SAFETY: the system's answer is a word of this process.
    match told == 0 && !place.is_null() && unsafe { *place } == number as u32 {
        true => place,
        false => std::ptr::null_mut(),
    }
}

/// The calling thread's stack: its lowest address, and its end.
fn own_stack() -> Option<[usize; 2]> {
    // SAFETY: the attributes are filled in before they are read.
    unsafe {
        let mut attr = std::mem::zeroed::<pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attr) != 0 {
            return None;
        }
        let (mut base, mut bytes) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attr, &raw mut base, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attr);
        (known == 0).then_some([base as usize, base as usize + bytes])
    }
}

/// A thread that nobody has, with so many bytes of stack.
pub(super) fn take(bytes: usize) -> Option<&'static mut Lent> {
    take_if(|lent| lent.has_room(bytes))
}

/// The thread with this number, from 1, if nobody has it, and it has so many bytes of stack.
pub(super) fn take_at(number: usize, bytes: usize) -> Option<&'static mut Lent> {
    take_if(|lent| lent.place + 1 == number && lent.has_room(bytes))
}

fn take_if(wanted: impl Fn(&Lent) -> bool) -> Option<&'static mut Lent> {
    let mut threads = THREADS.lock();
    // SAFETY: the threads are never freed, and their places and stacks do not change.
    let is_it = |lent: &*mut Lent| wanted(unsafe { &**lent });
    let found = threads.free.iter().rposition(is_it)?;
    let lent = threads.free.remove(found);
    threads.used.push(lent);
    // SAFETY: it waits, and is handed out once.
    Some(unsafe { &mut *lent })
}

/// Whether libc counts threads that nobody has seen.
pub(super) fn are_there() -> bool {
    THREADS.lock().made > 0
}

/// The stacks of threads that nobody has: their lowest addresses, and their ends.
pub(super) fn free_stacks() -> Vec<[usize; 2]> {
    let threads = THREADS.lock();
    // SAFETY: the threads are never freed, and their stacks do not change.
    threads
        .free
        .iter()
        .map(|lent| unsafe { (**lent).stack })
        .collect()
}

/// The stack of a thread that was lent and that nobody has joined: its lowest address, and its end.
pub(crate) fn stack_of(handle: pthread_t) -> Option<[usize; 2]> {
    let threads = THREADS.lock();
    // SAFETY: the threads are never freed, and handles and stacks do not change.
    let mut used = threads.used.iter().map(|lent| unsafe { &**lent });
    used.find(|lent| lent.handle == handle)
        .map(|lent| lent.stack)
}

/// What a thread returned that was lent and has ended, for who joins it. It is forgotten then.
pub(crate) fn result(handle: pthread_t) -> Option<*mut c_void> {
    let mut threads = THREADS.lock();
    // SAFETY: the threads are never freed, and handles do not change.
    let is_it = |lent: &*mut Lent| unsafe { (**lent).handle == handle };
    let place = threads.used.iter().position(is_it)?;
    let lent = threads.used.swap_remove(place);
    // SAFETY: as above; it has ended.
    unsafe { (*lent).result }
}

impl Lent {
    fn new(place: usize) -> Box<Self> {
        Box::new(Self {
            place,
            saved: Saved::new(),
            settled: AtomicU32::new(0),
            carrier: Carrier::new(),
            handle: 0,
            number: std::ptr::null_mut(),
            stack: [0; 2],
            work: unused,
            argument: 0,
            result: None,
        })
    }

    /// As libc names it.
    pub(crate) fn handle(&self) -> pthread_t {
        self.handle
    }

    /// Its lowest address, and its end.
    pub(crate) fn stack(&self) -> [usize; 2] {
        self.stack
    }

    fn has_room(&self, bytes: usize) -> bool {
        let [lowest, end] = self.stack;
        bytes <= end - lowest
    }

    /// What it does when it is chosen for the first time.
    pub(crate) fn set_work(
        &mut self,
        work: unsafe extern "C-unwind" fn(&mut Self, usize),
        argument: usize,
    ) {
        (self.work, self.argument) = (work, argument);
    }

    /// It has come to its end.
    pub(crate) fn finish(&mut self, result: Option<*mut c_void>) {
        self.result = result;
        // SAFETY: libc's word, which is there as long as the thread is not joined.
        let number = unsafe { AtomicU32::from_ptr(self.number) };
        // ORDERING: release, with libc's acquire when the thread is joined.
        number.store(0, Ordering::Release);
    }
}
