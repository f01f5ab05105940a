//! A race and a weak behaviour, in a pinned order: turns are taken by means that are not instrumented.

use std::arch::asm;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static mut TURN: usize = 0;
static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
#[unsafe(no_mangle)]
pub static mut SHARED: u64 = 0;

fn wait_for_turn(wanted: usize) {
    loop {
        let turn: usize;
        unsafe { asm!("mov {}, [{}]", out(reg) turn, in(reg) &raw const TURN) };
        if turn == wanted {
            return;
        }
        thread::yield_now();
    }
}

fn end_of_turn() {
    unsafe { asm!("lock inc qword ptr [{}]", in(reg) &raw mut TURN) };
}

fn main() {
    let first = thread::spawn(|| {
        wait_for_turn(0);
        X.store(1, Ordering::Release);
        Y.load(Ordering::Acquire);
        unsafe { (&raw mut SHARED).write(1) };
        end_of_turn();
    });
    let second = thread::spawn(|| {
        wait_for_turn(1);
        Y.store(1, Ordering::Release);
        let weak = X.load(Ordering::Acquire);
        assert_eq!(weak, 1);
        end_of_turn();
    });
    let third = thread::spawn(|| {
        wait_for_turn(2);
        unsafe { (&raw mut SHARED).write(2) };
    });
    for thread in [first, second, third] {
        thread.join().expect("the thread ends");
    }
}
