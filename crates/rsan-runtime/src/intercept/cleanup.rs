//! What is done when a thread ends in the middle of a call: by cancellation, or by `pthread_exit`.

use libc::{c_int, c_void};

/// What libc runs then.
#[repr(C)]
struct Cleanup {
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    kind: c_int,
    previous: *mut c_void,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

unsafe extern "C" fn run<F: Fn()>(leaving: *mut c_void) {
    // SAFETY: from `on_leaving`, whose frame is still there.
    unsafe { (*leaving.cast::<F>())() };
}

/// Runs `act`, and `leaving` if the thread ends in it.
pub(super) fn on_leaving<F: Fn(), R>(leaving: F, act: impl FnOnce() -> R) -> R {
    let mut cleanup = Cleanup {
        routine: None,
        argument: std::ptr::null_mut(),
        kind: 0,
        previous: std::ptr::null_mut(),
    };
    let argument = (&raw const leaving).cast_mut().cast();
    // SAFETY: popped below, before the buffer goes; or run by libc, which then leaves this function.
    unsafe { _pthread_cleanup_push(&raw mut cleanup, run::<F>, argument) };
    let result = act();
    // SAFETY: pushed above.
    unsafe { _pthread_cleanup_pop(&raw mut cleanup, 0) };
    result
}
