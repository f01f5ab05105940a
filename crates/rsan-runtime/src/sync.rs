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

mod holding;

use crate::finding::{Operation, Side};
use crate::held::{Life, Mode};
use crate::location::{Done, Intent, Left, Locked, SyncState};
use crate::lock::Lock;
use crate::shadow::Granule;
use crate::thread::{self, Body, Entered, enter};
use crate::tls;
use crate::trail::{Act, Place, Step};
use crate::upcall::answers;
use rsan_clocks::write_log::{Rules, Stamp, SyncClock};
use rsan_model::{RmwOrd, ThreadId};
use std::sync::Arc;

impl Left {
    fn replace(&mut self, me: &mut Body) {
        if me.unsynced != 0 {
            return;
        }
        replace(me, &mut self.clock);
        self.leave(me);
    }

    fn join(&mut self, me: &mut Body) {
        if me.unsynced != 0 {
            return;
        }
        me.dirty = true;
        me.state.leave(&mut self.clock);
        self.leave(me);
    }

    fn leave(&mut self, me: &Body) {
        self.by = Some(step(me, Act::Unlock));
        self.at = me.state.stamp();
    }

    /// Who was the last, if that does not happen before what the thread does next.
    fn unordered(&self, me: &Body) -> Option<Use> {
        let by = self.by.filter(|by| by.thread != me.state.id())?;
        let Stamp { slot, epoch } = self.at;
        (me.state.hb().get(slot) < epoch).then(|| Use {
            by: Done {
                thread: by.thread,
                site: by.place.site(),
            },
            at: self.at,
        })
    }

    fn take(&self, me: &mut Body, address: usize) {
        if me.unsynced != 0 {
            return;
        }
        let known = me.state.past_version();
        me.state.take(&self.clock, Rules::c20());
        if me.state.past_version() != known {
            let mut step = step(me, Act::Lock);
            step.position = step.position.wrapping_add(1);
            me.trail.note(&step, address, self.by.as_slice());
        }
    }
}

/// What the thread does, for reports: the line, without its callers.
fn step(me: &Body, act: Act) -> Step {
    let place = Place::line(me.caller);
    Step::new(&me.state, &me.trail, act, RmwOrd::Relaxed, place)
}

impl SyncState {
    fn life(&mut self) -> Life {
        self.lifetime.get_or_insert_default().life()
    }
}

/// A use of a lock or the like: an unlock, a signal, a post...
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Whose.
    pub by: Done,
    /// When.
    pub at: Stamp,
}

impl SyncState {
    /// A last use that does not happen before what the thread does next.
    pub(crate) fn unordered(&self, me: &Body) -> Option<Use> {
        let round = || self.round.as_ref()?.lock().unordered(me);
        let readers = || self.readers.unordered(me);
        self.main.unordered(me).or_else(readers).or_else(round)
    }
}

