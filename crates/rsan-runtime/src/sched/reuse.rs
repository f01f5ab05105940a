//! Many runs in one process: what a run has changed is put back at its end.
//!
//! A copy of the process for each run costs the system far more time than a short run itself. So a copy (the *keeper*) makes one run
//! after the other. At the snapshot its private memory is made read-only; the first write to a page brings the handler, which keeps the page's
//! content and lets it be written from then on (`pages`). At the end of the run the kept pages are copied back, and the program
//! goes on from the snapshot with the next schedule (`keeper`). The first run moves the snapshot to the first point at which there is a choice (`later`).
//!
//! Memory is not all that a process has. A filter of system calls (`filter`) brings every call that could leave something behind to a
//! handler (`calls`), which decides: it leaves nothing behind, or what it leaves can be undone (memory that is mapped, the mask and actions of signals, files that are
//! read: `left`); or
//! the run is the keeper's last one (a signal ends it); or the keeper gives up before the call, and the run is made
//! again in a copy of its own. If that happens too often, there are no more keepers.
//!
//! Output and the log are the same for a keeper as for a copy: descriptors share their files.
//!
//! **Invariant**: between two runs nothing but the keeper's own memory ([`keeper::Keeper`]) and the shared page differs from the snapshot.

mod calls;
pub(crate) mod copy;
mod filter;
mod keeper;
mod later;
mod left;
pub(crate) mod memo;
mod pages;

pub(super) use keeper::stand;
pub(super) use later::{Asked, come_to_choice};

use crate::stack::learnt::{self, Learnt};
use crate::thread;
use rsan_schedule::SEPARATOR;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes that a request may have, to be made by a keeper.
const ROOM: usize = 1 << 20;

/// What the keeper and the process that it is a copy of both see.
#[repr(C)]
pub(super) struct Shared {
    stage: AtomicU32,
    /// The system call because of which the run cannot be put back; 0: none.
    pub(super) spoiler: AtomicU32,
    /// Runs that were put back.
    runs: AtomicU64,
    /// Milliseconds that the run may take; 0: any number.
    timeout: AtomicU64,
    /// Of the line: its bytes, and where the request begins that was made last, or is being made.
    length: AtomicU64,
    start: AtomicU64,
    /// Bytes of the runs that were made before it, and are not answered yet ([`rsan_schedule::shared::kept`]).
    kept: AtomicU64,
    line: [AtomicU32; ROOM / 4],
    learnt: Learnt,
    memo: memo::Memo,
}

/// What a keeper does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Stage {
    /// It waits for a request.
    Idle,
    /// It makes the run that was asked for last.
    Running,
    /// It has given up, and the run is to be made otherwise.
    GivenUp,
}

