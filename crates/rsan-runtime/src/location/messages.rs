//! What each write of a location lets its acquirers know, also of writes that were overwritten.
//!
//! The monitor keeps the message of the last write only, which is all that sequentially consistent runs need. A thread that reads
//! an old write gets that write's message; whoever follows it there has to know what it said. Kept in exact mode only
//! ([`crate::options::Options::exact`]), where programs are small.

use crate::lock::{Lock, RawLock};
use rsan_clocks::Timestamp;
use rsan_clocks::write_log::{LocationState, Rules, Stamp, VectorClock};
use std::collections::BTreeMap;

struct Message {
    write: Timestamp,
    /// Whose write it is: memory may have been another location before.
    by: Stamp,
    clock: VectorClock,
}

static MESSAGES: Lock<BTreeMap<usize, Vec<Message>>> = Lock::new(BTreeMap::new());

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    MESSAGES.raw()
}

/// A location was written.
#[cold]
pub(crate) fn note(address: usize, state: &mut LocationState) {
    let write = state.last_write();
    let Some(by) = state.writer(write) else {
        return;
    };
    let clock = state.last_message(Rules::c20()).clone();
    let oldest = state.oldest_write();
    let mut all = MESSAGES.lock();
    let messages = all.entry(address).or_default();
    messages.retain(|old| oldest <= old.write && old.write < write);
    messages.push(Message { write, by, clock });
}

/// What a write says, if it is known.
pub(crate) fn with<R>(
    address: usize,
    (write, by): (Timestamp, Stamp),
    tell: impl FnOnce(Option<&VectorClock>) -> R,
) -> R {
    let all = MESSAGES.lock();
    let mut messages = all.get(&address).into_iter().flatten();
    let found = messages.find(|message| message.write == write && message.by == by);
    tell(found.map(|message| &message.clock))
}
