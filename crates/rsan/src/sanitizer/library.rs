//! The runtime library that is part of this executable, as a file that programs can be linked with.
//!
//! It is written once, into a folder of the user's cache that is named by its contents: programs that were linked with
//! an older version keep finding theirs. Without a cache that can be written, a folder among the temporary files does.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The library; empty on platforms that it does not support.
const CONTENTS: &[u8] = include_bytes!(env!("RSAN_RUNTIME"));

/// Its file.
const NAME: &str = "librsan_runtime.so";

/// What programs may include, and its file in a folder of its own.
const HEADER: &[u8] = include_bytes!("../../include/rsan.h");
const HEADER_NAME: &str = "include/rsan.h";

/// What is linked with programs themselves, and its file.
const ENTRIES: &[u8] = include_bytes!(env!("RSAN_ENTRIES"));
const ENTRIES_NAME: &str = "plain.o";

/// The object that programs are linked with, in the folder of the library.
pub(crate) fn entries(folder: &Path) -> PathBuf {
    folder.join(ENTRIES_NAME)
}

/// The folder that holds the header; written if it is not there.
///
/// # Errors
/// The message for the user.
pub(crate) fn include_folder() -> Result<PathBuf, String> {
    Ok(folder()?.join("include"))
}

/// The folder that holds the library; written if it is not there.
///
/// # Errors
/// The message for the user.
pub(crate) fn folder() -> Result<PathBuf, String> {
    if CONTENTS.is_empty() {
        return Err("the sanitizer needs Linux on x86-64 with glibc".to_owned());
    }
    let mut problems = Vec::new();
    for folder in [cache(), temporary()].into_iter().flatten() {
        let folder = folder.join(env!("RSAN_RUNTIME_HASH"));
        match install(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => problems.push(format!("{}: {error}", folder.display())),
        }
    }
    Err(format!(
        "no place for the runtime library, XDG_CACHE_HOME names one: {}",
        problems.join("; ")
    ))
}

/// A folder in the user's cache.
fn cache() -> Option<PathBuf> {
    // A relative path would make programs depend on where they are started.
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("rsan"))
}

/// A folder of the user's own among the temporary files. Another user may have made it first, to make us run something
/// else: then it is not taken.
fn temporary() -> Option<PathBuf> {
    let user = fs::metadata("/proc/self").ok()?.uid();
    let folder = env::temp_dir().join(format!("rsan-{user}"));
    // It may be there already.
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let metadata = fs::symlink_metadata(&folder).ok()?;
    let ours = metadata.is_dir() && metadata.uid() == user && metadata.mode() & 0o022 == 0;
    ours.then_some(folder)
}

fn install(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("include"))?;
    install_file(&folder.join(HEADER_NAME), HEADER)?;
    install_file(&entries(folder), ENTRIES)?;
    install_file(&folder.join(NAME), CONTENTS)
}

fn install_file(file: &Path, contents: &[u8]) -> io::Result<()> {
    let complete = |metadata: fs::Metadata| metadata.len() == contents.len() as u64;
    if fs::metadata(file).is_ok_and(complete) {
        return Ok(());
    }
    // Several compilers of one build may do this at the same time, even on several machines: each writes a file of its
    // own, and renaming is atomic.
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_nanos());
    let own = file.with_extension(format!("{}.{now}", std::process::id()));
    let written = fs::write(&own, contents).and_then(|()| fs::rename(&own, file));
    if written.is_err() {
        // The disk may be full: what was written of it is in the way of others.
        let _ = fs::remove_file(&own);
    }
    written
}
