//! What `rsan.h` calls.

use crate::atomic::blocking;
use crate::{benign, entries};
use std::ffi::c_int;

unsafe extern "C" fn wait(at: usize, bytes: usize, value: u64, order: c_int) {
    // SAFETY: the program's own object, of a type of this size.
    unsafe {
        match bytes {
            1 => blocking::wait(at as *mut u8, value as u8, order),
            2 => blocking::wait(at as *mut u16, value as u16, order),
            4 => blocking::wait(at as *mut u32, value as u32, order),
            8 => blocking::wait(at as *mut u64, value, order),
            _ => refuse("rsan_wait"),
        }
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
    crate::report::die(&[what, " takes objects of 1, 2, 4 or 8 bytes"])
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
    __rsan_bcas => compare_exchange;
    __rsan_benign_begin => benign_begin;
    __rsan_benign_end => benign_end;
    __rsan_benign_address => benign_address;
}
