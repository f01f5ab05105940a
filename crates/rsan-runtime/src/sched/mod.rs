//! Owning the schedule: one thread of the program runs at a time, and a strategy says which.
//!
//! A thread comes here before every operation that others can see (`point`): atomic accesses, fences, locks,
//! creation and end of threads, sleeping and yielding. What it does next is then known of every thread, so the
//! `Strategy` can choose. The chosen thread does what it announced, and runs on to its next such point.
//!
//! Operations that wait (locks, joins, condition variables...) are tried; when they would wait, the thread is blocked
//! here until what it waits for may have come (`waits`). So the scheduler knows when nobody can go
//! on, which is a deadlock. A call that may wait for something outside the program is made `outside`: the others go
//! on meanwhile.
//!
//! * `threads`: what is known of each. `state`: the choice. `life`: their beginning and end.
//! * `switch`: how the processor gets from one thread to another. `trace`: what happened.
//! * `spin`: loops that only wait; `borrowed`: words of stacks that others write. `queues`: threads that wait for signals.
//! * `server`: many runs of one program, from a snapshot. `snapshot`, `views`: so that copies cost little. `lent`: threads of
//!   copies without kernel threads; `keys`: what is left at their end.
//! * `reuse`: many runs in one copy, which is put back after each.
//! * `heap`: the program's blocks, at the same addresses in every run.
//! * `stacks`: memory of functions and threads that have ended.
//! * `weak`: loads return what the memory model allows. `places`: where in the program.
//! * `atomics`, `waits`, `meetings`, `scopes`: the program's operations, by way of the scheduler. `stuck`: nobody can go on.
//!
//! Nothing here costs a program that is not scheduled more than one test of a flag per operation.

pub(crate) mod atomics;
mod borrowed;
pub(crate) mod heap;
pub(crate) mod keys;
pub(crate) mod lent;
mod life;
pub(crate) mod meetings;
pub(crate) mod places;
mod queues;
pub(crate) mod reuse;
mod run;
pub(crate) mod scopes;
pub mod server;
mod snapshot;
mod spin;
pub(crate) mod stacks;
mod state;
mod stuck;
mod switch;
mod threads;
mod trace;
mod views;
pub(crate) mod waits;
pub(crate) mod weak;

use run::Plan;
pub(crate) use run::{begin_run, end_early, end_run, is_ending, wait_for_others};

pub(crate) use life::{
    announce, begin, borrow, come_to_end, ended, go_home, leave, move_home, outside, renounce,
    settle, vanish,
};
pub(crate) use state::{For, Hold, Need, Values};

use crate::entry::SCHEDULED;
use crate::lock::{Guard, Lock};
use crate::report;
use crate::system::futex_wait;
use crate::thread;
use crate::upcall::answers;
use queues::Queues;
use rsan_model::ThreadId;
use rsan_schedule::{Kind, Op, Step};
use state::{State, Status};
use std::sync::atomic::{AtomicU32, Ordering};
use switch::Carrier;

static STATE: Lock<Option<State>> = Lock::new(None);

/// Whether a strategy says who runs.
#[inline(always)]
pub(crate) fn active() -> bool {
    // ORDERING: relaxed; set while there is one thread.
    SCHEDULED.load(Ordering::Relaxed)
}

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    STATE.raw()
}

/// In a child that the program made: its only thread runs as it likes.
pub(crate) fn end_in_child() {
    // ORDERING: relaxed; there is one thread.
    SCHEDULED.store(false, Ordering::Relaxed);
    weak::end();
}

/// The calling thread inside the runtime, also while others run. What the runtime itself copies is not taken for the
/// program's then, and does not change where the program called.
struct Inside {
    entered: thread::Entered,
    caller: usize,
}

impl Inside {
    /// `None` if the thread is inside already, or not to be seen.
    fn enter() -> Option<Self> {
        let caller = crate::tls::caller();
        let entered = thread::enter_access()?;
        Some(Self { entered, caller })
    }

    /// The thread's number.
    fn number(&self) -> usize {
        self.entered.state.id().index()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        crate::tls::set_caller(self.caller);
    }
}

