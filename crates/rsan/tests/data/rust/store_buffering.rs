use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
fn main() {
    let a = thread::spawn(|| { X.store(1, Release); Y.load(Acquire) });
    let b = thread::spawn(|| { Y.store(1, Release); X.load(Acquire) });
    let _ = (a.join().unwrap(), b.join().unwrap());
}
