//! Before and after the program's atomic operations, when they are scheduled.

use super::spin::Arrival;
use super::state::{For, Need, Status, Values};
use super::{STATE, done, give_way, op, point, point_when, scheduled, weak};
use crate::entry::REGISTERS;
use crate::word::fold;
use rsan_model::{ReadOrd, ThreadId};
use rsan_schedule::{Kind, Local, Reading};
use std::sync::atomic::Ordering;

/// A copy of [`REGISTERS`], with where the program called, and the arguments, which need not be in any of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers([u64; 11]);

impl Registers {
    /// What they are now.
    pub(crate) fn now(caller: usize, address: usize, operands: [u64; 2]) -> Self {
        let mut words = [0; 11];
        for (word, register) in words.iter_mut().zip(&REGISTERS) {
            // ORDERING: relaxed; the calling thread has written them.
            *word = register.load(Ordering::Relaxed);
        }
        let [first, second] = operands;
        words[7..].copy_from_slice(&[caller as u64, address as u64, first, second]);
        Self(words)
    }

    /// Registers that calls preserve, and the stack pointer.
    fn preserved(&self) -> [u64; 7] {
        std::array::from_fn(|i| self.0[i])
    }

    /// The stack pointer.
    pub(super) fn stack(&self) -> usize {
        self.0[6] as usize
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }
}

/// How an operation orders: as a number, and if it only reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders {
    pub(crate) all: u64,
    pub(crate) read: ReadOrd,
}

/// Before an operation that may only read: a thread that does what it did before waits for a change.
pub(crate) fn before_read(
    kind: Kind,
    (address, bytes): (usize, usize),
    operands: [u64; 2],
    orders: Orders,
) {
    let Some((mut inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let registers = Registers::now(inside.caller, address, operands);
    let wrote = inside.entered.wrote;
    weak::arrive(&mut inside, guard.as_mut());
    inside.entered.wrote = false;
    let accessed = inside.entered.accessed.take();
    let plain = std::mem::take(&mut inside.entered.touched);
    inside.entered.registers = registers.preserved();
    let Some(state) = guard.as_mut() else { return };
    let goes_round = state.strategy.goes_round();
    let thread = state.threads.get_mut(me).and_then(Option::as_deref_mut);
    let Some(thread) = thread else { return };
    thread.spin.accessed(&accessed, wrote);
    let mut status = Status::Ready;
    let arrival = thread.spin.arrive(&registers, address, bytes);
    thread.local = Local {
        // Wider values are folded, which does not tell.
        state: match bytes {
            ..=8 => thread
                .spin
                .came_in(&[kind as u64, bytes as u64, orders.all]),
            _ => 0,
        },
        plain,
        strength: orders.read as u8,
    };
    match arrival {
        Arrival::Fresh => thread.reads_last = false,
        Arrival::InVain => {
            state.trace.mark_vain(&thread.spin.round(), plain);
            thread.since = thread.step.0 as u64;
            let more = thread.spin.has_changed() || thread.spin.has_stale();
            thread.reads_last = true;
            match (goes_round, more) {
                (true, true) => thread.spin.go_on(),
                (true, false) => status = Status::Blocked(For::Words),
                (false, _) => status = Status::Blocked(For::Good),
            }
        }
    }
    give_way(me, guard, op(kind, address, bytes), status);
    if status != Status::Ready
        && let Some(state) = STATE.lock().as_mut()
        && let Some(thread) = state.thread(me)
    {
        thread.spin.go_on();
    }
}

/// Before a store.
pub(crate) fn before_store(address: usize, bytes: usize, releases: bool) {
    let kind = Kind::Store;
    let Some((mut inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let thread = guard.as_mut().and_then(|state| state.thread(me));
    if releases || !thread.is_some_and(|thread| thread.spin.may_rewrite()) {
        drop((guard, inside));
        return point(kind, address, bytes);
    }
    weak::arrive(&mut inside, guard.as_mut());
    // It may be a part of a round that changes nothing.
    inside.entered.wrote = true;
    inside.entered.accessed.note(address, bytes, true);
    give_way(me, guard, op(kind, address, bytes), Status::Ready);
}

/// The calling thread makes a weak compare-and-swap, which finds what it expects or not: whether it fails for no reason.
pub(crate) fn fails_for_no_reason(finds: bool) -> bool {
    let Some((mut inside, mut guard)) = scheduled() else {
        return false;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else {
        return false;
    };
    let Some(op) = state.thread(me).map(|thread| thread.op) else {
        return false;
    };
    let reading = Reading {
        thread: ThreadId::new(me),
        op,
        place: 0,
    };
    let fails = finds && state.strategy.fails(&reading);
    if let Some(thread) = state.thread(me) {
        thread.step.1.may_fail = true;
        thread.step.1.spurious = fails;
        thread.spin.compares_weakly(fails);
        inside.entered.accessed.begin();
    }
    fails
}

/// Whether the run is one of an exploration of all executions, or such a run again.
pub(crate) fn is_steady() -> bool {
    let state = || STATE.lock();
    super::active() && state().as_ref().is_some_and(|state| state.steady)
}

/// The calling thread is about to make an access that waits for one of some values: it is chosen when one is there.
pub(crate) fn wait_for(kind: Kind, address: usize, bytes: usize, values: Option<Values>) {
    let need = values.map_or(Need::Nothing, |values| Need::Value {
        address,
        bytes,
        values,
    });
    point_when(op(kind, address, bytes), need, false);
}

/// The calling thread waits for one of many values, and has not found any: it goes on when the word has changed.
pub(crate) fn wait_for_change(address: usize, bytes: usize) {
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(thread) = guard.as_mut().and_then(|state| state.thread(me)) else {
        return;
    };
    thread.spin.wait_for(address, bytes);
    let op = thread.op;
    give_way(me, guard, op, Status::Blocked(For::Words));
}

/// What came of an access that waits for a value.
pub(crate) fn after_wait(found: u128, expected: u128, wrote: Option<u128>) {
    done(|step| {
        (step.read, step.expected) = (fold(found), fold(expected));
        step.writes = wrote.is_some();
        step.wrote = wrote.map_or(0, fold);
    });
}
