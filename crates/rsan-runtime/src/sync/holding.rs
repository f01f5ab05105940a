//! Locks that a thread takes and gives back: its list of them, its history, and their order.
//!
//! The list is the thread's own. What it was at an earlier access is found in the thread's history ([`crate::trail`]), which has
//! a note for each change.
//!
//! **Cost**: a few words for each lock and unlock. Where a proof is claimed (`exact`), epochs are left alone and nothing is noted.

use crate::finding::Finding;
use crate::held::{Held, Life, Mode};
use crate::order::{self, Taken};
use crate::report;
use crate::thread::{Body, Entered};
use crate::trail::LockNote;

/// The thread took a lock; `waited`: it would have waited for it without end.
#[inline]
pub(super) fn took(me: &mut Entered, lock: usize, life: Life, mode: Mode, waited: bool) {
    let pc = me.caller;
    let held = Held {
        lock,
        life,
        mode,
        pc,
    };
    if !me.held.is_empty() {
        if let Some(index) = me.held.entry(lock) {
            let (known, times) = &mut me.held.0[index];
            if known.life == life {
                *times += 1;
                return;
            }
            me.held.0.remove(index);
        }
        // An exploration of all executions finds the deadlocks themselves.
        if waited && me.options.lock_order && !me.options.exact {
            note_order(me, held);
        }
    }
    me.held.0.push((held, 1));
    if !me.options.exact {
        me.begin_epoch();
        let epoch = me.state.stamp().epoch.number();
        remember(me, epoch, held, true);
    }
}

/// The thread gave a lock back, or is about to. False if it is not known to have it.
#[inline]
pub(super) fn gave(me: &mut Body, lock: usize) -> bool {
    let Some(index) = me.held.entry(lock) else {
        return false;
    };
    let (held, times) = &mut me.held.0[index];
    if *times > 1 {
        *times -= 1;
        return true;
    }
    let held = *held;
    me.held.0.remove(index);
    if !me.options.exact {
        let epoch = me.state.stamp().epoch.number().saturating_add(1);
        remember(me, epoch, held, false);
    }
    true
}

#[inline]
fn remember(me: &mut Body, epoch: u32, held: Held, taken: bool) {
    let note = LockNote {
        epoch,
        count: me.held.0.len(),
        taken,
        lock: held.lock,
        mode: held.mode,
        pc: held.pc,
    };
    me.trail.note_lock(me.state.id(), note);
}

/// A thread that has locks took another one, and would have waited for it.
fn note_order(me: &mut Entered, new: Held) {
    let count = me.held.iter().count();
    for index in 0..count {
        let Some(&held) = me.held.iter().nth(index) else {
            return;
        };
        let is_other = |other: &Held| other.life != held.life;
        let edge = order::digest(&held, &new, me.held.iter().copied().filter(is_other));
        if me.known_edges.insert(edge) {
            continue;
        }
        let gates = me.held.iter().filter(|other| is_other(other));
        let gates = gates.filter(|other| other.mode == Mode::Write);
        let gates = gates.map(|other| other.life).collect();
        let taken = Taken {
            thread: me.state.id(),
            held,
            lock: new.lock,
            mode: new.mode,
            site: me.site(),
        };
        if let Some(cycle) = order::add(new.life, taken, gates) {
            let taken = cycle.leak();
            report::report(me, &Finding::Inversion { taken });
        }
    }
}
