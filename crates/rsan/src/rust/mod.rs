//! Rust programs: built by a stock toolchain, instrumented when they are linked.
//!
//! rustc writes bitcode instead of object files (`-Clinker-plugin-lto`), for a package and all its dependencies. This command takes
//! the place of two tools. As rustc it adds that flag for code that runs in the program, and leaves build scripts and procedural macros
//! alone ([`wrapper`]). As the linker it instruments the bitcode, with the LLVM of the toolchain, and links the objects ([`link`]).
//! The toolchain's standard library carries bitcode, too: it is instrumented once per toolchain ([`standard`]).
//!
//! A toolchain whose LLVM cannot be loaded instruments by itself, without the standard library ([`toolchain`]).

mod archive;
mod cache;
mod flags;
pub(crate) mod link;
mod objects;
pub(crate) mod session;
pub(crate) mod single;
mod standard;
pub(crate) mod toolchain;
mod words;
pub(crate) mod wrapper;

pub(crate) use standard::prepare;
pub(crate) use toolchain::TARGET;

use crate::session::eprint;
use signal_hook::consts::SIGXFSZ;
use std::ffi::OsString;

/// The compiler that the user has.
pub(crate) fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// Does what a compiler or a linker is called for; an error is status 2.
fn tool(work: impl FnOnce() -> Result<u8, String>) -> u8 {
    // A file that may not become larger is an error of whoever writes it. Without the handler the system says so.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    match work() {
        Ok(status) => status,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}
