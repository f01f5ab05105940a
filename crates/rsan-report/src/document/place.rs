//! Places: in a source, on a stack; and the lines that stand there.

use crate::printable::name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in a source. Lines and columns count from 1, columns in characters.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// As the user would name it.
    pub file: String,
    /// The first line, unless only the file is known.
    pub line: Option<u32>,
    /// Its first column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The column after the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
}

impl Place {
    /// `file:line`, or the file alone. In Rust with the column: a line often has several closures and accesses.
    pub fn file_line(&self) -> String {
        match self.is_of_rust() {
            true => self.file_line_column(),
            false => self.up_to_line(),
        }
    }

    /// `file:line:column`, as far as it is known.
    pub fn file_line_column(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{column}", self.up_to_line()),
            None => self.up_to_line(),
        }
    }

    fn up_to_line(&self) -> String {
        let file = name(&self.file);
        match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.into_owned(),
        }
    }

    /// Whether the source is one of Rust.
    pub fn is_of_rust(&self) -> bool {
        is_rust(&self.file)
    }
}

/// Whether a file is a source of Rust, by its name.
fn is_rust(file: &str) -> bool {
    file.ends_with(".rs")
}

/// A function that was active, perhaps inlined in the next one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Demangled.
    pub function: Option<String>,
    /// The source.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// The file of the program or library.
    pub module: Option<String>,
    /// The address in the module's file; not known of a function of libc.
    pub offset: Option<String>,
    /// Code of a library that the user did not write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
}

/// The library of a frame in Rust's standard library.
pub const STANDARD: &str = "the standard library";

/// Headers in which atomic operations are defined.
const ATOMICS: [&str; 3] = ["atomic", "atomic_base.h", "stdatomic.h"];

/// Parts of Rust's standard library that only access memory, or call, for their caller.
const FORMS: [&str; 6] = [
    "core/src/sync/atomic",
    "core/src/ptr/",
    "core/src/ops/",
    "core/src/intrinsics",
    "core/src/mem/",
    "core/src/cell",
];

impl Frame {
    /// `file:line`, or the module and the address in it.
    pub fn at(&self) -> Option<String> {
        let place = self.place().map(|place| place.file_line());
        place.or_else(|| {
            let module = name(self.module.as_deref().unwrap_or("?"));
            let offset = self.offset.as_ref()?;
            Some(format!("{module}+{offset}"))
        })
    }

    /// Whether this is code of Rust's standard library.
    pub fn is_of_standard(&self) -> bool {
        self.library.as_deref() == Some(STANDARD)
    }

    /// Whether this is the library's form of an access that its caller makes: `std::atomic<int>::load`, `AtomicUsize::load`.
    pub fn is_form_of_access(&self) -> bool {
        let file = self.file.as_deref().unwrap_or_default();
        if self.is_of_standard() {
            return FORMS.iter().any(|form| file.contains(form));
        }
        let mut folders = file.rsplit('/');
        let name = folders.next().unwrap_or_default();
        self.library.is_some() && (ATOMICS.contains(&name) || folders.next() == Some("__atomic"))
    }

    /// Its place, if the source is known.
    pub fn place(&self) -> Option<Place> {
        Some(Place {
            file: self.file.clone()?,
            line: self.line,
            column: self.column,
            end_line: None,
            end_column: None,
        })
    }
}

/// The frame that a reader of the program would name: the innermost one with a source that is not of a library, or else of one that is
/// not Rust's standard library, or else the innermost one that does more than an access for its caller. Optimised code has accesses without a
/// line; then it is the next one that has a line.
pub fn place_of(stack: &[Frame]) -> Option<&Frame> {
    let mut known = stack.iter().filter(|frame| frame.file.is_some());
    let is_own = |frame: &&Frame| frame.library.is_none();
    let mut own = known.clone().filter(is_own);
    let own = own
        .clone()
        .find(|frame| frame.line.is_some())
        .or_else(|| own.next());
    let of_package = || known.clone().find(|frame| !frame.is_of_standard());
    let found = own.or_else(of_package).or_else(|| maker_of(stack));
    found.or_else(|| known.next())
}

