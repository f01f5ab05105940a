//! More functions for texts and memory, beyond those of [`strings`](super::strings).

use super::call::{Call, Room, Text};
use super::table::functions;
use libc::{c_char, c_int, c_void};

type Memory = *mut c_void;
type Constant = *const c_void;

impl Call {
    /// The function has read from the text's start to what it has found, or the whole text.
    ///
    /// # Safety
    /// A text of the program, and null or a place in it.
    unsafe fn searched(&self, text: Text, found: Text) {
        if found.is_null() {
            // SAFETY: the caller's promise.
            unsafe { self.reads_text(text) };
        } else {
            self.reads(text, found as usize - text as usize + 1);
        }
    }

    /// The function compares texts, whatever the case of letters: up to the first difference, the common end or a limit.
    ///
    /// # Safety
    /// Texts of the program, or so many bytes.
    unsafe fn compares(&self, one: Text, two: Text, limit: usize) {
        // SAFETY: the caller's promise. Volatile, so that this does not become a call of what is intercepted.
        let byte = |text: Text, index: usize| unsafe { text.add(index).read_volatile() as u8 };
        let is_last = |index: &usize| {
            let (a, b) = (byte(one, *index), byte(two, *index));
            a == 0 || !a.eq_ignore_ascii_case(&b)
        };
        if self.is_seen() {
            let bytes = (0..limit).find(is_last).map_or(limit, |last| last + 1);
            self.reads(one, bytes);
            self.reads(two, bytes);
        }
    }

    /// The function copies bytes.
    fn copies(&self, to: Constant, from: Constant, bytes: usize) {
        self.reads(from, bytes);
        self.writes(to, bytes);
    }

    /// The function copies a text with its end.
    ///
    /// # Safety
    /// A text of the program.
    unsafe fn copies_text(&self, to: Room, from: Text) {
        if self.is_seen() {
            // SAFETY: the caller's promise.
            let bytes = unsafe { crate::real::strlen(from) } + 1;
            self.copies(to.cast(), from.cast(), bytes);
        }
    }

    /// The function appends a text, up to a limit, to another.
    ///
    /// # Safety
    /// Texts of the program.
    unsafe fn appends(&self, to: Room, from: Text, limit: usize) {
        if self.is_seen() {
            // SAFETY: the caller's promise.
            unsafe {
                let (before, bytes) = (crate::real::strlen(to), crate::real::strnlen(from, limit));
                self.reads(to, before + 1);
                self.reads_part(from, limit);
                self.writes(to.add(before), bytes + 1);
            }
        }
    }

    /// The function has copied bytes up to one that it has found, or all.
    fn copied_up_to(&self, to: Constant, from: Constant, found: Constant, bytes: usize) {
        let bytes = match found.is_null() {
            true => bytes,
            false => found as usize - to as usize,
        };
        self.copies(to, from, bytes);
    }

    /// The function has cut a part off a text; `next` is where the text goes on, if it does.
    ///
    /// # Safety
    /// The program's text, and places in it.
    unsafe fn cut(&self, text: Text, next: Text) {
        if next.is_null() {
            // SAFETY: the caller's promise.
            unsafe { self.reads_text(text) };
        } else if !text.is_null() {
            let end = next as usize - 1;
            self.reads(text, end.saturating_sub(text as usize));
            self.writes(end as *const c_char, 1);
        }
    }

    /// What a place of the program holds, if it is looked at.
    ///
    /// # Safety
    /// The program's place.
    unsafe fn held(&self, place: *const Room) -> Room {
        match self.is_seen() {
            // SAFETY: the caller's promise.
            true => unsafe { place.read() },
            false => std::ptr::null_mut(),
        }
    }
}

/// `strsep` and `strtok_r` change where a text goes on, so that it is looked at before and after.
mod cutting {
    use super::*;
    use crate::real;

