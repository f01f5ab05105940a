//! What the words of libc's objects say about who could still get them.

use super::Wait;
use crate::held::Mode;
use std::sync::atomic::{AtomicU32, Ordering};

fn word(object: usize, index: usize) -> u32 {
    // SAFETY: the program's object, at which a thread waits.
    let word = unsafe { AtomicU32::from_ptr((object as *mut u32).add(index)) };
    // ORDERING: relaxed; what is concluded from it does not change while its holder waits.
    word.load(Ordering::Relaxed)
}

/// Words of a mutex.
const MUTEX_LOCK: usize = 0;
const MUTEX_OWNER: usize = 2;
const MUTEX_KIND: usize = 4;
/// Bits of its kind: robust, or with priorities; shared with other processes.
const SPECIAL: u32 = 16 | 32 | 64;
const MUTEX_SHARED: u32 = 128;

/// The number of the thread that has a mutex; 0 if none has.
pub(super) fn owner(mutex: usize) -> u32 {
    word(mutex, MUTEX_OWNER)
}

/// Whether somebody has a mutex who will not give it back: all threads wait, or have ended. The system does so for the owners of
/// some.
pub(super) fn is_mutex_for_good(mutex: usize) -> bool {
    word(mutex, MUTEX_LOCK) != 0 && owner(mutex) != 0 && word(mutex, MUTEX_KIND) & SPECIAL == 0
}

/// Words of a reader-writer lock.
const PHASE: usize = 0;
const WRITER: usize = 6;
const RWLOCK_SHARED: usize = 7;
/// Bits of the first: writers have their turn; one of them has it.
const WRITE_PHASE: u32 = 1;
const WRITE_LOCKED: u32 = 2;

/// Whether a reader-writer lock is somebody else's, so that the thread of this number has to wait for it.
pub(super) fn is_rwlock_taken(lock: usize, wanted: Mode, me: u32) -> bool {
    let (phase, writer) = (word(lock, PHASE), word(lock, WRITER));
    let is_written = phase & WRITE_PHASE != 0 && phase & WRITE_LOCKED != 0 && writer != 0;
    match wanted {
        Mode::Read => is_written,
        Mode::Write => writer != me && (is_written || phase & WRITE_PHASE == 0),
    }
}

/// What can be taken from a semaphore.
pub(crate) fn semaphore_value(semaphore: usize) -> u32 {
    word(semaphore, 0)
}

/// The word of a semaphore that says that it is shared, of a barrier, and of a condition variable (a bit).
const SEMAPHORE_SHARED: usize = 2;
const BARRIER_SHARED: usize = 3;
const CONDITION_FLAGS: usize = 9;

/// Whether no other process can end a wait.
pub(super) fn is_private(wait: Wait) -> bool {
    match wait {
        Wait::Mutex(mutex) => word(mutex, MUTEX_KIND) & MUTEX_SHARED == 0,
        Wait::Rwlock(lock, _) => word(lock, RWLOCK_SHARED) & 0xff == 0,
        Wait::Condition(condition, _) => word(condition, CONDITION_FLAGS) & 1 == 0,
        Wait::Semaphore(semaphore) => word(semaphore, SEMAPHORE_SHARED) == 0,
        Wait::Barrier(barrier, _) => word(barrier, BARRIER_SHARED) == 0,
        Wait::Spin(_) | Wait::Join(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::{PTHREAD_PROCESS_SHARED, pthread_mutex_t, pthread_rwlock_t, sem_t};

    /// Objects of this libc look as we think.
    #[test]
    fn words_of_objects_are_where_they_are_looked_for() {
        // SAFETY: objects of this function, initialised before they are used.
        unsafe {
            let mut mutex: pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
            let at = &raw mut mutex as usize;
            assert!(!is_mutex_for_good(at) && is_private(Wait::Mutex(at)));
            libc::pthread_mutex_lock(&raw mut mutex);
            assert!(is_mutex_for_good(at));
            assert_eq!(owner(at), libc::syscall(libc::SYS_gettid) as u32);
            libc::pthread_mutex_unlock(&raw mut mutex);
            let mut attr = std::mem::zeroed();
            libc::pthread_mutexattr_init(&raw mut attr);
            libc::pthread_mutexattr_setpshared(&raw mut attr, PTHREAD_PROCESS_SHARED);
            libc::pthread_mutex_init(&raw mut mutex, &raw const attr);
            assert!(!is_private(Wait::Mutex(at)));

            let mut lock: pthread_rwlock_t = libc::PTHREAD_RWLOCK_INITIALIZER;
            let at = &raw mut lock as usize;
            let taken = |mode| is_rwlock_taken(at, mode, 1);
            libc::pthread_rwlock_rdlock(&raw mut lock);
            assert!(!taken(Mode::Read) && taken(Mode::Write));
            libc::pthread_rwlock_unlock(&raw mut lock);
            libc::pthread_rwlock_wrlock(&raw mut lock);
            assert!(taken(Mode::Read) && taken(Mode::Write));
            libc::pthread_rwlock_unlock(&raw mut lock);
            assert!(is_private(Wait::Rwlock(at, Mode::Read)));
            let mut attr = std::mem::zeroed();
            libc::pthread_rwlockattr_init(&raw mut attr);
            libc::pthread_rwlockattr_setpshared(&raw mut attr, PTHREAD_PROCESS_SHARED);
            libc::pthread_rwlock_init(&raw mut lock, &raw const attr);
            assert!(!is_private(Wait::Rwlock(at, Mode::Read)));

            let mut semaphore: sem_t = std::mem::zeroed();
            let at = &raw mut semaphore as usize;
            for shared in [0, 1] {
                libc::sem_init(&raw mut semaphore, shared, 3);
                assert_eq!(is_private(Wait::Semaphore(at)), shared == 0);
                assert_eq!(semaphore_value(at), 3);
            }

            let mut condition: libc::pthread_cond_t = libc::PTHREAD_COND_INITIALIZER;
            let at = &raw mut condition as usize;
            assert!(is_private(Wait::Condition(at, 0)));
            let mut attr = std::mem::zeroed();
            libc::pthread_condattr_init(&raw mut attr);
            libc::pthread_condattr_setpshared(&raw mut attr, PTHREAD_PROCESS_SHARED);
            libc::pthread_cond_init(&raw mut condition, &raw const attr);
            assert!(!is_private(Wait::Condition(at, 0)));

            let mut barrier: libc::pthread_barrier_t = std::mem::zeroed();
            let at = &raw mut barrier as usize;
            libc::pthread_barrier_init(&raw mut barrier, std::ptr::null(), 2);
            assert!(is_private(Wait::Barrier(at, 0)));
            let mut attr = std::mem::zeroed();
            libc::pthread_barrierattr_init(&raw mut attr);
            libc::pthread_barrierattr_setpshared(&raw mut attr, PTHREAD_PROCESS_SHARED);
            libc::pthread_barrier_init(&raw mut barrier, &raw const attr, 2);
            assert!(!is_private(Wait::Barrier(at, 0)));
        }
    }
}
