//! A call of a function of libc that accesses memory for its caller.
//!
//! Who calls is noted when the call begins: libc, the runtime itself and signal handlers may make calls of their own before it ends.

use crate::callers;
use crate::race::{self, Kind};
use crate::stack::Function;
use crate::thread::{current, enter_if_attached};
use crate::{real, tls};
use libc::{c_char, c_int, iovec, wchar_t};
use std::ffi::CStr;

/// A text of the program.
pub(super) type Text = *const c_char;
/// Where a text of the program is written.
pub(super) type Room = *mut c_char;
/// A wide text of the program.
pub(super) type Wide = *const wchar_t;

/// A call, from its beginning to its end. What it notes is nothing unless instrumented code calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    function: Function,
    caller: usize,
    is_seen: bool,
}

impl Call {
    /// The call that has just begun.
    #[inline]
    pub(crate) fn of(name: &'static CStr) -> Self {
        let caller = tls::caller();
        let is_seen = || callers::is_instrumented(caller);
        Self {
            function: Function::named(name),
            caller,
            is_seen: current().is_some_and(|context| !context.is_busy()) && is_seen(),
        }
    }

    /// Whether what it does is looked at.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// The function.
    pub(crate) fn function(&self) -> Function {
        self.function
    }

    /// What the runtime does next it does for this call.
    pub(crate) fn resume(&self) {
        tls::set_caller(self.caller);
    }

    fn note(&self, address: usize, bytes: usize, kind: Kind) {
        if self.is_seen && address != 0 && bytes != 0 {
            self.resume();
            race::range_by(self.function, address, bytes, kind);
            self.resume();
        }
    }

    /// The function reads this.
    pub(super) fn reads<T>(&self, from: *const T, bytes: usize) {
        self.note(from as usize, bytes, Kind::READ);
    }

    /// The function writes this.
    pub(crate) fn writes<T>(&self, to: *const T, bytes: usize) {
        self.note(to as usize, bytes, Kind::WRITE);
    }

    /// The function reads an object.
    pub(super) fn reads_one<T>(&self, from: *const T) {
        self.reads(from, size_of::<T>());
    }

    /// The function writes an object, if it has succeeded.
    pub(super) fn writes_one<T>(&self, to: *const T, succeeded: bool) {
        self.writes(to, if succeeded { size_of::<T>() } else { 0 });
    }

    /// The function writes as many bytes as it says, or none if it says less.
    pub(super) fn fills<T>(&self, to: *const T, bytes: isize) {
        self.writes(to, bytes.max(0) as usize);
    }

    /// The function reads a text with its end.
    ///
    /// # Safety
    /// Null, or a text of the program.
    pub(super) unsafe fn reads_text(&self, text: Text) {
        if self.is_seen && !text.is_null() {
            // SAFETY: the caller's promise.
            self.reads(text, unsafe { real::strlen(text) } + 1);
        }
    }

    /// The function reads a text, up to a limit.
    ///
    /// # Safety
    /// Null, or a text of the program, or so many bytes.
    pub(super) unsafe fn reads_part(&self, text: Text, limit: usize) {
        if self.is_seen && !text.is_null() {
            // SAFETY: the caller's promise.
            let bytes = unsafe { real::strnlen(text, limit) };
            self.reads(text, bytes.saturating_add(1).min(limit));
        }
    }

    /// The function has written a text with its end, if it has succeeded.
    ///
    /// # Safety
    /// Null, or a text of the program if it has.
    pub(super) unsafe fn writes_text(&self, text: Text, succeeded: bool) {
        if self.is_seen && succeeded && !text.is_null() {
            // SAFETY: the caller's promise.
            self.writes(text, unsafe { real::strlen(text) } + 1);
        }
    }

    /// The function reads a wide text with its end, or up to a limit.
    ///
    /// # Safety
    /// Null, or a text of the program, or so many characters.
    pub(super) unsafe fn reads_wide(&self, text: Wide, limit: usize) {
        if self.is_seen && !text.is_null() {
            // SAFETY: the caller's promise.
            let length = unsafe { wide_length(text, limit) };
            let characters = length.saturating_add(1).min(limit);
            self.reads(text, characters * size_of::<wchar_t>());
        }
    }

    /// The function writes so many wide characters.
    pub(super) fn writes_wide(&self, to: Wide, characters: usize) {
        self.writes(to, characters.saturating_mul(size_of::<wchar_t>()));
    }

    /// The function accesses the parts of a vector, of which `bytes` are used.
    ///
    /// # Safety
    /// The program's vector.
    pub(super) unsafe fn parts(
        &self,
        parts: *const iovec,
        count: usize,
        mut bytes: usize,
        kind: Kind,
    ) {
        for index in 0..if self.is_seen { count } else { 0 } {
            // SAFETY: the caller's promise.
            let part = unsafe { parts.add(index).read() };
            let size = part.iov_len.min(bytes);
            self.note(part.iov_base as usize, size, kind);
            bytes -= size;
        }
    }

    /// A stream is used: it must not be closed by somebody else meanwhile.
    pub(super) fn stream(&self, stream: *const libc::FILE) {
        if self.is_seen && !race::is_known_read(stream as usize) {
            self.note(stream as usize, 1, Kind::READ);
        }
    }

    /// A stream is about to be closed: nobody may use it from now on.
    pub(super) fn frees_stream(&self, stream: *const libc::FILE) {
        if self.is_seen && !stream.is_null() {
            self.resume();
            race::free_by(self.function, stream as usize, size_of::<usize>());
            if let Some(mut me) = enter_if_attached() {
                me.closing = stream as usize;
            }
            self.resume();
        }
    }

    /// The descriptor is used.
    pub(super) fn uses(&self, file: c_int) {
        super::lives::used(self, file);
    }
}

/// Characters of a wide text before its end, or the limit.
///
/// # Safety
/// A text of the program, or so many characters.
pub(super) unsafe fn wide_length(text: Wide, limit: usize) -> usize {
    // SAFETY: the caller's promise. Volatile, so that this does not become a call of what is intercepted.
    let is_end = |index: &usize| unsafe { text.add(*index).read_volatile() } == 0;
    (0..limit).find(is_end).unwrap_or(limit)
}
