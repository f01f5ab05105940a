//! The ends of Rust's scopes of threads, when threads are scheduled.
//!
//! `std::thread::scope` counts its threads, and waits until the counter is 0. Whoever lets go of a thread's packet last, the thread or the owner of
//! its handle, counts down, and the last of all wakes who waits. No program sees how: what it is promised is that the end of a scope comes behind what
//! its threads did. So the counters are private here ([`crate::thread::Context::hide`]), a thread that lets go of a packet *arrives*, and the end of the scope
//! *leaves* behind all arrivals, when the counter is 0 (docs/theory/sc-runs.md, S11).
//!
//! A packet is let go of in private only if its result is of a type without a destructor; otherwise who does it last is seen, and arrives.
//!
//! **Assumes** that what is behind the arrival of a thread lets go of no packet of another thread: a handle in a variable of the thread, whose destructor
//! runs at its end, would be taken for a part of what the scope waits for.

use super::meetings::{self, Arrival};
use super::state::{Need, Values};
use super::{op, point_when, scheduled};
use crate::lock::Lock;
use rsan_schedule::Kind;
use std::collections::BTreeMap;

/// What a scope keeps its counter in has at most so many bytes.
const DATA: usize = 64;

/// By address: who has arrived at the ends of scopes that are open.
static SCOPES: Lock<BTreeMap<usize, Vec<Arrival>>> = Lock::new(BTreeMap::new());

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    SCOPES.raw()
}

/// The calling thread is about to start a thread of a scope.
pub(crate) fn open(scope: usize) {
    if !meetings::are_active() {
        return;
    }
    SCOPES.lock().entry(scope).or_default();
    if let Some((inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
        && let Some(thread) = state.thread(inside.number())
    {
        thread.opens = scope;
    }
}

/// The calling thread lets go of a packet in private. Its scope, if it has one.
pub(crate) fn let_go() -> Option<usize> {
    let scope = {
        let (inside, mut guard) = meetings::are_active().then(scheduled)??;
        let thread = guard.as_mut()?.thread(inside.number())?;
        thread.scope
    };
    (scope != 0).then(|| arrive(scope))?
}

/// The calling thread arrives at the end of a scope that is open.
pub(crate) fn arrive(scope: usize) -> Option<usize> {
    if !meetings::are_active() || !SCOPES.lock().contains_key(&scope) {
        return None;
    }
    let arrival = meetings::arrival(scope, 0)?;
    SCOPES.lock().entry(scope).or_default().push(arrival);
    Some(scope)
}

/// The calling thread loads what may be the counter of a scope that is open. It goes on when that is 0, behind all that have arrived. The scope.
#[cold]
pub(crate) fn leave(address: usize, bytes: usize) -> Option<usize> {
    let scope = {
        let all = SCOPES.lock();
        let (&scope, _) = all.range(..=address).next_back()?;
        (address < scope + DATA && bytes == size_of::<usize>()).then_some(scope)?
    };
    let values = Values::new(std::iter::once(0))?;
    let need = Need::Value {
        address,
        bytes,
        values,
    };
    if !meetings::are_active() || scheduled().is_none() {
        return None;
    }
    point_when(op(Kind::Leave, address, 0), need, false);
    let mut arrivals = SCOPES.lock().remove(&scope).unwrap_or_default();
    arrivals.sort_unstable();
    if arrivals.is_empty() {
        meetings::behind(Arrival::NONE);
    }
    for (place, &arrival) in arrivals.iter().enumerate() {
        if place > 0 {
            point_when(op(Kind::Leave, address, 0), Need::Nothing, false);
        }
        meetings::behind(arrival);
    }
    Some(scope)
}
