//! A ring for one producer and one consumer. Its indices are relaxed, so the consumer may read a slot before the producer
//! has filled it, and the producer may fill it again before the consumer has read it.
#![allow(unexpected_cfgs)]

use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PUBLISH: Ordering = if cfg!(fixed) { Ordering::Release } else { Ordering::Relaxed };
const LOOK: Ordering = if cfg!(fixed) { Ordering::Acquire } else { Ordering::Relaxed };

struct Ring<T, const N: usize> {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [UnsafeCell<Option<T>>; N],
}

// SAFETY: a slot belongs to the producer or to the consumer, as the indices say.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            slots: std::array::from_fn(|_| UnsafeCell::new(None)),
        }
    }

    fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(LOOK) == N {
            return Err(value);
        }
        unsafe { *self.slots[tail % N].get() = Some(value) };
        self.tail.store(tail + 1, PUBLISH);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(LOOK) {
            return None;
        }
        let value = unsafe { (*self.slots[head % N].get()).take() };
        self.head.store(head + 1, PUBLISH);
        value
    }
}

fn main() {
    let ring: Ring<u64, 4> = Ring::new();
    let sum = thread::scope(|scope| {
        scope.spawn(|| {
            for mut value in 1..=20 {
                while let Err(back) = ring.push(value) {
                    value = back;
                    hint::spin_loop();
                }
            }
        });
        let mut sum = 0;
        for _ in 1..=20 {
            sum += loop {
                match ring.pop() {
                    Some(value) => break value,
                    None => hint::spin_loop(),
                }
            };
        }
        sum
    });
    println!("sum {sum}");
}
