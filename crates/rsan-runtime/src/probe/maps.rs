//! The child's memory, from `/proc/self/maps`: which of it is shared with others, and which is the thread's stack.

use crate::finding::Unknown;
use crate::system::own_call;

/// A range of addresses with what is allowed there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Mapping {
    start: usize,
    end: usize,
    writable: bool,
    shared: bool,
}

/// Reads lines like `7f00-7f10 rw-p …`, a byte at a time, without memory of its own.
#[derive(Debug, Default)]
struct Parser {
    mapping: Mapping,
    field: usize,
    column: usize,
}

impl Parser {
    /// Takes a byte; returns the mapping when the byte ends its line.
    fn byte(&mut self, byte: u8) -> Option<Mapping> {
        let digit = || (byte as char).to_digit(16).unwrap_or(0) as usize;
        match (byte, self.field) {
            (b'\n', _) => return Some(std::mem::take(self).mapping),
            (b'-', 0) | (b' ', 1 | 2) => {
                self.field += 1;
                self.column = 0;
                return None;
            }
            (_, 0) => self.mapping.start = self.mapping.start << 4 | digit(),
            (_, 1) => self.mapping.end = self.mapping.end << 4 | digit(),
            (b'w', 2) if self.column == 1 => self.mapping.writable = true,
            (b's', 2) if self.column == 3 => self.mapping.shared = true,
            _ => {}
        }
        self.column += 1;
        None
    }
}

/// Makes all shared memory read-only, except for the page at `answer`; returns the bounds of the mapping around
/// `stack`.
///
/// # Errors
/// The memory cannot be known.
pub(super) fn protect(stack: usize, answer: usize) -> Result<(usize, usize), Unknown> {
    let mut bounds = None;
    let mut parser = Parser::default();
    let mut buffer = [0u8; 2048];
    let path = c"/proc/self/maps".as_ptr() as usize;
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: the path is a C string.
    let file = unsafe { own_call(libc::SYS_open, [path, flags, 0, 0, 0, 0]) };
    let Ok(file) = usize::try_from(file) else {
        return Err(Unknown::NoMaps);
    };
    loop {
        let arguments = [file, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the buffer is valid.
        let count = unsafe { own_call(libc::SYS_read, arguments) };
        let Ok(count @ 1..) = usize::try_from(count) else {
            break;
        };
        for mapping in buffer[..count].iter().filter_map(|&byte| parser.byte(byte)) {
            let Mapping { start, end, .. } = mapping;
            if (start..end).contains(&stack) {
                bounds = Some((start, end));
            }
            if mapping.shared && mapping.writable && !(start..end).contains(&answer) {
                let read = libc::PROT_READ as usize;
                // SAFETY: in this process only; a write there ends it.
                unsafe { own_call(libc::SYS_mprotect, [start, end - start, read, 0, 0, 0]) };
            }
        }
    }
    bounds.ok_or(Unknown::NoMaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read() {
        let text =
            "00400000-0040b000 r-xp 00000000 fd:01 1 /bin/w s\n7f00-7ffff000 rw-s 0 00:00 0\n";
        let mut parser = Parser::default();
        let found: Vec<_> = text.bytes().filter_map(|byte| parser.byte(byte)).collect();
        let first = Mapping {
            start: 0x40_0000,
            end: 0x40_b000,
            writable: false,
            shared: false,
        };
        let second = Mapping {
            start: 0x7f00,
            end: 0x7fff_f000,
            writable: true,
            shared: true,
        };
        assert_eq!(found, [first, second]);
    }
}
