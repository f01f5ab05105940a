//! The exploration of sequentially consistent or of weak executions, as one.

use crate::shard::Part;
use rsan_schedule::explore::{
    Bounds, Explorer as Sequential, Job, LoadError, Outcome, Progress, Trace,
};
use rsan_schedule::explore_weak::Explorer as Weak;

/// An exploration.
pub(super) enum Explorer {
    Sequential(Sequential),
    Weak(Weak),
}

/// Which executions are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Executions {
    Sequential,
    Weak,
}

impl Explorer {
    /// One that has not begun.
    pub(super) fn new(executions: Executions, bounds: Bounds) -> Self {
        match executions {
            Executions::Sequential => Self::Sequential(Sequential::new(bounds)),
            Executions::Weak => Self::Weak(Weak::new(bounds)),
        }
    }

    /// The one that was saved as this text.
    pub(super) fn load(executions: Executions, text: &str) -> Result<Self, LoadError> {
        match executions {
            Executions::Sequential => Sequential::load(text).map(Self::Sequential),
            Executions::Weak => Weak::load(text).map(Self::Weak),
        }
    }

    pub(super) fn save(&self) -> String {
        match self {
            Self::Sequential(explorer) => explorer.save(),
            Self::Weak(explorer) => explorer.save(),
        }
    }

    pub(super) fn next_unless(&mut self, stop: impl Fn() -> bool) -> Option<Job> {
        match self {
            Self::Sequential(explorer) => explorer.next_unless(stop),
            Self::Weak(explorer) => explorer.next_unless(stop),
        }
    }

    pub(super) fn done(&mut self, id: u64, trace: &Trace) -> Outcome {
        match self {
            Self::Sequential(explorer) => explorer.done(id, trace),
            Self::Weak(explorer) => explorer.done(id, trace),
        }
    }

    pub(super) fn give_back(&mut self, id: u64) {
        match self {
            Self::Sequential(explorer) => explorer.give_back(id),
            Self::Weak(explorer) => explorer.give_back(id),
        }
    }

    /// It is one of several parts, which do not learn from each other.
    pub(super) fn be_a_part(&mut self) {
        match self {
            Self::Sequential(explorer) => explorer.count_rounds(),
            Self::Weak(_) => {}
        }
    }

    /// Makes plans of all that waits, unless there is no time: then it says `false`.
    pub(super) fn spread(&mut self, stop: impl Fn() -> bool) -> bool {
        match self {
            Self::Sequential(explorer) => explorer.spread(stop),
            Self::Weak(explorer) => explorer.spread(stop),
        }
    }

    /// Stands for what waits.
    pub(super) fn digest(&self) -> u128 {
        match self {
            Self::Sequential(explorer) => explorer.digest(),
            Self::Weak(explorer) => explorer.digest(),
        }
    }

    pub(super) fn count_anew(&mut self) {
        match self {
            Self::Sequential(explorer) => explorer.count_anew(),
            Self::Weak(explorer) => explorer.count_anew(),
        }
    }

    /// Keeps the plans of a part.
    pub(super) fn keep(&mut self, Part { number, of }: Part) {
        match self {
            Self::Sequential(explorer) => explorer.keep(number - 1, of),
            Self::Weak(explorer) => explorer.keep(number - 1, of),
        }
    }

    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Sequential(explorer) => explorer.progress(),
            Self::Weak(explorer) => explorer.progress(),
        }
    }
}
