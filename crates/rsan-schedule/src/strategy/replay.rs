//! `replay`: a recorded schedule again.

use super::{Readable, Reading, Strategy, after, stay};
use crate::{Candidate, Kind, Planned, Schedule, Value};
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
    /// What there was instead.
    pub found: Found,
}

/// What a thread does instead of what it should do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is not ready.
    Nothing,
    /// It is about to do something else.
    Step(Kind),
    /// It does that, but cannot read the write that it should.
    NoSuchWrite,
    /// It does that, but reads another write, or writes where it did not, or does not where it did.
    OtherWrite,
    /// It goes on with this, though it was back where it had been, and should have waited there.
    BehindVain(Kind),
}

impl Found {
    /// What a thread is about to do; `None` when it is not ready.
    pub(crate) fn next(kind: Option<Kind>) -> Self {
        kind.map_or(Self::Nothing, Self::Step)
    }
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
            Found::Nothing => write!(f, "is not ready"),
            Found::Step(kind) => write!(f, "is about to do {kind}"),
            Found::NoSuchWrite => write!(f, "cannot read the write that it should"),
            Found::OtherWrite => write!(f, "that reads or writes otherwise than before"),
            Found::BehindVain(kind) => write!(f, "does {kind} after a failed spin iteration"),
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

    /// The step that is made now, and its number, if it is one of the schedule.
    fn current(&self) -> Option<(usize, Planned)> {
        let step = self
            .next
            .checked_sub(1)
            .filter(|_| self.divergence.is_none())?;
        Some((step, *self.schedule.steps().get(step)?))
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
            found: Found::next(found),
        });
        Some(default)
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        let last = writes.len() - 1;
        let Some((step, planned)) = self.current().filter(|(_, p)| p.thread == reading.thread)
        else {
            return last;
        };
        let Value::Stale(origin) = planned.value else {
            return last;
        };
        let found = writes.iter().position(|write| write.origin == origin);
        if found.is_none() {
            self.divergence = Some(Divergence {
                step,
                thread: planned.thread,
                expected: planned.kind,
                found: Found::NoSuchWrite,
            });
        }
        found.unwrap_or(last)
    }

    fn fails(&mut self, reading: &Reading) -> bool {
        self.current().is_some_and(|(_, planned)| {
            planned.thread == reading.thread && planned.value == Value::Spurious
        })
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.tired = Some(thread);
    }

    /// What is left of the schedule was done before the end.
    fn ends_last(&self) -> bool {
        self.divergence.is_none() && self.next < self.schedule.len()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}
