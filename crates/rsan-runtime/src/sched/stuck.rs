//! Nobody can go on.

use super::state::{For, Need, State, Status, Thread};
use crate::finding::{Operation, Waiting};
use crate::report;
use rsan_model::ThreadId;
use rsan_schedule::{End, Kind};

/// Rounds that loops and locks are tried again before it is believed that they wait for nothing.
const RETRIES: u32 = 100;

/// Whether something is tried again before it is believed that nobody can go on.
pub(super) fn try_again(state: &mut State) -> bool {
    let steps = state.trace.steps();
    if state.retries < RETRIES && wake(state) {
        crate::system::give_way();
        state.retries += 1;
        state.before_retries.get_or_insert(steps);
        return true;
    }
    if let Some(steps) = state
        .before_retries
        .filter(|_| !state.strategy.goes_round())
    {
        state.trace.shorten(steps);
    }
    false
}

/// Ends the process.
pub(super) fn end(state: &mut State) -> ! {
    state.end(End::Deadlock);
    let threads = waiting(state);
    report::deadlock(&threads, false);
    crate::system::end_process(crate::options::deadlock_status())
}

/// Lets threads try again that wait in loops, or for locks that somebody may have given back whom we do not see: the
/// system, or another process. False if there is none.
fn wake(state: &mut State) -> bool {
    let mut any = false;
    for thread in state.threads.iter_mut().flatten() {
        let object = matches!(thread.status, Status::Blocked(For::Object(_)));
        if thread.spins() || object && thread.op.kind == Kind::Lock {
            thread.spin.retry();
            thread.status = Status::Ready;
            any = true;
        }
    }
    any
}

/// What every thread waits for.
/// What a thread is about to do, as findings have it.
fn operation(kind: Kind) -> Operation {
    match kind {
        Kind::Begin => Operation::Begin,
        Kind::End => Operation::End,
        Kind::Load => Operation::Load,
        Kind::Store => Operation::Store,
        Kind::Update => Operation::Rmw,
        Kind::Compare => Operation::CompareExchange,
        Kind::Wait | Kind::WaitAny => Operation::Wait,
        Kind::WaitUpdate => Operation::BlockingCompareExchange,
        Kind::Fence => Operation::Fence,
        Kind::Lock => Operation::Lock,
        Kind::Unlock => Operation::Unlock,
        Kind::Sync | Kind::Arrive | Kind::Leave => Operation::Sync,
        Kind::Spawn => Operation::CreateThread,
        Kind::Join => Operation::Join,
        Kind::Yield => Operation::Yield,
    }
}

fn waiting(state: &mut State) -> Vec<Waiting> {
    let mut all = Vec::new();
    for (number, thread) in state.threads.iter_mut().enumerate() {
        let Some(thread) = thread else { continue };
        if thread.status == Status::Finished {
            continue;
        }
        let joins = match thread.need {
            Need::End(thread) => Some(thread),
            _ => None,
        };
        let object = thread.op.object as usize;
        let context = thread.context;
        let site = context.map(|context| context.stack().site(thread.pc));
        all.push(Waiting {
            thread: ThreadId::new(number),
            operation: operation(thread.op.kind),
            address: (joins.is_none() && object != 0).then_some(object),
            joins,
            held_by: None,
            holds: Vec::new(),
            site: site.unwrap_or_default(),
        });
    }
    all
}

impl State {
    /// The time of the thread is over that has waited for a limited time longest. False if there is none.
    pub(super) fn let_time_pass(&mut self) -> bool {
        let limited = |thread: &Thread| thread.timed && thread.status != Status::Finished;
        let Some(thread) = self.longest_waiting(limited) else {
            return false;
        };
        thread.timed_out = true;
        thread.timed = false;
        let number = thread.step.1.thread.index();
        self.release(number);
        true
    }

    /// Whether a thread waits for the others to end the process.
    pub(super) fn is_ending(&self) -> bool {
        let mut threads = self.threads.iter().flatten();
        threads.any(|thread| thread.status == Status::Blocked(For::End))
    }

    /// The thread that ends the process goes on, if there is one.
    pub(super) fn who_ends(&mut self) -> Option<usize> {
        let ends = self.longest_waiting(|thread| thread.status == Status::Blocked(For::End))?;
        ends.status = Status::Ready;
        Some(ends.step.1.thread.index())
    }
}
