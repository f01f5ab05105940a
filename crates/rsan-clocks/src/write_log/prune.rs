//! Keeping the log short (docs/theory/write-log.md, W12 and W13).

use super::location::LocationState;
use super::thread::Knowledge;

impl LocationState {
    /// Whether the log has grown enough since the last time to be worth pruning.
    pub fn wants_pruning(&self, cap: Option<usize>) -> bool {
        let limit = cap.map_or(usize::MAX, |cap| 2 * cap);
        self.records.is_full() || self.records.len() >= limit
    }

    /// Drops what no live thread can use any more: everything older than the oldest write that is in reach
    /// of some live thread. Exact, also with old snapshots, provided that every live thread is there: a thread
    /// must be in the list (or its parent's snapshot not be renewed) before it is created.
    ///
    /// The bound is the one of accesses that are not seq_cst: later accesses of a thread may be such.
    pub fn prune<'a>(&mut self, live: impl IntoIterator<Item = Knowledge<'a>>) {
        let reach = |thread: Knowledge<'_>| self.newest_known(|by| thread.includes(by));
        if let Some(oldest) = live.into_iter().map(reach).min() {
            self.records
                .drop_first((oldest.0 - self.records.base()) as usize);
        }
        if self.records.is_mostly_full() {
            self.records.grow();
        }
    }

    /// Keeps only the newest `cap` writes, at least two. Loses violations about older ones, never invents any.
    pub fn cut(&mut self, cap: usize) {
        self.records
            .drop_first(self.records.len().saturating_sub(cap.max(2)));
    }

    /// Makes room for a write in a log of at most `cap` writes, at least two, as [`LocationState::cut`] does.
    #[inline]
    pub fn make_room(&mut self, cap: usize) {
        let cap = cap.max(2);
        if self.records.len() >= cap {
            self.records.drop_first(self.records.len() + 1 - cap);
        }
    }
}
