//! Nobody can go on.

use super::state::{For, Need, State, Status};
use super::trace::Outcome;
use crate::ending;
use crate::report::{self, Waiting};
use rsan_model::ThreadId;
use rsan_schedule::Kind;

/// Rounds that loops and locks are tried again before it is believed that they wait for nothing.
const RETRIES: u32 = 100;

/// Ends the process, unless something is to be tried again.
pub(super) fn end(state: &mut State) {
    let steps = state.trace.steps();
    if state.retries < RETRIES && try_again(state) {
        crate::system::give_way();
        state.retries += 1;
        state.before_retries.get_or_insert(steps);
        return;
    }
    if let Some(steps) = state
        .before_retries
        .filter(|_| !state.strategy.goes_round())
    {
        state.trace.shorten(steps);
    }
    state.end(Outcome::Deadlock);
    let threads = waiting(state);
    report::deadlock(&threads);
    ending::now(ending::deadlock_status())
}

/// Lets threads try again that wait in loops, or for locks that somebody may have given back whom we do not see: the
/// system, or another process. False if there is none.
fn try_again(state: &mut State) -> bool {
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
            operation: thread.op.kind.name(),
            address: (joins.is_none() && object != 0).then_some(object),
            joins,
            site: site.unwrap_or_default(),
        });
    }
    all
}
