//! A value that is published without release and acquire.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static mut VALUE: i32 = 0;
static READY: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
pub extern "C" fn published() -> i32 {
    let writer = thread::spawn(|| {
        unsafe { VALUE = 1 };
        READY.store(true, Ordering::Relaxed);
    });
    while !READY.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    let value = unsafe { VALUE };
    writer.join().unwrap();
    value
}
