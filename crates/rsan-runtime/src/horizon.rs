//! Logs that are kept whole (`log_cap=0`), but without the writes that nobody can use any more; the same for the writes of weak runs.
//!
//! **Decides** how far back the log of a location is needed: to the oldest write that some live thread may still read or
//! follow. Exact (docs/theory/write-log.md, W12): what is dropped can be part of no later finding.
//!
//! **How**: every live thread has a snapshot of what it knows. Knowledge only grows, so an old snapshot is a valid one; it
//! only keeps more. Whoever prunes renews its own snapshot and asks the others to do so, which they do at their next access that is not a
//! repeated one, or lock. A thread is there before it runs, with what its creator knew.
//!
//! **Waiting for a thread's end**: what comes after it knows all that the awaited thread knows, so the thread that waits without a
//! limit does not count meanwhile, and the awaited one counts until it is joined.
//!
//! **Cost**: nothing unless logs are kept whole, or a run is a weak one. Then a log is pruned when it has doubled. A live thread that makes no access and
//! takes no lock keeps the writes that it does not know of: logs grow as long as it sleeps.

use crate::lock::{Guard, Lock, RawLock};
use crate::options::Options;
use rsan_clocks::write_log::{Knowledge, LocationState, ScSet, ThreadState, VectorClock};
use rsan_model::ThreadId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a thread knew.
#[derive(Debug)]
struct Snapshot {
    hb: VectorClock,
    fence: ScSet,
    /// Somebody waits for the end of the thread.
    awaited: bool,
    /// The thread itself waits for the end of another one.
    waits: bool,
}

impl Snapshot {
    fn of(thread: &ThreadState) -> Self {
        let Knowledge { hb, fence } = thread.knowledge();
        Self {
            hb: hb.clone(),
            fence: fence.clone(),
            awaited: false,
            waits: false,
        }
    }
}

type Live = BTreeMap<ThreadId, Snapshot>;

static LIVE: Lock<Live> = Lock::new(BTreeMap::new());

/// How often snapshots were asked for.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    LIVE.raw()
}

/// What threads know is followed although logs are not kept whole.
static FOLLOWED: AtomicBool = AtomicBool::new(false);

/// From now on what threads know is followed. The calling thread is the only one.
pub(crate) fn follow(thread: &ThreadState) {
    // ORDERING: relaxed; there is one thread.
    FOLLOWED.store(true, Ordering::Relaxed);
    begin(thread);
}

/// Whether what threads know is followed.
#[inline]
pub(crate) fn is_followed(options: &Options) -> bool {
    // ORDERING: relaxed; set while there is one thread.
    options.log_cap == 0 || FOLLOWED.load(Ordering::Relaxed)
}

/// The snapshots of all threads that count. `thread` is the calling one.
fn renewed(thread: &ThreadState) -> Guard<'static, Live> {
    // ORDERING: relaxed; see `answer`.
    ASKED.fetch_add(1, Ordering::Relaxed);
    let mut live = LIVE.lock();
    renew(&mut live, thread);
    live
}

/// What happens before whatever any live thread does next. `thread` is the calling one.
pub(crate) fn known_to_all(thread: &ThreadState) -> VectorClock {
    let live = renewed(thread);
    let counting = live.values().filter(|snapshot| !snapshot.waits);
    rsan_weak::horizon(counting.map(|snapshot| &snapshot.hb))
}

fn renew(live: &mut Live, thread: &ThreadState) {
    let awaited = live.get(&thread.id()).is_some_and(|old| old.awaited);
    let snapshot = Snapshot {
        awaited,
        ..Snapshot::of(thread)
    };
    live.insert(thread.id(), snapshot);
}

/// A thread is about to be created, or was there before.
pub(crate) fn begin(thread: &ThreadState) {
    LIVE.lock().insert(thread.id(), Snapshot::of(thread));
}

/// A thread has ended.
pub(crate) fn end(thread: ThreadId) {
    let mut live = LIVE.lock();
    if live.get(&thread).is_some_and(|snapshot| !snapshot.awaited) {
        live.remove(&thread);
    }
}

/// A thread may have learnt something; `answered` is the last request that it answered.
#[cold]
pub(crate) fn answer(thread: &ThreadState, answered: &mut u64) {
    // ORDERING: relaxed; a request that is seen later is answered later.
    let asked = ASKED.load(Ordering::Relaxed);
    if *answered != asked {
        *answered = asked;
        renew(&mut LIVE.lock(), thread);
    }
}

/// The calling thread is going to wait for the end of another one, without a limit.
pub(crate) fn wait(me: &ThreadState, thread: ThreadId) {
    let mut live = LIVE.lock();
    let Some(other) = live.get_mut(&thread) else {
        return;
    };
    other.awaited = true;
    if let Some(own) = live.get_mut(&me.id()) {
        own.waits = true;
    }
}

/// The calling thread no longer waits; if the other one has ended, it knows what that one knew.
pub(crate) fn waited(me: &ThreadState, thread: ThreadId, ended: bool) {
    let mut live = LIVE.lock();
    renew(&mut live, me);
    if ended {
        live.remove(&thread);
    }
}

/// In the child of a fork: only the calling thread is left.
pub(crate) fn keep_only(thread: ThreadId) {
    LIVE.lock().retain(|&other, _| other == thread);
}

/// Drops what no live thread can use any more. `thread` is the calling one; the location is locked.
#[cold]
pub(crate) fn prune(location: &mut LocationState, thread: &ThreadState) {
    let live = renewed(thread);
    let counting = live.values().filter(|snapshot| !snapshot.waits);
    location.prune(counting.map(|snapshot| Knowledge {
        hb: &snapshot.hb,
        fence: &snapshot.fence,
    }));
}
