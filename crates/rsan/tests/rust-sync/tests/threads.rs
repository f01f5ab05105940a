//! Threads: how they begin, wait, and end.

use rust_sync::rounds;
use std::cell::RefCell;
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn one_after_the_other() {
    let mut text = String::new();
    let rounds = rounds();
    for _ in 0..rounds {
        text = thread::spawn(move || text + "a").join().unwrap();
    }
    assert_eq!(text.len(), rounds);
}

/// A thread that starts another one, and does not wait for it, and so on.
fn relay(length: usize) -> Option<thread::JoinHandle<()>> {
    let rest = length.checked_sub(1)?;
    Some(thread::spawn(move || drop(relay(rest))))
}

/// All of them own the place where the output of the test goes, and the last owner frees it.
#[test]
fn threads_that_nobody_waits_for() {
    for length in 1..=rounds().min(6) {
        relay(length).unwrap().join().unwrap();
    }
}

#[test]
fn scopes() {
    for _ in 0..rounds() {
        let mut parts = [vec![0], vec![0, 0], vec![0, 0, 0]];
        let lengths: Vec<usize> = thread::scope(|s| {
            let all: Vec<_> = parts
                .iter_mut()
                .map(|part| {
                    s.spawn(|| {
                        part.fill(1);
                        part.len()
                    })
                })
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(lengths, [1, 2, 3]);
        assert_eq!(parts.iter().flatten().sum::<i32>(), 6);
    }
}

#[test]
fn many_at_a_time() {
    let (total, count) = (Mutex::new(Vec::new()), rounds().min(200));
    thread::scope(|s| {
        for number in 0..count {
            let total = &total;
            let builder = thread::Builder::new().stack_size(64 << 10);
            let started = builder.spawn_scoped(s, move || total.lock().unwrap().push(number));
            drop(started.unwrap());
        }
    });
    assert_eq!(total.into_inner().unwrap().len(), count);
}

#[test]
fn handles_that_are_dropped() {
    let (done, count) = (Arc::new(AtomicUsize::new(0)), rounds());
    for _ in 0..count {
        let done = Arc::clone(&done);
        drop(thread::spawn(move || {
            done.fetch_add(1, Ordering::Release);
            vec![1, 2, 3]
        }));
    }
    while done.load(Ordering::Acquire) < count {
        thread::yield_now();
    }
}

#[test]
fn finished_before_it_is_dropped() {
    for _ in 0..rounds().min(50) {
        let handle = thread::spawn(|| vec![String::from("a")]);
        while !handle.is_finished() {
            thread::yield_now();
        }
        drop(handle);
    }
}

#[test]
fn parked() {
    let turn = AtomicUsize::new(0);
    let rounds = rounds();
    let main = thread::current();
    thread::scope(|s| {
        let other = s.spawn(|| {
            for round in 0..rounds {
                while turn.load(Ordering::Acquire) != 2 * round + 1 {
                    thread::park();
                }
                turn.store(2 * round + 2, Ordering::Release);
                main.unpark();
            }
        });
        for round in 0..rounds {
            turn.store(2 * round + 1, Ordering::Release);
            other.thread().unpark();
            while turn.load(Ordering::Acquire) != 2 * round + 2 {
                thread::park_timeout(Duration::from_millis(100));
            }
        }
    });
}

#[test]
fn names_and_stacks() {
    for size in [64 << 10, 1 << 20, 8 << 20] {
        let builder = thread::Builder::new().name(format!("of {size}")).stack_size(size);
        let started = builder.spawn(move || {
            let large = [1_u8; 16 << 10];
            let name = thread::current().name().map(str::to_owned);
            (name, std::hint::black_box(large).len())
        });
        let (name, bytes) = started.unwrap().join().unwrap();
        assert_eq!((name, bytes), (Some(format!("of {size}")), 16 << 10));
    }
}

#[test]
fn panics() {
    struct Noted(Arc<AtomicUsize>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (dropped, rounds) = (Arc::new(AtomicUsize::new(0)), rounds().min(50));
    for round in 0..rounds {
        let noted = Noted(Arc::clone(&dropped));
        let ended = thread::spawn(move || {
            let _noted = noted;
            let values = [1, 2, 3];
            std::panic::resume_unwind(Box::new(values[round % 3]));
        });
        assert_eq!(*ended.join().unwrap_err().downcast::<i32>().unwrap(), 1 + (round % 3) as i32);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), rounds);
}

#[test]
fn thread_locals() {
    static LEFT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    struct Last(usize);
    impl Drop for Last {
        fn drop(&mut self) {
            LEFT.lock().unwrap().push(self.0);
        }
    }
    thread_local! {
        static OWN: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) };
        static LAZY: RefCell<String> = RefCell::new(String::from("x"));
    }
    let rounds = rounds().min(100);
    for round in 0..rounds {
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(move || {
                    OWN.with_borrow_mut(|own| own.push(Last(round)));
                    LAZY.with_borrow_mut(|text| text.push('y'));
                })
                .join()
                .unwrap();
            }
        });
    }
    assert_eq!(LEFT.lock().unwrap().len(), 2 * rounds);
}

#[test]
fn sleeping_and_yielding() {
    let ready = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            thread::sleep(Duration::from_micros(100));
            ready.store(true, Ordering::Release);
        });
        while !ready.load(Ordering::Acquire) {
            thread::yield_now();
        }
    });
}

#[test]
fn output_and_environment() {
    thread::scope(|s| {
        for me in 0..2 {
            s.spawn(move || {
                let mut out = std::io::stdout().lock();
                for _ in 0..5 {
                    writeln!(out, "thread {me}").unwrap();
                    let mut again = std::io::stdout().lock();
                    again.flush().unwrap();
                }
                assert!(std::env::var("RUST_SYNC_NOT_THERE").is_err());
                assert!(std::env::vars_os().count() > 0);
            });
        }
    });
}

#[test]
fn processes() {
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let output = Command::new("true").env("A", "b").output().unwrap();
                assert!(output.status.success() && output.stdout.is_empty());
            });
        }
    });
}

/// Wakes a thread that waits for a future.
struct Unparker(thread::Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unparker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// A value that another thread brings.
#[derive(Default)]
struct Brought(Mutex<(Option<Box<usize>>, Option<Waker>)>);

impl Future for &Brought {
    type Output = Box<usize>;

    fn poll(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Box<usize>> {
        let mut shared = self.0.lock().unwrap();
        match shared.0.take() {
            Some(value) => Poll::Ready(value),
            None => {
                shared.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[test]
fn futures() {
    for round in 0..rounds() {
        let brought = Brought::default();
        thread::scope(|s| {
            s.spawn(|| {
                let mut shared = brought.0.lock().unwrap();
                shared.0 = Some(Box::new(round));
                if let Some(waker) = shared.1.take() {
                    waker.wake();
                }
            });
            assert_eq!(*block_on(&brought), round);
        });
    }
}
