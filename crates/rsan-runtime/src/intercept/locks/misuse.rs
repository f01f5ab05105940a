//! Locks and the like that are used in ways for which POSIX has no meaning.
//!
//! **Decides** from the words of libc's objects, which are true whatever was seen before: whether a mutex is locked, valid,
//! or destroyed. What else was destroyed is marked: libc leaves such an object as it was, but whoever initialises it, by a
//! call or by an assignment, overwrites the mark. Who destroyed or holds it is known from [`sync`], for the report.
//!
//! Sound; not complete: a lock that was never initialised looks like one that was if its memory is zero.

use super::{COUNT, KIND, kind_of};
use crate::memory::Memory;
use crate::report::{self, Finding, Misuse, Side};
use crate::thread::{self, Context, enter};
use crate::{modules, race, sync, tls};
use libc::c_int;
use sync::Done;

/// A kind of objects, and how one that was destroyed is told.
#[derive(Debug)]
pub(super) struct Object {
    text: &'static str,
    /// The word that is marked, by its index, and the mark.
    word: usize,
    mark: u32,
}

const MARK: u32 = 0xdead_10cc;

/// libc marks it itself.
pub(super) const MUTEX: Object = Object {
    text: "use of a destroyed mutex",
    word: KIND,
    mark: u32::MAX,
};

/// One of the words that libc does not use.
pub(super) const RWLOCK: Object = Object {
    text: "use of a destroyed reader-writer lock",
    word: 4,
    mark: MARK,
};

pub(super) const CONDITION: Object = Object {
    text: "use of a destroyed condition variable",
    word: 0,
    mark: MARK,
};

/// The word that says whether processes share it.
pub(super) const SEMAPHORE: Object = Object {
    text: "use of a destroyed semaphore",
    word: 2,
    mark: MARK,
};

pub(super) const SPIN: Object = Object {
    text: "use of a destroyed spin lock",
    word: 0,
    mark: MARK,
};

/// The number of its threads, which is 0 for no barrier that was initialised.
pub(super) const BARRIER: Object = Object {
    text: "use of a destroyed barrier",
    word: COUNT,
    mark: 0,
};

/// A word of one of libc's objects.
fn word(object: usize, index: usize) -> u32 {
    // SAFETY: the program's object, which it uses at this moment.
    unsafe { (object as *const u32).add(index).read_volatile() }
}

fn set_word(object: usize, index: usize, value: u32) {
    // SAFETY: the program's object, which nobody else may use at this moment.
    unsafe { (object as *mut u32).add(index).write_volatile(value) };
}

/// Its memory has to be there. What the runtime copies for a report must not change where the program called.
fn touch(object: usize) {
    let caller = tls::caller();
    race::touch(object);
    tls::set_caller(caller);
}

impl Object {
    /// It is about to be used: false if it is no more, which is said. From then on it is as it was before, except for a
    /// mutex, which libc refuses.
    pub(super) fn is_alive(&self, object: usize, operation: &'static str) -> bool {
        touch(object);
        if word(object, self.word) != self.mark {
            return true;
        }
        let Some((destroyed, stood)) = sync::destroyed(object) else {
            return true;
        };
        report(
            self.text,
            object,
            operation,
            Some(destroyed.side("destroy")),
        );
        if self.mark != MUTEX.mark {
            set_word(object, self.word, stood);
        }
        false
    }

    /// It was destroyed.
    pub(super) fn bury(&self, object: usize) {
        if !crate::runtime::is_awake() {
            return;
        }
        sync::bury(object, word(object, self.word));
        set_word(object, self.word, self.mark);
    }
}

#[cold]
fn report(text: &'static str, object: usize, operation: &'static str, earlier: Option<Side>) {
    let Some(mut me) = enter() else { return };
    let finding = Finding::Misuse {
        what: Misuse::Lock(text),
        address: object,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), operation, me.site()),
        earlier,
    };
    report::report(&mut me, &finding);
}

