//! Finds an LLVM on this machine and loads it.

use crate::error::Error;
use crate::ffi::Api;
use std::cmp::Reverse;
use std::ffi::{CStr, CString, OsStr, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names a library to load instead of the ones that are found.
const VARIABLE: &str = "RSAN_LLVM";
/// The oldest version whose C API has what is needed.
const OLDEST: u32 = 14;
/// The newest version whose name is tried where there is no folder to look into. Folders may have newer ones.
const NEWEST: u32 = 30;

/// A version of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    /// 14 to 23 are tried.
    pub major: u32,
    /// 0 if unknown.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LLVM {}.{}", self.major, self.minor)
    }
}

/// An LLVM that is loaded. It stays so until the process ends: LLVM has state of its own that nothing tears down.
pub struct Library {
    pub(crate) api: Api,
    version: Version,
    path: PathBuf,
}

impl Library {
    /// Its version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Loads a library.
    ///
    /// # Errors
    /// Why it cannot be loaded, or is no LLVM that can be used.
    pub fn load(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a NUL-terminated path. The library's constructors run, which is what loading an LLVM means.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(last_error());
        }
        let lookup = |symbol: &CStr| -> Option<*mut c_void> {
            // SAFETY: the handle is never closed, the name is NUL-terminated.
            let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        // SAFETY: the functions of LLVM's C API have these names, and nothing else has.
        let api = unsafe { Api::load(&lookup) }
            .map_err(|symbol| format!("it has no {}", symbol.to_string_lossy()))?;
        let version = version(&api);
        if version.major < OLDEST {
            return Err(format!("it is older than LLVM {OLDEST}"));
        }
        let path = path.to_owned();
        Ok(Self { api, version, path })
    }
}

/// Before 16 there is no function that tells; 15 is the first one that has another one.
fn version(api: &Api) -> Version {
    let Some(ask) = api.version else {
        let major = OLDEST + u32::from(api.set_opaque_pointers.is_some());
        return Version { major, minor: 0 };
    };
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places for numbers.
    unsafe { ask(&mut major, &mut minor, &mut patch) };
    Version { major, minor }
}

fn last_error() -> String {
    // SAFETY: gives null or a string that lives until the next call of the loader in this thread.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return "it cannot be loaded".to_owned();
    }
    // SAFETY: not null, see above.
    unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned()
}

/// Loads the newest LLVM of this machine: the one that `RSAN_LLVM` names, or those of Rust toolchains and of the system. Of one
/// version a toolchain's is taken: it loads several times faster.
///
/// # Errors
/// [`Error::Missing`], with all that was tried.
pub fn find() -> Result<Library, Error> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return Library::load(&path).map_err(|reason| Error::Missing {
            looked: vec![format!("{} ({VARIABLE}): {reason}", path.display())],
        });
    }
    let mut looked = Vec::new();
    let folders = folders();
    if let Some(library) = newest(&folders, &mut looked) {
        return Ok(library);
    }
    if let Some(library) = by_name() {
        return Ok(library);
    }
    looked.push(format!(
        "libLLVM-{OLDEST}.so to libLLVM-{NEWEST}.so, by the system's loader"
    ));
    // Asking costs more than all the rest: only if there is no other way.
    let sysroot: Vec<PathBuf> = sysroot()
        .into_iter()
        .filter(|folder| !folders.contains(folder))
        .collect();
    if sysroot.is_empty() {
        looked.push("the sysroot of rustc: no such command".to_owned());
    }
    newest(&sysroot, &mut looked).ok_or(Error::Missing { looked })
}

/// What the system's loader finds by name, in its cache or wherever it is told to look.
fn by_name() -> Option<Library> {
    let names = |version: u32| {
        [
            format!("libLLVM.so.{version}.1"),
            format!("libLLVM-{version}.so.1"),
            format!("libLLVM-{version}.so"),
        ]
    };
    let names = (OLDEST..=NEWEST).rev().flat_map(names);
    names
        .into_iter()
        .find_map(|name| Library::load(Path::new(&name)).ok())
}

