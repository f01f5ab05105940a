//! What compilers call for atomic objects that they do not know an instruction for: libatomic's functions.
//!
//! Objects of the processor's sizes are atomic words like others. Larger ones are copied under a lock, as libatomic
//! does it; such an object is a lock to the monitor, taken and given back by orders. Programs need not be linked
//! with libatomic.

use crate::atomic::{self, CasOrders, Word, read_order, write_order};
use crate::entry::entries;
use crate::lock::RawLock;
use crate::sync;
use rsan_model::CasStrength;
use std::ffi::{c_int, c_void};

const LOCKS: usize = 64;
static BY_ADDRESS: [RawLock; LOCKS] = [const { RawLock::new() }; LOCKS];

/// The locks of this module, for fork.
pub(crate) fn locks() -> &'static [RawLock] {
    &BY_ADDRESS
}

/// Runs `act` under the lock of an address, between taking and giving what the orders say.
fn locked<R>(address: usize, order: c_int, act: impl FnOnce() -> R) -> R {
    let lock = &BY_ADDRESS[(address >> 4) % LOCKS];
    if write_order(order).releases() {
        sync::release(address);
    }
    lock.lock();
    let result = act();
    lock.unlock();
    if read_order(order).acquires() {
        sync::acquire(address);
    }
    result
}

/// Memory, byte by byte: a copy that is not intercepted.
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller's memory.
        unsafe {
            to.add(index)
                .write_volatile(from.add(index).read_volatile())
        };
    }
}

unsafe fn equal(one: *const u8, two: *const u8, bytes: usize) -> bool {
    // SAFETY: the caller's memory.
    (0..bytes).all(|i| unsafe { one.add(i).read_volatile() == two.add(i).read_volatile() })
}

/// Runs an expression with `W` as the word of that many aligned bytes, or another one if there is no such word.
macro_rules! by_size {
    ($bytes:expr, $at:expr, $w:ident => $word:expr, $other:expr) => {
        match $bytes {
            bytes if !(($at as usize).is_multiple_of(bytes.max(1))) => $other,
            1 => {
                type $w = u8;
                $word
            }
            2 => {
                type $w = u16;
                $word
            }
            4 => {
                type $w = u32;
                $word
            }
            8 => {
                type $w = u64;
                $word
            }
            16 => {
                type $w = u128;
                $word
            }
            _ => $other,
        }
    };
}

unsafe extern "C" fn load(bytes: usize, at: *mut c_void, result: *mut c_void, order: c_int) {
    // SAFETY: the program's own load.
    unsafe {
        by_size!(bytes, at, W => result.cast::<W>().write_unaligned(atomic::load(at.cast::<W>(), order)), {
            locked(at as usize, order, || copy(result.cast(), at.cast(), bytes));
        });
    }
}

unsafe extern "C" fn store(bytes: usize, at: *mut c_void, value: *const c_void, order: c_int) {
    // SAFETY: the program's own store.
    unsafe {
        by_size!(bytes, at, W => atomic::store(at.cast::<W>(), value.cast::<W>().read_unaligned(), order), {
            locked(at as usize, order, || copy(at.cast(), value.cast(), bytes));
        });
    }
}

unsafe extern "C" fn exchange(
    bytes: usize,
    at: *mut c_void,
    value: *const c_void,
    result: *mut c_void,
    order: c_int,
) {
    // SAFETY: the program's own operation.
    unsafe {
        by_size!(bytes, at, W => {
            let value = value.cast::<W>().read_unaligned();
            let old = atomic::rmw(at.cast::<W>(), order, crate::location::Operation::Exchange, |_| value);
            result.cast::<W>().write_unaligned(old);
        }, {
            locked(at as usize, order, || {
                copy(result.cast(), at.cast(), bytes);
                copy(at.cast(), value.cast(), bytes);
            });
        });
    }
}

unsafe fn compare_exchange_word<W: Word>(
    at: *mut W,
    expected: *mut W,
    new: W,
    orders: CasOrders,
) -> bool {
    // SAFETY: the program's own operation.
    unsafe {
        let wanted = expected.read_unaligned();
        let (old, done) = atomic::compare_exchange(at, wanted, new, orders, CasStrength::Strong);
        if !done {
            expected.write_unaligned(old);
        }
        done
    }
}

unsafe extern "C" fn compare_exchange(
    bytes: usize,
    at: *mut c_void,
    expected: *mut c_void,
    new: *const c_void,
    success: c_int,
    failure: c_int,
) -> bool {
    let orders = CasOrders { success, failure };
    // SAFETY: the program's own operation.
    unsafe {
        by_size!(bytes, at, W => {
            let new = new.cast::<W>().read_unaligned();
            compare_exchange_word(at.cast::<W>(), expected.cast(), new, orders)
        }, {
            locked(at as usize, success, || {
                let same = equal(at.cast(), expected.cast(), bytes);
                if same {
                    copy(at.cast(), new.cast(), bytes);
                } else {
                    copy(expected.cast(), at.cast(), bytes);
                }
                same
            })
        })
    }
}

unsafe extern "C" fn compare_exchange_16(
    at: *mut u128,
    expected: *mut u128,
    new: u128,
    success: c_int,
    failure: c_int,
) -> bool {
    // SAFETY: the program's own operation.
    unsafe { compare_exchange_word(at, expected, new, CasOrders { success, failure }) }
}

/// Such objects are accessed without a lock, if they are aligned.
extern "C" fn is_lock_free(bytes: usize, at: usize) -> bool {
    [1, 2, 4, 8, 16].contains(&bytes) && at.is_multiple_of(bytes)
}

entries! {
    __atomic_load => load;
    __atomic_store => store;
    __atomic_exchange => exchange;
    __atomic_compare_exchange => compare_exchange;
    __atomic_is_lock_free => is_lock_free;
    __atomic_load_16 => super::atomics::load::<u128>;
    __atomic_store_16 => super::atomics::store::<u128>;
    __atomic_exchange_16 => super::atomics::exchange::<u128>;
    __atomic_compare_exchange_16 => compare_exchange_16;
    __atomic_fetch_add_16 => super::atomics::bits128::fetch_add;
    __atomic_fetch_sub_16 => super::atomics::bits128::fetch_sub;
    __atomic_fetch_and_16 => super::atomics::bits128::fetch_and;
    __atomic_fetch_or_16 => super::atomics::bits128::fetch_or;
    __atomic_fetch_xor_16 => super::atomics::bits128::fetch_xor;
    __atomic_fetch_nand_16 => super::atomics::bits128::fetch_nand;
}
