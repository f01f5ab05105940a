//! Locks, barriers, semaphores and the like: clocks that threads leave something in and take it from.
//!
//! A clock is what a thread that joined all who released into it would know ([`SyncClock`]): happens-before, hbSC and
//! the seq_cst sets alike.
//!
//! **Deviations**: a mutex is not a location with a modification order of its own, as
//! [`rsan_clocks::Observer::lock`] has it; what an owner knows when it unlocks is all that the previous owner knew,
//! so the order of the critical sections is carried either way. A semaphore is a counter that all change by
//! read-modify-writes, so whoever waits follows every earlier post. More threads than a barrier was made for may
//! share its clocks of two rounds: this may hide findings.

use crate::horizon;
use crate::location::{Intent, Locked};
use crate::report::Side;
use crate::shadow::Granule;
use crate::stack::Site;
use crate::thread::{Body, enter};
use crate::tls;
use crate::trail::{Act, Place, Step};
use rsan_clocks::write_log::{Rules, SyncClock};
use rsan_model::{RmwOrd, ThreadId};

/// What threads left, and who was the last.
#[derive(Debug, Default)]
struct Left {
    clock: SyncClock,
    by: Option<Step>,
}

impl Left {
    fn replace(&mut self, me: &mut Body) {
        if me.unsynced != 0 {
            return;
        }
        replace(me, &mut self.clock);
        self.by = Some(step(me, Act::Unlock));
    }

    fn join(&mut self, me: &mut Body) {
        if me.unsynced != 0 {
            return;
        }
        me.dirty = true;
        me.state.leave(&mut self.clock);
        self.by = Some(step(me, Act::Unlock));
    }

    fn take(&self, me: &mut Body, address: usize) {
        if me.unsynced != 0 {
            return;
        }
        let known = me.state.past_version();
        me.state.take(&self.clock, Rules::c20());
        if me.state.past_version() != known {
            let mut step = step(me, Act::Lock);
            step.position += 1;
            me.trail.note(&step, address, self.by.as_slice());
        }
    }
}

/// What the thread does, for reports: the line, without its callers.
fn step(me: &Body, act: Act) -> Step {
    let place = Place::line(me.caller);
    Step::new(&me.state, &me.trail, act, RmwOrd::Relaxed, place)
}

/// What is left at a lock or the like.
#[derive(Debug, Default)]
pub struct SyncState {
    /// By writers of a reader-writer lock, and by everybody else.
    main: Left,
    /// By readers of a reader-writer lock.
    readers: Left,
    /// Who holds a reader-writer lock for writing.
    writer: Option<ThreadId>,
    /// Threads that a barrier waits for, and how many have come in all.
    barrier: (usize, usize),
    /// Who holds a mutex, and the number by which libc knows the holder.
    holder: Option<(Done, u32)>,
    /// Who destroyed it, and what stood where it was marked then.
    destroyed: Option<(Done, u32)>,
}

/// Who did something to a lock or the like, and where.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: Site,
}

impl Done {
    /// For a report.
    pub fn side(self, operation: &'static str) -> Side {
        Side::plain(Some(self.thread), operation, self.site)
    }
}

/// What a thread knows now, as a clock.
pub fn snapshot(me: &mut Body) -> SyncClock {
    let mut clock = SyncClock::default();
    replace(me, &mut clock);
    clock
}

fn replace(me: &mut Body, clock: &mut SyncClock) {
    me.dirty = true;
    me.state.replace(clock, Rules::c20());
}

fn with(address: usize, act: impl FnOnce(&mut Body, &mut SyncState)) {
    let Some(mut me) = enter() else { return };
    if let Some(mut locked) = Locked::at(address, Intent::Access) {
        act(&mut me, locked.sync(address));
    }
    horizon::learnt(&mut me);
}

/// Everybody who released comes before what the thread does next.
pub fn acquire(address: usize) {
    with(address, |me, sync| sync.main.take(me, address));
}

/// What the thread did comes before whoever acquires.
pub fn release(address: usize) {
    with(address, |me, sync| sync.main.join(me));
}

/// The thread took a mutex.
pub fn lock(address: usize) {
    acquire(address);
}

