//! The toolchain that compiles: where it is, and how its code can be instrumented.

use crate::sanitizer::scratch::Scratch;
use object::LittleEndian;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::read::{ReadCache, ReadRef};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The one target of the sanitizer.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Folders of libraries, in a sysroot or in the system.
const FOLDERS: &[&str] = &["lib", "lib64", "lib/x86_64-linux-gnu"];

/// A toolchain of Rust.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Toolchain {
    /// `1.95.0`
    pub(crate) release: String,
    /// Tells builds of one release apart.
    pub(crate) commit: String,
    /// Its folder.
    pub(crate) sysroot: PathBuf,
    /// How its code is instrumented.
    pub(crate) instrumentation: Instrumentation,
}

/// How code of a toolchain is instrumented.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Instrumentation {
    /// As bitcode, when it is linked, by this library.
    Bitcode {
        /// The LLVM that the compiler itself is linked with: a path, or a name that the system's loader knows.
        llvm: PathBuf,
    },
    /// By the compiler, with an option that is for nightly ones. The standard library is not.
    Sanitizer {
        /// Whether the compiler has to be told that the standard library is not.
        mismatch: bool,
    },
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
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim());
        let instrumentation = match llvm(&sysroot) {
            Some(llvm) => Instrumentation::Bitcode { llvm },
            None => sanitizer(rustc)?,
        };
        Ok(Self {
            // Compilers that distributions build may not know their commit; the version has all that they do.
            commit: format!("{:016x}", xxhash_rust::xxh3::xxh3_64(version.as_bytes())),
            release: field("release")?,
            sysroot,
            instrumentation,
        })
    }

    /// The folder of the standard library.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib")
    }

    /// The library that instruments bitcode.
    pub(crate) fn llvm(&self) -> Option<&Path> {
        match &self.instrumentation {
            Instrumentation::Bitcode { llvm } => Some(llvm),
            Instrumentation::Sanitizer { .. } => None,
        }
    }
}

fn ask(rustc: &OsStr, words: &[&str]) -> Result<String, String> {
    let name = rustc.display();
    let mut command = Command::new(rustc);
    // rustup, which may be what has this name, shows where in itself an error arose otherwise.
    command.args(words).env("RUST_LIB_BACKTRACE", "0");
    let output = command.output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("`{name} {}` failed: {said}", words.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{name}: {error}"))
}

/// The way without an LLVM. Only of a compiler that has it are options for nightly ones used; newer ones want to be told that the standard library is
/// without.
fn sanitizer(rustc: &OsStr) -> Result<Instrumentation, String> {
    let scratch = Scratch::new()?;
    let compiles = |mismatch: bool| {
        let mut command = Command::new(rustc);
        command.args([
            "--crate-name=empty",
            "--crate-type=lib",
            "--emit=metadata",
            "-",
        ]);
        command.args(sanitizer_flags(mismatch));
        command.arg("--out-dir").arg(scratch.path());
        let command = command.env("RUSTC_BOOTSTRAP", "1").stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    };
    let found = [false, true]
        .into_iter()
        .find(|mismatch| compiles(*mismatch));
    let found = found.map(|mismatch| Instrumentation::Sanitizer { mismatch });
    found.ok_or_else(|| {
        format!(
            "{}: this toolchain has no LLVM that can be loaded, and no -Zsanitizer=thread; one that rustup installs has both",
            rustc.display()
        )
    })
}

/// The options for the way without an LLVM.
pub(crate) fn sanitizer_flags(mismatch: bool) -> Vec<&'static str> {
    let mut flags = vec!["-Zsanitizer=thread", "-Zexternal-clangrt"];
    if mismatch {
        flags.push("-Cunsafe-allow-abi-mismatch=sanitizer");
    }
    flags
}

/// The LLVM that the compiler of a sysroot is linked with.
fn llvm(sysroot: &Path) -> Option<PathBuf> {
    let folders: Vec<_> = FOLDERS.iter().map(|name| sysroot.join(name)).collect();
    let driver = folders.iter().find_map(|folder| {
        let is_driver = |name: &str| name.starts_with("librustc_driver-") && name.ends_with(".so");
        file_in(folder, is_driver)
    })?;
    let name = needed(&driver)?
        .into_iter()
        .find(|name| name.starts_with("libLLVM"))?;
    let system = FOLDERS.iter().map(|name| Path::new("/usr").join(name));
    let mut files = folders
        .iter()
        .cloned()
        .chain(system)
        .map(|folder| folder.join(&name));
    // The loader has folders of its own.
    Some(
        files
            .find(|file| file.is_file())
            .unwrap_or_else(|| name.into()),
    )
}

fn file_in(folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(&wanted));
    named.map(|entry| entry.path()).min()
}

/// The libraries that the loader loads together with one.
fn needed(file: &Path) -> Option<Vec<String>> {
    let data = ReadCache::new(File::open(file).ok()?);
    needed_by(&data)
}

fn needed_by<'d, R: ReadRef<'d>>(data: R) -> Option<Vec<String>> {
    let header: &FileHeader64<LittleEndian> = FileHeader::parse(data).ok()?;
    let endian = LittleEndian;
    let sections = header.sections(endian, data).ok()?;
    let (entries, strings) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, strings).ok()?;
    let needed = entries
        .iter()
        .filter(|entry| entry.tag(endian) == DT_NEEDED);
    let names = needed.filter_map(|entry| entry.string(endian, strings).ok());
    Some(
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_tells_which_libraries_it_needs() {
        let own = std::env::current_exe().expect("this test");
        let needed = needed(&own).expect("it is a program for this system");
        assert!(needed.contains(&"libc.so.6".to_owned()), "{needed:?}");
    }

    #[test]
    fn a_folder_without_a_compiler_has_no_library() {
        let folder = Scratch::new().expect("a folder");
        assert_eq!(llvm(folder.path()), None);
    }
}
