//! Stacks that runs of one program have in common, for processes that are copied.
//!
//! A copy, and a run that starts from a snapshot, finds the tree of calling contexts as it was then, and numbers the same stacks again. So runs
//! note what they have numbered in memory that all see, and the process that is copied adds it to its own tree: as if the
//! program had been there before. Numbers of stacks mean nothing but the stacks.

use super::contexts::{self, Call, Callee};
use super::{Node, Stack};
use crate::tables::Map;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Stacks that are noted at most. Fewer than those from which on recursion is folded in another way.
const MOST: usize = 2048;

/// What runs have numbered. Valid when all bytes are zero: nothing.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Learnt {
    count: AtomicU32,
    /// Where the call was; the caller's stack and what was called; the number.
    entries: [[AtomicU64; 3]; MOST],
}

/// Where new numbers are noted, if they are.
static NOTED: AtomicPtr<Learnt> = AtomicPtr::new(std::ptr::null_mut());

/// From now on new numbers are noted there. There is one thread.
pub(crate) fn start(place: &'static Learnt) {
    // ORDERING: relaxed; there is one thread.
    NOTED.store(std::ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
}

/// A stack got a number.
pub(super) fn note(parent: Node, call: Call, node: Node) {
    // ORDERING: relaxed; set while there was one thread.
    let place = NOTED.load(Ordering::Relaxed);
    // SAFETY: null, or what `start` was given.
    if let Some(place) = unsafe { place.as_ref() } {
        place.add(parent, call, node);
    }
}

impl Learnt {
    /// Whether nothing was noted.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: relaxed; whoever asks made the notes, or has waited for the end of who did.
        self.count.load(Ordering::Relaxed) == 0
    }

    fn add(&self, parent: Node, call: Call, node: Node) {
        // ORDERING: relaxed, as in `is_empty`. A copy that only finds something out may lose a note.
        let index = self.count.load(Ordering::Relaxed);
        if let Some(entry) = self.entries.get(index as usize) {
            let from = u64::from(parent.0) << 32 | u64::from(call.callee.0);
            let words = [call.pc as u64, from, u64::from(node.0)];
            for (place, word) in entry.iter().zip(words) {
                // ORDERING: relaxed, as above.
                place.store(word, Ordering::Relaxed);
            }
            self.count.store(index + 1, Ordering::Relaxed);
        }
    }

    /// Adds what was noted to the tree of this process, which is as it was when the runs began, and to what its only thread, with this stack, and later ones
    /// have looked up; nothing is noted then.
    pub(crate) fn learn(&self, own: Option<&Stack>) {
        // ORDERING: relaxed; those who made the notes have ended.
        let count = self.count.swap(0, Ordering::Relaxed) as usize;
        let first = contexts::next();
        let (mut known, mut last) = (Map::default(), Node::UNKNOWN);
        for entry in &self.entries[..count.min(MOST)] {
            // ORDERING: relaxed, as above.
            let [pc, from, node] = entry.each_ref().map(|word| word.load(Ordering::Relaxed));
            let (parent, callee, node) = (
                Node((from >> 32) as u32),
                Callee(from as u32),
                Node(node as u32),
            );
            // Each run begins with the same number.
            if node.0 <= last.0 {
                known.clear();
            }
            last = node;
            let parent = match parent.0 < first.0 {
                true => Some(parent),
                false => known.get(&parent).copied(),
            };
            if let Some(parent) = parent {
                let pc = pc as usize;
                let learnt = contexts::child(parent, Call { pc, callee });
                known.insert(node, learnt);
                super::warm(own, parent, pc, learnt);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::map_zeroed;

    #[test]
    fn stacks_of_runs_are_added_once() {
        // SAFETY: zeroed memory is valid, and stays.
        let learnt = unsafe { &*map_zeroed::<Learnt>(1) };
        let first = contexts::next().0;
        let call = |pc| Call {
            pc,
            callee: Callee::UNKNOWN,
        };
        // Two runs, of which the second takes another way from the first call on.
        learnt.add(Node::ROOT, call(0x71_0001), Node(first));
        learnt.add(Node(first), call(0x71_0002), Node(first + 1));
        learnt.add(Node::ROOT, call(0x71_0001), Node(first));
        learnt.add(Node(first), call(0x71_0003), Node(first + 1));
        assert!(!learnt.is_empty());
        learnt.learn(Some(&Stack::default()));
        assert!(learnt.is_empty());
        let outer = contexts::child(Node::ROOT, call(0x71_0001));
        let inner = [0x71_0002, 0x71_0003].map(|pc| contexts::child(outer, call(pc)));
        assert_eq!(inner[0].stack(), [0x71_0002, 0x71_0001]);
        assert_eq!(inner[1].stack(), [0x71_0003, 0x71_0001]);
        assert_eq!(learnt.entries.len(), MOST);
    }
}
