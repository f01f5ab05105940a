//! What all parts of one work have in common. Results of parts that differ in it do not belong together.

use crate::files;
use rsan_report::Command;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// Of this command, and of its runtime.
    version: String,
    command: Command,
    /// What stands after the options.
    subject: String,
    /// A hash of what is run or read.
    program: String,
    /// Options that the answer depends on, with their values.
    options: Vec<String>,
}

impl Asked {
    /// A question of this version about these contents.
    pub(crate) fn new(
        command: Command,
        subject: String,
        contents: &[Vec<u8>],
        options: Vec<String>,
    ) -> Self {
        let hashes = contents.iter().map(|bytes| xxh3_128(bytes).to_le_bytes());
        let hashes: Vec<u8> = hashes.flatten().collect();
        Self {
            version: format!(
                "{} {}",
                env!("CARGO_PKG_VERSION"),
                env!("RSAN_RUNTIME_HASH")
            ),
            command,
            subject,
            program: files::checksum(&hashes),
            options,
        }
    }

    /// The command that answers it.
    pub(crate) fn command(&self) -> Command {
        self.command
    }

    /// How another question differs from this one, in words.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let differs = |what: &str, one: &str, other: &str| {
            (one != other).then(|| format!("{what}: {one} and {other}"))
        };
        let same = |what: &str, one: &str, other: &str| {
            (one != other).then(|| format!("{what} is not the same"))
        };
        let of_options = || {
            let has = |all: &[String], option: &String| all.contains(option);
            let mine = self.options.iter().filter(|o| !has(&other.options, o));
            let theirs = other.options.iter().filter(|o| !has(&self.options, o));
            let all: Vec<_> = mine.chain(theirs).map(String::as_str).collect();
            (!all.is_empty()).then(|| format!("options: {}", all.join(" and ")))
        };
        differs("versions of rsan", &self.version, &other.version)
            .or_else(|| differs("commands", self.command.name(), other.command.name()))
            .or_else(|| differs("programs", &self.subject, &other.subject))
            .or_else(|| same("the program", &self.program, &other.program))
            .or_else(of_options)
    }
}

/// What is in a program that a shell would find by this name.
///
/// # Errors
/// The message for the user.
pub(crate) fn program(name: &OsStr) -> Result<Vec<u8>, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", name.display());
    let path = Path::new(name);
    if path.components().count() > 1 {
        return files::read(path, files::LARGE).map_err(fail);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(path));
    let place: Option<PathBuf> = places.find(|place| place.is_file());
    files::read(&place.unwrap_or(path.to_owned()), files::LARGE).map_err(fail)
}
