//! `cargo rsan`: packages of Rust, built with the sanitizer by a stock toolchain, and run.

use crate::rust::session::Session;
use crate::rust::{TARGET, prepare};
use crate::sanitizer::compile::code;
use crate::session::eprint;
use std::ffi::OsString;
use std::process::Command;

/// Runs a command of cargo with the sanitizer; returns the exit status.
pub(crate) fn run(words: &[OsString]) -> u8 {
    match cargo(words) {
        Ok(status) => status,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

fn cargo(words: &[OsString]) -> Result<u8, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let session = Session::new(&rustc)?;
    prepare(&session.toolchain)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rsan = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut runner = rsan.clone().into_os_string();
    runner.push(" run --");
    let end = words.iter().position(|word| word == "--");
    let (before, after) = words.split_at(end.unwrap_or(words.len()));
    let (name, value) = session.variable();
    let status = Command::new(cargo)
        .args(before)
        .args(["--target", TARGET, "--target-dir", "target/rsan"])
        .args(after)
        .env(name, value)
        .env("RUSTC_WRAPPER", session.rustc())
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner)
        .status();
    Ok(code(status.map_err(|error| format!("cargo: {error}"))?))
}
