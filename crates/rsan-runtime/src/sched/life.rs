//! Threads begin, end, and are elsewhere for a while.

use super::lent::{self, Lent};
use super::state::{State, Status};
use super::switch::{self, Carrier};
use super::{
    Inside, STATE, active, done, go_on_as, heap, lie_down, op, scheduled, stacks, stop_at,
    wait_until_settled,
};
use crate::lock::Guard;
use crate::real;
use crate::thread::{self, accessed};
use rsan_model::ThreadId;
use rsan_schedule::Kind;
use std::ffi::c_void;

/// A thread is about to be created by the calling one.
pub(crate) fn announce(child: ThreadId) {
    if let Some((_inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        state.add(child.index(), 0, Carrier::new());
    }
    done(|step| step.child = child);
}

/// A thread with so many bytes of stack for the calling one to create, if one can be lent. It is as if it was announced and settled.
pub(crate) fn borrow(child: ThreadId, bytes: usize) -> Option<&'static mut Lent> {
    let lent = {
        let (_inside, mut guard) = scheduled()?;
        let state = guard.as_mut().filter(|state| state.cheap)?;
        let lent = match state.steady {
            true => lent::take_at(state.next_home()?, bytes)?,
            false => lent::take(bytes)?,
        };
        state.add_lent(child.index(), lent);
        lent
    };
    done(|step| step.child = child);
    Some(lent)
}

/// It was created; its kernel thread has come to rest when this returns, so that nobody runs beside the calling thread.
pub(crate) fn settle(child: ThreadId) {
    let mut guard = STATE.lock();
    let Some(state) = guard.as_mut().filter(|_| active()) else {
        return;
    };
    if state.thread(child.index()).is_some() {
        let (_, settled) = state.context(child.index());
        drop(guard);
        wait_until_settled(settled);
    }
}

/// It could not be created.
pub(crate) fn renounce(child: ThreadId) {
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut()
        && let Some(place) = state.threads.get_mut(child.index())
        && let Some(thread) = place.take()
    {
        let carrier = &raw const *thread.carrier;
        state.idle.retain(|idle| *idle != carrier);
    }
}

/// The first thing that a new thread does: it waits for its turn, unless it has it.
pub(crate) fn begin(outermost: usize, is_lent: bool) {
    if let Some(mut me) = thread::enter() {
        me.outermost = outermost;
    }
    thread::watch();
    if let Some((inside, mut guard)) = scheduled()
        && let me = inside.number()
        && let Some(thread) = guard.as_mut().and_then(|state| state.thread(me))
    {
        thread.context = thread::current();
        thread.spin.begin(outermost);
        let carrier = &raw const *thread.carrier;
        if !is_lent {
            lie_down(me, carrier, guard);
        }
    }
}

/// The calling thread, which was lent, leaves the program's code for good.
pub(crate) fn come_to_end() {
    stop_at(Kind::End, 0, 0);
}

/// The calling thread has ended, and was lent: whoever is next goes on in its place.
pub(crate) fn vanish(number: ThreadId) -> ! {
    let mut guard = STATE.lock();
    if let Some(state) = guard.as_mut()
        && let Some(thread) = state.thread(number.index())
    {
        thread.status = Status::Finished;
        stacks::end(number.index());
        match state.choose() {
            Some(next) => {
                state.current = next;
                state.trace.switched();
                let (load, settled) = state.context(next);
                drop(guard);
                wait_until_settled(settled);
                // SAFETY: the thread is saved and runs nowhere.
                unsafe { switch::go(load) }
            }
            None if is_over(state) => end_process(guard),
            None => {
                let carrier = state.executor;
                state.idle.push(carrier);
                lie_down(number.index(), carrier, guard);
            }
        }
    }
    crate::fatal::die(&["a thread that has ended goes on"])
}

