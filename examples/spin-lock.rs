//! A spin lock that unlocks with a relaxed store: what one owner writes, the next one need not see.
#![allow(unexpected_cfgs)]

use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const UNLOCK: Ordering = if cfg!(fixed) { Ordering::Release } else { Ordering::Relaxed };

struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only who has the lock uses the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    const fn new(value: T) -> Self {
        Self {
            locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        while self.locked.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        // SAFETY: this thread has the lock.
        let result = work(unsafe { &mut *self.value.get() });
        self.locked.store(false, UNLOCK);
        result
    }
}

static COUNTS: SpinLock<Vec<u32>> = SpinLock::new(Vec::new());

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|i| thread::spawn(move || COUNTS.with(|counts| counts.push(i))))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} entries", COUNTS.with(|counts| counts.len()));
}
