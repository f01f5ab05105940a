//! Where the parts of locations lie that are not in their blocks.
//!
//! An access finds them through pointers in the block. When another processor had the block, that is a second wait after
//! the first. So a thread remembers where it has seen them, and asks for them together with the block. What it remembers
//! may be wrong: then something else is fetched for nothing.

use super::{Approach, Location, prefetch};

const PLACES: usize = 1024;
/// Lines of memory that reader entries, and what accesses change of seq_cst state, mostly have.
const LINES: [usize; 2] = [3, 2];

/// Where a thread has seen the far parts of locations.
#[derive(Debug)]
pub struct FarParts([[usize; 2]; PLACES]);

impl Default for FarParts {
    fn default() -> Self {
        Self([[0; 2]; PLACES])
    }
}

impl FarParts {
    #[inline]
    fn index(address: usize) -> usize {
        (address >> 3 ^ address >> 13) % PLACES
    }

    /// The location at an address is about to be accessed.
    #[inline]
    pub fn expect(&self, address: usize, approach: Option<Approach>) {
        let places = self.0[Self::index(address)];
        if places == [0; 2] {
            return;
        }
        // A read of a write that its thread does not know looks at the log as well.
        if let Some(approach) = approach {
            approach.expect_log();
        }
        for (at, lines) in places.into_iter().zip(LINES) {
            if at != 0 {
                (0..lines).for_each(|line| prefetch(at as *const u8, line));
            }
        }
    }

    /// The location at an address was accessed, and its lock is held.
    #[inline]
    pub fn note(&mut self, address: usize, location: &Location) {
        let parts = location.state.far_parts();
        if parts != [0; 2] {
            self.0[Self::index(address)] = parts;
        }
    }
}
