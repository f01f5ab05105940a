//! Keeping the log short.

use super::location::LocationState;
use super::thread::Knowledge;

/// Logs shorter than this are left alone.
pub(super) const SHORTEST: usize = 8;

impl LocationState {
    /// Whether the log has grown enough since the last time to be worth pruning.
    pub fn wants_pruning(&self, cap: Option<usize>) -> bool {
        let limit = cap.map_or(usize::MAX, |cap| 2 * cap);
        self.records.len() >= self.prune_at.min(limit)
    }

    /// Drops what no live thread can use any more: everything older than the oldest write that is in reach
    /// of some live thread. Exact, also with old snapshots, provided that every live thread is there: a thread
    /// must be in the list (or its parent's snapshot not be renewed) before it is created.
    ///
    /// The bound is the one of accesses that are not seq_cst: later accesses of a thread may be such.
    pub fn prune<'a>(&mut self, live: impl IntoIterator<Item = Knowledge<'a>>) {
        let reach = |thread: Knowledge<'_>| self.newest_known(|by| thread.includes(by));
        if let Some(oldest) = live.into_iter().map(reach).min() {
            self.drop_older((oldest.0 - self.records.base()) as usize);
        }
        self.prune_at = SHORTEST.max(2 * self.records.len());
    }

    /// Keeps only the newest `cap` writes, at least two. Loses violations about older ones, never invents any.
    pub fn cut(&mut self, cap: usize) {
        self.drop_older(self.records.len().saturating_sub(cap.max(2)));
    }

    /// Makes room for a write in a log of at most `cap` writes, at least two, as [`LocationState::cut`] does.
    #[inline]
    pub fn make_room(&mut self, cap: usize) {
        let cap = cap.max(2);
        if self.records.len() == cap && self.readers.is_empty() {
            self.records.drop_first(1);
        } else if self.records.len() >= cap {
            self.drop_older(self.records.len() + 1 - cap);
        }
    }

    fn drop_older(&mut self, count: usize) {
        self.records.drop_first(count);
        let base = self.records.base();
        let gone = self.readers.partition_point(|reader| reader.write.0 < base);
        self.readers.drain(..gone);
    }
}
