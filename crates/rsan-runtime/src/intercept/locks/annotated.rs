//! Locks of the program's own, as its annotations tell of them.

use super::misuse::{destroyed_locked, end_of_life, is_anothers, own, report};
use crate::location::Done;
use crate::lock::{Lock, RawLock};
use crate::sync;
use crate::tables::Map;
use crate::thread::enter;
use crate::tls;
use rsan_log::Operation;
use std::ffi::c_uint;

/// Flag: it lives as long as the program, whatever its destructor says.
const LINKER_INIT: c_uint = 1 << 0;
/// Flag: it is no variable that lives as long as the program.
const NOT_STATIC: c_uint = 1 << 8;

/// What is known of a lock.
#[derive(Clone, Copy, Default, Debug)]
struct Known {
    /// What it was created with.
    flags: c_uint,
    /// Who has it for writing.
    writer: Option<Done>,
}

static LOCKS: Lock<Option<Map<usize, Known>>> = Lock::new(None);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    LOCKS.raw()
}

/// Does something with what is known of a lock.
fn with<R>(lock: usize, act: impl FnOnce(&mut Known) -> R) -> Option<R> {
    let _me = enter()?;
    let mut locks = LOCKS.lock();
    let locks = locks.get_or_insert_default();
    let mut known = locks.get(&lock).copied().unwrap_or_default();
    let result = act(&mut known);
    match known {
        Known {
            flags: 0,
            writer: None,
        } => locks.remove(&lock),
        known => locks.insert(lock, known),
    };
    Some(result)
}

/// A lock is created. One that lives as long as the program may have been used before.
pub(crate) fn create(lock: usize, flags: c_uint) {
    with(lock, |known| {
        known.flags = flags & (LINKER_INIT | NOT_STATIC);
        known.writer = known.writer.filter(|_| flags & LINKER_INIT != 0);
    });
}

/// A lock is created that lives as long as the program.
pub(crate) fn create_static(lock: usize) {
    create(lock, LINKER_INIT);
}

/// A lock is destroyed. Nothing happens to those that live as long as the program.
pub(crate) fn destroy(lock: usize, flags: c_uint) {
    let pc = tls::caller();
    let created = with(lock, |known| known.flags).unwrap_or_default();
    let is_static = flags & NOT_STATIC != 0 && created & NOT_STATIC == 0;
    if (flags | created) & LINKER_INIT != 0 || is_static {
        return;
    }
    tls::set_caller(pc);
    if let Some(own) = own(lock) {
        destroyed_locked(
            "destroy of a locked mutex",
            lock,
            Some(own.side(Operation::Lock)),
        );
    } else {
        end_of_life(lock, Operation::Destroy, Operation::Unlock);
    }
    with(lock, |known| *known = Known::default());
    tls::set_caller(pc);
    sync::destroy(lock);
}

/// A lock is given back. Threads do not do that for each other, but fibers may.
pub(crate) fn unlock(lock: usize) {
    if is_anothers(lock) {
        let text = "unlock of a mutex that the thread does not hold";
        report(text, lock, Operation::Unlock, None);
    }
}

/// A reader-writer lock was taken, for reading or writing.
pub(crate) fn acquired(lock: usize, writes: bool) {
    let pc = tls::caller();
    let Some(done) = enter().map(|mut me| Done {
        thread: me.state.id(),
        site: me.site(),
    }) else {
        return;
    };
    let before = with(lock, |known| {
        let before = known.writer;
        known.writer = known.writer.or(writes.then_some(done));
        before
    });
    if let Some(before) = before.flatten() {
        let text = match writes {
            true => "lock of a mutex that is locked",
            false => "read lock of a mutex that is locked for writing",
        };
        tls::set_caller(pc);
        report(
            text,
            lock,
            Operation::Lock,
            Some(before.side(Operation::Lock)),
        );
    }
    tls::set_caller(pc);
}

/// A reader-writer lock is about to be given back, after reading or writing.
pub(crate) fn released(lock: usize, writes: bool) {
    let pc = tls::caller();
    let before = with(lock, |known| match writes {
        true => known.writer.take(),
        false => known.writer,
    });
    let before = before.flatten();
    tls::set_caller(pc);
    match (writes, before) {
        (true, None) => report("unlock of an unlocked mutex", lock, Operation::Unlock, None),
        (false, Some(writer)) => {
            let text = "read unlock of a mutex that is locked for writing";
            report(
                text,
                lock,
                Operation::Unlock,
                Some(writer.side(Operation::Lock)),
            );
        }
        _ => {}
    }
    tls::set_caller(pc);
}
