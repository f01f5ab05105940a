//! Names of global and static variables: from the debug information (`flag[0]`, `queue.head`), or else from the
//! table of symbols (`queue+8`). What is not known is left out: a stripped module, or one that is gone, is never
//! an error.

mod layout;

use super::symbols::{demangled, is_file, shared};
use crate::files;
use addr2line::gimli::{
    self, AttributeValue, DebugInfoOffset, DwarfSections, EndianSlice, LittleEndian, Operation,
    Unit, UnitOffset,
};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// The modules whose variables were asked for.
#[derive(Default)]
pub(crate) struct Names {
    modules: BTreeMap<String, Option<Module>>,
}

impl Names {
    /// The variable at an address in the module's file, with the element or member that is there, and whether that is known to be
    /// a number with a sign.
    pub(crate) fn variable(&mut self, module: &str, address: u64) -> Option<(String, bool)> {
        shared::answer("variable", module, address, || self.find(module, address))
    }

    /// The same, by the debug information.
    fn find(&mut self, module: &str, address: u64) -> Option<(String, bool)> {
        let known = self.modules.entry(module.to_owned());
        let module = known.or_insert_with(|| Module::read(module)).as_ref()?;
        let symbol = || Some((module.symbol(address)?, false));
        module.described(address).or_else(symbol)
    }
}

/// A symbol of the table.
struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

/// A variable of the debug information.
struct Variable {
    address: u64,
    unit: DebugInfoOffset,
    entry: UnitOffset,
}

struct Module {
    sections: DwarfSections<Vec<u8>>,
    /// By address.
    variables: Vec<Variable>,
    symbols: Vec<Symbol>,
}

impl Module {
    fn read(path: &str) -> Option<Self> {
        if !is_file(path) {
            return None;
        }
        let bytes = files::read(Path::new(path), files::LARGE).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let section = |id: gimli::SectionId| -> Result<Vec<u8>, gimli::Error> {
            let found = file.section_by_name(id.name());
            let data = found.and_then(|section| section.uncompressed_data().ok());
            Ok(data.map_or(Vec::new(), Cow::into_owned))
        };
        let sections = DwarfSections::load(section).ok()?;
        let mut variables = Vec::new();
        // What is malformed ends the search; what was found until then is kept.
        let _ = collect(&dwarf(&sections), &mut variables);
        variables.sort_by_key(|variable| variable.address);
        Some(Self {
            sections,
            variables,
            symbols: symbols(&file),
        })
    }

    /// From the debug information.
    fn described(&self, address: u64) -> Option<(String, bool)> {
        let after = self.variables.partition_point(|v| v.address <= address);
        let variable = &self.variables[after.checked_sub(1)?];
        let dwarf = dwarf(&self.sections);
        let header = dwarf.debug_info.header_from_offset(variable.unit).ok()?;
        let unit = dwarf.unit(header).ok()?;
        let entry = unit.entry(variable.entry).ok()?;
        let name = name(&dwarf, &unit, &entry)?;
        let declared = declaration(&unit, &entry);
        let kind = entry.attr_value(gimli::DW_AT_type);
        let kind = kind.or_else(|| declared?.attr_value(gimli::DW_AT_type));
        let layout = layout::Layout::new(&dwarf, &unit);
        let (inside, signed) = layout.path(kind, address - variable.address)?;
        Some((format!("{name}{inside}"), signed))
    }

    /// From the table of symbols.
    fn symbol(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|s| s.address <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        let inside = address - symbol.address;
        let plus = match inside {
            0 => String::new(),
            _ => format!("+{inside}"),
        };
        (inside < symbol.size).then(|| format!("{}{plus}", symbol.name))
    }
}

fn symbols(file: &object::File<'_>) -> Vec<Symbol> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let mut symbols: Vec<_> = all
        .filter(|s| s.is_definition() && s.kind() == SymbolKind::Data && s.size() > 0)
        .filter_map(|s| {
            Some(Symbol {
                address: s.address(),
                size: s.size(),
                name: demangled(s.name().ok()?),
            })
        })
        .collect();
    symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    symbols
}

fn dwarf(sections: &DwarfSections<Vec<u8>>) -> Dwarf<'_> {
    sections.borrow(|section| EndianSlice::new(section, LittleEndian))
}

/// All variables with a fixed address.
fn collect(dwarf: &Dwarf<'_>, variables: &mut Vec<Variable>) -> gimli::Result<()> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let Some(offset) = header.debug_info_offset() else {
            continue;
        };
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_variable {
                continue;
            }
            if let Some(address) = address(dwarf, &unit, entry) {
                variables.push(Variable {
                    address,
                    unit: offset,
                    entry: entry.offset(),
                });
            }
        }
    }
    Ok(())
}

fn address(dwarf: &Dwarf<'_>, unit: &Unit<Slice<'_>>, entry: &Entry<'_>) -> Option<u64> {
    let location = entry.attr_value(gimli::DW_AT_location)?;
    let AttributeValue::Exprloc(expression) = location else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    // Anything after it computes something else: a thread-local variable, say. What the linker dropped is at 0.
    let alone = operations.next().ok()?.is_none();
    (alone && address != 0).then_some(address)
}

/// The declaration that a definition completes.
fn declaration<'a>(unit: &Unit<Slice<'a>>, entry: &Entry<'a>) -> Option<Entry<'a>> {
    match entry.attr_value(gimli::DW_AT_specification)? {
        AttributeValue::UnitRef(offset) => unit.entry(offset).ok(),
        _ => None,
    }
}

fn name<'a>(dwarf: &Dwarf<'a>, unit: &Unit<Slice<'a>>, entry: &Entry<'a>) -> Option<String> {
    let declared = declaration(unit, entry);
    let attribute = |name| {
        let of = |entry: &Entry<'a>| entry.attr_value(name);
        let value = of(entry).or_else(|| declared.as_ref().and_then(of))?;
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let linkage = attribute(gimli::DW_AT_linkage_name).map(|name| demangled(&name));
    linkage.or_else(|| attribute(gimli::DW_AT_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_has_no_name() {
        let mut names = Names::default();
        assert_eq!(names.variable("/nonexistent/module", 16), None);
        let this = std::env::current_exe().expect("the test has a path");
        assert_eq!(names.variable(&this.to_string_lossy(), 1), None);
    }
}
