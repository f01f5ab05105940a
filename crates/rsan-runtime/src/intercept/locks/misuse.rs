//! Locks and the like that are used in ways for which POSIX has no meaning.
//!
//! **Decides** from the words of libc's objects, which are true whatever was seen before: whether a mutex is locked, valid,
//! or destroyed. What else was destroyed is marked: libc leaves such an object as it was, but whoever initialises it, by a
//! call or by an assignment, overwrites the mark. Who destroyed or holds it is known from [`sync`], for the report.
//!
//! Sound; not complete: a lock that was never initialised looks like one that was if its memory is zero.

mod mutex;

pub(super) use mutex::{
    destroy_mutex, init_mutex, is_free, lock_mutex, lock_mutex_again, took_mutex, tried_mutex,
    unlock_mutex,
};

use super::{COUNT, KIND};
use crate::callers;
use crate::deadlock;
use crate::finding::{Finding, Misuse, Operation, Side};
use crate::held::Mode;
use crate::location::Done;
use crate::memory::Memory;
use crate::report;
use crate::stack::{Node, Site};
use crate::thread::{enter, fiber};
use crate::{modules, race, sync, tls};
use sync::Taking;

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
    pub(super) fn is_alive(&self, object: usize, operation: Operation) -> bool {
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
            Some(destroyed.side(Operation::Destroy)),
        );
        if self.mark != MUTEX.mark {
            set_word(object, self.word, stood);
        }
        false
    }

    /// It was destroyed.
    pub(super) fn bury(&self, object: usize) {
        if !crate::awake::is_awake() {
            return;
        }
        sync::bury(object, word(object, self.word));
        set_word(object, self.word, self.mark);
    }
}

#[cold]
pub(super) fn report(
    text: &'static str,
    object: usize,
    operation: Operation,
    earlier: Option<Side>,
) {
    let Some(mut me) = enter().filter(|me| me.options.lock_misuse) else {
        return;
    };
    let finding = Finding::Misuse {
        what: Misuse::Lock(text),
        address: object,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), operation, me.site()),
        earlier,
    };
    report::report(&mut me, &finding);
}

fn take_shared(lock: usize, mode: Mode, waited: bool, shares: bool) {
    let taking = Taking {
        mode,
        waited,
        number: None,
        shares,
    };
    sync::take(lock, taking);
}

pub(super) fn took_read(lock: usize) {
    take_shared(lock, Mode::Read, true, true);
}

pub(super) fn tried_read(lock: usize) {
    take_shared(lock, Mode::Read, false, true);
}

pub(super) fn took_write(lock: usize) {
    take_shared(lock, Mode::Write, true, true);
}

pub(super) fn tried_write(lock: usize) {
    take_shared(lock, Mode::Write, false, true);
}

pub(super) fn took_spin(lock: usize) {
    take_shared(lock, Mode::Write, true, false);
}

pub(super) fn tried_spin(lock: usize) {
    take_shared(lock, Mode::Write, false, false);
}

/// The thread waits for itself, and so for ever: the process ends.
#[cold]
fn wait_for_oneself(text: &'static str, lock: usize, holder: Option<Done>) {
    report(
        text,
        lock,
        Operation::Lock,
        holder.map(|holder| holder.side(Operation::Lock)),
    );
    if enter().is_some_and(|me| me.options.lock_misuse) {
        crate::system::end_process(crate::options::deadlock_status());
    }
}

/// Whether the thread has a lock, and where it took it.
pub(super) fn own(lock: usize) -> Option<Done> {
    let me = enter()?;
    let held = me.held.find(lock)?;
    Some(Done {
        thread: me.state.id(),
        site: Site {
            node: Node::UNKNOWN,
            pc: held.pc,
        },
    })
}

/// A reader waits for itself when it wants to write; libc tells writers.
pub(super) fn lock_rwlock_again(lock: usize) {
    if word(lock, WRITER) == 0
        && let Some(own) = own(lock)
    {
        let text = "write lock of a reader-writer lock that the thread has for reading";
        wait_for_oneself(text, lock, Some(own));
    }
}

pub(super) fn lock_spin_again(lock: usize) {
    if let Some(own) = own(lock) {
        wait_for_oneself(
            "lock of a spin lock that the thread has already",
            lock,
            Some(own),
        );
    }
}

/// A lock is destroyed that somebody has.
pub(super) fn destroyed_locked(text: &'static str, lock: usize, holder: Option<Side>) {
    if crate::options::current().is_some_and(|options| options.destroy_locked) {
        report(text, lock, Operation::Destroy, holder);
    }
}

/// An object is destroyed, or initialised again: whoever used it comes before, or there is a race. Libraries that are not instrumented
/// may have an order that is not seen.
pub(super) fn end_of_life(object: usize, operation: Operation, used: Operation) {
    let pc = tls::caller();
    if !callers::is_instrumented(pc) {
        return;
    }
    let Some(earlier) = sync::unordered_use(object) else {
        return;
    };
    tls::set_caller(pc);
    let Some(mut me) = enter().filter(|me| me.options.races) else {
        return;
    };
    let finding = Finding::Race {
        address: object,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), operation, me.site()),
        earlier: earlier.by.side(used),
        search: None,
    };
    report::report(&mut me, &finding);
}

