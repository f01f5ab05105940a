//! GLib's mutexes, conditions, queues and pools of threads.
//!
//! GLib orders by futexes of its own, in code that is not instrumented. Its other locks, and its threads, are those of POSIX,
//! which are seen. What `g_once`, its main contexts and reference counts order is not known.

use crate::entry::entries;
use crate::real;
use crate::{sched, sync};
use libc::{c_int, c_void};

unsafe extern "C-unwind" fn lock(mutex: *mut c_void) {
    // SAFETY: the program's call.
    sched::outside(|| unsafe { real::g_mutex_lock(mutex) });
    sync::lock(mutex as usize);
}

unsafe extern "C-unwind" fn try_lock(mutex: *mut c_void) -> c_int {
    // SAFETY: the program's call.
    let result = unsafe { real::g_mutex_trylock(mutex) };
    if result != 0 {
        sync::lock(mutex as usize);
    }
    result
}

unsafe extern "C-unwind" fn unlock(mutex: *mut c_void) {
    sync::unlock(mutex as usize);
    // SAFETY: the program's call.
    unsafe { real::g_mutex_unlock(mutex) };
}

unsafe extern "C-unwind" fn clear(mutex: *mut c_void) {
    sync::destroy(mutex as usize);
    // SAFETY: the program's call.
    unsafe { real::g_mutex_clear(mutex) };
}

/// Waits by `wait`, which gives the mutex back and takes it again.
fn waiting<R>(mutex: *mut c_void, wait: impl FnOnce() -> R) -> R {
    sync::unlock(mutex as usize);
    let result = sched::outside(wait);
    sync::lock(mutex as usize);
    result
}

unsafe extern "C-unwind" fn wait(condition: *mut c_void, mutex: *mut c_void) {
    // SAFETY: the program's call.
    waiting(mutex, || unsafe { real::g_cond_wait(condition, mutex) });
}

unsafe extern "C-unwind" fn wait_until(
    condition: *mut c_void,
    mutex: *mut c_void,
    end: i64,
) -> c_int {
    // SAFETY: the program's call.
    waiting(mutex, || unsafe {
        real::g_cond_wait_until(condition, mutex, end)
    })
}

/// Queues: what comes before an element is pushed comes before whoever gets one.
macro_rules! queues {
    (push { $($push:ident($($arg:ident: $type:ty),*);)+ } pop { $($pop:ident($($time:ident: $time_type:ty)?);)+ }) => {
        mod queue {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $push(queue: *mut c_void $(, $arg: $type)*) {
                sync::release(queue as usize);
                // SAFETY: the program's call.
                unsafe { real::$push(queue $(, $arg)*) };
            })+
            $(pub(super) unsafe extern "C-unwind" fn $pop(queue: *mut c_void $(, $time: $time_type)?) -> *mut c_void {
                // SAFETY: the program's call.
                let element = sched::outside(|| unsafe { real::$pop(queue $(, $time)?) });
                if !element.is_null() {
                    sync::acquire(queue as usize);
                }
                element
            })+
        }
        entries! {
            $($push => queue::$push;)+
            $($pop => queue::$pop;)+
        }
    };
}

queues! {
    push {
    g_async_queue_push(data: *mut c_void);
    g_async_queue_push_unlocked(data: *mut c_void);
    g_async_queue_push_front(data: *mut c_void);
    g_async_queue_push_front_unlocked(data: *mut c_void);
    g_async_queue_push_sorted(data: *mut c_void, compare: *mut c_void, user: *mut c_void);
    g_async_queue_push_sorted_unlocked(data: *mut c_void, compare: *mut c_void, user: *mut c_void);
    }
    pop {
    g_async_queue_pop();
    g_async_queue_pop_unlocked();
    g_async_queue_try_pop();
    g_async_queue_try_pop_unlocked();
    g_async_queue_timeout_pop(time: u64);
    g_async_queue_timeout_pop_unlocked(time: u64);
    }
}

