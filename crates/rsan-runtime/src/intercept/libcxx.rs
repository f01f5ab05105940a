//! What libc++ has in its library, which is not instrumented, and programs rely on for order: `std::call_once`, and the
//! arrival at a `std::barrier`. Its headers, which are compiled with the program, do the rest.

use crate::atomic::{self, CasOrders};
use crate::entry::entries;
use crate::real;
use crate::sched::{self, For, waits};
use crate::sync;
use rsan_model::CasStrength;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

const ACQUIRE: c_int = 2;
const RELEASE: c_int = 3;

/// States of a `std::once_flag`, which the header loads with acquire.
const UNSET: u64 = 0;
const BUSY: u64 = 1;
const DONE: u64 = !0;

/// A call of the function. If that throws, the next one tries again.
struct Attempt {
    flag: *mut u64,
    state: u64,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // SAFETY: the program's flag.
        unsafe { atomic::store(self.flag, self.state, RELEASE) };
        sched::wake(For::Object(self.flag as usize));
    }
}

/// Takes the place of the library's function, so that the monitor sees the store that the header's load reads.
unsafe extern "C-unwind" fn call_once(
    flag: *mut u64,
    argument: *mut c_void,
    function: unsafe extern "C-unwind" fn(*mut c_void),
) {
    let orders = CasOrders {
        success: ACQUIRE,
        failure: ACQUIRE,
    };
    loop {
        // SAFETY: the program's flag.
        let (found, won) =
            unsafe { atomic::compare_exchange(flag, UNSET, BUSY, orders, CasStrength::Strong) };
        if won {
            let mut attempt = Attempt { flag, state: UNSET };
            // SAFETY: the program's function and its argument.
            unsafe { function(argument) };
            attempt.state = DONE;
            return;
        }
        if found == DONE {
            return;
        }
        if sched::active() {
            // SAFETY: the program's flag. ORDERING: relaxed; one thread runs at a time.
            let is_busy = || unsafe { AtomicU64::from_ptr(flag) }.load(Ordering::Relaxed) == BUSY;
            waits::while_busy(flag as usize, is_busy);
        } else {
            crate::system::give_way();
        }
    }
}

/// Who arrives last comes after all others; they wait for it in the header.
unsafe extern "C" fn arrive(barrier: *mut c_void, phase: u8) -> bool {
    let object = barrier as usize;
    sync::release(object);
    // SAFETY: the program's arguments.
    let last = unsafe {
        real::_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh(
            barrier, phase,
        )
    };
    if last {
        sync::acquire(object);
    }
    last
}

entries! {
    _ZNSt3__111__call_onceERVmPvPFvS2_E => call_once;
    _ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh => arrive;
}
