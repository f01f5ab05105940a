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

use crate::location::Locked;
use crate::shadow::Granule;
use crate::thread::{Body, enter};
use rsan_clocks::write_log::{Rules, SyncClock};
use rsan_model::ThreadId;

/// What is left at a lock or the like.
#[derive(Debug, Default)]
pub struct SyncState {
    /// By writers of a reader-writer lock, and by everybody else.
    main: SyncClock,
    /// By readers of a reader-writer lock.
    readers: SyncClock,
    /// Who holds a reader-writer lock for writing.
    writer: Option<ThreadId>,
    /// Threads that a barrier waits for, and how many have come in all.
    barrier: (usize, usize),
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

fn leave(me: &mut Body, clock: &mut SyncClock) {
    me.dirty = true;
    me.state.leave(clock);
}

fn take(me: &mut Body, clock: &SyncClock) {
    me.state.take(clock, Rules::c20());
}

fn with(address: usize, act: impl FnOnce(&mut Body, &mut SyncState)) {
    let Some(mut me) = enter() else { return };
    if let Some(mut locked) = Locked::at(address) {
        act(&mut me, locked.sync(address));
    }
}

/// Everybody who released comes before what the thread does next.
pub fn acquire(address: usize) {
    with(address, |me, sync| take(me, &sync.main));
}

/// What the thread did comes before whoever acquires.
pub fn release(address: usize) {
    with(address, |me, sync| leave(me, &mut sync.main));
}

/// The thread took a mutex.
pub fn lock(address: usize) {
    acquire(address);
}

/// The thread gives a mutex back.
pub fn unlock(address: usize) {
    with(address, |me, sync| replace(me, &mut sync.main));
}

/// The thread took a reader-writer lock for writing.
pub fn lock_write(address: usize) {
    with(address, |me, sync| {
        take(me, &sync.main);
        take(me, &sync.readers);
        sync.writer = Some(me.state.id());
    });
}

/// The thread gives a reader-writer lock back. Readers do not order each other.
pub fn unlock_shared_or_write(address: usize) {
    with(address, |me, sync| {
        if sync.writer == Some(me.state.id()) {
            replace(me, &mut sync.main);
            sync.readers = SyncClock::default();
            sync.writer = None;
        } else {
            leave(me, &mut sync.readers);
        }
    });
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
    fn round(&mut self, round: Round) -> &mut SyncClock {
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
            *sync.round(round) = SyncClock::default();
        }
        sync.barrier.1 += 1;
        leave(me, sync.round(round));
    });
    round
}

/// The thread leaves a barrier: everybody of its round came before.
pub fn depart(address: usize, round: Round) {
    with(address, |me, sync| take(me, sync.round(round)));
}

/// The lock or the like is no more.
pub fn destroy(address: usize) {
    let Some(_me) = enter() else { return };
    if let Some(mut locked) = Granule::of(address).and_then(Locked::existing) {
        locked.forget_sync(address);
    }
}
