//! Streams, and functions that format.
//!
//! A stream has a lock of its own, which is not seen to order anything. Using it is a read of it, so that closing it, which
//! frees it, is ordered with all uses or wrong.

use super::call::{Call, Room, Text};
use super::channels::given;
use super::format::{prints, scans};
use super::table::functions;
use super::variadic::{Arguments, variadic_entries};
use crate::real::Real;
use libc::{FILE, c_char, c_int, c_long, c_void};

type Stream = *mut FILE;

impl Call {
    /// The function has filled in elements.
    fn fills_elements(&self, to: *const c_void, size: usize, count: usize) {
        self.writes(to, size.saturating_mul(count));
    }

    /// The function has filled a block, which may be a new one, with a text; both have a place of their own.
    ///
    /// # Safety
    /// The program's places, if it has.
    unsafe fn fills_line(&self, line: *mut Room, room: *mut usize, length: isize) {
        if length >= 0 {
            self.writes_one(line, true);
            self.writes_one(room, true);
            // SAFETY: the caller's promise.
            self.writes(unsafe { line.read() }, length as usize + 1);
        }
    }
}

functions! {
    fn fflush(stream: Stream) -> c_int [stream(stream)] result [];
    fn fread(to: *mut c_void, size: usize, count: usize, stream: Stream) -> usize [stream(stream)] done [fills_elements(to, size, done)];
    fn fread_unlocked(to: *mut c_void, size: usize, count: usize, stream: Stream) -> usize [stream(stream)] done [fills_elements(to, size, done)];
    fn __fread_chk(to: *mut c_void, room: usize, size: usize, count: usize, stream: Stream) -> usize [stream(stream)] done [fills_elements(to, size, done)];
    fn fwrite(from: *const c_void, size: usize, count: usize, stream: Stream) -> usize [stream(stream), reads(from, size.saturating_mul(count))] done [];
    fn fwrite_unlocked(from: *const c_void, size: usize, count: usize, stream: Stream) -> usize [stream(stream), reads(from, size.saturating_mul(count))] done [];
    fn fgets(to: Room, room: c_int, stream: Stream) -> Room [stream(stream)] got [writes_text(got, true)];
    fn fgets_unlocked(to: Room, room: c_int, stream: Stream) -> Room [stream(stream)] got [writes_text(got, true)];
    fn __fgets_chk(to: Room, size: usize, room: c_int, stream: Stream) -> Room [stream(stream)] got [writes_text(got, true)];
    fn fputs(text: Text, stream: Stream) -> c_int [stream(stream), reads_text(text)] result [];
    fn fputs_unlocked(text: Text, stream: Stream) -> c_int [stream(stream), reads_text(text)] result [];
    fn puts(text: Text) -> c_int [reads_text(text)] result [];
    fn perror(text: Text) [reads_text(text)] result [];
    fn fgetc(stream: Stream) -> c_int [stream(stream)] result [];
    fn getc(stream: Stream) -> c_int [stream(stream)] result [];
    fn fputc(byte: c_int, stream: Stream) -> c_int [stream(stream)] result [];
    fn putc(byte: c_int, stream: Stream) -> c_int [stream(stream)] result [];
    fn ungetc(byte: c_int, stream: Stream) -> c_int [stream(stream)] result [];
    fn getline(line: *mut Room, room: *mut usize, stream: Stream) -> isize [stream(stream)] length [fills_line(line, room, length)];
    fn getdelim(line: *mut Room, room: *mut usize, end: c_int, stream: Stream) -> isize [stream(stream)] length [fills_line(line, room, length)];
    fn __getdelim(line: *mut Room, room: *mut usize, end: c_int, stream: Stream) -> isize [stream(stream)] length [fills_line(line, room, length)];
    fn fseek(stream: Stream, at: c_long, from: c_int) -> c_int [stream(stream)] result [];
    fn fseeko(stream: Stream, at: c_long, from: c_int) -> c_int [stream(stream)] result [];
    fn ftell(stream: Stream) -> c_long [stream(stream)] result [];
    fn ftello(stream: Stream) -> c_long [stream(stream)] result [];
    fn rewind(stream: Stream) [stream(stream)] result [];
    fn setvbuf(stream: Stream, buffer: Room, mode: c_int, bytes: usize) -> c_int [stream(stream)] result [];
}

impl Call {
    /// The function has written a text of so many bytes and its end, as far as there is room.
    fn fills_cut(&self, to: Room, room: usize, length: c_int) {
        self.writes(to, (length.saturating_add(1).max(0) as usize).min(room));
    }

    /// The function has allocated a text.
    fn fills_new(&self, to: *const Room, length: c_int) {
        self.writes_one(to, length >= 0);
    }

    /// The function writes to the descriptor.
    fn gives(&self, file: c_int) {
        self.uses(file);
        given(self, file);
    }
}

