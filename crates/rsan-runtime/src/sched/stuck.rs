//! Nobody can go on.

use super::trace::Outcome;
use super::{For, State, Status};
use crate::ending;
use crate::report::{self, Waiting};
use rsan_model::ThreadId;
use rsan_schedule::Kind;

/// Rounds that loops and locks are tried again before it is believed that they wait for nothing.
const RETRIES: u32 = 100;

/// Ends the process, unless something is to be tried again.
pub(super) fn end(state: &mut State) {
    let spins = |status: Status| {
        matches!(
            status,
            Status::Blocked {
                wait: For::Words,
                ..
            }
        )
    };
    if state.stay_blocked {
        let threads = state.threads.iter().flatten();
        let mut changed = threads.map(|thread| spins(thread.status) && thread.spin.changed);
        if changed.any(|changed| changed) {
            state.end(Outcome::Blocked);
            ending::now(0);
        }
    } else if state.retries < RETRIES {
        let mut any = false;
        for thread in state.threads.iter_mut().flatten() {
            let spins = spins(thread.status) && !thread.is_waiting_by_name();
            // Somebody may have given the lock back whom we do not see: the system, or another process.
            let locks = thread.op.kind == Kind::Lock && thread.is_blocked();
            if spins || locks {
                thread.spin.retry();
                thread.status = Status::Ready;
                any = true;
            }
        }
        if any {
            crate::system::give_way();
            state.retries += 1;
            return;
        }
    }
    state.end(Outcome::Deadlock);
    let threads = waiting(state);
    report::deadlock(&threads);
    ending::now(ending::deadlock_status())
}

/// What every thread waits for.
fn waiting(state: &mut State) -> Vec<Waiting> {
    let mut all = Vec::new();
    for (number, thread) in state.threads.iter_mut().enumerate() {
        let Some(thread) = thread else { continue };
        let Status::Blocked { wait, .. } = thread.status else {
            continue;
        };
        let address = match wait {
            For::Object(address) => Some(address),
            For::Words => Some(thread.op.object as usize),
            For::Thread(_) => None,
        };
        let joins = match wait {
            For::Thread(thread) => Some(thread),
            For::Object(_) | For::Words => None,
        };
        let context = thread.context;
        let site = context.map(|context| context.stack().site(thread.pc));
        all.push(Waiting {
            thread: ThreadId::new(number),
            operation: thread.op.kind.name(),
            address,
            joins,
            site: site.unwrap_or_default(),
        });
    }
    all
}
