//! The compiler that cargo calls: rustc, with flags for code that runs in the program.

use super::flags::{self, Plan, Written};
use super::session::Session;
use super::toolchain::Instrumentation;
use super::{cache, link, objects};
use crate::sanitizer::compile::code;
use crate::session::eprint;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::{Command, ExitStatus, Output};

/// Compiles as the words say, the first of which is the real rustc; returns the exit status.
pub(crate) fn run(words: &[OsString]) -> u8 {
    super::tool(|| compile(words))
}

fn compile(words: &[OsString]) -> Result<u8, String> {
    let session = Session::current()?;
    let [rustc, words @ ..] = words else {
        return Err("the compiler to start is missing".to_owned());
    };
    let mut command = match &session.wrapper {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    if words == ["-vV"] {
        return version(command.args(words), rustc);
    }
    match flags::plan(words, &session)? {
        Some(plan) => planned(&mut command, rustc, &plan, &session).map(code),
        None => start(command.args(words), rustc).map(code),
    }
}

/// Runs rustc as a plan says, and instruments what it writes without calling the linker.
///
/// # Errors
/// The message for the user, when it is not the compiler who fails.
pub(crate) fn planned(
    command: &mut Command,
    rustc: &OsStr,
    plan: &Plan,
    session: &Session,
) -> Result<ExitStatus, String> {
    link::tell(command, plan);
    if matches!(
        session.toolchain.instrumentation,
        Instrumentation::Sanitizer { .. }
    ) {
        // The flags are for nightly compilers; there is no other way with this one.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    let status = start(command.args(&plan.words), rustc)?;
    if status.success() {
        for written in plan.written.iter() {
            instrument(written, plan, session)?;
        }
    }
    Ok(status)
}

fn instrument(written: &Written, plan: &Plan, session: &Session) -> Result<(), String> {
    // A compiler that only checks writes no archive.
    match written {
        Written::Rlib(file) if file.is_file() => objects::prepare(file, session, plan.optimise),
        Written::Static(file) if file.is_file() => objects::replace(file, session, plan.optimise),
        Written::Rlib(_) | Written::Static(_) => Ok(()),
    }
}

fn start(command: &mut Command, rustc: &OsStr) -> Result<ExitStatus, String> {
    let status = command.status();
    status.map_err(|error| format!("{}: {error}", rustc.display()))
}

/// The version of the compiler, with ours: cargo builds anew what another version has built.
fn version(command: &mut Command, rustc: &OsStr) -> Result<u8, String> {
    let output = command.output();
    let output: Output = output.map_err(|error| format!("{}: {error}", rustc.display()))?;
    let mut text = output.stdout;
    if output.status.success() {
        text.extend_from_slice(format!("rsan: {}\n", cache::version()).as_bytes());
    }
    eprint(&String::from_utf8_lossy(&output.stderr));
    // Whoever reads it may have had enough.
    let _ = std::io::stdout().write_all(&text);
    Ok(code(output.status))
}
