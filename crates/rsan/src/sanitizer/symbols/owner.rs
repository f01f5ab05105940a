//! Whose code a source is, by its path: the user's, a library's, the standard library's; and how the path is shown.

use crate::files;
use crate::rust::toolchain::Toolchain;
use rsan_report::document::STANDARD;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The folder that the user's sources are below, if it is not the current one: that of the workspace.
const ROOT: &str = "RSAN_ROOT";

/// The sources of the standard library in a toolchain that has them.
const INSTALLED: &str = "lib/rustlib/src/rust/library";

/// The commit of the compiler whose standard library was seen first. Programs have one.
static COMMIT: OnceLock<String> = OnceLock::new();

/// That commit, if one was seen.
pub(super) fn commit() -> Option<String> {
    COMMIT.get().cloned()
}

/// Another process has seen this one.
pub(super) fn set_commit(commit: String) {
    // The first one counts.
    let _ = COMMIT.set(commit);
}

/// Where sources are looked for, and relative to what they are shown.
pub(crate) struct Folders {
    /// The first one that has a file counts.
    own: Vec<PathBuf>,
}

impl Default for Folders {
    /// The folder that `cargo rsan` names, and the current one. `CARGO_MANIFEST_DIR` would not do: whatever a test of some package
    /// starts has it, too.
    fn default() -> Self {
        let root = std::env::var_os(ROOT).map(PathBuf::from);
        let own = root.into_iter().chain(std::env::current_dir().ok());
        Self {
            own: own.filter(|folder| folder.is_absolute()).collect(),
        }
    }
}

impl Folders {
    /// The library that a source belongs to, if the user did not write it, and the path as the user would name it.
    pub(crate) fn of(&self, file: &str) -> (Option<String>, String) {
        let file = plain(file);
        if let Some(path) = standard(&file) {
            return (Some(STANDARD.to_owned()), path);
        }
        let of = |folder: &PathBuf| Path::new(&file).strip_prefix(folder).ok();
        let below = self.own.iter().find_map(of);
        let below = below.map(|path| path.display().to_string());
        // A package is the user's where the user works on it, and a library where it lies as a copy.
        let library = match &below {
            Some(path) => package(&format!("/{path}")),
            None => package(&file),
        };
        let library = library.or_else(|| system(&file));
        (library, below.unwrap_or(file))
    }

    /// The file that a path names which [`Folders::of`] shows.
    pub(crate) fn find(&self, shown: &str) -> PathBuf {
        let below = self.own.iter().map(|folder| folder.join(shown));
        let mut existing = below.filter(|path| path.is_file());
        existing.next().unwrap_or_else(|| PathBuf::from(shown))
    }
}

/// The path of a file of Rust's standard library, or of a crate below it: without what is before `std/src`.
fn standard(file: &str) -> Option<String> {
    if let Some(rest) = file.strip_prefix("/rustc/") {
        let (commit, rest) = rest.split_once('/')?;
        COMMIT.get_or_init(|| commit.to_owned());
        return Some(rest.strip_prefix("library/").unwrap_or(rest).to_owned());
    }
    let below = file.strip_prefix("/rust/deps/");
    let installed = || Some(file.split_once(&format!("/{INSTALLED}/"))?.1);
    let found = below.or_else(installed).or_else(|| distributed(file));
    found.map(str::to_owned)
}

/// The same of the compiler of a distribution, which was built in a folder like `/usr/src/rustc-1.96.0`.
fn distributed(file: &str) -> Option<&str> {
    let (folder, rest) = ["/library/", "/vendor/"]
        .iter()
        .find_map(|folder| file.split_once(folder))?;
    let version = folder.rsplit('/').next()?.strip_prefix("rustc-")?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(rest)
}

/// The file of the standard library that a path names which [`Folders::of`] shows, if the toolchain has its source.
pub(crate) fn find_standard(shown: &str) -> Option<PathBuf> {
    static SOURCES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = SOURCES.get_or_init(|| {
        let rustc = crate::rust::rustc();
        let toolchain = Toolchain::find(&rustc).ok()?;
        // The lines of another release are others.
        let is_same = COMMIT.get() == Some(&toolchain.commit);
        is_same.then(|| toolchain.sysroot.join(INSTALLED))
    });
    let file = folder.as_ref()?.join(shown);
    file.is_file().then_some(file)
}

/// `crossbeam-utils 0.8.21`: the package that a source of Rust was fetched with.
fn package(file: &str) -> Option<String> {
    if !file.ends_with(".rs") {
        return None;
    }
    let inside = |folder: &str, skipped: usize| {
        let (_, rest) = file.split_once(folder)?;
        let mut parts = rest.split('/').skip(skipped);
        let name = parts.next()?;
        parts.next().map(|_| name)
    };
    if let Some(folder) = inside("/registry/src/", 1) {
        return Some(versioned(folder));
    }
    if let Some(folder) = inside("/git/checkouts/", 0) {
        let name = folder.rsplit_once('-').map_or(folder, |(name, _)| name);
        return Some(name.to_owned());
    }
    inside("/vendor/", 0).map(versioned)
}

