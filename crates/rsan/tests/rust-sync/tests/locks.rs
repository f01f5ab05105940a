//! Locks, conditions, and what is made once.

use rust_sync::rounds;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use std::thread;
use std::time::Duration;

/// Plain memory that something else guards.
#[derive(Default)]
struct Guarded(UnsafeCell<usize>);

// SAFETY: each test guards it.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// Nobody else may use it meanwhile.
    fn add(&self) {
        // SAFETY: from the caller.
        unsafe { *self.0.get() += 1 };
    }

    /// Nobody may write it meanwhile.
    fn get(&self) -> usize {
        // SAFETY: from the caller.
        unsafe { *self.0.get() }
    }
}

#[test]
fn mutex() {
    let (lock, plain) = (Mutex::new(0), Guarded::default());
    let rounds = rounds();
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..rounds {
                    let mut value = lock.lock().unwrap();
                    *value += 1;
                    plain.add();
                }
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), 3 * rounds);
    assert_eq!(plain.get(), 3 * rounds);
}

#[test]
fn try_lock() {
    let lock = Mutex::new(0);
    let rounds = rounds();
    let taken = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..rounds {
                    match lock.try_lock() {
                        Ok(mut value) => {
                            *value += 1;
                            taken.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(TryLockError::WouldBlock) => thread::yield_now(),
                        Err(TryLockError::Poisoned(error)) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), taken.into_inner());
}

#[test]
fn poisoned_mutex() {
    let lock = Arc::new(Mutex::new(String::from("a")));
    for _ in 0..rounds().min(50) {
        let other = Arc::clone(&lock);
        let ended = thread::spawn(move || {
            let mut text = other.lock().unwrap_or_else(|poison| poison.into_inner());
            text.push('b');
            std::panic::resume_unwind(Box::new("held"));
        });
        let taken = lock.lock().unwrap_or_else(|poison| poison.into_inner()).len();
        assert!(taken >= 1);
        assert!(ended.join().is_err());
        assert!(lock.is_poisoned());
        lock.clear_poison();
    }
}

#[test]
fn rw_lock() {
    let (lock, plain) = (RwLock::new(0), Guarded::default());
    let rounds = rounds();
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..rounds {
                    *lock.write().unwrap() += 1;
                    let _write = lock.write().unwrap();
                    plain.add();
                }
            });
            s.spawn(|| {
                for _ in 0..rounds {
                    let read = lock.read().unwrap();
                    assert!(*read <= 2 * rounds && plain.get() <= 2 * rounds);
                    drop(lock.try_read());
                }
            });
        }
    });
    assert_eq!((*lock.read().unwrap(), plain.get()), (2 * rounds, 2 * rounds));
}

#[test]
fn poisoned_rw_lock() {
    let lock = RwLock::new(vec![0]);
    for round in 0..rounds().min(50) {
        thread::scope(|s| {
            let ended = s.spawn(|| {
                lock.write().unwrap().push(round);
                let _write = lock.write().unwrap();
                std::panic::resume_unwind(Box::new("held"));
            });
            s.spawn(|| lock.read().unwrap_or_else(|poison| poison.into_inner()).len());
            match lock.try_write() {
                Ok(mut list) => list.push(0),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Poisoned(poison)) => poison.into_inner().push(0),
            }
            assert!(ended.join().is_err());
        });
        assert!(lock.is_poisoned());
        lock.clear_poison();
    }
}

#[test]
fn condition() {
    let (lock, changed) = (Mutex::new(0), Condvar::new());
    let rounds = rounds();
    thread::scope(|s| {
        for me in 0..2 {
            let (lock, changed) = (&lock, &changed);
            s.spawn(move || {
                for _ in 0..rounds {
                    let turn = lock.lock().unwrap();
                    let mut turn = changed.wait_while(turn, |turn| *turn % 2 != me).unwrap();
                    *turn += 1;
                    changed.notify_all();
                }
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), 2 * rounds);
}

#[test]
fn condition_with_a_time() {
    let (lock, changed) = (Mutex::new(false), Condvar::new());
    let rounds = rounds().min(50);
    thread::scope(|s| {
        s.spawn(|| {
            for _ in 0..rounds {
                let guard = lock.lock().unwrap();
                let wait = Duration::from_micros(50);
                let (mut guard, _) = changed.wait_timeout(guard, wait).unwrap();
                *guard = false;
            }
        });
        for _ in 0..rounds {
            *lock.lock().unwrap() = true;
            changed.notify_one();
        }
    });
}

#[test]
fn condition_of_a_value_with_a_time() {
    for round in 0..rounds().min(50) {
        let (lock, changed) = (Mutex::new(None), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *lock.lock().unwrap() = Some(vec![round]);
                changed.notify_one();
            });
            let wait = Duration::from_secs(600);
            let empty = |value: &mut Option<_>| value.is_none();
            let (value, end) = changed.wait_timeout_while(lock.lock().unwrap(), wait, empty).unwrap();
            assert!(!end.timed_out() && *value == Some(vec![round]));
        });
    }
}

#[test]
fn waiting_for_what_is_made_once() {
    for round in 0..rounds().min(200) {
        let (once, plain, cell) = (Once::new(), Guarded::default(), OnceLock::<Vec<usize>>::new());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    once.wait();
                    assert_eq!((plain.get(), cell.wait().len()), (1, 3));
                });
            }
            s.spawn(|| once.call_once(|| plain.add()));
            s.spawn(|| cell.set(vec![round; 3]).unwrap());
        });
    }
}

#[test]
fn once() {
    for _ in 0..rounds().min(200) {
        let (once, plain) = (Once::new(), Guarded::default());
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    once.call_once(|| plain.add());
                    assert!(once.is_completed());
                    assert_eq!(plain.get(), 1);
                });
            }
        });
    }
}

#[test]
fn once_that_panics() {
    let (once, plain) = (Once::new(), Guarded::default());
    let failing = || once.call_once(|| std::panic::resume_unwind(Box::new("no")));
    assert!(catch_unwind(AssertUnwindSafe(failing)).is_err());
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                once.call_once_force(|_| plain.add());
                assert_eq!(plain.get(), 1);
            });
        }
    });
}

#[test]
fn once_lock_and_lazy_lock() {
    static LAZY: LazyLock<Vec<usize>> = LazyLock::new(|| vec![1, 2, 3]);
    for round in 0..rounds().min(200) {
        let cell = OnceLock::new();
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    assert_eq!(cell.get_or_init(|| vec![round; 4]), &vec![round; 4]);
                    assert_eq!(LAZY.iter().sum::<usize>(), 6);
                });
            }
            if let Some(value) = cell.get() {
                assert_eq!(value[3], round);
            }
        });
    }
}

#[test]
fn barrier() {
    let (barrier, plain) = (Barrier::new(3), Guarded::default());
    let leaders = AtomicUsize::new(0);
    let rounds = rounds().min(200);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for round in 0..rounds {
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::Relaxed);
                        plain.add();
                    }
                    barrier.wait();
                    assert_eq!(plain.get(), round + 1);
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), rounds);
}
