//! Which modules were compiled for the runtime: those that import `__tsan_init`.
//!
//! Each instrumented file has a function that calls it when the file is loaded. With optimisation the call is a jump,
//! and its return address lies in the loader; so the loader's own tables are asked, where an import has a name.

use crate::modules::Module;
use crate::symbols::{END, Entry, GNU_HASH, HASH, STRINGS, SYMBOLS};
use libc::Elf64_Rela;
use std::ffi::{CStr, c_char, c_int, c_void};

/// What every instrumented file imports.
const NAME: &CStr = c"__tsan_init";

/// Tags of a module's tables of relocations.
const CALLS_SIZE: u64 = 2;
const RELOCATIONS: u64 = 7;
const RELOCATIONS_SIZE: u64 = 8;
const CALLS: u64 = 23;

/// The largest number of a symbol in a table of relocations.
///
/// # Safety
/// It is one of a loaded module, of so many bytes.
unsafe fn last_symbol(table: usize, bytes: usize) -> Option<usize> {
    let count = bytes / size_of::<Elf64_Rela>();
    // SAFETY: the caller's promise.
    let table = unsafe { std::slice::from_raw_parts(table as *const Elf64_Rela, count) };
    let symbol = |relocation: &Elf64_Rela| (relocation.r_info >> 32) as usize;
    table.iter().map(symbol).max()
}

/// Whether a module was compiled for the runtime.
pub(crate) fn is_instrumented(module: &Module) -> bool {
    imports_any(module, &[NAME])
}

/// Whether a module imports one of these functions.
pub(crate) fn imports_any(module: &Module, names: &[&CStr]) -> bool {
    if module.dynamic == 0 {
        return false;
    }
    let value = |tag| {
        let mut entry = module.dynamic as *const Entry;
        // SAFETY: the loaded module's own list, which ends with an entry of that tag.
        unsafe {
            while (*entry).tag != END && (*entry).tag != tag {
                entry = entry.add(1);
            }
            ((*entry).tag == tag).then_some((*entry).value as usize)
        }
    };
    // The loader has made addresses of them, except in the kernel's own module.
    let address = |tag| value(tag).filter(|address| *address >= module.bias);
    let (Some(strings), Some(symbols)) = (address(STRINGS), address(SYMBOLS)) else {
        return false;
    };
    // The second word is the number of the first symbol with a hash, which imports do not have; in the older table it
    // is the number of all symbols.
    let Some(hashes) = address(GNU_HASH).or_else(|| address(HASH)) else {
        return false;
    };
    // SAFETY: the loaded module's own table.
    let hashed = unsafe { *(hashes as *const u32).add(1) } as usize;
    // A module without exports may have an empty table, which says 1. What its code calls is in a table of relocations.
    let tables = [(CALLS, CALLS_SIZE), (RELOCATIONS, RELOCATIONS_SIZE)];
    let relocated = tables.iter().filter_map(|(table, size)| {
        // SAFETY: the loaded module's own table, and its size.
        unsafe { last_symbol(address(*table)?, value(*size)?) }
    });
    let count = relocated.fold(hashed, |count, last| count.max(last + 1));
    (1..count).any(|index| {
        // SAFETY: the loaded module's own tables, which are as long as the hashes say; a name is a C string.
        unsafe {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add(index);
            let name = (strings + symbol.st_name as usize) as *const c_char;
            symbol.st_shndx == 0 && names.contains(&CStr::from_ptr(name))
        }
    })
}

/// How many modules were loaded so far.
pub(super) fn loads() -> u64 {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: usize,
        loads: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description, and the pointer is the one given below.
        unsafe { *loads.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut loads = 0;
    // SAFETY: the callback gets back the pointer given here, during the call only.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}