fn newest(folders: &[PathBuf], looked: &mut Vec<String>) -> Option<Library> {
    let mut candidates: Vec<Candidate> = folders
        .iter()
        .flat_map(|folder| in_folder(folder))
        .collect();
    candidates.sort_by_key(|candidate| Reverse((candidate.version, candidate.toolchain)));
    for candidate in &candidates {
        match Library::load(&candidate.path) {
            Ok(library) => return Some(library),
            Err(reason) => looked.push(format!("{}: {reason}", candidate.path.display())),
        }
    }
    let without = folders
        .iter()
        .filter(|folder| !candidates.iter().any(|c| c.path.starts_with(folder)));
    looked.extend(without.map(|folder| format!("{}/libLLVM*", folder.display())));
    None
}

struct Candidate {
    version: Version,
    /// Of a Rust toolchain; a stable one before a nightly one.
    toolchain: Option<Reverse<bool>>,
    path: PathBuf,
}

fn in_folder(folder: &Path) -> Vec<Candidate> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Candidate> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = version_of(&name)?;
            let text = name.to_string_lossy();
            // Linker scripts and links of developers' packages have the same library behind them.
            let toolchain = text
                .contains("-rust-")
                .then(|| Reverse(text.contains("nightly")));
            let path = entry.path();
            Some(Candidate {
                version,
                toolchain,
                path,
            })
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// `libLLVM-14.so.1`, `libLLVM.so.19.1`, `libLLVM.so.22.1-rust-1.95.0-stable`, `libLLVM-22.dylib`
fn version_of(name: &OsStr) -> Option<Version> {
    let rest = name.to_str()?.strip_prefix("libLLVM")?;
    if !rest.contains(".so") && !rest.contains(".dylib") {
        return None;
    }
    let rest = rest.strip_prefix(".so.").or_else(|| rest.strip_prefix('-'));
    // Without a version in its name it may be any: it comes last.
    let numbers = rest.unwrap_or_default();
    let mut numbers = numbers.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let (major, minor) = (next(), next());
    Some(Version { major, minor })
}

/// Where toolchains and systems have their libraries.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    if let Some(rustup) = rustup.or_else(|| home.map(|home| home.join(".rustup"))) {
        folders.extend(below(&rustup.join("toolchains"), "", "lib"));
    }
    folders.extend(below(Path::new("/usr/lib"), "llvm", "lib"));
    folders.extend(below(Path::new("/usr/lib64"), "llvm", "lib"));
    let usual = [
        format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH),
        "/usr/lib64".to_owned(),
        "/usr/lib".to_owned(),
        "/usr/local/lib".to_owned(),
        "/opt/homebrew/opt/llvm/lib".to_owned(),
        "/usr/local/opt/llvm/lib".to_owned(),
    ];
    folders.extend(usual.map(PathBuf::from));
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&paths).filter(|path| path.is_absolute()));
    let mut seen = Vec::new();
    folders.retain(|folder: &PathBuf| {
        let new = folder.is_dir() && !seen.contains(folder);
        seen.push(folder.clone());
        new
    });
    folders
}

/// `folder/PREFIX*/last`, in order.
fn below(folder: &Path, prefix: &str, last: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()))
        .map(|entry| entry.path().join(last))
        .collect();
    found.sort();
    found
}

/// The library folder of the toolchain that `rustc` is of.
fn sysroot() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| Path::new(text.trim()).join("lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_versions() {
        let of = |name: &str| version_of(OsStr::new(name)).map(|v| (v.major, v.minor));
        assert_eq!(of("libLLVM-14.so.1"), Some((14, 0)));
        assert_eq!(of("libLLVM.so.19.1"), Some((19, 1)));
        assert_eq!(of("libLLVM.so.22.1-rust-1.95.0-stable"), Some((22, 1)));
        assert_eq!(of("libLLVM-22-rust-1.95.0-stable.so"), Some((22, 0)));
        assert_eq!(of("libLLVM.so"), Some((0, 0)));
        assert_eq!(of("libLLVMCore.a"), None);
        assert_eq!(of("libclang-14.so.1"), None);
    }

    #[test]
    fn what_is_no_library_is_said() {
        let error = Library::load(Path::new("/nonexistent/libLLVM.so")).err();
        assert!(error.is_some_and(|text| text.contains("/nonexistent/libLLVM.so")));
    }
}
