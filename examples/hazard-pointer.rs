//! A reader announces the node that it reads in a hazard pointer, then looks whether the node is still the current one. Nothing
//! keeps the store before the load, so the writer may miss the announcement and free the node under the reader.
#![allow(unexpected_cfgs)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, fence};
use std::thread;

struct Node {
    value: u32,
}

static CURRENT: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static HAZARD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value }))
}

fn read() -> Option<u32> {
    let node = CURRENT.load(Ordering::Acquire);
    HAZARD.store(node, Ordering::Release);
    if cfg!(fixed) {
        fence(Ordering::SeqCst);
    }
    let current = CURRENT.load(Ordering::Acquire) == node;
    // SAFETY: nobody frees the node while it is announced.
    let value = current.then(|| unsafe { (*node).value });
    HAZARD.store(ptr::null_mut(), Ordering::Release);
    value
}

fn replace(value: u32) {
    let old = CURRENT.swap(node(value), Ordering::AcqRel);
    if cfg!(fixed) {
        fence(Ordering::SeqCst);
    }
    if HAZARD.load(Ordering::Acquire) != old {
        // SAFETY: nobody can find the node any more.
        drop(unsafe { Box::from_raw(old) });
    }
}

fn main() {
    CURRENT.store(node(1), Ordering::Relaxed);
    let reader = thread::spawn(read);
    replace(2);
    println!("read {:?}", reader.join().unwrap());
}