impl Done {
    /// For a report.
    pub fn side(self, operation: Operation) -> Side {
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

/// A use of a lock or the like that is told from what its thread did before.
fn with_use(address: usize, act: impl FnOnce(&mut Entered, &mut SyncState)) {
    with(address, |me, sync| {
        if !me.options.exact {
            me.make_private();
        }
        act(me, sync);
    });
}

fn with(address: usize, act: impl FnOnce(&mut Entered, &mut SyncState)) {
    let Some(mut me) = enter() else { return };
    if let Some(mut locked) = Locked::at(address, Intent::Access) {
        act(&mut me, locked.sync(address));
    }
    me.learnt();
}

answers! {
    "rsan_up_take_again" thread::take_at => take_again;
}

fn take_again(me: &mut Entered, address: usize) {
    if let Some(mut locked) = Locked::at(address, Intent::Access) {
        locked.sync(address).main.take(me, address);
    }
    me.learnt();
}

/// Everybody who released comes before what the thread does next.
pub fn acquire(address: usize) {
    with(address, |me, sync| sync.main.take(me, address));
}

/// What the thread did comes before whoever acquires.
pub fn release(address: usize) {
    with(address, |me, sync| sync.main.join(me));
}

/// The thread posts a semaphore, or signals a condition variable, of which only whoever destroys it wants to know.
pub fn post(address: usize) {
    with_use(address, |me, sync| sync.main.join(me));
}

/// A last use of a lock or the like that does not happen before what the thread does next.
pub(crate) fn unordered_use(address: usize) -> Option<Use> {
    let me = enter().filter(|me| me.options.sync_objects)?;
    let mut locked = Granule::existing(address).and_then(Locked::existing)?;
    locked.known_sync(address)?.unordered(&me)
}

/// A lock of a thread's own, for which nobody need wait in another order: of OpenMP, or of the runtime for the program.
pub fn lock(address: usize) {
    acquire(address);
}

/// How a thread took a lock.
#[derive(Clone, Copy, Debug)]
pub struct Taking {
    /// How it is held.
    pub mode: Mode,
    /// The thread would have waited for it without end.
    pub waited: bool,
    /// For mutexes: by which number libc knows the holder.
    pub number: Option<u32>,
    /// It has readers and writers.
    pub shares: bool,
}

/// The thread took a lock.
#[inline]
pub fn take(address: usize, taking: Taking) {
    let Some(mut me) = enter() else { return };
    let Some(mut locked) = Locked::at(address, Intent::Access) else {
        return;
    };
    let sync = locked.sync(address);
    sync.main.take(&mut me, address);
    if let Some(number) = taking.number {
        let site = Place::line(me.caller).site();
        let thread = me.state.id();
        sync.holder = Some((Done { thread, site }, number));
        me.libc_number = number;
    }
    if taking.shares && taking.mode == Mode::Write {
        sync.readers.take(&mut me, address);
        sync.writer = Some(me.state.id());
    }
    let life = sync.life();
    drop(locked);
    holding::took(&mut me, address, life, taking.mode, taking.waited);
    me.learnt();
    let in_handler = (me.handling != 0 && taking.number.is_some()).then_some(me.caller);
    drop(me);
    if let Some(caller) = in_handler {
        tls::set_caller(caller);
        crate::handler::called(Operation::MutexLock);
    }
}

/// The thread gives a lock back, if it has it.
#[inline]
fn give(me: &mut Entered, address: usize) {
    let had = !me.held.is_empty() && holding::gave(me, address);
    me.gave_unheld = if had { 0 } else { address };
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
    with_use(address, |me, sync| {
        sync.main.replace(me);
        give(me, address);
    });
}

/// The same for one that may refuse, and then still has what others left.
pub fn unlock_if_held(address: usize) {
    with_use(address, |me, sync| {
        sync.main.join(me);
        give(me, address);
    });
}

/// The thread gives a reader-writer lock back. Readers do not order each other.
pub fn unlock_shared_or_write(address: usize) {
    with_use(address, |me, sync| {
        if sync.writer == Some(me.state.id()) {
            sync.main.replace(me);
            sync.readers = Left::default();
            sync.writer = None;
        } else {
            sync.readers.join(me);
        }
        give(me, address);
    });
}

/// Threads that a barrier waits for, and how many of them have come to the present round.
pub fn arrived(address: usize) -> Option<(usize, usize)> {
    let (threads, arrived) = look(address, |sync| sync.barrier)?;
    Some((threads, arrived.checked_rem(threads)?))
}

/// How many threads have come to a barrier in all. For a thread that is inside the runtime, or has ended.
pub(crate) fn came(address: usize) -> Option<usize> {
    let mut locked = Granule::existing(address).and_then(Locked::existing)?;
    locked.known_sync(address).map(|sync| sync.barrier.1)
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

/// The round of a barrier that a thread has come to. Its clock lives until everybody has left, for the first who leaves may destroy
/// the barrier and free its memory.
#[derive(Debug, Default)]
pub struct Round {
    clock: Option<Arc<Lock<Left>>>,
    until: Option<usize>,
}

impl Round {
    /// How many threads have come to the barrier in all when the round is over; none if it is over now, or not known.
    pub(crate) fn until(&self) -> Option<usize> {
        self.until
    }
}

/// The thread comes to a barrier. Threads that still leave the round before have another clock.
pub fn arrive(address: usize) -> Round {
    let mut round = Round::default();
    with_use(address, |me, sync| {
        let (threads, before) = sync.barrier;
        if threads != 0 && before % threads == 0 {
            sync.round = None;
        }
        let end = (before.checked_div(threads).unwrap_or(0) + 1) * threads;
        round.until = (before + 1 < end).then_some(end);
        sync.barrier.1 += 1;
        let clock = sync.round.get_or_insert_default();
        clock.lock().join(me);
        round.clock = Some(clock.clone());
    });
    round
}

/// The thread leaves a barrier: everybody of its round came before.
pub fn depart(address: usize, round: &Round) {
    let Some(mut me) = enter() else { return };
    if let Some(clock) = &round.clock {
        clock.lock().take(&mut me, address);
    }
    me.learnt();
}

/// The lock or the like is no more, or begins a new life.
pub fn destroy(address: usize) {
    let Some(_me) = enter() else { return };
    if let Some(mut locked) = Granule::of(address).and_then(Locked::existing) {
        locked.forget_sync(address);
    }
}

/// The same, and who did it is remembered, with what stood where it is marked.
pub fn bury(address: usize, stood: u32) {
    let Some(mut me) = enter() else { return };
    let (thread, site) = (me.state.id(), me.site());
    if let Some(mut locked) = Locked::at(address, Intent::Access) {
        let sync = locked.sync(address);
        *sync = SyncState::default();
        sync.destroyed = Some((Done { thread, site }, stood));
    }
}

/// Who destroyed it, if it was, and what stood where it was marked.
pub fn destroyed(address: usize) -> Option<(Done, u32)> {
    look(address, |sync| sync.destroyed)?
}

/// Whether something is known of a lock or the like.
pub(crate) fn is_known(address: usize) -> bool {
    look(address, |_| ()).is_some()
}

/// What is known of a lock or the like, if something is.
fn look<R>(address: usize, answer: impl FnOnce(&SyncState) -> R) -> Option<R> {
    let _me = enter()?;
    let mut locked = Granule::existing(address).and_then(Locked::existing)?;
    locked.known_sync(address).map(answer)
}
