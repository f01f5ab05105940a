//! A pair of numbers behind a sequence lock without its fences: the reader's last look at the sequence may come before its
//! reads of the pair, and the writer's numbers before its odd sequence. So a reader may take a torn pair for a good one.
#![allow(unexpected_cfgs)]

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::thread;

struct SeqLock {
    /// Odd while the pair is written.
    sequence: AtomicU32,
    pair: [AtomicU32; 2],
}

impl SeqLock {
    const fn new() -> Self {
        Self {
            sequence: AtomicU32::new(0),
            pair: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    fn write(&self, value: u32) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence + 1, Ordering::Relaxed);
        if cfg!(fixed) {
            fence(Ordering::Release);
        }
        for half in &self.pair {
            half.store(value, Ordering::Relaxed);
        }
        self.sequence.store(sequence + 2, Ordering::Release);
    }

    fn read(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Ordering::Acquire);
        let pair = [0, 1].map(|i| self.pair[i].load(Ordering::Relaxed));
        if cfg!(fixed) {
            fence(Ordering::Acquire);
        }
        let after = self.sequence.load(Ordering::Relaxed);
        (before == after && before % 2 == 0).then_some(pair)
    }
}

static NUMBERS: SeqLock = SeqLock::new();

fn main() {
    let reader = thread::spawn(|| NUMBERS.read());
    NUMBERS.write(5);
    if let Some([first, second]) = reader.join().unwrap() {
        assert_eq!(first, second);
    }
}
