//! The toolchain that compiles: where it is, and which LLVM it has.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The one target of the sanitizer.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A toolchain of Rust.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Toolchain {
    /// `1.95.0`
    pub(crate) release: String,
    /// Tells builds of one release apart.
    pub(crate) commit: String,
    /// Its folder.
    pub(crate) sysroot: PathBuf,
    /// Its LLVM.
    pub(crate) llvm: PathBuf,
}

impl Toolchain {
    /// The toolchain that `rustc` is of.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn find(rustc: &OsStr) -> Result<Self, String> {
        let version = ask(rustc, &["-vV"])?;
        let field = |name: &str| {
            let mut lines = version.lines();
            lines
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                .map(str::to_owned)
                .ok_or_else(|| format!("`{} -vV` does not say its {name}", rustc.display()))
        };
        let host = field("host")?;
        if host != TARGET {
            return Err(format!("the sanitizer is for {TARGET}, and this is {host}"));
        }
        let release = field("release")?;
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim());
        let llvm = library(&sysroot).ok_or_else(|| {
            format!(
                "Rust {release} in {} has no LLVM library of its own; a toolchain of rustup has one",
                sysroot.display()
            )
        })?;
        Ok(Self {
            commit: field("commit-hash")?,
            release,
            sysroot,
            llvm,
        })
    }

    /// The folder of the standard library.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib")
    }
}

fn ask(rustc: &OsStr, words: &[&str]) -> Result<String, String> {
    let name = rustc.display();
    let output = Command::new(rustc).args(words).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("`{name} {}` failed: {said}", words.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{name}: {error}"))
}

/// The shared library in a sysroot; links and linker scripts beside it are small.
fn library(sysroot: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(sysroot.join("lib")).ok()?.flatten();
    let libraries = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libLLVM") && name.contains(".so")
    });
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    libraries.map(|entry| entry.path()).max_by_key(size)
}