/// Bits of the kind of a mutex that is robust, or has something to do with priorities.
const SPECIAL: c_int = 16 | 32 | 64;
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
fn is_good(mutex: usize, operation: &'static str) -> bool {
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

pub(super) fn lock_mutex(mutex: usize) {
    is_good(mutex, "lock");
}

/// The thread took the mutex.
pub(super) fn took_mutex(mutex: usize) {
    sync::hold(mutex, word(mutex, HOLDER));
}

/// Who holds a mutex that another thread has locked.
fn holder(mutex: usize) -> Option<Done> {
    match word(mutex, HOLDER) {
        0 => None,
        number => sync::holder(mutex, number),
    }
}

/// A mutex that checks who unlocks it says so itself.
pub(super) fn unlock_mutex(mutex: usize) {
    if !is_good(mutex, "unlock") || whole_kind(mutex) & SPECIAL != 0 {
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
        return report("unlock of an unlocked mutex", mutex, "unlock", None);
    }
    // Most threads unlock what they hold.
    let own = thread::current().and_then(Context::idle);
    if own.is_some_and(|me| me.libc_number == word(mutex, HOLDER)) {
        return;
    }
    let me = enter().map(|me| me.state.id());
    if let Some(holder) = holder(mutex).filter(|holder| Some(holder.thread) != me) {
        let text = "unlock of a mutex that another thread holds";
        report(text, mutex, "unlock", Some(holder.side("lock")));
    }
}

pub(super) fn destroy_mutex(mutex: usize) {
    if is_good(mutex, "destroy") && whole_kind(mutex) & SPECIAL == 0 && word(mutex, LOCKED) != 0 {
        let holder = holder(mutex).map(|holder| holder.side("lock"));
        report("destroy of a locked mutex", mutex, "destroy", holder);
    }
}

/// Where libc has the number of readers of a reader-writer lock, and the number of its writer.
const READERS: usize = 0;
const READERS_SHIFT: u32 = 3;
const WRITER: usize = 6;

fn is_locked(lock: usize) -> bool {
    word(lock, READERS) >> READERS_SHIFT != 0 || word(lock, WRITER) != 0
}

pub(super) fn lock_rwlock(lock: usize) {
    RWLOCK.is_alive(lock, "lock");
}

pub(super) fn unlock_rwlock(lock: usize) {
    if !RWLOCK.is_alive(lock, "unlock") {
        return;
    }
    if !is_locked(lock) {
        return report(
            "unlock of an unlocked reader-writer lock",
            lock,
            "unlock",
            None,
        );
    }
    let me = enter().map(|me| me.state.id());
    if word(lock, WRITER) != 0 && sync::writer(lock).is_some_and(|writer| Some(writer) != me) {
        let text = "unlock of a reader-writer lock that another thread holds";
        report(text, lock, "unlock", None);
    }
}

pub(super) fn destroy_rwlock(lock: usize) {
    if RWLOCK.is_alive(lock, "destroy") && is_locked(lock) {
        report(
            "destroy of a locked reader-writer lock",
            lock,
            "destroy",
            None,
        );
    }
}

pub(super) fn post(semaphore: usize) {
    SEMAPHORE.is_alive(semaphore, "post");
}

pub(super) fn wait_for_semaphore(semaphore: usize) {
    SEMAPHORE.is_alive(semaphore, "wait");
}

pub(super) fn destroy_semaphore(semaphore: usize) {
    SEMAPHORE.is_alive(semaphore, "destroy");
}

pub(super) fn lock_spin(lock: usize) {
    SPIN.is_alive(lock, "lock");
}

pub(super) fn unlock_spin(lock: usize) {
    SPIN.is_alive(lock, "unlock");
}

pub(super) fn destroy_spin(lock: usize) {
    SPIN.is_alive(lock, "destroy");
}

pub(super) fn destroy_condition(condition: usize) {
    CONDITION.is_alive(condition, "destroy");
}

/// How many threads a barrier is for; 0 if it is none, which is said.
pub(super) fn threads_of(barrier: usize) -> usize {
    let is_alive = BARRIER.is_alive(barrier, "wait");
    let count = word(barrier, COUNT) as usize;
    if count == 0 && is_alive {
        report(
            "use of a barrier that is not initialised",
            barrier,
            "wait",
            None,
        );
    }
    count
}

/// Whether an object is a variable that is there all the time, or in a block of the allocator, whose end is known.
fn has_one_life(object: usize) -> bool {
    let caller = tls::caller();
    let _me = enter();
    let modules = modules::modules();
    let memory = Memory::at(object, &modules);
    tls::set_caller(caller);
    matches!(memory, Memory::Global { .. } | Memory::Heap(_))
}

/// A barrier on the stack may be that of another call, whose life has ended without a word.
pub(super) fn init_barrier(barrier: usize) {
    touch(barrier);
    let is_known = sync::arrived(barrier).is_some_and(|(threads, _)| threads != 0)
        && word(barrier, COUNT) != 0;
    if is_known && has_one_life(barrier) {
        let text = "a barrier is initialised again before it is destroyed";
        report(text, barrier, "init", None);
    }
}

pub(super) fn destroy_barrier(barrier: usize) {
    let is_alive = BARRIER.is_alive(barrier, "destroy");
    if is_alive && sync::arrived(barrier).is_some_and(|(_, arrived)| arrived != 0) {
        report(
            "destroy of a barrier at which threads wait",
            barrier,
            "destroy",
            None,
        );
    }
}