unsafe extern "C-unwind" fn lock_queue(queue: *mut c_void) {
    // SAFETY: the program's call.
    sched::outside(|| unsafe { real::g_async_queue_lock(queue) });
    sync::acquire(queue as usize);
}

unsafe extern "C-unwind" fn unlock_queue(queue: *mut c_void) {
    sync::release(queue as usize);
    // SAFETY: the program's call.
    unsafe { real::g_async_queue_unlock(queue) };
}

/// A function that a pool calls with each task.
type Work = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// What a pool of threads is made for. It is never freed, for a thread of the pool may be late; its address is that of a clock.
struct Job {
    work: Work,
    user: *mut c_void,
}

/// The part of a pool that GLib shows.
#[repr(C)]
struct Pool {
    work: Option<Work>,
    user: *mut c_void,
}

/// The clock of a pool, if it was made here.
///
/// # Safety
/// A pool of the program, or null.
unsafe fn clock(pool: *mut c_void) -> Option<usize> {
    // SAFETY: the caller's promise.
    let pool = unsafe { pool.cast::<Pool>().as_ref() }?;
    let ours = pool
        .work
        .is_some_and(|work| work as usize == run as *const () as usize);
    ours.then_some(pool.user as usize)
}

unsafe extern "C-unwind" fn run(task: *mut c_void, job: *mut c_void) {
    // SAFETY: made by `job` for this pool, and never freed.
    let Job { work, user } = unsafe { &*job.cast::<Job>() };
    sync::acquire(job as usize);
    // SAFETY: as the program asked.
    unsafe { work(task, *user) };
    sync::release(job as usize);
}

fn job(work: Work, user: *mut c_void) -> *mut c_void {
    Box::into_raw(Box::new(Job { work, user })).cast()
}

unsafe extern "C-unwind" fn new_pool(
    work: Work,
    user: *mut c_void,
    most: c_int,
    exclusive: c_int,
    error: *mut c_void,
) -> *mut c_void {
    // SAFETY: the program's call, with a function and an argument that fit each other.
    unsafe { real::g_thread_pool_new(run, job(work, user), most, exclusive, error) }
}

unsafe extern "C-unwind" fn new_full_pool(
    work: Work,
    user: *mut c_void,
    free: *mut c_void,
    most: c_int,
    exclusive: c_int,
    error: *mut c_void,
) -> *mut c_void {
    // SAFETY: the program's call, with a function and an argument that fit each other.
    unsafe { real::g_thread_pool_new_full(run, job(work, user), free, most, exclusive, error) }
}

unsafe extern "C-unwind" fn push_task(
    pool: *mut c_void,
    task: *mut c_void,
    error: *mut c_void,
) -> c_int {
    // SAFETY: the program's pool.
    if let Some(clock) = unsafe { clock(pool) } {
        sync::release(clock);
    }
    // SAFETY: the program's call.
    unsafe { real::g_thread_pool_push(pool, task, error) }
}

unsafe extern "C-unwind" fn free_pool(pool: *mut c_void, at_once: c_int, waits: c_int) {
    // SAFETY: the program's pool.
    let clock = unsafe { clock(pool) };
    // SAFETY: the program's call.
    sched::outside(|| unsafe { real::g_thread_pool_free(pool, at_once, waits) });
    if let Some(clock) = clock.filter(|_| waits != 0) {
        sync::acquire(clock);
    }
}

entries! {
    g_mutex_lock => lock;
    g_mutex_trylock => try_lock;
    g_mutex_unlock => unlock;
    g_mutex_clear => clear;
    g_cond_wait => wait;
    g_cond_wait_until => wait_until;
    g_async_queue_lock => lock_queue;
    g_async_queue_unlock => unlock_queue;
    g_thread_pool_new => new_pool;
    g_thread_pool_new_full => new_full_pool;
    g_thread_pool_push => push_task;
    g_thread_pool_free => free_pool;
}
