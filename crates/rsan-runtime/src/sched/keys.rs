//! Keys of thread-specific data, and what libc does with their values at the end of a thread: for threads that end without libc.

use crate::real::Real;
use libc::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Keys that there can be (`PTHREAD_KEYS_MAX`), and how often destructors are called (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const KEYS: usize = 1024;
const ROUNDS: usize = 4;

/// By key: its destructor, or 0.
static DESTRUCTORS: [AtomicUsize; KEYS] = [const { AtomicUsize::new(0) }; KEYS];
/// Keys from here on have none.
static END: AtomicU32 = AtomicU32::new(0);

/// libc's function that destroys the thread-local objects of the calling thread.
static DESTROY_OBJECTS: Real = Real::new(c"__call_tls_dtors");

/// Whether a thread can end without libc.
pub(super) fn is_ready() -> bool {
    DESTROY_OBJECTS.look_up().is_some()
}

/// The program has made a key, or deletes it (0).
pub(crate) fn set_destructor(key: u32, destructor: usize) {
    if let Some(place) = DESTRUCTORS.get(key as usize) {
        // ORDERING: relaxed, as below: under controlled scheduling one thread runs at a time.
        place.store(destructor, Ordering::Relaxed);
    }
    if destructor != 0 {
        // ORDERING: relaxed, as above.
        END.fetch_max(key + 1, Ordering::Relaxed);
    }
}

/// The calling thread ends: its thread-local objects and the values of its keys are destroyed, in the order of libc.
///
/// # Safety
/// The thread runs nothing of the program afterwards. [`is_ready`].
pub(crate) unsafe fn destroy_all() {
    type Act = unsafe extern "C-unwind" fn();
    // SAFETY: the caller's promise; libc's function has no arguments.
    unsafe { std::mem::transmute::<usize, Act>(DESTROY_OBJECTS.address())() };
    for _ in 0..ROUNDS {
        let mut found = false;
        // ORDERING: relaxed; see `set_destructor`. Destructors may make keys.
        for key in 0..END.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            found |= unsafe { destroy(key) };
        }
        if !found {
            return;
        }
    }
}

/// Calls the destructor of a key, if it has one, and the calling thread a value; whether it did.
///
/// # Safety
/// As [`destroy_all`].
unsafe fn destroy(key: u32) -> bool {
    type Destructor = unsafe extern "C-unwind" fn(*mut c_void);
    // ORDERING: relaxed; see `set_destructor`.
    let destructor = DESTRUCTORS[key as usize].load(Ordering::Relaxed);
    if destructor == 0 {
        return false;
    }
    // SAFETY: a key that was made; a destructor of the program, for a value that it gave this key.
    unsafe {
        let value = libc::pthread_getspecific(key);
        if value.is_null() {
            return false;
        }
        libc::pthread_setspecific(key, std::ptr::null());
        std::mem::transmute::<usize, Destructor>(destructor)(value);
    }
    true
}
