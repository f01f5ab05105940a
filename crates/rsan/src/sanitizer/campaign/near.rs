//! A thread that asks for runs stays on the processor of the process that makes them.
//!
//! The two take turns, one run each. On two processors, which both sleep half of the time, each turn wakes one of them, and that takes
//! longer than a short run. The thread follows the process, which goes where the system wants it: a program that is told of fewer processors
//! would make fewer threads.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Where this thread is held. It is let go in the end.
#[derive(Default)]
pub(super) struct Near {
    /// Counted from 1; 0: nowhere.
    processor: u16,
    /// Where it may be otherwise.
    free: Option<CpuSet>,
}

impl Near {
    /// The process has ended a run on this processor, counted from 1; 0: nobody knows.
    pub(super) fn follow(&mut self, processor: u16) {
        if processor == 0 || processor == self.processor {
            return;
        }
        let number = usize::from(processor - 1);
        if self.free.is_none() {
            self.free = sched_getaffinity(None).ok();
        }
        // Who may not be there stays where it is.
        if !self
            .free
            .is_some_and(|free| number < CpuSet::MAX_CPU && free.is_set(number))
        {
            return;
        }
        let mut only = CpuSet::new();
        only.set(number);
        if sched_setaffinity(None, &only).is_ok() {
            self.processor = processor;
        }
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        if let Some(free) = self.free.filter(|_| self.processor != 0) {
            // It may have been taken from us; then this is as good as any place.
            let _ = sched_setaffinity(None, &free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_held_and_let_go() {
        let before = sched_getaffinity(None).expect("a set");
        let there = (0..CpuSet::MAX_CPU).find(|&number| before.is_set(number));
        let there = there.expect("a processor") as u16 + 1;
        let mut near = Near::default();
        near.follow(0);
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
        near.follow(there);
        near.follow(CpuSet::MAX_CPU as u16 + 1);
        let held = sched_getaffinity(None).expect("a set");
        assert_eq!(
            (held.count(), held.is_set(usize::from(there) - 1)),
            (1, true)
        );
        drop(near);
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
    }
}
