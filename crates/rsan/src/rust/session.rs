//! What the processes of one build have to know: this command, started by cargo as a compiler and by rustc as a linker.

use super::cache::Cache;
use super::toolchain::Toolchain;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Has it as JSON.
const VARIABLE: &str = "RSAN_RUST_SESSION";

/// Names under which this command is a compiler of Rust, or a linker for it.
pub(crate) const RUSTC: &str = "rsan-rustc";
pub(crate) const LINKER: &str = "rsan-rust-cc";

/// A build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) toolchain: Toolchain,
    /// Links to this command.
    pub(crate) tools: PathBuf,
    /// A wrapper of rustc that the user has.
    pub(crate) wrapper: Option<PathBuf>,
}

impl Session {
    /// A new one for the toolchain that `rustc` is of.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn new(rustc: &OsStr) -> Result<Self, String> {
        let toolchain = Toolchain::find(rustc)?;
        let tools = Cache::open()?.folder("tools")?;
        let command = std::env::current_exe().map_err(|error| error.to_string())?;
        for name in [RUSTC, LINKER, "rsan-cc", "rsan-c++"] {
            link(&command, &tools.join(name))
                .map_err(|error| format!("{}: {error}", tools.join(name).display()))?;
        }
        Ok(Self {
            toolchain,
            tools,
            wrapper: None,
        })
    }

    /// The one that this process belongs to.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn current() -> Result<Self, String> {
        let text = std::env::var(VARIABLE).map_err(|_| {
            format!("{RUSTC} and {LINKER} are started by `cargo rsan` and `rsan check`")
        })?;
        serde_json::from_str(&text).map_err(|error| format!("{VARIABLE}: {error}"))
    }

    /// Compiler of Rust, for `RUSTC_WRAPPER`.
    pub(crate) fn rustc(&self) -> PathBuf {
        self.tools.join(RUSTC)
    }

    /// Linker.
    pub(crate) fn linker(&self) -> PathBuf {
        self.tools.join(LINKER)
    }

    /// What tells processes of the build about it.
    pub(crate) fn variable(&self) -> (&'static str, OsString) {
        let text = serde_json::to_string(self).unwrap_or_default();
        (VARIABLE, text.into())
    }
}

/// Makes a link, in place of what may be there.
fn link(to: &Path, at: &Path) -> io::Result<()> {
    if std::fs::read_link(at).is_ok_and(|old| old == to) {
        return Ok(());
    }
    let own = at.with_extension(std::process::id().to_string());
    // Left by a process of the same number that was killed.
    let _ = std::fs::remove_file(&own);
    symlink(to, &own)?;
    std::fs::rename(&own, at)
}
