//! A table that is made when it is first needed. The first look at the pointer is relaxed: a thread that finds the table there
//! may find it empty.
#![allow(unexpected_cfgs)]

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

const LOOK: Ordering = if cfg!(fixed) { Ordering::Acquire } else { Ordering::Relaxed };

static TABLE: AtomicPtr<[u32; 16]> = AtomicPtr::new(ptr::null_mut());
static MAKING: Mutex<()> = Mutex::new(());

fn table() -> &'static [u32; 16] {
    let mut table = TABLE.load(LOOK);
    if table.is_null() {
        let _guard = MAKING.lock().unwrap();
        table = TABLE.load(Ordering::Relaxed);
        if table.is_null() {
            table = Box::into_raw(Box::new(std::array::from_fn(|i| (i * i) as u32)));
            TABLE.store(table, Ordering::Release);
        }
    }
    // SAFETY: the table is never freed.
    unsafe { &*table }
}

fn main() {
    let threads: Vec<_> = (0..4).map(|i| thread::spawn(move || table()[i])).collect();
    let squares: Vec<u32> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    println!("{squares:?}");
}
