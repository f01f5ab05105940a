//! What tests of ThreadSanitizer use: a barrier that threads meet at without an order between them, and how many functions
//! the calling thread is in.

use crate::entry::entries;
use crate::system;
use crate::thread::current;
use std::sync::atomic::{AtomicU32, Ordering};

/// Lies in the 8 bytes of the program's.
#[repr(C)]
struct Barrier {
    threads: u32,
    /// How many have come, in all rounds.
    arrived: AtomicU32,
}

unsafe extern "C" fn init(place: *mut Barrier, threads: u32) {
    // SAFETY: 8 bytes of the program's, which no other thread uses yet.
    unsafe {
        place.write_unaligned(Barrier {
            threads,
            arrived: AtomicU32::new(0),
        });
    }
}

/// Nothing is seen of it, and so it orders nothing. A schedule of ours does not know that threads wait here.
unsafe extern "C" fn wait(barrier: *const Barrier) {
    // SAFETY: set up by `init`.
    let barrier = unsafe { &*barrier };
    let threads = barrier.threads.max(1);
    // ORDERING: seq_cst; the program may count on what the processor orders, as a barrier does.
    let number = barrier.arrived.fetch_add(1, Ordering::SeqCst);
    let last = (number / threads + 1).wrapping_mul(threads);
    if number + 1 == last {
        return system::futex_wake(&barrier.arrived);
    }
    loop {
        // ORDERING: seq_cst, as above.
        let arrived = barrier.arrived.load(Ordering::SeqCst);
        if arrived.wrapping_sub(last) as i32 >= 0 {
            return;
        }
        system::futex_wait(&barrier.arrived, arrived);
    }
}

extern "C" fn depth() -> usize {
    let context = current().filter(|context| !context.is_busy());
    context.map_or(0, |context| context.stack().depth())
}

entries! {
    __tsan_testonly_shadow_stack_current_size => depth;
    __tsan_testonly_barrier_init => init;
    __tsan_testonly_barrier_wait => wait;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_on_when_all_have_come() {
        let barrier = Barrier {
            threads: 3,
            arrived: AtomicU32::new(0),
        };
        let rounds = 50;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=rounds {
                        // SAFETY: a barrier.
                        unsafe { wait(&raw const barrier) };
                        let arrived = barrier.arrived.load(Ordering::SeqCst);
                        assert!(arrived >= 3 * round, "{arrived} in round {round}");
                    }
                });
            }
        });
        assert_eq!(barrier.arrived.into_inner(), 3 * rounds);
    }
}
