use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Ring<T> {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [UnsafeCell<Option<T>>; 4],
}

unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == 4 {
            return Err(value);
        }
        unsafe { *self.slots[tail % 4].get() = Some(value) };
        self.tail.store(tail + 1, Ordering::Release);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { (*self.slots[head % 4].get()).take() };
        self.head.store(head + 1, Ordering::Release);
        value
    }
}

fn main() {
    let ring = Arc::new(Ring {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        slots: [const { UnsafeCell::new(None) }; 4],
    });
    let other = ring.clone();
    let producer = thread::spawn(move || {
        for number in 0..20 {
            let mut value = format!("{number}");
            while let Err(back) = other.push(value) {
                value = back;
                thread::yield_now();
            }
        }
    });
    let mut next = 0;
    while next < 20 {
        match ring.pop() {
            Some(value) => {
                assert_eq!(value, format!("{next}"));
                next += 1;
            }
            None => thread::yield_now(),
        }
    }
    producer.join().unwrap();
}
