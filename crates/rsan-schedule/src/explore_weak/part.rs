//! Parts of an exploration of weak executions. An execution that is shown twice may be shown by two parts.

use super::graph::Event;
use super::{Counts, Explorer, Waiting};
use crate::part::{deal, digest_of};

impl Explorer {
    /// Keeps, of the plans that wait after [`Explorer::spread`], those of a part, from 0. What was counted so far is the first part's.
    pub fn keep(&mut self, part: usize, of: usize) {
        if part > 0 {
            self.count_anew();
        }
        let share = self.share;
        self.share = deal(&mut self.waiting, (part, of), share, |one| match one {
            Waiting::Branches(_) => None,
            Waiting::Plan(item) => Some(&mut item.weight),
        });
    }

    /// Forgets what was counted, but not what waits, nor what was shown.
    pub fn count_anew(&mut self) {
        self.counts = Counts::default();
        self.share = 0.0;
    }

    /// Makes plans of all that waits. Says whether it came to an end: `stop` is asked as [`Explorer::next_unless`] does.
    pub fn spread(&mut self, stop: impl Fn() -> bool) -> bool {
        let next = || self.plan(&stop).map(Waiting::Plan);
        let mut plans: Vec<Waiting> = std::iter::from_fn(next).collect();
        // The last is taken first.
        plans.reverse();
        let ended = self.waiting.is_empty();
        self.waiting.append(&mut plans);
        ended
    }

    /// Stands for all that waits after [`Explorer::spread`].
    pub fn digest(&self) -> u128 {
        let plans = self.waiting.iter().filter_map(|waiting| match waiting {
            Waiting::Branches(_) => None,
            Waiting::Plan(item) => Some(item),
        });
        let mark = |e: &Event| (e.kind, [e.thread, e.rf, e.added]);
        digest_of(plans.map(|item| item.events.iter().map(mark)))
    }
}
