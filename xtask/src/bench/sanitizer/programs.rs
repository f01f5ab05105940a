//! The table of programs, `bench/sanitizer/programs.toml`.

use super::Size;
use crate::bench::table;
use crate::steps::root;
use serde::Deserialize;
use std::path::PathBuf;

/// All tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The programs that are compared.
    pub(crate) program: Vec<Program>,
    /// One program over numbers of locations: time per operation should not depend on them.
    pub(crate) flat: Vec<Program>,
    /// The same programs with little and much work: memory should not depend on it.
    pub(crate) growth: Vec<Program>,
}

/// A program with its arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// What the tables call it.
    pub(crate) name: String,
    /// Path below `bench/sanitizer/`.
    pub(crate) file: String,
    /// What kind of program it is.
    pub(crate) group: String,
    /// Arguments, to be measured.
    full: String,
    /// Arguments of a smoke run.
    quick: String,
    /// Which argument is the number of operations, from 0.
    operations: Option<usize>,
    /// At most so many runs, if one takes long.
    pub(crate) runs: Option<u32>,
    /// Whether findings are true there; they need not be found in every run.
    #[serde(default)]
    pub(crate) findings: bool,
}

impl Program {
    /// Whether a filter lets it through.
    pub(crate) fn is_selected(&self, filter: Option<&str>) -> bool {
        filter.is_none_or(|text| self.name.contains(text))
    }

    /// Its arguments, separated by blanks.
    pub(crate) fn arguments(&self, size: Size) -> &str {
        match size {
            Size::Full => &self.full,
            Size::Quick => &self.quick,
        }
    }

    /// How many operations it does.
    pub(crate) fn operations(&self, size: Size) -> Option<f64> {
        self.arguments(size)
            .split(' ')
            .nth(self.operations?)?
            .parse()
            .ok()
    }
}

/// Where the programs are.
pub(crate) fn folder() -> PathBuf {
    root().join("bench/sanitizer")
}

/// What `rsan cc` links with a program, beside the runtime's library.
pub(crate) fn entries() -> PathBuf {
    root().join("crates/rsan-runtime/entries/plain.s")
}

/// Reads the tables.
pub(crate) fn manifest() -> Result<Manifest, String> {
    table::read(&folder())
}
