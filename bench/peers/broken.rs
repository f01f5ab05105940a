//! Tests with a bug that only weak memory shows, and the same without it (`-fixed`), for the tools that take Rust.

use crate::shim::*;

/// A program by its name.
pub fn named(name: &str) -> Option<fn(usize)> {
    Some(match name {
        "publication" => |_| publication(Relaxed),
        "publication-fixed" => |_| publication(Release),
        "dekker" => |_| dekker(false),
        "dekker-fixed" => |_| dekker(true),
        "unlock" => |_| unlock(Relaxed),
        "unlock-fixed" => |_| unlock(Release),
        "last-owner" => |_| last_owner(Release),
        "last-owner-fixed" => |_| last_owner(AcqRel),
        "lazy" => |_| lazy(Relaxed),
        "lazy-fixed" => |_| lazy(Acquire),
        "torn-pair" => |_| torn_pair(false),
        "torn-pair-fixed" => |_| torn_pair(true),
        "deque" => |_| deque(false),
        "deque-fixed" => |_| deque(true),
        _ => return None,
    })
}

/// Plain data and a flag.
struct Message {
    data: Plain,
    flag: AtomicI32,
    order: Ordering,
}

impl Message {
    fn new(order: Ordering) -> Self {
        Self {
            data: Plain::new(0),
            flag: AtomicI32::new(0),
            order,
        }
    }
}

fn publication(order: Ordering) {
    run(2, Message::new(order), |message, number| {
        if number == 0 {
            message.data.set(42);
            message.flag.store(1, message.order);
        } else if message.flag.load(Acquire) == 1 {
            assert_eq!(message.data.get(), 42);
        }
    });
}

/// Two flags, and who is inside.
fn dekker(fixed: bool) {
    let shared = (atomics::<3>(), fixed);
    run(2, shared, |([first, second, inside], fixed), me| {
        let wants = [first, second];
        wants[me].store(1, Release);
        if *fixed {
            fence(SeqCst);
        }
        if wants[1 - me].load(Acquire) == 0 {
            assert_eq!(inside.fetch_add(1, AcqRel), 0);
        }
    });
}

/// A spin lock around plain data.
fn unlock(order: Ordering) {
    let (lock, _) = run(2, Message::new(order), |lock, _| {
        while lock.flag.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            relax();
        }
        lock.data.set(lock.data.get() + 1);
        lock.flag.store(0, lock.order);
    });
    assert_eq!(lock.data.get(), 2);
}

/// A count of owners; the last one takes the data apart.
fn last_owner(order: Ordering) {
    let shared = Message::new(order);
    shared.flag.store(2, Relaxed);
    run(2, shared, |shared, number| {
        if number == 0 {
            shared.data.set(1);
        }
        if shared.flag.fetch_sub(1, shared.order) == 1 {
            shared.data.set(-1);
        }
    });
}

/// Initialised by whoever comes first.
fn lazy(order: Ordering) {
    let shared = (Message::new(order), Mutex::new(()));
    run(2, shared, |(message, making), _| {
        if message.flag.load(message.order) == 0 {
            let _guard = making.lock().unwrap();
            if message.flag.load(Relaxed) == 0 {
                message.data.set(42);
                message.flag.store(1, Release);
            }
        }
        assert_eq!(message.data.get(), 42);
    });
}

/// A sequence lock without its fences.
fn torn_pair(fixed: bool) {
    let shared = (atomics::<3>(), fixed);
    run(2, shared, |([sequence, left, right], fixed), number| {
        if number == 0 {
            sequence.store(1, Relaxed);
            if *fixed {
                fence(Release);
            }
            left.store(5, Relaxed);
            right.store(5, Relaxed);
            sequence.store(2, Release);
            return;
        }
        let before = sequence.load(Acquire);
        let pair = (left.load(Relaxed), right.load(Relaxed));
        if *fixed {
            fence(Acquire);
        }
        let after = sequence.load(Relaxed);
        assert!(before % 2 == 1 || before != after || pair.0 == pair.1);
    });
}

/// The deque of Chase and Lev with two tasks. Its owner takes the second, a thief the first and then the second.
fn deque(fixed: bool) {
    let [top, bottom, taken] = atomics();
    bottom.store(2, Relaxed);
    run(2, ([top, bottom, taken], fixed), |(deque, fixed), number| {
        let [top, bottom, taken] = deque;
        let second = || assert_eq!(taken.fetch_add(1, Relaxed), 0);
        if number == 0 {
            bottom.store(1, Relaxed);
            if *fixed {
                fence(SeqCst);
            }
            let first = top.load(Relaxed);
            // Competes for the task only if it is the last one.
            if first == 0 || first == 1 && top.compare_exchange(1, 2, SeqCst, Relaxed).is_ok() {
                second();
            }
            return;
        }
        for _ in 0..2 {
            let first = top.load(Acquire);
            fence(SeqCst);
            let more = first < bottom.load(Acquire);
            let taken = || top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok();
            if more && taken() && first == 1 {
                second();
            }
        }
    });
}