impl Shared {
    fn new() -> Option<&'static Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Self>(),
                protection,
                flags,
                -1,
                0,
            )
        };
        // SAFETY: zeroed memory that stays; all fields are atomic.
        (place != libc::MAP_FAILED).then(|| unsafe { &*place.cast::<Self>() })
    }

    pub(super) fn stage(&self) -> Stage {
        // ORDERING: acquire, with the release in `set`.
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Idle,
            1 => Stage::Running,
            _ => Stage::GivenUp,
        }
    }

    fn set(&self, stage: Stage) {
        // ORDERING: release, with the acquire in `stage`.
        self.stage.store(stage as u32, Ordering::Release);
    }

    /// Ends the stage of a run. False if somebody else did: only one may answer.
    fn claim(&self, stage: Stage) -> bool {
        let (from, to) = (Stage::Running as u32, stage as u32);
        // ORDERING: acquire and release, as in `stage` and `set`.
        let (won, lost) = (Ordering::AcqRel, Ordering::Relaxed);
        self.stage.compare_exchange(from, to, won, lost).is_ok()
    }

    /// The memory of the request.
    fn room(&self) -> *mut u8 {
        self.line.as_ptr().cast_mut().cast()
    }

    /// The requests from the present one on.
    fn requests(&self) -> impl Iterator<Item = &[u8]> {
        // ORDERING: relaxed, here and below; `stage` publishes it.
        let length = (self.length.load(Ordering::Relaxed) as usize).min(ROOM);
        // ORDERING: relaxed, as above.
        let start = (self.start.load(Ordering::Relaxed) as usize).min(length);
        // SAFETY: within the mapping; nobody writes there while a run is made.
        let bytes = unsafe { std::slice::from_raw_parts(self.room(), length) };
        bytes[start..].split(|byte| *byte == SEPARATOR as u8)
    }

    /// The request that is being made, or was made last.
    pub(super) fn line(&self) -> String {
        let present = self.requests().next().unwrap_or_default();
        String::from_utf8_lossy(present).into_owned()
    }

    /// There are new requests, of so many bytes.
    fn begin_line(&self, length: usize) {
        // ORDERING: relaxed, here and below; `stage` publishes it.
        self.length.store(length as u64, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        self.start.store(0, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        self.kept.store(0, Ordering::Relaxed);
    }

    /// Bytes of the runs that were made before the present one.
    pub(super) fn kept(&self) -> u64 {
        // ORDERING: relaxed; who makes runs has stopped, or is asking.
        self.kept.load(Ordering::Relaxed)
    }

    /// The present run is over, of which so many bytes are kept; the next request is the present one. False if there is none.
    fn pass_on(&self, bytes: usize) -> bool {
        let mut requests = self.requests();
        let present = requests.next().unwrap_or_default().len();
        let is_there = requests.next().is_some();
        if is_there {
            // ORDERING: relaxed, here and below; `stage` publishes it.
            self.start.fetch_add(present as u64 + 1, Ordering::Relaxed);
            // ORDERING: relaxed, as above.
            self.kept.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        is_there
    }

    /// Whether it is time to learn, after so many runs, and there is something.
    fn has_lesson(&self, runs: u64) -> bool {
        LESSONS.contains(&runs) && !self.learnt.is_empty()
    }

    /// In a keeper, before its first run: what there is to learn is noted, as long as somebody will.
    pub(super) fn take_notes(&'static self) {
        // ORDERING: relaxed; there is one process that counts, at a time.
        let runs = self.runs.load(Ordering::Relaxed);
        if LESSONS.iter().any(|lesson| runs < *lesson) {
            learnt::start(&self.learnt);
        }
    }

    /// How long the run may take, for who watches.
    pub(super) fn limit(&self, timeout: Option<u64>) {
        // ORDERING: relaxed; somebody looks at it now and then.
        self.timeout.store(timeout.unwrap_or(0), Ordering::Relaxed);
    }
}

/// After so many runs of all keepers the present one ends, if there is something to learn from it: the next one knows that from its start.
const LESSONS: [u64; 2] = [16, 256];

/// Times that keepers may give up early before there are no more.
const PATIENCE: u32 = 3;
/// Runs that make a keeper worth its while.
const WORTHWHILE: u64 = 10;

/// The keepers of a process, one after the other.
pub(super) struct Keepers {
    shared: Option<&'static Shared>,
    failures: u32,
    /// Runs of all keepers before the present one.
    before: u64,
}

impl Keepers {
    /// `wanted`: as the settings say.
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            shared: wanted.then(Shared::new).flatten(),
            failures: 0,
            before: 0,
        }
    }

    /// The page for a keeper that is to make this run first, if there is to be one.
    pub(super) fn next(&self, line: &str) -> Option<&'static Shared> {
        let shared = self.shared.filter(|_| self.failures < PATIENCE)?;
        if line.len() >= ROOM {
            return None;
        }
        // SAFETY: there is room; no keeper runs.
        unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), shared.room(), line.len()) };
        shared.begin_line(line.len());
        // ORDERING: relaxed, as above.
        shared.spoiler.store(0, Ordering::Relaxed);
        shared.set(Stage::Running);
        Some(shared)
    }

    /// A keeper has ended.
    pub(super) fn ended(&mut self) {
        let Some(shared) = self.shared else { return };
        // ORDERING: relaxed; the keeper has ended.
        let runs = shared.runs.load(Ordering::Relaxed);
        let made = runs - self.before;
        self.before = runs;
        if shared.stage() == Stage::Idle && shared.has_lesson(runs) {
            let own = thread::current().map(|me| &*me.stack());
            shared.learnt.learn(own);
        } else if made < WORTHWHILE {
            self.failures += 1;
        } else {
            self.failures = 0;
        }
    }
}

/// How long the present run of a keeper takes.
pub(super) struct Clock {
    shared: &'static Shared,
    seen: (u64, Stage),
    since: Instant,
}

impl Clock {
    pub(super) fn new(shared: &'static Shared) -> Self {
        Self {
            shared,
            seen: (0, Stage::Idle),
            since: Instant::now(),
        }
    }

    /// Whether the run takes longer than it may, as far as somebody knows who looks now and then.
    pub(super) fn is_late(&mut self) -> bool {
        // ORDERING: relaxed; somebody looks at it now and then.
        let runs = self.shared.runs.load(Ordering::Relaxed);
        let now = (runs, self.shared.stage());
        if now != self.seen {
            (self.seen, self.since) = (now, Instant::now());
        }
        // ORDERING: relaxed, as above.
        let limit = self.shared.timeout.load(Ordering::Relaxed);
        now.1 == Stage::Running && limit > 0 && self.since.elapsed() >= Duration::from_millis(limit)
    }

    /// Takes the run from the keeper, which is to be ended. False if it makes none.
    pub(super) fn give_up(&self) -> bool {
        self.shared.claim(Stage::GivenUp)
    }
}

/// Makes a system call of the program's as the handler would, without the detour of a signal. `None`: it is not a keeper's business.
///
/// # Safety
/// As the system call.
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> Option<isize> {
    keeper::keeper().map(|keeper| keeper.decide(number, arguments))
}

/// Whether this process makes many runs.
pub(crate) fn is_keeper() -> bool {
    keeper::keeper().is_some()
}

/// The signals that must not be blocked, as a set.
pub(crate) fn needed() -> u64 {
    let set = |signals: [libc::c_int; 2]| signals.iter().fold(0, |set, s| set | 1 << (s - 1));
    keeper::keeper().map_or(0, |_| set(calls::NEEDED))
}

/// The keeper cannot make the run that it was asked for.
pub(super) fn resign() {
    if let Some(keeper) = keeper::keeper() {
        keeper.resign(0);
    }
}
