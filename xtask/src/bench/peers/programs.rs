//! The programs, as the table beside them lists them.

use crate::bench::table;
use crate::steps::root;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    program: Vec<Program>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    file: String,
    threads: Vec<usize>,
    #[serde(default)]
    weak: bool,
}

/// One program with a number of threads.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its file without the extension; the Rust program has the same name.
    pub(crate) program: String,
    /// How many threads it makes.
    pub(crate) threads: usize,
    /// Whether it is not robust.
    pub(crate) weak: bool,
}

impl Case {
    /// For tables and file names.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.program, self.threads)
    }

    /// A C file with this number of threads, in the given folder.
    pub(crate) fn write(&self, work: &Path) -> Result<PathBuf, String> {
        let path = work.join(format!("{}.c", self.name()));
        let source = folder().join(format!("{}.c", self.program));
        let (threads, source) = (self.threads, source.display());
        let text = format!("#define THREADS {threads}\n#include \"{source}\"\n");
        std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(path)
    }
}

/// Where the programs are.
pub(crate) fn folder() -> PathBuf {
    root().join("bench/peers")
}

/// Those whose name contains the text, in the order of the table.
pub(crate) fn cases(only: Option<&str>) -> Result<Vec<Case>, String> {
    let manifest: Manifest = table::read(&folder())?;
    let all = manifest.program.into_iter().flat_map(|program| {
        let Program {
            file,
            threads,
            weak,
        } = program;
        threads.into_iter().map(move |threads| Case {
            program: file.clone(),
            threads,
            weak,
        })
    });
    Ok(all
        .filter(|case| only.is_none_or(|text| case.name().contains(text)))
        .collect())
}
