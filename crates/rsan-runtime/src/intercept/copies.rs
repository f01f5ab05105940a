//! Functions that copy and fill memory, which are plain accesses.
//!
//! These functions are also called by this library itself, by libc and before the runtime starts; then they only
//! do their work.

use crate::callers;
use crate::entry::interceptors;
use crate::race::{self, Kind};
use crate::real::Real;
use crate::stack::Function;
use crate::thread::current;
use crate::{probe, tls};
use libc::{c_int, c_void};
use std::arch::asm;
use std::ffi::CStr;

static MEMCPY: Real = Real::new(c"memcpy");
static MEMMOVE: Real = Real::new(c"memmove");
static MEMSET: Real = Real::new(c"memset");

/// Looks up what must not be looked up later: the look-up may call these functions itself.
pub(crate) fn start() {
    for function in [&MEMCPY, &MEMMOVE, &MEMSET] {
        function.address();
    }
}

type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;
type Fill = unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void;

/// Whether what the calling code does to memory is to be looked at.
#[inline]
pub(super) fn watched() -> bool {
    match current() {
        Some(context) => !context.is_busy() && callers::is_instrumented(tls::caller()),
        None => probe::is_probing(),
    }
}

/// Accesses that the program makes by calling the function of this name: address, bytes, kind.
pub(super) fn note(name: &'static CStr, accesses: &[(usize, usize, Kind)]) {
    if watched() {
        let caller = tls::caller();
        for (address, bytes, kind) in accesses {
            tls::set_caller(caller);
            race::range_by(Function::named(name), *address, *bytes, *kind);
        }
        // The runtime may have copied memory of its own.
        tls::set_caller(caller);
    }
}

fn note_copy(name: &'static CStr, to: *mut c_void, from: *const c_void, bytes: usize) {
    note(
        name,
        &[
            (from as usize, bytes, Kind::READ),
            (to as usize, bytes, Kind::WRITE),
        ],
    );
}

/// `memcpy`.
pub(crate) unsafe extern "C" fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    note_copy(c"memcpy", to, from, bytes);
    match MEMCPY.known() {
        // SAFETY: the function of that type; the program's call.
        Some(address) => unsafe { std::mem::transmute::<usize, Copy>(address)(to, from, bytes) },
        // SAFETY: the program's call.
        None => unsafe { copy_bytes(to, from, bytes) },
    }
}

/// `memmove`.
pub(crate) unsafe extern "C" fn copy_overlapping(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    note_copy(c"memmove", to, from, bytes);
    match MEMMOVE.known() {
        // SAFETY: the function of that type; the program's call.
        Some(address) => unsafe { std::mem::transmute::<usize, Copy>(address)(to, from, bytes) },
        // SAFETY: the program's call.
        None => unsafe { copy_bytes(to, from, bytes) },
    }
}

/// `memset`.
pub(crate) unsafe extern "C" fn fill(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
    note(c"memset", &[(to as usize, bytes, Kind::WRITE)]);
    match MEMSET.known() {
        // SAFETY: the function of that type; the program's call.
        Some(address) => unsafe { std::mem::transmute::<usize, Fill>(address)(to, byte, bytes) },
        // SAFETY: the program's call.
        None => unsafe { fill_bytes(to, byte, bytes) },
    }
}

unsafe extern "C" fn copy_to_end(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe { copy(to, from, bytes).byte_add(bytes) }
}

unsafe extern "C" fn clear(to: *mut c_void, bytes: usize) {
    // SAFETY: the program's call.
    unsafe { fill(to, 0, bytes) };
}

unsafe extern "C" {
    fn __chk_fail() -> !;
}

/// What the compiler puts in the place of a function when it knows how much room there is.
fn check_room(bytes: usize, room: usize) {
    if bytes > room {
        // SAFETY: ends the process, as the C library does.
        unsafe { __chk_fail() }
    }
}

unsafe extern "C" fn checked_copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    room: usize,
) -> *mut c_void {
    check_room(bytes, room);
    // SAFETY: the program's call.
    unsafe { copy(to, from, bytes) }
}

unsafe extern "C" fn checked_copy_overlapping(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    room: usize,
) -> *mut c_void {
    check_room(bytes, room);
    // SAFETY: the program's call.
    unsafe { copy_overlapping(to, from, bytes) }
}

unsafe extern "C" fn checked_fill(
    to: *mut c_void,
    byte: c_int,
    bytes: usize,
    room: usize,
) -> *mut c_void {
    check_room(bytes, room);
    // SAFETY: the program's call.
    unsafe { fill(to, byte, bytes) }
}

/// Copies in the direction that is safe; in assembly, for a loop would be compiled into a call of `memcpy`.
unsafe fn copy_bytes(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
    if (to as usize).wrapping_sub(from as usize) >= bytes {
        // SAFETY: the caller's memory.
        unsafe {
            asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _, inout("rcx") bytes => _,
                options(nostack, preserves_flags));
        }
    } else {
        // SAFETY: the caller's memory, from its last byte on; the direction flag is restored.
        unsafe {
            asm!("std", "rep movsb", "cld",
                inout("rdi") to.cast::<u8>().wrapping_add(bytes).wrapping_sub(1) => _,
                inout("rsi") from.cast::<u8>().wrapping_add(bytes).wrapping_sub(1) => _,
                inout("rcx") bytes => _,
                options(nostack));
        }
    }
    to
}

unsafe fn fill_bytes(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
    // SAFETY: the caller's memory.
    unsafe {
        asm!("rep stosb", inout("rdi") to => _, in("al") byte as u8, inout("rcx") bytes => _,
            options(nostack, preserves_flags));
    }
    to
}

interceptors! {
    mempcpy => copy_to_end;
    bzero => clear;
    __memcpy_chk => checked_copy;
    __memmove_chk => checked_copy_overlapping;
    __memset_chk => checked_fill;
    memcpy => copy;
    memmove => copy_overlapping;
    memset => fill;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_in_both_directions() {
        for (to, from) in [(0usize, 3usize), (3, 0), (0, 50), (5, 5)] {
            let mut bytes: Vec<u8> = (0..100).collect();
            let mut expected = bytes.clone();
            expected.copy_within(from..from + 40, to);
            let base = bytes.as_mut_ptr();
            // SAFETY: within the vector.
            unsafe { copy_bytes(base.add(to).cast(), base.add(from).cast(), 40) };
            assert_eq!(bytes, expected);
        }
        let mut bytes = [1u8; 10];
        // SAFETY: within the array.
        unsafe { fill_bytes(bytes[2..].as_mut_ptr().cast(), 0x107, 5) };
        assert_eq!(bytes, [1, 1, 7, 7, 7, 7, 7, 1, 1, 1]);
    }
}
