//! The lives of file descriptors, as calls begin, use and end them ([`crate::descriptor`]).

use super::Call;
use crate::descriptor::{
    CLOSED, CLOSING, END, OPEN, STATE, UNKNOWN, began, find, forget, is_known, state,
};
use crate::race::{self, Kind};
use crate::shadow;
use crate::thread::enter_if_attached;
use libc::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// The descriptor was created; nothing if it is none.
pub(crate) fn created(call: &Call, file: c_int) {
    let Some((life, cell)) = find(file) else {
        return;
    };
    // Those of the runtime itself are not looked at.
    // ORDERING: relaxed; see `state`.
    life.store(UNKNOWN, Ordering::Relaxed);
    call.resume();
    let Some(mut me) = enter_if_attached().filter(|me| me.options.descriptors) else {
        return;
    };
    shadow::forget(cell, size_of::<AtomicU64>());
    // ORDERING: relaxed; a statistic for the child of a fork.
    END.fetch_max(file as usize + 1, Ordering::Relaxed);
    // ORDERING: relaxed; see `state`.
    life.store(began(&mut me) | OPEN, Ordering::Relaxed);
}

/// The descriptor is about to be used.
pub(crate) fn used(call: &Call, file: c_int) {
    if let Some((life, cell)) = find(file)
        && call.is_seen()
        && is_known(file, life, cell)
    {
        access(call, cell, Kind::READ);
    }
}

/// Closes the descriptor by `close`.
pub(crate) fn closes<R>(call: &Call, file: c_int, close: impl FnOnce() -> R) -> R {
    let known = find(file).filter(|(life, cell)| is_known(file, life, *cell));
    let Some((life, cell)) = known else {
        return close();
    };
    if call.is_seen() {
        access(call, cell, Kind::WRITE);
    } else {
        forget(cell);
    }
    // ORDERING: relaxed; see `state`.
    let before = life.load(Ordering::Relaxed) & !STATE;
    // ORDERING: relaxed, as above.
    life.store(before | CLOSING, Ordering::Relaxed);
    let result = close();
    // The number may have a new life already.
    let (from, to) = (before | CLOSING, before | CLOSED);
    // ORDERING: relaxed, as above.
    let _ = life.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    result
}

/// Replaces what the descriptor stands for by `replace`. That is how programs avoid races with a close: others may use it
/// meanwhile, and get the one or the other.
pub(crate) fn replaced(call: &Call, file: c_int, replace: impl FnOnce() -> c_int) -> c_int {
    let known = find(file).filter(|(life, _)| state(life) == OPEN && call.is_seen());
    let Some((life, cell)) = known else {
        let result = closes(call, file, replace);
        created(call, result);
        return result;
    };
    access(call, cell, Kind::READ);
    let result = replace();
    if result >= 0
        && let Some(mut me) = enter_if_attached()
    {
        // ORDERING: relaxed; see `state`.
        life.store(began(&mut me) | OPEN, Ordering::Relaxed);
    }
    result
}

fn access(call: &Call, cell: usize, kind: Kind) {
    call.resume();
    race::range_by(call.function(), cell, size_of::<AtomicU64>(), kind);
    call.resume();
}
