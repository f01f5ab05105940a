//! What an answer may take: time, memory, and the user's patience.

use rsan_model::Reason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the memory of this process is looked up.
const LOOK: Duration = Duration::from_millis(20);

/// The limits of one answer, from its start on.
pub(super) struct Limits<'a> {
    stop: &'a AtomicBool,
    start: Instant,
    time: Option<Duration>,
    memory: Option<u64>,
    looked: Instant,
    /// Why it has to end, once that is known.
    reason: Option<Reason>,
}

impl<'a> Limits<'a> {
    pub(super) fn new(stop: &'a AtomicBool, time: Option<Duration>, memory: Option<u64>) -> Self {
        let start = Instant::now();
        Self {
            stop,
            start,
            time,
            memory,
            looked: start,
            reason: None,
        }
    }

    /// The time so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The time that is left, if it is limited.
    pub(super) fn left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.elapsed()))
    }

    /// The memory that may be taken.
    pub(super) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Whether to go on.
    pub(super) fn go_on(&mut self) -> bool {
        self.over(0).is_none()
    }

    /// Why to end, if so; `known` bytes are in use at least.
    pub(super) fn over(&mut self, known: u64) -> Option<Reason> {
        if self.reason.is_none() {
            self.reason = self.look(known);
        }
        self.reason.clone()
    }

    fn look(&mut self, known: u64) -> Option<Reason> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        if self.left().is_some_and(|left| left.is_zero()) {
            return Some(Reason::TimeLimit);
        }
        let limit = self.memory?;
        let mut used = known;
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            used = used.max(resident());
        }
        (used > limit).then_some(Reason::MemoryLimit)
    }

    /// Why it ended, if a limit was the cause.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.reason.clone()
    }
}

/// The memory of this process in bytes; 0 if the system does not say.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1);
    let pages: u64 = pages.and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_told_and_stays() {
        let stop = AtomicBool::new(false);
        let mut free = Limits::new(&stop, None, None);
        assert_eq!(free.over(u64::MAX), None);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(free.over(0), Some(Reason::Interrupted));
        stop.store(false, Ordering::Relaxed);
        assert!(!free.go_on());
        let mut timed = Limits::new(&stop, Some(Duration::ZERO), None);
        assert_eq!(timed.over(0), Some(Reason::TimeLimit));
        let mut small = Limits::new(&stop, None, Some(10));
        assert_eq!(small.over(11), Some(Reason::MemoryLimit));
        assert!(resident() > 1 << 16);
    }
}
