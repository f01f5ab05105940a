//! The deque of Chase and Lev: its owner takes from one end, thieves steal from the other. The owner's fence between the new
//! bottom and its look at the top is missing, so the owner and a thief may both take the last task.
#![allow(unexpected_cfgs)]

use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering, fence};
use std::thread;

const SIZE: usize = 8;

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    tasks: [AtomicU32; SIZE],
}

impl Deque {
    const fn new() -> Self {
        Self {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            tasks: [const { AtomicU32::new(0) }; SIZE],
        }
    }

    fn task(&self, at: isize) -> &AtomicU32 {
        &self.tasks[at as usize % SIZE]
    }

    fn push(&self, task: u32) {
        let bottom = self.bottom.load(Ordering::Relaxed);
        self.task(bottom).store(task, Ordering::Relaxed);
        self.bottom.store(bottom + 1, Ordering::Release);
    }

    fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(Ordering::Relaxed) - 1;
        self.bottom.store(bottom, Ordering::Relaxed);
        if cfg!(fixed) {
            fence(Ordering::SeqCst);
        }
        let top = self.top.load(Ordering::Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Ordering::Relaxed);
            return None;
        }
        let task = self.task(bottom).load(Ordering::Relaxed);
        if top < bottom {
            return Some(task);
        }
        // The last task: a thief may want it, too.
        let won = self.take(top);
        self.bottom.store(bottom + 1, Ordering::Relaxed);
        won.then_some(task)
    }

    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let bottom = self.bottom.load(Ordering::Acquire);
        if top >= bottom {
            return None;
        }
        let task = self.task(top).load(Ordering::Relaxed);
        self.take(top).then_some(task)
    }

    fn take(&self, top: isize) -> bool {
        let (old, new) = (top, top + 1);
        let taken = self.top.compare_exchange(old, new, Ordering::SeqCst, Ordering::Relaxed);
        taken.is_ok()
    }
}

static DEQUE: Deque = Deque::new();

fn main() {
    for task in 1..=3 {
        DEQUE.push(task);
    }
    let thief = thread::spawn(|| [DEQUE.steal(), DEQUE.steal()]);
    let mut taken = vec![DEQUE.pop(), DEQUE.pop()];
    taken.extend(thief.join().unwrap());
    println!("{} of 3 tasks", taken.iter().flatten().count());
}
