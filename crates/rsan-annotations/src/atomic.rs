//! The atomic types of `core`, as one trait.

use core::sync::atomic::Ordering;

/// An atomic type of `core`: an integer, [`AtomicBool`](core::sync::atomic::AtomicBool) or
/// [`AtomicPtr`](core::sync::atomic::AtomicPtr). No other type can implement it.
pub trait Atomic: operations::Operations<<Self as Atomic>::Value> {
    /// What it holds.
    type Value: Copy;
}

pub(crate) mod operations {
    use super::Ordering;

    /// What waits need of an atomic type. The trait cannot be named outside, so nobody else implements it.
    pub trait Operations<V> {
        /// Whether two values are the same.
        fn same(one: V, other: V) -> bool;

        /// One load.
        fn read(&self, order: Ordering) -> V;

        /// Replaces the expected value, if that is there. It may fail although it is.
        fn replace(&self, expected: V, desired: V, order: Ordering) -> bool;

        /// The value as the sanitizer's library takes it.
        #[cfg(rsan)]
        fn bits(value: V) -> u64;
    }
}

/// Implements the trait; `$bits` makes an integer of a value.
macro_rules! atomic {
    ($width:literal $name:ident$(<$of:ident>)?: $value:ty, $bits:expr) => {
        #[cfg(target_has_atomic = $width)]
        impl$(<$of>)? Atomic for core::sync::atomic::$name$(<$of>)? {
            type Value = $value;
        }

        #[cfg(target_has_atomic = $width)]
        impl$(<$of>)? operations::Operations<$value> for core::sync::atomic::$name$(<$of>)? {
            #[inline]
            fn same(one: $value, other: $value) -> bool {
                one == other
            }

            #[inline]
            #[track_caller]
            fn read(&self, order: Ordering) -> $value {
                self.load(order)
            }

            #[inline]
            fn replace(&self, expected: $value, desired: $value, order: Ordering) -> bool {
                self.compare_exchange_weak(expected, desired, order, Ordering::Relaxed)
                    .is_ok()
            }

            #[cfg(rsan)]
            #[inline]
            fn bits(value: $value) -> u64 {
                $bits(value)
            }
        }
    };
}

atomic!("8" AtomicBool: bool, u64::from);
atomic!("8" AtomicI8: i8, |value: i8| u64::from(value.cast_unsigned()));
atomic!("8" AtomicU8: u8, u64::from);
atomic!("16" AtomicI16: i16, |value: i16| u64::from(value.cast_unsigned()));
atomic!("16" AtomicU16: u16, u64::from);
atomic!("32" AtomicI32: i32, |value: i32| u64::from(value.cast_unsigned()));
atomic!("32" AtomicU32: u32, u64::from);
atomic!("64" AtomicI64: i64, i64::cast_unsigned);
atomic!("64" AtomicU64: u64, |value| value);
atomic!("ptr" AtomicIsize: isize, |value: isize| value.cast_unsigned() as u64);
atomic!("ptr" AtomicUsize: usize, |value| value as u64);
// The library writes what it is given as an integer, so others may make a pointer of that again.
atomic!("ptr" AtomicPtr<T>: *mut T, |value: *mut T| value.expose_provenance() as u64);
