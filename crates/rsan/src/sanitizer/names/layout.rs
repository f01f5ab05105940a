//! Which element or member of a variable lies at an offset, by the variable's type.

use super::{Dwarf, Entry, Slice};
use addr2line::gimli::{self, AttributeValue, Unit, UnitOffset};
use std::fmt::Write as _;

/// Types within types that are followed; more is a malformed file.
const DEEPEST: usize = 64;

/// Types of Rust that are nothing but what is in them.
const CELLS: [&str; 5] = [
    "UnsafeCell<",
    "SyncUnsafeCell<",
    "Cell<",
    "ManuallyDrop<",
    "CachePadded<",
];

/// The types of a unit.
pub(super) struct Layout<'a, 'd> {
    dwarf: &'a Dwarf<'d>,
    unit: &'a Unit<Slice<'d>>,
}

impl<'a, 'd> Layout<'a, 'd> {
    pub(super) fn new(dwarf: &'a Dwarf<'d>, unit: &'a Unit<Slice<'d>>) -> Self {
        Self { dwarf, unit }
    }

    /// `[0].next` for an offset inside a variable of a type, and whether there is a number with a sign; `None` if it lies behind
    /// the variable.
    pub(super) fn path(
        &self,
        kind: Option<AttributeValue<Slice<'d>>>,
        offset: u64,
    ) -> Option<(String, bool)> {
        let mut path = String::new();
        let (rest, signed) = match kind.and_then(entry_offset) {
            Some(kind) => {
                if self.size(kind).is_some_and(|size| offset >= size) {
                    return None;
                }
                let (kind, rest) = self.descend(kind, offset, &mut path);
                (rest, rest == 0 && self.is_signed(kind))
            }
            None => (offset, false),
        };
        if rest > 0 {
            let _ = write!(path, "+{rest}");
        }
        Some((path, signed))
    }

    /// Whether values of a type are numbers with a sign; those of `std::atomic<T>` are as those of `T`.
    fn is_signed(&self, kind: UnitOffset) -> bool {
        let mut kind = kind;
        for _ in 0..DEEPEST {
            let Ok(entry) = self.unit.entry(kind) else {
                return false;
            };
            let next = match entry.tag() {
                gimli::DW_TAG_base_type => return is_of_signed(&entry),
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => self.parameter(&entry),
                gimli::DW_TAG_enumeration_type => target(&entry),
                tag if is_alias(tag) => target(&entry),
                _ => None,
            };
            let Some(next) = next else { return false };
            kind = next;
        }
        false
    }

    /// The type of the elements of a standard atomic.
    fn parameter(&self, record: &Entry<'d>) -> Option<UnitOffset> {
        let name = self.text(record, gimli::DW_AT_name).unwrap_or_default();
        let mut found = None;
        let _ = self.each_child(record, |child| {
            if found.is_none() && child.tag() == gimli::DW_TAG_template_type_parameter {
                found = target(child);
            }
        });
        found.filter(|_| name.starts_with("atomic") || name.starts_with("__atomic"))
    }

