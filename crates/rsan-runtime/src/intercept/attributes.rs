//! Attributes of threads that run: their stacks are those that libc would give them.

use crate::entry::interceptors;
use crate::real;
use crate::sched::heap;
use libc::{c_int, pthread_attr_t, pthread_t};

unsafe extern "C" {
    fn pthread_attr_setguardsize(attr: *mut pthread_attr_t, bytes: usize) -> c_int;
}

/// libc does not know of the page below a stack that we gave the thread, and says that it has none.
unsafe extern "C-unwind" fn get(handle: pthread_t, attr: *mut pthread_attr_t) -> c_int {
    // SAFETY: the program's call, and its attributes, filled in.
    unsafe {
        let result = real::pthread_getattr_np(handle, attr);
        let (mut lowest, mut bytes) = (std::ptr::null_mut(), 0);
        if result == 0
            && libc::pthread_attr_getstack(attr, &raw mut lowest, &raw mut bytes) == 0
            && let Some(guard) = heap::guard_below(lowest as usize)
        {
            pthread_attr_setguardsize(attr, guard);
        }
        result
    }
}

interceptors! {
    pthread_getattr_np => get;
}
