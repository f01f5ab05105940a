//! Initialisation of C++ function statics.
//!
//! The compiler checks the first byte of a guard with an atomic load before it calls us, so the end of the
//! initialisation has to be an atomic store that the monitor sees. libstdc++'s functions are not instrumented; these
//! take their place. The second byte says that somebody is at it.

use crate::atomic;
use crate::entry::entries;
use crate::sched::{self, For, waits};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};

const ACQUIRE: c_int = 2;
const RELEASE: c_int = 3;

/// Whether somebody initialises the object.
///
/// # Safety
/// `guard` is a guard of the program.
unsafe fn busy<'a>(guard: *mut u8) -> &'a AtomicU8 {
    // SAFETY: the second byte of a guard, which only these functions use.
    unsafe { AtomicU8::from_ptr(guard.add(1)) }
}

/// Returns 1 if the caller has to initialise the object, and 0 when that is done.
unsafe extern "C" fn guard_acquire(guard: *mut u8) -> c_int {
    loop {
        // SAFETY: the program's guard.
        if unsafe { atomic::load(guard, ACQUIRE) } != 0 {
            return 0;
        }
        // SAFETY: the program's guard. ORDERING: acquire, with the release below; the loser only waits.
        if unsafe { busy(guard) }.swap(1, Ordering::Acquire) == 0 {
            // SAFETY: the program's guard.
            if unsafe { atomic::load(guard, ACQUIRE) } == 0 {
                return 1;
            }
            // SAFETY: the program's guard; taken above.
            unsafe { guard_abort(guard) };
            return 0;
        }
        if sched::active() {
            // SAFETY: the program's guard. ORDERING: relaxed; one thread runs at a time.
            let is_busy = || unsafe { busy(guard) }.load(Ordering::Relaxed) != 0;
            waits::while_busy(guard as usize, is_busy);
        } else {
            crate::system::give_way();
        }
    }
}

unsafe extern "C" fn guard_release(guard: *mut u8) {
    // SAFETY: the program's guard.
    unsafe {
        atomic::store(guard, 1, RELEASE);
        guard_abort(guard);
    }
}

/// The initialisation failed; the next one tries again.
unsafe extern "C" fn guard_abort(guard: *mut u8) {
    // SAFETY: the program's guard. ORDERING: release, with the acquire above.
    unsafe { busy(guard) }.store(0, Ordering::Release);
    sched::wake(For::Object(guard as usize));
}

entries! {
    __cxa_guard_acquire => guard_acquire;
    __cxa_guard_release => guard_release;
    __cxa_guard_abort => guard_abort;
}