/// Whether all threads have ended, the first one by itself: the process ends then. libc cannot tell: it counts those that can be lent.
fn is_over(state: &State) -> bool {
    let mut threads = state.threads.iter().flatten();
    threads.all(|thread| thread.status == Status::Finished) && lent::are_there()
}

fn end_process(guard: Guard<'static, Option<State>>) -> ! {
    drop(guard);
    // SAFETY: what libc does after its last thread.
    unsafe { real::exit(0) }
}

/// The calling thread leaves the program's code for good: it ends in its own kernel thread, as libc wants it.
pub(crate) fn go_home() {
    if active() {
        stop_at(Kind::End, 0, 0);
        move_home();
    }
}

/// The calling thread goes on in its own kernel thread.
pub(crate) fn move_home() {
    if !active() {
        return;
    }
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else { return };
    let executor = state.executor;
    let own = state
        .thread(me)
        .map_or(executor, |thread| &raw const *thread.carrier);
    if own == executor {
        return;
    }
    // SAFETY: kernel threads' records live as long as the process.
    if let Some(own) = unsafe { own.as_ref() } {
        own.be_there();
    }
    state.idle.retain(|carrier| *carrier != own);
    state.idle.push(executor);
    state.executor = own;
    let (saved, _) = state.context(me);
    drop(guard);
    // SAFETY: its own kernel thread sleeps: it carries nobody but the thread itself when that is outside.
    unsafe { switch::hand_over(saved, executor, own, saved) };
}

/// Below the beginning of a stack, its memory, and perhaps other memory.
const STACK: usize = 64 << 20;

/// The thread has ended, and its kernel thread is about to.
pub(crate) fn ended(number: ThreadId) {
    let mut guard = STATE.lock();
    let Some(state) = guard.as_mut().filter(|_| active()) else {
        return;
    };
    let Some(thread) = state.thread(number.index()) else {
        return;
    };
    thread.status = Status::Finished;
    let stack = thread.spin.outermost();
    if !heap::owns(stack as *mut c_void) {
        accessed::memory_goes(stack.saturating_sub(STACK), STACK.min(stack));
    }
    stacks::end(number.index());
    switch::is_ending();
    match state.choose() {
        Some(next) => pass_on(next, guard),
        None if is_over(state) => end_process(guard),
        None => {}
    }
}

/// Another kernel thread carries the next thread; the calling one goes its own way.
fn pass_on(next: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let carrier = state.idle_carrier(next);
    (state.current, state.executor) = (next, carrier);
    state.trace.switched();
    let (load, settled) = state.context(next);
    drop(guard);
    wait_until_settled(settled);
    // SAFETY: the thread is saved, and its kernel thread, or another one, carries nobody.
    unsafe { switch::send(carrier, load) };
}

/// Makes a call that may wait for something outside the program. The others go on meanwhile.
pub(crate) fn outside<R>(call: impl FnOnce() -> R) -> R {
    if !active() {
        return call();
    }
    move_home();
    leave();
    let result = call();
    // Whoever comes back waits for its turn.
    drop(scheduled());
    result
}

/// The other threads go on without the calling one.
pub(crate) fn leave() {
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else { return };
    if state.is_alone(me) {
        return;
    }
    let executor = state.executor;
    if let Some(thread) = state.thread(me) {
        thread.status = Status::Outside;
        stacks::stand(me, 0);
        thread.op = op(Kind::Yield, 0, 0);
        thread.away = executor;
    }
    if let Some(next) = state.choose() {
        pass_on(next, guard);
    }
}

/// The calling thread was outside, and waits for its turn.
#[cold]
pub(super) fn come_back(me: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let Some(thread) = state.thread(me) else {
        return;
    };
    thread.status = Status::Ready;
    let carrier = thread.away;
    if !std::mem::take(&mut state.vacant) {
        state.idle.push(carrier);
        lie_down(me, carrier, guard);
        return;
    }
    (state.current, state.executor) = (me, carrier);
    if let Some(next) = state.choose() {
        go_on_as(me, next, guard);
    }
}
