//! What was instrumented before, by content. Entries are files that appear whole under their name; several builds share them.

use crate::sanitizer::library;
use rsan_llvm::Depth;
use std::fs;
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// Changes whenever instrumented code does.
const VERSION: &str = "2";

/// The cache of a user.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn open() -> Result<Self, String> {
        let folder = library::cache_folder()?.join("rust");
        let cache = Self { folder };
        cache.folder("objects")?;
        Ok(cache)
    }

    /// A folder in it.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Where the object of a module is, or is to be.
    pub(crate) fn object(&self, key: Key) -> PathBuf {
        self.folder.join("objects").join(format!("{}.o", key.0))
    }

    /// Where a library of the toolchain is, or is to be.
    pub(crate) fn library(&self, key: Key) -> PathBuf {
        self.folder.join("std").join(format!("{}.rlib", key.0))
    }
}

/// The name of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key(String);

impl Key {
    /// Of bytes that are instrumented by the LLVM of a toolchain.
    pub(crate) fn new(bytes: &[u8], commit: &str, depth: Depth, optimise: bool) -> Self {
        let mut hash = Xxh3::new();
        hash.update(bytes);
        hash.update(format!("{VERSION} {commit} {depth:?} {optimise}").as_bytes());
        Self(format!("{:032x}", hash.digest128()))
    }
}
