//! The functions and variables of a module, from the symbols in its file: enough to know a name, without debug information.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A function or variable: its addresses in the file, and its name as the linker knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Symbol {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: String,
}

/// Section types.
const SYMTAB: u32 = 2;
const DYNSYM: u32 = 11;
/// Bytes of a symbol.
const SYMBOL: usize = 24;
/// The types of symbols that are variables, and functions.
const OBJECT: u8 = 1;
const FUNC: u8 = 2;
/// Tables larger than this are not read.
const MAX_BYTES: u64 = 256 << 20;

/// All functions of a file; none if it cannot be read.
pub(crate) fn functions(path: &str) -> Vec<Symbol> {
    symbols(path, FUNC)
}

/// All variables of a file that have a fixed address; none if it cannot be read.
pub(crate) fn variables(path: &str) -> Vec<Symbol> {
    symbols(path, OBJECT)
}

fn symbols(path: &str, kind: u8) -> Vec<Symbol> {
    let file = File::open(path).ok();
    let read = file.and_then(|file| read(&file, kind));
    read.unwrap_or_default()
}

/// The name of the symbol at an address.
pub(crate) fn name(symbols: &[Symbol], address: u64) -> Option<&str> {
    let here = |s: &&Symbol| s.start <= address && address < s.end;
    symbols.iter().find(here).map(|s| s.name.as_str())
}

struct Section {
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
}

fn read(file: &File, kind: u8) -> Option<Vec<Symbol>> {
    let header = bytes(file, 0, 64)?;
    // A 64-bit file of this machine's byte order.
    if header[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (entry, count) = (u64::from(u16_at(&header, 0x3a)?), u16_at(&header, 0x3c)?);
    let table = u64_at(&header, 0x28)?;
    let sections: Vec<_> = (0..u64::from(count))
        .map_while(|index| section(file, table.checked_add(index * entry)?))
        .collect();
    let of_kind = |kind| sections.iter().find(|section| section.kind == kind);
    let symbols = of_kind(SYMTAB).or_else(|| of_kind(DYNSYM))?;
    let names = sections.get(symbols.link as usize)?;
    let names = bytes(file, names.offset, names.size)?;
    let symbols = bytes(file, symbols.offset, symbols.size)?;
    let symbols = symbols.chunks_exact(SYMBOL);
    Some(symbols.filter_map(|s| symbol(s, kind, &names)).collect())
}

fn section(file: &File, at: u64) -> Option<Section> {
    let header = bytes(file, at, 64)?;
    Some(Section {
        kind: u32_at(&header, 4)?,
        offset: u64_at(&header, 24)?,
        size: u64_at(&header, 32)?,
        link: u32_at(&header, 40)?,
    })
}

fn symbol(symbol: &[u8], kind: u8, names: &[u8]) -> Option<Symbol> {
    let (start, size) = (u64_at(symbol, 8)?, u64_at(symbol, 16)?);
    if symbol[4] & 0xf != kind || size == 0 {
        return None;
    }
    let name = names.get(u32_at(symbol, 0)? as usize..)?;
    let name = name.split(|byte| *byte == 0).next()?;
    Some(Symbol {
        start,
        end: start.checked_add(size)?,
        name: String::from_utf8_lossy(name).into_owned(),
    })
}

fn bytes(file: &File, offset: u64, size: u64) -> Option<Vec<u8>> {
    if size > MAX_BYTES {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let part = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(part.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(part.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let part = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(part.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules;

    #[test]
    fn a_function_of_this_program_has_its_name() {
        let modules = modules::modules();
        let address = functions as *const () as usize;
        let (module, offset) = modules::find(&modules, address).expect("this program");
        let all = functions(&module.path);
        let name = name(&all, offset as u64).expect("a symbol");
        assert!(name.contains("functions"), "{name}");
    }

    #[test]
    fn what_is_no_program_has_no_functions() {
        assert_eq!(functions("/dev/null"), []);
        assert_eq!(functions("/proc/self/cmdline"), []);
        assert_eq!(functions("/nonexistent"), []);
    }
}
