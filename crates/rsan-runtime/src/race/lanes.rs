//! The four cells of a granule in two registers, and sets of them: one bit for each.

use super::cells::ALL;
use crate::shadow::{CELLS, Cells, Sites};
use std::arch::asm;
use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_movemask_ps,
    _mm_packs_epi32, _mm_set1_epi32, _mm_set1_epi64x, _mm_setzero_si128, _mm_shuffle_ps,
    _mm_slli_epi32, _mm_srli_epi32,
};

/// Two cells each.
#[derive(Clone, Copy)]
pub(super) struct Pairs(__m128i, __m128i);

/// Half of each of the four cells, or their sites.
#[derive(Clone, Copy)]
pub(super) struct Lanes(__m128i);

impl Pairs {
    /// The cells of a granule.
    #[inline(always)]
    pub(super) fn load(cells: &Cells) -> Self {
        let (first, second): (__m128i, __m128i);
        // SAFETY: reads four cells, of an aligned array. As for the hardware, the halves of an aligned load are
        // loads of words, with the order of x86-64, which is more than relaxed.
        unsafe {
            asm!(
                "movdqa {0}, xmmword ptr [{2}]",
                "movdqa {1}, xmmword ptr [{2} + 16]",
                out(xmm_reg) first,
                out(xmm_reg) second,
                in(reg) cells,
                options(nostack, preserves_flags, readonly),
            );
        }
        Self(first, second)
    }

    /// One after the other.
    #[inline(always)]
    pub(super) fn cells(self) -> [u64; CELLS] {
        // SAFETY: numbers, and as many bytes.
        unsafe { std::mem::transmute::<[__m128i; 2], [u64; CELLS]>([self.0, self.1]) }
    }

    /// Whether they are the same, all four.
    #[inline(always)]
    pub(super) fn are(self, other: Self) -> bool {
        // SAFETY: SSE2 is part of x86-64.
        let equal = Lanes(unsafe {
            let first = _mm_cmpeq_epi32(self.0, other.0);
            _mm_and_si128(first, _mm_cmpeq_epi32(self.1, other.1))
        });
        equal.signs() == ALL
    }

    /// Whether one of them has this value in these bits.
    #[inline(always)]
    pub(super) fn has(self, value: u64, bits: u64) -> bool {
        // SAFETY: SSE2 is part of x86-64.
        let equal = Lanes(unsafe {
            let (value, bits) = (_mm_set1_epi64x(value as i64), _mm_set1_epi64x(bits as i64));
            let first = _mm_cmpeq_epi32(_mm_and_si128(self.0, bits), value);
            let second = _mm_cmpeq_epi32(_mm_and_si128(self.1, bits), value);
            // Both halves of a cell, each as 16 bits, make one number.
            _mm_cmpeq_epi32(_mm_packs_epi32(first, second), _mm_set1_epi32(-1))
        });
        equal.signs() != 0
    }

    /// Their lower halves.
    #[inline(always)]
    pub(super) fn lower(self) -> Lanes {
        // SAFETY: SSE2 is part of x86-64.
        Lanes(unsafe {
            let (a, b) = (_mm_castsi128_ps(self.0), _mm_castsi128_ps(self.1));
            _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(a, b))
        })
    }

    /// Their upper halves.
    #[inline(always)]
    pub(super) fn upper(self) -> Lanes {
        // SAFETY: SSE2 is part of x86-64.
        Lanes(unsafe {
            let (a, b) = (_mm_castsi128_ps(self.0), _mm_castsi128_ps(self.1));
            _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(a, b))
        })
    }
}

impl Lanes {
    /// Where the accesses of a granule came from.
    #[inline(always)]
    pub(super) fn sites(sites: &Sites) -> Self {
        let lanes: __m128i;
        // SAFETY: reads four sites, of an aligned array; as for cells.
        unsafe {
            asm!(
                "movdqa {0}, xmmword ptr [{1}]",
                out(xmm_reg) lanes,
                in(reg) sites,
                options(nostack, preserves_flags, readonly),
            );
        }
        Self(lanes)
    }

    #[inline(always)]
    fn signs(self) -> u32 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_movemask_ps(_mm_castsi128_ps(self.0)) as u32 }
    }

    /// Only these bits of each.
    #[inline(always)]
    pub(super) fn only(self, bits: u32) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_and_si128(self.0, _mm_set1_epi32(bits as i32)) })
    }

    /// The upper 16 bits of each.
    #[inline(always)]
    pub(super) fn high(self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_srli_epi32::<16>(self.0) })
    }

    /// Those with this value.
    #[inline(always)]
    pub(super) fn equal(self, value: u32) -> u32 {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_cmpeq_epi32(self.0, _mm_set1_epi32(value as i32)) }).signs()
    }

    /// Those that are 0.
    #[inline(always)]
    pub(super) fn zero(self) -> u32 {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_cmpeq_epi32(self.0, _mm_setzero_si128()) }).signs()
    }

    /// Those that are odd.
    #[inline(always)]
    pub(super) fn odd(self) -> u32 {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_slli_epi32::<31>(self.0) }).signs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, AtomicU64};

    #[repr(align(16))]
    struct Aligned<T>(T);

    #[test]
    fn sets_say_what_each_cell_is() {
        let numbers = [0, 0x1234_5678_9abc_def1, 0xfff1_0000_0000_0100, 1 << 63];
        let cells = Aligned(numbers.map(AtomicU64::new));
        let pairs = Pairs::load(&cells.0);
        assert_eq!(pairs.cells(), numbers);
        let sites = Aligned([4, 3, 4, 5].map(AtomicU32::new));
        assert_eq!(Lanes::sites(&sites.0).equal(4), 0b0101);
        assert_eq!(pairs.lower().zero(), 0b1001);
        assert_eq!(pairs.lower().odd(), 0b0010);
        assert_eq!(pairs.lower().only(0xff00).equal(0x100), 0b0100);
        assert_eq!(pairs.upper().equal(0x1234_5678), 0b0010);
        assert_eq!(pairs.upper().high().equal(0xfff1), 0b0100);
        assert_eq!(pairs.upper().zero(), 0b0001);
        for number in numbers {
            assert!(pairs.has(number, !0));
            assert!(!pairs.has(number ^ 1 << 40, !0) && !pairs.has(number ^ 1 << 20, !0));
            assert!(pairs.has(number & 0xff00_0000_00ff, 0xff00_0000_00ff));
        }
        assert!(!pairs.has(0x1234_5678_0000_0000, !0));
    }
}
