//! What cargo would run: its own runner, which notes that and ends.

use crate::session::eprint;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The name under which this command is cargo's runner.
pub(crate) const RUNNER: &str = "rsan-cargo-runner";

/// Has the folder for notes.
pub(super) const VARIABLE: &str = "RSAN_CARGO_NOTES";

/// A program as cargo starts it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    /// Its name and arguments.
    pub(super) program: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// Notes what is to be run, or runs it if cargo-nextest wants that; returns the exit status.
pub(crate) fn runner(words: &[OsString]) -> u8 {
    let noted = match std::env::var_os(VARIABLE) {
        Some(folder) => note(words, Path::new(&folder)),
        None => return super::nextest::runner(words),
    };
    match noted {
        Ok(()) => 0,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

fn note(words: &[OsString], folder: &Path) -> Result<(), String> {
    let started = Started {
        program: words.to_vec(),
        folder: std::env::current_dir().map_err(|error| error.to_string())?,
        environment: std::env::vars_os().filter(|(n, _)| n != VARIABLE).collect(),
    };
    let text = serde_json::to_string(&started).map_err(|error| error.to_string())?;
    // Cargo starts one program after the other.
    let number = fs::read_dir(folder).map_or(0, Iterator::count);
    let file = folder.join(format!("{number:06}"));
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// What was noted, in the order in which cargo would start it.
///
/// # Errors
/// The message for the user.
pub(super) fn notes(folder: &Path) -> Result<Vec<Started>, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    };
    files.iter().map(read).collect()
}
