//! Rust programs: built by a stock toolchain, instrumented when they are linked.
//!
//! rustc writes bitcode instead of object files (`-Clinker-plugin-lto`), for a package and all its dependencies. This command takes
//! the place of two tools. As rustc it adds that flag for code that runs in the program, and leaves build scripts and procedural macros
//! alone ([`wrapper`]). As the linker it instruments the bitcode, with the LLVM of the toolchain, and links the objects ([`linker`]).
//! The toolchain's standard library carries bitcode, too: it is instrumented once per toolchain ([`standard`]).

mod archive;
mod cache;
pub(crate) mod linker;
mod objects;
pub(crate) mod session;
pub(crate) mod single;
mod standard;
pub(crate) mod toolchain;
pub(crate) mod wrapper;

pub(crate) use standard::prepare;
pub(crate) use toolchain::TARGET;
