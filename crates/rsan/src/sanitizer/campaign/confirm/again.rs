//! A run that seems to hurt, made again: is the finding's stale value the cause, and is there a smaller one?

use super::super::Request;
use super::super::pool::Worker;
use super::super::server::Setup;
use super::super::weak::Weak;
use super::shown::{Shown, shown};
use rsan_schedule::{Choice, Planned, Request as Run, Schedule, Value, minimize};
use std::ops::ControlFlow;

/// Runs for a smaller one that shows the same, and steps of all of them.
const TRIES: u64 = 200;
const STEPS: u64 = 2_000_000;

/// Makes runs again.
pub(super) struct Again<'a> {
    worker: Worker<'a>,
    limit: u64,
}

impl<'a> Again<'a> {
    pub(super) fn new(request: &Request<'_>, setup: &'a Setup<'a>) -> Self {
        Self {
            worker: Worker::new(setup, 0, request.timeout()),
            limit: request.limit(),
        }
    }

    /// The smallest run known that shows the harm, if the first stale value of the given one is its cause: without it the run does
    /// not show the same.
    pub(super) fn confirmed(&mut self, harm: &Shown, schedule: &Schedule) -> Option<Schedule> {
        let mut steps = schedule.steps().to_vec();
        let stale = steps.iter().filter(|step| is_stale(step)).count();
        let first = steps.iter_mut().find(|step| is_stale(step))?;
        first.value = Value::Last;
        if stale > 1 && self.follow(&Schedule::new(steps), harm)?.is_some() {
            return None;
        }
        // Long runs leave time for fewer.
        let tries = (STEPS / schedule.len().max(1) as u64).min(TRIES);
        let minimized = minimize(schedule, tries as usize, |suggestion| {
            match self.follow(suggestion, harm) {
                Some(found) => ControlFlow::Continue(found),
                None => ControlFlow::Break(()),
            }
        });
        let minimized = minimized.map(|minimized| minimized.schedule);
        let is_weak = |schedule: &Schedule| schedule.steps().iter().any(is_stale);
        let smaller = minimized.filter(is_weak);
        Some(smaller.unwrap_or_else(|| schedule.clone()))
    }

    /// Makes a run that follows a schedule as far as possible: its own schedule, if it shows the harm. `None` if no run can be made, or
    /// there is no time.
    fn follow(&mut self, schedule: &Schedule, harm: &Shown) -> Option<Option<Schedule>> {
        let choice = Choice::Follow(self.worker.keep(schedule)?);
        let run = Weak::default().run(Run {
            limit: Some(self.limit),
            ..choice.into()
        });
        let execution = self.worker.run(run).ok()?;
        let is_shown = shown(&execution).contains_key(harm);
        Some(is_shown.then(|| execution.schedule()))
    }
}

fn is_stale(step: &Planned) -> bool {
    matches!(step.value, Value::Stale(_))
}
