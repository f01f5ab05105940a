//! Loops around weak compare-exchanges, as users write them, by the name of the argument; with `--cfg broken` each is wrong.
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, Ordering::*};
use std::thread;

/// What publishes.
const RELEASES: Ordering = if cfg!(broken) { Relaxed } else { Release };

struct Shared<A> {
    atomic: A,
    data: UnsafeCell<u32>,
}

unsafe impl<A: Sync> Sync for Shared<A> {}

impl<A> Shared<A> {
    const fn new(atomic: A) -> Self {
        let data = UnsafeCell::new(0);
        Self { atomic, data }
    }

    fn add(&self) {
        unsafe { *self.data.get() += 1 };
    }
}

fn both<R: Send + 'static>(first: fn() -> R, second: fn() -> R) -> [R; 2] {
    [first, second]
        .map(thread::spawn)
        .map(|thread| thread.join().unwrap())
}

fn spin_lock() {
    static LOCK: Shared<AtomicBool> = Shared::new(AtomicBool::new(false));
    fn work() {
        let lock = &LOCK.atomic;
        while lock.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {}
        LOCK.add();
        lock.store(false, RELEASES);
    }
    both(work, work);
}

struct Node {
    value: u32,
    next: *mut Node,
    link: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node {
        value,
        next: null_mut(),
        link: AtomicPtr::new(null_mut()),
    }))
}

/// A stack whose failed attempts go on with what they have found; nodes are not freed.
fn stack() {
    static TOP: AtomicPtr<Node> = AtomicPtr::new(null_mut());
    fn push(value: u32) {
        let node = node(value);
        let mut top = TOP.load(Relaxed);
        loop {
            unsafe { (*node).next = top };
            match TOP.compare_exchange_weak(top, node, RELEASES, Relaxed) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }
    fn pop() -> u32 {
        let mut top = TOP.load(Acquire);
        loop {
            let next = unsafe { (*top).next };
            match TOP.compare_exchange_weak(top, next, AcqRel, Acquire) {
                Ok(_) => return unsafe { (*top).value },
                Err(found) => top = found,
            }
        }
    }
    let [first, second] = both(|| (push(1), pop()), || (push(2), pop()));
    assert_ne!(first.1, second.1);
}

/// The same with loads, and links that are atomic.
fn linked_stack() {
    static TOP: AtomicPtr<Node> = AtomicPtr::new(null_mut());
    fn push(value: u32) {
        let node = node(value);
        loop {
            let top = TOP.load(Relaxed);
            unsafe { (*node).link.store(top, Relaxed) };
            let pushed = TOP.compare_exchange_weak(top, node, RELEASES, Relaxed);
            if pushed.is_ok() {
                return;
            }
        }
    }
    fn pop() -> u32 {
        loop {
            let top = TOP.load(Acquire);
            let next = unsafe { (*top).link.load(Relaxed) };
            let popped = TOP.compare_exchange_weak(top, next, Relaxed, Relaxed);
            if popped.is_ok() {
                return unsafe { (*top).value };
            }
        }
    }
    both(|| (push(1), 0), || (push(2), pop()));
}

fn updates() {
    static COUNT: Shared<AtomicUsize> = Shared::new(AtomicUsize::new(0));
    fn update() -> usize {
        let order = if cfg!(broken) { Relaxed } else { AcqRel };
        let updated = COUNT.atomic.fetch_update(order, Relaxed, |n| Some(n + 1));
        updated.unwrap()
    }
    fn first() {
        COUNT.add();
        update();
    }
    fn second() {
        if update() == 1 {
            COUNT.add();
        }
    }
    both(first, second);
}

/// Two places, for many producers and consumers.
fn queue() {
    static PLACES: [Shared<AtomicUsize>; 2] = [
        Shared::new(AtomicUsize::new(0)),
        Shared::new(AtomicUsize::new(1)),
    ];
    static TAIL: AtomicUsize = AtomicUsize::new(0);
    static HEAD: AtomicUsize = AtomicUsize::new(0);
    fn take(end: &AtomicUsize, lag: usize) -> Option<(&'static Shared<AtomicUsize>, usize)> {
        let mut at = end.load(Relaxed);
        loop {
            let place = &PLACES[at % 2];
            let turn = place.atomic.load(Acquire);
            if turn < at + lag {
                return None;
            }
            if turn > at + lag {
                at = end.load(Relaxed);
                continue;
            }
            match end.compare_exchange_weak(at, at + 1, Relaxed, Relaxed) {
                Ok(_) => return Some((place, at)),
                Err(found) => at = found,
            }
        }
    }
    fn push() {
        if let Some((place, at)) = take(&TAIL, 0) {
            place.add();
            place.atomic.store(at + 1, RELEASES);
        }
    }
    fn pop() {
        if let Some((place, at)) = take(&HEAD, 1) {
            place.add();
            place.atomic.store(at + 2, RELEASES);
        }
    }
    both(push, || { push(); pop() });
}

/// One place, for one producer and one consumer.
fn channel() {
    static STATE: Shared<AtomicUsize> = Shared::new(AtomicUsize::new(0));
    fn turn(from: usize, to: usize) {
        let state = &STATE.atomic;
        while state.compare_exchange_weak(from, 3, Acquire, Relaxed).is_err() {
            std::hint::spin_loop();
        }
        STATE.add();
        state.store(to, RELEASES);
    }
    both(|| turn(0, 1), || turn(1, 0));
}

/// Gives up after three attempts.
fn attempts() {
    static LOCK: Shared<AtomicBool> = Shared::new(AtomicBool::new(false));
    fn work() {
        let lock = &LOCK.atomic;
        let attempt = |_| lock.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok();
        let locked = (0..3).any(attempt);
        // Only somebody who failed for no reason can be here while nobody has the lock.
        if locked || cfg!(broken) && !lock.load(Relaxed) {
            LOCK.add();
        }
        if locked {
            lock.store(false, Release);
        }
    }
    both(work, work);
}

/// Whoever fails, and finds nobody, writes without the lock.
fn gives_up() {
    static LOCK: Shared<AtomicBool> = Shared::new(AtomicBool::new(false));
    fn work() {
        let lock = &LOCK.atomic;
        if lock.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            LOCK.add();
        }
    }
    both(|| LOCK.add(), work);
}

