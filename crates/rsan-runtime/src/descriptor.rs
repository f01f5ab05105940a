//! File descriptors: what closes one and what uses it must be ordered.
//!
//! **Decides** at each use and at each close whether it is ordered with those of other threads. Each descriptor has a granule of its own,
//! in which a use is a read and a close is a write, so [`crate::race`] does the work.
//!
//! A life begins where the descriptor is created and ends with its close. Only a life that began before our eyes is looked at, for
//! libc creates descriptors by itself, too; and a number that is open although it was closed has such a life. A use
//! after a close that happens before it is an error that the system reports (`EBADF`). After a `fork`, nothing is known
//! in the child.

use crate::shadow;
use crate::stack::Node;
use crate::system::keeping_errno;
use crate::thread::{Entered, enter_if_attached};
use libc::c_int;
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Descriptors that are looked at.
const MOST: usize = 1 << 16;

/// Only their addresses are used.
static CELLS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// The life of each: where it is, and who began it where (`thread:24 node:24 state:16`).
static LIVES: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// One more than the highest that was created.
pub(crate) static END: AtomicUsize = AtomicUsize::new(0);

/// Nothing is known of it.
pub(crate) const UNKNOWN: u64 = 0;
pub(crate) const OPEN: u64 = 1;
/// Somebody is closing it.
pub(crate) const CLOSING: u64 = 2;
pub(crate) const CLOSED: u64 = 3;
pub(crate) const STATE: u64 = 0xffff;

/// The life and the cell of a descriptor.
pub(crate) fn find(file: c_int) -> Option<(&'static AtomicU64, usize)> {
    let number = usize::try_from(file).ok().filter(|n| *n < MOST)?;
    Some((&LIVES[number], (&raw const CELLS[number]) as usize))
}

pub(crate) fn state(life: &AtomicU64) -> u64 {
    // ORDERING: relaxed; a state that is late belongs to a life that goes on at the same time.
    life.load(Ordering::Relaxed) & STATE
}

/// Nothing that was done to it counts any more.
pub(crate) fn forget(cell: usize) {
    if let Some(_me) = enter_if_attached() {
        shadow::forget(cell, size_of::<AtomicU64>());
    }
}

/// Whether the system knows the descriptor.
pub(crate) fn is_open(file: c_int) -> bool {
    // SAFETY: asks about a number.
    let ask = || unsafe { libc::syscall(libc::SYS_fcntl, file, libc::F_GETFD) };
    keeping_errno(ask) >= 0
}

/// The beginning of a life at this moment.
pub(crate) fn began(me: &mut Entered) -> u64 {
    u64::from(me.state.id().0) << 40 | u64::from(me.leaf().0) << 16
}

/// Whether it has a life that is known, and nobody has begun another one that is not.
pub(crate) fn is_known(file: c_int, life: &AtomicU64, cell: usize) -> bool {
    match state(life) {
        UNKNOWN => false,
        CLOSED if is_open(file) => {
            // ORDERING: relaxed; see `state`.
            life.store(UNKNOWN, Ordering::Relaxed);
            forget(cell);
            false
        }
        _ => true,
    }
}

/// The descriptors of a range that have a life.
pub(crate) fn known_in(from: c_int, to: c_int) -> impl Iterator<Item = c_int> {
    // ORDERING: relaxed; whoever creates another one at this moment does so at the same time.
    let end = END.load(Ordering::Relaxed) as c_int;
    (from.max(0)..end.min(to.saturating_add(1)))
        .filter(|file| find(*file).is_some_and(|(life, _)| state(life) == OPEN))
}

/// In the child of a fork: its descriptors are others, and the threads that used them are not there.
pub(crate) fn forget_all() {
    // ORDERING: relaxed; there is one thread.
    for life in &LIVES[..END.load(Ordering::Relaxed)] {
        life.store(UNKNOWN, Ordering::Relaxed);
    }
}

/// A descriptor, for reports.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Its number.
    pub number: usize,
    /// Who created it, and where.
    pub created: crate::heap::Context,
}

/// The descriptor whose cell is at an address.
pub(crate) fn at(address: usize) -> Option<Descriptor> {
    let first = CELLS.as_ptr() as usize;
    let number = address.checked_sub(first)? / size_of::<AtomicU64>();
    // ORDERING: relaxed; see `state`.
    let life = LIVES.get(number)?.load(Ordering::Relaxed);
    Some(Descriptor {
        number,
        created: crate::heap::Context {
            thread: ThreadId((life >> 40) as u32),
            node: Node((life >> 16) as u32 & 0xff_ffff),
        },
    })
}
