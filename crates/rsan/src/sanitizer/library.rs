//! The runtime library that is part of this executable, as a file that programs can be linked with.
//!
//! It is written once, into a folder of the user's cache that is named by its contents: programs that were linked with
//! an older version keep finding theirs.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The library; empty on platforms that it does not support.
const CONTENTS: &[u8] = include_bytes!(env!("RSAN_RUNTIME"));

/// Its file.
const NAME: &str = "librsan_runtime.so";

/// The folder that holds the library; written if it is not there.
///
/// # Errors
/// The message for the user.
pub(crate) fn folder() -> Result<PathBuf, String> {
    if CONTENTS.is_empty() {
        return Err("the sanitizer needs Linux on x86-64 with glibc".to_owned());
    }
    let folder = cache().join("rsan").join(env!("RSAN_RUNTIME_HASH"));
    install(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))
        .map(|()| folder)
}

/// The user's cache, or else the folder for temporary files.
fn cache() -> PathBuf {
    // A relative path would make programs depend on where they are started.
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(env::temp_dir)
}

fn install(folder: &Path) -> io::Result<()> {
    let file = folder.join(NAME);
    let complete = |metadata: fs::Metadata| metadata.len() == CONTENTS.len() as u64;
    if fs::metadata(&file).is_ok_and(complete) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    // Several compilers of one build may do this at the same time: each writes a file of its own, and renaming is
    // atomic.
    let own = folder.join(format!("{NAME}.{}", std::process::id()));
    fs::write(&own, CONTENTS)?;
    fs::rename(&own, &file)
}
