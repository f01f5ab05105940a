//! One annotation at a time.

use std::cell::UnsafeCell;
use std::io::Write;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Memory that threads use without looking at each other.
struct Plain(UnsafeCell<u32>);

// SAFETY: it is not, without the orders that are tested here.
unsafe impl Sync for Plain {}

impl Plain {
    fn add(&self) {
        // SAFETY: as above.
        unsafe { *self.0.get() += 1 };
    }
}

static COUNT: Plain = Plain(UnsafeCell::new(0));
static STATE: AtomicU32 = AtomicU32::new(0);
static PLACE: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());

/// Both functions, in threads of their own.
fn both(one: fn(), other: fn()) {
    let threads = [one, other].map(std::thread::spawn);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A lock around the count, if the orders are right.
fn locked(order: Ordering, unlock: Ordering) {
    rsan::bcas(&STATE, 0, 1, order);
    COUNT.add();
    STATE.store(0, unlock);
}

/// Adds, and says so.
fn publish() {
    COUNT.add();
    STATE.store(2, Ordering::Release);
}

fn main() {
    match &*std::env::args().nth(1).unwrap() {
        "race" => both(|| COUNT.add(), || COUNT.add()),
        "benign" => both(|| rsan::benign(|| COUNT.add()), || COUNT.add()),
        "guard" => both(
            || {
                let _benign = rsan::Benign::new();
                COUNT.add();
            },
            || rsan::benign(|| COUNT.add()),
        ),
        "address" => {
            rsan::benign_address(&COUNT);
            both(|| COUNT.add(), || COUNT.add());
        }
        "wait" => both(publish, || {
            rsan::wait(&STATE, 2, Ordering::Acquire);
            COUNT.add();
        }),
        "wait-any" => both(publish, || {
            assert_eq!(rsan::wait_any(&STATE, [1, 2], Ordering::Acquire), 2);
            COUNT.add();
        }),
        "wait-relaxed" => both(publish, || {
            rsan::wait(&STATE, 2, Ordering::Relaxed);
            COUNT.add();
        }),
        "lock" => {
            let section = || locked(Ordering::Acquire, Ordering::Release);
            both(section, section);
        }
        "lock-relaxed" => {
            let section = || locked(Ordering::Relaxed, Ordering::Relaxed);
            both(section, section);
        }
        "pointer" => both(
            || {
                let value = Box::leak(Box::new(7));
                rsan::bcas(&PLACE, std::ptr::null_mut(), value, Ordering::Release);
            },
            || {
                while PLACE.load(Ordering::Acquire).is_null() {
                    std::hint::spin_loop();
                }
                // SAFETY: it was published, and is never freed.
                assert_eq!(unsafe { *PLACE.load(Ordering::Acquire) }, 7);
            },
        ),
        "snapshot" => {
            let setups = std::fs::OpenOptions::new().append(true).create(true).open("setups");
            setups.unwrap().write_all(b"setup\n").unwrap();
            rsan::snapshot();
            both(|| COUNT.add(), || COUNT.add());
        }
        other => panic!("{other}"),
    }
    assert!(rsan::sanitized());
}
