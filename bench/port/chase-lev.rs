//! A work-stealing deque of fixed size (Chase and Lev, 2005) with the orders that it needs in C11 (Lê, Pop, Cohen and Zappa
//! Nardelli, PPoPP 2013). With `--cfg x86_orders` it has only what x86 needs: the fences between a store and a load.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
#[cfg(not(x86_orders))]
use std::sync::atomic::Ordering::Release;
use std::sync::atomic::{AtomicIsize, AtomicUsize, fence};
use std::thread;

#[cfg(x86_orders)]
mod weak {
    use std::sync::atomic::Ordering;
    /// x86 gives these orders to every load and store.
    pub const ACQUIRE: Ordering = Ordering::Relaxed;
}

#[cfg(not(x86_orders))]
mod weak {
    use std::sync::atomic::Ordering;
    pub const ACQUIRE: Ordering = Ordering::Acquire;
}

use weak::ACQUIRE;

const SIZE: usize = 64;

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    tasks: [AtomicUsize; SIZE],
}

impl Deque {
    fn new() -> Self {
        Self {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            tasks: [const { AtomicUsize::new(0) }; SIZE],
        }
    }

    fn slot(&self, index: isize) -> &AtomicUsize {
        &self.tasks[index as usize % SIZE]
    }

    /// The owner adds a task, unless the deque is full.
    fn push(&self, task: usize) -> bool {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(ACQUIRE);
        if bottom - top >= SIZE as isize {
            return false;
        }
        self.slot(bottom).store(task, Relaxed);
        #[cfg(not(x86_orders))]
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
        true
    }

    /// The owner takes the newest task.
    fn take(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let task = self.slot(bottom).load(Relaxed);
        if top < bottom {
            return Some(task);
        }
        // The last one: thieves may have it.
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
        self.bottom.store(bottom + 1, Relaxed);
        won.ok().map(|_| task)
    }

    /// A thief takes the oldest task.
    fn steal(&self) -> Option<usize> {
        let top = self.top.load(ACQUIRE);
        fence(SeqCst);
        let bottom = self.bottom.load(ACQUIRE);
        if top >= bottom {
            return None;
        }
        let task = self.slot(top).load(Relaxed);
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
        won.ok().map(|_| task)
    }
}

#[inline(never)]
fn owner(deque: &Deque) -> usize {
    let mut sum = 0;
    for task in 1..1000 {
        deque.push(task);
        sum += deque.take().unwrap_or(0);
    }
    sum
}

#[inline(never)]
fn thief(deque: &Deque) -> usize {
    let mut sum = 0;
    for _ in 1..1000 {
        sum += deque.steal().unwrap_or(0);
    }
    sum
}

fn main() {
    let deque = Arc::new(Deque::new());
    let stealing = Arc::clone(&deque);
    let thief = thread::spawn(move || thief(&stealing));
    let sum = owner(&deque);
    println!("{}", sum + thief.join().unwrap());
}