    pub(super) unsafe extern "C-unwind" fn separate(place: *mut Room, ends: Text) -> Room {
        let call = Call::of(c"strsep");
        // SAFETY: the program's call.
        unsafe {
            let before = call.held(place);
            call.reads_text(ends);
            let part = real::strsep(place, ends);
            call.resume();
            if before.is_null() {
                call.reads_one(place);
            } else {
                call.cut(before, call.held(place));
                call.writes_one(place, true);
            }
            part
        }
    }

    pub(super) unsafe extern "C-unwind" fn token(text: Room, ends: Text, place: *mut Room) -> Room {
        let call = Call::of(c"strtok_r");
        // SAFETY: the program's call.
        unsafe {
            call.reads_text(ends);
            let part = real::strtok_r(text, ends, place);
            call.resume();
            if !part.is_null() && call.is_seen() {
                let end = part.add(real::strlen(part));
                call.reads(part, end as usize - part as usize);
                // Where the text ended already, nothing is written.
                call.writes(end, usize::from(call.held(place) > end));
            }
            call.writes_one(place, true);
            part
        }
    }
}

crate::entry::interceptors! {
    strsep => cutting::separate;
    strtok_r => cutting::token;
    __strtok_r => cutting::token;
}

functions! {
    fn strcasecmp(one: Text, two: Text) -> c_int [compares(one, two, usize::MAX)] result [];
    fn strncasecmp(one: Text, two: Text, limit: usize) -> c_int [compares(one, two, limit)] result [];
    fn strcoll(one: Text, two: Text) -> c_int [compares(one, two, usize::MAX)] result [];
    fn strspn(text: Text, bytes: Text) -> usize [reads_text(bytes)] length [reads(text, length + 1)];
    fn strcspn(text: Text, bytes: Text) -> usize [reads_text(bytes)] length [reads(text, length + 1)];
    fn strpbrk(text: Text, bytes: Text) -> Room [reads_text(bytes)] found [searched(text, found)];
    fn strcasestr(text: Text, part: Text) -> Room [reads_text(text), reads_text(part)] found [];
    fn index(text: Text, byte: c_int) -> Room [] found [searched(text, found)];
    fn rindex(text: Text, byte: c_int) -> Room [reads_text(text)] found [];
    fn memmem(memory: Constant, bytes: usize, part: Constant, size: usize) -> Memory [reads(memory, bytes), reads(part, size)] found [];
    fn memccpy(to: Memory, from: Constant, byte: c_int, bytes: usize) -> Memory [] found [copied_up_to(to, from, found, bytes)];
    fn bcopy(from: Constant, to: Memory, bytes: usize) [copies(to, from, bytes)] result [];
    fn explicit_bzero(to: Memory, bytes: usize) [writes(to, bytes)] result [];
    fn __explicit_bzero_chk(to: Memory, bytes: usize, room: usize) [writes(to, bytes)] result [];
    fn __mempcpy_chk(to: Memory, from: Constant, bytes: usize, room: usize) -> Memory [copies(to, from, bytes)] end [];
    fn swab(from: Constant, to: Memory, bytes: isize) [copies(to, from, bytes.max(0) as usize & !1)] result [];
    fn stpncpy(to: Room, from: Text, limit: usize) -> Room [reads_part(from, limit), writes(to, limit)] end [];
    fn strxfrm(to: Room, from: Text, room: usize) -> usize [reads_text(from)] length [writes(to, if length < room { length + 1 } else { 0 })];
    fn __strcpy_chk(to: Room, from: Text, room: usize) -> Room [copies_text(to, from)] result [];
    fn __stpcpy_chk(to: Room, from: Text, room: usize) -> Room [copies_text(to, from)] end [];
    fn __strncpy_chk(to: Room, from: Text, limit: usize, room: usize) -> Room [reads_part(from, limit), writes(to, limit)] result [];
    fn __stpncpy_chk(to: Room, from: Text, limit: usize, room: usize) -> Room [reads_part(from, limit), writes(to, limit)] end [];
    fn __strcat_chk(to: Room, from: Text, room: usize) -> Room [appends(to, from, usize::MAX)] result [];
    fn __strncat_chk(to: Room, from: Text, limit: usize, room: usize) -> Room [appends(to, from, limit)] result [];
}
