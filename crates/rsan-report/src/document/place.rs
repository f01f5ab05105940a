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
    /// `file:line`, or the file alone.
    pub fn file_line(&self) -> String {
        let file = name(&self.file);
        match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.into_owned(),
        }
    }

    /// `file:line:column`, as far as it is known.
    pub fn file_line_column(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{column}", self.file_line()),
            None => self.file_line(),
        }
    }
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

/// Headers in which atomic operations are defined.
const ATOMICS: [&str; 4] = ["atomic", "atomic_base.h", "stdatomic.h", "atomic.rs"];

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

    /// Whether this is the library's form of an atomic access that its caller makes: `std::atomic<int>::load`.
    pub fn is_form_of_access(&self) -> bool {
        let file = self.file.as_deref().unwrap_or_default();
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

/// The frame that a reader of the program would name: the innermost one with a source that is not of a library, or else the
/// innermost one with a source.
pub fn place_of(stack: &[Frame]) -> Option<&Frame> {
    let mut known = stack.iter().filter(|frame| frame.file.is_some());
    let own = known.clone().find(|frame| frame.library.is_none());
    own.or_else(|| known.next())
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
