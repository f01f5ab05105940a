//! Formats of `printf` and `scanf`: which arguments they take, and what is read and written through those.
//!
//! **Source**: ISO C17, 7.21.6.1 and 7.21.6.2, with POSIX's and glibc's conversions and flags. Where a format has something
//! else, or numbers its arguments, nothing is concluded from there on.

use super::call::{Call, Text};
use super::variadic::Arguments;
use libc::{c_char, c_int, wchar_t};

/// A conversion specification without its `%`.
#[derive(Clone, Copy, Default, Debug)]
struct Conversion {
    /// `scanf`: nothing is assigned.
    suppressed: bool,
    /// `scanf`: memory is allocated for a text.
    allocates: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// Bytes of the integer that the length says.
    integer: usize,
    /// `l`, so that characters are wide, and a `float` is a `double`.
    long: bool,
    /// `L`, so that it is a `long double`.
    longer: bool,
    letter: u8,
}

/// What is left of a format.
struct Rest {
    at: Text,
}

impl Rest {
    fn peek(&self) -> u8 {
        // SAFETY: the program's format up to its end. Volatile, so that no loop becomes a call of what is intercepted.
        unsafe { self.at.read_volatile() as u8 }
    }

    fn skip(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == byte;
        if is_here {
            self.skip();
        }
        is_here
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            let digit = usize::from(self.peek() - b'0');
            number = Some(
                number
                    .unwrap_or(0usize)
                    .saturating_mul(10)
                    .saturating_add(digit),
            );
            self.skip();
        }
        number
    }

    /// Goes to behind the next `%`; false at the end.
    fn next(&mut self) -> bool {
        loop {
            match self.peek() {
                0 => return false,
                b'%' => {
                    self.skip();
                    return true;
                }
                _ => self.skip(),
            }
        }
    }

    fn length(&mut self, conversion: &mut Conversion) {
        conversion.integer = size_of::<c_int>();
        loop {
            conversion.integer = match self.peek() {
                b'h' if conversion.integer == 2 => 1,
                b'h' => 2,
                b'l' | b'q' | b'j' | b'z' | b'Z' | b't' => 8,
                b'L' => {
                    conversion.longer = true;
                    8
                }
                _ => return,
            };
            conversion.long |= self.peek() == b'l';
            self.skip();
        }
    }

    /// Behind the `[` of a set: goes to behind its `]`.
    fn set(&mut self) {
        self.take(b'^');
        self.take(b']');
        while self.peek() != 0 && !self.take(b']') {
            self.skip();
        }
    }
}

/// A specification of `printf`; the widths in arguments are taken.
///
/// # Safety
/// The program's format and arguments.
unsafe fn printed(rest: &mut Rest, arguments: &mut Arguments) -> Option<Conversion> {
    let mut conversion = Conversion::default();
    while b"-+ #0'I".contains(&rest.peek()) && rest.peek() != 0 {
        rest.skip();
    }
    if rest.take(b'*') {
        // SAFETY: the caller's promise.
        unsafe { arguments.word() };
    } else {
        conversion.width = rest.number();
    }
    if rest.peek() == b'$' {
        return None;
    }
    if rest.take(b'.') {
        conversion.precision = Some(rest.number().unwrap_or(0));
        if rest.take(b'*') {
            // SAFETY: the caller's promise.
            let number = unsafe { arguments.word() } as c_int;
            conversion.precision = usize::try_from(number).ok();
        }
    }
    rest.length(&mut conversion);
    conversion.letter = rest.peek();
    if conversion.letter != 0 {
        rest.skip();
    }
    Some(conversion)
}

