//! The program's atomic operations, when they are scheduled.

use super::spin::{Arrival, Loop};
use super::state::{For, Need, Status, Values};
use super::{STATE, done, give_way, op, point, point_when, scheduled, stacks};
use crate::atomic::{self, CasOrders, Word};
use crate::location::Operation;
use crate::model;
use crate::probe::failure::{self, Failure, Success};
use crate::probe::{fold, is_probing, operands_of};
use crate::{report, thread, tls};
use rsan_model::CasStrength;
use rsan_schedule::Kind;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Registers that calls preserve, and the stack pointer, of the program where it called an atomic operation last.
///
/// One place for all threads, since one runs at a time; an entry fills it when operations are scheduled.
pub(crate) static REGISTERS: [AtomicU64; 7] = [const { AtomicU64::new(0) }; 7];

/// A copy of [`REGISTERS`], with where the program called, and the arguments, which need not be in any of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers([u64; 11]);

impl Registers {
    fn now(caller: usize, address: usize, operands: [u64; 2]) -> Self {
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

/// Before an operation that may only read: a thread that does what it did before waits for a change.
fn before_read(kind: Kind, (address, bytes): (usize, usize), operands: [u64; 2]) {
    let Some((mut inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let registers = Registers::now(inside.caller, address, operands);
    let wrote = std::mem::take(&mut inside.entered.wrote);
    inside.entered.registers = registers.preserved();
    let Some(state) = guard.as_mut() else { return };
    let goes_round = state.strategy.goes_round();
    let thread = state.threads.get_mut(me).and_then(Option::as_deref_mut);
    let Some(thread) = thread else { return };
    if wrote {
        thread.spin.reset();
    }
    let mut status = Status::Ready;
    match thread.spin.arrive(&registers, address, bytes) {
        Arrival::Fresh => {}
        Arrival::InVain => {
            state.trace.mark_vain(thread.spin.round());
            thread.since = thread.step.0 as u64;
            match (goes_round, thread.spin.has_changed()) {
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

/// # Safety
/// As [`atomic::load`].
#[cold]
pub(crate) unsafe fn load<W: Word>(at: *mut W, order: c_int) -> W {
    before_read(Kind::Load, (at as usize, size_of::<W>()), [0; 2]);
    stacks::check_load(at as usize, size_of::<W>());
    // SAFETY: the caller's promise.
    let value = unsafe { atomic::load(at, order) };
    done(|step| step.read = fold(value.bits()));
    value
}

/// # Safety
/// As [`atomic::store`].
#[cold]
pub(crate) unsafe fn store<W: Word>(at: *mut W, value: W, order: c_int) {
    point(Kind::Store, at as usize, size_of::<W>());
    // SAFETY: the caller's promise; nobody else runs.
    let old = unsafe { W::load(at) };
    // SAFETY: the caller's promise.
    unsafe { atomic::store(at, value, order) };
    done(|step| {
        (step.read, step.wrote) = (fold(old.bits()), fold(value.bits()));
        step.writes = true;
    });
}

/// # Safety
/// As [`atomic::rmw`].
#[cold]
pub(crate) unsafe fn rmw<W: Word>(
    at: *mut W,
    order: c_int,
    name: Operation,
    next: impl Fn(W) -> W,
) -> W {
    // What it makes of two values tells its operand.
    let operands = operands_of(|bits| next(W::from_bits(bits)).bits());
    before_read(Kind::Update, (at as usize, size_of::<W>()), operands);
    // SAFETY: the caller's promise.
    let old = unsafe { atomic::rmw(at, order, name, &next) };
    done(|step| {
        (step.read, step.wrote) = (fold(old.bits()), fold(next(old).bits()));
        step.writes = true;
    });
    old
}

/// Whether a weak compare-and-swap fails for no reason: only in a child that finds out what the program does then. If that is more
/// than trying again, not all executions are explored.
///
/// # Safety
/// As [`atomic::compare_exchange`].
unsafe fn fails<W: Word>(at: *mut W, expected: W, registers: &Registers) -> bool {
    let state = |outermost| Loop::below(outermost).state(registers);
    if is_probing() {
        failure::arrive(state);
        return false;
    }
    let Some(mut me) = thread::enter_access().filter(|me| me.options.exact) else {
        return false;
    };
    // SAFETY: the caller's promise.
    if unsafe { W::load(at) } != expected {
        return false;
    }
    let (pc, site, outermost) = (me.caller, me.site(), me.outermost);
    let answer = state(outermost).map(|state| {
        failure::ask(Success {
            pc,
            address: at as usize,
            bytes: size_of::<W>(),
            value: expected.bits(),
            state,
            outermost,
        })
    });
    // The runtime may have copied memory of its own meanwhile.
    tls::set_caller(pc);
    let does = match answer {
        Some(Failure::Happens) => return true,
        Some(Failure::Retries) => return false,
        Some(Failure::Matters(text)) => text,
        None => "is in a state that is too large".to_owned(),
    };
    let why = "a weak compare-and-swap may fail here for no reason, and then the program";
    report::undecided(&me, site, &format!("{why} {does}"));
    tls::set_caller(pc);
    false
}

/// # Safety
/// As [`atomic::compare_exchange`].
#[cold]
pub(crate) unsafe fn compare_exchange<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> (W, bool) {
    let operands = [expected, new].map(|word| fold(word.bits()));
    let registers = Registers::now(tls::caller(), at as usize, operands);
    before_read(Kind::Compare, (at as usize, size_of::<W>()), operands);
    // SAFETY: the caller's promise.
    if strength == CasStrength::Weak && unsafe { fails(at, expected, &registers) } {
        return (expected, false);
    }
    // SAFETY: the caller's promise.
    let (old, succeeded) = unsafe { atomic::compare_exchange(at, expected, new, orders, strength) };
    done(|step| {
        (step.read, step.expected) = (fold(old.bits()), fold(expected.bits()));
        (step.writes, step.wrote) = (succeeded, fold(new.bits()));
    });
    (old, succeeded)
}

/// A fence between threads.
#[cold]
pub(crate) fn thread_fence(order: c_int) {
    match atomic::fence_order(order).and_then(model::meeting_place) {
        Some(place) => point(Kind::Sync, place, 0),
        None => point(Kind::Fence, 0, 0),
    }
    atomic::thread_fence(order);
}
