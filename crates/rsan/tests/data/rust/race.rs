// Races on the user's own memory, some of them through the standard library. The second thread waits until the first one has
// made its accesses, so every run has them in this order.
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static mut LOG: Vec<u32> = Vec::new();

struct Slot {
    state: AtomicUsize,
    value: UnsafeCell<u64>,
}
unsafe impl Sync for Slot {}

static SLOTS: [Slot; 2] = [const {
    Slot {
        state: AtomicUsize::new(0),
        value: UnsafeCell::new(0),
    }
}; 2];

struct Shared(Cell<u32>);
unsafe impl Sync for Shared {}
unsafe impl Send for Shared {}

impl<T> Publish for T {}
trait Publish: Sized {
    fn publish(self, value: u64) -> Self {
        unsafe { *SLOTS[1].value.get() = value };
        SLOTS[1].state.store(1, Ordering::Relaxed);
        self
    }
}

fn consume() -> u64 {
    while SLOTS[1].state.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
    unsafe { *SLOTS[1].value.get() }
}

#[allow(static_mut_refs)]
fn main() {
    let shared = Arc::new(Shared(Cell::new(0)));
    let other = shared.clone();
    let first = thread::spawn(move || {
        unsafe { LOG.push(1) };
        other.0.set(1);
        ().publish(7);
    });
    let second = thread::spawn(move || {
        let value = consume();
        unsafe { LOG.push(2) };
        shared.0.set(2);
        value
    });
    first.join().unwrap();
    assert_eq!(second.join().unwrap(), 7);
}
