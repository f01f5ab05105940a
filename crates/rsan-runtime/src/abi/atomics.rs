//! Atomic operations: one table of sizes by operations.

use crate::atomic::{self, CasOrders, Word};
use crate::entry::atomic_entries;
use crate::location::Operation;
use crate::sched::{self, scopes};
use crate::{ignoring, sync};
use rsan_model::CasStrength;
use std::ffi::c_int;

pub(super) unsafe extern "C" fn load<W: Word>(at: *mut W, order: c_int) -> W {
    if sched::active() {
        // SAFETY: the program's own load.
        return unsafe {
            match order == ACQUIRE && ends_scope(at as usize, size_of::<W>()) {
                true => W::load(at),
                false => atomic::scheduled::load(at, order),
            }
        };
    }
    // SAFETY: the program's own load.
    unsafe { atomic::load(at, ignoring::order(order)) }
}

/// `memory_order_acquire`.
const ACQUIRE: c_int = 2;

/// Whether the load is that of a scope's counter. Then its threads have come to their ends.
#[cold]
fn ends_scope(address: usize, bytes: usize) -> bool {
    let scope = scopes::leave(address, bytes);
    if let Some(scope) = scope {
        sync::acquire(scope);
    }
    scope.is_some()
}

pub(super) unsafe extern "C" fn store<W: Word>(at: *mut W, value: W, order: c_int) {
    if sched::active() {
        // SAFETY: the program's own store.
        return unsafe { atomic::scheduled::store(at, value, order) };
    }
    // SAFETY: the program's own store.
    unsafe { atomic::store(at, value, ignoring::order(order)) }
}

/// A read-modify-write.
///
/// # Safety
/// `at` is valid and aligned.
#[inline(always)]
unsafe fn rmw<W: Word>(at: *mut W, order: c_int, name: Operation, next: impl Fn(W) -> W) -> W {
    if sched::active() {
        // SAFETY: the caller's promise.
        return unsafe { atomic::scheduled::rmw(at, order, name, next) };
    }
    // SAFETY: the caller's promise.
    unsafe { atomic::rmw(at, ignoring::order(order), name, next) }
}

pub(super) unsafe extern "C" fn exchange<W: Word>(at: *mut W, value: W, order: c_int) -> W {
    // SAFETY: the program's own operation.
    unsafe { rmw(at, order, Operation::Exchange, |_| value) }
}

unsafe extern "C" fn compare_exchange_val<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    success: c_int,
    failure: c_int,
) -> W {
    let orders = CasOrders { success, failure };
    // SAFETY: the program's own operation.
    unsafe { compare_and_swap(at, expected, new, orders, CasStrength::Strong).0 }
}

unsafe extern "C" fn compare_exchange_strong<W: Word>(
    at: *mut W,
    expected: *mut W,
    new: W,
    success: c_int,
    failure: c_int,
) -> c_int {
    let orders = CasOrders { success, failure };
    // SAFETY: the program's own operation.
    unsafe { compare_exchange(at, expected, new, orders, CasStrength::Strong) }
}

unsafe extern "C" fn compare_exchange_weak<W: Word>(
    at: *mut W,
    expected: *mut W,
    new: W,
    success: c_int,
    failure: c_int,
) -> c_int {
    let orders = CasOrders { success, failure };
    // SAFETY: the program's own operation.
    unsafe { compare_exchange(at, expected, new, orders, CasStrength::Weak) }
}

/// What a compare-exchange of LLVM is, in two registers.
#[repr(C)]
struct Exchanged {
    old: u64,
    succeeded: u64,
}

/// What `rsan-llvm` makes of a weak compare-exchange. Whoever calls it need not extend operands that are smaller.
///
/// It is weak where weak behaviour is executed, and where all executions are explored. Otherwise it is strong, as those of LLVM's own instrumentation are.
unsafe extern "C" fn compare_exchange_pair<W: Word>(
    at: *mut W,
    expected: u64,
    new: u64,
    success: c_int,
    failure: c_int,
) -> Exchanged {
    let orders = CasOrders { success, failure };
    let [expected, new] = [expected, new].map(|operand| W::from_bits(operand.into()));
    let strength = match sched::weak::is_active() || sched::atomics::is_steady() {
        true => CasStrength::Weak,
        false => CasStrength::Strong,
    };
    // SAFETY: the program's own operation.
    let (old, succeeded) = unsafe { compare_and_swap(at, expected, new, orders, strength) };
    Exchanged {
        old: old.bits() as u64,
        succeeded: succeeded.into(),
    }
}

/// A compare-and-swap: the old value, and whether it succeeded.
///
/// # Safety
/// `at` is valid and aligned.
#[inline(always)]
unsafe fn compare_and_swap<W: Word>(
    at: *mut W,
    expected: W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> (W, bool) {
    if sched::active() {
        // SAFETY: the caller's promise.
        return unsafe { atomic::scheduled::compare_exchange(at, expected, new, orders, strength) };
    }
    let orders = CasOrders {
        success: ignoring::order(orders.success),
        failure: ignoring::order(orders.failure),
    };
    // SAFETY: the caller's promise.
    unsafe { atomic::compare_exchange(at, expected, new, orders, strength) }
}

/// As the C function does it: a failure leaves the value found in `expected`.
///
/// # Safety
/// Both pointers are valid and aligned.
unsafe fn compare_exchange<W: Word>(
    at: *mut W,
    expected: *mut W,
    new: W,
    orders: CasOrders,
    strength: CasStrength,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let wanted = expected.read();
        let (old, succeeded) = compare_and_swap(at, wanted, new, orders, strength);
        if !succeeded {
            expected.write(old);
        }
        c_int::from(succeeded)
    }
}

