//! Mutexes, reader-writer locks, spin locks, condition variables, barriers, semaphores, once; of POSIX and of C11.
//! glibc's types of C11 are those of POSIX by another name.

pub(crate) mod annotated;
pub(crate) mod blocking;
pub(crate) mod misuse;
mod scheduled;

use super::cleanup;
use crate::deadlock;
use crate::entry::interceptors;
use crate::real;
use crate::sched::{self, waits};
use crate::{sync, tls};
use libc::{
    c_int, c_uint, clockid_t, pthread_barrier_t, pthread_cond_t, pthread_mutex_t,
    pthread_mutexattr_t,
};
use libc::{pthread_rwlock_t, pthread_rwlockattr_t, pthread_spinlock_t, sem_t, timespec};
use misuse::{BARRIER, CONDITION, MUTEX, RWLOCK, SEMAPHORE, SPIN};
use rsan_log::Operation;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// What threads leave that may end with a robust mutex: whoever inherits it comes after. One for all of them.
static GRAVES: Graves = Graves {
    used: AtomicBool::new(false),
};

#[derive(Debug)]
struct Graves {
    /// There is a robust mutex.
    used: AtomicBool,
}

impl Graves {
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// The thread is about to end.
pub(crate) fn end_of_thread() {
    // ORDERING: relaxed; a thread with a robust mutex comes after its initialisation.
    if GRAVES.used.load(Ordering::Relaxed) {
        sync::release(GRAVES.address());
    }
}

/// Interceptors that call the real function and tell [`sync`] of it, before or, if it succeeded, after. Whether the call
/// is right is looked at when it is made.
macro_rules! lock_functions {
    ($($name:ident($object:ident: $type:ty $(, $arg:ident: $arg_type:ty)*)
        $(before $before:path)? $(, checked $check:path)? $(, after $after:expr)? $(=> $mode:ident $try:ident)? ;)+) => {
        mod functions {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name($object: *mut $type $(, $arg: $arg_type)*) -> c_int {
                // The runtime may copy memory of its own in between.
                let caller = tls::caller();
                let before_call = || {
                    tls::set_caller(caller);
                    $($check($object as usize);)?
                    tls::set_caller(caller);
                };
                $($before($object as usize);)?
                let act = || {
                    before_call();
                    // SAFETY: the program's call.
                    unsafe { real::$name($object $(, $arg)*) }
                };
                $(let act = || {
                    let attempt = || {
                        before_call();
                        // SAFETY: the program's object, and what it asks for, without waiting.
                        unsafe { real::$try($object) }
                    };
                    if sched::active() {
                        return scheduled::$mode($object as usize, attempt);
                    }
                    blocking::$mode($object as usize, attempt, act)
                };)?
                let result = act();
                tls::set_caller(caller);
                $(if result == 0 {
                    ($after)($object as usize);
                } else if result == libc::EOWNERDEAD {
                    ($after)($object as usize);
                    sync::acquire(GRAVES.address());
                })?
                result
            })+
        }
        interceptors! { $($name => functions::$name;)+ }
    };
}

type Until = *const timespec;