/// The third attempt is different.
fn counts() {
    static LOCK: Shared<AtomicBool> = Shared::new(AtomicBool::new(false));
    fn work() {
        let mut failures = 0;
        while failures < 3 {
            let locked = LOCK.atomic.compare_exchange_weak(false, true, Acquire, Relaxed);
            if locked.is_ok() {
                break;
            }
            failures += 1;
        }
        if failures == 2 {
            LOCK.add();
        }
    }
    both(|| LOCK.add(), work);
}

/// Between the failure and the next attempt another thread is done.
fn looks() {
    static LOCK: Shared<AtomicUsize> = Shared::new(AtomicUsize::new(0));
    static DONE: AtomicBool = AtomicBool::new(false);
    fn finishes() {
        LOCK.atomic.store(5, SeqCst);
        LOCK.add();
        DONE.store(true, Relaxed);
    }
    fn tries() {
        loop {
            match LOCK.atomic.compare_exchange_weak(0, 1, SeqCst, SeqCst) {
                Err(0) if DONE.load(Relaxed) => return LOCK.add(),
                Err(0) => {}
                _ => return,
            }
        }
    }
    both(finishes, tries);
}

/// Others see how often it was tried.
fn tells() {
    static LOCK: AtomicBool = AtomicBool::new(false);
    static FAILURES: AtomicUsize = AtomicUsize::new(0);
    fn work() {
        while LOCK.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            FAILURES.fetch_add(1, Relaxed);
        }
    }
    both(work, || ());
}

fn main() {
    let all: [(&str, fn()); 11] = [
        ("spin_lock", spin_lock),
        ("stack", stack),
        ("linked_stack", linked_stack),
        ("updates", updates),
        ("queue", queue),
        ("channel", channel),
        ("attempts", attempts),
        ("gives_up", gives_up),
        ("counts", counts),
        ("looks", looks),
        ("tells", tells),
    ];
    let name = std::env::args().nth(1);
    let (_, run) = all.iter().find(|(known, _)| Some(*known) == name.as_deref()).unwrap();
    run();
}
