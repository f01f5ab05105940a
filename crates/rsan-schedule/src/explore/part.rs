//! Parts of an exploration of sequentially consistent executions.

use super::graph::Event;
use super::{Counts, Explorer, Item, Waiting};
use crate::part::{deal, digest_of};

impl Explorer {
    /// Makes plans of all that waits. Says whether it came to an end: `stop` is asked as [`Explorer::next_unless`] does.
    pub fn spread(&mut self, stop: impl Fn() -> bool) -> bool {
        let plans: Vec<Item> = std::iter::from_fn(|| self.plan(&stop)).collect();
        let ended = self.waiting.is_empty();
        // The last is taken first.
        let plans = plans.into_iter().rev();
        self.waiting.extend(plans.map(Waiting::Plan));
        ended
    }

    /// Stands for all that waits after [`Explorer::spread`].
    pub fn digest(&self) -> u128 {
        let mark = |e: &Event| (e.kind, [e.thread, e.rf, e.added]);
        let plans = self.waiting.iter().filter_map(Waiting::item);
        digest_of(plans.map(|item| item.events.iter().map(mark)))
    }

    /// Forgets what was counted, but not what waits.
    pub fn count_anew(&mut self) {
        (self.counts, self.share) = (Counts::default(), 0.0);
    }

    /// Keeps, of the plans that wait after [`Explorer::spread`], those of a part, from 0. What was counted so far is the first part's.
    pub fn keep(&mut self, part: usize, of: usize) {
        if part > 0 {
            self.count_anew();
        }
        let share = self.share;
        self.share = deal(&mut self.waiting, (part, of), share, |one| match one {
            Waiting::Plan(item) => Some(&mut item.weight),
            Waiting::Branches(_) => None,
        });
    }
}

impl Waiting {
    fn item(&self) -> Option<&Item> {
        match self {
            Self::Plan(item) => Some(item),
            Self::Branches(_) => None,
        }
    }
}
