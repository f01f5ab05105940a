//! Wide texts, and texts of several bytes for a character.

use super::call::{Call, Room, Text, Wide, wide_length};
use super::table::functions;
use libc::{c_int, c_void, wchar_t};

type WideRoom = *mut wchar_t;
/// A state of a conversion.
type State = *mut libc::c_longlong;
/// All of a text.
const ALL_OF_IT: usize = usize::MAX;

impl Call {
    /// The function compares wide texts: up to the first difference, the common end or a limit.
    ///
    /// # Safety
    /// Texts of the program, or so many characters.
    unsafe fn compares_wide(&self, one: Wide, two: Wide, limit: usize) {
        // SAFETY: the caller's promise. Volatile, so that this does not become a call of what is intercepted.
        let character = |text: Wide, index: usize| unsafe { text.add(index).read_volatile() };
        let is_last = |index: &usize| {
            let (a, b) = (character(one, *index), character(two, *index));
            a == 0 || a != b
        };
        if self.is_seen() {
            let characters = (0..limit).find(is_last).map_or(limit, |last| last + 1);
            self.reads(one, characters * size_of::<wchar_t>());
            self.reads(two, characters * size_of::<wchar_t>());
        }
    }

    /// The function has read from the text's start to what it has found, or the whole text.
    ///
    /// # Safety
    /// A text of the program, and null or a place in it.
    unsafe fn searched_wide(&self, text: Wide, found: Wide) {
        let limit = match found.is_null() {
            true => ALL_OF_IT,
            false => (found as usize - text as usize) / size_of::<wchar_t>() + 1,
        };
        // SAFETY: the caller's promise.
        unsafe { self.reads_wide(text, limit) };
    }

    /// The function copies wide characters.
    fn copies_wide(&self, to: Wide, from: Wide, characters: usize) {
        self.reads(from, characters.saturating_mul(size_of::<wchar_t>()));
        self.writes_wide(to, characters);
    }

    /// The function copies a wide text with its end.
    ///
    /// # Safety
    /// A text of the program.
    unsafe fn copies_wide_text(&self, to: Wide, from: Wide) {
        if self.is_seen() {
            // SAFETY: the caller's promise.
            self.copies_wide(to, from, unsafe { wide_length(from, ALL_OF_IT) } + 1);
        }
    }

    /// The function appends a wide text to another.
    ///
    /// # Safety
    /// Texts of the program.
    unsafe fn appends_wide(&self, to: Wide, from: Wide, limit: usize) {
        if self.is_seen() {
            // SAFETY: the caller's promise.
            unsafe {
                let (before, added) = (wide_length(to, ALL_OF_IT), wide_length(from, limit));
                self.reads_wide(to, ALL_OF_IT);
                self.reads_wide(from, limit);
                self.writes_wide(to.add(before), added + 1);
            }
        }
    }

    /// The function has written so many wide characters, and an end if there was room; or it has failed.
    fn fills_wide(&self, to: Wide, room: usize, done: usize) {
        if done != usize::MAX {
            self.writes_wide(to, done.saturating_add(1).min(room));
        }
    }

    /// The same for bytes.
    fn fills_bytes(&self, to: Text, room: usize, done: usize) {
        if done != usize::MAX {
            self.writes(to, done.saturating_add(1).min(room));
        }
    }

    /// The function has made a character of so many bytes, or has failed.
    fn makes_one(&self, to: Wide, from: Text, used: isize) {
        if used >= 0 {
            self.reads(from, used.max(1) as usize);
            self.writes_one(to, true);
        }
    }
}

functions! {
    fn wcslen(text: Wide) -> usize [reads_wide(text, ALL_OF_IT)] length [];
    fn wcsnlen(text: Wide, limit: usize) -> usize [reads_wide(text, limit)] length [];
    fn wcscpy(to: WideRoom, from: Wide) -> WideRoom [copies_wide_text(to, from)] result [];
    fn wcpcpy(to: WideRoom, from: Wide) -> WideRoom [copies_wide_text(to, from)] end [];
    fn wcsncpy(to: WideRoom, from: Wide, limit: usize) -> WideRoom [reads_wide(from, limit), writes_wide(to, limit)] result [];
    fn wcscat(to: WideRoom, from: Wide) -> WideRoom [appends_wide(to, from, ALL_OF_IT)] result [];
    fn wcsncat(to: WideRoom, from: Wide, limit: usize) -> WideRoom [appends_wide(to, from, limit)] result [];
    fn wcscmp(one: Wide, two: Wide) -> c_int [compares_wide(one, two, ALL_OF_IT)] result [];
    fn wcsncmp(one: Wide, two: Wide, limit: usize) -> c_int [compares_wide(one, two, limit)] result [];
    fn wcsdup(text: Wide) -> WideRoom [reads_wide(text, ALL_OF_IT)] copy [];
    fn wcschr(text: Wide, character: wchar_t) -> WideRoom [] found [searched_wide(text, found)];
    fn wcsrchr(text: Wide, character: wchar_t) -> WideRoom [reads_wide(text, ALL_OF_IT)] found [];
    fn wcsstr(text: Wide, part: Wide) -> WideRoom [reads_wide(text, ALL_OF_IT), reads_wide(part, ALL_OF_IT)] found [];
    fn wmemcpy(to: WideRoom, from: Wide, count: usize) -> WideRoom [copies_wide(to, from, count)] result [];
    fn wmempcpy(to: WideRoom, from: Wide, count: usize) -> WideRoom [copies_wide(to, from, count)] end [];
    fn wmemmove(to: WideRoom, from: Wide, count: usize) -> WideRoom [copies_wide(to, from, count)] result [];
    fn wmemset(to: WideRoom, character: wchar_t, count: usize) -> WideRoom [writes_wide(to, count)] result [];
    fn mbstowcs(to: WideRoom, from: Text, room: usize) -> usize [reads_part(from, if to.is_null() { ALL_OF_IT } else { 1 })] done [fills_wide(to, room, done)];
    fn wcstombs(to: Room, from: Wide, room: usize) -> usize [reads_wide(from, if to.is_null() { ALL_OF_IT } else { 1 })] done [fills_bytes(to, room, done)];
    fn mbsrtowcs(to: WideRoom, from: *mut Text, room: usize, state: State) -> usize [reads_one(from)] done [fills_wide(to, room, done), writes_one(state, true)];
    fn wcsrtombs(to: Room, from: *mut Wide, room: usize, state: State) -> usize [reads_one(from)] done [fills_bytes(to, room, done), writes_one(state, true)];
    fn mbtowc(to: WideRoom, from: Text, room: usize) -> c_int [] used [makes_one(to, from, used as isize)];
    fn mbrtowc(to: WideRoom, from: Text, room: usize, state: State) -> usize [] used [makes_one(to, from, used as isize), writes_one(state, true)];
    fn wctomb(to: Room, character: wchar_t) -> c_int [] done [fills(to, done as isize)];
    fn wcrtomb(to: Room, character: wchar_t, state: State) -> usize [] done [fills(to, done as isize), writes_one(state, true)];
    fn iconv(cd: *mut c_void, from: *mut Text, left: *mut usize, to: *mut Room, room: *mut usize) -> usize [reads_one(from), reads_one(to)] result [writes_one(from, true), writes_one(left, true), writes_one(to, true), writes_one(room, true)];
}
