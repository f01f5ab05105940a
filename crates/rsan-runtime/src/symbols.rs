//! Functions of the loaded modules by name, found in the loader's tables without the loader.
//!
//! `dlsym` takes the loader's locks and, when there is no such function, allocates its message. Who calls it inside an
//! allocator, or while another thread waits in `dlopen`, may wait forever. Here the list of modules and their tables are only
//! read. That is sound while no module is unloaded: at the start, and while the loader itself calls us.
//!
//! The order is the loader's: the program, what is preloaded, the libraries breadth first, then what was loaded later. Of a
//! function with several versions it is the default one, as for `dlsym`.

use libc::{Elf64_Sym, c_char};
use std::arch::asm;
use std::ffi::CStr;

/// What the loader knows of a module; `link_map` of `<link.h>`.
#[repr(C)]
struct Link {
    bias: usize,
    name: *const c_char,
    dynamic: *const Entry,
    next: *const Link,
    previous: *const Link,
}

/// `r_debug` of `<link.h>`.
#[repr(C)]
struct Debug {
    version: i32,
    first: *const Link,
}

unsafe extern "C" {
    static _r_debug: Debug;
}

/// An entry of a module's dynamic section.
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) tag: u64,
    pub(crate) value: u64,
}

// Tags of the ELF specification and of GNU.
pub(crate) const END: u64 = 0;
const NEEDED: u64 = 1;
pub(crate) const HASH: u64 = 4;
pub(crate) const STRINGS: u64 = 5;
pub(crate) const SYMBOLS: u64 = 6;
pub(crate) const GNU_HASH: u64 = 0x6fff_fef5;
const VERSIONS: u64 = 0x6fff_fff0;

/// Set in the version of a symbol that is there for older programs only.
const HIDDEN: u16 = 0x8000;

// Types of symbols, in the low four bits.
const UNTYPED: u8 = 0;
const FUNCTION: u8 = 2;
const INDIRECT: u8 = 10;

/// The tables of a module.
#[derive(Clone, Copy)]
struct Tables {
    bias: usize,
    strings: usize,
    symbols: *const Elf64_Sym,
    gnu_hash: *const u32,
    hash: *const u32,
    versions: *const u16,
}

impl Tables {
    /// # Safety
    /// The module stays loaded.
    unsafe fn new(link: &Link) -> Option<Self> {
        let mut tables = Self {
            bias: link.bias,
            strings: 0,
            symbols: std::ptr::null(),
            gnu_hash: std::ptr::null(),
            hash: std::ptr::null(),
            versions: std::ptr::null(),
        };
        let mut entry = link.dynamic;
        // SAFETY: the module's own list, which ends with an entry of that tag.
        while let Some(Entry { tag, value }) = unsafe { entry.as_ref() }
            && *tag != END
        {
            let value = *value as usize;
            match *tag {
                STRINGS => tables.strings = value,
                SYMBOLS => tables.symbols = value as *const _,
                GNU_HASH => tables.gnu_hash = value as *const _,
                HASH => tables.hash = value as *const _,
                VERSIONS => tables.versions = value as *const _,
                _ => {}
            }
            entry = entry.wrapping_add(1);
        }
        // The loader has made addresses of them, except in the kernel's own module.
        let relocated = tables.strings > link.bias && !tables.symbols.is_null();
        relocated.then_some(tables)
    }

    /// Whether the module imports a function of this name.
    ///
    /// # Safety
    /// The module stays loaded.
    unsafe fn imports(&self, name: &CStr) -> bool {
        // The second word is the number of the first symbol with a hash, which imports do not have; in the older table it
        // is the number of all symbols.
        let table = if self.gnu_hash.is_null() {
            self.hash
        } else {
            self.gnu_hash
        };
        // SAFETY: the caller's promise; the tables are as the ELF specification and GNU's say.
        unsafe {
            let count = if table.is_null() {
                0
            } else {
                *table.add(1) as usize
            };
            (1..count).any(|index| {
                let symbol = &*self.symbols.add(index);
                symbol.st_shndx == 0 && is(self.strings + symbol.st_name as usize, name)
            })
        }
    }

    /// Whether the module was linked with this library.
    ///
    /// # Safety
    /// The module stays loaded; the link is its own.
    unsafe fn needs(&self, link: &Link, library: &CStr) -> bool {
        let mut entry = link.dynamic;
        // SAFETY: as in `new`.
        while let Some(Entry { tag, value }) = unsafe { entry.as_ref() }
            && *tag != END
        {
            // SAFETY: as above; a name is a C string.
            if *tag == NEEDED && unsafe { is(self.strings + *value as usize, library) } {
                return true;
            }
            entry = entry.wrapping_add(1);
        }
        false
    }

