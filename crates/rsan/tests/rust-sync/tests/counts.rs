//! Counted references, and atomics.

use rust_sync::rounds;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Weak};
use std::thread;

#[test]
fn whoever_is_last_drops() {
    for round in 0..rounds() {
        let shared = Arc::new(vec![round; 4]);
        thread::scope(|s| {
            for _ in 0..3 {
                let shared = Arc::clone(&shared);
                s.spawn(move || assert_eq!(shared[3], round));
            }
            drop(shared);
        });
    }
}

#[test]
fn weak_references() {
    for round in 0..rounds() {
        let shared = Arc::new(round);
        let weak: Weak<usize> = Arc::downgrade(&shared);
        thread::scope(|s| {
            for _ in 0..2 {
                let weak = weak.clone();
                s.spawn(move || weak.upgrade().is_none_or(|value| *value == round));
            }
            s.spawn(move || drop(shared));
        });
        assert!(weak.upgrade().is_none());
    }
}

#[test]
fn changed_by_whoever_has_the_only_one() {
    for round in 0..rounds() {
        let mut shared = Arc::new(vec![round]);
        thread::scope(|s| {
            for _ in 0..2 {
                let mut own = Arc::clone(&shared);
                s.spawn(move || {
                    Arc::make_mut(&mut own).push(1);
                    assert_eq!(own.len(), 2);
                });
            }
            if let Some(all) = Arc::get_mut(&mut shared) {
                all.push(2);
            }
        });
        let inner = Arc::into_inner(shared).unwrap();
        assert!(inner.len() <= 2 && inner[0] == round);
    }
}

#[test]
fn one_of_them_gets_the_value() {
    for _ in 0..rounds() {
        let shared = Arc::new(String::from("a"));
        let got = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                let own = Arc::clone(&shared);
                s.spawn(|| got.fetch_add(Arc::into_inner(own).map_or(0, |s| s.len()), Ordering::Relaxed));
            }
            let last = Arc::into_inner(shared).map_or(0, |s| s.len());
            got.fetch_add(last, Ordering::Relaxed);
        });
        assert_eq!(got.into_inner(), 1);
    }
}

#[test]
fn publication() {
    for round in 0..rounds() {
        let place = AtomicPtr::new(std::ptr::null_mut::<Vec<usize>>());
        thread::scope(|s| {
            s.spawn(|| {
                let made = Box::into_raw(Box::new(vec![round; 3]));
                place.store(made, Ordering::Release);
            });
            s.spawn(|| {
                let found = place.load(Ordering::Acquire);
                // SAFETY: published whole, and freed after both threads have ended.
                assert!(found.is_null() || unsafe { &*found }[2] == round);
            });
        });
        // SAFETY: from the first thread; nobody else has it.
        drop(unsafe { Box::from_raw(place.into_inner()) });
    }
}

#[test]
fn counters_and_fences() {
    let (sum, highest, flag) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let rounds = rounds() as u64;
    let mut plain = 0;
    let place = AtomicPtr::new(&raw mut plain);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..rounds {
                    sum.fetch_add(i, Ordering::Relaxed);
                    highest.fetch_max(i, Ordering::Relaxed);
                }
            });
        }
        s.spawn(|| {
            // SAFETY: others read it after the flag.
            unsafe { place.load(Ordering::Relaxed).write(7) };
            fence(Ordering::Release);
            flag.store(1, Ordering::Relaxed);
        });
        s.spawn(|| {
            while flag.load(Ordering::Relaxed) == 0 {
                std::hint::spin_loop();
            }
            fence(Ordering::Acquire);
            // SAFETY: written before the flag was set.
            assert_eq!(unsafe { place.load(Ordering::Relaxed).read() }, 7);
        });
    });
    assert_eq!(sum.into_inner(), 2 * (0..rounds).sum::<u64>());
    assert_eq!(highest.into_inner(), rounds - 1);
}
