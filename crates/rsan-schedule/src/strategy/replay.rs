//! `replay`: a recorded schedule again.

use super::{Strategy, after, stay};
use crate::{Candidate, Kind, Schedule};
use rsan_model::ThreadId;
use std::fmt;

/// Follows a [`Schedule`]. When the program does not do what it did then, it says where, and goes on by the default:
/// stay with the last thread while it is ready and does not yield, else take the next one. So it does behind the
/// schedule's end.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Schedule,
    next: usize,
    divergence: Option<Divergence>,
    /// The last thread that yielded.
    tired: Option<ThreadId>,
}

/// Where a run leaves the schedule that it should follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Number of steps before it.
    pub step: usize,
    /// Who should make the next step.
    pub thread: ThreadId,
    /// What step it should be.
    pub expected: Kind,
    /// What the thread is about to do instead; `None` when it is not ready.
    pub found: Option<Kind>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            thread,
            expected,
            found,
        } = self;
        write!(
            f,
            "after {step} steps, {thread} should go on with {expected}, but "
        )?;
        match found {
            Some(kind) => write!(f, "is about to do {kind}"),
            None => write!(f, "is not ready"),
        }
    }
}

impl Replay {
    /// Follows this schedule.
    pub fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            next: 0,
            divergence: None,
            tired: None,
        }
    }
}

impl Strategy for Replay {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        let default = match self.tired.take() {
            Some(tired) => after(ready, tired),
            None => stay(ready, last),
        };
        let planned = self.schedule.steps().get(self.next);
        let (None, Some(planned)) = (self.divergence, planned) else {
            return Some(default);
        };
        let at = ready
            .binary_search_by_key(&planned.thread, |c| c.thread)
            .ok();
        let found = at.map(|i| ready[i].op.kind);
        if found == Some(planned.kind) {
            self.next += 1;
            return at;
        }
        self.divergence = Some(Divergence {
            step: self.next,
            thread: planned.thread,
            expected: planned.kind,
            found,
        });
        Some(default)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.tired = Some(thread);
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}
