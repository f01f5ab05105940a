//! Weak accesses that a thread need not ask the program about.

use crate::stack::Node;
use std::sync::atomic::{AtomicU64, Ordering};

/// Weak accesses that are no findings.
static DISMISSED: AtomicU64 = AtomicU64::new(0);

/// How many weak accesses were no findings.
pub(crate) fn dismissed() -> u64 {
    // ORDERING: relaxed; a statistic.
    DISMISSED.load(Ordering::Relaxed)
}

/// A weak access is no finding, since it only iterates.
pub(crate) fn dismiss() {
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
    pub(crate) fn occurrences(&mut self, leaf: Node) -> u64 {
        let trust = self.at(leaf);
        let passed = if trust.leaf == leaf { trust.passed } else { 0 };
        *trust = Trust::default();
        1 + u64::from(passed)
    }

    /// The program will be asked after so many occurrences. Other threads come to the same place.
    pub(crate) fn trust(&mut self, leaf: Node, until_due: u64) {
        let left = (until_due / 4).min(1 << 16) as u32;
        *self.at(leaf) = Trust {
            leaf,
            left,
            passed: 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