extern "C" fn thread_fence(order: c_int) {
    if sched::active() {
        return atomic::scheduled::thread_fence(order);
    }
    if ignoring::fences() {
        atomic::thread_fence(order);
    }
}

/// Orders a thread with its own signal handlers: nothing to the monitor.
extern "C" fn signal_fence(_: c_int) {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

macro_rules! sizes {
    ($($module:ident, $word:ty, $load:ident, $store:ident, $exchange:ident,
       $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident, $nand:ident,
       $strong:ident, $weak:ident, $val:ident;)+) => {
        $(
            pub(super) mod $module {
                use std::ffi::c_int;

                sizes!(@fetch $word, fetch_add, FetchAdd, |old, operand| old.wrapping_add(operand));
                sizes!(@fetch $word, fetch_sub, FetchSub, |old, operand| old.wrapping_sub(operand));
                sizes!(@fetch $word, fetch_and, FetchAnd, |old, operand| old & operand);
                sizes!(@fetch $word, fetch_or, FetchOr, |old, operand| old | operand);
                sizes!(@fetch $word, fetch_xor, FetchXor, |old, operand| old ^ operand);
                sizes!(@fetch $word, fetch_nand, FetchNand, |old, operand| !(old & operand));
            }
            atomic_entries! {
                $load => load::<$word>;
                $store => store::<$word>;
                $exchange => exchange::<$word>;
                $add => $module::fetch_add;
                $sub => $module::fetch_sub;
                $and => $module::fetch_and;
                $or => $module::fetch_or;
                $xor => $module::fetch_xor;
                $nand => $module::fetch_nand;
                $strong => compare_exchange_strong::<$word>;
                $weak => compare_exchange_weak::<$word>;
                $val => compare_exchange_val::<$word>;
            }
        )+
    };
    (@fetch $word:ty, $name:ident, $operation:ident, $next:expr) => {
        pub(in crate::abi) unsafe extern "C" fn $name(at: *mut $word, operand: $word, order: c_int) -> $word {
            let next: fn($word, $word) -> $word = $next;
            // SAFETY: the program's own operation.
            unsafe { super::rmw(at, order, crate::location::Operation::$operation, |old| next(old, operand)) }
        }
    };
}

sizes! {
    bits8, u8, __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange,
        __tsan_atomic8_fetch_add, __tsan_atomic8_fetch_sub, __tsan_atomic8_fetch_and,
        __tsan_atomic8_fetch_or, __tsan_atomic8_fetch_xor, __tsan_atomic8_fetch_nand,
        __tsan_atomic8_compare_exchange_strong, __tsan_atomic8_compare_exchange_weak,
        __tsan_atomic8_compare_exchange_val;
    bits16, u16, __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange,
        __tsan_atomic16_fetch_add, __tsan_atomic16_fetch_sub, __tsan_atomic16_fetch_and,
        __tsan_atomic16_fetch_or, __tsan_atomic16_fetch_xor, __tsan_atomic16_fetch_nand,
        __tsan_atomic16_compare_exchange_strong, __tsan_atomic16_compare_exchange_weak,
        __tsan_atomic16_compare_exchange_val;
    bits32, u32, __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange,
        __tsan_atomic32_fetch_add, __tsan_atomic32_fetch_sub, __tsan_atomic32_fetch_and,
        __tsan_atomic32_fetch_or, __tsan_atomic32_fetch_xor, __tsan_atomic32_fetch_nand,
        __tsan_atomic32_compare_exchange_strong, __tsan_atomic32_compare_exchange_weak,
        __tsan_atomic32_compare_exchange_val;
    bits64, u64, __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange,
        __tsan_atomic64_fetch_add, __tsan_atomic64_fetch_sub, __tsan_atomic64_fetch_and,
        __tsan_atomic64_fetch_or, __tsan_atomic64_fetch_xor, __tsan_atomic64_fetch_nand,
        __tsan_atomic64_compare_exchange_strong, __tsan_atomic64_compare_exchange_weak,
        __tsan_atomic64_compare_exchange_val;
    bits128, u128, __tsan_atomic128_load, __tsan_atomic128_store, __tsan_atomic128_exchange,
        __tsan_atomic128_fetch_add, __tsan_atomic128_fetch_sub, __tsan_atomic128_fetch_and,
        __tsan_atomic128_fetch_or, __tsan_atomic128_fetch_xor, __tsan_atomic128_fetch_nand,
        __tsan_atomic128_compare_exchange_strong, __tsan_atomic128_compare_exchange_weak,
        __tsan_atomic128_compare_exchange_val;
}

atomic_entries! {
    __rsan_atomic8_compare_exchange_weak => compare_exchange_pair::<u8>;
    __rsan_atomic16_compare_exchange_weak => compare_exchange_pair::<u16>;
    __rsan_atomic32_compare_exchange_weak => compare_exchange_pair::<u32>;
    __rsan_atomic64_compare_exchange_weak => compare_exchange_pair::<u64>;
}

crate::entry::entries! {
    __tsan_atomic_thread_fence => thread_fence;
    __tsan_atomic_signal_fence => signal_fence;
}