/// The calling thread and the state, if it is scheduled. A thread that was outside waits for its turn.
fn scheduled() -> Option<(Inside, Guard<'static, Option<State>>)> {
    let pointer = crate::tls::stack_pointer();
    let inside = Inside::enter()?;
    let me = inside.number();
    stacks::stand(me, pointer);
    let mut guard = STATE.lock();
    if guard.as_mut()?.thread(me)?.status == Status::Outside {
        life::come_back(me, guard);
        guard = STATE.lock();
    }
    let thread = guard.as_mut()?.thread(me)?;
    thread.pc = inside.caller;
    (thread.status != Status::Finished).then_some((inside, guard))
}

/// The number of the calling thread, if it is scheduled.
pub(crate) fn number() -> Option<ThreadId> {
    let inside = active().then(Inside::enter)??;
    Some(ThreadId::new(inside.number()))
}

answers! {
    "rsan_up_steps" report::steps => steps;
}

/// Steps of the run so far, under controlled scheduling.
fn steps() -> Option<u64> {
    let guard = active().then(|| STATE.lock())?;
    guard.as_ref().map(|state| state.trace.steps())
}

/// A thread, or the calling one, and where its memory is, if that must not depend on the schedule.
fn home_of(thread: Option<ThreadId>) -> Option<(ThreadId, usize)> {
    let inside = active().then(Inside::enter)??;
    let number = thread.unwrap_or_else(|| ThreadId::new(inside.number()));
    let mut guard = STATE.lock();
    let home = guard.as_mut()?.thread(number.index())?.home?;
    Some((number, home))
}

/// A number for what is random to the calling thread, if that must not depend on the schedule.
pub(crate) fn draw() -> Option<u64> {
    let inside = active().then(Inside::enter)??;
    touch();
    let mut guard = STATE.lock();
    let thread = guard.as_mut()?.thread(inside.number())?;
    let home = thread.home? as u64;
    thread.drawn += 1;
    Some(home << 32 | thread.drawn)
}

/// A thread is about to write; on its own stack only it sees that.
#[cold]
pub(crate) fn note_write(me: &mut thread::Body, address: usize, bytes: usize) {
    let here = 0u8;
    let stack = &raw const here as usize..me.outermost;
    let own = stack.contains(&address);
    me.wrote |= !own;
    me.touched |= !own;
    if !own {
        me.accessed.note(address, bytes, true);
    }
    if spin::may_be_on_a_stack(address, bytes)
        && let Some(state) = STATE.lock().as_mut().filter(|_| active())
    {
        let number = me.state.id().index();
        match state.thread(number).filter(|_| own) {
            Some(thread) => thread.spin.takes_back(address, bytes),
            None => state.about_to_write(number, address, bytes),
        }
    }
}

/// A thread is about to read; on its own stack it sees what it wrote itself.
#[cold]
pub(crate) fn note_read(me: &mut thread::Body, address: usize, bytes: usize) {
    let here = 0u8;
    let stack = &raw const here as usize..me.outermost;
    if !stack.contains(&address) {
        me.touched = true;
        me.accessed.note(address, bytes, false);
    }
}

/// The calling thread has got something whose like it does not get again.
pub(crate) fn touch() {
    if let Some(mut inside) = Inside::enter() {
        inside.entered.touched = true;
    }
}

/// The calling thread writes plainly to an atomic location, or gives its memory back. Others may have read it without its knowing, unless
/// they have all ended, and were joined.
#[cold]
pub(crate) fn overwrite() {
    // The caller has the lock of a location. Only where one thread runs at a time nobody holds this lock and waits for that one.
    if !active() {
        return;
    }
    if let Some(state) = STATE.lock().as_mut()
        && state.joined + 1 < state.threads.iter().flatten().count()
    {
        state.trace.overwrites();
    }
}

/// The calling thread is about to do something that others can see.
#[inline]
pub(crate) fn point(kind: Kind, object: usize, bytes: usize) {
    if active() {
        stop_at(kind, object, bytes);
    }
}

