//! The runtime's settings in a file beside the library, for programs that lose their environment on the way; the runtime's
//! module `inherited` reads it.

use std::fs;
use std::path::{Path, PathBuf};

/// The file; it disappears when it is dropped.
pub(crate) struct Handover(Option<PathBuf>);

impl Handover {
    /// A file in the folder of the library, named by this process. If it can't be written, only such programs go without.
    pub(crate) fn new(library: &Path) -> Self {
        Self(file(library))
    }

    /// Says what the settings are from now on.
    pub(crate) fn set(&self, options: &str) {
        if let Some(file) = &self.0 {
            let _ = fs::write(file, options);
        }
    }
}

fn file(library: &Path) -> Option<PathBuf> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The twenty-second field, of which two and the name stand before the parenthesis.
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(22 - 3)?;
    let folder = library.join("runs");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join(format!("{}-{started}", std::process::id())))
}

impl Drop for Handover {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _ = fs::remove_file(file);
        }
    }
}
