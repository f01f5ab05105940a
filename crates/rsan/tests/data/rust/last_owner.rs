//! Two owners give a value up; the last one writes to it. The counter neither releases nor acquires.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Shared {
    owners: AtomicUsize,
    value: UnsafeCell<u64>,
}

// SAFETY: none, which is what is tested.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    owners: AtomicUsize::new(2),
    value: UnsafeCell::new(1),
};

fn read_and_give_up() {
    let read = unsafe { *SHARED.value.get() };
    std::hint::black_box(read);
    if SHARED.owners.fetch_sub(1, Ordering::Relaxed) == 1 {
        unsafe { *SHARED.value.get() = 0 };
    }
}

fn main() {
    let other = thread::spawn(read_and_give_up);
    read_and_give_up();
    other.join().unwrap();
}
