//! The programs, as the table beside them lists them.

use crate::bench::table;
use crate::steps::root;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    program: Vec<Program>,
}

/// A program with a bug.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// Its file without the extension.
    pub(crate) file: String,
    /// Of 100 runs of C11Tester, those that are published to find the bug of the program of that name.
    pub(crate) published: f64,
    /// It is none of the data structures of which the mean is taken.
    #[serde(default)]
    pub(crate) injected: bool,
}

impl Program {
    pub(crate) fn path(&self) -> PathBuf {
        folder().join(&self.file).with_extension("c")
    }
}

fn folder() -> PathBuf {
    root().join("bench/explore")
}

/// Those whose name contains the text, in the order of the table.
pub(crate) fn all(only: Option<&str>) -> Result<Vec<Program>, String> {
    let Manifest { mut program } = table::read(&folder())?;
    program.retain(|program| only.is_none_or(|text| program.file.contains(text)));
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_has_a_row_and_every_row_a_file() {
        let rows = all(None).expect("the table");
        let rows: BTreeSet<PathBuf> = rows.iter().map(Program::path).collect();
        let files = std::fs::read_dir(folder()).expect("the folder");
        let files = files.map(|file| file.expect("a file").path());
        let is_program = |path: &PathBuf| path.extension().is_some_and(|end| end == "c");
        assert_eq!(rows, files.filter(is_program).collect());
    }
}
