//! Mutexes, reader-writer locks, spin locks, condition variables, barriers, semaphores, once.

use crate::real;
use crate::{entries, sync};
use libc::{
    c_int, c_uint, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_mutex_t,
};
use libc::{pthread_rwlock_t, pthread_spinlock_t, sem_t, timespec};

/// Interceptors that call the real function and tell [`sync`] of it, before or, if it returned 0, after.
macro_rules! interceptors {
    ($($name:ident($object:ident: $type:ty $(, $arg:ident: $arg_type:ty)*)
        $(before $before:ident)? $(after $after:ident)? ;)+) => {
        mod functions {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name($object: *mut $type $(, $arg: $arg_type)*) -> c_int {
                $(sync::$before($object as usize);)?
                // SAFETY: the program's call.
                let result = unsafe { real::$name($object $(, $arg)*) };
                $(if result == 0 {
                    sync::$after($object as usize);
                })?
                result
            })+
        }
        entries! { $($name => functions::$name;)+ }
    };
}

interceptors! {
    pthread_mutex_lock(mutex: pthread_mutex_t) after lock;
    pthread_mutex_trylock(mutex: pthread_mutex_t) after lock;
    pthread_mutex_timedlock(mutex: pthread_mutex_t, until: *const timespec) after lock;
    pthread_mutex_unlock(mutex: pthread_mutex_t) before unlock;
    pthread_mutex_destroy(mutex: pthread_mutex_t) before destroy;
    pthread_rwlock_rdlock(lock: pthread_rwlock_t) after acquire;
    pthread_rwlock_tryrdlock(lock: pthread_rwlock_t) after acquire;
    pthread_rwlock_wrlock(lock: pthread_rwlock_t) after lock_write;
    pthread_rwlock_trywrlock(lock: pthread_rwlock_t) after lock_write;
    pthread_rwlock_unlock(lock: pthread_rwlock_t) before unlock_shared_or_write;
    pthread_rwlock_destroy(lock: pthread_rwlock_t) before destroy;
    pthread_barrier_init(barrier: pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint) before destroy;
    pthread_barrier_destroy(barrier: pthread_barrier_t) before destroy;
    sem_init(sem: sem_t, shared: c_int, value: c_uint) before destroy;
    sem_post(sem: sem_t) before release;
    sem_wait(sem: sem_t) after acquire;
    sem_trywait(sem: sem_t) after acquire;
    sem_timedwait(sem: sem_t, until: *const timespec) after acquire;
    sem_destroy(sem: sem_t) before destroy;
    pthread_spin_lock(lock: pthread_spinlock_t) after lock;
    pthread_spin_trylock(lock: pthread_spinlock_t) after lock;
    pthread_spin_unlock(lock: pthread_spinlock_t) before unlock;
    pthread_spin_destroy(lock: pthread_spinlock_t) before destroy;
}

/// Waiting gives the mutex back and takes it again, also when it times out. The signal itself orders nothing.
unsafe extern "C-unwind" fn cond_wait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    sync::unlock(mutex as usize);
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_cond_wait(cond, mutex) };
    sync::lock(mutex as usize);
    result
}

unsafe extern "C-unwind" fn cond_timedwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    sync::unlock(mutex as usize);
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_cond_timedwait(cond, mutex, until) };
    sync::lock(mutex as usize);
    result
}

unsafe extern "C-unwind" fn barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    sync::release(barrier as usize);
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_barrier_wait(barrier) };
    sync::acquire(barrier as usize);
    result
}

/// The state of a `pthread_once_t` whose routine has run, in glibc.
const DONE: c_int = 2;

/// The routine happens before every return. The one who finds it done already cannot release before others acquire,
/// so whoever runs it releases at its end: this call, if the routine had not run before it.
unsafe extern "C-unwind" fn once(
    control: *mut c_int,
    routine: unsafe extern "C-unwind" fn(),
) -> c_int {
    // SAFETY: the program's control word.
    let word = unsafe { std::sync::atomic::AtomicI32::from_ptr(control) };
    // ORDERING: acquire, with the store of glibc's `pthread_once`.
    if word.load(std::sync::atomic::Ordering::Acquire) & DONE == 0 {
        ROUTINE.set((control as usize, Some(routine)));
        // SAFETY: the program's call, with a routine that calls the program's.
        let result = unsafe { real::pthread_once(control, run_once) };
        sync::acquire(control as usize);
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

unsafe extern "C-unwind" fn run_once() {
    let (control, routine) = ROUTINE.get();
    if let Some(routine) = routine {
        // SAFETY: as the program asked.
        unsafe { routine() };
    }
    sync::release(control);
}

entries! {
    pthread_cond_wait => cond_wait;
    pthread_cond_timedwait => cond_timedwait;
    pthread_barrier_wait => barrier_wait;
    pthread_once => once;
}
