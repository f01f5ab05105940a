//! Strings: what these functions read and write are accesses of the program.
//!
//! More of them are in [`texts`](super::texts); functions that format are in [`stdio`](super::stdio).

use super::copies::{note, watched};
use crate::entry::interceptors;
use crate::race::Kind;
use crate::{real, tls};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;

type Text = *const c_char;
/// Of the function.
type Name = &'static CStr;

/// How many bytes a comparison looked at: up to the first difference or the common end.
///
/// # Safety
/// Both are readable that far.
unsafe fn compared(one: Text, two: Text, limit: usize, stops_at_end: bool) -> usize {
    for index in 0..limit {
        // SAFETY: the caller's promise. Volatile, so that this does not become a call of what is intercepted here.
        let (a, b) = unsafe {
            (
                one.add(index).read_volatile(),
                two.add(index).read_volatile(),
            )
        };
        if a != b || (stops_at_end && a == 0) {
            return index + 1;
        }
    }
    limit
}

/// Bytes of a text with its end.
unsafe fn whole(text: Text) -> usize {
    // SAFETY: the program's text.
    unsafe { real::strlen(text) + 1 }
}

/// Bytes of a text with its end, if it ends before the limit.
unsafe fn part(text: Text, limit: usize) -> usize {
    // SAFETY: the program's text.
    (unsafe { real::strnlen(text, limit) } + 1).min(limit)
}

fn read(name: Name, text: *const c_void, bytes: usize) {
    note(name, &[(text as usize, bytes, Kind::READ)]);
}

fn copied(name: Name, to: *mut c_char, written: usize, from: Text, bytes: usize) {
    note(
        name,
        &[
            (from as usize, bytes, Kind::READ),
            (to as usize, written, Kind::WRITE),
        ],
    );
}

fn read_both<T>(name: Name, one: *const T, two: *const T, bytes: usize) {
    let read = |text: *const T| (text as usize, bytes, Kind::READ);
    note(name, &[read(one), read(two)]);
}

/// From the text's start to what was found in it, or the whole text.
///
/// # Safety
/// A text of the program, and null or a place in it.
unsafe fn searched(name: Name, text: Text, found: *mut c_char) {
    if watched() {
        // SAFETY: the caller's promise.
        let bytes = if found.is_null() {
            // SAFETY: the caller's promise.
            unsafe { whole(text) }
        } else {
            found as usize - text as usize + 1
        };
        read(name, text.cast(), bytes);
    }
}

unsafe extern "C" fn length(text: Text) -> usize {
    // SAFETY: the program's call.
    let bytes = unsafe { real::strlen(text) };
    read(c"strlen", text.cast(), bytes + 1);
    bytes
}

unsafe extern "C" fn length_up_to(text: Text, limit: usize) -> usize {
    // SAFETY: the program's call.
    let bytes = unsafe { real::strnlen(text, limit) };
    read(c"strnlen", text.cast(), (bytes + 1).min(limit));
    bytes
}

unsafe extern "C" fn compare(one: Text, two: Text) -> c_int {
    if watched() {
        // SAFETY: the program's texts.
        let bytes = unsafe { compared(one, two, usize::MAX, true) };
        read_both(c"strcmp", one, two, bytes);
    }
    // SAFETY: the program's call.
    unsafe { real::strcmp(one, two) }
}

unsafe extern "C" fn compare_up_to(one: Text, two: Text, limit: usize) -> c_int {
    if watched() {
        // SAFETY: the program's texts.
        let bytes = unsafe { compared(one, two, limit, true) };
        read_both(c"strncmp", one, two, bytes);
    }
    // SAFETY: the program's call.
    unsafe { real::strncmp(one, two, limit) }
}

unsafe extern "C" fn compare_memory(one: *const c_void, two: *const c_void, bytes: usize) -> c_int {
    if watched() {
        // SAFETY: the program's memory.
        let seen = unsafe { compared(one.cast(), two.cast(), bytes, false) };
        read_both(c"memcmp", one, two, seen);
    }
    // SAFETY: the program's call.
    unsafe { real::memcmp(one, two, bytes) }
}

