//! A folder for temporary files, gone at the end.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that only this user may enter, removed with its contents when dropped.
pub(crate) struct Scratch(PathBuf);

static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Scratch {
    /// A new folder among the system's temporary files.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn new() -> Result<Self, String> {
        Self::within(&std::env::temp_dir())
    }

    /// A new folder in another one.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn within(folder: &Path) -> Result<Self, String> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("rsan-{}-{number}", std::process::id());
            let path = folder.join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                // Left behind by a process that was killed and had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
                Ok(()) => return Ok(Self(path)),
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
