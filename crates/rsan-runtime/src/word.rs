//! Words of all sizes.

mod wide;

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A word that can be accessed atomically.
pub trait Word: Copy + Eq {
    /// As the monitor and reports see it.
    fn bits(self) -> u128;

    /// The word of these bits; higher ones are dropped.
    fn from_bits(bits: u128) -> Self;

    /// Reads it.
    ///
    /// # Safety
    /// `at` is valid and aligned.
    unsafe fn load(at: *mut Self) -> Self;

    /// Writes it.
    ///
    /// # Safety
    /// `at` is valid and aligned.
    unsafe fn store(at: *mut Self, value: Self);

    /// Writes it, as part of an operation that began with taking a lock.
    ///
    /// # Safety
    /// `at` is valid and aligned.
    unsafe fn store_locked(at: *mut Self, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { Self::store(at, value) };
    }

    /// Writes it if it has the old value; returns what it had.
    ///
    /// # Safety
    /// `at` is valid and aligned.
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self;
}

/// A value as a word.
pub(crate) fn fold(bits: u128) -> u64 {
    bits as u64 ^ (bits >> 64) as u64
}

/// What a read-modify-write makes of two values, which tells its operand.
pub(crate) fn operands_of(next: impl Fn(u128) -> u128) -> [u64; 2] {
    [0, u128::MAX].map(|bits| fold(next(bits)))
}

macro_rules! words {
    ($($word:ty, $atomic:ty;)+) => {
        $(
            impl Word for $word {
                #[inline]
                fn bits(self) -> u128 {
                    u128::from(self)
                }
                #[inline]
                fn from_bits(bits: u128) -> Self {
                    bits as Self
                }
                #[inline]
                unsafe fn load(at: *mut Self) -> Self {
                    // SAFETY: the caller's promise. ORDERING: seq_cst, see [`crate::atomic`].
                    unsafe { <$atomic>::from_ptr(at) }.load(Ordering::SeqCst)
                }
                #[inline]
                unsafe fn store(at: *mut Self, value: Self) {
                    // SAFETY: the caller's promise. ORDERING: seq_cst, see [`crate::atomic`].
                    unsafe { <$atomic>::from_ptr(at) }.store(value, Ordering::SeqCst);
                }
                #[inline]
                unsafe fn store_locked(at: *mut Self, value: Self) {
                    // SAFETY: the caller's promise. ORDERING: release, see [`crate::atomic`].
                    unsafe { <$atomic>::from_ptr(at) }.store(value, Ordering::Release);
                }
                #[inline]
                unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self {
                    // SAFETY: the caller's promise.
                    let word = unsafe { <$atomic>::from_ptr(at) };
                    // ORDERING: seq_cst, see [`crate::atomic`].
                    match word.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                        Ok(had) | Err(had) => had,
                    }
                }
            }
        )+
    };
}

words! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

/// There is no atomic type of 128 bits in the language, but the processor has one instruction.
impl Word for u128 {
    fn bits(self) -> u128 {
        self
    }

    fn from_bits(bits: u128) -> Self {
        bits
    }

    unsafe fn load(at: *mut Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { wide::load(at) }
    }

    unsafe fn store(at: *mut Self, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { wide::store(at, value) }
    }

    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { wide::compare_exchange(at, old, new) }
    }
}