unsafe extern "C" fn find_byte(memory: *const c_void, byte: c_int, bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    let found = unsafe { real::memchr(memory, byte, bytes) };
    let seen = if found.is_null() {
        bytes
    } else {
        found as usize - memory as usize + 1
    };
    read(c"memchr", memory, seen);
    found
}

unsafe extern "C" fn find_last_byte(
    memory: *const c_void,
    byte: c_int,
    bytes: usize,
) -> *mut c_void {
    read(c"memrchr", memory, bytes);
    // SAFETY: the program's call.
    unsafe { real::memrchr(memory, byte, bytes) }
}

unsafe extern "C" fn find(text: Text, byte: c_int) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let found = real::strchr(text, byte);
        searched(c"strchr", text, found);
        found
    }
}

unsafe extern "C" fn find_or_end(text: Text, byte: c_int) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let found = real::strchrnul(text, byte);
        searched(c"strchrnul", text, found);
        found
    }
}

unsafe extern "C" fn find_last(text: Text, byte: c_int) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        searched(c"strrchr", text, std::ptr::null_mut());
        real::strrchr(text, byte)
    }
}

unsafe extern "C" fn find_text(text: Text, wanted: Text) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        searched(c"strstr", text, std::ptr::null_mut());
        searched(c"strstr", wanted, std::ptr::null_mut());
        real::strstr(text, wanted)
    }
}

unsafe extern "C" fn copy(to: *mut c_char, from: Text) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let bytes = whole(from);
        copied(c"strcpy", to, bytes, from, bytes);
        real::strcpy(to, from)
    }
}

unsafe extern "C" fn copy_to_end(to: *mut c_char, from: Text) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let bytes = whole(from);
        copied(c"stpcpy", to, bytes, from, bytes);
        real::stpcpy(to, from)
    }
}

unsafe extern "C" fn copy_up_to(to: *mut c_char, from: Text, limit: usize) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        copied(c"strncpy", to, limit, from, part(from, limit));
        real::strncpy(to, from, limit)
    }
}

unsafe extern "C" fn append(to: *mut c_char, from: Text) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let (before, bytes) = (whole(to), whole(from));
        read(c"strcat", to.cast(), before);
        copied(c"strcat", to.add(before - 1), bytes, from, bytes);
        real::strcat(to, from)
    }
}

unsafe extern "C" fn append_up_to(to: *mut c_char, from: Text, limit: usize) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        let before = whole(to);
        read(c"strncat", to.cast(), before);
        copied(
            c"strncat",
            to.add(before - 1),
            real::strnlen(from, limit) + 1,
            from,
            part(from, limit),
        );
        real::strncat(to, from, limit)
    }
}

/// A text that is written to a block of its own. The C library allocates meanwhile.
unsafe fn duplicated(name: &'static CStr, duplicate: impl FnOnce() -> *mut c_char) -> *mut c_char {
    let caller = tls::caller();
    let text = duplicate();
    tls::set_caller(caller);
    if !text.is_null() && watched() {
        // SAFETY: a text of the C library.
        let bytes = unsafe { whole(text) };
        note(name, &[(text as usize, bytes, Kind::WRITE)]);
    }
    text
}

unsafe extern "C" fn duplicate(text: Text) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        searched(c"strdup", text, std::ptr::null_mut());
        duplicated(c"strdup", || real::strdup(text))
    }
}

unsafe extern "C" fn duplicate_up_to(text: Text, limit: usize) -> *mut c_char {
    // SAFETY: the program's call.
    unsafe {
        read(c"strndup", text.cast(), part(text, limit));
        duplicated(c"strndup", || real::strndup(text, limit))
    }
}

interceptors! {
    strlen => length;
    strnlen => length_up_to;
    strcmp => compare;
    strncmp => compare_up_to;
    memcmp => compare_memory;
    bcmp => compare_memory;
    memchr => find_byte;
    memrchr => find_last_byte;
    strchr => find;
    strchrnul => find_or_end;
    strrchr => find_last;
    strstr => find_text;
    strcpy => copy;
    stpcpy => copy_to_end;
    strncpy => copy_up_to;
    strcat => append;
    strncat => append_up_to;
    strdup => duplicate;
    __strdup => duplicate;
    strndup => duplicate_up_to;
}