/// The thread took a mutex; libc knows it by this number.
pub fn hold(address: usize, number: u32) {
    let mut in_handler = None;
    with(address, |me, sync| {
        in_handler = (me.handling != 0).then_some(me.caller);
        sync.main.take(me, address);
        let site = Place::line(me.caller).site();
        let thread = me.state.id();
        sync.holder = Some((Done { thread, site }, number));
        me.libc_number = number;
    });
    if let Some(caller) = in_handler {
        tls::set_caller(caller);
        crate::intercept::signals::called("lock of a mutex");
    }
}

/// Who holds the mutex, if libc knows the holder by this number still.
pub fn holder(address: usize, number: u32) -> Option<Done> {
    let known = look(address, |sync| sync.holder)??;
    (known.1 == number).then_some(known.0)
}

/// Who holds the reader-writer lock for writing, as far as it is known.
pub fn writer(address: usize) -> Option<ThreadId> {
    look(address, |sync| sync.writer)?
}

/// The thread gives a mutex back.
pub fn unlock(address: usize) {
    with(address, |me, sync| sync.main.replace(me));
}

/// The thread took a reader-writer lock for writing.
pub fn lock_write(address: usize) {
    with(address, |me, sync| {
        sync.main.take(me, address);
        sync.readers.take(me, address);
        sync.writer = Some(me.state.id());
    });
}

/// The thread gives a reader-writer lock back. Readers do not order each other.
pub fn unlock_shared_or_write(address: usize) {
    with(address, |me, sync| {
        if sync.writer == Some(me.state.id()) {
            sync.main.replace(me);
            sync.readers = Left::default();
            sync.writer = None;
        } else {
            sync.readers.join(me);
        }
    });
}

/// Threads that a barrier waits for, and how many of them have come to the present round.
pub fn arrived(address: usize) -> Option<(usize, usize)> {
    let (threads, arrived) = look(address, |sync| sync.barrier)?;
    Some((threads, arrived.checked_rem(threads)?))
}

/// A barrier for so many threads begins its life.
pub fn make_barrier(address: usize, threads: usize) {
    with(address, |_, sync| {
        *sync = SyncState {
            barrier: (threads, 0),
            ..SyncState::default()
        };
    });
}

/// A barrier is for so many threads; to be called before anybody comes to it.
pub fn size_barrier(address: usize, threads: usize) {
    with(address, |_, sync| sync.barrier.0 = threads);
}

/// The round of a barrier that a thread has come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    odd: bool,
}

impl SyncState {
    fn round(&mut self, round: Round) -> &mut Left {
        if round.odd {
            &mut self.readers
        } else {
            &mut self.main
        }
    }
}

/// The thread comes to a barrier. Threads that still leave the round before have the other clock.
pub fn arrive(address: usize) -> Round {
    let mut round = Round::default();
    with(address, |me, sync| {
        let (threads, before) = sync.barrier;
        round.odd = threads != 0 && before / threads % 2 == 1;
        if threads != 0 && before % threads == 0 {
            *sync.round(round) = Left::default();
        }
        sync.barrier.1 += 1;
        sync.round(round).join(me);
    });
    round
}

/// The thread leaves a barrier: everybody of its round came before.
pub fn depart(address: usize, round: Round) {
    with(address, |me, sync| sync.round(round).take(me, address));
}

/// The lock or the like is no more, or begins a new life.
pub fn destroy(address: usize) {
    let Some(_me) = enter() else { return };
    if let Some(mut locked) = Granule::of(address).and_then(Locked::existing) {
        locked.forget_sync(address);
    }
}

/// The same, and who did it is remembered, with what stood where it is marked. Threads may still leave a barrier.
pub fn bury(address: usize, stood: u32) {
    let Some(mut me) = enter() else { return };
    let (thread, site) = (me.state.id(), me.site());
    if let Some(mut locked) = Locked::at(address, Intent::Access) {
        let sync = locked.sync(address);
        if sync.barrier.0 == 0 {
            *sync = SyncState::default();
        }
        sync.barrier = (0, 0);
        sync.destroyed = Some((Done { thread, site }, stood));
    }
}

/// Who destroyed it, if it was, and what stood where it was marked.
pub fn destroyed(address: usize) -> Option<(Done, u32)> {
    look(address, |sync| sync.destroyed)?
}

/// What is known of a lock or the like, if something is.
fn look<R>(address: usize, answer: impl FnOnce(&SyncState) -> R) -> Option<R> {
    let _me = enter()?;
    let mut locked = Granule::existing(address).and_then(Locked::existing)?;
    locked.known_sync(address).map(answer)
}