lock_functions! {
    pthread_mutex_lock(mutex: pthread_mutex_t), checked misuse::lock_mutex, after misuse::took_mutex
        => mutex pthread_mutex_trylock;
    pthread_mutex_trylock(mutex: pthread_mutex_t),
        checked misuse::lock_mutex, after misuse::tried_mutex
        => try_mutex pthread_mutex_trylock;
    pthread_mutex_timedlock(mutex: pthread_mutex_t, until: Until),
        checked misuse::lock_mutex, after misuse::tried_mutex
        => timed_mutex pthread_mutex_trylock;
    pthread_mutex_clocklock(mutex: pthread_mutex_t, clock: clockid_t, until: Until),
        checked misuse::lock_mutex, after misuse::tried_mutex
        => timed_mutex pthread_mutex_trylock;
    pthread_mutex_unlock(mutex: pthread_mutex_t) before unlock_mutex, checked misuse::unlock_mutex
        => unlock pthread_mutex_unlock;
    pthread_mutex_destroy(mutex: pthread_mutex_t),
        checked misuse::destroy_mutex, after |mutex| MUTEX.bury(mutex);
    mtx_init(mutex: pthread_mutex_t, kind: c_int) before misuse::init;
    mtx_lock(mutex: pthread_mutex_t), checked misuse::lock_mutex, after misuse::took_mutex
        => c11_mutex mtx_trylock;
    mtx_trylock(mutex: pthread_mutex_t), checked misuse::lock_mutex, after misuse::tried_mutex
        => try_mutex mtx_trylock;
    mtx_timedlock(mutex: pthread_mutex_t, until: Until),
        checked misuse::lock_mutex, after misuse::tried_mutex
        => c11_timed_mutex mtx_trylock;
    mtx_unlock(mutex: pthread_mutex_t) before unlock_mutex, checked misuse::unlock_mutex
        => unlock mtx_unlock;
    pthread_rwlock_init(lock: pthread_rwlock_t, attr: *const pthread_rwlockattr_t) before misuse::init;
    pthread_rwlock_rdlock(lock: pthread_rwlock_t), checked misuse::lock_rwlock, after misuse::took_read
        => read pthread_rwlock_tryrdlock;
    pthread_rwlock_tryrdlock(lock: pthread_rwlock_t),
        checked misuse::lock_rwlock, after misuse::tried_read
        => try_read pthread_rwlock_tryrdlock;
    pthread_rwlock_timedrdlock(lock: pthread_rwlock_t, until: Until),
        checked misuse::lock_rwlock, after misuse::tried_read
        => timed_read pthread_rwlock_tryrdlock;
    pthread_rwlock_clockrdlock(lock: pthread_rwlock_t, clock: clockid_t, until: Until),
        checked misuse::lock_rwlock, after misuse::tried_read
        => timed_read pthread_rwlock_tryrdlock;
    pthread_rwlock_wrlock(lock: pthread_rwlock_t),
        checked misuse::lock_rwlock, after misuse::took_write
        => write pthread_rwlock_trywrlock;
    pthread_rwlock_trywrlock(lock: pthread_rwlock_t),
        checked misuse::lock_rwlock, after misuse::tried_write
        => try_write pthread_rwlock_trywrlock;
    pthread_rwlock_timedwrlock(lock: pthread_rwlock_t, until: Until),
        checked misuse::lock_rwlock, after misuse::tried_write
        => timed_write pthread_rwlock_trywrlock;
    pthread_rwlock_clockwrlock(lock: pthread_rwlock_t, clock: clockid_t, until: Until),
        checked misuse::lock_rwlock, after misuse::tried_write
        => timed_write pthread_rwlock_trywrlock;
    pthread_rwlock_unlock(lock: pthread_rwlock_t) before sync::unlock_shared_or_write,
        checked misuse::unlock_rwlock
        => unlock pthread_rwlock_unlock;
    pthread_rwlock_destroy(lock: pthread_rwlock_t),
        checked misuse::destroy_rwlock, after |lock| RWLOCK.bury(lock);
    pthread_barrier_destroy(barrier: pthread_barrier_t),
        checked misuse::destroy_barrier, after |barrier| BARRIER.bury(barrier);
    pthread_cond_init(cond: pthread_cond_t, attr: *const libc::pthread_condattr_t) before misuse::init;
    cnd_init(cond: pthread_cond_t) before misuse::init;
    pthread_spin_init(lock: pthread_spinlock_t, shared: c_int) before misuse::init;
    sem_init(sem: sem_t, shared: c_int, value: c_uint) before misuse::init;
    sem_post(sem: sem_t) before sync::post, checked misuse::post
        => post sem_post;
    sem_wait(sem: sem_t), checked misuse::wait_for_semaphore, after sync::acquire
        => sem_wait sem_trywait;
    sem_trywait(sem: sem_t), checked misuse::wait_for_semaphore, after sync::acquire
        => sem_once sem_trywait;
    sem_timedwait(sem: sem_t, until: Until), checked misuse::wait_for_semaphore, after sync::acquire
        => sem_timed sem_trywait;
    sem_clockwait(sem: sem_t, clock: clockid_t, until: Until),
        checked misuse::wait_for_semaphore, after sync::acquire
        => sem_timed sem_trywait;
    sem_destroy(sem: sem_t), checked misuse::destroy_semaphore, after |sem| SEMAPHORE.bury(sem);
    pthread_spin_lock(lock: pthread_spinlock_t), checked misuse::lock_spin, after misuse::took_spin
        => spin pthread_spin_trylock;
    pthread_spin_trylock(lock: pthread_spinlock_t), checked misuse::lock_spin, after misuse::tried_spin
        => try_spin pthread_spin_trylock;
    pthread_spin_unlock(lock: pthread_spinlock_t) before sync::unlock, checked misuse::unlock_spin
        => unlock pthread_spin_unlock;
    pthread_spin_destroy(lock: pthread_spinlock_t),
        checked misuse::destroy_spin, after |lock| SPIN.bury(lock);
}