#[cold]
fn stop_at(kind: Kind, object: usize, bytes: usize) {
    if let Some((mut inside, mut guard)) = scheduled() {
        let me = inside.number();
        weak::arrive(&mut inside, guard.as_mut());
        if let Some(thread) = guard.as_mut().and_then(|state| state.thread(me)) {
            match kind {
                Kind::Yield => {}
                Kind::Fence => thread.spin.fences(),
                _ => thread.spin.reset(),
            }
        }
        if kind != Kind::Yield {
            inside.entered.accessed.clear();
        }
        give_way(me, guard, op(kind, object, bytes), Status::Ready);
    }
}

/// The same for something that may have to wait: the thread is not chosen before it need not. False: the time was
/// over. May be left by thread cancellation, unless it is a lock that is waited for.
pub(crate) fn point_when(op: Op, need: Need, timed: bool) -> bool {
    wait(Some(op), need, Status::Ready, timed)
}

/// The calling thread waits; others go on. False: the time was over. May be left by thread cancellation, unless it is a
/// lock that is waited for.
pub(crate) fn block(wait_for: For, timed: bool) -> bool {
    wait(None, Need::Nothing, Status::Blocked(wait_for), timed)
}

/// The calling thread is about to do something; it is chosen when it is ready, or woken.
fn wait_as(op: Op, status: Status) {
    wait(Some(op), Need::Nothing, status, false);
}

/// The calling thread is chosen again when its status and need allow it, for an operation or to go on with its last.
/// False: the time was over.
fn wait(op: Option<Op>, need: Need, status: Status, timed: bool) -> bool {
    let Some((mut inside, mut guard)) = scheduled() else {
        return true;
    };
    let me = inside.number();
    if op.is_some() {
        weak::arrive(&mut inside, guard.as_mut());
        inside.entered.accessed.clear();
    }
    let Some(state) = guard.as_mut() else {
        return true;
    };
    let since = state.trace.steps();
    let Some(thread) = state.thread(me) else {
        return true;
    };
    if op.is_some() {
        thread.spin.reset();
    }
    thread.need = need;
    (thread.since, thread.timed, thread.timed_out) = (since, timed, false);
    let op = op.unwrap_or(thread.op);
    give_way(me, guard, op, status);
    let in_time = chosen_in_time(me);
    drop(inside);
    if op.kind != Kind::Lock {
        test_cancel();
    }
    in_time
}

/// The thread has been chosen; whether what it waited for had come.
fn chosen_in_time(me: usize) -> bool {
    let mut guard = STATE.lock();
    let Some(state) = guard.as_mut() else {
        return true;
    };
    let Some(thread) = state.thread(me) else {
        return true;
    };
    thread.timed = false;
    let in_time = !std::mem::take(&mut thread.timed_out);
    if let Need::Signal(queue) = std::mem::replace(&mut thread.need, Need::Nothing) {
        state.queues.leave(queue, me, true);
    }
    if !in_time {
        state.trace.time_passes();
    }
    in_time
}

pub(crate) fn op(kind: Kind, object: usize, bytes: usize) -> Op {
    Op {
        kind,
        object: object as u64,
        bytes: bytes as u8,
    }
}

/// The calling thread sleeps: others should go on.
pub(crate) fn slept() {
    give_others_a_turn(true);
}

/// The calling thread yields, or spins: others should go on.
pub(crate) fn yielded() {
    give_others_a_turn(false);
}

fn give_others_a_turn(sleeps: bool) {
    if active()
        && let Some((inside, mut guard)) = scheduled()
    {
        let me = inside.number();
        let mut is_steady = false;
        if let Some(state) = guard.as_mut() {
            state.strategy.yielded(ThreadId::new(me));
            is_steady = state.steady;
            if sleeps {
                state.trace.time_passes();
            }
        }
        give_way(me, guard, op(Kind::Yield, 0, 0), Status::Ready);
        drop(inside);
        if is_steady {
            // Loops that wait yield: what that leaves on the stack would be in the state in which they come to their next read.
            stacks::wipe_own(me);
        }
    }
}

