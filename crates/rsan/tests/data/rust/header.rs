//! A chunk of memory is published with an atomic counter in it, by a compare-exchange that does not release.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;

struct Chunk {
    len: usize,
    used: AtomicUsize,
}

static CHUNK: AtomicPtr<Chunk> = AtomicPtr::new(null_mut());

fn reserve() -> bool {
    let mut chunk = CHUNK.load(Ordering::Acquire);
    if chunk.is_null() {
        let new = Box::into_raw(Box::new(Chunk {
            len: 16,
            used: AtomicUsize::new(0),
        }));
        chunk = match CHUNK.compare_exchange(null_mut(), new, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => new,
            Err(other) => {
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    let chunk = unsafe { &*chunk };
    let used = chunk.used.fetch_add(4, Ordering::Relaxed);
    used + 4 <= chunk.len
}

fn main() {
    let other = thread::spawn(reserve);
    assert!(reserve());
    assert!(other.join().unwrap());
}
