//! What the program does outside of the monitors: in a child that finds something out, or in a thread that is not seen.

use super::child::{self, Cas, is_probing, passes};
use super::weak;
use crate::finding::Step;
use crate::tls;
use crate::word::Word;
use rsan_model::{CasStrength, FenceOrd, ReadOrd, RmwOrd, WriteOrd};

/// Whether there is nobody to sleep or yield for, because the process only finds something out.
pub(crate) fn pauses() -> bool {
    let probing = is_probing();
    if probing {
        child::pause();
    }
    probing
}

/// A load outside of the monitors.
#[cold]
pub(crate) fn load<W: Word>(at: *mut W, order: ReadOrd, raw: impl Fn() -> W) -> W {
    if !is_probing() {
        return raw();
    }
    let (pc, bytes, acquires) = (tls::caller(), size_of::<W>(), order.acquires());
    if let Some(bits) = weak::load(at as usize, bytes, order, raw().bits()) {
        return W::from_bits(bits);
    }
    W::from_bits(child::load(pc, at as usize, bytes, acquires, raw().bits()))
}

/// A fence outside of the monitors.
#[cold]
pub(crate) fn fence(order: FenceOrd) {
    if is_probing() && !weak::fence(order) && order.acquires() {
        child::acquire();
    }
}

/// A store outside of the monitors.
#[cold]
pub(crate) fn store<W: Word>(at: *mut W, value: W, order: WriteOrd, raw: impl Fn()) {
    if is_probing() {
        weak::store(at as usize, value.bits());
        child::about(at as usize, value.bits());
        child::store(at as usize, size_of::<W>(), order.releases());
    }
    raw();
}

/// A read-modify-write outside of the monitors.
#[cold]
pub(crate) fn rmw<W: Word>(
    at: *mut W,
    order: RmwOrd,
    next: impl Fn(W) -> W,
    raw: impl Fn() -> W,
) -> W {
    if !is_probing() {
        return raw();
    }
    let leaves = |bits| next(W::from_bits(bits)).bits() == bits;
    let (pc, bytes) = (tls::caller(), size_of::<W>());
    let next_bits = |bits| next(W::from_bits(bits)).bits();
    // SAFETY: the program's own operation, which reads in any case.
    let memory = unsafe { W::load(at) }.bits();
    if let Some(bits) = weak::rmw((at as usize, bytes), order, next_bits, memory) {
        return W::from_bits(bits);
    }
    child::about(at as usize, next_bits(memory));
    W::from_bits(child::rmw(pc, at as usize, bytes, leaves))
}

/// A compare-and-swap outside of the monitors; returns what was there, and whether it succeeded.
#[cold]
pub(crate) fn compare_exchange<W: Word>(
    at: *mut W,
    (expected, new): (W, W),
    (ord, fail, strength): (RmwOrd, ReadOrd, CasStrength),
    raw: impl Fn() -> W,
) -> (W, bool) {
    if !is_probing() {
        let had = raw();
        return (had, had == expected);
    }
    // SAFETY: the program's own operation, which reads in any case.
    let memory = unsafe { W::load(at) }.bits();
    let weak = weak::compare_exchange(weak::Cas {
        address: at as usize,
        bytes: size_of::<W>(),
        expected: expected.bits(),
        new: new.bits(),
        success: ord,
        failure: fail,
        strength,
        memory,
    });
    if let Some(bits) = weak {
        return (W::from_bits(bits), false);
    }
    child::about(at as usize, new.bits());
    let got = child::compare_exchange(Cas {
        pc: tls::caller(),
        address: at as usize,
        bytes: size_of::<W>(),
        expected: expected.bits(),
        new: new.bits(),
        sc: ord.is_sc(),
        acquires: ord.acquires(),
        failure_acquires: fail.acquires(),
        memory,
    });
    (W::from_bits(got), false)
}

/// A function is called outside of the monitors, which returns there.
#[cold]
pub(crate) fn enter(returns_to: usize) {
    if is_probing() && !weak::is_on() {
        child::enter(returns_to);
    }
}

/// A block is freed outside of the monitors.
#[cold]
pub(crate) fn free(address: usize, bytes: usize) {
    if weak::is_on() {
        passes(Step::Call);
    }
    plain(address, bytes, true);
}

/// A plain access outside of the monitors.
#[cold]
pub(crate) fn plain(address: usize, bytes: usize, writes: bool) {
    if bytes == 0 || !is_probing() || super::plain::range(address, bytes, writes) {
        return;
    }
    if writes {
        child::plain_write(address, bytes);
    } else {
        child::plain_read(address, bytes);
    }
}