    /// Appends what is known, and returns the type there and the offset inside of it.
    fn descend(&self, kind: UnitOffset, offset: u64, path: &mut String) -> (UnitOffset, u64) {
        let (mut kind, mut offset) = (kind, offset);
        for _ in 0..DEEPEST {
            let Ok(entry) = self.unit.entry(kind) else {
                break;
            };
            let next = match entry.tag() {
                tag if is_alias(tag) => target(&entry).map(|kind| (kind, offset)),
                gimli::DW_TAG_array_type => self.element(&entry, offset, path),
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                    self.member(&entry, offset, path)
                }
                _ => None,
            };
            let Some(next) = next else { break };
            (kind, offset) = next;
        }
        (kind, offset)
    }

    fn element(
        &self,
        array: &Entry<'d>,
        offset: u64,
        path: &mut String,
    ) -> Option<(UnitOffset, u64)> {
        let kind = target(array)?;
        let size = self.size(kind).filter(|size| *size > 0)?;
        let mut counts = self.counts(array);
        let mut index = offset / size;
        let mut indices = Vec::new();
        // The first dimension is not needed, so it may be unknown.
        while counts.len() > 1 {
            let count = counts.pop().flatten().filter(|count| *count > 0)?;
            indices.push(index % count);
            index /= count;
        }
        indices.push(index);
        for index in indices.iter().rev() {
            let _ = write!(path, "[{index}]");
        }
        Some((kind, offset % size))
    }

    /// The length of each dimension.
    fn counts(&self, array: &Entry<'d>) -> Vec<Option<u64>> {
        let mut counts = Vec::new();
        let _ = self.each_child(array, |child| {
            if child.tag() != gimli::DW_TAG_subrange_type {
                return;
            }
            let number = |name| child.attr_value(name)?.udata_value();
            let count = number(gimli::DW_AT_count);
            counts.push(count.or_else(|| number(gimli::DW_AT_upper_bound)?.checked_add(1)));
        });
        counts
    }

    fn member(
        &self,
        record: &Entry<'d>,
        offset: u64,
        path: &mut String,
    ) -> Option<(UnitOffset, u64)> {
        // The inside of the standard atomics is nobody's business.
        let name = self.text(record, gimli::DW_AT_name).unwrap_or_default();
        if ["atomic", "__atomic", "Atomic"]
            .iter()
            .any(|start| name.starts_with(start))
        {
            return None;
        }
        let mut found = None;
        let _ = self.each_child(record, |child| {
            let inherited = child.tag() == gimli::DW_TAG_inheritance;
            if found.is_some() || !inherited && child.tag() != gimli::DW_TAG_member {
                return;
            }
            let at = child.attr_value(gimli::DW_AT_data_member_location);
            // A member without a place is a static one.
            let Some(start) = at.and_then(|at| at.udata_value()) else {
                return;
            };
            let Some(kind) = target(child) else { return };
            let size = self.size(kind).unwrap_or(0);
            if start <= offset && offset - start < size {
                let name = self.text(child, gimli::DW_AT_name).filter(|_| !inherited);
                found = Some((kind, offset - start, name));
            }
        });
        let (kind, rest, member) = found?;
        let is_cell = CELLS.iter().any(|cell| name.starts_with(cell));
        if let Some(member) = member.filter(|_| !is_cell) {
            // Members of tuples have numbers.
            let number = member.strip_prefix("__");
            let number = number.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
            let member = number.unwrap_or(&member);
            let _ = write!(path, ".{member}");
        }
        Some((kind, rest))
    }

    fn size(&self, kind: UnitOffset) -> Option<u64> {
        let mut kind = kind;
        let mut factor = 1u64;
        for _ in 0..DEEPEST {
            let entry = self.unit.entry(kind).ok()?;
            let known = entry.attr_value(gimli::DW_AT_byte_size);
            if let Some(size) = known.and_then(|size| size.udata_value()) {
                return size.checked_mul(factor);
            }
            if entry.tag() == gimli::DW_TAG_array_type {
                for count in self.counts(&entry) {
                    factor = factor.checked_mul(count?)?;
                }
            } else if !is_alias(entry.tag()) {
                return None;
            }
            kind = target(&entry)?;
        }
        None
    }

    fn text(&self, entry: &Entry<'d>, name: gimli::DwAt) -> Option<String> {
        let text = self.dwarf.attr_string(self.unit, entry.attr_value(name)?);
        Some(text.ok()?.to_string_lossy().into_owned())
    }

    fn each_child(&self, entry: &Entry<'d>, mut act: impl FnMut(&Entry<'d>)) -> gimli::Result<()> {
        let mut tree = self.unit.entries_tree(Some(entry.offset()))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            act(child.entry());
        }
        Ok(())
    }
}

/// Whether a type is another one by a different name.
fn is_alias(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type
    )
}

fn is_of_signed(entry: &Entry<'_>) -> bool {
    matches!(
        entry.attr_value(gimli::DW_AT_encoding),
        Some(AttributeValue::Encoding(
            gimli::DW_ATE_signed | gimli::DW_ATE_signed_char
        ))
    )
}

fn target(entry: &Entry<'_>) -> Option<UnitOffset> {
    entry.attr_value(gimli::DW_AT_type).and_then(entry_offset)
}

fn entry_offset(value: AttributeValue<Slice<'_>>) -> Option<UnitOffset> {
    match value {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}
