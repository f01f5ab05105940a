//! A lock that needs no memory, no set-up and no thread identity, for code that runs inside `malloc`.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// The bare lock: spins, then yields. Sections under it are short and call nothing that blocks.
#[derive(Debug, Default)]
pub struct RawLock {
    held: AtomicBool,
}

/// Who waits looks seldom from the start: what a lock protects lies beside it, so a look takes from the owner what it
/// works with, and who is kept away for a while finds all that in its own cache when it comes back.
const FIRST_PAUSES: u32 = 32;
/// After these, about 25 microseconds, the owner is taken for one that does not run.
const MOST_PAUSES: u32 = 1024;

impl RawLock {
    /// An open lock.
    pub const fn new() -> Self {
        Self {
            held: AtomicBool::new(false),
        }
    }

    /// Takes it.
    #[inline]
    pub fn lock(&self) {
        // ORDERING: acquire, with the release in `unlock`.
        while self.held.swap(true, Ordering::Acquire) {
            self.wait();
        }
    }

    /// Takes it if it is open.
    pub fn try_lock(&self) -> bool {
        // ORDERING: acquire, with the release in `unlock`.
        !self.held.swap(true, Ordering::Acquire)
    }

    #[cold]
    fn wait(&self) {
        let mut pauses = FIRST_PAUSES;
        // ORDERING: relaxed; only a hint when to try again.
        while self.held.load(Ordering::Relaxed) {
            if pauses <= MOST_PAUSES {
                (0..pauses).for_each(|_| std::hint::spin_loop());
                pauses *= 2;
            } else {
                crate::system::give_way();
            }
        }
    }

    /// Gives it back. Also what a fork's child does with the locks that its parent took.
    #[inline]
    pub fn unlock(&self) {
        // ORDERING: release, with the acquire in `lock`.
        self.held.store(false, Ordering::Release);
    }
}

/// A value under a [`RawLock`].
#[derive(Debug, Default)]
pub struct Lock<T> {
    raw: RawLock,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through a guard, and there is one guard at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// An open lock.
    pub const fn new(value: T) -> Self {
        Self {
            raw: RawLock::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock until the guard goes.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.raw.lock();
        Guard { lock: self }
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        // ORDERING: acquire, with the release in `RawLock::unlock`.
        let held = self.raw.held.swap(true, Ordering::Acquire);
        (!held).then_some(Guard { lock: self })
    }

    /// A guard for a lock that was taken through [`Lock::raw`].
    ///
    /// # Safety
    /// The caller holds the lock, and no other guard exists.
    pub unsafe fn assume_locked(&self) -> Guard<'_, T> {
        Guard { lock: self }
    }

    /// The lock without the value, for taking it across a fork.
    pub fn raw(&self) -> &RawLock {
        &self.raw
    }
}

/// Permission to use the value.
#[derive(Debug)]
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock, and `self` is borrowed mutably.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes() {
        let counter = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *counter.lock() += 1));
            }
        });
        assert_eq!(*counter.lock(), 4000);
        let held = counter.lock();
        assert!(counter.try_lock().is_none());
        drop(held);
        assert!(counter.try_lock().is_some());
    }
}
