//! Which programs get the runtime before all other libraries.
//!
//! A program that was not linked with the runtime, such as an interpreter, may load a library that was: libc's functions
//! would come first, and nothing would be seen of threads and locks. The same holds for an allocator that the user
//! preloads. So the runtime is preloaded: it does nothing until code that was compiled for it is loaded. Every process that the
//! program starts inherits that, unless it starts it without an environment.
//!
//! The address sanitizer refuses to start behind another library; it is told not to.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the library, as programs that are linked with it have it.
const LIBRARY: &str = "librsan_runtime.so";

/// Variables that the program is to get.
pub(crate) fn variables(program: &OsStr, folder: &Path) -> Vec<(&'static str, OsString)> {
    let given = |name| env::var_os(name).unwrap_or_default();
    let preloaded = given("LD_PRELOAD");
    if preloaded.is_empty() && find(program).is_some_and(|file| is_linked(&file)) {
        return Vec::new();
    }
    let Some(preloaded) = before(&folder.join(LIBRARY), &preloaded) else {
        return Vec::new();
    };
    let mut address = OsString::from("verify_asan_link_order=0:");
    address.push(given("ASAN_OPTIONS"));
    vec![("LD_PRELOAD", preloaded), ("ASAN_OPTIONS", address)]
}

/// The value of the variable with our library in front of what is there. A path with a separator in it cannot be said.
fn before(library: &Path, given: &OsStr) -> Option<OsString> {
    let path = library.as_os_str();
    if path.as_bytes().iter().any(|byte| b" :".contains(byte)) {
        return None;
    }
    let mut value = path.to_owned();
    if !given.is_empty() {
        value.push(":");
        value.push(given);
    }
    Some(value)
}

/// The file that a name stands for, as the system looks for it.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let folders = env::var_os("PATH")?;
    let files = env::split_paths(&folders).map(|folder| folder.join(program));
    files.into_iter().find(|file| file.is_file())
}

/// Whether a program was linked with the library: then its name is among its strings.
fn is_linked(file: &Path) -> bool {
    const START: &[u8] = b"\x7fELF";
    let mut start = [0; START.len()];
    File::open(file).is_ok_and(|mut file| {
        file.read_exact(&mut start).is_ok() && start == START && has(file, LIBRARY.as_bytes())
    })
}

/// Whether these bytes are in a file. Not more of it is read than needed: these names stand near the start of programs, which may be large.
fn has(mut file: impl Read, bytes: &[u8]) -> bool {
    const PART: usize = 64 << 10;
    let mut kept = Vec::with_capacity(PART + bytes.len());
    loop {
        let before = kept.len();
        let part = file.by_ref().take(PART as u64).read_to_end(&mut kept);
        if kept.windows(bytes.len()).any(|window| window == bytes) {
            return true;
        }
        if part.is_err() || kept.len() == before {
            return false;
        }
        // The bytes may begin in this part and end in the next.
        kept.drain(..kept.len() - kept.len().min(bytes.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first() {
        let value = |library: &str, given: &str| before(Path::new(library), OsStr::new(given));
        assert_eq!(value("/a/l.so", ""), Some("/a/l.so".into()));
        assert_eq!(
            value("/a/l.so", "/b.so c.so"),
            Some("/a/l.so:/b.so c.so".into())
        );
        assert_eq!(value("/a b/l.so", ""), None);
    }

    #[test]
    fn bytes_are_found_wherever_they_stand() {
        let name = LIBRARY.as_bytes();
        for at in [0, 1, (64 << 10) - 5, 64 << 10, 200_000] {
            let mut contents = vec![b'l'; at];
            contents.extend(name);
            assert!(has(&*contents, name), "{at}");
            contents.pop();
            assert!(!has(&*contents, name), "{at}");
        }
    }

    #[test]
    fn programs_are_found_and_looked_at() {
        assert_eq!(find(OsStr::new("./a")), Some(PathBuf::from("./a")));
        let shell = find(OsStr::new("sh")).expect("there is a shell");
        assert!(!is_linked(&shell));
        assert!(!is_linked(Path::new("/nonexistent")));
    }
}