/// The function that makes an access, behind the library's form of it.
pub fn maker_of(stack: &[Frame]) -> Option<&Frame> {
    let mut known = stack.iter().filter(|frame| frame.file.is_some());
    known.find(|frame| !frame.is_form_of_access())
}

/// A memory order as Rust names it: `seq_cst` is `SeqCst`.
pub fn order_in_rust(order: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    order.split('_').map(word).collect()
}

/// Lines of a source that follow each other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Excerpt {
    /// As places name it.
    pub file: String,
    /// The number of the first line, from 1.
    pub first: u32,
    /// Without their ends.
    pub lines: Vec<String>,
}

/// Characters of a line that are kept.
const LONGEST: usize = 1000;

/// Lines that are kept before and after a place.
const AROUND: u32 = 6;

impl Excerpt {
    /// The ranges of lines around places, from 1, of a source with so many lines.
    pub fn around(lines: impl Iterator<Item = u32>, last: u32) -> Vec<(u32, u32)> {
        let mut lines: Vec<_> = lines.filter(|line| (1..=last).contains(line)).collect();
        lines.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            let from = line.saturating_sub(AROUND).max(1);
            let to = (line + AROUND).min(last);
            match ranges.last_mut().filter(|range| from <= range.1 + 1) {
                Some(range) => range.1 = to,
                None => ranges.push((from, to)),
            }
        }
        ranges
    }

    /// The excerpts of a source for ranges of its lines.
    pub fn of(file: &str, lines: &[&str], ranges: &[(u32, u32)]) -> Vec<Self> {
        let excerpt = |&(first, last): &(u32, u32)| Self {
            file: file.to_owned(),
            first,
            lines: lines
                .iter()
                .skip(first as usize - 1)
                .take((last + 1 - first) as usize)
                .map(|line| line.chars().take(LONGEST).collect())
                .collect(),
        };
        ranges.iter().map(excerpt).collect()
    }

    /// A line by its number, from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = number.checked_sub(self.first)?;
        self.lines.get(index as usize).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, library: Option<&str>) -> Frame {
        Frame {
            file: Some(file.to_owned()),
            line: Some(3),
            column: Some(7),
            library: library.map(str::to_owned),
            ..Frame::default()
        }
    }

    fn place(stack: &[Frame]) -> Option<&str> {
        place_of(stack)?.file.as_deref()
    }

    #[test]
    fn the_place_is_in_the_workspace_then_in_a_package_then_in_the_standard_library() {
        let atomic = frame("core/src/sync/atomic.rs", Some(STANDARD));
        let mutex = frame("std/src/sync/mutex.rs", Some(STANDARD));
        let package = frame(
            "/r/registry/src/i/queue-1.0.0/src/lib.rs",
            Some("queue 1.0.0"),
        );
        let own = frame("src/lib.rs", None);
        let all = [atomic, mutex, package, own];
        assert_eq!(place(&all), Some("src/lib.rs"));
        let lost = Frame {
            line: None,
            ..frame("src/ring.rs", None)
        };
        assert_eq!(place(&[lost.clone(), all[3].clone()]), Some("src/lib.rs"));
        assert_eq!(place(&[all[0].clone(), lost]), Some("src/ring.rs"));
        assert_eq!(
            place(&all[..3]),
            Some("/r/registry/src/i/queue-1.0.0/src/lib.rs")
        );
        assert_eq!(place(&all[..2]), Some("std/src/sync/mutex.rs"));
        assert_eq!(place(&all[..1]), Some("core/src/sync/atomic.rs"));
    }

    #[test]
    fn places_of_rust_have_columns() {
        let at = |file| frame(file, None).at();
        assert_eq!(at("src/lib.rs").as_deref(), Some("src/lib.rs:3:7"));
        assert_eq!(at("lib.c").as_deref(), Some("lib.c:3"));
    }
}