/// Where glibc keeps the kind of a mutex, as an index of words.
const KIND: usize = 4;

/// What a mutex does when its owner locks it again.
fn kind_of(mutex: usize) -> c_int {
    // SAFETY: the program's mutex; glibc writes its kind only when it is initialised.
    (unsafe { (mutex as *const c_int).add(KIND).read() }) & 3
}

/// Whether a mutex checks who its owner is.
fn is_checking(mutex: usize) -> bool {
    kind_of(mutex) == libc::PTHREAD_MUTEX_ERRORCHECK
}

/// What the last owner leaves replaces what was there. Unlocking a mutex that checks its owner may fail, and must
/// not replace anything then; so it adds.
fn unlock_mutex(mutex: usize) {
    if kind_of(mutex) == libc::PTHREAD_MUTEX_NORMAL {
        sync::unlock(mutex);
    } else {
        sync::unlock_if_held(mutex);
    }
}

/// The bit of a mutex's kind that says that it is robust.
const ROBUST: c_int = 16;

unsafe extern "C-unwind" fn mutex_init(
    mutex: *mut pthread_mutex_t,
    attr: *const pthread_mutexattr_t,
) -> c_int {
    misuse::init_mutex(mutex as usize);
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_mutex_init(mutex, attr) };
    // SAFETY: the program's mutex, which is initialised if the result is 0.
    if result == 0 && unsafe { mutex.cast::<c_int>().add(KIND).read() } & ROBUST != 0 {
        // ORDERING: relaxed; see `end_of_thread`.
        GRAVES.used.store(true, Ordering::Relaxed);
    }
    result
}

/// Waiting gives the mutex back and takes it again, also when it times out or the thread is cancelled: then by `regain`.
/// The signal itself orders nothing.
fn waiting(mutex: *mut pthread_mutex_t, regain: impl Fn(), wait: impl FnOnce() -> c_int) -> c_int {
    let caller = tls::caller();
    let took = || {
        tls::set_caller(caller);
        misuse::took_mutex(mutex as usize);
    };
    let leaving = || {
        regain();
        took();
    };
    unlock_mutex(mutex as usize);
    tls::set_caller(caller);
    let result = cleanup::on_leaving(leaving, wait);
    took();
    result
}

/// Interceptors of waits for a condition.
macro_rules! waits {
    ($($name:ident($($arg:ident: $type:ty),*) => $mode:ident $unlock:ident $try:ident;)+) => {
        mod wait {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name(
                cond: *mut pthread_cond_t,
                mutex: *mut pthread_mutex_t
                $(, $arg: $type)*
            ) -> c_int {
                CONDITION.is_alive(cond as usize, Operation::Wait);
                if crate::sched::active() {
                    let unlock = || {
                        misuse::unlock_mutex(mutex as usize);
                        // SAFETY: the program's mutex.
                        unsafe { real::$unlock(mutex) }
                    };
                    // SAFETY: the program's mutex.
                    let relock = || unsafe { real::$try(mutex) };
                    let objects = (cond as usize, mutex as usize);
                    let regain = || scheduled::regain(mutex as usize, relock);
                    return waiting(mutex, regain, || scheduled::$mode(objects, unlock, relock));
                }
                // libc has taken it again when the thread is cancelled.
                waiting(mutex, || {}, || {
                    misuse::unlock_mutex(mutex as usize);
                    blocking::$mode((cond as usize, mutex as usize), || {
                        // SAFETY: the program's call.
                        unsafe { real::$name(cond, mutex $(, $arg)*) }
                    })
                })
            })+
        }
        interceptors! { $($name => wait::$name;)+ }
    };
}