/// `NAME-VERSION` as words.
fn versioned(folder: &str) -> String {
    let starts = folder.match_indices('-').map(|(at, _)| at);
    let is_digit = |at: &usize| folder[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    match starts
        .filter(is_digit)
        .find(|at| folder[at + 1..].contains('.'))
    {
        Some(at) => format!("{} {}", &folder[..at], &folder[at + 1..]),
        None => folder.to_owned(),
    }
}

/// A library of C or C++ that the system has.
fn system(file: &str) -> Option<String> {
    let folders = ["/usr/include/", "/usr/local/include/", "/usr/lib/"];
    let rest = folders
        .iter()
        .find_map(|folder| file.strip_prefix(folder))?;
    let name = match rest {
        _ if file.contains("/include/c++/v1/") => "libc++",
        _ if file.contains("/c++/") => "libstdc++",
        // A header of a compiler, or of the system.
        _ if file.starts_with("/usr/lib/gcc/") => "the compiler's headers",
        _ => match rest.split_once('/') {
            Some((folder, _)) if !folder.contains("linux-gnu") => folder,
            _ => "system headers",
        },
    };
    Some(name.to_owned())
}

/// A path without `.` and `..`, which some compilers have in the names of their headers.
fn plain(file: &str) -> String {
    if !file.contains("/..") && !file.contains("/./") {
        return file.to_owned();
    }
    let mut path = PathBuf::new();
    for part in Path::new(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.display().to_string()
}

/// Whether a program has code of Rust: its debug information names sources of the standard library.
pub(crate) fn is_rust(program: &Path) -> bool {
    let bytes = files::read(program, files::LARGE).unwrap_or_default();
    let name = b"library/core/src";
    bytes.windows(name.len()).any(|window| window == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(own: &[&str]) -> Folders {
        Folders {
            own: own.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn paths_are_plain_and_say_whose_the_source_is() {
        assert_eq!(plain("a/./b/../c.h"), "a/c.h");
        assert_eq!(plain("../x.c"), "../x.c");
        let header = "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/latch";
        assert_eq!(plain(header), "/usr/include/c++/12/latch");
        let of = |file: &str| folders(&[]).of(file).0;
        assert_eq!(of(header).as_deref(), Some("libstdc++"));
        assert_eq!(
            of("/usr/lib/llvm-14/bin/../include/c++/v1/latch").as_deref(),
            Some("libc++")
        );
        assert_eq!(of("/usr/include/tbb/queue.h").as_deref(), Some("tbb"));
        assert_eq!(of("/home/me/include/queue.h"), None);
    }

    #[test]
    fn packages_are_libraries_unless_the_user_works_on_them() {
        let registry = "/home/me/.cargo/registry/src/index-6f17/crossbeam-utils-0.8.21";
        let file = &*format!("{registry}/src/backoff.rs");
        let none = folders(&["/home/me/queue"]);
        assert_eq!(none.of(file).0.as_deref(), Some("crossbeam-utils 0.8.21"));
        assert_eq!(
            folders(&[registry]).of(file),
            (None, "src/backoff.rs".to_owned())
        );
        let library = |file: &str| none.of(file).0;
        assert_eq!(
            library("/home/me/.cargo/git/checkouts/flume-0a1b2c/77fe/src/lib.rs").as_deref(),
            Some("flume")
        );
        assert_eq!(
            library("/home/me/queue/vendor/rtrb/src/lib.rs").as_deref(),
            Some("rtrb")
        );
        assert_eq!(library("/home/me/queue/vendor/tbb/src/lib.c"), None);
        assert_eq!(library("/home/me/other/src/lib.rs"), None);
        // Wherever the user is.
        let above = folders(&["/"]);
        assert_eq!(above.of(file).0.as_deref(), Some("crossbeam-utils 0.8.21"));
        assert_eq!(
            above.of("/rustc/0a/library/core/src/cell.rs").1,
            "core/src/cell.rs"
        );
        assert_eq!(
            above.of("/usr/include/tbb/queue.h").0.as_deref(),
            Some("tbb")
        );
        assert_eq!(versioned("base64-url-1.4.0-rc.1"), "base64-url 1.4.0-rc.1");
        assert_eq!(versioned("x11-dl"), "x11-dl");
    }

    #[test]
    fn the_standard_library_has_no_hash() {
        let none = folders(&[]);
        let hash = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        let of = |rest: &str| none.of(&format!("/rustc/{hash}/library/{rest}"));
        let standard = Some(STANDARD.to_owned());
        assert_eq!(
            of("core/src/sync/atomic.rs"),
            (standard.clone(), "core/src/sync/atomic.rs".to_owned())
        );
        assert_eq!(
            none.of("/rust/deps/hashbrown-0.16.1/src/raw.rs"),
            (standard.clone(), "hashbrown-0.16.1/src/raw.rs".to_owned())
        );
        assert_eq!(
            none.of("/usr/src/rustc-1.96.0/library/core/src/cell.rs"),
            (standard.clone(), "core/src/cell.rs".to_owned())
        );
        let installed = "/r/lib/rustlib/src/rust/library/std/src/thread/mod.rs";
        assert_eq!(
            none.of(installed),
            (standard, "std/src/thread/mod.rs".to_owned())
        );
    }
}
