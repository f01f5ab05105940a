//! Attributes of threads that run: their stacks are those that libc would give them.

use super::threads::GUARD;
use crate::entry::interceptors;
use crate::real;
use crate::sched::{self, heap, lent};
use libc::{c_int, c_void, pthread_attr_t, pthread_t};

unsafe extern "C" {
    fn pthread_attr_setguardsize(attr: *mut pthread_attr_t, bytes: usize) -> c_int;
}

/// The attributes of a thread that was lent: libc would ask the system for its kernel thread, which it does not have.
///
/// # Safety
/// The attributes are the program's, to be filled in.
unsafe fn get_lent([lowest, end]: [usize; 2], attr: *mut pthread_attr_t) -> c_int {
    // SAFETY: the caller's promise, and the stack of a thread.
    unsafe {
        match libc::pthread_attr_init(attr) {
            0 => {
                pthread_attr_setguardsize(attr, GUARD);
                libc::pthread_attr_setstack(attr, lowest as *mut c_void, end - lowest)
            }
            error => error,
        }
    }
}

/// libc does not know of the page below a stack that we gave the thread, and says that it has none.
unsafe extern "C-unwind" fn get(handle: pthread_t, attr: *mut pthread_attr_t) -> c_int {
    if let Some(stack) = lent::stack_of(handle).filter(|_| sched::active()) {
        // SAFETY: the program's call.
        return unsafe { get_lent(stack, attr) };
    }
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
