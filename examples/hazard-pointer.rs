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
static HAZARDS: [AtomicPtr<Node>; 3] = [const { AtomicPtr::new(ptr::null_mut()) }; 3];

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value }))
}

fn read(hazard: &AtomicPtr<Node>) -> Option<u32> {
    let node = CURRENT.load(Ordering::Acquire);
    hazard.store(node, Ordering::Release);
    if cfg!(fixed) {
        fence(Ordering::SeqCst);
    }
    let current = CURRENT.load(Ordering::Acquire) == node;
    // SAFETY: nobody frees the node while it is announced.
    let value = current.then(|| unsafe { (*node).value });
    hazard.store(ptr::null_mut(), Ordering::Release);
    value
}

fn replace(value: u32) {
    let old = CURRENT.swap(node(value), Ordering::AcqRel);
    if cfg!(fixed) {
        fence(Ordering::SeqCst);
    }
    if HAZARDS.iter().all(|hazard| hazard.load(Ordering::Acquire) != old) {
        // SAFETY: nobody can find the node any more.
        drop(unsafe { Box::from_raw(old) });
    }
}

fn main() {
    CURRENT.store(node(1), Ordering::Relaxed);
    thread::scope(|scope| {
        let readers = HAZARDS.each_ref().map(|hazard| scope.spawn(|| read(hazard)));
        replace(2);
        println!("read {:?}", readers.map(|reader| reader.join().unwrap()));
    });
}
