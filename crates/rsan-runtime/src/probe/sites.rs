//! How often places were asked about, and what came of it.

use crate::lock::{Lock, RawLock};
use crate::stack::Site;
use crate::tables::Map;
use crate::thread::dismissed;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls around an access that make a place: functions that only make accesses for others are seldom nested deeper.
const CALLERS: usize = 2;

/// An instruction with its innermost callers.
type Place = [usize; 1 + CALLERS];

/// How often each place was suspected, and which place a stack belongs to.
#[derive(Default)]
struct Places {
    known: Map<Site, usize>,
    numbers: Map<Place, usize>,
    suspected: Vec<u64>,
}

static SITES: Lock<Option<Places>> = Lock::new(None);

static QUESTIONS: AtomicU64 = AtomicU64::new(0);
static UNSETTLED: AtomicU64 = AtomicU64::new(0);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    SITES.raw()
}

/// Counts occurrences at a place. Returns how many more there will be until the program is asked: at this one if 0.
pub(super) fn until_due(site: Site, occurrences: u64, probes: u64) -> u64 {
    let known = SITES
        .lock()
        .get_or_insert_default()
        .known
        .get(&site)
        .copied();
    // Stacks have a lock of their own.
    let place = match known {
        Some(_) => None,
        None => Some(place(site)),
    };
    let mut guard = SITES.lock();
    let places = guard.get_or_insert_default();
    let number = match place {
        Some(place) => places.number(site, place),
        None => known.unwrap_or_default(),
    };
    let seen = &mut places.suspected[number];
    let due = next_due(*seen, probes);
    *seen += occurrences;
    due.saturating_sub(*seen)
}

fn place(site: Site) -> Place {
    let mut place = Place::default();
    place
        .iter_mut()
        .zip(site.stack())
        .for_each(|(to, pc)| *to = pc);
    place
}

impl Places {
    fn number(&mut self, site: Site, place: Place) -> usize {
        let next = self.suspected.len();
        let number = *self.numbers.entry(place).or_insert(next);
        if number == next {
            self.suspected.push(0);
        }
        self.known.insert(site, number);
        number
    }
}

/// The next occurrence to ask at: one of the first, and then each time their number has doubled.
fn next_due(seen: u64, probes: u64) -> u64 {
    if seen < probes {
        seen + 1
    } else {
        probes * (seen / probes + 1).next_power_of_two()
    }
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
    let [questions, unsettled] =
        [&QUESTIONS, &UNSETTLED].map(|count| count.load(Ordering::Relaxed));
    [dismissed(), questions, unsettled]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Node;

    #[test]
    fn callers_further_out_make_no_other_place() {
        let site = |stack: &[usize]| Node::of(stack).as_site();
        let deep = place(site(&[1, 2, 3, 4]));
        assert_eq!(deep, place(site(&[1, 2, 3, 5, 6])));
        assert_ne!(deep, place(site(&[1, 2, 4, 4])));
        assert_eq!(place(site(&[7])), [7, 0, 0]);
        let due: Vec<_> = [4, 5, 4, 5, 5, 4, 4, 5]
            .into_iter()
            .filter(|&outer| until_due(site(&[11, 12, 13, outer]), 1, 2) == 0)
            .collect();
        assert_eq!(due, [4, 5, 5, 5], "the first, second, fourth and eighth");
    }

    #[test]
    fn samples_become_rare() {
        let due: Vec<_> = (1..=100).filter(|&n| next_due(n - 1, 4) == n).collect();
        assert_eq!(due, [1, 2, 3, 4, 8, 16, 32, 64]);
        let site = Node::of(&[21]).as_site();
        let steps = [(8, 0), (1, 7), (6, 1), (1, 0), (10, 6), (100, 0)];
        for (occurrences, until) in steps {
            assert_eq!(until_due(site, occurrences, 8), until);
        }
    }
}
