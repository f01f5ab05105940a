//! Keys of thread-specific data: their destructors are noted, for threads that end without libc.

use crate::entry::interceptors;
use crate::real;
use crate::sched::keys::set_destructor;
use libc::{c_int, pthread_key_t};

/// A destructor, or 0.
type Destructor = usize;

/// # Safety
/// As the program's call.
unsafe fn noted(key: *const pthread_key_t, destructor: Destructor, result: c_int) -> c_int {
    if result == 0 {
        // SAFETY: the program's place for the key, filled in.
        set_destructor(unsafe { *key }, destructor);
    }
    result
}

unsafe extern "C-unwind" fn create(key: *mut pthread_key_t, destructor: Destructor) -> c_int {
    // SAFETY: the program's call.
    unsafe { noted(key, destructor, real::pthread_key_create(key, destructor)) }
}

unsafe extern "C-unwind" fn c11_create(key: *mut pthread_key_t, destructor: Destructor) -> c_int {
    // SAFETY: the program's call.
    unsafe { noted(key, destructor, real::tss_create(key, destructor)) }
}

unsafe extern "C-unwind" fn delete(key: pthread_key_t) -> c_int {
    set_destructor(key, 0);
    // SAFETY: the program's call.
    unsafe { real::pthread_key_delete(key) }
}

unsafe extern "C-unwind" fn c11_delete(key: pthread_key_t) {
    set_destructor(key, 0);
    // SAFETY: the program's call.
    unsafe { real::tss_delete(key) }
}

interceptors! {
    pthread_key_create => create;
    __pthread_key_create => create;
    pthread_key_delete => delete;
    tss_create => c11_create;
    tss_delete => c11_delete;
}
