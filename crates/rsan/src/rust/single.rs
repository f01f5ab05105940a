//! One file of Rust as a program, for `rsan check`.

use super::session::Session;
use super::toolchain::TARGET;
use super::{prepare, wrapper};
use crate::input::failure;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Compiles a file into a program; the messages of the compiler are the user's.
///
/// # Errors
/// The complete message for the user, when it is not the compiler who fails.
pub(crate) fn compile(
    file: &str,
    program: &Path,
    level: &str,
    flags: &[OsString],
) -> Result<ExitStatus, String> {
    let fail = |message: String| failure(file, &message);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let session = Session::new(&rustc).map_err(fail)?;
    prepare(&session.toolchain).map_err(fail)?;
    let text = fs::read_to_string(file).map_err(|error| failure(file, &error))?;
    let mut words: Vec<OsString> = ["--edition", "2024", "-g", "--target", TARGET]
        .map(OsString::from)
        .into();
    words.push(format!("-Copt-level={level}").into());
    if !text.contains("fn main(") {
        words.push("--test".into());
    }
    words.extend(flags.iter().cloned());
    words.extend([OsStr::new("-o"), program.as_os_str()].map(OsString::from));
    words.push(Path::new(".").join(file).into());
    let (name, value) = session.variable();
    Command::new(&rustc)
        .args(wrapper::instrumented(&words, &session))
        .env(name, value)
        .env(wrapper::OPTIMISED, level)
        .status()
        .map_err(|error| fail(format!("{}: {error}", rustc.display())))
}