waits! {
    pthread_cond_wait() => condition pthread_mutex_unlock pthread_mutex_trylock;
    pthread_cond_timedwait(until: Until) => timed_condition pthread_mutex_unlock pthread_mutex_trylock;
    pthread_cond_clockwait(clock: clockid_t, until: Until)
        => timed_condition pthread_mutex_unlock pthread_mutex_trylock;
    cnd_wait() => condition mtx_unlock mtx_trylock;
    cnd_timedwait(until: Until) => c11_timed_condition mtx_unlock mtx_trylock;
}

/// Signals, which order nothing, but wake threads that are scheduled.
macro_rules! signals {
    ($($name:ident => $at_most:expr;)+) => {
        mod signal {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name(cond: *mut pthread_cond_t) -> c_int {
                let caller = tls::caller();
                if CONDITION.is_alive(cond as usize, Operation::Signal) {
                    tls::set_caller(caller);
                    sync::post(cond as usize);
                }
                waits::signal(cond as usize, $at_most);
                // SAFETY: the program's call.
                let result = unsafe { real::$name(cond) };
                deadlock::signalled(cond as usize);
                result
            })+
        }
        interceptors! { $($name => signal::$name;)+ }
    };
}

signals! {
    pthread_cond_signal => 1;
    pthread_cond_broadcast => usize::MAX;
    cnd_signal => 1;
    cnd_broadcast => usize::MAX;
}

/// Where glibc keeps the number of threads of a barrier, as an index of words.
const COUNT: usize = 2;

/// One at which threads wait is left alone: libc would wait for them for ever.
unsafe extern "C-unwind" fn condition_destroy(cond: *mut pthread_cond_t) -> c_int {
    if !misuse::destroy_condition(cond as usize) {
        return libc::EBUSY;
    }
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_cond_destroy(cond) };
    CONDITION.bury(cond as usize);
    result
}

/// The states of a `pthread_once_t` whose routine runs, and has run, in glibc.
const IN_PROGRESS: c_int = 1;
const DONE: c_int = 2;

/// The routine happens before every return. The one who finds it done already cannot release before others acquire,
/// so whoever runs it releases at its end: this call, if the routine had not run before it.
unsafe extern "C-unwind" fn once(
    control: *mut c_int,
    routine: unsafe extern "C-unwind" fn(),
) -> c_int {
    // SAFETY: the program's control word.
    let word = unsafe { AtomicI32::from_ptr(control) };
    if sched::active() {
        // ORDERING: relaxed; one thread runs at a time.
        let in_progress = || word.load(Ordering::Relaxed) & 3 == IN_PROGRESS;
        waits::while_busy(control as usize, in_progress);
    }
    // ORDERING: acquire, with the store of glibc's `pthread_once`.
    if word.load(Ordering::Acquire) & DONE == 0 {
        ROUTINE.set((control as usize, Some(routine)));
        // SAFETY: the program's call, with a routine that calls the program's.
        let result = unsafe { real::pthread_once(control, run_once) };
        sync::acquire(control as usize);
        sched::wake(sched::For::Object(control as usize));
        return result;
    }
    sync::acquire(control as usize);
    0
}

type Routine = Option<unsafe extern "C-unwind" fn()>;

thread_local! {
    /// What [`run_once`] is to run: `pthread_once` passes no argument.
    static ROUTINE: std::cell::Cell<(usize, Routine)> = const { std::cell::Cell::new((0, None)) };
}

/// Releases what it has the address of, also when an exception leaves the routine: the next one who tries comes after that.
struct Released(usize);

impl Drop for Released {
    fn drop(&mut self) {
        sync::release(self.0);
    }
}

unsafe extern "C-unwind" fn run_once() {
    let (control, routine) = ROUTINE.get();
    sync::acquire(control);
    let _at_the_end = Released(control);
    if let Some(routine) = routine {
        // SAFETY: as the program asked.
        unsafe { routine() };
    }
}

unsafe extern "C-unwind" fn c11_once(control: *mut c_int, routine: unsafe extern "C-unwind" fn()) {
    // SAFETY: the program's call; glibc's `once_flag` is a `pthread_once_t`.
    unsafe { once(control, routine) };
}

interceptors! {
    pthread_mutex_init => mutex_init;
    mtx_destroy => functions::pthread_mutex_destroy;
    pthread_cond_destroy => condition_destroy;
    cnd_destroy => condition_destroy;
    call_once => c11_once;
    pthread_once => once;
}