/// Functions that format, each with the one that takes a list of arguments. What stands before the format is the same for both.
macro_rules! formatting {
    ($($name:ident, $listed:ident ($($arg:ident: $type:ty),*) [$($before:ident($($given:expr),*)),*] $how:ident $result:ident [$($after:ident($($got:expr),*)),*];)+) => {
        #[allow(non_snake_case, non_upper_case_globals, clippy::too_many_arguments)]
        mod formatting {
            use super::*;

            $(pub(super) mod $listed {
                use super::*;

                pub(super) static REAL: Real = Real::new(crate::real::c_name!($listed));

                unsafe fn act(call: Call $(, $arg: $type)*, format: Text, list: *mut Arguments) -> c_int {
                    type Function = unsafe extern "C-unwind" fn($($type,)* Text, *mut c_void) -> c_int;
                    // SAFETY: the program's call, and what it passes.
                    unsafe {
                        let arguments = *list;
                        $(call.$before($($given),*);)*
                        formatting!(@before $how, call, format, arguments);
                        let function = std::mem::transmute::<usize, Function>(REAL.address());
                        let $result = function($($arg,)* format, (*list).as_c());
                        call.resume();
                        formatting!(@after $how, call, format, arguments, $result);
                        $(call.$after($($got),*);)*
                        $result
                    }
                }

                /// With a list of arguments.
                pub(crate) unsafe extern "C-unwind" fn listed($($arg: $type,)* format: Text, list: *mut Arguments) -> c_int {
                    // SAFETY: the program's call.
                    unsafe { act(Call::of(crate::real::c_name!($listed)) $(, $arg)*, format, list) }
                }

                /// With its arguments.
                pub(crate) unsafe extern "C-unwind" fn with_arguments(list: *mut Arguments) -> c_int {
                    let call = Call::of(crate::real::c_name!($name));
                    // SAFETY: the program's arguments, in their order.
                    unsafe {
                        $(let $arg = (*list).word() as $type;)*
                        let format = (*list).pointer::<c_char>();
                        act(call $(, $arg)*, format, list)
                    }
                }
            })+

            pub(super) static ALL: &[&Real] = &[$(&$listed::REAL),+];
        }
        variadic_entries! { $($name => formatting::$listed::with_arguments;)+ }
        crate::entry::interceptors! { $($listed => formatting::$listed::listed;)+ }
    };
    (@before prints, $call:ident, $format:ident, $arguments:ident) => {
        prints(&$call, $format, $arguments)
    };
    (@after prints, $call:ident, $format:ident, $arguments:ident, $result:ident) => {};
    (@before scans, $call:ident, $format:ident, $arguments:ident) => {};
    (@after scans, $call:ident, $format:ident, $arguments:ident, $result:ident) => {
        scans(&$call, $format, $arguments, $result)
    };
}

formatting! {
    printf, vprintf () [] prints n [];
    fprintf, vfprintf (stream: Stream) [stream(stream)] prints n [];
    dprintf, vdprintf (file: c_int) [gives(file)] prints n [];
    sprintf, vsprintf (to: Room) [] prints n [fills_cut(to, usize::MAX, n)];
    snprintf, vsnprintf (to: Room, room: usize) [] prints n [fills_cut(to, room, n)];
    asprintf, vasprintf (to: *mut Room) [] prints n [fills_new(to, n)];
    __printf_chk, __vprintf_chk (flag: c_int) [] prints n [];
    __fprintf_chk, __vfprintf_chk (stream: Stream, flag: c_int) [stream(stream)] prints n [];
    __dprintf_chk, __vdprintf_chk (file: c_int, flag: c_int) [gives(file)] prints n [];
    __sprintf_chk, __vsprintf_chk (to: Room, flag: c_int, room: usize) [] prints n [fills_cut(to, room, n)];
    __snprintf_chk, __vsnprintf_chk (to: Room, most: usize, flag: c_int, room: usize) [] prints n [fills_cut(to, most, n)];
    __asprintf_chk, __vasprintf_chk (to: *mut Room, flag: c_int) [] prints n [fills_new(to, n)];
    scanf, vscanf () [] scans n [];
    fscanf, vfscanf (stream: Stream) [stream(stream)] scans n [];
    sscanf, vsscanf (text: Text) [reads_text(text)] scans n [];
    __isoc99_scanf, __isoc99_vscanf () [] scans n [];
    __isoc99_fscanf, __isoc99_vfscanf (stream: Stream) [stream(stream)] scans n [];
    __isoc99_sscanf, __isoc99_vsscanf (text: Text) [reads_text(text)] scans n [];
    __isoc23_scanf, __isoc23_vscanf () [] scans n [];
    __isoc23_fscanf, __isoc23_vfscanf (stream: Stream) [stream(stream)] scans n [];
    __isoc23_sscanf, __isoc23_vsscanf (text: Text) [reads_text(text)] scans n [];
}

/// Where the functions that format are.
pub(crate) static FORMATTING: &[&Real] = formatting::ALL;
