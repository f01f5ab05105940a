//! Names of code and of variables, for a program that asks. What is known is what the linker left: functions, variables and modules, but
//! no lines.

use crate::elf::{self, Symbol};
use crate::entry::entries;
use crate::modules;
use crate::thread::enter;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;

/// What is known of an address.
#[derive(Default)]
struct Known {
    address: usize,
    module: Option<String>,
    /// In the module's file.
    offset: usize,
    symbol: Option<Symbol>,
}

fn code(pc: usize) -> Known {
    let modules = modules::modules();
    let found = modules::find(&modules, pc);
    known(
        pc,
        found.map(|(module, offset)| (module.path.as_str(), offset)),
        elf::functions,
    )
}

fn variable(address: usize) -> Known {
    let modules = modules::modules();
    let found = modules::find_data(&modules, address);
    known(
        address,
        found.map(|(module, offset)| (module.path.as_str(), offset)),
        elf::variables,
    )
}

fn known(address: usize, found: Option<(&str, usize)>, symbols: fn(&str) -> Vec<Symbol>) -> Known {
    let Some((module, offset)) = found else {
        return Known {
            address,
            ..Known::default()
        };
    };
    let symbols = symbols(module);
    let inside = |s: &Symbol| s.start <= offset as u64 && (offset as u64) < s.end;
    Known {
        address,
        module: Some(module.to_owned()),
        offset,
        symbol: symbols.into_iter().find(inside),
    }
}

/// A text in which letters after `%` stand for what is known; lines and files never are.
fn formatted(format: &str, known: &Known) -> String {
    let mut text = String::new();
    let module = known.module.as_deref().unwrap_or("<unknown module>");
    let name = known.symbol.as_ref().map_or("??", |symbol| &symbol.name);
    let inside = known
        .symbol
        .as_ref()
        .map_or(0, |s| known.offset as u64 - s.start);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let _ = match letters.next() {
            Some('%') => write!(text, "%"),
            Some('n') => write!(text, "0"),
            Some('p') => write!(text, "{:#x}", known.address),
            Some('m') => write!(text, "{module}"),
            Some('o') => write!(text, "{:#x}", known.offset),
            Some('f' | 'g') => write!(text, "{name}"),
            Some('q') => write!(text, "{inside:#x}"),
            Some('s') => write!(text, "<null>"),
            Some('l' | 'c') => write!(text, "0"),
            Some('F') => write!(text, "in {name}"),
            Some('S' | 'L' | 'M') => write!(text, "({module}+{:#x})", known.offset),
            Some(other) => write!(text, "%{other}"),
            None => Ok(()),
        };
    }
    text
}

/// Writes a text where the program wants it, as much as there is room for, and its end.
///
/// # Safety
/// There is room for `room` bytes.
unsafe fn put(text: &str, place: *mut c_char, room: usize) {
    if place.is_null() || room == 0 {
        return;
    }
    let bytes = &text.as_bytes()[..text.len().min(room - 1)];
    // SAFETY: the caller's promise.
    unsafe {
        for (index, byte) in bytes.iter().chain(&[0, 0]).take(room).enumerate() {
            place.add(index).write(*byte as c_char);
        }
    }
}

/// # Safety
/// A format of the program's, and room for an answer.
unsafe fn answer(
    what: fn(usize) -> Known,
    address: usize,
    format: *const c_char,
    place: *mut c_char,
    room: usize,
) {
    let Some(_me) = enter() else { return };
    if !format.is_null() {
        // SAFETY: the caller's promise.
        unsafe {
            let format = CStr::from_ptr(format).to_string_lossy();
            put(&formatted(&format, &what(address)), place, room);
        }
    }
}

unsafe extern "C" fn symbolize_code(
    pc: usize,
    format: *const c_char,
    place: *mut c_char,
    room: usize,
) {
    // SAFETY: the program's pointers.
    unsafe { answer(code, pc, format, place, room) };
}

unsafe extern "C" fn symbolize_variable(
    address: usize,
    format: *const c_char,
    place: *mut c_char,
    room: usize,
) {
    // SAFETY: the program's pointers.
    unsafe { answer(variable, address, format, place, room) };
}

unsafe extern "C" fn module_and_offset(
    pc: usize,
    place: *mut c_char,
    room: usize,
    offset: *mut usize,
) -> c_int {
    let Some(_me) = enter() else { return 0 };
    let modules = modules::modules();
    let Some((module, inside)) = modules::find(&modules, pc) else {
        return 0;
    };
    // SAFETY: the program's pointers.
    unsafe {
        put(&module.path, place, room);
        if !offset.is_null() {
            offset.write(inside);
        }
    }
    1
}

entries! {
    __sanitizer_symbolize_pc => symbolize_code;
    __sanitizer_symbolize_global => symbolize_variable;
    __sanitizer_get_module_and_offset_for_pc => module_and_offset;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_what_is_known() {
        let known = Known {
            address: 0x1010,
            module: Some("/lib/a.so".to_owned()),
            offset: 0x10,
            symbol: Some(Symbol {
                start: 0x8,
                end: 0x20,
                name: "work".to_owned(),
            }),
        };
        let text = formatted("#%n %p %F %f+%q %m %o %s:%l %L 100%% %", &known);
        let expected = "#0 0x1010 in work work+0x8 /lib/a.so 0x10 <null>:0 (/lib/a.so+0x10) 100% ";
        assert_eq!(text, expected);
        let text = formatted("%f in %m", &Known::default());
        assert_eq!(text, "?? in <unknown module>");
    }
}