/// An object is initialised, perhaps again. One on the stack may be that of another call.
pub(super) fn init(object: usize) {
    let pc = tls::caller();
    if sync::is_known(object) && has_one_life(object) {
        tls::set_caller(pc);
        end_of_life(object, Operation::Initialisation, Operation::Use);
    }
    tls::set_caller(pc);
    sync::destroy(object);
}

/// Where libc has the number of readers of a reader-writer lock, and the number of its writer.
const READERS: usize = 0;
const READERS_SHIFT: u32 = 3;
const WRITER: usize = 6;

fn is_locked(lock: usize) -> bool {
    word(lock, READERS) >> READERS_SHIFT != 0 || word(lock, WRITER) != 0
}

pub(super) fn lock_rwlock(lock: usize) {
    RWLOCK.is_alive(lock, Operation::Lock);
}

pub(super) fn unlock_rwlock(lock: usize) {
    if !RWLOCK.is_alive(lock, Operation::Unlock) {
        return;
    }
    if !is_locked(lock) {
        return report(
            "unlock of an unlocked reader-writer lock",
            lock,
            Operation::Unlock,
            None,
        );
    }
    let me = enter().map(|me| me.state.id());
    if word(lock, WRITER) != 0 && sync::writer(lock).is_some_and(|writer| Some(writer) != me) {
        let text = "unlock of a reader-writer lock that another thread holds";
        return report(text, lock, Operation::Unlock, None);
    }
    if word(lock, WRITER) == 0 && is_anothers(lock) {
        let text = "unlock of a reader-writer lock that the thread does not hold";
        report(text, lock, Operation::Unlock, None);
    }
}

/// Whether the thread was just seen to give back a lock that it does not have. Fibers may do that for each other.
pub(super) fn is_anothers(lock: usize) -> bool {
    let me = enter();
    me.is_some_and(|me| me.gave_unheld == lock) && !fiber::are_used()
}

pub(super) fn destroy_rwlock(lock: usize) {
    if !RWLOCK.is_alive(lock, Operation::Destroy) {
        return;
    }
    if is_locked(lock) {
        return destroyed_locked("destroy of a locked reader-writer lock", lock, None);
    }
    end_of_life(lock, Operation::Destroy, Operation::Unlock);
}

pub(super) fn post(semaphore: usize) {
    SEMAPHORE.is_alive(semaphore, Operation::Post);
}

pub(super) fn wait_for_semaphore(semaphore: usize) {
    SEMAPHORE.is_alive(semaphore, Operation::Wait);
}

pub(super) fn destroy_semaphore(semaphore: usize) {
    if SEMAPHORE.is_alive(semaphore, Operation::Destroy) {
        end_of_life(semaphore, Operation::Destroy, Operation::Post);
    }
}

pub(super) fn lock_spin(lock: usize) {
    SPIN.is_alive(lock, Operation::Lock);
}

/// What a spin lock is when nobody has it.
const SPIN_FREE: u32 = 1;

pub(super) fn unlock_spin(lock: usize) {
    if !SPIN.is_alive(lock, Operation::Unlock) {
        return;
    }
    if word(lock, 0) == SPIN_FREE {
        report(
            "unlock of an unlocked spin lock",
            lock,
            Operation::Unlock,
            None,
        );
    } else if is_anothers(lock) {
        let text = "unlock of a spin lock that the thread does not hold";
        report(text, lock, Operation::Unlock, None);
    }
}

pub(super) fn destroy_spin(lock: usize) {
    if !SPIN.is_alive(lock, Operation::Destroy) {
        return;
    }
    if word(lock, 0) != SPIN_FREE {
        return destroyed_locked("destroy of a locked spin lock", lock, None);
    }
    end_of_life(lock, Operation::Destroy, Operation::Unlock);
}

/// False if threads wait for the condition variable.
pub(super) fn destroy_condition(condition: usize) -> bool {
    if CONDITION.is_alive(condition, Operation::Destroy)
        && let Some((thread, site)) = deadlock::who_waits_for(condition)
    {
        let text = "destroy of a condition variable for which threads wait";
        let waits = Done { thread, site }.side(Operation::Wait);
        report(text, condition, Operation::Destroy, Some(waits));
        return false;
    }
    end_of_life(condition, Operation::Destroy, Operation::Signal);
    true
}

/// How many threads a barrier is for; 0 if it is none, which is said.
pub(in crate::intercept) fn threads_of(barrier: usize) -> usize {
    let is_alive = BARRIER.is_alive(barrier, Operation::Wait);
    let count = word(barrier, COUNT) as usize;
    if count == 0 && is_alive {
        report(
            "use of a barrier that is not initialised",
            barrier,
            Operation::Wait,
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
pub(in crate::intercept) fn init_barrier(barrier: usize) {
    touch(barrier);
    let is_known = sync::arrived(barrier).is_some_and(|(threads, _)| threads != 0)
        && word(barrier, COUNT) != 0;
    if is_known && has_one_life(barrier) {
        let text = "a barrier is initialised again before it is destroyed";
        report(text, barrier, Operation::Init, None);
    }
}

pub(super) fn destroy_barrier(barrier: usize) {
    if !BARRIER.is_alive(barrier, Operation::Destroy) {
        return;
    }
    if sync::arrived(barrier).is_some_and(|(_, arrived)| arrived != 0) {
        let text = "destroy of a barrier at which threads wait";
        return report(text, barrier, Operation::Destroy, None);
    }
    end_of_life(barrier, Operation::Destroy, Operation::Wait);
}