    /// The function of this name that the module defines.
    ///
    /// # Safety
    /// The module stays loaded.
    unsafe fn find(&self, name: &CStr) -> Option<usize> {
        // SAFETY: the caller's promise; the tables are as the ELF specification and GNU's say.
        unsafe {
            if self.gnu_hash.is_null() {
                if self.hash.is_null() {
                    return None;
                }
                let count = *self.hash.add(1) as usize;
                return (1..count).find_map(|index| self.defined(index, name));
            }
            let [buckets, first, words, shift] =
                [0, 1, 2, 3].map(|index| *self.gnu_hash.add(index));
            let hash = gnu_hash(name);
            let filter = self.gnu_hash.add(4).cast::<u64>();
            let word = *filter.add((hash / 64 % words) as usize);
            if word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1 == 0 || buckets == 0 {
                return None;
            }
            let starts = filter.add(words as usize).cast::<u32>();
            let chain = starts.add(buckets as usize);
            let mut index = *starts.add((hash % buckets) as usize);
            if index < first {
                return None;
            }
            loop {
                let found = *chain.add((index - first) as usize);
                if found | 1 == hash | 1
                    && let Some(address) = self.defined(index as usize, name)
                {
                    return Some(address);
                }
                if found & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
    }

    /// The address of a symbol, if it is a function of this name that the module defines.
    ///
    /// # Safety
    /// The module stays loaded and has so many symbols.
    unsafe fn defined(&self, index: usize, name: &CStr) -> Option<usize> {
        // SAFETY: the caller's promise; a name is a C string.
        unsafe {
            let symbol = &*self.symbols.add(index);
            let kind = symbol.st_info & 15;
            let old = !self.versions.is_null() && *self.versions.add(index) & HIDDEN != 0;
            if symbol.st_shndx == 0
                || symbol.st_value == 0
                || old
                || ![UNTYPED, FUNCTION, INDIRECT].contains(&kind)
                || !is(self.strings + symbol.st_name as usize, name)
            {
                return None;
            }
            let address = self.bias.wrapping_add(symbol.st_value as usize);
            if kind != INDIRECT {
                return Some(address);
            }
            // The function says which of its forms is for this machine.
            let choose = std::mem::transmute::<usize, unsafe extern "C" fn() -> usize>(address);
            Some(choose())
        }
    }
}

/// Whether the C string at an address is this one. Functions of libc that compare may be what is looked for.
///
/// # Safety
/// There is a C string.
unsafe fn is(address: usize, name: &CStr) -> bool {
    let mut bytes = (address..).zip(name.to_bytes_with_nul());
    // SAFETY: the caller's promise; what is read is equal until the end. Volatile, so that it is no call of `memcmp`.
    bytes.all(|(at, byte)| unsafe { (at as *const u8).read_volatile() } == *byte)
}

fn gnu_hash(name: &CStr) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    name.to_bytes().iter().fold(5381, step)
}

/// This module's own dynamic section, by which the loader's list is searched.
fn own_section() -> usize {
    let section: usize;
    // SAFETY: computes an address.
    unsafe {
        asm!("lea {0}, [rip + _DYNAMIC]", out(reg) section, options(nostack, nomem, preserves_flags));
    }
    section
}

fn modules() -> impl Iterator<Item = &'static Link> {
    // SAFETY: the loader's list; see the module's comment.
    let mut next = unsafe { (&raw const _r_debug.first).read() };
    std::iter::from_fn(move || {
        // SAFETY: as above.
        let link = unsafe { next.as_ref() }?;
        next = link.next;
        Some(link)
    })
}

fn is_own(link: &Link) -> bool {
    link.dynamic as usize == own_section()
}

fn find_in(link: &Link, name: &CStr) -> Option<usize> {
    // SAFETY: see the module's comment.
    unsafe { Tables::new(link)?.find(name) }
}

/// Whether a module was compiled for this library, or linked with it.
pub(crate) fn is_wanted() -> bool {
    modules().any(|link| {
        // SAFETY: see the module's comment.
        let tables = unsafe { Tables::new(link) };
        // SAFETY: as above.
        tables.is_some_and(|tables| unsafe {
            tables.imports(c"__tsan_init") || tables.needs(link, c"librsan_runtime.so")
        })
    })
}

/// The function of this name behind this library, or, if the library was itself loaded late, anywhere else.
pub(crate) fn next(name: &CStr) -> Option<usize> {
    let behind = modules().skip_while(|link| !is_own(link)).skip(1);
    let before = modules().take_while(|link| !is_own(link));
    behind.chain(before).find_map(|link| find_in(link, name))
}

/// The file of a module; empty for the program.
fn file(link: &Link) -> String {
    // SAFETY: a C string of the loader.
    let name = unsafe { CStr::from_ptr(link.name) };
    name.to_string_lossy().into_owned()
}

/// The file of this library.
pub(crate) fn own_file() -> String {
    let own = modules().find(|link| is_own(link));
    own.map_or(String::new(), file)
}

/// The function of this name that a program would call, and whose it is.
pub(crate) fn first(name: &CStr) -> Option<(usize, Definer)> {
    modules().enumerate().find_map(|(index, link)| {
        let address = find_in(link, name)?;
        let definer = match index {
            _ if is_own(link) => Definer::Runtime,
            0 => Definer::Program,
            _ => Definer::Library(file(link)),
        };
        Some((address, definer))
    })
}

/// Whose a function is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Definer {
    /// This library's.
    Runtime,
    /// The program's own.
    Program,
    /// A library's: its file.
    Library(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_where_the_loader_finds_them() {
        for name in [
            c"pthread_create",
            c"pthread_cond_wait",
            c"strlen",
            c"memcpy",
            c"malloc",
            c"time",
        ] {
            // SAFETY: a C string.
            let expected = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            // What the loader knows of the time is the kernel's own function.
            if name != c"time" {
                assert_eq!(next(name), Some(expected as usize), "{name:?}");
            }
            assert!(next(name).is_some(), "{name:?}");
        }
        assert_eq!(next(c"no_such_function_anywhere"), None);
        assert_eq!(first(c"no_such_function_anywhere"), None);
    }

    #[test]
    fn the_definer_of_a_function_is_named() {
        let (_, definer) = first(c"getppid").expect("a function of libc");
        assert!(matches!(definer, Definer::Library(file) if file.contains("libc.so")));
    }
}
