//! How often places were asked about, and what came of it.

use crate::lock::{Lock, RawLock};
use crate::stack::Site;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often each place was suspected.
static SITES: Lock<Option<HashMap<Site, u64>>> = Lock::new(None);

static QUESTIONS: AtomicU64 = AtomicU64::new(0);
static DISMISSED: AtomicU64 = AtomicU64::new(0);
static UNSETTLED: AtomicU64 = AtomicU64::new(0);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    SITES.raw()
}

/// Whether the program is to be asked at this occurrence; counts it.
pub(super) fn is_due(site: Site, probes: u64) -> bool {
    let mut sites = SITES.lock();
    let seen = sites.get_or_insert_default().entry(site).or_insert(0);
    *seen += 1;
    is_sampled(*seen, probes)
}

/// The first ones, and then each time their number has doubled.
fn is_sampled(occurrence: u64, probes: u64) -> bool {
    let times = occurrence / probes;
    occurrence <= probes || occurrence.is_multiple_of(probes) && times.is_power_of_two()
}

/// A weak access is no finding, since it only iterates.
pub(super) fn dismiss() {
    // ORDERING: relaxed; a statistic.
    DISMISSED.fetch_add(1, Ordering::Relaxed);
}

/// A child is about to be made.
pub(super) fn count_question() {
    // ORDERING: relaxed; a statistic.
    QUESTIONS.fetch_add(1, Ordering::Relaxed);
}

/// A child was in ever new states.
pub(super) fn keep_iterating() {
    // ORDERING: relaxed; a statistic.
    UNSETTLED.fetch_add(1, Ordering::Relaxed);
}

/// How many weak accesses were waits, how many children were made, how many of them were in ever new states.
pub(crate) fn counts() -> [u64; 3] {
    // ORDERING: relaxed; statistics.
    [&DISMISSED, &QUESTIONS, &UNSETTLED].map(|count| count.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rare() {
        let due: Vec<_> = (1..=100).filter(|&n| is_sampled(n, 4)).collect();
        assert_eq!(due, [1, 2, 3, 4, 8, 16, 32, 64]);
    }
}
