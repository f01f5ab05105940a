//! One run under a strategy: how it begins, and how it is cut off.

use super::queues::Queues;
use super::stacks;
use super::state::{Locks, State};
use super::switch;
use super::trace::{Outcome, Trace};
use super::views;
use super::{ACTIVE, STATE};
use crate::{ending, report, thread};
use rsan_schedule::Strategy;
use rsan_schedule::strategy::Prefix;
use std::sync::atomic::Ordering;

/// How to run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Who says which thread goes on.
    pub(crate) strategy: Box<dyn Strategy>,
    /// Steps before the run is cut off.
    pub(crate) limit: u64,
    /// The program's memory has addresses that do not depend on the schedule.
    pub(crate) steady_heap: bool,
    /// Threads stay with their kernel threads.
    pub(crate) kernel_threads: bool,
    /// Milliseconds that the run may take.
    pub(crate) timeout: Option<u64>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            strategy: Box::new(Prefix::new(Vec::new())),
            limit: 1_000_000,
            steady_heap: false,
            kernel_threads: false,
            timeout: None,
        }
    }
}

/// From here on the strategy says who runs. The calling thread is the only one, and its frames lie below `outermost`.
pub(crate) fn begin_run(plan: Plan, trace: Trace, outermost: usize) {
    let Some(mut me) = thread::enter() else {
        return;
    };
    me.outermost = outermost;
    let number = me.state.id().index();
    let mut state = State {
        strategy: plan.strategy,
        threads: Vec::new(),
        current: number,
        executor: std::ptr::null(),
        vacant: false,
        idle: Vec::new(),
        ready: Vec::new(),
        trace,
        cheap: switch::is_cheap() && !plan.kernel_threads,
        limit: plan.limit,
        locks: Locks::default(),
        queues: Queues::default(),
        retries: 0,
        before_retries: None,
        turn: 0,
    };
    state.executor = state.add(number, 1, switch::Carrier::new());
    if let Some(first) = state.thread(number) {
        first.spin.outermost = outermost;
        first.context = thread::current();
    }
    *STATE.lock() = Some(state);
    stacks::add_first(number, outermost);
    drop(me);
    thread::watch();
    if plan.steady_heap {
        super::heap::start();
    }
    // ORDERING: relaxed; there is one thread.
    ACTIVE.store(true, Ordering::Relaxed);
}

/// The process has come to its end by itself.
pub(crate) fn end_run() {
    if super::active()
        && let Some(state) = STATE.lock().as_mut()
    {
        state.end(Outcome::Ended);
    }
    views::mark();
}

/// The run takes too many steps.
pub(super) fn cut_off(state: &mut State) -> ! {
    state.end(Outcome::CutOff);
    if !state.trace.is_shared() {
        let text = format!("rsan: the run was cut off after {} steps\n", state.limit);
        report::write_to(2, text.as_bytes());
    }
    ending::now(ending::CUT_OFF)
}

/// The strategy ends the run.
pub(super) fn stop(state: &mut State) -> ! {
    state.end(Outcome::Stopped);
    ending::now(0)
}
