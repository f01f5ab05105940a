//! The same for mutexes, of which libc's words say most.

use super::super::{KIND, kind_of};
use super::{
    MUTEX, destroyed_locked, end_of_life, has_one_life, init, report, touch, wait_for_oneself, word,
};
use crate::finding::Operation;
use crate::held::Mode;
use crate::location::Done;
use crate::sync::{self, Taking};
use crate::thread::{self, Context, enter};
use libc::c_int;

/// Bits of the kind of a mutex that is robust, or has something to do with priorities.
const SPECIAL: c_int = 16 | 32 | 64;
/// The bit of one that processes share.
const SHARED: c_int = 128;
/// Where libc has what says that a mutex is locked, and the number of its holder.
const LOCKED: usize = 0;
const HOLDER: usize = 2;

fn whole_kind(mutex: usize) -> c_int {
    word(mutex, KIND) as c_int
}

/// A kind that libc does not know.
fn is_garbage(kind: c_int) -> bool {
    let kind = kind & 0x7f;
    kind & 12 != 0 || kind >= 68
}

/// Whether a mutex can be used; what is wrong about it otherwise is said.
fn is_good(mutex: usize, operation: Operation) -> bool {
    if !MUTEX.is_alive(mutex, operation) {
        return false;
    }
    let garbage = is_garbage(whole_kind(mutex));
    if garbage {
        let text = "use of an invalid mutex, which is not initialised or destroyed";
        report(text, mutex, operation, None);
    }
    !garbage
}

pub(in crate::intercept::locks) fn lock_mutex(mutex: usize) {
    is_good(mutex, Operation::Lock);
}

fn take_mutex(mutex: usize, waited: bool) {
    let taking = Taking {
        mode: Mode::Write,
        waited,
        number: Some(word(mutex, HOLDER)),
        shares: false,
    };
    sync::take(mutex, taking);
}

/// The thread took the mutex.
pub(in crate::intercept::locks) fn took_mutex(mutex: usize) {
    take_mutex(mutex, true);
}

/// The same, and it would not have waited for ever.
pub(in crate::intercept::locks) fn tried_mutex(mutex: usize) {
    take_mutex(mutex, false);
}

/// Whether libc says that nobody has a mutex.
pub(in crate::intercept::locks) fn is_free(mutex: usize) -> bool {
    word(mutex, LOCKED) == 0
}

/// A mutex is busy that the thread wants. If it has it itself, it waits for ever, except for kinds of mutexes that know that.
pub(in crate::intercept::locks) fn lock_mutex_again(mutex: usize) {
    let kinds = [libc::PTHREAD_MUTEX_NORMAL, libc::PTHREAD_MUTEX_ADAPTIVE_NP];
    let is_plain = whole_kind(mutex) & (SPECIAL | SHARED) == 0 && kinds.contains(&kind_of(mutex));
    let is_own = |holder: u32| enter().is_some_and(|mut me| me.own_number() == holder);
    if is_plain && is_own(word(mutex, HOLDER)) {
        let holder = holder(mutex);
        wait_for_oneself("lock of a mutex that the thread has already", mutex, holder);
    }
}

/// A mutex that is locked is initialised. What is in its memory is known to be a mutex only if it has its holder's number.
pub(in crate::intercept::locks) fn init_mutex(mutex: usize) {
    touch(mutex);
    let kind = whole_kind(mutex);
    let is_mutex = sync::is_known(mutex) && !is_garbage(kind) && kind & SPECIAL == 0;
    if !is_mutex || word(mutex, LOCKED) == 0 {
        return init(mutex);
    }
    if let Some(holder) = holder(mutex).filter(|_| has_one_life(mutex)) {
        let text = "a mutex is initialised again while it is locked";
        report(
            text,
            mutex,
            Operation::Init,
            Some(holder.side(Operation::Lock)),
        );
    }
    sync::destroy(mutex);
}

/// Who holds a mutex that another thread has locked.
fn holder(mutex: usize) -> Option<Done> {
    match word(mutex, HOLDER) {
        0 => None,
        number => sync::holder(mutex, number),
    }
}

/// A mutex that checks who unlocks it says so itself.
pub(in crate::intercept::locks) fn unlock_mutex(mutex: usize) {
    if !is_good(mutex, Operation::Unlock) || whole_kind(mutex) & SPECIAL != 0 {
        return;
    }
    if [
        libc::PTHREAD_MUTEX_RECURSIVE,
        libc::PTHREAD_MUTEX_ERRORCHECK,
    ]
    .contains(&kind_of(mutex))
    {
        return;
    }
    if word(mutex, LOCKED) == 0 {
        return report(
            "unlock of an unlocked mutex",
            mutex,
            Operation::Unlock,
            None,
        );
    }
    // Most threads unlock what they hold.
    let own = thread::current().and_then(Context::idle);
    if own.is_some_and(|me| me.libc_number == word(mutex, HOLDER)) {
        return;
    }
    let me = enter().map(|me| me.state.id());
    if let Some(holder) = holder(mutex).filter(|holder| Some(holder.thread) != me) {
        let text = "unlock of a mutex that another thread holds";
        report(
            text,
            mutex,
            Operation::Unlock,
            Some(holder.side(Operation::Lock)),
        );
    }
}

pub(in crate::intercept::locks) fn destroy_mutex(mutex: usize) {
    if !is_good(mutex, Operation::Destroy) {
        return;
    }
    if whole_kind(mutex) & SPECIAL == 0 && word(mutex, LOCKED) != 0 {
        let holder = holder(mutex).map(|holder| holder.side(Operation::Lock));
        return destroyed_locked("destroy of a locked mutex", mutex, holder);
    }
    end_of_life(mutex, Operation::Destroy, Operation::Unlock);
}
