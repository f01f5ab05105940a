//! Threads and atomics of the standard library, used right: no finding.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, AtomicUsize, Ordering, fence};
use std::thread;

struct Slot {
    value: UnsafeCell<String>,
    full: AtomicBool,
}

unsafe impl Sync for Slot {}

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTE: AtomicU8 = AtomicU8::new(0);
static WORD: AtomicU64 = AtomicU64::new(1);

fn main() {
    let slot = Arc::new(Slot {
        value: UnsafeCell::new(String::new()),
        full: AtomicBool::new(false),
    });
    let writer = {
        let slot = slot.clone();
        thread::spawn(move || {
            unsafe { &mut *slot.value.get() }.push_str("a value that is kept outside of the slot");
            fence(Ordering::Release);
            slot.full.store(true, Ordering::Relaxed);
        })
    };
    writer.join().expect("the writer ends");
    let reader = {
        let slot = slot.clone();
        thread::spawn(move || {
            assert!(slot.full.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            unsafe { &*slot.value.get() }.len()
        })
    };
    assert_eq!(reader.join().expect("the reader ends"), 40);
    let mut numbers = vec![0u64; 64];
    thread::scope(|scope| {
        let fill = |part: &mut [u64]| {
            for number in part {
                COUNT.fetch_add(1, Ordering::SeqCst);
                BYTE.fetch_xor(1, Ordering::SeqCst);
                WORD.fetch_max(COUNT.load(Ordering::SeqCst) as u64, Ordering::SeqCst);
                *number = WORD.load(Ordering::SeqCst);
            }
        };
        // Joined here: that the scope itself waits is not seen, for the standard library is not instrumented.
        let parts = numbers.chunks_mut(16);
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || fill(part))).collect();
        for thread in threads {
            thread.join().expect("the thread ends");
        }
    });
    assert_eq!(COUNT.load(Ordering::SeqCst), 64);
    assert!(numbers.iter().all(|number| (1..=64).contains(number)));
}
