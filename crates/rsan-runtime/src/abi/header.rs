//! What `rsan.h` calls.

use crate::atomic::blocking;
use crate::benign;
use crate::entry::entries;
use std::ffi::c_int;

unsafe extern "C" fn wait(at: usize, bytes: usize, value: u64, order: c_int) {
    // SAFETY: the caller's promise; one value.
    unsafe { wait_any(at, bytes, &raw const value, 1, order) };
}

unsafe extern "C" fn wait_any(
    at: usize,
    bytes: usize,
    values: *const u64,
    count: usize,
    order: c_int,
) -> u64 {
    // SAFETY: the header passes an array of so many values.
    let values = unsafe { std::slice::from_raw_parts(values, count) };
    macro_rules! of {
        ($word:ty) => {{
            let values: Vec<_> = values.iter().map(|value| *value as $word).collect();
            // SAFETY: the program's own object, of a type of this size.
            u64::from(unsafe { blocking::wait(at as *mut $word, &values, order) })
        }};
    }
    match bytes {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => refuse("rsan_wait"),
    }
}

unsafe extern "C" fn compare_exchange(
    at: usize,
    bytes: usize,
    expected: u64,
    new: u64,
    order: c_int,
) {
    macro_rules! of {
        ($word:ty) => {
            // SAFETY: the program's own object, of a type of this size.
            unsafe {
                let (expected, new) = (expected as $word, new as $word);
                blocking::compare_exchange(at as *mut $word, expected, new, order)
            }
        };
    }
    match bytes {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => refuse("rsan_bcas"),
    }
}

fn refuse(what: &str) -> ! {
    crate::fatal::die(&[what, " takes objects of 1, 2, 4 or 8 bytes"])
}

extern "C" fn benign_begin() {
    benign::begin();
}

extern "C" fn benign_end() {
    benign::end();
}

extern "C" fn benign_address(address: usize, bytes: usize) {
    benign::add(address, bytes);
}

entries! {
    __rsan_wait => wait;
    __rsan_wait_any => wait_any;
    __rsan_bcas => compare_exchange;
    __rsan_benign_begin => benign_begin;
    __rsan_benign_end => benign_end;
    __rsan_benign_address => benign_address;
}
