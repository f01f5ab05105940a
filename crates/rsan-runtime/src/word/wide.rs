//! Atomic accesses of 16 bytes, by `cmpxchg16b`. A word that may only be read is read in one piece where the processor
//! can do that.

use std::arch::asm;
use std::arch::is_x86_feature_detected;

/// Reads a word.
///
/// # Safety
/// `at` is valid for reading, and aligned.
pub(super) unsafe fn load(at: *mut u128) -> u128 {
    if !is_x86_feature_detected!("avx") {
        // SAFETY: the caller's promise. Exchanging nothing for nothing reads.
        return unsafe { compare_exchange(at, 0, 0) };
    }
    let (low, high): (u64, u64);
    // SAFETY: the caller's promise. Processors with AVX read an aligned word of 16 bytes in one piece.
    unsafe {
        asm!(
            "movdqa {wide}, xmmword ptr [{at}]",
            "movq {low}, {wide}",
            "psrldq {wide}, 8",
            "movq {high}, {wide}",
            wide = out(xmm_reg) _,
            at = in(reg) at,
            low = out(reg) low,
            high = out(reg) high,
            options(nostack, preserves_flags),
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

/// Writes a word.
///
/// # Safety
/// `at` is valid and aligned.
pub(super) unsafe fn store(at: *mut u128, value: u128) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut old = load(at);
        loop {
            let had = compare_exchange(at, old, value);
            if had == old {
                return;
            }
            old = had;
        }
    }
}

/// Writes a word if it has the old value; returns what it had.
///
/// # Safety
/// `at` is valid and aligned.
pub(super) unsafe fn compare_exchange(at: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: the caller's promise. `rbx` is not for the compiler to give, so it is swapped in and out.
    unsafe {
        asm!(
            "xchg rbx, rsi",
            "lock cmpxchg16b xmmword ptr [rdi]",
            "mov rbx, rsi",
            inout("rsi") new as u64 => _,
            in("rdi") at,
            in("rcx") (new >> 64) as u64,
            inout("rax") low,
            inout("rdx") high,
            options(nostack),
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_written_and_exchanged() {
        let mut word = 5u128 << 64 | 7;
        let at = &raw mut word;
        // SAFETY: a local word.
        unsafe {
            assert_eq!(load(at), 5 << 64 | 7);
            assert_eq!(compare_exchange(at, 7, 1), 5 << 64 | 7);
            assert_eq!(compare_exchange(at, 5 << 64 | 7, 1 << 100 | 3), 5 << 64 | 7);
            assert_eq!(load(at), 1 << 100 | 3);
            store(at, u128::MAX - 1);
            assert_eq!(compare_exchange(at, 0, 0), u128::MAX - 1);
        }
    }
}
