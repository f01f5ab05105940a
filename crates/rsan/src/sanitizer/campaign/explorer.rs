//! The exploration of sequentially consistent or of weak executions, as one.

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

    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Sequential(explorer) => explorer.progress(),
            Self::Weak(explorer) => explorer.progress(),
        }
    }
}
