//! Locks, barriers, semaphores and the like: clocks that threads leave something in and take it from.
//!
//! A clock is what a thread that joined all who released into it would know; so it *is* the monitor's state of
//! such a thread, in the slot that belongs to nobody ([`crate::thread`]). Releasing is creating a thread that does
//! nothing and letting the clock join it, acquiring is joining the clock. That carries happens-before, hbSC and the
//! seq_cst sets alike.
//!
//! **Deviations**: a mutex is not a location with a modification order of its own, as
//! [`rsan_clocks::Observer::lock`] has it; what an owner knows when it unlocks is all that the previous owner knew,
//! so the order of the critical sections is carried either way. Barriers and semaphores order a little too much
//! when they are used again while late threads still leave: this may hide findings, never invent any.

use crate::location::Locked;
use crate::thread::{Body, enter};
use rsan_clocks::write_log::{Rules, ThreadState};
use rsan_model::ThreadId;

/// The thread id of clocks; it never shows.
const NOBODY: ThreadId = ThreadId(u32::MAX);

/// What is left at a lock or the like.
#[derive(Debug, Default)]
pub struct SyncState {
    /// By writers of a reader-writer lock, and by everybody else.
    main: Option<ThreadState>,
    /// By readers of a reader-writer lock.
    readers: Option<ThreadState>,
    /// Who holds a reader-writer lock for writing.
    writer: Option<ThreadId>,
}

fn snapshot(me: &mut Body) -> ThreadState {
    me.dirty = true;
    let nobody = me.nobody;
    me.state.spawn(NOBODY, nobody, Rules::c20())
}

fn leave(me: &mut Body, clock: &mut Option<ThreadState>) {
    let mine = snapshot(me);
    match clock {
        Some(clock) => clock.join(&mine, Rules::c20()),
        None => *clock = Some(mine),
    }
}

fn take(me: &mut Body, clock: &Option<ThreadState>) {
    if let Some(clock) = clock {
        me.state.join(clock, Rules::c20());
    }
}

fn with(address: usize, act: impl FnOnce(&mut Body, &mut SyncState)) {
    let Some(mut me) = enter() else { return };
    me.changes += 1;
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
    with(address, |me, sync| sync.main = Some(snapshot(me)));
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
            *sync = SyncState {
                main: Some(snapshot(me)),
                ..SyncState::default()
            };
        } else {
            leave(me, &mut sync.readers);
        }
    });
}

/// The lock or the like is no more.
pub fn destroy(address: usize) {
    let Some(_me) = enter() else { return };
    if let Some(mut locked) = Locked::at(address) {
        locked.forget_sync(address);
    }
}
