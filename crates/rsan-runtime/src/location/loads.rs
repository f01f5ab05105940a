//! Loads that would change nothing.

use super::Block;
use rsan_clocks::write_log::{Epoch, Version};
use rsan_model::ReadOrd;

const CACHED_LOADS: usize = 64;

/// Loads of a thread that would change nothing if they were repeated.
///
/// After a load the thread knows all that the last write has to say, and the location has all that the thread can
/// leave there; both only grow. So the same load does nothing, and its check passes, until the location is written
/// ([`Block::version`]), or the thread's epoch changes, or it learns something ([`Version`]). The race detector sees
/// nothing new either as long as the stamp that it records is the same ([`crate::thread::Body::own`]) and was not published.
#[derive(Debug)]
pub struct LoadCache(pub(crate) [CachedLoad; CACHED_LOADS]);

/// As large as a line of memory, so that it is found without a multiplication.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct CachedLoad {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) strength: u8,
    pub(crate) version: u64,
    pub(crate) own: u64,
    pub(crate) epoch: Epoch,
    pub(crate) known: Version,
    pub(crate) block: Option<&'static Block>,
}

impl Default for LoadCache {
    fn default() -> Self {
        Self(
            [CachedLoad {
                address: 0,
                bytes: 0,
                strength: 0,
                version: 0,
                own: 0,
                epoch: Epoch::START,
                known: Version::NONE,
                block: None,
            }; CACHED_LOADS],
        )
    }
}

impl LoadCache {
    #[inline]
    /// Where loads of an address are.
    pub(crate) fn index(address: usize) -> usize {
        (address >> 2 ^ address >> 8) & (CACHED_LOADS - 1)
    }
}

impl CachedLoad {
    /// Whether a load like this was made since the last write; returns the block.
    #[inline]
    pub(crate) fn is_current(
        &self,
        address: usize,
        bytes: usize,
        order: ReadOrd,
    ) -> Option<&'static Block> {
        let same = self.address == address && self.bytes == bytes && self.strength >= order as u8;
        let block = self.block.filter(|_| same)?;
        (block.version() == self.version).then_some(block)
    }
}
