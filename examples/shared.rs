//! A reference count of its own. To drop a reference releases, but whoever drops the last one does not acquire: it may free
//! the value before another owner has used it for the last time.
#![allow(unexpected_cfgs)]

use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

struct Shared<T>(NonNull<Inner<T>>);

// SAFETY: owners share the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        let owners = AtomicUsize::new(1);
        Self(NonNull::from(Box::leak(Box::new(Inner { owners, value }))))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: it is there as long as it has an owner.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        self.inner().owners.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.inner().owners.fetch_sub(1, Ordering::Release) == 1 {
            if cfg!(fixed) {
                fence(Ordering::Acquire);
            }
            // SAFETY: this was the last owner.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// A buffer of two halves, one for each thread.
struct Buffer {
    halves: [Cell<u32>; 2],
}

// SAFETY: each thread uses its own half.
unsafe impl Sync for Buffer {}

fn main() {
    let buffer = Shared::new(Buffer { halves: [Cell::new(0), Cell::new(0)] });
    let other = buffer.clone();
    let first = thread::spawn(move || buffer.halves[0].set(1));
    let second = thread::spawn(move || other.halves[1].set(2));
    first.join().unwrap();
    second.join().unwrap();
}
