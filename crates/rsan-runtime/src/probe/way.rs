//! The way that a child goes to its next visible step: which functions it is in, and what it reads.
//!
//! Two children that come to the same step by different ways do not do the same. A function that both call for their store says
//! nothing of who called it, and a value that is read through a stale pointer is read from memory that may be gone.

use super::arrivals::mix;

/// Calls that are remembered, from where the access was made.
const CALLS: usize = 64;
/// Words of the set of what was read.
const WORDS: usize = 64;

/// The way from the access on.
#[derive(Debug)]
pub(super) struct Way {
    /// Where the functions return to that the program has called since, and has not left.
    calls: [usize; CALLS],
    depth: usize,
    /// How many functions it has left that it was in.
    left: usize,
    /// The granules that it read, as a set: a bit for each, which others may share. What is read again, as loops do, is no
    /// other way.
    reads: [u64; WORDS],
}

impl Way {
    pub(super) const NONE: Self = Self {
        calls: [0; CALLS],
        depth: 0,
        left: 0,
        reads: [0; WORDS],
    };

    /// The program calls a function, which returns there.
    pub(super) fn enter(&mut self, returns_to: usize) {
        if let Some(place) = self.calls.get_mut(self.depth) {
            *place = returns_to;
        }
        self.depth += 1;
    }

    /// The program leaves a function.
    pub(super) fn leave(&mut self) {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => self.left += 1,
        }
    }

    /// The program reads plain memory.
    pub(super) fn read(&mut self, address: usize, bytes: usize) {
        for granule in address / 8..(address + bytes).div_ceil(8) {
            let bit = mix(0, granule as u64) as usize % (64 * WORDS);
            self.reads[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// A digest of it.
    pub(super) fn digest(&self) -> u64 {
        let calls = self.calls.iter().take(self.depth).map(|&pc| pc as u64);
        let counts = [self.depth as u64, self.left as u64];
        let words = self.reads.iter().copied();
        counts.into_iter().chain(calls).chain(words).fold(0, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(go: impl Fn(&mut Way)) -> u64 {
        let mut way = Way::NONE;
        go(&mut way);
        way.digest()
    }

    #[test]
    fn callers_make_a_difference_as_long_as_the_program_is_in_the_call() {
        let calls = |pc: usize| after(|way| way.enter(pc));
        assert_eq!(calls(1), calls(1));
        assert_ne!(calls(1), calls(2));
        let returned = |pc: usize| {
            after(|way| {
                way.enter(pc);
                way.leave();
            })
        };
        assert_eq!(returned(1), returned(2));
        assert_ne!(returned(1), after(Way::leave));
        let deep = |pc: usize| after(|way| (0..CALLS + 9).for_each(|i| way.enter(pc + i)));
        assert_ne!(deep(1), deep(2));
    }

    #[test]
    fn what_is_read_makes_a_difference_but_not_how_often() {
        let reads = |all: &[usize]| after(|way| all.iter().for_each(|&at| way.read(at, 8)));
        assert_eq!(reads(&[64, 128]), reads(&[128, 64, 64]));
        assert_ne!(reads(&[64]), reads(&[128]));
        assert_ne!(reads(&[]), reads(&[64]));
        assert_ne!(reads(&[64]), reads(&[68]), "two granules");
    }
}
