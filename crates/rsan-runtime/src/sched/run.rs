//! One run under a strategy: how it begins, and how it is cut off.

use super::queues::Queues;
use super::reuse::Asked;
use super::stacks;
use super::state::{For, Locks, State, Status};
use super::switch;
use super::trace::Trace;
use super::views;
use super::weak;
use super::{Inside, SCHEDULED, STATE, give_way, scheduled};
use crate::system::end_process;
use crate::{journal, modules, thread};
use rsan_log::Event;
use rsan_schedule::strategy::Prefix;
use rsan_schedule::{End, Kind, Op, Strategy};
use std::sync::atomic::Ordering;

/// How to run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Who says which thread goes on.
    pub(crate) strategy: Box<dyn Strategy>,
    /// Steps before the run is cut off.
    pub(crate) limit: u64,
    /// Steps that a thread may make without another in between, though others could go on, before it is taken to wait; more, if
    /// a run may be long.
    pub(crate) turn: u64,
    /// The program's memory has addresses that do not depend on the schedule.
    pub(crate) steady_heap: bool,
    /// Threads stay with their kernel threads.
    pub(crate) kernel_threads: bool,
    /// Milliseconds that the run may take.
    pub(crate) timeout: Option<u64>,
    /// Loads return what the memory model allows.
    pub(crate) weak: Option<Weak>,
}

/// How weak runs go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Weak {
    /// How many steps back writes are remembered.
    pub(crate) window: Option<u64>,
    /// Stale reads are logged.
    pub(crate) explains: bool,
    /// It is one of many that are drawn: not every stale value has to be among those that it can read.
    pub(crate) samples: bool,
}

/// Steps of a thread without another in between after which it is taken to wait, at most, if nobody says how long runs are.
const TURN: u64 = 10_000;

impl Plan {
    /// Steps that a thread may make in a row.
    pub(super) fn longest_turn(&self) -> u64 {
        (self.limit / 10).min(TURN).max(self.turn)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            strategy: Box::new(Prefix::new(Vec::new())),
            limit: 1_000_000,
            turn: 0,
            steady_heap: false,
            kernel_threads: false,
            timeout: None,
            weak: None,
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
    let longest_turn = plan.longest_turn();
    let mut state = State {
        strategy: Asked::first(plan.strategy),
        threads: Vec::new(),
        current: number,
        executor: std::ptr::null(),
        vacant: false,
        idle: Vec::new(),
        ready: Vec::new(),
        would_read: Vec::new(),
        trace,
        steady: plan.steady_heap,
        cheap: switch::is_cheap() && !plan.kernel_threads,
        limit: plan.limit,
        locks: Locks::default(),
        queues: Queues::default(),
        retries: 0,
        before_retries: None,
        turn: 0,
        longest_turn,
        last: false,
        joined: 0,
        lent: false,
        how: plan.weak,
        weak: plan.weak.map(|how| weak::start(&me.state, how)),
    };
    state.executor = state.add(number, 1, switch::Carrier::new());
    if let Some(first) = state.thread(number) {
        first.spin.begin(outermost);
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
    SCHEDULED.store(true, Ordering::Relaxed);
}

/// The process has come to its end by itself.
pub(crate) fn end_run() {
    if super::active() {
        wait_for_others();
        if let Some(state) = STATE.lock().as_mut() {
            state.end(match state.last {
                true => End::EndedLast,
                false => End::Ended,
            });
        }
    }
    views::mark();
}

/// The calling thread, which ends the process, waits until nobody else can go on, if the strategy wants that.
pub(crate) fn wait_for_others() {
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else { return };
    let steps = state.trace.steps();
    let wanted = state.strategy.ends_last() && !state.is_alone(me);
    if let Some(thread) = state.thread(me).filter(|_| wanted) {
        thread.since = steps;
        give_way(me, guard, Op::bare(Kind::Yield), Status::Blocked(For::End));
    }
}

/// The process ends at once.
pub(crate) fn end_early() {
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut() {
        state.end(End::Ended);
    }
}

/// Whether a thread is about to end the process, and waits for the others.
pub(crate) fn is_ending() -> bool {
    let _inside = Inside::enter();
    super::active() && STATE.lock().as_ref().is_some_and(State::is_ending)
}

/// The status of a run that took more steps than it was allowed.
const CUT_OFF: i32 = 75;

/// The run takes too many steps.
pub(super) fn cut_off(state: &mut State) -> ! {
    state.end(End::CutOff);
    if !state.trace.is_shared() {
        let text = format!("rsan: the run was cut off after {} steps\n", state.limit);
        crate::output::write_to(2, text.as_bytes());
    }
    end_process(CUT_OFF)
}

/// The strategy ends the run, perhaps because a thread does not do what it should.
pub(super) fn stop(state: &mut State) -> ! {
    if let Some(divergence) = state.strategy.divergence()
        && let Some(thread) = state.thread(divergence.thread.index())
        && let Some(context) = thread.context
    {
        let modules = modules::modules();
        let stack = crate::stack::frames(context.stack().site(thread.pc), &modules);
        journal::say(Event::Diverged { stack });
    }
    state.end(End::Stopped);
    end_process(0)
}