/// What a function of `printf`'s family reads, and where it writes how much it has printed.
///
/// # Safety
/// The program's format and arguments.
pub(super) unsafe fn prints(call: &Call, format: Text, mut arguments: Arguments) {
    if !call.is_seen() || format.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        call.reads_text(format);
        let mut rest = Rest { at: format };
        while rest.next() {
            let Some(conversion) = printed(&mut rest, &mut arguments) else {
                return;
            };
            let limit = conversion.precision.unwrap_or(usize::MAX);
            match conversion.letter {
                b'%' | b'm' => {}
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' => {
                    arguments.word();
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if conversion.longer => {
                    arguments.skip_long_double();
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => arguments.skip_double(),
                b's' if !conversion.long => call.reads_part(arguments.pointer(), limit),
                b's' | b'S' => {
                    let text = arguments.pointer();
                    // Bytes limit a wide text, so that how much of it is read is not known.
                    let limit = conversion.precision.map_or(limit, |_| 0);
                    call.reads_wide(text, limit);
                }
                b'n' => call.writes(arguments.pointer::<c_char>(), conversion.integer),
                _ => return,
            }
        }
    }
}

/// A specification of `scanf`.
fn scanned(rest: &mut Rest) -> Option<Conversion> {
    let mut conversion = Conversion {
        suppressed: rest.take(b'*'),
        ..Conversion::default()
    };
    conversion.width = rest.number();
    if rest.peek() == b'$' {
        return None;
    }
    rest.take(b'\'');
    conversion.allocates = rest.take(b'm');
    rest.length(&mut conversion);
    conversion.letter = rest.peek();
    if conversion.letter != 0 {
        rest.skip();
    }
    if conversion.letter == b'[' {
        rest.set();
    }
    Some(conversion)
}

/// What a function of `scanf`'s family has written, if it has assigned so many of its arguments.
///
/// # Safety
/// The program's format and arguments.
pub(super) unsafe fn scans(call: &Call, format: Text, mut arguments: Arguments, assigned: c_int) {
    if !call.is_seen() || format.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        call.reads_text(format);
        let mut left = assigned.max(0);
        let mut rest = Rest { at: format };
        while left > 0 && rest.next() {
            let Some(conversion) = scanned(&mut rest) else {
                return;
            };
            if conversion.letter == b'%' || conversion.suppressed {
                continue;
            }
            if conversion.letter == b'n' {
                call.writes(arguments.pointer::<c_char>(), conversion.integer);
                continue;
            }
            left -= 1;
            assigns(call, conversion, arguments.pointer());
        }
    }
}

/// Something was assigned by a conversion.
///
/// # Safety
/// The program's place for it.
unsafe fn assigns(call: &Call, conversion: Conversion, to: *mut c_char) {
    let wide = conversion.long;
    match conversion.letter {
        b's' | b'S' | b'[' | b'c' | b'C' if conversion.allocates => {
            call.writes_one(to.cast::<usize>(), true);
        }
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => call.writes(to, conversion.integer),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            call.writes(
                to,
                if conversion.longer {
                    16
                } else if wide {
                    8
                } else {
                    4
                },
            );
        }
        b'p' => call.writes(to, size_of::<usize>()),
        b'c' => {
            let size = if wide { size_of::<wchar_t>() } else { 1 };
            call.writes(to, conversion.width.unwrap_or(1).saturating_mul(size));
        }
        // SAFETY: the caller's promise.
        b's' | b'[' if !wide => unsafe { call.writes_text(to, true) },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters, widths and integers of the conversions of a format of `scanf`.
    fn all(format: &'static std::ffi::CStr) -> Vec<(u8, Option<usize>, usize, bool)> {
        let mut rest = Rest {
            at: format.as_ptr(),
        };
        let mut found = Vec::new();
        while rest.next() {
            let Some(one) = scanned(&mut rest) else { break };
            found.push((one.letter, one.width, one.integer, one.suppressed));
        }
        found
    }

    #[test]
    fn conversions_are_told_apart() {
        assert_eq!(
            all(c"a %3d%*s %hhx:%lld %[]x%d] %c%%%zu"),
            [
                (b'd', Some(3), 4, false),
                (b's', None, 4, true),
                (b'x', None, 1, false),
                (b'd', None, 8, false),
                (b'[', None, 4, false),
                (b'c', None, 4, false),
                (b'%', None, 4, false),
                (b'u', None, 8, false),
            ]
        );
        assert!(all(c"%1$d").is_empty());
        assert_eq!(all(c"%").len(), 1);
    }
}
