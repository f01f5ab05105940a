//! How often places were asked about, and what came of it.

use crate::lock::{Lock, RawLock};
use crate::stack::{Node, Site};
use crate::tables::Map;
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
static DISMISSED: AtomicU64 = AtomicU64::new(0);
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

/// A weak access is no finding, since it only iterates.
pub(super) fn dismiss() {
    // ORDERING: relaxed; a statistic.
    DISMISSED.fetch_add(1, Ordering::Relaxed);
}

/// Loads of a thread at places where the program need not be asked for a while, so that nothing is collected for a
/// question that would not be asked. A cache.
#[derive(Debug, Default)]
pub struct Trusted([Trust; TRUSTED]);

const TRUSTED: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Trust {
    leaf: Node,
    /// Occurrences that are still let pass.
    left: u32,
    /// Those that were, and are not counted at their place yet.
    passed: u32,
}

impl Trusted {
    #[inline]
    fn at(&mut self, leaf: Node) -> &mut Trust {
        &mut self.0[leaf.0 as usize % TRUSTED]
    }

    /// Whether a load that can be weak is let pass.
    #[inline]
    pub fn passes(&mut self, leaf: Node) -> bool {
        let trust = self.at(leaf);
        let passes = trust.leaf == leaf && trust.left > 0;
        if passes {
            trust.left -= 1;
            trust.passed += 1;
            dismiss();
        }
        passes
    }

    /// How many occurrences are to be counted at one that is not let pass.
    pub(super) fn occurrences(&mut self, leaf: Node) -> u64 {
        let trust = self.at(leaf);
        let passed = if trust.leaf == leaf { trust.passed } else { 0 };
        *trust = Trust::default();
        1 + u64::from(passed)
    }

    /// The program will be asked after so many occurrences. Other threads come to the same place.
    pub(super) fn trust(&mut self, leaf: Node, until_due: u64) {
        let left = (until_due / 4).min(1 << 16) as u32;
        *self.at(leaf) = Trust {
            leaf,
            left,
            passed: 0,
        };
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
    [&DISMISSED, &QUESTIONS, &UNSETTLED].map(|count| count.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_passes_is_counted_later() {
        let mut trusted = Trusted::default();
        let leaf = Node(3);
        assert!(!trusted.passes(leaf));
        trusted.trust(leaf, 11);
        assert!(trusted.passes(leaf) && trusted.passes(leaf) && !trusted.passes(leaf));
        assert_eq!(trusted.occurrences(leaf), 3);
        assert_eq!(trusted.occurrences(leaf), 1);
    }
}
