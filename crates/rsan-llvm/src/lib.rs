//! LLVM by its C API, loaded at run time from the Rust toolchain or the system; a small safe wrapper.
//!
//! Two parts. The wrapper: a [`Library`] is found and loaded, a [`Context`] owns what LLVM allocates, a [`Module`] is parsed in
//! it, and [`Value`]s are handles that cannot outlive it. And what rsan needs of a module: [`read`] makes a
//! [`rsan_ir::module::Module`] of it, [`patch`] applies edits.
//!
//! LLVM ends its process when it is given what it cannot bear. So nobody loads it into a process that has something to
//! lose: [`serve()`] does the work in a child, [`Reader`] is the parent's side, and an abort of the child is an error with
//! what it printed.
//!
//! Versions 14 to 23 are tried. Functions that not all of them have are looked up, never assumed; what the C API of some
//! version does not tell is read from LLVM's own text of the value.

mod assembly;
mod blank;
mod context;
mod entry;
mod error;
mod ffi;
mod input;
mod instrument;
mod library;
mod machine;
mod merge;
mod module;
mod opcode;
pub mod patch;
mod private;
mod producer;
pub mod read;
mod reader;
mod serve;
mod title;
mod ty;
mod value;
mod weak;

pub use context::Context;
pub use error::{Error, Place};
pub use instrument::{Depth, Unit};
pub use library::{Library, Version, find};
pub use machine::{Effort, Machine};
pub use module::{Block, Layout, Module};
pub use opcode::Opcode;
pub use read::Read;
pub use reader::{Form, Limits, Reader};
pub use serve::{NAME, serve};
pub use title::title;
pub use ty::Type;
pub use value::Value;