/// What came of the step that the calling thread was let make.
pub(crate) fn done(change: impl FnOnce(&mut Step)) {
    if let Some((inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        let me = inside.number();
        let Some(thread) = state.thread(me) else {
            return;
        };
        change(&mut thread.step.1);
        let (index, step) = thread.step;
        state.trace.set(index, &step);
        state.strategy.stepped(&step);
        if let Some(thread) = state.thread(me)
            && step.op.kind.may_read()
        {
            thread.spin.reads_in(index);
        }
        if step.writes {
            state.overwritten(me, step.op.object as usize, usize::from(step.op.bytes));
        }
        if step.changes() {
            state.before_retries = None;
            if let Some(thread) = state.thread(me) {
                match step.op.kind == Kind::Store && step.read == step.wrote {
                    true => thread.spin.rewrites_in(index),
                    false => thread.spin.reset(),
                }
            }
            state.written(step.op.object as usize, usize::from(step.op.bytes));
        }
    }
}

/// The calling thread has joined another one.
fn joined() {
    if let Some((_inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        state.joined += 1;
    }
}

/// Something that threads wait for may have come; they try again.
pub(crate) fn wake(wait: For) {
    if !active() {
        return;
    }
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut() {
        state.wake(wait);
    }
}

/// The queues of those who wait for signals, for the calling thread.
fn with_queues<R>(act: impl FnOnce(&mut Queues, usize) -> R) -> Option<R> {
    let (inside, mut guard) = scheduled()?;
    let state = guard.as_mut()?;
    Some(act(&mut state.queues, inside.number()))
}

/// A lock was taken by the calling thread.
pub(crate) fn took(object: usize, how: Hold) {
    if let Some((inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        state.locks.take(object, inside.number(), how);
    }
}

/// A lock was given back by the calling thread.
pub(crate) fn gave(object: usize) {
    if let Some((inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        state.locks.give(object, inside.number());
        state.wake(For::Object(object));
    }
}

/// A thread is to end where it waits.
pub(crate) fn cancel(number: ThreadId) {
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut().filter(|_| active())
        && let Some(thread) = state.thread(number.index())
        && !matches!(thread.status, Status::Finished | Status::Outside)
    {
        state.release(number.index());
    }
}

/// Ends the calling thread if somebody has asked for it.
pub(crate) fn test_cancel() {
    unsafe extern "C-unwind" {
        safe fn pthread_testcancel();
    }
    pthread_testcancel();
}

/// The calling thread has something to do, or waits; whoever is chosen goes on. Returns when it is chosen itself.
fn give_way(me: usize, mut guard: Guard<'static, Option<State>>, op: Op, status: Status) {
    let Some(state) = guard.as_mut() else { return };
    if let Some(thread) = state.thread(me) {
        thread.op = op;
        thread.status = status;
    }
    match state.choose() {
        Some(next) => go_on_as(me, next, guard),
        None => {
            let carrier = state.executor;
            state.idle.push(carrier);
            lie_down(me, carrier, guard);
        }
    }
}

/// The calling thread's kernel thread carries nobody from now on; the thread goes on when it is chosen.
fn lie_down(me: usize, carrier: *const Carrier, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let (save, settled) = state.context(me);
    // SAFETY: from `State::context`. ORDERING: relaxed; the lock is held, without which nobody looks.
    unsafe { &*settled }.store(0, Ordering::Relaxed);
    drop(guard);
    // SAFETY: this is the kernel thread that carries the thread; whoever goes on as it waits until it is settled.
    unsafe { switch::lie_down(save, carrier, settled) };
}

/// Another thread goes on, and the calling one when it is its turn again.
fn go_on_as(me: usize, next: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut().filter(|_| me != next) else {
        return;
    };
    state.current = next;
    state.trace.switched();
    let (cheap, executor) = (state.cheap, state.executor);
    let other = if cheap {
        executor
    } else {
        let other = state.idle_carrier(next);
        state.idle.push(executor);
        state.executor = other;
        other
    };
    let (save, _) = state.context(me);
    let (load, settled) = state.context(next);
    drop(guard);
    wait_until_settled(settled);
    // SAFETY: the thread was saved when it came here, or is saved now; only this kernel thread chooses who runs.
    unsafe {
        if cheap {
            switch::swap(save, load);
        } else {
            switch::hand_over(save, executor, other, load);
        }
    }
}

fn wait_until_settled(settled: *const AtomicU32) {
    // SAFETY: from `State::context`.
    let settled = unsafe { &*settled };
    // ORDERING: acquire, with the release of who left its stack.
    while settled.load(Ordering::Acquire) == 0 {
        futex_wait(settled, 0);
    }
}
